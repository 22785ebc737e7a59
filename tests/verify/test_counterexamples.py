"""Small examples: they repeat the failure, or say what they need besides."""

from __future__ import annotations

import numpy as np
import pytest
import wrong_solvers as catalogue

from dcgev_cvx import verify
from dcgev_cvx.verify.counterexamples import rounded
from dcgev_cvx.verify.protocol import FunctionProcess


def named(name):
    return next(e for e in catalogue.WRONG if e.name == name).make()


def test_the_example_is_small_and_repeats_the_failure_when_pasted():
    solver = named("τ missing in the linear term")
    example = verify.check(solver, "step").counterexample
    assert len(example.arguments["y"]) <= 2
    exec(example.snippet, scope := {"solver": solver})
    np.testing.assert_allclose(scope["x"], example.found, rtol=1e-12)
    assert np.max(np.abs(scope["x"] - np.array(example.expected))) > 1e-4 * np.max(np.abs(scope["x"]))


def test_an_example_that_needs_other_calls_has_them_and_says_so():
    example = verify.check(named("remembered without k"), "bound").counterexample
    assert example.check == "one part changed"
    lines = example.snippet.splitlines()
    assert sum(line.startswith("x = solver(") for line in lines) == 2
    assert sum(line.startswith("A = ") for line in lines) == 1  # what stays is not written again
    assert lines[-1] == "# the calls before the last one matter: alone it may be right"
    exec(example.snippet, scope := {"solver": named("remembered without k")})
    assert scope["x"] == example.found


def test_numbers_written_into_the_same_arrays_are_shown_so():
    seen, keep = {}, []

    def solver(A, B, k):
        keep.append(A)  # so that no array gets the id of an earlier one
        return seen.setdefault(id(A), catalogue.exact_bound(A, B, k))

    example = verify.check(solver, "bound").counterexample
    assert example.check == "reused arrays"
    assert "A[...] = np.array(" in example.snippet


def test_a_function_of_fewer_arguments_gets_an_example_that_calls_it_so():
    def step(A, y):
        return A @ y / np.linalg.norm(A @ y)

    example = verify.check(step, "step").counterexample
    assert "x = solver(A, y)" in example.snippet
    exec(example.snippet, {"solver": step})


def test_numbers_lose_digits_of_the_largest_entry_or_of_each():
    assert rounded(0.0123, 1) == 0.01
    assert rounded(3, 1) == 3
    np.testing.assert_array_equal(rounded(np.array([12.3, 0.4]), 1), [10.0, 0.0])
    np.testing.assert_array_equal(rounded(np.array([12.3, 0.44]), 1, each=True), [10.0, 0.4])


REMEMBERING = """
from scipy.linalg import eigh
seen = {}
def bound(A, B, k):
    return seen.setdefault(len(A), eigh(A, B, eigvals_only=True)[-1])
"""


@pytest.mark.slow
def test_a_solver_that_keeps_something_gets_an_example_with_the_earlier_call(tmp_path):
    (tmp_path / "remembering.py").write_text(REMEMBERING)
    with FunctionProcess(f"{tmp_path / 'remembering.py'}:bound", "bound") as solver:
        report = verify.check(solver, "bound")
    assert "keeps something" in report.cause[0]
    example = report.counterexample
    assert "in a new process, the last call is right: the solver keeps something" in example.snippet
    exec(REMEMBERING, fresh := {})
    exec(example.snippet, scope := {"solver": fresh["bound"]})
    np.testing.assert_allclose(scope["x"], example.found, rtol=1e-12)
    assert example.snippet.count("x = solver(") == 2
