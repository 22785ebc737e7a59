"""The stationary point of (SGEV-A) next to an eigenvector, no loading lost: found by Newton's method.

MM would creep there where eigenvalues are close. Every fixed point of MM is a stationary point and
conversely, so it does not matter who finds it; the referee decides.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.linalg.lapack import dsysv  # pyright: ignore[reportAttributeAccessIssue]

from .._numerics.checks import Vector
from ..pencils import Pencil
from ..programs import MACHINE_EPS, SparseGEV, log_scale

NEWTON_STEPS = 12
SMALLER = 12
"""ρ̃ is divided by 8 at most so often until Newton's method keeps the signs and converges."""
TOL = 1e-10


def stationary_near(pencil: Pencil, x0: Vector) -> tuple[Vector, float]:
    """(x, ρ_ε): the stationary point that the eigenvector x0 becomes for a small ρ_ε, no loading lost.

    Coordinate i is at a maximum of its own while ρ_ε < 2λBᵢᵢxᵢ²: ρ_ε starts at a tenth of the smallest of
    these and shrinks until Newton's method converges. With ρ_ε = 0 x0 itself is stationary.
    """
    value = pencil.A_quad(x0)
    rho_eps = 0.2 * value * float(np.min(pencil.B_diagonal * x0**2))
    for _ in range(SMALLER):
        x = newton(pencil, x0, value, rho_eps)
        if x is not None:
            return x, rho_eps
        rho_eps /= 8.0
    return x0, 0.0


def program_of(pencil: Pencil, rho_eps: float, eps: float = MACHINE_EPS) -> SparseGEV:
    """The program (SGEV-A) with a given ρ_ε, at ε = machine precision unless x is not of size one."""
    return SparseGEV(pencil, rho_eps * log_scale(eps), eps, shift="metric")


def newton(pencil: Pencil, x0: Vector, mu: float, rho_eps: float) -> Vector | None:
    """Solve −2Ax + 2μBx + ρ_ε sign(x)/(|x| + ε) = 0, xᵀBx = 1 from (x0, μ); None if it leaves x0's signs or fails."""
    A, B = pencil.dense()
    n, x, signs, unit = pencil.n, x0, np.sign(x0), mu
    J = np.zeros((n + 1, n + 1))
    for _ in range(NEWTON_STEPS):
        Bx = B @ x
        room = np.abs(x) + MACHINE_EPS
        residual = np.append(2.0 * (mu * Bx - A @ x) + rho_eps * signs / room, unit * (x @ Bx - 1.0))
        if float(np.max(np.abs(residual[:n]))) <= TOL * float(np.max(np.abs(2.0 * mu * Bx))):
            return x / math.sqrt(float(x @ Bx))
        J[:n, :n] = 2.0 * (mu * B - A)
        J[np.arange(n), np.arange(n)] -= rho_eps / room**2
        # the constraint in the units of A, so that the scales of the system agree
        J[:n, n] = J[n, :n] = 2.0 * unit * Bx
        *_, move, info = dsysv(J, residual, lower=1)
        x, mu = x - move[:n], mu - unit * float(move[n])
        if info != 0 or not np.all(x * signs > 0.0):
            return None
    return None
