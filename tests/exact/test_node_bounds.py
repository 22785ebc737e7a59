"""Bounds of nodes hold for every support of the node."""

from itertools import combinations

import numpy as np

from dcgev_cvx import Pencil
from dcgev_cvx.exact.node_bounds import NodeBounds
from dcgev_cvx.relaxations.pairwise import pair_dual


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
