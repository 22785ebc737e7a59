"""The checks of the exercises: typical mistakes are named, right answers of any form pass."""

import numpy as np
import pytest

from dcgev_cvx import datasets, dc_pca, teach


def soft(A, y, rho, eps, half=0.5, log=np.log1p):
    c = A @ y
    z = np.sign(c) * np.maximum(0.0, np.abs(c) - half * rho / log(1 / eps) / (np.abs(y) + eps))
    norm = np.linalg.norm(z)
    return z / norm if norm > 0 else z


@pytest.mark.parametrize(
    "wrong",
    [
        lambda A, y, rho, eps: soft(A, y, rho, eps, half=1.0),
        lambda A, y, rho, eps: soft(A, y, rho, eps, log=np.log),
        lambda A, y, rho, eps: 2 * soft(A, y, rho, eps),
        lambda A, y, rho, eps: -soft(A, y, rho, eps),
        lambda A, y, rho, eps: soft(A, y, rho, eps) if soft(A, y, rho, eps).any() else y,
    ],
    ids=["half forgotten", "log(1/ε)", "too long", "sign", "collapse denied"],
)
def test_wrong_steps_fail(wrong):
    assert teach.check("threshold", soft)
    assert not teach.check("threshold", wrong)


def test_a_convex_problem_that_is_not_the_step_fails():
    import cvxpy as cp

    def lasso(A, B, y, rho, eps, tau):
        x = cp.Variable(len(A), name="x")
        return cp.Problem(cp.Minimize(cp.norm1(x) + cp.sum_squares(x - y)), [cp.quad_form(x, B) <= 1])

    def nameless(A, B, y, rho, eps, tau):
        return cp.Problem(cp.Minimize(cp.norm1(cp.Variable(len(A)))))

    assert "above the minimum" in teach.check("dcp", lasso).why
    assert "called x" in teach.check("dcp", nameless).why


def surrogate(A, x, y, rho_eps, eps, tau, share=1.0):
    """The paper's g, with a share of τ."""
    M = A + share * tau * np.eye(len(A))
    tangent = np.log(eps + np.abs(y)) + (np.abs(x) - np.abs(y)) / (np.abs(y) + eps)
    return share * tau * x @ x - 2 * x @ M @ y + y @ M @ y + rho_eps * np.sum(tangent)


@pytest.mark.parametrize(("share", "ok"), [(0.0, False), (0.5, False), (0.9, False), (1.0, True), (3.0, True)])
def test_a_majoriser_needs_its_tau_and_may_have_more(share, ok):
    verdict = teach.check("majoriser", lambda *a: surrogate(*a, share=share))
    assert verdict.ok is ok
    assert ok or "cuts f" in verdict.why


def test_a_larger_tau_is_valid_but_not_the_smallest():
    pencil = datasets.indefinite(7)
    least = -pencil.lambda_min_A
    assert teach.check("tau", least)
    assert teach.check("tau", round(least, 3))
    larger = teach.check("tau", 1.1 * least)
    assert not larger
    assert "a smaller one is too" in larger.why
    assert f"{least:.4g}" not in larger.why  # the answer is not given away
    assert "cuts f" in teach.check("tau", 0.99 * least).why
    assert not teach.check("tau", np.abs(np.linalg.eigvalsh(pencil.dense()[0])).max())  # the norm is no answer


@pytest.mark.parametrize("x0", [[0, 1], [0.0, 7.0], [0.0, -1e-9]])
def test_any_multiple_of_the_second_eigenvector_breaks_corollary_1(x0):
    assert teach.check("corollary", (np.diag([2, 1]), x0))


@pytest.mark.parametrize(
    ("A", "x0"),
    [(np.diag([2.0, 1.0]), [1e-12, 1.0]), (np.diag([1.0, 0.998]), [1e-3, 1.0]), (np.zeros((2, 2)), [0.0, 1.0])],
    ids=["a small share grows", "slow is not never", "λmax = 0"],
)
def test_a_start_that_does_lead_to_lambda_max_breaks_nothing(A, x0):
    assert not teach.check("corollary", (A, x0))


def test_eigenvectors_as_computed_break_corollary_1(pitprops):
    A, _ = pitprops.dense()
    *others, top = np.linalg.eigh(A)[1].T
    assert all(teach.check("corollary", (A, x)) for x in others)
    assert not teach.check("corollary", (A, top))


def test_stuck_wants_a_stationary_pair(pitprops):
    assert "not stationary" in teach.check("stuck", np.full(13, 13**-0.5)).why
    assert "1 nonzeros" in teach.check("stuck", np.eye(13)[0]).why
    assert "6 nonzeros" in teach.check("stuck", dc_pca(pitprops, rho=4.84).x).why


def test_only_the_wrong_suspect_is_found_wrong():
    A, B = np.array([[2.0, 0.5], [0.5, 1.0]]), np.array([[1.0, 0.4], [0.4, 1.0]])
    y = np.array([0.5, 0.5])
    verdicts = {letter: teach.check("suspect", (letter, A, B, y, 0.5, 0.1, 1.0)).ok for letter in teach.SUSPECTS}
    assert verdicts == {"a": False, "b": True, "c": False}
    assert not teach.check("suspect", ("b", A, np.eye(2), y, 0.5, 0.1, 1.0))
    assert "suspects are" in teach.check("suspect", ("z", A, B, y, 0.5, 0.1, 1.0)).why


def test_an_answer_that_changes_its_arguments_is_told_so():
    def careless(A, y, rho, eps):
        y *= 2.0
        return soft(A, y, rho, eps)

    assert "read-only" in teach.check("threshold", careless).why
