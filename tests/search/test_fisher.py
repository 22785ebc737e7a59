"""Sparse FDA: the ν path, k variables against exhaustive search, and the LASSO equivalence of Section 6."""

from __future__ import annotations

import itertools
from types import SimpleNamespace

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import Lasso

from dcgev_cvx import (
    InvalidParameter,
    InvalidPencil,
    datasets,
    fda_pencil,
    fda_vectors,
    fisher_path,
    fisher_solve,
    least_squares_form,
    relaxations,
    sparse_fda,
)
from dcgev_cvx.certificates import on_support, value
from dcgev_cvx.search.fisher import FisherPath, nu_max

common = settings(derandomize=True, deadline=None, max_examples=15)
seeds = st.integers(0, 10_000)


def problem(seed=0, m=40, n=8):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((m, n)) @ (rng.standard_normal((n, n)) + 2 * np.eye(n))
    y = np.arange(m) % 2
    X[y == 1, :3] += 1.0
    return X, y


def ratio_of(a, B, S):
    return float(a[S] @ np.linalg.solve(B[np.ix_(S, S)], a[S]))


def best_ratio(a, B, k):
    return max(ratio_of(a, B, np.array(S)) for S in itertools.combinations(range(len(a)), k))


def test_nu_max_by_its_formula():
    a, B = np.array([1.0, 2.0, 0.5]), np.diag([3.0, 2.0, 1.0])
    expected = 2.0 / 4.0 - 1.0 / (1.0 / 3.0 + 4.0 / 2.0 + 0.25)
    assert nu_max(a, B) == pytest.approx(expected, rel=1e-12)
    assert nu_max([1.0, 0.0], np.eye(2)) == 0.0  # a variable without a difference has a ratio of zero


def test_what_a_path_misses_lies_between_its_smallest_and_largest():
    path = FisherPath((1.0, 2.0, 3.0), tuple(SimpleNamespace(support=range(k)) for k in (7, 3, 4)))
    assert path.missing == (5, 6)


def test_the_least_squares_form_by_its_formulas():
    X, y = np.array([[0.0, 1.0], [2.0, 1.0], [5.0, 3.0], [6.0, 6.0], [7.0, 0.0]]), [0, 0, 1, 1, 1]
    form = least_squares_form(X, y, ridge=0.5)
    assert form.t.tolist() == pytest.approx([2.5, 2.5, -5.0 / 3.0, -5.0 / 3.0, -5.0 / 3.0])
    assert form.pi == pytest.approx(6.0 / 25.0)
    first, second = X[:2], X[2:]
    assert form.a == pytest.approx(first.mean(axis=0) - second.mean(axis=0))
    pooled = (2 * np.cov(first.T, bias=True) + 3 * np.cov(second.T, bias=True)) / 5.0
    assert pytest.approx(pooled + 0.5 * np.eye(2)) == form.B
    z = np.array([0.3, -0.7])
    lam, x = form.lasso_of(z, 0.4)
    s = 2.0 / (2.0 * z @ form.B @ z + 2.0 * form.pi + 0.4)
    assert (lam, x.tolist()) == (pytest.approx(0.4 * s), pytest.approx((s * z).tolist()))
    z = -form.a
    with pytest.raises(InvalidParameter, match="take a smaller one"):
        form.fisher_of(z, 1.0)
    for size in (2.0, 1e-3):
        nu, back = form.fisher_of(size * form.a, 3.0)
        assert nu == pytest.approx(3.0 / size / (form.a @ form.a))
        assert back == pytest.approx(form.a / (form.a @ form.a))


def test_the_ratio_of_a_support_is_its_generalized_eigenvalue():
    X, y = problem()
    a, B = fda_vectors(X, y)
    S = np.array([0, 2, 5])
    pencil = fda_pencil(X, y)
    assert value(pencil, on_support(pencil, S)) == pytest.approx(ratio_of(a, B, S))


def test_k_variables_against_exhaustive_search():
    ratios = []
    for seed in range(20):
        a, B = fda_vectors(*problem(seed, n=10))
        for k in (1, 2, 3, 5, 8, 10):
            found = fisher_solve(a, B, k)
            assert found.k == k
            ratios.append(found.value / best_ratio(a, B, k))
    assert max(ratios) <= 1 + 1e-9
    assert np.mean(np.array(ratios) > 1 - 1e-9) >= 0.95
    assert min(ratios) > 0.9


def test_planted_variables_are_found():
    X, y, support = datasets.two_gaussians(30, 4, samples=300)
    assert fisher_solve(*fda_vectors(X, y), 4).support == support


@pytest.mark.slow
def test_more_variables_than_samples():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 700)), np.arange(60) % 2
    X[y == 1, 10:14] += 2.5
    found = fisher_solve(*fda_vectors(X, y, ridge=0.5), 4)
    assert found.support == (10, 11, 12, 13)


@common
@given(seeds)
def test_the_answer_permutes_flips_and_scales(seed):
    a, B = fda_vectors(*problem(seed))
    rng = np.random.default_rng(seed)
    order, signs = rng.permutation(8), rng.choice([-1.0, 1.0], 8)
    plain = fisher_solve(a, B, 3)
    moved = fisher_solve(a[order], B[np.ix_(order, order)], 3)
    np.testing.assert_allclose(np.abs(moved.x), np.abs(plain.x[order]), rtol=1e-6, atol=1e-9)
    flipped = fisher_solve(a * signs, B * np.outer(signs, signs), 3)
    np.testing.assert_allclose(np.abs(flipped.x), np.abs(plain.x), rtol=1e-9)
    scaled = fisher_solve(8.0 * a, B / 4.0, 3)
    np.testing.assert_allclose(np.abs(scaled.x), 2.0 * np.abs(plain.x), rtol=1e-9)
    assert scaled.value == pytest.approx(256.0 * plain.value)


# --- the path


def test_the_path_runs_from_all_variables_to_one():
    a, B = fda_vectors(*problem(1))
    path = fisher_path(a, B)
    assert path.cardinalities[0] == 8
    assert path.cardinalities[-1] == 1
    assert all(before >= after for before, after in itertools.pairwise(path.cardinalities))
    assert all(run.converged for run in path.runs)
    assert set(path.missing).isdisjoint(path.cardinalities)
    for before, after in itertools.pairwise(path.runs):
        np.testing.assert_allclose(after.history[0].x, before.x, atol=1e-12)
    assert path.ratios[0] == pytest.approx(a @ np.linalg.solve(B, a), rel=1e-3)
    for run, ratio in zip(path.runs, path.ratios, strict=True):
        assert a @ run.x == pytest.approx(1.0)
        assert 1.0 / (run.x @ B @ run.x) == pytest.approx(ratio)


def test_one_nu_is_sparse_fda():
    a, B = fda_vectors(*problem(2))
    path = fisher_path(a, B, [0.05])
    np.testing.assert_allclose(path.runs[0].x, sparse_fda(a, B, nu=0.05).x, atol=1e-12)


def test_above_nu_max_one_variable_minimises_the_counting_program():
    a, B = fda_vectors(*problem(3))
    top = nu_max(a, B)
    cost = {k: 1.0 / best_ratio(a, B, k) for k in range(1, 9)}
    assert min(cost, key=lambda k: cost[k] + 1.0001 * top * k) == 1
    assert top <= cost[1]


@pytest.mark.slow
def test_k_variables_are_at_least_as_good_as_those_of_the_path():
    a, B = fda_vectors(*problem(4))
    path = fisher_path(a, B)
    for k, ratio in zip(path.cardinalities, path.ratios, strict=True):
        assert fisher_solve(a, B, k).value >= ratio * (1 - 1e-9)


def test_a_callback_may_end_the_path():
    a, B = fda_vectors(*problem(5))
    path = fisher_path(a, B, callback=lambda nu, run: len(run.support) < 8)
    assert path.cardinalities[-1] < 8
    assert all(k == 8 for k in path.cardinalities[:-1])


# --- the remark of Section 6


@pytest.mark.parametrize("nu", [0.003, 0.05, 0.5])
@pytest.mark.parametrize("balanced", [True, False])
def test_l1_fda_is_the_lasso(nu, balanced):
    X, y = problem(6, m=60)
    if not balanced:
        X, y = X[10:], np.where(np.arange(10, 60) < 22, 1, y[10:])
    form = least_squares_form(X, y)
    relaxed = relaxations.fisher_l1_penalized(form.a, form.B, nu)
    lam, x = form.lasso_of(relaxed.x, nu)
    theirs = Lasso(alpha=lam / 2, tol=1e-13, max_iter=200_000).fit(X, form.t)
    np.testing.assert_allclose(theirs.coef_, x, atol=2e-5 * np.abs(x).max())
    back, z = form.fisher_of(theirs.coef_, lam)
    assert back == pytest.approx(nu, rel=1e-4)
    np.testing.assert_allclose(z, relaxed.x, atol=2e-5 * np.abs(relaxed.x).max())


def test_without_penalty_it_is_least_squares_and_the_ls_svm_classifier():
    """Suykens (2002), Mika (2001): the least-squares classifier's direction is Fisher's."""
    X, y = problem(7)
    form = least_squares_form(X, y)
    coefficients = np.linalg.lstsq(np.column_stack([X, np.ones(len(X))]), form.t, rcond=None)[0][:-1]
    z = np.linalg.solve(form.B, form.a)
    _, x = form.lasso_of(z / (form.a @ z), 0.0)
    np.testing.assert_allclose(coefficients, x, rtol=1e-8)
    a, B = fda_vectors(X, y)
    np.testing.assert_allclose(2.0 * form.B, B, rtol=1e-12)  # classes of equal size
    np.testing.assert_allclose(form.a, a)


def test_the_least_squares_loss_is_the_quadratic_form():
    X, y = problem(8, m=41)
    form = least_squares_form(X, y)
    loss = lambda x: np.mean((form.t - (X - X.mean(0)) @ x) ** 2)  # noqa: E731
    quadratic = lambda x: x @ (form.B + form.pi * np.outer(form.a, form.a)) @ x - 2 * form.a @ x  # noqa: E731
    rng = np.random.default_rng(0)
    u, v = rng.standard_normal((2, 8))
    assert loss(u) - loss(v) == pytest.approx(quadratic(u) - quadratic(v))


def test_ridge_is_a_ridge_in_the_lasso():
    X, y = problem(9)
    form = least_squares_form(X, y, ridge=0.3)
    z = cp.Variable(8)
    cp.Problem(cp.Minimize(cp.quad_form(z, cp.psd_wrap(form.B)) + 0.1 * cp.norm1(z)), [form.a @ z == 1]).solve(
        solver="CLARABEL"
    )
    lam, x = form.lasso_of(z.value, 0.1)
    w = cp.Variable(8)
    Xc = X - X.mean(0)
    loss = cp.sum_squares(form.t - Xc @ w) / len(X) + 0.3 * cp.sum_squares(w) + lam * cp.norm1(w)
    cp.Problem(cp.Minimize(loss)).solve(solver="CLARABEL")
    np.testing.assert_allclose(w.value, x, atol=1e-5)


def test_a_path_without_runs_misses_nothing():
    assert FisherPath((), ()).missing == ()


# --- bad input


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda a, B: fisher_solve(a, B, 0), "k = 0 is out of range"),
        (lambda a, B: fisher_solve(a, B, 9), "k = 9 is out of range"),
        (lambda a, B: fisher_solve(0 * a, B, 2), "a = 0"),
        (lambda a, B: fisher_solve(a, B[:4, :4], 2), "8×8|4×4|length"),
        (lambda a, B: fisher_solve(a, -B, 2), "not positive definite"),
        (lambda a, B: fisher_path(a, B, [-1.0]), r"nus\[0\] = -1 is out of range"),
        (lambda a, B: fisher_path(a, B, []), r"nus = \[\] must list numbers"),
        (lambda a, B: fisher_path(a, B, solver="CLARABELL"), "CLARABEL"),
        (lambda a, B: least_squares_form(problem()[0], np.arange(40) % 3), "3 classes"),
        (lambda a, B: least_squares_form(*problem()).fisher_of(np.zeros(8), 5.0), "take a smaller one"),
        (
            lambda a, B: least_squares_form(*problem()).fisher_of(np.zeros(8), None),
            "lambda = None is not a real number",
        ),
    ],
)
def test_bad_input(call, message):
    from dcgev_cvx import DCGEVError

    with pytest.raises((InvalidParameter, InvalidPencil, DCGEVError), match=message):
        call(*fda_vectors(*problem()))
