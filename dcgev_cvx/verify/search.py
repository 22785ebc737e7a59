"""A search for counterexamples beyond the battery: small whole numbers, drawn and shrunk by hypothesis.

The battery is designed, and a fault nobody thought of may lie between its families. Here hypothesis draws problems of
one to four variables with entries that are halves and quarters, and when the solver fails on one makes it as small as
it can. It runs at effort "full" where hypothesis is installed; the report says so where it is not.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from importlib.util import find_spec
from random import Random as PlainRandom
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from .._numerics.checks import Matrix, Vector
from ..programs import MACHINE_EPS, log_scale
from .instances import LEVELS, Instance, question
from .matrices import leading, lowest
from .outcomes import NO_ANSWER, Check, Finding, Outcome, Trial, judged, outcome
from .pairs import inside, usable
from .run_cases import QUICK_RUN, telling
from .steps_battery import collapse, through

EXAMPLES, RUNS = 200, 60
"""How many problems are drawn; whole runs cost more."""
SEARCH_EPSILONS = (1.0, 0.1, 1e-2, 1e-4, MACHINE_EPS)
SEARCH_SHARES = (0.0, 0.1, 0.3, 0.6, 0.9)


def available() -> bool:
    """Is hypothesis installed?"""
    return find_spec("hypothesis") is not None


def search_check(level: str, seed: int) -> Check:
    """No problem of a few small numbers makes the solver miss an equation."""
    about = ("search", "", "no counterexample among problems of small whole numbers", "contract")

    def run(trial: Trial) -> Outcome:
        seen: list[Finding] = []
        found = searched(level, seed, lambda case: missed(trial, case, seen))
        worst = missed(trial, found, []) if found is not None else None
        return outcome(about, [worst] if worst is not None and not worst.ratio <= 1.0 else seen, NO_ANSWER)

    return Check(*about, run)


def missed(trial: Trial, case: Instance, seen: list[Finding]) -> Finding | None:
    """The judged answer to a case, kept in `seen`; None when the solver is not asked any more."""
    answer = trial.session.call(case, case.arguments())
    if not answer.asked:
        return None
    seen.append(judged(trial, case, answer))
    return seen[-1]


def searched(level: str, seed: int, ask: Callable[[Instance], Finding | None]) -> Instance | None:
    """The smallest problem on which the solver fails, or None; the same for the same seed."""
    from hypothesis import HealthCheck, Phase, find, settings
    from hypothesis.errors import NoSuchExample

    def fails(case: Instance | None) -> bool:
        finding = ask(case) if case is not None else None
        return finding is not None and not finding.ratio <= 1.0

    quiet = settings(
        max_examples=RUNS if level in ("algorithm", "pca") else EXAMPLES,
        database=None,
        deadline=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=(HealthCheck.filter_too_much, HealthCheck.too_slow, HealthCheck.data_too_large),
    )
    try:
        with kept_elsewhere():
            return find(problems(level), fails, settings=quiet, random=PlainRandom(seed))
    except NoSuchExample:
        return None


@contextmanager
def kept_elsewhere() -> Generator[None]:
    """Hypothesis keeps its notes in a folder that goes away, and not in the caller's."""
    from hypothesis import configuration

    before = getattr(configuration, "__hypothesis_home_directory", None)
    with TemporaryDirectory() as folder:
        configuration.set_hypothesis_home_dir(folder)
        try:
            yield
        finally:
            configuration.set_hypothesis_home_dir(before)


def problems(level: str) -> Any:
    """A strategy for problems of a level; None stands for draws that cannot be judged."""
    from hypothesis import strategies

    @strategies.composite
    def one(draw: Callable[[Any], Any]) -> Instance | None:
        halves, n = strategies.integers(-4, 4), draw(strategies.integers(1, 4))

        def numbers(count: int) -> Vector:
            return 0.5 * np.array(draw(strategies.lists(halves, min_size=count, max_size=count)), dtype=np.float64)

        M, N = numbers(n * n).reshape(n, n), numbers(n * n).reshape(n, n)
        A = M @ M.T if level == "pca" else 0.5 * (M + M.T)
        B = np.eye(n) + (0.25 * N @ N.T if level != "pca" and draw(strategies.booleans()) else 0.0)
        if level in ("bound", "cardinality"):
            return judgeable(level, {"A": A, "B": B, "k": draw(strategies.integers(1, n))})
        eps, share = draw(strategies.sampled_from(SEARCH_EPSILONS)), draw(strategies.sampled_from(SEARCH_SHARES))
        shift = draw(strategies.sampled_from((0.0, 0.5, 4.0)))
        return judgeable(level, penalised(level, A, B, numbers(n), (eps, share, shift)))

    return one()


def penalised(level: str, A: Matrix, B: Matrix, v: Vector, drawn: tuple[float, float, float]) -> dict[str, Any]:
    """The arguments of a step or a run from small numbers: v becomes y, x0 or a, ρ̃ a share of what matters."""
    eps, share, shift = drawn
    if level == "fda":
        a = np.where(v == 0.0, 1.0, v)
        return {"a": a, "B": B, "y": through(a, A[0] + a), "nu": share * log_scale(eps), "eps": eps}
    if level == "step":
        tau, y = max(0.0, -float(np.floor(2.0 * lowest(A)) / 2.0)) + shift, inside(B, v)
        return {"A": A, "B": B, "y": y, "rho": share * collapse(A, y, eps, tau), "eps": eps, "tau": tau}
    top = leading(A, B)
    rho = 0.1 * share * max(0.0, float(top @ A @ top))
    return {"A": A, "B": B, "rho": rho, "eps": eps, "x0": inside(B, top + 0.5 * v)}


def judgeable(level: str, data: dict[str, Any]) -> Instance | None:
    """The question, if it can be judged with certainty: not where c is rounding, which no two programs share."""
    kept = {name: data[name] for name in LEVELS[level].arguments}
    case = question(level, f"n = {len(data.get('a', data.get('A', ())))}, search", (), kept)
    if level in ("algorithm", "pca"):
        return case if telling(case, QUICK_RUN) is not None else None
    if level == "step" and cancels(case):
        return None
    return case if usable(case) else None


def cancels(case: Instance) -> bool:
    """Is (A + τI)y nothing but rounding, or zero by cancellation?"""
    A, y, tau = case.data["A"], case.data["y"], case.data["tau"]
    whole, left = np.max(np.abs(A) @ np.abs(y) + tau * np.abs(y)), np.max(np.abs(A @ y + tau * y))
    return bool(left <= 1e-6 * whole and whole > 0.0)
