"""The bare iteration of DC-PCA compiled: the loop over the variables, and all of it where few are left (ALG-S)."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from ..checks import Matrix, Vector


@njit(cache=True)
def thresholded(c: Vector, y: Vector, price: float, eps: float) -> tuple[Vector, float]:  # pragma: no cover
    """(the next iterate, Σ log(1 + |yᵢ|/ε)): one loop over the variables; 0 when nothing is left.

    Products of up to 1e250 are collected before a logarithm is taken: n logarithms would cost more than the rest of
    the loop.
    """
    z = np.zeros_like(y)
    square, penalty, product = 0.0, 0.0, 1.0
    for i in range(len(y)):
        room = abs(y[i]) + eps
        product *= room / eps
        if product > 1e250:  # a logarithm of a product is cheaper than a sum of logarithms
            penalty += math.log(product)
            product = 1.0
        size = abs(c[i]) - 0.5 * price / room
        if size > 0.0:
            z[i] = math.copysign(size, c[i])
            square += size * size
    if square > 0.0:
        z /= math.sqrt(square)
    return z, penalty + math.log(product)


@njit(cache=True, fastmath={"reassoc", "contract"})
def settle(
    D: Matrix, y: Vector, price: float, eps: float, tol: float, before: float, steps: int, max_iter: int
) -> tuple[int, bool]:  # pragma: no cover
    """The same iteration compiled, one row of D per variable, zeros skipped; y is overwritten.

    fastmath is limited to reassociation and contraction: no assumption about NaN or infinity is made.
    """
    n, p = D.shape
    settled = False
    while steps < max_iter and not settled:
        steps += 1
        Cy = np.zeros(p)
        penalty = 0.0
        for i in range(n):
            if y[i] != 0.0:
                penalty += math.log((abs(y[i]) + eps) / eps)
                for j in range(p):
                    Cy[j] += y[i] * D[i, j]
        variance = 0.0
        for j in range(p):
            variance += Cy[j] * Cy[j]
        objective = variance - price * penalty
        settled = objective - before <= tol * variance
        before = objective
        square = 0.0
        for i in range(n):
            if y[i] != 0.0:
                c = 0.0
                for j in range(p):
                    c += D[i, j] * Cy[j]
                size = abs(c) - 0.5 * price / (abs(y[i]) + eps)
                y[i] = math.copysign(size, c) if size > 0.0 else 0.0
                square += y[i] * y[i]
        if square == 0.0:
            return steps, True
        y /= math.sqrt(square)
    return steps, settled
