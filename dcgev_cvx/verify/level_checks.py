"""The checks of a level. Contract checks decide the verdict; advisory checks are reported beside it."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from .._numerics.checks import Vector, one_of
from ..errors import InvalidParameter
from .answers import Answer
from .call_pairs import PAIRS, Pair
from .equations import EQUATIONS, Equation, share
from .levels import Instance, optimum
from .suite import Suite
from .trial import Check, Finding, Session, Trial

NO_BASE = "the answers it starts from are wrong already"
KIT = "4"
"""The version of the checks."""


def checks(level: str, found: Suite, *, remote: bool = False) -> list[Check]:
    """The checks of a level that the suite has cases for, in the order of the report.

    Valid answers, equations, sequences of calls, then the advisory checks. A program (remote) has no arrays.
    """
    local = () if not remote else ("reused arrays",)
    made = [Check("valid answer", "", "a finite answer of the right shape to every call, in time", answers)]
    made += [equation_check(equation) for equation in EQUATIONS[level]]
    made += [pair_check(name) for name in found.pairs if name in PAIRS and name not in local]
    if found.pairs.get("last digits"):
        text = "a change of an argument in its twelfth digit reaches the answer"
        made += [Check("last digits", "", text, last_digits, blocked=NO_BASE)]
    if level != "bound" and not remote:
        text = "an answer stays what it was when the solver is called again"
        made += [Check("answers kept", "", text, lambda trial: disturbed(trial, "overwrote"))]
    if not remote:
        text = "the arguments stay as they were, whatever is called after"
        made += [Check("inputs unchanged", "", text, lambda trial: disturbed(trial, "in place"))]
    if level == "bound":
        text = "the bound does not exceed max(0, λmax(A, B))"
        made += [Check("no worse than λmax", "GEV-P", text, above_lambda_max, "advisory")]
    elif level == "cardinality":
        text = "information: (optimum − xᵀAx)/max |λ|, worst case"
        made += [Check("value against the optimum", "SGEV-P", text, below_optimum, "advisory")]
    else:
        made += [Check("exact zeros", "", "zeros are 0.0, not tiny numbers", tiny_numbers, "advisory")]
    return made


def selected(
    made: Sequence[Check], include: Iterable[str], exclude: Iterable[str], expected: Mapping[str, str]
) -> list[Check]:
    """The checks that are asked for; InvalidParameter for a name that is none of them, or if none is left."""
    names = [item.name for item in made]
    for what, given in (("include", include), ("exclude", exclude), ("expected", expected)):
        if isinstance(given, str):
            raise InvalidParameter(f"{what} = {given!r} must be a list of names of checks.")
        for name in given:
            one_of(name, what, names)
    kept = [item for item in made if (not include or item.name in include) and item.name not in exclude]
    if not any(item.kind == "contract" for item in kept):
        raise InvalidParameter("include and exclude leave no check that decides.")
    return kept


# Equations


def answers(trial: Trial) -> Iterator[Finding]:
    """Every call returns n finite real numbers, or one; raising, None, NaN and text are no answer.

    The first is one that can be judged well, since some solvers are wrong at their first call.
    """
    if not trial.session.solver.remote:  # of a program the first line gone wrong is to be shown
        trial.session.ask(trial.suite.pairs["the same call twice"][0].base)
    for case, answer in asked(trial):
        yield Finding(case, 0.0 if answer.x is not None else math.inf, 1.0, None, answer.problem)


def asked(trial: Trial) -> Iterator[tuple[Instance, Answer]]:
    """The cases with their answers, as far as the solver was called."""
    for case in trial.suite.cases:
        answer = trial.session.ask(case)
        if answer.asked:
            yield case, answer


def vectors(trial: Trial) -> Iterator[tuple[Instance, Answer, Vector]]:
    """The cases whose answer has a valid form, with it."""
    for case, answer in asked(trial):
        if answer.x is not None:
            yield case, answer, answer.x


def equation_check(equation: Equation) -> Check:
    """One equation over all cases; missing answers are left to the first check."""

    def findings(trial: Trial) -> Iterator[Finding]:
        for case, answer, x in vectors(trial):
            measured = equation.judge(case, x, trial.limits(answer))
            if measured is not None:
                yield Finding(case, *measured, x)

    return Check(equation.name, equation.tag, equation.meaning, findings)


# Pairs of calls


def pair_check(name: str) -> Check:
    """The second call of every pair whose base is right satisfies every equation.

    A base that is wrong already blocks its pair.
    """

    def findings(trial: Trial) -> Iterator[Finding]:
        for pair in trial.suite.pairs.get(name, ()):
            answer = second_answer(trial.session, pair) if trial.right(pair.base) else None
            if answer is not None and answer.asked:
                found = trial.judged(pair.asked, answer, note=pair.how)
                yield replace(found, before=(pair.base,) if pair.reused else pair.before, reused=pair.reused)

    since = "2" if name == "one part changed" else "1"
    return Check(name, "", PAIRS[name][1], findings, blocked=NO_BASE, since=since)


def second_answer(session: Session, pair: Pair) -> Answer:
    """The second call of a pair, after what must come before it, which for reused arrays is the base."""
    for instance in (pair.base,) if pair.reused else pair.before:
        session.call(instance)
    return session.call(pair.asked, reuse=pair.reused)


def last_digits(trial: Trial) -> Iterator[Finding]:
    """x(θ) and x(θ(1 − 1e-12)) differ: detects an argument that was rounded to float32, or to fit a cache.

    Bits are compared, so that a right answer of any accuracy passes; an argument counts as rounded if the answer
    stays in half of its cases or more. Answers that are rounded themselves (float32, at most 13 digits) may stay.
    """
    found: dict[str, list[tuple[Pair, Answer, bool]]] = {}
    for pair in trial.suite.pairs.get("last digits", ()):
        if not trial.right(pair.base):
            continue
        first = trial.session.call(pair.base)  # a solver may compare with the last call alone
        second = trial.session.call(pair.asked)
        if first.x is None:
            continue
        still = second.x is not None and np.array_equal(first.x, second.x)
        if second.asked:
            found.setdefault(pair.how, []).append((pair, second, still and not (first.single or few_digits(first.x))))
    for name, pairs in found.items():
        rounded = 2 * sum(still for _, _, still in pairs) >= len(pairs)
        for pair, second, still in pairs:
            if second.x is None:
                yield Finding(pair.asked, math.inf, 1.0, None, second.problem)
            else:
                note = f"{name} was moved by 1e-12 of itself, and no bit of the answer moved" if still else ""
                yield Finding(pair.asked, float(still and rounded), 0.5, second.x, note, (pair.base,))


def few_digits(x: Vector) -> bool:
    """Are all entries numbers of 13 decimal digits, as a program prints them?"""
    return all(float(f"{value:.13g}") == value for value in x.tolist())


# What is seen beside the numbers


def disturbed(trial: Trial, what: str) -> Iterator[Finding]:
    """No call of the trial writes to its arguments, nor to the arguments or answers of the calls before it.

    LAPACK overwrites what it may, often only an array in Fortran order; a quarter of the cases is laid out so.
    """
    for case, _ in asked(trial):
        yield Finding(case, 0.0, 0.5)
    for case, note in trial.session.disturbed:
        if what in note:
            yield Finding(case, 1.0, 0.5, None, note)


def tiny_numbers(trial: Trial) -> Iterator[Finding]:
    """Entries that are nonzero and below 1e-9 of the largest, which is no size that a penalty leaves."""
    for case, _, x in vectors(trial):
        tiny = int(np.count_nonzero((x != 0.0) & (np.abs(x) < 1e-9 * np.max(np.abs(x)))))
        yield Finding(case, float(tiny), 0.5, x, f"{tiny} entries below 1e-9 of the largest" if tiny else "")


# Bounds and values


def above_lambda_max(trial: Trial) -> Iterator[Finding]:
    """bound ≤ max(0, λmax(A, B)): advisory, since Gershgorin's bound is valid too. 1e-3 of max |λ| is allowed."""
    for case, _, x in vectors(trial):
        best = optimum(case)
        yield Finding(case, share(max(0.0, float(x[0]) - max(0.0, best.lambda_max)), best.radius), 1e-3, x)


def below_optimum(trial: Trial) -> Iterator[Finding]:
    """How far xᵀAx lies below the exact optimum: information, since a heuristic need not be optimal."""
    for case, _, x in vectors(trial):
        best = optimum(case)
        yield Finding(case, share(best.value - float(x @ case.data["A"] @ x), best.radius), math.inf, x)
