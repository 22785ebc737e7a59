"""A program (SGEV-A) that has a stationary point on a given support, so that an answer for k can be certified.

For a small ρ_ε the leading eigenvector x of the sub-pencil moves to a stationary point with the same support, which
Newton's method finds. MM would take long where eigenvalues are close; every fixed point of MM is a stationary point
and conversely, so it does not matter how it is found. `certify` judges it on the whole pencil.
"""

import math
from time import perf_counter
from typing import Any

import numpy as np
from scipy.linalg.lapack import dsysv  # pyright: ignore[reportAttributeAccessIssue]

from .._numerics.checks import Vector
from ..certificates import Certificate, certify
from ..penalties import log_scale
from ..pencils import Pencil
from ..programs import MACHINE_EPS, SparseGEV
from ..solutions import Solution, solution_of
from .starts import in_units

NEWTON_LIMIT = 400
"""Variables up to which Newton's method is used: a few dense systems, some milliseconds."""


def matched_solution(pencil: Pencil, x: Vector, method: str, begin: float) -> Solution:
    """x with the program on whose stationary point its support lies, if there is one; timed from `begin`."""
    found = matching_program(pencil, x)
    settings: Any = {} if found is None else {"rho": found[0].rho, "eps": found[0].eps, "certificate": found[1]}
    return solution_of(pencil, x, method, perf_counter() - begin, **settings)


def matching_program(pencil: Pencil, x: Vector) -> tuple[SparseGEV, Certificate] | None:
    """A program with a stationary point on the support of x and its certificate; None if none passes.

    Where Newton's method fails, or the support is too large for it, ρ̃ is made so small that x itself passes. A
    support of value xᵀAx ≤ 0 carries no stationary point but x = 0.
    """
    unit, length, energy = in_units(pencil)
    support, x = np.flatnonzero(x), x / length
    top = unit.A_quad(x)
    if top <= 0.0:
        return None
    # a ten-millionth of λ·min Bᵢᵢxᵢ² leaves x stationary to the certificate's tolerance
    points = [(x, 1e-7 * top * float(np.min(unit.B_diagonal[support] * x[support] ** 2)))]
    if len(support) <= NEWTON_LIMIT:
        z = np.zeros_like(x)
        z[support], rho_eps = stationary_near(unit.restrict(support), x[support])
        points.insert(0, (z, rho_eps))
    eps = length * MACHINE_EPS
    for z, rho_eps in points:
        if rho_eps > 0.0 and energy * rho_eps / eps <= 1e300:
            program = program_of(pencil, energy * rho_eps, eps)
            certificate = certify(program, length * z)
            if certificate.passes():
                return program, certificate
    return None


def program_of(pencil: Pencil, rho_eps: float, eps: float = MACHINE_EPS) -> SparseGEV:
    """The program (SGEV-A) with a given ρ_ε, at ε = machine precision unless x is not of size one."""
    return SparseGEV(pencil, rho_eps * log_scale(eps), eps, shift="metric")


def stationary_near(pencil: Pencil, x0: Vector) -> tuple[Vector, float]:
    """(x, ρ_ε): the stationary point that the eigenvector x0 becomes for a small ρ_ε, no loading lost.

    Coordinate i is at a maximum of its own while ρ_ε < 2λBᵢᵢxᵢ²: ρ_ε starts at a tenth of the smallest of these and
    is divided by 8 until Newton's method converges, at most twelve times. With ρ_ε = 0 x0 itself is stationary.
    """
    value = pencil.A_quad(x0)
    rho_eps = 0.2 * value * float(np.min(pencil.B_diagonal * x0**2))
    for _ in range(12):
        x = newton(pencil, x0, value, rho_eps)
        if x is not None:
            return x, rho_eps
        rho_eps /= 8.0
    return x0, 0.0


def newton(pencil: Pencil, x0: Vector, mu: float, rho_eps: float) -> Vector | None:
    """Solve −2Ax + 2μBx + ρ_ε sign(x)/(|x| + ε) = 0, xᵀBx = 1 from (x0, μ); None if it leaves x0's signs or fails."""
    A, B = pencil.dense()
    n, x, signs, unit = pencil.n, x0, np.sign(x0), mu
    J = np.zeros((n + 1, n + 1))
    for _ in range(12):
        Bx = B @ x
        room = np.abs(x) + MACHINE_EPS
        residual = np.append(2.0 * (mu * Bx - A @ x) + rho_eps * signs / room, unit * (x @ Bx - 1.0))
        if float(np.max(np.abs(residual[:n]))) <= 1e-10 * float(np.max(np.abs(2.0 * mu * Bx))):
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
