"""Verdicts: is a function a majoriser, is a vector the minimiser of a step?"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from .._numerics.checks import Vector, as_generator, as_number, as_vector, as_whole, shown
from ..certificates import step_residuals
from ..errors import InvalidParameter
from ..programs import SparseGEV, expect_program

Surrogate: TypeAlias = Callable[[Vector, Vector], float]


@dataclass(frozen=True)
class Verdict:
    """Right or not, and the number that shows it.

    Parameters
    ----------
    ok : bool
        Whether the answer is right; also the truth value of the verdict.
    why : str
        The reason.

    Examples
    --------
    >>> from dcgev_cvx.teach import Verdict
    >>> print(Verdict(False, "x\u1d40x = 2 > 1"))
    not yet: x\u1d40x = 2 > 1
    """

    ok: bool
    why: str

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        return f"{'right' if self.ok else 'not yet'}: {self.why}"


def majorises(program: SparseGEV, g: Surrogate, *, trials: int = 200, random_state: int = 0) -> Verdict:
    """Test whether g is a usable majoriser of f: g(y, y) = f(y), g(x, y) ≥ f(x), and convex in x (Eq:maj-step).

    It is tried on random points of Ω, some with zeros, x near y and far from it. This is no proof, but wrong ones
    rarely pass.

    Parameters
    ----------
    program : SparseGEV
        The program whose f is to be majorised.
    g : callable
        A function g(x, y) that returns a number.
    trials : int
        The number of random trials.
    random_state : int
        The seed of the random points.

    Returns
    -------
    Verdict
        A failure names the points.

    Examples
    --------
    >>> import numpy as np
    >>> from dcgev_cvx import Pencil, SparseGEV, teach
    >>> program = SparseGEV(Pencil(np.diag([2.0, 1.0])), rho=0.5, eps=0.1)
    >>> bool(teach.majorises(program, program.g))
    True
    """
    generator = as_generator(random_state)
    expect_program(program)
    if not callable(g):
        raise InvalidParameter(f"g = {shown(g)} must be a function g(x, y).")
    for trial in range(as_whole(trials, "trials", high=10**6)):
        y, x, z = (random_point(program, generator) for _ in range(3))
        x = frozen(y + 10.0 ** (-(trial % 4)) * (x - y))  # Ω is convex
        at_y, at_x, at_z, middle = (as_number(g(p, y), "g", low=-1e300) for p in (y, x, z, frozen(0.5 * (x + z))))
        slack = 1e-8 * (1.0 + program.size(y) + program.size(x))
        below = program.f(x) - at_x
        if abs(at_y - program.f(y)) > slack:
            words = f"it does not touch: g(y, y) = {at_y:.6g}, f(y) = {program.f(y):.6g} at y = {text(y)}"
        elif below > slack:
            words = f"it cuts f: g(x, y) = {at_x:.6g} lies {below:.1g} below f(x) at x = {text(x)}, y = {text(y)}"
        elif middle > 0.5 * (at_x + at_z) + slack:
            words = f"it is not convex between x = {text(x)} and {text(z)}, y = {text(y)}"
        else:
            continue
        return Verdict(False, words)
    return Verdict(True, f"it touches, lies above and is convex in {trials} random trials")


def random_point(program: SparseGEV, generator: np.random.Generator) -> Vector:
    """A point of Ω, some of its entries zero."""
    n = program.pencil.n
    x = generator.standard_normal(n) * (generator.random(n) < 0.8)
    norm = program.pencil.B_norm(x)
    return frozen(x * generator.random() / norm if norm > 0.0 else x)


def frozen(x: Vector) -> Vector:
    """A copy that cannot be written to: an answer that changes its arguments is told so by NumPy."""
    copy = x.copy()
    copy.flags.writeable = False
    return copy


def text(x: Vector) -> str:
    """A short vector for a sentence."""
    return "(" + ", ".join(f"{value + 0.0:.3g}" for value in x) + ")"  # −0 + 0 is 0


def judge_step(program: SparseGEV, y: Vector, x: Any, tol: float = 1e-7) -> Verdict:
    """Test whether x = argmin g(·, y) over Ω, by its KKT residual (ALG).

    Parameters
    ----------
    program : SparseGEV
        The program of the step.
    y : array
        The previous iterate.
    x : array
        The answer.
    tol : float
        The largest residual, and the largest violation of xᵀBx ≤ 1, that is allowed.

    Returns
    -------
    Verdict
        With the residual.

    Examples
    --------
    >>> import numpy as np
    >>> from dcgev_cvx import Pencil, SparseGEV, teach
    >>> program = SparseGEV(Pencil(np.diag([2.0, 1.0])), rho=0.0)
    >>> bool(teach.judge_step(program, [0.0, 1.0], [0.0, 1.0]))
    True
    """
    n = expect_program(program).pencil.n
    x, y, tol = as_vector(x, n, "x"), as_vector(y, n, "y"), as_number(tol, "tol")
    if program.violation(x) > tol:
        return Verdict(False, f"xᵀBx = {program.pencil.B_quad(x):.6g} > 1 from y = {text(y)}")
    residual = max(step_residuals(program, y, x))
    words = f"KKT residual {residual:.1e} from y = {text(y)}, ρ̃ = {program.rho:g}, ε = {program.eps:g}"
    return Verdict(residual <= tol, words)


def all_of(verdicts: Iterable[Verdict], words: str) -> Verdict:
    """The first failure, or success in these words."""
    for verdict in verdicts:
        if not verdict:
            return verdict
    return Verdict(True, words)
