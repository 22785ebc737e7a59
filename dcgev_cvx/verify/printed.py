"""The printed iteration, step by step with exact steps: the yardstick of "reached in time" (Algorithms 1 and 2).

It is no reference: any stationary point below the start passes. It says which cases a right solver reaches soon.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from .._numerics.checks import Matrix, Vector
from ..pencils import Pencil
from ..programs import SparseGEV
from ..steps.polish import polish, surrogate_at
from .instances import Instance

SETTLED = 1e-9
"""A run stands still when its last step moved x by no more, in the B norm."""


@dataclass(frozen=True)
class Run:
    """The printed iteration from a start: where it ended, in how many steps, how fast at the end.

    rate is the factor by which the last steps shrank: near 1 the run is slow, and a loose stop rule ends far from
    the limit.
    """

    x: Vector
    steps: int
    rate: float
    settled: bool


def exact_step(program: Any, y: Vector, faces: dict[bytes, Spectrum]) -> Vector:
    """The minimiser of the surrogate: (ALG-S) for B = I and τ = 0, else on the face of y or by the active-set walk.

    Independent of the steps under test but for `polish`, whose answers are certified elsewhere.
    """
    c = program.linear(y)
    if not c.any():
        return np.zeros_like(y)
    if program.pencil.B is None and program.tau == 0.0:
        z = np.sign(c) * np.maximum(0.0, np.abs(c) - 0.5 * program.slopes(y))
        return z / max(float(np.linalg.norm(z)), 1e-300)
    same = on_same_face(program, y, c, faces)
    if same is not None:
        return same
    surrogate = surrogate_at(program, y)
    return surrogate.scaling.vector(polish(surrogate, y / surrogate.scaling.u).x)


def on_same_face(program: Any, y: Vector, c: Vector, faces: dict[bytes, Spectrum]) -> Vector | None:
    """The minimiser if it has the support and signs of y, as it does near a limit; else None.

    On a face (H + μB)x = h with h = c − ½p∘sign(y) and H = τI or τB: with B = QΛQᵀ, kept for the face, x is known up
    to the number μ. None when a sign changes, a zero would have to come in, or μ is not found to the last digits.
    """
    p, on = program.slopes(y), y != 0.0
    if not on.any():
        return None
    signs = np.sign(y[on])
    key, metric = on.tobytes(), program.shift == "metric"
    if key not in faces:
        faces[key] = Spectrum.of(program.pencil.B, on)
    z, mu = faces[key].minimiser(c[on] - 0.5 * p[on] * signs, program.tau, metric=metric)
    if mu is None or np.any(z * signs <= 0.0):
        return None
    x = np.zeros_like(y)
    x[on] = z
    Bx = x if program.pencil.B is None else program.pencil.B @ x
    r = 2.0 * c - 2.0 * (program.tau * (Bx if metric else x) + mu * Bx)
    return x if np.all(np.abs(r[~on]) <= p[~on]) else None


@dataclass(frozen=True)
class Spectrum:
    """QΛQᵀ of B on a face."""

    values: Vector
    vectors: Matrix

    @staticmethod
    def of(B: Matrix | None, on: Any) -> Spectrum:
        """The spectrum of B on the variables that are on."""
        k = int(np.count_nonzero(on))
        return Spectrum(np.ones(k), np.eye(k)) if B is None else Spectrum(*np.linalg.eigh(B[np.ix_(on, on)]))

    def minimiser(self, h: Vector, tau: float, *, metric: bool) -> tuple[Vector, float | None]:
        """(x, μ) of min xᵀHx − 2hᵀx s.t. xᵀBx ≤ 1, H = τI or τB; μ is None where Newton's method does not settle.

        Newton on ‖x(μ)‖_B⁻¹, which is concave and rising in μ: from the left it comes to the root and not beyond.
        """
        t, values = self.vectors.T @ h, self.values
        start = tau * values if metric else np.full_like(values, tau)
        mu = 0.0
        if tau == 0.0 or metric:  # B⁻¹h alone is needed: its norm is τ + μ
            norm = float(np.sqrt(np.sum(t * t / values)))
            mu = max(0.0, norm - tau)
        elif float(np.sum(values * (t / start) ** 2)) > 1.0:
            for _ in range(60):
                w = t / (start + mu * values)
                square, slope = (
                    float(np.sum(values * w * w)),
                    float(np.sum((values * w) ** 2 / (start + mu * values))),
                )
                step = square * (np.sqrt(square) - 1.0) / slope
                mu = max(0.0, mu + step)
                if abs(step) <= 1e-15 * mu:
                    break
            else:
                return h, None
        below = start + mu * values
        return (self.vectors @ (t / below), mu) if np.all(below > 0.0) else (h, None)


def settles(instance: Instance, limit: int) -> bool:
    """Does Algorithm 1 settle in time in both splits, τI and τB? Either is a right way to the limit."""
    shifts = ("identity",) if instance.level == "pca" else ("metric", "identity")
    return all(printed_run(instance, limit, shift).settled for shift in shifts)


def printed_run(instance: Instance, limit: int, shift: Literal["identity", "metric"] = "identity") -> Run:
    """Algorithm 1 (or 2) as printed, with the least τ, until x moves by less than SETTLED.

    This is the yardstick of "reached in time", not a reference: any stationary point below the start passes.
    Kept with the instance, as several conditions ask for it.
    """
    key = f"run {limit} {shift}"
    if key not in instance.cache:
        instance.cache[key] = iterated(instance, limit, shift)
    return instance.cache[key]


def iterated(instance: Instance, limit: int, shift: Literal["identity", "metric"]) -> Run:
    """The iteration itself."""
    B = None if instance.level == "pca" else instance.B
    program = SparseGEV(Pencil(instance.data["A"], B), instance.data["rho"], instance.data["eps"], shift=shift)
    y, moves, faces = instance.data["x0"], list[float](), dict[bytes, Spectrum]()
    for count in range(1, limit + 1):
        x = exact_step(program, y, faces)
        moves.append(program.pencil.B_norm(x - y))
        y = x
        if moves[-1] <= SETTLED:
            return Run(y, count, rate_of(moves), settled=True)
    return Run(y, limit, rate_of(moves), settled=False)


def rate_of(moves: list[float]) -> float:
    """The factor by which the last steps shrank."""
    tail = [move for move in moves if move > SETTLED][-20:]
    return (tail[-1] / tail[0]) ** (1.0 / (len(tail) - 1)) if len(tail) > 1 else 0.0
