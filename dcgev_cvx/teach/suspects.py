"""The exercise `suspect`: three steps of (ALG) with a general B, one of them wrong."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from .._numerics.checks import Vector, shown
from ..errors import DCGEVError
from ..pencils import Pencil
from ..programs import SparseGEV
from .guarded_calls import Unusable
from .verdicts import Verdict, judge_step


def suspect_a(A: Any, B: Any, y: Any, rho: float, eps: float, tau: float) -> Vector:
    """One of three steps; at most one is wrong."""
    from ..steps.native import native_step

    program = SparseGEV(Pencil(A, B), rho, eps, tau)
    return native_step(program, program.start(y)).x


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


SUSPECTS: Mapping[str, Callable[..., Vector]] = MappingProxyType({"a": suspect_a, "b": suspect_b, "c": suspect_c})
"""Three steps (A, B, y, rho, eps, tau) → x for the exercise `suspect`."""


def read_suspect(answer: Any) -> Any:
    """(letter, program, y) from (letter, A, B, y, rho, eps, tau)."""
    if not isinstance(answer, (tuple, list)) or len(answer) != 7:
        raise Unusable(f"The answer must be (letter, A, B, y, rho, eps, tau), got {shown(answer)}.")
    letter, A, B, y, rho, eps, tau = answer
    if letter not in SUSPECTS:
        raise Unusable(f"The letter {shown(letter)} is not one of {', '.join(SUSPECTS)}.")
    try:
        program = SparseGEV(Pencil(A, B), rho, eps, tau)
        return letter, program, program.start(y)
    except DCGEVError as error:
        raise Unusable(f"This is not a problem of the kind: {error}") from None


def judge_suspect(found: Any) -> Verdict:
    """Is the suspect's answer to the student's problem not the minimiser?"""
    letter, program, y = found
    x = SUSPECTS[letter](*program.pencil.dense(), y, program.rho, program.eps, program.tau)
    verdict = judge_step(program, y, x, tol=1e-6)
    if not verdict:
        return Verdict(True, f"step {letter} is caught. {verdict.why}")
    _, B = program.pencil.dense()
    diagonal = np.array_equal(B, np.diag(np.diag(B)))
    advice = "B is diagonal here: what else may it be?" if diagonal else "Try another problem, or another letter."
    return Verdict(False, f"Step {letter} is right here ({verdict.why}). {advice}")
