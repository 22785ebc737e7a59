"""The checks of a level. Contract checks decide the verdict, manners are reported beside it."""

from __future__ import annotations

from collections.abc import Iterator
from types import MappingProxyType

import numpy as np

from .conduct import (
    MANNERS,
    double_check,
    exact_zeros_check,
    kept_check,
    last_digits_check,
    observed_check,
    same_bits_check,
    unchanged_check,
    value_check,
)
from .equations import EQUATIONS, Equation
from .families import FAMILIES, Family
from .instances import LEVELS, Instance
from .measures import share
from .outcomes import NO_ANSWER, NO_BASE, Check, Finding, Outcome, Trial, judged, outcome
from .reference import optimum
from .search import search_check
from .session import Answer, Session
from .suite import Pair, Suite, handy
from .tolerances import SLACK


def answer_check() -> Check:
    """Every call returns what the level asks for: n finite real numbers, or one.

    Runs first: where a solver does not answer, nothing else can be said of it.

    Raising, hanging, returning None, NaN, a wrong shape or text are all "no answer", each with its words.
    """
    about = ("an answer", "", "a finite answer of the right shape to every call, within the time limit", "contract")

    def run(trial: Trial) -> Outcome:
        if not getattr(trial.session.solver, "remote", False):  # over a pipe the first line gone wrong is to be shown
            trial.session.ask(opening(trial.suite))
        findings = [
            Finding(case, 0.0 if answer.x is not None else np.inf, 1.0, None, answer.problem)
            for case in trial.suite.battery
            if (answer := trial.session.ask(case)).asked
        ]
        return outcome(about, findings, NO_ANSWER)

    return Check(*about, run)


def opening(found: Suite) -> Instance:
    """What is asked first of all: a case with a telling answer, since the first call may be a fault's home."""
    return next((case for case in found.battery[::-1] if handy(case)), found.battery[-1])


def equation_check(equation: Equation) -> Check:
    """One equation over the whole battery.

    Answers that are missing are left to the first check and not counted twice.
    """
    about = (equation.name, equation.tag, equation.meaning, "contract")

    def findings(trial: Trial) -> Iterator[Finding]:
        for case in trial.suite.battery:
            answer = trial.session.ask(case)
            if answer.x is None:
                continue
            measured = equation.judge(case, answer.x, trial.asked(answer))
            if measured is not None:
                yield Finding(case, *measured, answer.x)

    return Check(*about, lambda trial: outcome(about, findings(trial), NO_ANSWER))


def family_check(family: Family) -> Check:
    """Every equation on one family of cases.

    The same answers are judged again by family, so that the report names the mistake ("τ on one side only") and not
    just the equation that it breaks.
    """
    about = (family.name, family.tag, f"catches: {family.mistake}", "contract")

    def findings(trial: Trial) -> Iterator[Finding]:
        for case in trial.suite.battery:
            answer = trial.session.ask(case) if family.holds(case) else None
            if answer is not None and answer.asked:
                yield judged(trial, case, answer)

    return Check(*about, lambda trial: outcome(about, findings(trial), NO_ANSWER))


PAIR_MEANINGS = MappingProxyType(
    {
        "permutation": "the variables in another order give the same answer in that order",
        "sign flips": "flipping variables flips the answer",
        "scale of the objective": "A, ρ̃, τ times 1e±6 change nothing but the value",
        "range of float64": "A and ρ̃ times 2¹⁴⁰, exact in float64 and infinite in float32, change nothing",
        "units of the variables": "x in other units (B from 1e-12 to 1e12) is the same x",
        "the same call twice": "a second call is as right as the first",
        "calls interleaved": "no state is left over from calls of other sizes and numbers",
        "one argument changed": "nothing is remembered of the other arguments",
        "reused arrays": "new numbers in the same arrays are seen",
        "memory layout": "Fortran order, strides and read-only arrays hold the same numbers",
        "float32 data": "float32 numbers are read as numbers",
    }
)


def pair_check(name: str) -> Check:
    """The second call of every pair whose base is right satisfies every equation.

    The pair's own reference judges the second answer; the two answers are never compared with each other, since both
    may be right and different (a tie, another stationary point). A base that is wrong already blocks its pair.
    """
    about = (name, "", PAIR_MEANINGS[name], "contract")

    def findings(trial: Trial) -> Iterator[Finding]:
        for pair in trial.suite.pairs.get(name, ()):
            if trial.right(pair.base):
                answer = second_answer(trial.session, pair)
                if pair.single and answer.problem.startswith(
                    "raised"
                ):  # refusing float32 is right, misreading it is not
                    yield Finding(pair.asked, 0.0, 1.0, note="refused")
                elif answer.asked:
                    yield judged(trial, pair.asked, answer, single=pair.single, note=pair.how)

    return Check(*about, lambda trial: outcome(about, findings(trial), NO_BASE))


def second_answer(session: Session, pair: Pair) -> Answer:
    """The second call of a pair, after what must come before it.

    For reused arrays the base is asked first with the very arrays into which the second question is then written.

    Arrays are overwritten in place and numbers replaced, as a caller in a loop does.
    """
    for instance in pair.before:
        session.call(instance, instance.arguments())
    arguments = pair.deliver(pair.asked)
    if pair.reused:
        fresh, arguments = arguments, pair.base.arguments()
        session.call(pair.base, arguments)
        session.watched.clear()  # it is the kit that writes to these arrays now
        for i, value in enumerate(fresh):
            if isinstance(value, np.ndarray):
                arguments[i][...] = value
            else:
                arguments[i] = value
    return session.call(pair.asked, arguments)


def fixed_point_check() -> Check:
    """From its own answer the solver neither climbs nor leaves stationarity.

    About eight starts. x is pulled into Ω before it is handed back, so that a solver's 1e-9 outside is not held
    against it.
    """
    about = ("fixed point", "Eq:min-step", "from its own answer the solver does not climb", "contract")

    def findings(trial: Trial) -> Iterator[Finding]:
        starts = [case for case in trial.suite.battery if trial.right(case)][:: max(1, len(trial.suite.battery) // 8)]
        for case in starts:
            x = trial.session.ask(case).x
            if x is None or not np.count_nonzero(x):
                continue
            inside = x / max(1.0, float(np.sqrt(x @ case.B @ x)))
            again = case.changed("from its own answer", x0=inside)
            answer = trial.session.call(again, again.arguments())
            if answer.asked:
                yield judged(trial, again, answer)

    return Check(*about, lambda trial: outcome(about, findings(trial), NO_BASE))


def monotone_check() -> Check:
    """bound(k) ≤ bound(k + 1): a manner, since both may be valid and fall, as after a search that was cut short.

    The fall is measured over max |λ|; +∞ at both k is no fall.
    """
    about = ("monotone in k", "SGEV-P", "a larger k does not lower the bound", "manner")

    def findings(trial: Trial) -> Iterator[Finding]:
        for case, above in trial.suite.ladder:
            first, second = trial.session.ask(case).x, trial.session.ask(above).x
            if first is not None and second is not None:
                fall = 0.0 if second[0] >= first[0] else float(first[0] - second[0])
                yield Finding(
                    case, share(fall, optimum(case).radius), SLACK, first, f"bound(k + 1) = {second[0]:.10g}"
                )

    return Check(*about, lambda trial: outcome(about, findings(trial), NO_ANSWER))


def useful_check() -> Check:
    """bound ≤ max(0, λmax(A, B)): a manner, since Gershgorin's bound is valid; one eigenvalue is better."""
    about = ("no worse than λmax", "GEV-P", "the bound does not exceed λmax(A, B)", "manner")

    def findings(trial: Trial) -> Iterator[Finding]:
        for case in trial.suite.battery:
            bound, best = trial.session.ask(case).x, optimum(case)
            if bound is not None:
                yield Finding(
                    case, share(max(0.0, float(bound[0]) - max(0.0, best.lambda_max)), best.radius), SLACK, bound
                )

    return Check(*about, lambda trial: outcome(about, findings(trial), NO_ANSWER))


def checks(level: str, found: Suite, *, remote: bool = False, search: int | None = None) -> list[Check]:
    """The checks of a level that the suite has cases for; memory layouts do not exist over a wire.

    search is the seed of the search for further counterexamples, or None for none.

    Contract checks come first and in the order in which a reader wants to know: does it answer, are the equations
    met, on which families not, is it consistent between calls. Manners follow.
    """
    local_only = ("memory layout", "float32 data", "reused arrays") if remote else ()
    vector = LEVELS[level].returns == "x"
    made = [
        answer_check(),
        *(equation_check(e) for e in EQUATIONS[level] if e.name != "fixed point" or level == "step"),
    ]
    made += [family_check(f) for f in FAMILIES if level in f.levels and any(map(f.holds, found.battery))]
    made += [fixed_point_check()] if level in ("algorithm", "pca") else []
    made += [
        last_digits_check() if name == "last digits" else pair_check(name)
        for name, pairs in found.pairs.items()
        if name not in local_only and pairs
    ]
    made += [kept_check(), double_check()] if vector else []
    made += [] if remote else [unchanged_check()]
    made += [search_check(level, search)] if search is not None else []
    made += [same_bits_check(), *(observed_check(about, notice) for about, notice in MANNERS)]
    made += [useful_check(), monotone_check()] if level == "bound" else []
    made += [exact_zeros_check()] if vector and level != "cardinality" else []
    return [*made, value_check()] if level == "cardinality" else made
