"""The named mistakes of mistakes.toml, and the search for those that a solver's wrong answers follow from.

A mistake puts a wrong formula in place of the data of a step, the terms of its surrogate, or its answer; several are
made one after the other. The answers of a run are explained by the step at which they are fixed points.
"""

import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from itertools import product
from typing import Any

import numpy as np

from .._numerics.checks import Matrix, Vector
from ..errors import SolverFailed
from .call_pairs import RUNS
from .levels import Instance, enumerated
from .pencil_cases import greedy_from, leading
from .reference_answers import Surrogate, feature_sign_search, first_point
from .run_cases import run_end
from .step_cases import shifted

MOST = 3
"""Mistakes that are made together at most: three explain a step that has no penalty, no B and no τ."""


@dataclass(frozen=True, eq=False)
class Mistake:
    """A wrong formula.

    words complete "your answers equal those of a step …"; wrong and right are lines of code. change holds formulas in
    place of A, B, tau, y or wide (ε in the weights) at the stage data, of c, p, H at the stage terms, and of x. levels
    are those at which it can be made.
    """

    name: str
    levels: tuple[str, ...]
    stage: str
    words: str
    wrong: str
    right: str
    change: Mapping[str, str]

    def make(self, known: dict[str, Any]) -> None:
        """Put the formulas of the mistake in place of what is known."""
        known.update({name: eval(formula, {**FORMULAS, **known}) for name, formula in self.change.items()})


def read_mistakes() -> tuple[Mistake, ...]:
    """The mistakes in the order of the file: of several that explain all answers the first is named."""
    text = files("dcgev_cvx.verify").joinpath("mistakes.toml").read_text(encoding="utf-8")
    entries: list[dict[str, Any]] = tomllib.loads(text)["mistake"]
    for entry in entries:
        entry["levels"] = tuple(entry["levels"])
    return tuple(Mistake(**entry) for entry in entries)


MISTAKES = read_mistakes()


# What the formulas are written with


def single(array: Any) -> Any:
    """The array rounded to float32."""
    return np.asarray(array, dtype=np.float32).astype(np.float64)


def ratio(x: Any, size: float) -> Any:
    """x/size; x where the size is 0."""
    return x / size if size > 0.0 else x


def soft(c: Any, half: Any) -> Any:
    """Every entry nearer to 0 by its threshold, or 0."""
    return np.sign(c) * np.maximum(np.abs(c) - half, 0.0)


def whitened_threshold(c: Vector, p: Vector, B: Matrix, tau: float) -> Any:
    """L⁻ᵀz/max(τ, ‖z‖) with z = soft(L⁻¹c, p/2)."""
    L = np.linalg.cholesky(B)
    z = soft(np.linalg.solve(L, c), 0.5 * p)
    return np.linalg.solve(L.T, ratio(z, max(tau, float(np.linalg.norm(z)))))


def scaled_threshold(c: Vector, p: Vector, B: Matrix, tau: float) -> Vector:
    """z/max(τ, ‖z‖_B) with z = soft(c, p/2)."""
    z = soft(c, 0.5 * p)
    return ratio(z, max(tau, math.sqrt(float(z @ B @ z))))


def greatest(A: Matrix, B: Matrix) -> float:
    """λmax(A, B)."""
    x = leading(A, B)
    return float(x @ A @ x) / float(x @ B @ x)


FORMULAS: Mapping[str, Any] = {
    **{name: getattr(np, name) for name in ("argmax", "around", "count_nonzero", "diag", "eye", "hypot", "log", "log1p",
                                            "maximum", "sort", "sqrt", "triu", "where")},
    **{f.__name__: f for f in (single, ratio, whitened_threshold, scaled_threshold, greatest, enumerated, greedy_from)},
    "cholesky": np.linalg.cholesky, "norm": np.linalg.norm,
}  # fmt: skip


# A step with mistakes


def mistaken_step(case: Instance, mistakes: Sequence[Mistake], y: Vector | None = None) -> Vector:
    """The answer of a step at which mistakes were made, from the case's y or another."""
    fda, price = case.level == "fda", "nu" if case.level == "fda" else "rho"
    known: dict[str, Any] = {**case.data, "B": case.B, "B0": case.B, "y": case.data.get("y") if y is None else y}
    known |= {"tau": shifted(case.data["A"])} if case.level in RUNS else {}
    known |= {"wide": case.data["eps"], "L": case.data[price] / case.coefficient if case.coefficient else 1.0}
    make(known, mistakes, "data")
    at, wide, n = known["y"], known["wide"], case.n
    known["c"] = np.zeros(n) if fda else known["A"] @ at + known["tau"] * at
    known["p"] = case.data[price] / math.log1p(1.0 / wide) / (np.abs(at) + wide)
    known["H"] = known["B"] if fda else known["tau"] * np.eye(n)
    make(known, mistakes, "terms")
    if any(mistake.stage == "whole" for mistake in mistakes):
        make(known, mistakes, "whole")
    else:
        known["x"] = minimised(known["H"], known["c"], known["p"], known["B"], case.data.get("a"))
    make(known, mistakes, "answer")
    return known["x"]


def make(known: dict[str, Any], mistakes: Sequence[Mistake], stage: str) -> None:
    """Make the mistakes of a stage."""
    for mistake in mistakes:
        if mistake.stage == stage:
            mistake.make(known)


def minimised(H: Matrix, c: Vector, p: Vector, B: Matrix, a: Vector | None) -> Vector:
    """argmin xᵀHx − 2cᵀx + pᵀ|x| in Ω, in units of size one."""
    root = np.sqrt(np.diagonal(B))
    unit = B / np.outer(root, root)
    size = float(np.max(np.abs(c if a is None else a) / root))
    if a is not None:
        step = Surrogate(unit, 0.0 * a, p / root * size, unit, a / root / size)
        return feature_sign_search(step, first_point(step))[0] / root / size
    if size == 0.0:
        return np.zeros(len(c))
    step = Surrogate(H / np.outer(root, root) / size, c / root / size, p / root / size, unit)
    return feature_sign_search(step, np.zeros(len(c)))[0] / root


# Which mistakes explain wrong answers


@dataclass(frozen=True)
class Explained:
    """Mistakes that, made together, give some of the wrong answers that they were compared with."""

    mistakes: tuple[Mistake, ...]
    matched: int
    compared: int

    @property
    def first(self) -> Mistake:
        """The mistake that is named first."""
        return min(self.mistakes, key=MISTAKES.index)

    def in_words(self, level: str) -> str:
        """What the answers equal, and in how many cases."""
        what = {"bound": "a bound", "cardinality": "vectors"}.get(
            level, "a run of steps" if level in RUNS else "a step"
        )
        words = listing([mistake.words for mistake in sorted(self.mistakes, key=MISTAKES.index)])
        verb = "your answers are" if level == "cardinality" else "your answers equal those of"
        return f"{verb} {what} {words}, in {self.matched} of {self.compared} wrong answers compared"


def explained(wrong: Sequence[tuple[Instance, Vector]], limit: float) -> Explained | None:
    """The fewest mistakes that give most of the wrong answers (case, x); None if none give four fifths."""
    if not wrong:
        return None
    level = wrong[0][0].level
    singles = [mistake for mistake in MISTAKES if level in mistake.levels]
    best, front = Explained((), 0, len(wrong)), [tuple[Mistake, ...]()]
    for _ in range(1 if level in ("bound", "cardinality") else MOST):
        combined = [(*made, one) for made, one in product(front, singles) if compatible(made, one)]
        different = {frozenset(map(id, made)): made for made in combined}.values()
        scored = sorted(((matches(made, wrong, limit), made) for made in different), key=lambda pair: -pair[0])
        if not scored or scored[0][0] <= best.matched:
            break
        best = Explained(scored[0][1], scored[0][0], len(wrong))
        if best.matched >= 0.97 * len(wrong):
            break
        front = [made for count, made in scored[:6] if count]
    return best if best.matched >= max(2.0, 0.8 * len(wrong)) else None


def compatible(made: Sequence[Mistake], one: Mistake) -> bool:
    """Can the mistake be made beside the others: another name, and no second whole computation?"""
    return all(one.name != m.name and not (one.stage == m.stage == "whole") for m in made)


def matches(mistakes: Sequence[Mistake], wrong: Sequence[tuple[Instance, Vector]], limit: float) -> int:
    """How many wrong answers the mistakes give; combinations that give none of the first six are given up."""
    found = 0
    for count, (case, x) in enumerate(wrong):
        if count == 6 and found == 0:
            break
        try:
            with np.errstate(all="ignore"):
                found += gives(case, x, mistakes, limit)
        except (SolverFailed, np.linalg.LinAlgError, ValueError, OverflowError, ZeroDivisionError):
            continue  # a formula that has no value here
    return found


def gives(case: Instance, x: Vector, mistakes: Sequence[Mistake], limit: float) -> bool:
    """Do the mistakes give this answer? Of a run: is it where a step with the mistakes stays, or the right end?"""
    if case.level in ("bound", "cardinality"):
        known: dict[str, Any] = {**case.data, "x": x}
        mistakes[0].make(known)
        return bool(known.get("same", abs(x[0] - known.get("value", np.inf)) <= 1e-12 * abs(x[0])))
    run, at_the_end = case.level in RUNS, [mistake.stage == "answer" for mistake in mistakes]
    if run and any(at_the_end):
        known = {"x": run_end(case), "B0": case.B}
        make(known, mistakes, "answer")
        return all(at_the_end) and bool(np.max(np.abs(known["x"] - x)) <= limit * np.max(np.abs(x)))
    w = mistaken_step(case, mistakes, x if run else None)
    size = math.sqrt(float(w @ case.B @ w)) if case.level == "fda" else 1.0
    gap = w - x
    near = math.sqrt(max(0.0, float(gap @ case.B @ gap))) <= limit * size
    return near and (not run or bool(np.any(x)))


def listing(words: Sequence[str]) -> str:
    """The words with commas, and "and" before the last."""
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else words[0]
