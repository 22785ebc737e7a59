"""Conditions of a solver's source: which were seen both ways, and inputs for the others."""

from __future__ import annotations

import functools
import importlib.util
import math
import textwrap

import pytest

from dcgev_cvx import verify
from dcgev_cvx.verify import solver_coverage
from dcgev_cvx.verify.solver_coverage import Watcher, apart, numbers_in


@pytest.fixture
def load(tmp_path):
    """A function `f` from source code in a file."""

    def loaded(source):
        file = tmp_path / f"solver_{len(list(tmp_path.iterdir()))}.py"
        file.write_text("import numpy as np\n" + textwrap.dedent(source), encoding="utf-8")
        spec = importlib.util.spec_from_file_location(file.stem, file)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module.f

    return loaded


SOURCE = """
def f(a, b, c=None):
    if not a:
        return 0
    if a > 3 and b < 2 or c is not None:
        a = 1 if b else 2
    if a < 0:
        raise ValueError("a is negative")
    assert a > 0
    while b > 0:
        b -= 1
    return [i for i in range(3) if i > a] and (
        a
        + b
    )
"""


def test_conditions_that_had_one_outcome_are_named_with_line_and_text(load):
    watcher = Watcher(load(SOURCE))
    for arguments in ((0, 1), (1, 1), (2, 0), (5, 4)):
        watcher(*arguments)
    assert [str(branch) for branch in watcher.branches()] == [
        'line 6 "if a > 3 and b < 2": never true in 4 calls',
        'line 6 "if a > 3 and b < 2 or c is not None": never true in 4 calls',
    ]
    assert watcher.problem == ""
    watcher(5, 1)
    watcher(5, 4, 1)
    missing = {(branch.condition, branch.missing) for branch in watcher.branches()}
    assert missing == {("b", False)}  # those that only raise are left out


def test_a_goal_measures_how_near_a_call_came(load):
    watcher = Watcher(load("def f(a):\n    return 1 if a > 100.0 else 0"))
    watcher(1.0)
    (branch,) = watcher.branches()
    watcher.goal = branch.place, branch.missing
    distances = []
    for a in (1.0, 50.0, 200.0):
        watcher(a)
        distances.append(watcher.distance)
    assert distances == [pytest.approx(math.log(100.0)), pytest.approx(math.log(2.0)), 0.0]
    assert watcher.taken == {(branch.place, True)}


def test_what_cannot_be_watched_says_why(load):
    assert Watcher(len).problem == "no source"
    assert Watcher(eval("lambda x: x")).problem == "no source"
    assert Watcher(functools.partial(load(SOURCE), 1)).problem == ""
    assert Watcher(load("# no numba\ndef f(a):\n    return a")).problem == "the file uses numba"


def test_every_function_of_the_file_is_watched_and_then_as_it_was(load):
    source = """
    def sign(a):
        return -1 if a < 0 else 1

    def f(a):
        pairs = {"one": lambda x: x if x > 5 else 0, "two": lambda x: 3 if x > 7 else 1}
        return sign(a) * pairs["two"](a)
    """
    f = load(source)
    before = f.__code__, f.__globals__["sign"].__code__
    watcher = Watcher(f)
    assert [watcher(a) for a in (1, 9)] == [1, 3]
    assert [branch.condition for branch in watcher.branches()] == ["a < 0"]
    watcher.close()
    assert (f.__code__, f.__globals__["sign"].__code__) == before
    assert f(-1) == -1
    assert watcher.calls == 2


def test_and_and_or_give_the_values_they_gave_before(load):
    source = "def f(a, b):\n    while True:\n        return a or b, a and b, 0 < len(a) < 2"
    watcher = Watcher(load(source))
    assert watcher([], "b") == ("b", [], False)
    assert watcher([1], []) == ([1], [], True)
    assert watcher.branches() == []


def test_numbers_of_a_condition_and_the_sides_that_are_compared():
    assert sorted(numbers_in("tau > 100 * norm(A) and n != 7")) == [7.0, 100.0]
    assert apart(2.0, 8.0) == (pytest.approx(math.log(4.0)), [2.0, 8.0])
    assert apart("a", 1.0) == (1.0, [])
    assert apart(-1.0, 1.0)[0] > apart(0.0, 1.0)[0] > 0.0


HIDDEN = """
from scipy.linalg import eigh
LIMIT = 1234.5

def f(A, B, k):
    value = eigh(A, B, eigvals_only=True)[-1]
    if np.trace(A) > LIMIT and np.trace(A) < 1.02 * LIMIT:
        value = 0.5 * value
    if len(A) == 19:
        return value
    return value
"""


def test_a_branch_that_no_case_takes_is_found_and_judged(load):
    report = verify.check(load(HIDDEN), "bound")
    assert not report.ok
    assert [outcome.name for outcome in report.failed] == ["branches of the source"]
    lines = str(report).splitlines()
    assert 'line 8 "np.trace(A) < 1.02 * LIMIT" True' in lines[1]
    assert "line 8" in lines[2]
    exec(report.counterexample.snippet, scope := {"solver": load(HIDDEN)})
    assert scope["x"] == report.counterexample.found < report.counterexample.expected


def test_an_untaken_branch_that_cannot_be_taken_does_not_fail_a_solver(load):
    source = "from scipy.linalg import eigh\ndef f(A, B, k, fast=False):\n    if fast:\n        return 0.0\n"
    report = verify.check(load(source + "    return eigh(A, B, eigvals_only=True)[-1]"), "bound")
    assert report.ok
    assert report.headline.startswith("PASSED; 1 branch of your code was never run: f as bound")
    assert 'line 4 "if fast": never true in ' in str(report)
    assert report.to_dict()["branches"] == [str(result) for result in report.branches]


def test_the_branch_that_the_failing_cases_share_is_named(load):
    source = "from scipy.linalg import eigh\ndef f(A, B, k):\n    if k == 1 and len(A) > 2:\n        return -1e9\n"
    report = verify.check(load(source + "    return eigh(A, B, eigvals_only=True)[-1]"), "bound")
    assert 'line 4 "if k == 1 and len(A) > 2": "len(A) > 2" is true' in str(report).splitlines()[2]


def test_a_solver_without_source_is_said_to_be_unwatched():
    solver = eval("lambda A, B, k: 1e60")
    assert "branches not watched: no source" in verify.check(solver, "bound").setting


def test_searching_is_bounded(load, monkeypatch):
    calls = []
    source = "from scipy.linalg import eigh\ndef f(A, B, k):\n    if A.sum() == 0.123456789:\n        return 0.0\n"
    monkeypatch.setattr(solver_coverage, "usable", lambda case: calls.append(case) or False)
    report = verify.check(load(source + "    return eigh(A, B, eigvals_only=True)[-1]"), "bound")
    assert report.ok
    assert report.branches[0].tried <= 300
