"""Two wrappers that make any step faster and change nothing else: shrinking and safeguarded extrapolation."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from ..checks import Index, Vector
from ..programs import Program, SparseFDA, SparseGEV
from .base import Step, StepOutput


class Shrinking:
    """Solve each step on the support of y alone where zeros are absorbing, as they are at tiny ε.

    A zero of y has the slope ρ_ε/ε; when that exceeds every slope that a nonzero could have, xᵢ
    stays zero in this and all later steps. Rows and columns of A, B or C are then dropped, and
    work and memory follow the support. One instance serves one run.

    The value is corrected by φ(0) for each dropped variable, so that f and g are those of the full program. When a
    support grows again (a new start, a larger ε) the full program is restored.

    Examples
    --------
    >>> from dcgev_cvx import SparseGEV, datasets
    >>> from dcgev_cvx.mm import minimize
    >>> from dcgev_cvx.steps.closed import soft_threshold_step
    >>> from dcgev_cvx.steps.speedups import Shrinking
    >>> program = SparseGEV(datasets.pitprops(), rho=4.84)
    >>> minimize(program, Shrinking(soft_threshold_step)).support == minimize(program, soft_threshold_step).support
    True
    """

    def __init__(self, inner: Step) -> None:
        self.inner = inner
        self._full: Program | None = None
        self._small: Program | None = None
        self._support: Index = np.arange(0)

    def __call__(self, program: Program, y: Vector) -> StepOutput:
        """The same argmin, from the restricted program."""
        small = self._restricted(program, y)
        if small is program:
            return self.inner(program, y)
        out = self.inner(small, y[self._support])
        zeros = program.pencil.n - len(self._support)
        return replace(
            out,
            x=self._embed(out.x, program.pencil.n),
            value=out.value + zeros * program.at_zero()[0],
            origin=None if out.origin is None else self._embed(out.origin, program.pencil.n),
            work=out.work * share(program, len(self._support)),
        )

    def _restricted(self, program: Program, y: Vector) -> Program:
        if program is not self._full:
            self._full, self._small = program, program
            self._support = np.arange(program.pencil.n)
        assert self._small is not None
        support = np.flatnonzero(y)
        # restricting copies a submatrix, which pays only when the support has shrunk by much
        if 0 < len(support) < 0.7 * len(self._support) and absorbing(program, y):
            self._support, self._small = support, program.restrict(support)
        elif np.count_nonzero(y[self._support]) < len(support):
            self._support, self._small = np.arange(program.pencil.n), program
        return self._small

    def _embed(self, x: Vector, n: int) -> Vector:
        full = np.zeros(n)
        full[self._support] = x
        return full


def absorbing(program: Program, y: Vector) -> bool:
    """Does a zero stay zero in every step of a descending run through y: is the slope at 0 above every θᵢ?

    GEV: θᵢ ≤ 4√Bᵢᵢ‖c‖_{B⁻¹}, and ‖(A + τI)y‖_{B⁻¹} ≤ (n·max|A| + τ)/λmin(B) for yᵀBy ≤ 1.
    FDA: θᵢ = 2F|aᵢ| + 2√(BᵢᵢF), and F = yᵀBy + pᵀ|y| ≤ f(y) − nφ(0), since tφ'(t) ≤ φ(t) − φ(0).
    Crude bounds do: at tiny ε the slope is larger by many orders.
    """
    value, slope = program.at_zero()
    pencil = program.pencil
    root = math.sqrt(pencil.B_scale)
    if isinstance(program, SparseFDA):
        F = program.f(y) - pencil.n * value
        return slope > 2.0 * F * float(np.max(np.abs(program.a))) + 2.0 * root * math.sqrt(F)
    if not isinstance(program, SparseGEV):
        return False
    shift = program.tau if program.shift == "identity" else program.tau * pencil.B_scale
    return slope > 4.0 * root * (pencil.n * pencil.A_scale + shift) / pencil.smallest_B


def share(program: Program, size: int) -> float:
    """What a product with A on `size` variables costs, as a share of a full one.

    Dense A: the square of the part, as rows and columns are dropped; a factor C loses columns only.
    """
    part = size / program.pencil.n
    dense = isinstance(program.pencil.A, np.ndarray)
    return part * part if dense else part


class Accelerated:
    """Anderson extrapolation of the MM map, taken only where f is lower: fewer steps to the same kind of point.

    From the last pairs (yᵢ, xᵢ = argmin g(·, yᵢ)) with one support, the combination Σ αᵢxᵢ, Σ αᵢ = 1,
    whose residual Σ αᵢ(xᵢ − yᵢ) is smallest is where a linearly convergent sequence is heading. It keeps
    the zeros and signs of the last x, is scaled into Ω, and must have a lower f. One instance, one run.

    Descent is kept: f(z) < f(y) by the test, and the step from z lowers f further, so the sandwich
    inequality holds with z in the place of y; the history records it as `origin`.

    memory is the most pairs that are kept, six by default; a change of the zeros empties it, because the
    MM map is smooth only between two changes of the support.
    """

    def __init__(self, inner: Step, memory: int = 6) -> None:
        self.inner = inner
        self.memory = memory
        self._pairs: list[tuple[Vector, Vector]] = []
        self._zeros = b""

    def __call__(self, program: Program, y: Vector) -> StepOutput:
        """A plain step from y, or from a point with a lower f."""
        zeros = (y == 0.0).tobytes()
        if zeros != self._zeros:
            self._zeros, self._pairs = zeros, []
        origin = self._extrapolated(program, y)
        start = y if origin is None else origin
        out = self.inner(program, start)
        self._pairs.append((start, out.x))
        del self._pairs[: -self.memory]
        return out if origin is None else replace(out, origin=origin)

    def _extrapolated(self, program: Program, y: Vector) -> Vector | None:
        if len(self._pairs) < 2 or self._pairs[-1][1] is not y:
            return None
        support = np.flatnonzero(y)
        images = np.array([x[support] for _, x in self._pairs])
        moves = images - np.array([origin[support] for origin, _ in self._pairs])
        gamma = np.linalg.lstsq((moves[1:] - moves[:-1]).T, moves[-1], rcond=1e-10)[0]
        ahead = images[-1] - gamma @ (images[1:] - images[:-1])
        # a changed sign would leave the face on which the extrapolation is valid
        if not np.all(ahead * images[-1] > 0.0):
            return None
        z = np.zeros_like(y)
        z[support] = ahead
        z = into_domain(program, z)
        return z if program.f(z) < program.f(y) else None


def into_domain(program: Program, z: Vector) -> Vector:
    """z scaled into Ω."""
    if isinstance(program, SparseFDA):
        return z / float(program.a @ z)
    norm = program.pencil.B_norm(z)
    return z / norm if norm > 1.0 else z
