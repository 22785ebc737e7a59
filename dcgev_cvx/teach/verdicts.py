"""Verdicts: is a function a majoriser, is a vector the minimiser of a step?"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from .._numerics.checks import Vector, as_generator, as_number, as_vector, as_whole, frozen, shown
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


def majorises(
    program: SparseGEV, g: Surrogate, *, trials: int = 200, random_state: int = 0, name: str = "g"
) -> Verdict:
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
    name : str
        What the verdict calls the function.

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
    expect_program(program)
    drawn = trial_points(program, as_whole(trials, "trials", high=10**6), random_state)
    if not callable(g):
        raise InvalidParameter(f"g = {shown(g)} must be a function g(x, y).")
    values = ([as_number(g(x, points[0]), "g", low=-1e300) for x in points] for points in drawn)
    verdicts = (judge_trial(program, points, row, name) for points, row in zip(drawn, values, strict=True))
    return all_of(verdicts, f"it touches, lies above and is convex in {len(drawn)} random trials")


def trial_points(program: SparseGEV, trials: int, random_state: int = 0) -> list[tuple[Vector, ...]]:
    """Random (y, x, z, midpoint of x and z) in Ω, x near y and far from it; an answer cannot write to them."""
    generator, points = as_generator(random_state), []
    for trial in range(trials):
        y, x, z = (random_point(program, generator) for _ in range(3))
        x = frozen(y + 10.0 ** (-(trial % 4)) * (x - y))  # Ω is convex
        points.append((y, x, z, frozen(0.5 * (x + z))))
    return points


def judge_trial(program: SparseGEV, points: Sequence[Vector], values: Sequence[float], name: str = "g") -> Verdict:
    """The first of the three properties that fails, from the values of g(·, y) at the points (y, x, z, midpoint)."""
    (y, x, z, _), (at_y, at_x, at_z, middle) = points, values
    slack = 1e-8 * (1.0 + program.size(y) + program.size(x))
    f_y, f_x, mean = program.f(y), program.f(x), 0.5 * (at_x + at_z)
    if not np.isfinite(values).all():
        i = int(np.argmin(np.isfinite(values)))
        words = f"{name} returns {values[i]:g} at x = {text(points[i])}, y = {text(y)}, which is not a finite number."
    elif abs(at_y - f_y) > slack:
        words = f"It does not touch: {name}(y, y) = {at_y:.6g}, but f(y) = {f_y:.6g} at y = {text(y)}."
    elif f_x - at_x > slack:
        words = f"It cuts f: {name}(x, y) = {at_x:.6g} < f(x) = {f_x:.6g} at x = {text(x)}, y = {text(y)}."
    elif middle > mean + slack:
        words = f"It is not convex: between x = {text(x)} and {text(z)} it takes {middle:.6g} > {mean:.6g}."
    else:
        return Verdict(True, "it touches, lies above and is convex")
    return Verdict(False, words)


def random_point(program: SparseGEV, generator: np.random.Generator) -> Vector:
    """A point of Ω, some of its entries zero."""
    n = program.pencil.n
    x = generator.standard_normal(n) * (generator.random(n) < 0.8)
    norm = program.pencil.B_norm(x)
    return frozen(x * generator.random() / norm if norm > 0.0 else x)


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
    where = f"from y = {text(y)}, ρ̃ = {program.rho:g}, ε = {program.eps:g}"
    if program.violation(x) > tol:
        return Verdict(False, f"xᵀBx = {program.pencil.B_quad(x):.6g} > 1 {where}.")
    residual = max(step_residuals(program, y, x))
    if residual <= tol:
        return Verdict(True, f"KKT residual {residual:.1e} {where}")
    return Verdict(False, f"{failing_row(program, y, x)} {where}.")


def failing_row(program: SparseGEV, y: Vector, x: Vector) -> str:
    """The row of the KKT conditions of the step from y that x violates most, with its numbers.

    Rows: 2τxᵢ − 2cᵢ + 2μ(Bx)ᵢ + pᵢ sign xᵢ = 0 where xᵢ ≠ 0, and |2τxᵢ − 2cᵢ + 2μ(Bx)ᵢ| ≤ pᵢ where xᵢ = 0.
    """
    p, smooth = program.slopes(y), 2.0 * (program.H_dot(x) - program.linear(y))
    mu = 0.0 if program.slack(x) > 1e-9 else program.multiplier(x, smooth, p)  # 0 inside Ω
    rest = smooth + 2.0 * mu * program.normal(x)
    gaps = np.where(x != 0.0, np.abs(rest + p * np.sign(x)), np.maximum(0.0, np.abs(rest) - p))
    i = int(np.argmax(gaps))
    if x[i] != 0.0:
        equation = f"2τxᵢ − 2cᵢ + 2μ(Bx)ᵢ + pᵢ sign xᵢ = {rest[i] + p[i] * np.sign(x[i]):.4g}, not 0"
    else:
        equation = f"|2τxᵢ − 2cᵢ + 2μ(Bx)ᵢ| = {abs(rest[i]):.4g} > pᵢ = {p[i]:.4g}"
    return f"KKT row i = {i + 1} at x = {text(x)}: {equation} (μ = {mu:.4g}),"


def all_of(verdicts: Iterable[Verdict], words: str) -> Verdict:
    """The first failure, or success in these words."""
    for verdict in verdicts:
        if not verdict:
            return verdict
    return Verdict(True, words)
