"""The three projections are projections, and the splitting reaches the value of the model in CVXPY."""

import numpy as np
import pytest
from scipy.linalg import LinAlgError
from small_problems import null, optimum, random_cca

from dcgev_cvx import InvalidParameter, Pencil, models
from dcgev_cvx._numerics.threads import quiet
from dcgev_cvx.datasets import pitprops
from dcgev_cvx.relaxations import homogeneous_sdp, pairwise_sdp
from dcgev_cvx.relaxations.bounds import dense_bound
from dcgev_cvx.relaxations.pair_splitting import PairSplitting, on_pairs, on_rows, on_spectrahedron
from dcgev_cvx.relaxations.pairwise import pairwise_bound


def is_nearest(given, found, members):
    """p is the point of a convex set nearest to v exactly if ⟨v − p, q − p⟩ ≤ 0 for every q of the set."""
    return all(np.vdot(given - found, q - found) <= 1e-9 for q in members)


def test_rows_are_projected():
    rng = np.random.default_rng(0)
    for _ in range(60):
        n, s = 7, int(rng.integers(1, 6))
        v = rng.standard_normal((n, n + 1)) * 10.0 ** rng.uniform(-2, 1)
        x, Y, _ = on_rows(v[:, 0], v[:, 1:], s, rng.uniform(0.0, 1.0, n))
        assert np.all(x >= 0.0)
        assert np.all(Y >= 0.0)
        assert np.all(x[:, None] - Y >= 0.0)
        assert np.all(np.sum(Y, axis=1) <= s * x + 1e-12)
        top = rng.uniform(size=(50, n, 1)) * 3.0
        y = rng.uniform(size=(50, n, n)) * top * np.minimum(1.0, s / n)
        spikes = np.concatenate([top, top * (np.argsort(rng.uniform(size=(50, n, n))) < s)], axis=2)
        for i in range(n):
            members = [*np.concatenate([top, y], axis=2)[:, i], *spikes[:, i], np.zeros(n + 1)]
            assert is_nearest(v[i], np.append(x[i], Y[i]), members)


def test_pairs_are_projected_as_semidefinite_matrices_of_order_two():
    rng = np.random.default_rng(1)
    X, Y = rng.standard_normal((6, 6)), rng.standard_normal((6, 6))
    X = X + X.T
    P, Q = on_pairs(X, Y)
    for i in range(6):
        for j in range(i):
            values, V = np.linalg.eigh([[Y[i, j], X[i, j]], [X[i, j], Y[j, i]]])
            nearest = (V * np.maximum(values, 0.0)) @ V.T
            assert [[Q[i, j], P[i, j]], [P[j, i], Q[j, i]]] == pytest.approx(nearest, abs=1e-14)


@pytest.mark.parametrize("metric", ["identity", "dense"])
def test_the_spectrahedron_is_projected_on(metric):
    rng = np.random.default_rng(2)
    H = rng.standard_normal((6, 12))
    B = np.eye(6) if metric == "identity" else H @ H.T / 12
    for _ in range(10):
        V = rng.standard_normal((6, 6))
        V = V + V.T
        X, _ = on_spectrahedron(V, None if metric == "identity" else B, -np.inf)
        assert np.sum(X * B) == pytest.approx(1.0, abs=1e-7)
        assert np.linalg.eigvalsh(X)[0] >= -1e-12
        others = [np.outer(z, z) / (z @ B @ z) for z in rng.standard_normal((50, 6))]
        assert all(np.vdot(V - X, Q - X) <= 1e-5 for Q in others)


@pytest.mark.parametrize(
    ("pencil", "k"),
    [(pitprops(), 4), (pitprops(), 8), (null(14), 4), (random_cca(), 4)],
    ids=["4", "8", "null", "cca"],
)
def test_the_bound_reaches_the_value_of_the_model(pencil, k):
    A, _ = pencil.dense()
    splitting = PairSplitting(np.array(A), pencil.B, k, pencil.leading_vector)
    splitting.run(600)
    dual = splitting.dual
    bound = pairwise_bound(pencil, k, dual.U, dual.a)
    with quiet:  # on some platforms Clarabel calls an accurate answer inaccurate
        value = models.pairwise_sdp(A, pencil.B, k).solve(solver="CLARABEL")
    assert bound == pytest.approx(value, rel=2e-4)
    assert bound <= homogeneous_sdp(pencil, k).upper_bound * (1.0 + 1e-6)


def test_every_step_ends_with_a_dual_and_fewer_variables_go_on():
    pencil = null(20)
    splitting = PairSplitting(np.array(pencil.A), None, 4, pencil.leading_vector)
    for _ in range(30):
        splitting.run(1)
        # what `pair_dual` has to cut off the multipliers is rounding
        assert np.allclose(
            splitting.dual.U, -splitting.rho * (splitting.S - np.diag(np.diagonal(splitting.S))), atol=1e-9
        )
    splitting.restrict(np.arange(0, 20, 2))
    splitting.run(200)
    part = pencil.restrict(np.arange(0, 20, 2))
    dual = splitting.dual
    assert pairwise_bound(part, 4, dual.U, dual.a) == pytest.approx(
        models.pairwise_sdp(part.dense()[0], None, 4).solve(solver="CLARABEL"), rel=1e-3
    )


def test_an_ill_conditioned_metric_gives_a_loose_bound_and_no_error():
    Q = np.linalg.qr(np.random.default_rng(4).standard_normal((12, 12)))[0]
    B = (Q * np.logspace(-7, 0, 12)) @ Q.T
    pencil = Pencil(np.eye(12), 0.5 * (B + B.T))
    splitting = PairSplitting(np.array(pencil.A), pencil.B, 3, pencil.leading_vector)
    splitting.run(60)
    U, a = (splitting.dual.U, splitting.dual.a) if splitting.dual else (None, None)
    assert pairwise_bound(pencil, 3, U, a) <= pencil.lambda_max * (1.0 + 1e-6)


@pytest.mark.parametrize("A", [np.zeros((5, 5)), np.diag([1.0, 2.0, 3.0, 4.0, 5.0])], ids=["zero", "diagonal"])
def test_a_zero_start_and_a_zero_matrix_are_no_obstacle(A):
    splitting = PairSplitting(A.copy(), None, 2, np.zeros(5))
    splitting.run(100)
    assert pairwise_bound(Pencil(A), 2, splitting.dual.U, splitting.dual.a) == pytest.approx(A[-1, -1], abs=1e-6)


@pytest.mark.parametrize(
    ("pencil", "k"),
    [(pitprops(), 1), (pitprops(), 6), (pitprops(), 13), (random_cca(), 4), (Pencil([[2.0]], [[0.5]]), 1)],
    ids=["1", "6", "13", "cca", "one"],
)
def test_the_pairwise_sdp_is_solved_and_its_bound_can_be_checked(pencil, k):
    found, truth = pairwise_sdp(pencil, k), optimum(pencil, k)
    assert truth - 1e-12 <= found.upper_bound <= truth * (1.0 + 1e-6)
    assert found.upper_bound == pairwise_bound(pencil, k, found.U, found.a)
    assert found.value == pytest.approx(truth, rel=1e-3)
    assert found.status == "the bound settled"
    assert found.exact
    assert found.dimacs.worst < 1e-3
    assert np.sum(found.X * pencil.dense()[1]) == pytest.approx(1.0)


def test_the_pairwise_sdp_does_not_depend_on_units_and_keeps_its_time_limit():
    pencil = random_cca()
    A, B = pencil.dense()
    s = 2.0 ** np.arange(-7.0, 7.0)
    scaled = Pencil(2.0**300 * A * np.outer(s, s), 2.0**-100 * B * np.outer(s, s))
    assert pairwise_sdp(scaled, 4).upper_bound == pytest.approx(2.0**400 * optimum(pencil, 4), rel=1e-6)
    late = pairwise_sdp(pitprops(), 4, time_limit=1e-9)
    assert late.status == "stopped by a limit"
    assert late.upper_bound == dense_bound(pitprops())
    with pytest.raises(InvalidParameter, match=r"n = 251 has .*force=True"):
        pairwise_sdp(Pencil(np.eye(251)), 3)


def test_a_failure_of_lapack_ends_the_bounds(monkeypatch):
    def fails(*_):
        raise LinAlgError("no convergence")

    monkeypatch.setattr(PairSplitting, "run", fails)
    assert not list(PairSplitting(np.array(pitprops().A), None, 4, pitprops().leading_vector).bounds())
    assert pairwise_sdp(pitprops(), 4).upper_bound == dense_bound(pitprops())
