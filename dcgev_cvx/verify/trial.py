"""A solver on trial: its calls, one at a time and within a time limit, and what was found in its answers."""

import io
import math
import sys
import threading
import warnings
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass, field, replace
from time import perf_counter, process_time
from typing import Any, Literal, TypeAlias, cast

import numpy as np

from .._numerics.checks import Vector, as_number
from ..errors import SolverFailed
from .equations import Limits, share, worst
from .levels import LEVELS, Instance, Tolerances
from .suite import Suite

Solver: TypeAlias = Callable[..., Any]
Handed: TypeAlias = tuple[Instance, list[Any], list[Any]]
"""A question, the arguments that the solver was given, and copies of them to compare them with."""
Status: TypeAlias = Literal["passed", "failed", "blocked"]
Kind: TypeAlias = Literal["contract", "advisory"]

TIME_LIMIT = 10.0
"""Seconds a call may take; then it counts as hanging and no further call is made."""


class NotInTime(SolverFailed):
    """A call has not returned within its time limit."""


def as_time_limit(seconds: Any) -> float:
    """Seconds > 0 that a queue can wait for."""
    return as_number(seconds, "time_limit", strict=True, high=threading.TIMEOUT_MAX)


@dataclass(frozen=True)
class Answer:
    """What a call returned: x (or a bound as a vector of one), or why it cannot be judged.

    x is None when the form is wrong, and problem says how; asked is False for calls that did not return in time, and
    for those that were not made because of one before. x is a copy; raw is what the solver returned, which it may
    still hold. taken are the branches of its source that the call took, where they are watched.
    """

    x: Vector | None
    problem: str = ""
    oddities: tuple[str, ...] = ()
    single: bool = False
    printed: bool = False
    warned: str = ""
    asked: bool = True
    raw: Any = None
    taken: frozenset[Any] = frozenset()


@dataclass
class Session:
    """The calls of a solver; every answer is kept, so that one call serves all checks.

    Each call has a thread of its own: one that never returns is left behind, as Python cannot end a thread, and no
    further call is made; late is its question. Output and warnings are caught during the call. written holds the
    calls during which an argument was changed, of that call or of one of the three before it; unsupported those that
    raised NotImplementedError, which are not judged.
    """

    solver: Solver
    time_limit: float = TIME_LIMIT
    calls: int = 0
    seconds: float = 0.0
    hung: str = ""
    late: Instance | None = None
    unsupported: set[Instance] = field(default_factory=set[Instance])
    answers: dict[Instance, Answer] = field(default_factory=dict[Instance, Answer])
    written: list[tuple[Instance, str]] = field(default_factory=list[tuple[Instance, str]])
    handed: deque[Handed] = field(default_factory=lambda: deque[Handed](maxlen=4))

    def ask(self, instance: Instance) -> Answer:
        """The answer to an instance, asked for the first time or remembered."""
        if instance not in self.answers:  # instances are compared by identity
            self.answers[instance] = self.call(instance, instance.arguments())
        return self.answers[instance]

    def alone(self, instance: Instance) -> Answer | None:
        """The answer of a process in which nothing else was called; None if the solver cannot be started anew."""
        if not hasattr(self.solver, "fresh"):
            return None
        with suppress(SolverFailed), cast("Any", self.solver).fresh() as solver:
            return Session(solver, self.time_limit).ask(instance)
        return None

    def call(self, instance: Instance, arguments: list[Any]) -> Answer:
        """One call with the given arguments, judged for form alone."""
        if self.hung:
            return Answer(None, self.hung, asked=False)
        self.handed.append((instance, arguments, [np.copy(value) for value in arguments]))
        out, begin = io.StringIO(), perf_counter()
        with warnings.catch_warnings(record=True) as caught, redirect_stdout(out), redirect_stderr(sys.stderr):
            warnings.simplefilter("always")
            raw, error = self._run(arguments)
        if isinstance(error, NotImplementedError):
            self.unsupported.add(instance)
            return Answer(None, f"unsupported: {first_line(error)}", asked=False)
        self.calls += 1
        self.seconds += perf_counter() - begin
        self._look()
        self.late = instance if isinstance(error, NotInTime) else None
        # SolverFailed comes from another process, and says all
        raised = "" if error is None or isinstance(error, SolverFailed) else f"raised {type(error).__name__}: "
        answer = form_of(raw, instance) if error is None else Answer(None, f"{raised}{first_line(error)}")
        warned = f"{caught[0].category.__name__}: {caught[0].message}" if caught else ""
        taken = frozenset(getattr(self.solver, "taken", ()))
        return replace(answer, asked=not self.late, printed=bool(out.getvalue()), warned=warned, raw=raw, taken=taken)

    def _look(self) -> None:
        """Note which of the arrays handed over last are no longer what they were; each call is noted once."""
        last = self.handed[-1]
        for _ in range(len(self.handed)):
            instance, arguments, copies = call = self.handed.popleft()
            rows = zip(LEVELS[instance.level].arguments, copies, arguments, strict=True)
            if names := [name for name, old, new in rows if not np.array_equal(old, new)]:
                late = "" if call is last else ", when it was called again"
                self.written.append((instance, f"changed {', '.join(names)} in place{late}"))
            else:
                self.handed.append(call)

    def _run(self, arguments: list[Any]) -> tuple[Any, BaseException | None]:
        """(what the solver returned, what it raised)."""
        found: list[tuple[Any, BaseException | None]] = []

        def work() -> None:
            try:
                found.append((self.solver(*arguments), None))
            except BaseException as error:  # SystemExit included: a solver that exits has not answered
                found.append((None, error))

        thread, begin, used = threading.Thread(target=work, daemon=True), perf_counter(), process_time()
        thread.start()
        thread.join(self.time_limit)
        while thread.is_alive() and starved(perf_counter() - begin, process_time() - used, self.time_limit):
            thread.join(0.25 * self.time_limit)
        if not found:
            self.hung = f"no answer within {self.time_limit:g} s; the solver was not called again"
            return None, NotInTime(self.hung)
        self.hung = getattr(self.solver, "lost", "")
        return found[0]


def first_line(error: BaseException) -> str:
    """The first line of an exception's message."""
    return next(iter(str(error).strip().splitlines()), "without a message")


def starved(wall: float, cpu: float, limit: float) -> bool:
    """Is the solver computing on a busy machine: CPU time above 0 but below half its limit, up to six limits?

    A solver that sleeps uses no CPU time and is not waited for; one that computes on an idle machine uses all of it.
    """
    return 0.02 * wall < cpu < 0.5 * limit and wall < 6.0 * limit


# The form of an answer


def form_of(raw: Any, instance: Instance) -> Answer:
    """The answer as numbers, or what is wrong with its form."""
    return number_of(raw) if LEVELS[instance.level].returns == "bound" else vector_of(raw, instance.n)


def number_of(raw: Any) -> Answer:
    """A bound as a vector of one; +∞ is a number, NaN is not."""
    array = numbers_of(raw)
    if array is None:
        return Answer(None, f"returned {described(raw)} where a number is expected")
    if array.size != 1:
        return Answer(None, f"returned an array of shape {array.shape} where a number is expected")
    x = array.reshape(1).astype(np.float64)
    return Answer(None, "returned NaN") if np.isnan(x[0]) else Answer(x)


def vector_of(raw: Any, n: int) -> Answer:
    """A vector of n finite numbers: a list and the shape (n, 1) are odd but right, other shapes are wrong.

    Complex numbers without an imaginary part and objects that are numbers pass; booleans and text do not.
    """
    array = numbers_of(raw)
    if array is None:
        return Answer(None, f"returned {described(raw)} where a vector of {n} real numbers is expected")
    if array.shape not in ((n,), (n, 1)):
        return Answer(None, f"returned an array of shape {array.shape} where ({n},) is expected")
    x, dtype = array.reshape(n).astype(np.float64), np.asarray(raw).dtype
    bad = int(n - np.count_nonzero(np.isfinite(x)))
    if bad:
        return Answer(None, f"returned {bad} entries that are NaN or infinite")
    odd = [] if isinstance(raw, np.ndarray) else [f"returned a {type(raw).__name__}, not an array"]
    odd += ["returned shape (n, 1)"] if array.ndim == 2 else []
    odd += [f"returned dtype {dtype}"] if dtype != np.float64 else []
    return Answer(x, "", tuple(odd), single=array.dtype.kind == "f" and array.dtype.itemsize < 8)


def numbers_of(raw: Any) -> Any:
    """An array of real numbers, or None for text, masks, imaginary parts and other objects.

    Numbers of another kind (Fraction, Decimal, mpmath's) are converted by their __float__.
    """
    if raw is None or np.ma.is_masked(raw):
        return None
    try:
        array: Any = np.asarray(raw)
        if array.dtype.kind == "O" and array.size and all(map(is_number, array.flat)):
            array = array.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        return None
    if array.dtype.kind == "c" and not np.any(array.imag):
        array = array.real
    return array if array.dtype.kind in "fiu" else None


def is_number(value: Any) -> bool:
    """Is it a number that NumPy does not know: no text, no truth value, no array, and with a __float__?"""
    return hasattr(value, "__float__") and not isinstance(value, (str, bytes, bool, np.bool_, np.ndarray))


def described(raw: Any) -> str:
    """The type of an answer, with its dtype if it is an array."""
    if not isinstance(raw, np.ndarray):
        return "None" if raw is None else f"a value of type {type(raw).__name__}"
    masked = f" with {np.ma.count_masked(raw)} masked entries" if np.ma.is_masked(raw) else ""
    return f"an array of dtype {raw.dtype}{masked}"


# What is found


@dataclass(frozen=True)
class Finding:
    """One judged case; note says what the numbers cannot: the equation, or the argument that was changed.

    before holds the calls that came before this one where they matter; reused: its numbers were written into their
    arrays.
    """

    instance: Instance
    violation: float
    limit: float
    x: Vector | None = None
    note: str = ""
    before: tuple[Instance, ...] = ()
    reused: bool = False

    @property
    def ratio(self) -> float:
        """How many times the limit."""
        return share(self.violation, self.limit)

    @property
    def failed(self) -> bool:
        """Is the limit exceeded? NaN counts as that."""
        return not self.ratio <= 1.0


@dataclass(frozen=True)
class Trial:
    """A solver's session over a suite at given tolerances."""

    session: Session
    suite: Suite
    tol: Tolerances

    def limits(self, answer: Answer, *, single: bool = False) -> Limits:
        """How far an answer may be off."""
        return Limits(self.tol, single=single, rounded=answer.single)

    def judged(self, case: Instance, answer: Answer, *, single: bool = False, note: str = "") -> Finding:
        """The equation that the answer misses most; no answer is an infinite miss."""
        if answer.x is None:
            return Finding(case, math.inf, 1.0, None, answer.problem)
        name, violation, limit = worst(case, answer.x, self.limits(answer, single=single))
        return Finding(case, violation, limit, answer.x, f"{name} ({note})" if note else name)

    def right(self, case: Instance) -> bool:
        """Does the answer to a case satisfy every equation?"""
        return not self.judged(case, self.session.ask(case)).failed


@dataclass(frozen=True)
class Outcome:
    """What a check found.

    worst and tolerance belong to the case with the largest ratio of the two; shown is the smallest failing case.
    since is the version of the kit that the check came with, known the reason why a failure is expected.
    """

    name: str
    tag: str
    meaning: str
    kind: Kind
    status: Status
    cases: int
    failures: int = 0
    worst: float = 0.0
    tolerance: float = 0.0
    shown: Finding | None = None
    note: str = ""
    since: str = ""
    known: str = ""

    @property
    def passed(self) -> bool:
        """Did it pass? A blocked check did not."""
        return self.status == "passed"


def simplicity(finding: Finding) -> tuple[int, float]:
    """(n, how far the sizes of the arguments are from 1, in powers of ten): a small example should be plain too.

    Of answers that cannot be judged the first is shown, since later ones may follow from it.
    """
    arguments = finding.instance.data.values() if finding.x is not None else ()
    sizes = [float(np.max(np.abs(value))) for value in arguments]
    return finding.instance.n, sum(abs(math.log10(size)) for size in sizes if size > 0.0)


@dataclass(frozen=True)
class Check:
    """One line of the report: what is judged, what it means, and the words where there is nothing to judge."""

    name: str
    tag: str
    meaning: str
    findings: Callable[[Trial], Iterable[Finding]]
    kind: Kind = "contract"
    blocked: str = "no answer could be judged"
    since: str = "1"

    def run(self, trial: Trial) -> Outcome:
        """The worst finding decides; of the failing ones the smallest instance is shown.

        Without a finding the check is blocked, and without a failing one if a call did not return in time: its answer
        and those of the calls that were not made are unknown.
        """
        about = (self.name, self.tag, self.meaning, self.kind)
        with np.errstate(all="ignore"):  # an answer may be so large that sums overflow
            found = list(self.findings(trial))
        failing, late = [finding for finding in found if finding.failed], trial.session.late
        if not failing and (late is not None or not found):
            note = trial.session.hung if late is not None else f"blocked: {self.blocked}"
            unknown = None if late is None else Finding(late, math.inf, 1.0, note=note)
            return Outcome(*about, "blocked", len(found), shown=unknown, note=note, since=self.since)
        top = max(found, key=lambda f: f.ratio)
        shown = min(failing, key=simplicity) if failing else top
        status: Status = "failed" if failing else "passed"
        numbers = (len(found), len(failing), top.violation, top.limit)
        return Outcome(*about, status, *numbers, shown, shown.note, self.since)
