"""Greedy passes, against eigenvalues computed one by one."""

import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from small_problems import gaussian

from dcgev_cvx.rivals.gspca import bordered, forward, minors


@settings(deadline=None, derandomize=True, max_examples=40)
@given(st.integers(2, 9), st.integers(0, 10_000))
def test_bordered_and_minor_eigenvalues(n, seed):
    M = np.random.default_rng(seed).standard_normal((n + 3, n + 3))
    A = M @ M.T
    S, rest = np.arange(n), np.arange(n, n + 3)
    values, V = np.linalg.eigh(A[:n, :n])
    found = bordered(values, V.T @ A[np.ix_(S, rest)], np.diagonal(A)[rest])
    truth = [np.linalg.eigvalsh(A[np.ix_([*S, j], [*S, j])])[-1] for j in rest]
    assert_allclose(found, truth, rtol=1e-9)
    dropped = minors(values, V)
    truth = [np.linalg.eigvalsh(np.delete(np.delete(A[:n, :n], i, 0), i, 1))[-1] for i in range(n)]
    assert_allclose(dropped, truth, rtol=1e-9)


def test_interlacing_roots_at_multiple_eigenvalues():
    """λ₁ = λ₂, a variable without coupling, and a diagonal matrix: the roots stay in their interval."""
    assert_allclose(minors(*np.linalg.eigh(np.eye(4))), 1.0)
    values, V = np.linalg.eigh(np.diag([3.0, 2.0, 1.0]))
    assert_allclose(minors(values, V), [2.0, 3.0, 3.0])
    assert_allclose(bordered(np.array([2.0, 2.0]), np.zeros((2, 1)), np.array([5.0])), 5.0)


def test_forward_takes_the_best_candidate():
    A = gaussian(9, 10, seed=4).dense()[0]
    path = list(forward(A))
    for S, T in itertools.pairwise(path[:6]):
        gains = {i: np.linalg.eigvalsh(A[np.ix_([*S, i], [*S, i])])[-1] for i in set(range(10)) - set(S)}
        assert max(gains, key=gains.get) == T[-1]


def test_the_path_is_nested_and_complete():
    supports = list(forward(gaussian(10, 14).dense()[0]))
    assert [len(S) for S in supports] == list(range(1, 15))
    assert all(set(a) < set(b) for a, b in itertools.pairwise(supports))
