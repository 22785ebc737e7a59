"""Which conditions in a solver's own source were both true and false during a trial, and inputs for the others.

A wrong branch that no case takes cannot be found by its answers. So the calls are watched: every condition of the
solver's module (of if, while, a conditional expression, an operand of `and` and `or`) is known to the interpreter as
a conditional jump, and which way it went is recorded. `sys.monitoring` reports jumps from Python 3.12 on; before, a
trace function sees every instruction. For a condition that was only ever true, or only ever false, inputs are then
searched: arguments are changed at random, with the numbers of the condition as hints, and changes that bring the two
sides of a comparison nearer to each other are kept.
"""

from __future__ import annotations

import ast
import dis
import functools
import inspect
import linecache
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter, process_time
from types import CodeType, FrameType
from typing import Any, TypeAlias

import numpy as np

from ..penalties import MACHINE_EPS
from .call_pairs import picked, usable
from .counterexamples import repaired
from .levels import Instance, condition
from .pencil_cases import Random
from .suite import chosen
from .trial import Finding, Trial

Place: TypeAlias = tuple[int, int, int, int]
"""First line, first column, last line, last column of a condition, as in a syntax tree."""
Outcome: TypeAlias = tuple[Place, bool]

EVENTS_PER_CALL = 50_000
"""Events of one call that a trace function looks at, about 50 ms: a call must stay within its time limit."""
SECONDS_PER_EVENT = 1.5e-6
"""What one of them costs at most: calls are left unwatched while this would be more than half of the time so far."""


@dataclass(frozen=True)
class Branch:
    """A condition that never had one of its two outcomes, in so many watched calls."""

    place: Place
    source: str
    condition: str
    missing: bool
    calls: int

    def __str__(self) -> str:
        part = "" if self.source.endswith(self.condition) else f'"{self.condition}" '
        return f'line {self.place[0]} "{self.source}": {part}never {str(self.missing).lower()} in {self.calls} calls'


@dataclass(frozen=True)
class Jump:
    """A conditional jump: the condition behind it, where it leads, and the condition's truth if it is taken."""

    test: ast.expr
    target: int
    truth: bool


@dataclass
class Watcher:
    """A function that is watched while it is called; problem says why it is not.

    taken holds the outcomes of the conditions in the last call. With a goal, the outcome that a search wants, each
    call sets distance: 0 if it had that outcome, otherwise how near the two sides of the condition came, infinite if
    it was not reached; values are the numbers that were compared.
    """

    function: Callable[..., Any]
    goal: Outcome | None = None
    problem: str = ""
    calls: int = 0
    distance: float = math.inf
    values: list[float] = field(default_factory=list[float])
    taken: set[Outcome] = field(default_factory=set[Outcome])

    def __post_init__(self) -> None:
        self.file = source_file(self.function)
        self.lines = linecache.getlines(self.file) if self.file else []
        self.tests, self._idle = conditions("".join(self.lines))
        self._seen: set[Outcome] = set()
        self._jumps: dict[CodeType, dict[int, Jump]] = {}
        self._events = self._all_events = 0
        self._begin = process_time()
        self._monitoring: Any = getattr(sys, "monitoring", None)
        self.problem = "no source" if not self.lines else self._monitor() if self._monitoring is not None else ""

    def __call__(self, *arguments: Any) -> Any:
        """The function's answer."""
        self.distance, self.values, self.taken, self._events = math.inf, [], set(), 0
        costly = SECONDS_PER_EVENT * self._all_events > 0.5 * (process_time() - self._begin) + 0.2
        if not self.problem and self._monitoring is None and sys.gettrace() is not None:
            self.problem = "another trace function is active"
        if self.problem or (costly and self.goal is None):
            return self.function(*arguments)
        if self._monitoring is None:
            sys.settrace(self._enter)
        try:
            return self.function(*arguments)
        finally:
            self._all_events += self._events
            self.calls += self._events <= EVENTS_PER_CALL  # a call that was watched in part does not count
            self._seen |= self.taken
            if sys.gettrace() == self._enter:
                sys.settrace(None)
            elif sys.gettrace() is not None:
                self.problem = "the solver installs a trace function of its own"

    def branches(self) -> list[Branch]:
        """The conditions that had one outcome only, in the order of the source."""
        missing = [
            (place, not outcome) for place, outcome in sorted(self._seen) if (place, not outcome) not in self._seen
        ]
        return [Branch(p, *self.text(p), wanted, self.calls) for p, wanted in missing if p not in self._idle]

    def text(self, place: Place) -> tuple[str, str]:
        """The line of a condition, as far as the condition goes, and the condition."""
        first, start, last, end = place
        lines = [line.encode() for line in self.lines[first - 1 : last]]
        lines[-1] = lines[-1][:end]
        text = b" ".join([lines[0][start:], *(line.strip() for line in lines[1:])]).decode()
        return (lines[0].decode().strip() if first == last else self.lines[first - 1].strip()), text

    def close(self) -> None:
        """Give the place among the monitoring tools back."""
        if self._monitoring is not None and not self.problem:
            self._monitoring.set_events(4, 0)
            self._monitoring.free_tool_id(4)

    def _monitor(self) -> str:
        """Start sys.monitoring, or say why not."""
        tools = self._monitoring
        if tools.get_tool(4) is not None:
            return "another tool is monitoring"
        tools.use_tool_id(4, "dcgev verify")
        tools.register_callback(4, tools.events.BRANCH, self._branched)
        tools.set_events(4, tools.events.BRANCH)
        return ""

    def _branched(self, code: CodeType, offset: int, destination: int) -> Any:
        """What sys.monitoring calls at every branch; those of other modules are not reported again."""
        jump = self._jumps_of(code).get(offset)
        if jump is None:
            return self._monitoring.DISABLE
        return self._record(jump, destination, sys._getframe(1))  # pyright: ignore[reportPrivateUsage]

    def _enter(self, frame: FrameType, event: str, arg: Any) -> Any:
        """What sys.settrace calls when a function is entered: those of the solver's module are followed."""
        jumps = self._jumps_of(frame.f_code)
        if self._too_many() or not jumps:
            return None
        frame.f_trace_opcodes, frame.f_trace_lines, last = True, False, None

        def follow(frame: FrameType, event: str, arg: Any) -> Any:
            nonlocal last
            if event == "opcode":
                if last is not None:
                    self._record(last, frame.f_lasti, frame)
                last = jumps.get(frame.f_lasti)
                self._too_many()
            return follow

        return follow

    def _too_many(self) -> bool:
        """Count an event, and stop watching the call after too many."""
        self._events += 1
        if self._events > EVENTS_PER_CALL:
            sys.settrace(None)
        return self._events > EVENTS_PER_CALL

    def _jumps_of(self, code: CodeType) -> dict[int, Jump]:
        if code not in self._jumps:
            self._jumps[code] = dict(conditional_jumps(code, self.tests)) if code.co_filename == self.file else {}
        return self._jumps[code]

    def _record(self, jump: Jump, destination: int, frame: FrameType) -> None:
        outcome = place_of(jump.test), jump.truth == (destination == jump.target)
        self.taken.add(outcome)
        if self.goal is not None and self.goal[0] == outcome[0]:
            away, values = (0.0, []) if outcome == self.goal else compared(jump.test, frame)
            if away <= self.distance:
                self.distance, self.values = away, values


# Conditions in source and bytecode


def source_file(function: Any) -> str:
    """The file of a Python function, method, partial function or callable object; "" for compiled ones."""
    while isinstance(function, functools.partial):
        function = function.func
    function = inspect.unwrap(function)
    code = getattr(function, "__code__", None) or getattr(vars(type(function)).get("__call__"), "__code__", None)
    return code.co_filename if isinstance(code, CodeType) else ""


def place_of(node: ast.expr | ast.stmt) -> Place:
    """Where an expression or a statement is written."""
    return node.lineno, node.col_offset, node.end_lineno or 0, node.end_col_offset or 0


def conditions(source: str) -> tuple[dict[Place, ast.expr], set[Place]]:
    """(conditions by the places at which the compiler may note them, the places of those that only raise).

    A bare truth value has the place of its statement, the operands of `and` and `or` have their own.
    """
    found, raising = dict[Place, ast.expr](), set[Place]()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.If, ast.While, ast.IfExp, ast.Assert)):
            tests = operands(node.test)
            found |= {place_of(node): tests[0], **{place_of(test): test for test in tests}}
            if isinstance(node, ast.Assert) or (isinstance(node, ast.If) and isinstance(node.body[-1], ast.Raise)):
                raising |= {place_of(test) for test in tests}
        elif isinstance(node, (ast.BoolOp, ast.comprehension)):
            joined = [node] if isinstance(node, ast.BoolOp) else node.ifs
            found |= {place_of(test): test for part in joined for test in operands(part)}
    return found, raising


def operands(node: ast.expr) -> list[ast.expr]:
    """A condition, or what `and`, `or` and `not` join in it."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return operands(node.operand)
    if isinstance(node, ast.BoolOp):
        return [operand for value in node.values for operand in operands(value)]
    return [node]


def conditional_jumps(code: CodeType, tests: dict[Place, ast.expr]) -> Iterator[tuple[int, Jump]]:
    """(offset, jump) of a code object; a long jump is noted at the offsets of its prefixes too."""
    prefixes: list[int] = []
    for step in dis.get_instructions(code):
        at: Any = step.positions
        test = tests.get((at.lineno, at.col_offset, at.end_lineno, at.end_col_offset))
        if "_IF_" in step.opname and test is not None:
            truth = "TRUE" in step.opname
            if "NONE" in step.opname:  # x is None, x is not None
                negated = isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.IsNot)
                truth = ("NOT_NONE" in step.opname) == negated
            for offset in (*prefixes, step.offset):
                yield offset, Jump(test, step.argval, truth)
        prefixes = [*prefixes, step.offset] if step.opname == "EXTENDED_ARG" else []


# How near a condition came

PURE = frozenset(("abs", "count_nonzero", "float", "int", "len", "log", "max", "mean", "min", "norm", "sum", "trace"))
"""Functions that may be called a second time without changing anything, by the last part of their name."""


def compared(test: ast.expr, frame: FrameType) -> tuple[float, list[float]]:
    """(how far the two sides of a comparison of numbers are apart, the numbers); 1 if that is not known."""
    calls = [node for node in ast.walk(test) if isinstance(node, ast.Call)]
    pure = all(getattr(call.func, "attr", getattr(call.func, "id", "")) in PURE for call in calls)
    if (
        not pure
        or not isinstance(test, ast.Compare)
        or any(isinstance(node, ast.NamedExpr) for node in ast.walk(test))
    ):
        return 1.0, []
    try:
        sides = (compile(ast.Expression(side), "condition", "eval") for side in (test.left, test.comparators[0]))
        a, b = (float(eval(side, frame.f_globals, frame.f_locals)) for side in sides)
    except Exception:  # whatever the operands are, they are not numbers
        return 1.0, []
    apart = abs(math.log(a / b)) if a * b > 0.0 else 40.0 * (a * b < 0.0) + abs(a - b) / (1.0 + abs(a - b))
    return max(1e-9, apart), [a, b]


def guilty_branch(trial: Trial, watcher: Any) -> str:
    """The outcome of a condition that most failing cases have and hardly any other, in words; "" if there is none."""
    answers = [(case, answer) for case, answer in trial.session.answers.items() if answer.taken]
    groups: tuple[list[Any], list[Any]] = [], []
    for case, answer in answers:
        groups[0 if trial.judged(case, answer).failed else 1].append(answer.taken)
    failing, passing = groups
    if not failing or not passing or trial.session.hung:
        return ""

    def difference(outcome: Outcome) -> float:
        return sum(outcome in t for t in failing) / len(failing) - sum(outcome in t for t in passing) / len(passing)

    found = max(sorted(set().union(*failing)), key=difference)
    often, seldom = (sum(found in taken for taken in group) for group in groups)
    if 2 * often < len(failing) or 20 * seldom > len(passing):
        return ""
    source, condition = watcher.text(found[0])
    counts = f"{often} of {len(failing)} failing cases and {seldom} of {len(passing)} others"
    return f'line {found[0][0]} "{source}": "{condition}" is {str(found[1]).lower()} in {counts}'


# Inputs for a branch that no case took


@dataclass(frozen=True)
class Search:
    """What came of the search for a branch: inputs tried, inputs judged that take it, and those answered wrongly."""

    branch: Branch
    tried: int = 0
    findings: tuple[Finding, ...] = ()

    def __str__(self) -> str:
        failed = sum(finding.failed for finding in self.findings)
        if failed:
            return f"{self.branch}; {failed} of {len(self.findings)} inputs found for it are answered wrongly"
        if self.findings:
            return f"{self.branch}; all {len(self.findings)} inputs found for it are answered right"
        return f"{self.branch}; {self.tried} more inputs did not take it either" if self.tried else str(self.branch)


def search(trial: Trial, watcher: Any, *, most: int = 8, seconds: float = 8.0) -> list[Search]:
    """A search for each branch that was not taken, also for those behind it, in so many seconds for all."""
    end, found = perf_counter() + seconds, dict[Outcome, Search]()
    starts = chosen([case for case in trial.suite.cases if case.n <= 12], 30)
    while True:
        left = [branch for branch in watcher.branches() if (branch.place, branch.missing) not in found]
        if not left or len(found) >= most or perf_counter() > end:
            watcher.goal = None
            return [*found.values(), *(Search(branch) for branch in left)]
        watcher.goal = goal = left[0].place, left[0].missing
        share = (end - perf_counter()) / min(len(left), most - len(found))
        found[goal] = search_one(trial, watcher, left[0], starts, perf_counter() + share)
        starts += [finding.instance for finding in found[goal].findings]


def search_one(
    trial: Trial, watcher: Any, branch: Branch, starts: Sequence[Instance], end: float, most: int = 300
) -> Search:
    """Change the inputs that came nearest, and go on from those that come nearer still.

    Inputs that take the branch are judged and changed further, until five have an answer other than 0: the first may
    be right by chance.
    """
    rng, findings, telling = np.random.default_rng(0), list[Finding](), 0
    hints, pool, waiting = numbers_in(branch.condition), list[tuple[float, Instance]](), list(starts)
    for tried in range(most):
        if perf_counter() > end or trial.session.hung or telling == 5 or not (waiting or pool):
            return Search(branch, tried, tuple(findings))
        case = waiting.pop() if waiting else moved(pool[int(len(pool) * rng.random() ** 2)][1], hints, rng)
        if case is None or not inside_space(case, trial):
            continue
        answer = trial.session.call(case, case.arguments())
        hints += [value for value in watcher.values if len(hints) < 20 and value not in hints]
        nonzero = answer.x is None or bool(answer.x.any())
        away = watcher.distance + 0.1 * (not nonzero)
        if pool and away < pool[0][0]:
            waiting = list(in_other_units(case, watcher.distance or 2.3))
        if away < math.inf:
            pool = sorted([(away, case), *pool], key=distance_of)[:8]
        if watcher.distance == 0.0 and answer.asked and usable(case):
            found = trial.judged(case, answer, note=f'line {branch.place[0]} "{branch.condition}" {branch.missing}')
            # ten times the limit: these inputs lie outside the space in which right solvers are known to pass
            findings.append(replace(found, limit=10.0 * found.limit))
            trial.session.answers[case] = answer
            telling = 5 if findings[-1].failed else telling + nonzero
    return Search(branch, most, tuple(findings))


def distance_of(entry: tuple[float, Instance]) -> float:
    """The first of the two."""
    return entry[0]


def numbers_in(condition: str) -> list[float]:
    """The numbers that a condition mentions."""
    constants = (node.value for node in ast.walk(ast.parse(condition, mode="eval")) if isinstance(node, ast.Constant))
    return [float(value) for value in constants if isinstance(value, (int, float))]


def in_other_units(case: Instance, away: float) -> Iterator[Instance]:
    """Each argument in other units, such that a side of the comparison that grows with it meets the other side."""
    for name, value in case.data.items():
        for power in (1.0, -1.0, 0.5, -0.5, 2.0) if name != "k" and away < 40.0 else ():
            yield repaired(case, {**case.data, name: value * math.exp(power * (away + 0.004))})


def inside_space(case: Instance, trial: Trial) -> bool:
    """Are the numbers of a size that the cases have too, and B well conditioned?"""
    data, tol = case.data, trial.tol
    if not all(np.all(np.isfinite(value)) for value in data.values()):
        return False
    largest, eps = min(1e6, tol.largest_scale), data.get("eps", 1.0)
    sizes = [float(np.max(np.abs(data[name]))) for name in ("A", "B", "a") if name in data]
    if any(size > largest or 0.0 < size < 1.0 / largest for size in sizes):
        return False
    return max(tol.smallest_eps, MACHINE_EPS) <= eps <= 100.0 and condition(case) <= min(1e4, tol.largest_condition)


def moved(case: Instance, hints: Sequence[float], rng: Random) -> Instance | None:
    """The question with one or two arguments changed, or another number of variables; None if B is not definite."""
    data = dict(case.data)
    for _ in range(int(rng.integers(1, 3))):
        name = str(rng.choice([*data, "n"]))
        hint = float(rng.choice([*hints, 1.0]) * rng.choice([1.0, 1.0, 0.999, 1.001, 0.5, 2.0]))
        if name == "n":
            sizes = [int(h) for h in hints if h == int(h) and 1 <= h <= 150]
            data = resized(data, int(rng.choice([*sizes, *rng.integers(1, 25, 2)])))
        elif name == "k":
            data[name] = int(rng.integers(1, len(data["A"]) + 1))
        elif isinstance(data[name], np.ndarray):
            data[name] = array_moved(data[name], hint, rng)
        else:
            data[name] = abs(float(rng.choice([hint, data[name] * 10.0 ** rng.normal(0.0, 2.0)])))
    if "B" in data and not np.linalg.eigvalsh(data["B"])[0] > 0.0:
        return None
    return repaired(case, data)


def array_moved(value: Any, hint: float, rng: Random) -> Any:
    """The array in other units, with another entry, rounded, without or with other signs, diagonal, or reversed."""
    size = float(rng.choice([np.max(np.abs(value)), np.linalg.norm(value), value.flat[0], np.sum(value)]))
    entry, number, (i, j) = value.copy(), float(rng.choice([hint, 0.0])), rng.integers(0, len(value), 2)
    for at in ((i, j), (j, i)) if value.ndim == 2 else (i,):
        entry[at] = number
    made = (
        value * 10.0 ** rng.normal(0.0, 2.0),
        value * (hint / size) if size else value,
        entry,
        np.round(value, 1),
        np.abs(value),
        -value,
        np.diag(np.diagonal(value)) if value.ndim == 2 else np.sign(value),
        np.flip(value),
    )
    return made[int(rng.integers(len(made)))]


def resized(data: dict[str, Any], n: int) -> dict[str, Any]:
    """Copies of the variables, uncorrelated with each other, until there are n; or the first n."""
    old = len(data["A"] if "A" in data else data["B"])
    which, copy = np.arange(n) % old, np.arange(n) // old
    made = {key: picked(value, which) for key, value in data.items()}
    for key in {"A", "B"} & set(data):
        made[key] = made[key] * (copy[:, None] == copy[None, :])
    return {**made, "k": min(data["k"], n)} if "k" in data else made
