"""The pairwise bound holds whatever U and a are, and contains the homogeneous and the row-constraint bounds."""

from fractions import Fraction

import numpy as np
import pytest
from small_problems import optimum, random_pencil

from dcgev_cvx import Gram, Pencil
from dcgev_cvx._numerics.selection import top_sum
from dcgev_cvx.datasets import pitprops
from dcgev_cvx.relaxations.bounds import dense_bound, homogeneous_bound
from dcgev_cvx.relaxations.dual_matrices import dual_of
from dcgev_cvx.relaxations.pairwise import pair_dual, pairwise_bound


def random_dual(rng, n, size):
    """Sensible or wild: charges of very different sizes, some zero or negative, and any U."""
    a = size * 10.0 ** rng.uniform(-3, 1, (n, n)) * rng.choice([1.0, 0.0, -1.0], (n, n), p=[0.8, 0.1, 0.1])
    return size * 10.0 ** rng.uniform(-3, 2) * rng.standard_normal((n, n)), a


def test_no_pairwise_bound_falls_below_the_optimum():
    rng = np.random.default_rng(0)
    for _ in range(100):
        pencil, k = random_pencil(rng)
        truth = optimum(pencil, k)
        slack = 1e-13 * (pencil.A_scale / np.linalg.eigvalsh(pencil.dense()[1])[0] + abs(truth))
        U, a = random_dual(rng, pencil.n, pencil.A_scale)
        assert pairwise_bound(pencil, k, U, a) >= truth - slack


def test_the_inequality_of_the_pairs_holds_exactly():
    rng = np.random.default_rng(1)
    for scale in (1.0, 1e-150, 1e-160, 1e150):
        dual = pair_dual(*(scale * part for part in random_dual(rng, 8, 1.0)), 8)
        for i in range(8):
            for j in range(8):
                U, a, b = (Fraction(float(v)) for v in (dual.U[i, j], dual.a[i, j], dual.a[j, i]))
                assert a * b - U * U >= 0
        assert np.array_equal(dual.U, dual.U.T)
        assert not np.diagonal(dual.U).any()


def test_equal_charges_give_the_homogeneous_bound():
    rng = np.random.default_rng(2)
    for k in (2, 4, 6):
        U, d = rng.standard_normal((13, 13)), rng.uniform(0.5, 2.0, 13)
        dual = dual_of(U, d, np.zeros(13, dtype=int))
        a = np.broadcast_to(dual.b[0, 0] * (1.0 + 1e-14) * d[:, None] ** 2, (13, 13))
        assert pairwise_bound(pitprops(), k, U, a) == pytest.approx(
            homogeneous_bound(pitprops(), k, U, scale=d), rel=1e-9
        )


def test_the_row_constraints_bound_no_better_and_hold_too():
    """|Uᵢⱼ| ≤ (cᵢ + cⱼ)/2 and f > 0: λmax(A + U + Diag((k − 1)c²/4f − f)) + the k largest f, for B = I."""
    rng = np.random.default_rng(3)
    for _ in range(100):
        n, k = 8, int(rng.integers(2, 7))
        G = rng.standard_normal((n, n))
        pencil = Pencil(G + G.T)
        c, f = 10.0 ** rng.uniform(-2, 1, n), 10.0 ** rng.uniform(-2, 1, n)
        U = np.clip(rng.standard_normal((n, n)), -1.0, 1.0) * (c[:, None] + c) / 2.0
        U = np.tril(U, -1) + np.tril(U, -1).T
        rows = np.linalg.eigvalsh(pencil.A + U + np.diag((k - 1) * c**2 / (4.0 * f) - f))[-1] + np.sum(np.sort(f)[-k:])
        bound = pairwise_bound(pencil, k, U, (c**2 / (4.0 * f))[:, None] + f)
        assert optimum(pencil, k) <= bound + 1e-12
        assert bound <= rows + 1e-10


@pytest.mark.parametrize(
    ("U", "a"),
    [
        (None, None),
        ("not a matrix", np.ones((13, 13))),
        (np.ones((13, 13)), np.full((13, 13), np.nan)),
        (np.full((13, 13), np.inf), np.ones((13, 13))),
        (np.ones((12, 12)), np.ones((13, 13))),
        (np.ones((13, 13)), np.full((13, 13), 1e308)),
    ],
    ids=["none", "text", "NaN", "infinite", "misshapen", "huge"],
)
def test_garbage_gives_the_dense_bound(U, a):
    assert pairwise_bound(pitprops(), 4, U, a) == dense_bound(pitprops())


def test_a_factor_is_bounded_as_its_matrix_is():
    rng = np.random.default_rng(4)
    C = rng.standard_normal((5, 9))
    U, a = random_dual(rng, 9, 1.0)
    assert pairwise_bound(Pencil(Gram(C)), 3, U, a) == pytest.approx(
        pairwise_bound(Pencil(C.T @ C), 3, U, a), rel=1e-12
    )


def test_top_sums():
    rows = np.array([[3.0, 1.0, 2.0]])
    assert [float(top_sum(rows, m)[0]) for m in (0, 1, 2, 3, 4)] == [0.0, 3.0, 5.0, 6.0, 6.0]
