"""A wrapper that makes a run faster: extrapolation between the steps, which keeps descent."""

import math
from dataclasses import replace
from typing import Any

import numpy as np

from .._numerics.checks import Index, Matrix, Vector, frozen, shown
from ..errors import InvalidParameter
from .step import AnyStep, StepOutput, own_copy, taken

BOUNDARY = 0.9
"""A stride goes at most this far towards the first change of sign."""


class Accelerated:
    """Extrapolation of the MM map, accepted only where f is lower: fewer steps to the same kind of point.

    Two proposals are made on the support of y, and the first with an f below f(y) is taken. Anderson's: from the last
    pairs (yᵢ, xᵢ = argmin g(·, yᵢ)) the combination Σ αᵢxᵢ, Σ αᵢ = 1, whose residual Σ αᵢ(xᵢ − yᵢ) is smallest. A
    longer step: x + t(x − y) along the last move, t doubled after each success. Both keep the zeros and signs of x
    and are scaled into Ω. At most `memory` pairs are kept; a change of the zeros drops all but the last, because the
    MM map is smooth only between two changes of the support. One instance serves one run. A program without the method
    project(x) is given plain steps.

    Descent is kept: f(z) < f(y) by the test, and the step from z lowers f further, so that the sandwich inequality
    holds with z in the place of y; the history records it as `origin`.
    """

    def __init__(self, inner: AnyStep, memory: int = 6) -> None:
        self.inner = inner
        self.memory = memory
        self._pairs: list[tuple[Vector, Vector]] = []
        self._zeros = b""
        self._stride = 1.0

    def __call__(self, program: Any, y: Vector) -> StepOutput:
        """A plain step from y, or from a point with a lower f."""
        zeros = (y == 0.0).tobytes()
        if zeros != self._zeros:
            self._zeros, self._pairs = zeros, self._pairs[-1:]
        known = bool(self._pairs) and np.array_equal(self._pairs[-1][1], y)
        ahead = known and y.any() and hasattr(program, "project")
        origin = self._extrapolated(program, y) if ahead else None
        start = y if origin is None else origin
        out = taken(self.inner, program, start)
        self._pairs = [*(self._pairs if known else []), (start, own_copy(out.x, y))][-self.memory :]
        return out if origin is None else replace(out, origin=origin)

    def _extrapolated(self, program: Any, y: Vector) -> Vector | None:
        support = np.flatnonzero(y)
        images = np.array([x[support] for _, x in self._pairs])
        moves = images - np.array([origin[support] for origin, _ in self._pairs])
        lowest = program.f(y)
        ahead = anderson_combination(images, moves)
        if ahead is not None:
            z = proposal(program, ahead, support, len(y))
            if program.f(z) < lowest:
                return z
        length = min(self._stride, BOUNDARY * room(images[-1], moves[-1]))
        z = proposal(program, images[-1] + length * moves[-1], support, len(y))
        lower = program.f(z) < lowest
        # doubled after a success, halved after a failure, but never shorter than the step itself
        self._stride = 2.0 * self._stride if lower else max(1.0, 0.5 * length)
        return z if lower else None


def anderson_combination(images: Matrix, moves: Matrix) -> Vector | None:
    """Anderson's combination of the images whose move is smallest, unless a sign would change or nothing is known."""
    if len(images) < 2:
        return None
    # moves that are nearly parallel say the same thing: uncut, their small differences would get huge coefficients
    gamma = np.linalg.lstsq((moves[1:] - moves[:-1]).T, moves[-1], rcond=1e-10)[0]
    ahead = images[-1] - gamma @ (images[1:] - images[:-1])
    # the MM map is smooth only where no sign changes
    return ahead if np.all(np.sign(ahead) * images[-1] > 0.0) else None


def room(x: Vector, move: Vector) -> float:
    """The largest t for which x + t·move keeps the signs of x."""
    speed = float(np.max(-move / x))
    return 1.0 / speed if speed > 0.0 else math.inf


def proposal(program: Any, part: Vector, support: Index, n: int) -> Vector:
    """The point with these entries, brought into Ω."""
    z = np.zeros(n)
    z[support] = part
    x: Any = program.project(z)
    if not isinstance(x, np.ndarray) or x.shape != z.shape or not np.isfinite(x).all():
        raise InvalidParameter(f"{type(program).__name__}.project(x) must return a vector like x; got {shown(x)}.")
    return frozen(np.array(x, dtype=np.float64))
