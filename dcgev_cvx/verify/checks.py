"""The checks of a level. Contract checks decide the verdict, manners are reported beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

import numpy as np

from ..checks import Vector
from .equations import EQUATIONS, Asked, Equation, over, worst
from .instances import LEVELS, Instance
from .reference import optimum
from .session import Answer, Session
from .suite import Pair, Suite
from .tolerances import SLACK, Tolerances

Status: TypeAlias = Literal["passed", "failed", "blocked"]
Kind: TypeAlias = Literal["contract", "manner"]


@dataclass(frozen=True)
class Outcome:
    """What a check found: the worst violation, the limit there, and the instance that shows it."""

    name: str
    tag: str
    meaning: str
    kind: Kind
    status: Status
    cases: int
    failures: int = 0
    worst: float = 0.0
    tolerance: float = 0.0
    instance: Instance | None = None
    x: Vector | None = None
    note: str = ""

    @property
    def passed(self) -> bool:
        """Did it pass? A blocked check did not."""
        return self.status == "passed"


@dataclass(frozen=True)
class Trial:
    """A solver's session over a suite at given tolerances."""

    session: Session
    suite: Suite
    tol: Tolerances

    def asked(self, answer: Answer, *, single: bool = False) -> Asked:
        """How exactly an answer is judged."""
        return Asked(self.tol, single or answer.single)

    def right(self, instance: Instance) -> bool:
        """Does the answer to a case satisfy every equation?"""
        answer = self.session.ask(instance)
        return answer.x is not None and worst(instance, answer.x, self.asked(answer)).ratio <= 1.0


@dataclass(frozen=True)
class Check:
    """One line of the report; run(trial) judges it."""

    name: str
    tag: str
    meaning: str
    kind: Kind
    run: Callable[[Trial], Outcome]


@dataclass(frozen=True)
class Finding:
    """One judged case."""

    instance: Instance
    violation: float
    limit: float
    x: Vector | None = None
    note: str = ""

    @property
    def ratio(self) -> float:
        """How many times the limit."""
        return over(self.violation, self.limit)


def outcome(about: tuple[str, str, str, Kind], findings: Iterable[Finding], blocked: str) -> Outcome:
    """The worst of the findings; of the failing ones the smallest instance is shown; none at all means blocked."""
    found = list(findings)
    if not found:
        return Outcome(*about, "blocked", 0, note=blocked)
    failing = [finding for finding in found if not finding.ratio <= 1.0]
    shown = min(failing, key=lambda f: f.instance.n) if failing else max(found, key=lambda f: f.ratio)
    top = max(found, key=lambda f: f.ratio)
    return Outcome(
        *about,
        "failed" if failing else "passed",
        len(found),
        len(failing),
        top.violation,
        top.limit,
        shown.instance,
        shown.x,
        shown.note,
    )


NO_ANSWER = "blocked: no answer could be judged"
NO_BASE = "blocked: the answers it starts from are wrong already"


def answer_check() -> Check:
    """Every call returns what the level asks for: n finite real numbers, or one."""
    about = ("an answer", "", "a finite answer of the right shape to every call, within the time limit", "contract")

    def run(trial: Trial) -> Outcome:
        findings = [
            Finding(case, 0.0 if answer.x is not None else np.inf, 1.0, None, answer.problem)
            for case in trial.suite.battery
            if (answer := trial.session.ask(case)).asked
        ]
        return outcome(about, findings, NO_ANSWER)

    return Check(*about, run)


def equation_check(equation: Equation) -> Check:
    """One equation over the whole battery."""
    about = (equation.name, equation.tag, equation.meaning, "contract")

    def findings(trial: Trial) -> Iterator[Finding]:
        for case in trial.suite.battery:
            answer = trial.session.ask(case)
            if answer.x is None:
                continue
            measured = equation.measure(case, answer.x, trial.asked(answer))
            if measured is not None:
                yield Finding(case, *measured, answer.x)

    return Check(*about, lambda trial: outcome(about, findings(trial), NO_ANSWER))


@dataclass(frozen=True)
class Family:
    """A family of cases with the mistake that it brings to light."""

    name: str
    tag: str
    mistake: str
    levels: tuple[str, ...]
    holds: Callable[[Instance], bool]


def flagged(*flags: str) -> Callable[[Instance], bool]:
    """Does the case bear one of the flags?"""
    return lambda case: bool(set(flags) & set(case.flags))


PENALISED, RUNS, SUBSETS = ("step", "fda", "algorithm", "pca"), ("algorithm", "pca"), ("bound", "cardinality")
FAMILIES = (
    Family("no penalty", "Eq:power", "ρ̃ = 0 is not the plain problem", PENALISED, flagged("rho-0", "nu-0")),
    Family("large ε", "SGEV-A", "log(1/ε) for log(1 + 1/ε)", PENALISED, flagged("eps=1e+00")),
    Family("tiny ε", "SGEV-A", "ε clipped, weights overflow", PENALISED, flagged("eps=2e-16", "eps=1e-08")),
    Family("weights at 0", "Eq:log", "a weight of 0 (not 1/ε) where y is 0", ("step",), flagged("zero-weights", "tiny-weights")),
    Family("interior optimum", "ALG", "x normalised although the constraint is slack", ("step",), flagged("interior-optimum")),
    Family("near ties", "ALG", "small entries cut off, or kept", ("step",), flagged("near-tie")),
    Family("collapse", "ALG-S", "0/0 where x = 0 is the answer", ("step", *RUNS), flagged("rho-1.001", "rho-3", "collapse", "no-pull")),
    Family("ill-conditioned B", "ALG", "single precision, B inverted", ("step", "fda"), flagged("cond-1e8", "cond-1e4")),
    Family("indefinite A", "Eq:tau", "τ missing, doubled or on one side only", ("step", "algorithm"), flagged("indefinite", "negative", "pulled-down", "cca")),
    Family("x0 decides", "SGEV-A", "x0 ignored: the answer lies above it", RUNS, flagged("better-start")),
    Family("slow runs", "Eq:min-step", "stopped early", RUNS, flagged("slow")),
    Family("tight relaxations", "SGEV-P", "the bound trusts a solver or drops a term", SUBSETS, flagged("tight", "k-all", "k-one")),
    Family("decoys", "SGEV-P", "a greedy value taken for a bound", SUBSETS, flagged("decoy")),
    Family("A not semidefinite", "SGEV-P", "A ⪰ 0 assumed", SUBSETS, flagged("indefinite", "negative", "pulled-down", "diagonal")),
    Family("B not the identity", "SGEV-P", "B = I assumed", SUBSETS, flagged("dense", "uneven", "small", "cond-1e8", "cca")),
    Family("one variable", "", "n = 1 forgotten", tuple(LEVELS), lambda case: case.n == 1),
    Family("many variables", "", "wrong beyond a size", ("step", "fda", "algorithm", "pca"), lambda case: case.n > 30),
)


def family_check(family: Family) -> Check:
    """Every equation on one family of cases."""
    about = (family.name, family.tag, f"catches: {family.mistake}", "contract")

    def findings(trial: Trial) -> Iterator[Finding]:
        for case in trial.suite.battery:
            answer = trial.session.ask(case) if family.holds(case) else None
            if answer is not None and answer.asked:
                yield judged(trial, case, answer)

    return Check(*about, lambda trial: outcome(about, findings(trial), NO_ANSWER))


def judged(trial: Trial, case: Instance, answer: Answer, *, single: bool = False, note: str = "") -> Finding:
    """The equation that the answer misses most; no answer is an infinite miss."""
    if answer.x is None:
        return Finding(case, np.inf, 1.0, None, answer.problem)
    miss = worst(case, answer.x, trial.asked(answer, single=single))
    return Finding(case, miss.violation, miss.limit, answer.x, f"{miss.equation.name}{f' ({note})' if note else ''}")


PAIR_MEANINGS = MappingProxyType(
    {
        "permutation": "the variables in another order give the same answer in that order",
        "sign flips": "flipping variables flips the answer",
        "scale of the objective": "A, ρ̃, τ times 1e±6 change nothing but the value",
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
    """The second call of every pair whose base is right satisfies every equation."""
    about = (name, "", PAIR_MEANINGS[name], "contract")

    def findings(trial: Trial) -> Iterator[Finding]:
        for pair in trial.suite.pairs.get(name, ()):
            if trial.right(pair.base):
                answer = second_answer(trial.session, pair)
                if pair.single and answer.problem.startswith("raised"):  # refusing float32 is right, misreading it is not
                    yield Finding(pair.asked, 0.0, 1.0, note="refused")
                elif answer.asked:
                    yield judged(trial, pair.asked, answer, single=pair.single, note=pair.how)

    return Check(*about, lambda trial: outcome(about, findings(trial), NO_BASE))


def second_answer(session: Session, pair: Pair) -> Answer:
    """The second call of a pair, after what must come before it."""
    for instance in pair.before:
        session.call(instance, instance.arguments())
    arguments = pair.deliver(pair.asked)
    if pair.reused:
        fresh, arguments = arguments, pair.base.arguments()
        session.call(pair.base, arguments)
        for i, value in enumerate(fresh):
            if isinstance(value, np.ndarray):
                arguments[i][...] = value
            else:
                arguments[i] = value
    return session.call(pair.asked, arguments)


def fixed_point_check() -> Check:
    """From its own answer the solver neither climbs nor leaves stationarity."""
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
    """bound(k) ≤ bound(k + 1)."""
    about = ("monotone in k", "SGEV-P", "a larger k does not lower the bound", "contract")

    def findings(trial: Trial) -> Iterator[Finding]:
        for case, above in trial.suite.ladder:
            first, second = trial.session.ask(case).x, trial.session.ask(above).x
            if first is not None and second is not None:
                fall = 0.0 if second[0] >= first[0] else float(first[0] - second[0])
                yield Finding(case, fall / optimum(case).radius, SLACK, first, f"bound(k + 1) = {second[0]:.10g}")

    return Check(*about, lambda trial: outcome(about, findings(trial), NO_ANSWER))


def unchanged_check() -> Check:
    """No argument is written to."""
    return observed_check(
        ("inputs unchanged", "", "the arguments are as they were after every call", "contract"),
        lambda answer: f"changed {answer.changed} in place" if answer.changed else "",
    )


def double_check() -> Check:
    """Answers that claim double precision are not all float32 numbers."""
    about = ("double precision", "", "not every answer is a float32 number in disguise", "contract")

    def run(trial: Trial) -> Outcome:
        answered = [(case, a) for case in trial.suite.battery if (a := trial.session.ask(case)).x is not None]
        # an open float32 answer has its own tolerance; single entries and zeros tell nothing
        telling = [a.x for _, a in answered if a.x is not None and not a.single and np.count_nonzero(a.x) >= 2]
        guilty = len(telling) >= 5 and all(bool(np.all(x == x.astype(np.float32))) for x in telling)
        findings = [Finding(case, float(guilty), 0.5, a.x, "single precision inside") for case, a in answered]
        return outcome(about, findings, NO_ANSWER)

    return Check(*about, run)


def observed_check(about: tuple[str, str, str, Kind], notice: Callable[[Answer], str]) -> Check:
    """What was seen on the side of every call of the battery."""

    def findings(trial: Trial) -> Iterator[Finding]:
        for case in trial.suite.battery:
            answer = trial.session.ask(case)
            if answer.asked:
                note = notice(answer)
                yield Finding(case, float(bool(note)), 0.5, answer.x, note)

    return Check(*about, lambda trial: outcome(about, findings(trial), NO_ANSWER))


def same_bits_check() -> Check:
    """The same call gives the same bits."""
    about = ("same bits", "", "the same call twice gives the same bits", "manner")

    def findings(trial: Trial) -> Iterator[Finding]:
        for pair in trial.suite.pairs.get("the same call twice", ()):
            first, second = trial.session.ask(pair.base), trial.session.call(pair.base, pair.base.arguments())
            if first.x is not None and second.x is not None:
                yield Finding(pair.base, float(np.max(np.abs(first.x - second.x))), 0.0, second.x)

    return Check(*about, lambda trial: outcome(about, findings(trial), NO_ANSWER))


def exact_zeros_check() -> Check:
    """Zeros are zeros, not dust."""
    return observed_check(
        ("exact zeros", "", "what is zero is 0.0 and not dust", "manner"),
        lambda answer: dust_note(answer.x),
    )


def dust_note(x: Vector | None) -> str:
    """How many entries are dust, in words."""
    if x is None or not x.any():
        return ""
    dust = int(np.count_nonzero((x != 0.0) & (np.abs(x) < 1e-9 * np.max(np.abs(x)))))
    return f"{dust} entries below 1e-9 of the largest" if dust else ""


def value_check() -> Check:
    """How much of the exact optimum the vector reaches: information."""
    about = ("value against the optimum", "SGEV-P", "information: (optimum − xᵀAx)/max |λ|, worst case", "manner")

    def findings(trial: Trial) -> Iterator[Finding]:
        for case in trial.suite.battery:
            x = trial.session.ask(case).x
            if x is not None:
                best = optimum(case)
                yield Finding(case, (best.value - float(x @ case.data["A"] @ x)) / best.radius, np.inf, x)

    return Check(*about, lambda trial: outcome(about, findings(trial), NO_ANSWER))


MANNERS: tuple[tuple[tuple[str, str, str, Kind], Callable[[Answer], str]], ...] = (
    (("plain answers", "", "a float64 array of shape (n,)", "manner"), lambda a: "; ".join(a.oddities)),
    (("silent", "", "nothing is printed", "manner"), lambda a: "printed to stdout" if a.printed else ""),
    (("no warnings", "", "no warning is raised", "manner"), lambda a: a.warned),
)


def checks(level: str, found: Suite, *, remote: bool = False) -> list[Check]:
    """The checks of a level that the suite has cases for; memory layouts do not exist over a wire."""
    local_only = ("memory layout", "float32 data", "reused arrays") if remote else ()
    vector = LEVELS[level].returns == "x"
    made = [answer_check(), *(equation_check(e) for e in EQUATIONS[level] if e.name != "fixed point" or level == "step")]
    made += [family_check(f) for f in FAMILIES if level in f.levels and any(map(f.holds, found.battery))]
    made += [fixed_point_check()] if level in ("algorithm", "pca") else []
    made += [monotone_check()] if level == "bound" else []
    made += [pair_check(name) for name, pairs in found.pairs.items() if name not in local_only and pairs]
    made += [] if remote else [unchanged_check()]
    made += [double_check()] if vector else []
    made += [same_bits_check(), *(observed_check(about, notice) for about, notice in MANNERS)]
    made += [exact_zeros_check()] if vector and level != "cardinality" else []
    return [*made, value_check()] if level == "cardinality" else made


def described(value: Any) -> str:
    """A violation or limit for a table."""
    return "0" if value == 0 else f"{value:.1e}"
