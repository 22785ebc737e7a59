"""Bounds of nodes hold for every support of the node."""

from itertools import combinations

import numpy as np
import pytest

from dcgev_cvx import Pencil
from dcgev_cvx.exact import node_bounds
from dcgev_cvx.exact.node_bounds import Node, NodeBounds
from dcgev_cvx.relaxations.pairwise import charges, pair_dual


def test_node_bounds_hold_on_their_node_and_knowing_I_never_hurts():
    rng = np.random.default_rng(5)
    for _ in range(150):
        n, k = 7, int(rng.integers(2, 6))
        G, H = rng.standard_normal((n, n)), rng.standard_normal((n, 2 * n))
        pencil = Pencil(G + G.T, H @ H.T / n)
        size = 10.0 ** rng.uniform(-2, 1)
        dual = pair_dual(size * rng.standard_normal((n, n)), size * rng.uniform(size=(n, n)), n)
        bounds = NodeBounds(np.asarray(pencil.A), pencil.B, k, dual)
        order = rng.permutation(n)
        p = int(rng.integers(1, k))
        included, free = order[:p], order[p : n - int(rng.integers(0, n - k + 1))]
        supports = [np.concatenate([included, S]) for S in combinations(free, k - p)]
        truth = max(pencil.restrict(np.sort(S)).lambda_max for S in supports)
        known = bounds.dual_bound(included, free)[0]
        assert known >= truth - 1e-10
        empty = np.empty(0, dtype=np.intp)
        assert known <= bounds.dual_bound(empty, np.concatenate([included, free]))[0] + 1e-10
        assert bounds.interlacing(np.concatenate([included, free]))[0] >= truth - 1e-10


def test_the_rounding_of_a_node_is_charged_for_every_summand(monkeypatch):
    rng = np.random.default_rng(1)
    G, U, a = (rng.standard_normal((5, 5)) for _ in range(3))
    dual = pair_dual(U + U.T, np.abs(a), 5)
    kept, node = np.array([1, 3, 4, 7, 9]), np.array([3, 7, 1, 9, 4])
    A = np.zeros((10, 10))
    A[np.ix_(kept, kept)] = G + G.T
    sizes = []
    monkeypatch.setattr(node_bounds, "lambda_max_bound", lambda M, B, size, lead: sizes.append(size) or lead[0])
    bound, vector = NodeBounds(A, None, 3, dual, kept).dual_bound(node[:1], node[1:])
    part, inner = dual[np.searchsorted(kept, node)], A[np.ix_(node, node)]
    r = np.diag(charges(part.a, 1, 2))
    assert sizes[0] == pytest.approx(np.abs(inner) + np.abs(part.U) + r)
    M = inner + part.U + r
    assert bound == pytest.approx(np.linalg.eigvalsh(M)[-1])
    assert np.linalg.norm(M @ vector - bound * vector) < 1e-9


def test_the_children_of_a_node_partition_its_supports():
    inside, outside = Node(1.0, np.array([4]), np.array([0, 2, 5]), 2).children
    assert [part.tolist() for part in inside] == [[4, 2], [0, 5]]
    assert [part.tolist() for part in outside] == [[4], [0, 5]]
