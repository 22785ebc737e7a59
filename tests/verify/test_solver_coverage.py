"""Conditions of a solver's source: which were seen both ways, and inputs for the others."""

from __future__ import annotations

import ast
import functools
import importlib.util
import math
import sys
import textwrap

import numpy as np
import pytest

from dcgev_cvx import verify
from dcgev_cvx.verify import solver_coverage
from dcgev_cvx.verify.solver_coverage import Watcher, array_moved, compared, conditional_jumps, numbers_in, resized


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


def test_jumps_are_read_from_the_callback_of_sys_monitoring(load):
    watcher = Watcher(load("def f(a):\n    if a > 1:\n        return 1\n    return 0"))
    code = watcher.function.__code__
    ((offset, jump),) = conditional_jumps(code, watcher.tests)
    watcher._branched(code, offset, jump.target)
    watcher._branched(code, offset, offset + 2)
    assert {truth for _, truth in watcher.taken} == {True, False}


def test_what_cannot_be_watched_says_why(load):
    assert Watcher(len).problem == "no source"
    assert Watcher(eval("lambda x: x")).problem == "no source"
    assert Watcher(functools.partial(load(SOURCE), 1)).problem == ""
    own = Watcher(load("import sys\ndef f(a):\n    sys.settrace(lambda *args: None)\n    return a"))
    if not hasattr(sys, "monitoring"):
        try:
            assert own(1) == 1
        finally:
            sys.settrace(None)
        assert own.problem == "the solver installs a trace function of its own"


def test_watching_stops_where_it_would_cost_more_than_half_of_the_time(load):
    watcher = Watcher(load("def f(n):\n    for i in range(n):\n        if i < 0:\n            pass\n    return n"))
    for _ in range(300):
        watcher(2_000)
    assert 0 < watcher.calls < 300 or hasattr(sys, "monitoring")
    before = watcher.calls
    watcher.goal = (0, 0, 0, 0), True  # a search watches every call
    watcher(2_000)
    assert watcher.calls == before + 1
    watcher(100_000)  # watched in part, and not counted
    assert watcher.calls == before + 1 or hasattr(sys, "monitoring")


def test_numbers_of_a_condition_and_the_sides_that_are_compared():
    assert sorted(numbers_in("tau > 100 * norm(A) and n != 7")) == [7.0, 100.0]
    frame = sys._getframe()
    assert compared(ast.parse("2.0 < 8.0", mode="eval").body, frame)[0] == pytest.approx(math.log(4.0))
    assert compared(ast.parse("[].append(1) == 3", mode="eval").body, frame) == (1.0, [])


def test_changed_inputs_keep_their_shape_and_symmetry():
    rng = np.random.default_rng(0)
    A = np.arange(9.0).reshape(3, 3)
    A = A + A.T
    for _ in range(50):
        B = array_moved(A, 2.5, rng)
        np.testing.assert_array_equal(B, B.T)
        assert array_moved(A[0], 2.5, rng).shape == (3,)
    grown = resized({"A": A, "B": np.eye(3), "k": 3}, 7)
    assert grown["A"].shape == (7, 7)
    assert not grown["A"][:3, 3:6].any()
    assert resized({"A": A, "B": np.eye(3), "k": 3}, 2)["k"] == 2


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
