"""Three steps of (ALG), of which at most one is wrong: the exercise `suspect` asks which."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

import numpy as np

from .._numerics.checks import Vector
from ..pencils import Pencil
from ..programs import SparseGEV


def suspect_a(A: Any, B: Any, y: Any, rho: float, eps: float, tau: float) -> Vector:
    """One of three steps; at most one is wrong."""
    from ..steps.native import native_step

    program = SparseGEV(Pencil(A, B), rho, eps, tau)
    return native_step(program)(program, program.start(y)).x


def suspect_b(A: Any, B: Any, y: Any, rho: float, eps: float, tau: float) -> Vector:
    """One of three steps; at most one is wrong."""
    program = SparseGEV(Pencil(A, B), rho, eps, tau)
    c, p, diagonal = program.linear(y), program.slopes(y), program.pencil.B_diagonal
    z = np.sign(c) * np.maximum(0.0, np.abs(c) - 0.5 * p)
    low, high = 0.0, float(np.linalg.norm(z / np.sqrt(diagonal))) + 1.0
    for _ in range(200):
        mu = 0.5 * (low + high)
        inside = float(np.sum(diagonal * (z / (tau + mu * diagonal)) ** 2)) < 1.0
        low, high = (low, mu) if inside else (mu, high)
    return z / (tau + high * diagonal)


def suspect_c(A: Any, B: Any, y: Any, rho: float, eps: float, tau: float) -> Vector:
    """One of three steps; at most one is wrong."""
    from ..steps.conic import QCQPStep

    program = SparseGEV(Pencil(A, B), rho, eps, tau)
    return QCQPStep()(program, program.start(y)).x


SUSPECTS = MappingProxyType({"a": suspect_a, "b": suspect_b, "c": suspect_c})
"""Three steps (A, B, y, rho, eps, tau) → x for the exercise `suspect`."""
