"""Random d.c. programs, for the tests and the benchmarks."""

import cvxpy as cp
import numpy as np

from dcgev_cvx import DCProgram


def random_program(seed: int) -> DCProgram:
    """A small program with quadratics, norms and maxima in u and v, in a box and half of the time outside a ball."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 6))
    x = cp.Variable(n, name="x", value=rng.uniform(-1, 1, n))
    terms = [
        cp.sum_squares(rng.standard_normal((n, n)) @ x),
        cp.norm1(rng.standard_normal((n, n)) @ x + rng.standard_normal(n)),
        cp.norm(x - rng.standard_normal(n)),
        cp.max(rng.standard_normal((4, n)) @ x),
        cp.log_sum_exp(rng.standard_normal((3, n)) @ x),
        cp.sum(cp.huber(x - rng.standard_normal(n))),
        rng.standard_normal(n) @ x,
    ]
    chosen = rng.permutation(len(terms))
    u = sum(rng.uniform(0.1, 2) * terms[i] for i in chosen[:3])
    v = sum(rng.uniform(0.1, 2) * terms[i] for i in chosen[3:6])
    outside = [cp.norm(x - rng.uniform(-1, 1, n)) >= rng.uniform(0.1, 1.0)] if seed % 2 else []
    return DCProgram(u, v, [cp.abs(x) <= 1, *outside])
