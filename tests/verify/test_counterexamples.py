"""Small examples, and the properties that failing cases share."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import wrong_solvers as catalogue
from scipy.linalg import eigh

from dcgev_cvx import verify
from dcgev_cvx.verify import counterexamples
from dcgev_cvx.verify.counterexamples import Condition, opposite, rounded, shared


def test_the_counterexample_is_small_and_its_snippet_repeats_the_failure():
    entry = next(e for e in catalogue.WRONG if e.name == "τ missing in the linear term")
    solver = entry.make()
    example = verify.check(solver, "step").counterexample
    assert len(example.arguments["y"]) <= 2
    scope = {"solver": solver}
    exec(example.snippet, scope)
    np.testing.assert_allclose(scope["x"], example.found, rtol=1e-12)
    assert np.max(np.abs(scope["x"] - np.array(example.expected))) > 1e-4 * np.max(np.abs(scope["x"]))


def test_an_example_that_needs_other_calls_says_so():
    entry = next(e for e in catalogue.WRONG if e.name == "remembered without k")
    example = verify.check(entry.make(), "bound").counterexample
    assert example.check == "one part changed"
    lines = example.snippet.splitlines()
    assert sum(line.startswith("x = solver(") for line in lines) == 2
    assert sum(line.startswith("A = ") for line in lines) == 1  # what stays is not written again
    assert lines[-1] == "# the calls before it matter: in a new process the last call alone may be right"
    exec(example.snippet, scope := {"solver": entry.make()})
    assert scope["x"] == example.found


def test_numbers_written_into_the_same_arrays_are_shown_so():
    seen = {}

    def solver(A, B, k):
        return seen.setdefault(id(A), catalogue.right_bound(A, B, k))

    keep = []  # so that no array gets the id of an earlier one

    def keeping(A, B, k):
        keep.append(A)
        return solver(A, B, k)

    example = verify.check(keeping, "bound").counterexample
    assert example.check == "reused arrays"
    assert "A[...] = np.array(" in example.snippet


def test_a_long_example_is_written_to_a_file(tmp_path, monkeypatch):
    monkeypatch.setattr(counterexamples.tempfile, "gettempdir", lambda: str(tmp_path))
    report = verify.check(lambda A, B, k: -1e9 if len(A) > 20 else catalogue.right_bound(A, B, k), "bound")
    (file,) = tmp_path.glob("dcgev-example-*.py")
    assert report.counterexample.file == str(file)
    assert file.read_text(encoding="utf-8") == report.counterexample.snippet + "\n"
    assert f"# written to {file}" in str(report)
    assert len(str(report.counterexample)) < 1000


def test_numbers_lose_digits_of_the_largest_entry_or_of_each():
    assert rounded(0.0123, 1) == 0.01
    assert rounded(3, 1) == 3
    np.testing.assert_array_equal(rounded(np.array([12.3, 0.4]), 1), [10.0, 0.0])
    np.testing.assert_array_equal(rounded(np.array([12.3, 0.44]), 1, each=True), [10.0, 0.4])


def faulty(condition):
    """A right step whose penalty is off by a tenth where a condition holds."""

    def solver(A, B, y, rho, eps, tau):
        c, p = catalogue.parts(A, y, rho, eps, tau)
        return catalogue.argmin(B, tau, c, 1.1 * p if condition(A, B, y, eps, tau) else p)

    return solver


@pytest.mark.slow
@pytest.mark.parametrize(
    ("condition", "words"),
    [
        (lambda A, B, y, eps, tau: 1e-4 < eps < 1e-2, "≤ ε ≤"),
        (lambda A, B, y, eps, tau: np.all(np.diag(B) == 1.0) and B.any() and B[0, -1] != 0.0, "diag(B) = 1"),
        (lambda A, B, y, eps, tau: tau > 100 * np.max(np.abs(A)), "τ/max |A| ≥ 10"),
    ],
)
def test_the_condition_of_a_hidden_branch_is_named(condition, words):
    report = verify.check(faulty(condition), "step")
    assert not report.ok
    assert words in str(report).splitlines()[1]


@pytest.mark.parametrize(
    ("level", "solver", "words"),
    [
        ("cardinality", lambda A, B, k: catalogue_vector(A, B, min(len(A), k + k % 2)), "k is not even"),
        ("bound", lambda A, B, k: min(lambda_max(A, B), k * float(np.max(np.abs(A)))), "λmin(B) ≤ 0."),
    ],
)
def test_the_parity_of_k_and_the_least_eigenvalue_of_B_are_named(level, solver, words):
    assert words in str(verify.check(solver, level)).splitlines()[1]


def lambda_max(A, B):
    return max(0.0, float(eigh(A, B, eigvals_only=True)[-1])) * (1.0 + 1e-9)


def catalogue_vector(A, B, k):
    x = np.zeros(len(A))
    x[:k] = 1.0
    return x / np.sqrt(x @ B @ x)


@pytest.mark.parametrize(
    ("key", "words"),
    [(lambda B, k: (len(B), k), "an earlier call had the same n and k"), (lambda B, k: len(B), "the same n")],
)
def test_an_answer_remembered_by_a_part_of_the_data_is_named_by_that_part(key, words):
    seen = {}

    def solver(A, B, k):
        return seen.setdefault(key(B, k), lambda_max(A, B))

    assert words in str(verify.check(solver, "bound")).splitlines()[1]


def test_a_run_that_stops_early_is_named_by_its_steps():
    def solver(A, rho, eps, x0):
        x = x0
        for _ in range(20):
            z = A @ x
            z = np.sign(z) * np.maximum(np.abs(z) - 0.5 * rho / np.log1p(1.0 / eps) / (np.abs(x) + eps), 0.0)
            x = z / (np.linalg.norm(z) or 1.0)
        return x

    assert "MM steps from x0 to x* ≥" in str(verify.check(solver, "pca")).splitlines()[1]


def test_a_failure_of_another_cause_does_not_hide_the_condition():
    failing = [{"n": n, "B = I": False} for n in (*range(20, 60), 3, 4)]
    passing = [{"n": n, "B = I": n % 2 == 0} for n in range(1, 20)]
    condition = Condition(*shared(failing, passing)[:2], len(failing), 0, len(passing))
    assert str(condition) == "fails mostly if n ≥ 20 (40 of 42 failing cases, 0 of 19 others)"


def test_a_property_of_most_cases_is_not_a_condition():
    failing, passing = [{"A = 0": False}] * 10, [{"A = 0": i == 0} for i in range(10)]
    assert shared(failing, passing) == ((), 10, 10)
    assert str(Condition((), 10, 10, 10, 10)) == "the 10 failing cases share no property that most passing cases lack"


@pytest.mark.parametrize(
    ("words", "no"),
    [
        ("A has a row that is zero off the diagonal", "A has no row that is zero off the diagonal"),
        ("an earlier call had the same n", "no earlier call had the same n"),
        ("n is a multiple of 4", "n is not a multiple of 4"),
        ("B = I", "B ≠ I"),
        ("x* lies inside Ω", "x* lies on the boundary of Ω"),
    ],
)
def test_a_property_that_does_not_hold_has_words_of_its_own(words, no):
    assert opposite(words) == no


def test_a_solver_that_is_right_when_asked_again_is_said_to_depend_on_its_calls():
    calls = []

    def solver(A, B, k):
        calls.append(k)
        return -1e9 if len(calls) % 3 == 0 else lambda_max(A, B)

    assert any("failing cases are right" in line for line in verify.check(solver, "bound").direction)


def test_warnings_of_the_solver_itself_are_repeated():
    def solver(A, B, k):
        warnings.warn("Solution may be inaccurate", stacklevel=1)
        return -1e9

    line = verify.check(solver, "bound").direction[-1]
    assert line.startswith("the solver itself warned in ")
    assert line.endswith("UserWarning: Solution may be inaccurate")


@pytest.mark.slow
def test_a_fault_of_state_names_the_check_and_what_was_changed():
    entry = next(e for e in catalogue.WRONG if e.name == "A remembered, ρ forgotten")
    line = str(verify.check(entry.make(), "step")).splitlines()[1]
    assert line.startswith("one part changed: fails only in this check")
    assert "rho changed alone" in line
