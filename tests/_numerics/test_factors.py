"""The factor of B, what it solves, and matrices that have none."""

import numpy as np
import pytest
import scipy.linalg
from hypothesis import given, settings
from hypothesis import strategies as st

from dcgev_cvx._numerics.factors import Factor
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
    assert np.allclose(factor.L / np.sqrt(scale), np.linalg.cholesky(B / scale), rtol=1e-9, atol=1e-12)
    c = np.random.default_rng(n).standard_normal((n, 2))
    assert np.allclose(B @ factor.solve(c), c, rtol=1e-7, atol=1e-7)
    assert np.allclose(factor.solve(c), factor.unwhiten(factor.whiten(c)), rtol=1e-7)
    assert 0.0 < factor.smallest <= scipy.linalg.eigvalsh(B / scale)[0] * scale * (1.0 + 1e-9)


def test_the_last_block_may_be_the_bad_one():
    B = scipy.linalg.block_diag(positive(5, 0), -np.eye(5))
    with pytest.raises(InvalidPencil, match="smallest eigenvalue is -1 "):
        Factor.of(B)
    # each block is well conditioned, the two together are not
    with pytest.raises(InvalidPencil, match="not positive definite to working precision"):
        Factor.of(np.diag([1.0, 1e-18]))
