"""Which conditions in a solver's own source were both true and false during a trial, and inputs for the others.

A wrong branch that no case takes cannot be found by its answers. So during the trial the functions of the solver's
file run from code in which every condition (of if, while, a conditional expression, an operand of `and` and `or`) is
wrapped in a call that records its outcome. For a condition that was only ever true, or only ever false, inputs are
then searched: arguments are changed at random, with the numbers of the condition as hints, and changes that bring the
two sides of a comparison nearer to each other are kept.
"""

import ast
import functools
import gc
import inspect
import linecache
import math
import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from operator import itemgetter
from time import perf_counter
from types import CodeType, FunctionType
from typing import Any, TypeAlias

import numpy as np

from ..programs import MACHINE_EPS
from .call_pairs import array_moved, resized, usable
from .counterexamples import repaired
from .levels import Instance, Random, condition
from .reference_answers import surrogate
from .trial import Finding, Trial

Place: TypeAlias = tuple[int, int, int, int]
"""First line, first column, last line, last column of a condition, as in a syntax tree."""
Outcome: TypeAlias = tuple[Place, bool]

RECORDER = "__dcgev_verify_record__"
"""The name in the solver's module by which its conditions call `Watcher.record`."""
COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge", ast.Eq: "eq", ast.NotEq: "ne"
}  # fmt: skip
MOST_INPUTS = 300
"""Inputs that are tried for one branch."""


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
        self._seen: set[Outcome] = set()
        self._originals: list[tuple[FunctionType, CodeType]] = []
        file = source_file(self.function)
        self.lines: list[str] = linecache.getlines(file) if file else []
        source = "".join(self.lines)
        if not source or "numba" in source:  # numba would compile the calls of the recorder
            self.problem = "the file uses numba" if source else "no source"
            return
        tree = ast.parse(source)
        tests, self._idle = conditions(tree)
        module = compile(ast.fix_missing_locations(Recording(tests).visit(tree)), file, "exec", dont_inherit=True)
        recording = {identity(code): code for code in nested_code(module)}
        for function in [item for item in gc.get_objects() if type(item) is FunctionType]:  # a proxy has another class
            code = function.__code__
            if code.co_filename == file and identity(code) in recording:
                self._originals.append((function, code))
                function.__globals__[RECORDER] = self.record
                function.__code__ = recording[identity(code)]

    def __call__(self, *arguments: Any) -> Any:
        """The function's answer."""
        self.distance, self.values, self.taken = math.inf, [], set()
        self.calls += 1
        try:
            return self.function(*arguments)
        finally:
            self._seen |= self.taken

    def record(self, place: Place, compare: str, *sides: Any) -> Any:
        """The value of a condition, after its outcome was recorded: a comparison of two sides, or any object."""
        value = getattr(operator, compare)(*sides) if compare else sides[0]
        outcome = place, bool(value)
        self.taken.add(outcome)
        if self.goal is not None and self.goal[0] == place:
            away, values = (0.0, []) if outcome == self.goal else apart(*sides) if compare else (1.0, [])
            if away <= self.distance:
                self.distance, self.values = away, values
        return value

    def branches(self) -> list[Branch]:
        """The conditions that had one outcome only, in the order of the source."""
        missing = [(place, not truth) for place, truth in sorted(self._seen) if (place, not truth) not in self._seen]
        return [Branch(p, *self.text(p), wanted, self.calls) for p, wanted in missing if p not in self._idle]

    def text(self, place: Place) -> tuple[str, str]:
        """The line of a condition, as far as the condition goes, and the condition."""
        first, start, last, end = place
        lines = [line.encode() for line in self.lines[first - 1 : last]]
        lines[-1] = lines[-1][:end]
        text = b" ".join([lines[0][start:], *(line.strip() for line in lines[1:])]).decode()
        return (lines[0].decode().strip() if first == last else self.lines[first - 1].strip()), text

    def close(self) -> None:
        """Give the functions their code back; the recorder stays, for functions that were defined in a call."""
        for function, code in self._originals:
            function.__code__ = code


# Conditions in the source


def source_file(function: Any) -> str:
    """The file of a Python function, method, partial function or callable object; "" for compiled ones."""
    while isinstance(function, functools.partial):
        function = function.func
    function = inspect.unwrap(function if inspect.isroutine(function) else type(function).__call__)
    return str(getattr(getattr(function, "__code__", None), "co_filename", ""))


def place_of(node: ast.expr) -> Place:
    """Where an expression is written."""
    return node.lineno, node.col_offset, node.end_lineno or 0, node.end_col_offset or 0


def conditions(tree: ast.Module) -> tuple[set[ast.expr], set[Place]]:
    """(the conditions, the places of those that only raise); the last operand of a value `a or b` is no condition."""
    found, raising = set[ast.expr](), set[Place]()
    for node in ast.walk(tree):
        if isinstance(node, (ast.If, ast.While, ast.IfExp, ast.Assert)):
            found |= set(operands(node.test))
            if isinstance(node, ast.Assert) or (isinstance(node, ast.If) and isinstance(node.body[-1], ast.Raise)):
                raising |= {place_of(test) for test in operands(node.test)}
        elif isinstance(node, (ast.BoolOp, ast.comprehension)):
            parts = node.values[:-1] if isinstance(node, ast.BoolOp) else node.ifs
            found |= {test for part in parts for test in operands(part)}
    return found, raising


def operands(node: ast.expr) -> list[ast.expr]:
    """A condition, or what `and`, `or` and `not` join in it; constants such as in `while True` are left out."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return operands(node.operand)
    if isinstance(node, ast.BoolOp):
        return [operand for value in node.values for operand in operands(value)]
    return [] if isinstance(node, ast.Constant) else [node]


class Recording(ast.NodeTransformer):
    """Wraps conditions: test becomes record(place, "", test), and a < b becomes record(place, "lt", a, b)."""

    def __init__(self, tests: set[ast.expr]) -> None:
        self.tests = tests

    def visit(self, node: ast.AST) -> Any:
        """The node, its parts changed first."""
        node = super().visit(node)
        if not isinstance(node, ast.expr) or node not in self.tests:
            return node
        compare, sides = "", [node]
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in COMPARISONS:
            compare, sides = COMPARISONS[type(node.ops[0])], [node.left, *node.comparators]
        place = ast.Tuple([ast.Constant(number) for number in place_of(node)], ast.Load())
        call = ast.Call(ast.Name(RECORDER, ast.Load()), [place, ast.Constant(compare), *sides], [])
        return ast.copy_location(call, node)


def nested_code(code: CodeType) -> Iterator[CodeType]:
    """The code of a module, and of every function and class in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from nested_code(constant)


def identity(code: CodeType) -> tuple[Any, ...]:
    """What the code of a function shares with its recording code, and with no other: name, place, variables."""
    end = max(place for place in code.co_positions() if None not in place)
    return code.co_qualname, code.co_firstlineno, end, code.co_freevars


def apart(a: Any, b: Any) -> tuple[float, list[float]]:
    """(how far the two sides of a comparison of numbers are apart, the numbers); 1 if they are not numbers."""
    try:
        a, b = float(a), float(b)
    except (TypeError, ValueError):
        return 1.0, []
    away = abs(math.log(a / b)) if a * b > 0.0 else 40.0 * (a * b < 0.0) + abs(a - b) / (1.0 + abs(a - b))
    return max(1e-9, away), [a, b]


def guilty_branch(trial: Trial, watcher: Any) -> str:
    """The outcome of a condition that most failing cases have and hardly any other, in words; "" if there is none."""
    failing, passing = list[frozenset[Outcome]](), list[frozenset[Outcome]]()
    for case, answer in trial.session.answers.items():
        if answer.taken:
            (failing if trial.judged(case, answer).failed else passing).append(answer.taken)
    if not failing or not passing or trial.session.hung:
        return ""
    outcomes = sorted(set[Outcome]().union(*failing))
    counts = {o: (sum(o in t for t in failing), sum(o in t for t in passing)) for o in outcomes}
    found = max(outcomes, key=lambda o: counts[o][0] / len(failing) - counts[o][1] / len(passing))
    often, seldom = counts[found]
    if 2 * often < len(failing) or 20 * seldom > len(passing):
        return ""
    source, condition = watcher.text(found[0])
    where = f"{often} of {len(failing)} failing cases and {seldom} of {len(passing)} others"
    return f'line {found[0][0]} "{source}": "{condition}" is {str(found[1]).lower()} in {where}'


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
    if trial.session.hung:  # a process that hangs cannot be asked for its branches
        return []
    end, found = perf_counter() + seconds, dict[Outcome, Search]()
    small = [case for case in trial.suite.cases if case.n <= 12]
    starts = [small[i] for i in np.unique(np.linspace(0, len(small) - 1, 30).astype(int))]
    while True:
        left = [branch for branch in watcher.branches() if (branch.place, branch.missing) not in found]
        if not left or len(found) >= most or perf_counter() > end:
            watcher.goal = None
            return [*found.values(), *(Search(branch) for branch in left)]
        watcher.goal = goal = left[0].place, left[0].missing
        share = (end - perf_counter()) / min(len(left), most - len(found))
        found[goal] = search_one(trial, watcher, left[0], starts, perf_counter() + share)
        starts += [finding.instance for finding in found[goal].findings]


def search_one(trial: Trial, watcher: Any, branch: Branch, starts: Sequence[Instance], end: float) -> Search:
    """Change the inputs that came nearest, and go on from those that come nearer still.

    Inputs that take the branch are judged and changed further, until a dozen have an answer other than 0: the first,
    and what differs from it in a unit alone, may be right by chance.
    """
    rng, hints, findings, telling = np.random.default_rng(0), numbers_in(branch.condition), list[Finding](), 0
    pool, waiting = list[tuple[float, Instance]](), list(starts)
    for tried in range(MOST_INPUTS):
        if perf_counter() > end or trial.session.hung or telling == 12 or not (waiting or pool):
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
            pool = sorted([(away, case), *pool], key=itemgetter(0))[:8]
        if watcher.distance == 0.0 and answer.asked and usable(case):
            found = trial.judged(case, answer, note=f'line {branch.place[0]} "{branch.condition}" {branch.missing}')
            # ten times the limit: these inputs lie outside the space in which right solvers are known to pass
            findings.append(replace(found, limit=10.0 * found.limit))
            trial.session.answers[case] = answer
            telling = 12 if findings[-1].failed else telling + nonzero
    return Search(branch, MOST_INPUTS, tuple(findings))


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
    """Are the numbers of a size that the cases have too, B well conditioned and the penalty not far too large?"""
    data, tol = case.data, trial.tol
    if not all(np.all(np.isfinite(value)) for value in data.values()):
        return False
    largest, eps = min(1e6, tol.largest_scale), data.get("eps", 1.0)
    sizes = [float(np.max(np.abs(data[name]))) for name in ("A", "B", "a") if name in data]
    moderate = all(size == 0.0 or 1.0 / largest <= size <= largest for size in sizes)
    lowest = max(tol.smallest_eps, MACHINE_EPS)
    if not moderate or not lowest <= eps <= 100.0 or condition(case) > min(1e4, tol.largest_condition):
        return False
    return "y" not in data or case.coefficient <= 1e4 * reach(case)


def reach(case: Instance) -> float:
    """The penalty coefficient from which on a step is nearly 0 if B = I; infinite where c = 0 makes it 0 anyway."""
    data = case.data
    pull = data["a"] / (data["a"] @ np.linalg.solve(case.B, data["a"])) if "a" in data else surrogate(case).c
    return 2.0 * float(np.max(np.abs(pull) * (np.abs(data["y"]) + data["eps"]))) if pull.any() else math.inf


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
