"""The factor of B by blocks is the factor of B, and the split of a CCA pencil changes no product."""

import numpy as np
import pytest
import scipy.linalg
from hypothesis import given, settings
from hypothesis import strategies as st

from dcgev_cvx import Pencil
from dcgev_cvx._numerics.checks import asymmetry
from dcgev_cvx._numerics.factors import Factor, diagonal_blocks
from dcgev_cvx.errors import InvalidPencil


def positive(n, seed):
    M = np.random.default_rng(seed).standard_normal((n, n + 2))
    return M @ M.T


@settings(derandomize=True, deadline=None, max_examples=60)
@given(sizes=st.lists(st.integers(1, 9), min_size=1, max_size=6), scale=st.sampled_from([1e-120, 1.0, 1e6, 1e120]))
def test_the_factor_is_that_of_the_whole(sizes, scale):
    B = scale * scipy.linalg.block_diag(*(positive(size, size) for size in sizes))
    n = len(B)
    factor = Factor.of(B)
    assert np.allclose(factor.lower() / np.sqrt(scale), np.linalg.cholesky(B / scale), rtol=1e-9, atol=1e-12)
    c = np.random.default_rng(n).standard_normal((n, 2))
    assert np.allclose(B @ factor.solve(c), c, rtol=1e-7, atol=1e-7)
    assert np.allclose(factor.solve(c), factor.unwhiten(factor.whiten(c)), rtol=1e-7)
    assert 0.0 < factor.smallest <= scipy.linalg.eigvalsh(B / scale)[0] * scale * (1.0 + 1e-9)


@settings(derandomize=True, deadline=None, max_examples=60)
@given(sizes=st.lists(st.integers(1, 9), min_size=1, max_size=6))
def test_nothing_lies_outside_the_blocks(sizes):
    B = scipy.linalg.block_diag(*(positive(size, size) for size in sizes))
    blocks = list(diagonal_blocks(B))
    assert blocks[0].start == 0
    assert blocks[-1].stop == len(B)
    rest = B.copy()
    for block in blocks:
        rest[block, block] = 0.0
    assert not rest.any()
    assert len(blocks) <= 9


def test_two_views_are_two_blocks():
    B = scipy.linalg.block_diag(positive(30, 0), positive(20, 1))
    assert list(diagonal_blocks(B)) == [slice(0, 30), slice(30, 50)]
    B[0, 40] = B[40, 0] = 1e-3
    assert list(diagonal_blocks(B)) == [slice(0, 50)]


def test_the_last_block_may_be_the_bad_one():
    B = scipy.linalg.block_diag(positive(5, 0), -np.eye(5))
    with pytest.raises(InvalidPencil, match="smallest eigenvalue is -1 "):
        Factor.of(B)
    # each block is well conditioned, the two together are not
    with pytest.raises(InvalidPencil, match="not positive definite to working precision"):
        Factor.of(np.diag([1.0, 1e-18]))


@pytest.mark.parametrize("h", [60, 300, 520])
def test_a_split_pencil_multiplies_as_any_other(h):
    rng = np.random.default_rng(h)
    S = rng.standard_normal((h, 600 - h))
    A = np.zeros((600, 600))
    A[:h, h:], A[h:, :h] = S, S.T
    B = scipy.linalg.block_diag(positive(h, 0), positive(600 - h, 1))
    pencil = Pencil(A, B)
    x = rng.standard_normal(600)
    assert pencil.split == h
    assert np.allclose(pencil.A_dot(x), A @ x, rtol=1e-12, atol=1e-12)
    assert pencil.lambda_max == pytest.approx(scipy.linalg.eigvalsh(A, B)[-1], rel=1e-9)
    assert pencil.lambda_min == pytest.approx(-pencil.lambda_max, rel=1e-12)
    assert pencil.lambda_min_A == pytest.approx(-np.linalg.norm(S, 2), rel=1e-9)


@pytest.mark.parametrize("n", [1, 63, 64, 65, 200])
def test_asymmetry_by_strips(n):
    M = np.random.default_rng(n).standard_normal((n, n))
    assert asymmetry(M) == np.max(np.abs(M - M.T))
    assert asymmetry(M + M.T) == 0.0
