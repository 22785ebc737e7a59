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
from time import perf_counter
from types import CodeType, FrameType
from typing import Any, TypeAlias

import numpy as np

from ..programs import MACHINE_EPS
from .call_pairs import picked, usable
from .counterexamples import repaired
from .levels import Instance, condition
from .pencil_cases import Random
from .step_cases import shifted
from .suite import chosen
from .trial import Finding, Trial

Place: TypeAlias = tuple[int, int, int, int]
"""First line, first column, last line, last column of a condition, as in a syntax tree."""

EVENTS_PER_CALL = 50_000
"""Instructions that a trace function looks at in one call, about 30 ms: a long call must stay within its time limit."""
SECONDS_PER_EVENT = 1e-6
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
class Test:
    """A condition in the source, without a leading `not`; raises: all that it decides is whether to raise."""

    node: ast.expr
    raises: bool

    @property
    def place(self) -> Place:
        """Where it is written."""
        return place_of(self.node)


@dataclass(frozen=True)
class Jump:
    """A conditional jump: the condition behind it, where it leads, and the condition's truth if it is taken."""

    test: Test
    target: int
    truth: bool


@dataclass
class Watcher:
    """A function that is watched while it is called; problem says why it is not.

    taken holds the outcomes of the conditions in the last call. After `aim(branch)` each call sets distance: 0 if it had the missing outcome, otherwise how near the two sides of
    the condition came, infinite if it was not reached; values are the numbers that were compared.
    """

    function: Callable[..., Any]
    problem: str = ""
    calls: int = 0
    distance: float = math.inf
    values: list[float] = field(default_factory=list[float])
    goal: tuple[Place, bool] | None = None
    taken: set[tuple[Place, bool]] = field(default_factory=set[tuple[Place, bool]])

    def __post_init__(self) -> None:
        self.file = source_file(self.function)
        self.lines = linecache.getlines(self.file) if self.file else []
        self.problem = "" if self.lines else "no source"
        self.tests = conditions("".join(self.lines))
        self.outcomes: dict[Place, set[bool]] = {}
        self._jumps: dict[CodeType, dict[int, Jump]] = {}
        self._events = self._all_events = 0
        self._begin = perf_counter()
        self._monitoring: Any = getattr(sys, "monitoring", None)
        if self._monitoring is not None and not self.problem:
            self.problem = self._monitor()

    def __call__(self, *arguments: Any) -> Any:
        """The function's answer."""
        self.distance, self.values, self.taken, self._events = math.inf, [], set(), 0
        costly = SECONDS_PER_EVENT * self._all_events > 0.5 * (perf_counter() - self._begin) + 0.2
        if self.problem or (costly and self.goal is None):
            return self.function(*arguments)
        self.calls += 1
        if self._monitoring is not None:
            return self.function(*arguments)
        if sys.gettrace() is not None:
            self.problem = "another trace function is active"
            return self.function(*arguments)
        sys.settrace(self._enter)
        try:
            return self.function(*arguments)
        finally:
            self._all_events += self._events
            if sys.gettrace() in (None, self._enter):
                sys.settrace(None)
            else:
                self.problem = "the solver installs a trace function of its own"

    def aim(self, branch: Branch | None) -> None:
        """From now on measure how near the calls come to the missing outcome of a branch."""
        self.goal = None if branch is None else (branch.place, branch.missing)

    def branches(self) -> list[Branch]:
        """The conditions that had one outcome only, in the order of the source."""
        found = sorted((place, seen) for place, seen in self.outcomes.items() if len(seen) == 1)
        return [
            Branch(place, *self.text(place), missing, self.calls)
            for place, seen in found
            for missing in ({True, False} - seen)
            if not self.tests[place].raises
        ]

    def close(self) -> None:
        """Give the place among the monitoring tools back."""
        if self._monitoring is not None and not self.problem:
            self._monitoring.set_events(4, 0)
            self._monitoring.free_tool_id(4)

    def text(self, place: Place) -> tuple[str, str]:
        first, start, last, end = place
        lines = [line.encode() for line in self.lines[first - 1 : last]]
        lines[-1] = lines[-1][:end]
        text = b" ".join([lines[0][start:], *(line.strip() for line in lines[1:])]).decode()
        line = self.lines[first - 1].strip()
        return line[: line.index(text) + len(text)] if text in line else line.rstrip(":"), text

    def _monitor(self) -> str:
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
        self._record(jump, destination, sys._getframe(1))  # pyright: ignore[reportPrivateUsage]

    def _enter(self, frame: FrameType, event: str, arg: Any) -> Any:
        """What sys.settrace calls when a function is entered: those of the solver's module are followed."""
        jumps = self._jumps_of(frame.f_code)
        self._events += 1
        if not jumps:
            return None
        frame.f_trace_opcodes, frame.f_trace_lines, last = True, False, None

        def follow(frame: FrameType, event: str, arg: Any) -> Any:
            nonlocal last
            if event == "opcode":
                if last is not None:
                    self._record(last, frame.f_lasti, frame)
                last = jumps.get(frame.f_lasti)
                self._events += 1
                if self._events > EVENTS_PER_CALL:
                    sys.settrace(None)
            return follow

        return follow

    def _jumps_of(self, code: CodeType) -> dict[int, Jump]:
        if code not in self._jumps:
            self._jumps[code] = dict(conditional_jumps(code, self.tests)) if code.co_filename == self.file else {}
        return self._jumps[code]

    def _record(self, jump: Jump, destination: int, frame: FrameType) -> None:
        outcome, place = jump.truth == (destination == jump.target), jump.test.place
        self.outcomes.setdefault(place, set()).add(outcome)
        self.taken.add((place, outcome))
        if self.goal is not None and self.goal[0] == place:
            away, values = (0.0, []) if outcome == self.goal[1] else distance(jump.test.node, not outcome, frame)
            if away <= self.distance:
                self.distance, self.values = away, values


def source_file(function: Any) -> str:
    """The file of a Python function, method, partial function or callable object; "" for compiled ones."""
    while isinstance(function, functools.partial):
        function = function.func
    function = inspect.unwrap(function)
    code = getattr(function, "__code__", None) or getattr(getattr(type(function), "__call__", None), "__code__", None)
    return code.co_filename if isinstance(code, CodeType) else ""


def place_of(node: ast.expr | ast.stmt) -> Place:
    """Where an expression or a statement is written."""
    return node.lineno, node.col_offset, node.end_lineno or 0, node.end_col_offset or 0


def conditions(source: str) -> dict[Place, Test]:
    """The conditions of a module by the places at which the compiler may note them.

    A bare truth value has the place of its statement, the operands of `and` and `or` have their own.
    """
    found: dict[Place, Test] = {}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.If, ast.While, ast.IfExp, ast.Assert)):
            raises = isinstance(node, ast.Assert) or (
                isinstance(node, ast.If) and isinstance(node.body[-1], ast.Raise)
            )
            for test in operands(node.test):
                found[place_of(test)] = Test(test, raises)
            found.setdefault(place_of(node), Test(operands(node.test)[0], raises))
        elif isinstance(node, (ast.BoolOp, ast.comprehension)):
            for test in (
                operands(node) if isinstance(node, ast.BoolOp) else [t for c in node.ifs for t in operands(c)]
            ):
                found.setdefault(place_of(test), Test(test, raises=False))
    return found


def operands(node: ast.expr) -> list[ast.expr]:
    """A condition, or what `and`, `or` and `not` join in it."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return operands(node.operand)
    if isinstance(node, ast.BoolOp):
        return [operand for value in node.values for operand in operands(value)]
    return [node]


def conditional_jumps(code: CodeType, tests: dict[Place, Test]) -> Iterator[tuple[int, Jump]]:
    """(offset, jump) of a code object; a long jump is noted at the offsets of its prefixes too."""
    prefixes: list[int] = []
    for step in dis.get_instructions(code):
        where = step.positions
        test = (
            tests.get((where.lineno or 0, where.col_offset or 0, where.end_lineno or 0, where.end_col_offset or 0))
            if where
            else None
        )
        if "_IF_" in step.opname and test is not None:
            truth = "TRUE" in step.opname
            if "NONE" in step.opname:
                negated = isinstance(test.node, ast.Compare) and isinstance(test.node.ops[0], ast.IsNot)
                truth = ("NOT_NONE" in step.opname) == negated
            for offset in (*prefixes, step.offset):
                yield offset, Jump(test, step.argval, truth)
        prefixes = [*prefixes, step.offset] if step.opname == "EXTENDED_ARG" else []


# How near a condition came

PURE = frozenset(
    [
        "abs",
        "all",
        "allclose",
        "any",
        "array_equal",
        "count_nonzero",
        "diag",
        "diagonal",
        "dot",
        "float",
        "int",
        "isclose",
        "len",
        "log",
        "log10",
        "max",
        "mean",
        "min",
        "norm",
        "ptp",
        "round",
        "sqrt",
        "sum",
        "trace",
    ]
)
"""Functions that may be called a second time without changing anything, by the last part of their name."""


def distance(node: ast.expr, wanted: bool, frame: FrameType) -> tuple[float, list[float]]:
    """(how far the two sides of a comparison are from the wanted outcome, the numbers compared); 1 if unknown."""
    most = max
    while isinstance(node, ast.Call) and last_name(node.func) in ("any", "all", "bool"):
        most = min if last_name(node.func) == "any" else max
        node = node.args[0] if node.args else getattr(node.func, "value", node.func)
    if not isinstance(node, ast.Compare) or len(node.ops) > 1 or not is_pure(node):
        return 1.0, []
    try:
        sides = [eval(compile(ast.Expression(side), "", "eval"), frame.f_globals, frame.f_locals)
                 for side in (node.left, node.comparators[0])]  # fmt: skip
        left, right = np.broadcast_arrays(*(np.asarray(side, dtype=np.float64) for side in sides))
        apart = [logarithmic(a, b) for a, b in zip(left.flat, right.flat, strict=True)]
    except Exception:  # whatever the operands are, they are not numbers
        return 1.0, []
    equal = isinstance(node.ops[0], (ast.Eq, ast.NotEq)) and wanted == isinstance(node.ops[0], ast.NotEq)
    away = 1.0 if equal or not apart else (most if wanted else {max: min, min: max}[most])(apart)
    return away, [float(side) for side in (left.flat[0], right.flat[0])] if left.size else []


def logarithmic(a: float, b: float) -> float:
    """How far two numbers are apart: by their ratio where both have a sign, at least 1e-9."""
    if a * b > 0.0:
        return max(1e-9, abs(math.log(a / b)))
    return max(1e-9, abs(a - b) / (1.0 + abs(a) + abs(b)) + 40.0 * (a * b < 0.0))


def is_pure(node: ast.expr) -> bool:
    """Can the expression be evaluated again? Names, numbers, arithmetic, entries and a few functions can."""
    inner = (ast.Name, ast.Constant, ast.Attribute, ast.BinOp, ast.UnaryOp, ast.Subscript, ast.Compare, ast.Slice,
             ast.Tuple, ast.operator, ast.unaryop, ast.cmpop, ast.expr_context)  # fmt: skip
    return all(
        isinstance(part, inner) or (isinstance(part, ast.Call) and last_name(part.func) in PURE)
        for part in ast.walk(node)
    )


def last_name(node: ast.expr) -> str:
    """norm of np.linalg.norm."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def guilty_branch(trial: Trial, watcher: Any) -> str:
    """The outcome of a condition that most failing cases have and hardly any other, in words; "" if there is none."""
    answers = [(case, answer) for case, answer in trial.session.answers.items() if answer.taken]
    failing = [answer.taken for case, answer in answers if trial.judged(case, answer).failed]
    passing = [answer.taken for case, answer in answers if not trial.judged(case, answer).failed]
    if not failing or not passing:
        return ""

    def shares(outcome: tuple[Place, bool]) -> tuple[float, float]:
        return tuple(sum(outcome in taken for taken in group) / len(group) for group in (failing, passing))

    found = max(frozenset().union(*failing), key=lambda outcome: shares(outcome)[0] - shares(outcome)[1])
    often, seldom = shares(found)
    if often < 0.5 or seldom > 0.05:
        return ""
    (line, *_), truth = found
    source, condition = watcher.text(found[0])
    counts = f"{often * len(failing):.0f} of {len(failing)} failing cases and {seldom * len(passing):.0f} of {len(passing)} others"
    return f'line {line} "{source}": {condition} is {str(truth).lower()} in {counts}'


# Inputs for a branch that no case took


@dataclass(frozen=True)
class Search:
    """What came of the search for a branch: inputs tried, inputs judged that take it, and those answered wrongly."""

    branch: Branch
    tried: int
    findings: tuple[Finding, ...]

    def __str__(self) -> str:
        failed = sum(finding.failed for finding in self.findings)
        if failed:
            return f"{self.branch}; {failed} of {len(self.findings)} inputs found for it are answered wrongly"
        if self.findings:
            return f"{self.branch}; all {len(self.findings)} inputs found for it are answered right"
        return f"{self.branch}; {self.tried} more inputs did not take it either" if self.tried else str(self.branch)


def search(trial: Trial, watcher: Any, *, most: int = 8, seconds: float = 8.0) -> list[Search]:
    """One search for each branch that was not taken, also for those behind it, in so many seconds for all."""
    end, found = perf_counter() + seconds, dict[tuple[Place, bool], Search]()
    starts = chosen([case for case in trial.suite.cases if case.n <= 12], 30)
    while len(found) < most and perf_counter() < end:
        left = [branch for branch in watcher.branches() if (branch.place, branch.missing) not in found]
        if not left:
            break
        watcher.aim(left[0])
        share = (end - perf_counter()) / min(len(left), most - len(found))
        result = search_one(trial, watcher, left[0], starts, perf_counter() + share)
        starts += [finding.instance for finding in result.findings]
        found[left[0].place, left[0].missing] = result
    watcher.aim(None)
    left = [branch for branch in watcher.branches() if (branch.place, branch.missing) not in found]
    return [*found.values(), *(Search(branch, 0, ()) for branch in left)]


def search_one(
    trial: Trial, watcher: Any, branch: Branch, starts: Sequence[Instance], end: float, most: int = 300
) -> Search:
    """Change the inputs that came nearest, and go on from those that come nearer still.

    Inputs that take the branch are judged and changed further, until five have an answer other than 0: the first may
    be right by chance.
    """
    rng, findings = np.random.default_rng(0), list[Finding]()
    hints, pool, waiting = numbers_in(branch.condition), list[tuple[float, Instance]](), list(starts)
    for tried in range(most):
        if perf_counter() > end or trial.session.hung or not (waiting or pool):
            return Search(branch, tried, tuple(findings))
        case = waiting.pop() if waiting else moved(pool[int(len(pool) * rng.random() ** 2)][1], hints, rng)
        if case is None or not inside_space(case, trial):
            continue
        answer = trial.session.call(case, case.arguments())
        hints += [value for value in watcher.values if len(hints) < 20 and value not in hints]
        away = watcher.distance if answer.x is None or answer.x.any() else watcher.distance + 0.1
        if pool and away < pool[0][0]:
            waiting = list(in_other_units(case, watcher.distance or 2.3))
        if away < math.inf:
            pool = sorted([(away, case), *pool], key=lambda pair: pair[0])[:8]
        if watcher.distance == 0.0 and answer.asked and usable(case):
            found = trial.judged(case, answer, note=f'line {branch.place[0]} "{branch.condition}" {branch.missing}')
            # ten times the limit: these inputs lie outside the space in which right solvers are known to pass
            findings.append(replace(found, limit=10.0 * found.limit))
            trial.session.answers[case] = answer
            if findings[-1].failed or sum(f.x is not None and bool(f.x.any()) for f in findings) == 5:
                return Search(branch, tried + 1, tuple(findings))
    return Search(branch, most, tuple(findings))


def numbers_in(condition: str) -> list[float]:
    """The numbers that a condition mentions."""
    constants = (node.value for node in ast.walk(ast.parse(condition, mode="eval")) if isinstance(node, ast.Constant))
    return [float(value) for value in constants if isinstance(value, (int, float))]


def in_other_units(case: Instance, away: float) -> Iterator[Instance]:
    """Each argument in other units, such that a side of the comparison that grows with it meets the other side."""
    for name, value in case.data.items():
        for power in (1.0, -1.0, 0.5, -0.5, 2.0) if name != "k" and 0.0 < away < 40.0 else ():
            changed = {**case.data, name: value * math.exp(power * (away + 0.004))}
            if "tau" in changed:
                changed["tau"] = max(changed["tau"], shifted(changed["A"]))
            yield repaired(case, changed)


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
    if "tau" in data:
        data["tau"] = max(data["tau"], shifted(data["A"]))
    if "B" in data and not np.linalg.eigvalsh(data["B"])[0] > 0.0:
        return None
    return repaired(case, data)


def array_moved(value: Any, hint: float, rng: Random) -> Any:
    """The array in other units, with another entry, rounded, without or with other signs, diagonal, or reversed."""
    matrix = value.ndim == 2
    sizes = (
        np.max(np.abs(value)),
        np.linalg.norm(value),
        value.flat[0],
        np.sum(value),
        np.sum(np.diagonal(value) if matrix else value[:1]),
    )
    size = float(rng.choice(sizes))
    entry, (i, j) = value.copy(), rng.integers(0, len(value), 2)
    for at in ((i, j), (j, i)) if matrix else (i,):
        entry[at] = hint
    zero = np.where(entry == hint, 0.0, value)
    made = (
        value * 10.0 ** rng.normal(0.0, 2.0),
        value * (hint / size) if size else value,
        entry,
        zero,
        np.round(value, 1),
        np.abs(value),
        -value,
        np.diag(np.diagonal(value)) if matrix else np.sign(value),
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
