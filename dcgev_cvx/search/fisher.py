"""Sparse Fisher discriminant analysis: its path in ν, a given number of variables, the LASSO behind it (Section 6).

A = aaᵀ has rank one, so the best vector on a support S is known: x_S ∝ B_SS⁻¹a_S, with the Fisher ratio (aᵀx)²/xᵀBx
= a_SᵀB_SS⁻¹a_S. Choosing S is best-subset regression.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from .._numerics.checks import Matrix, Vector, as_callback, as_number, as_numbers, as_vector, frozen, says_stop
from .._numerics.data_tables import class_means, in_row_order, read_labels, read_table, within
from ..errors import InvalidParameter
from ..mm import MMResult, Stop, minimize
from ..pencils import Gram, Pencil
from ..programs import MACHINE_EPS, SparseFDA
from ..solutions import Solution, solution_of
from ..steps.engines import engine_step
from .solve import solve


def fisher_path(
    a: Any,
    B: Any,
    nus: Sequence[float] | None = None,
    *,
    eps: float = MACHINE_EPS,
    solver: Any = "CLARABEL",
    stop: Stop | None = None,
    callback: Callable[[float, MMResult], Any] | None = None,
) -> FisherPath:
    """min xᵀBx + ν_ε Σ log(ε + |xᵢ|) s.t. aᵀx = 1 for growing ν, warm-started (Eq:fdastudent).

    Parameters
    ----------
    a : array_like
        The difference of the class means.
    B : array_like or Pencil
        The within-class scatter.
    nus : sequence of float or None
        The values of ν ≥ 0, run in increasing order. None for 25 values up to `nu_max`, doubled until one variable is
        left.
    eps : float
        ε of the penalty. At machine precision a variable that has left does not come back further along the path.
    solver : str or Backend
        The solver of each MM step.
    stop : Stop or None
        When a run ends.
    callback : callable or None
        Called with (ν, result) after each run; the path ends when it returns True.

    Returns
    -------
    FisherPath
        One run for each ν.

    Raises
    ------
    InvalidParameter
        For an empty nus or a negative ν.

    Examples
    --------
    >>> from dcgev_cvx import datasets, fda_vectors, fisher_path
    >>> X, y, support = datasets.two_gaussians(8, 2)
    >>> path = fisher_path(*fda_vectors(X, y), nus=[0.001, 0.01, 0.1])
    >>> path.cardinalities, path.missing
    ((8, 7, 3), (4, 5, 6))
    """
    program = SparseFDA(a, B, 0.0, eps)
    step = engine_step("FisherStep", program.pencil.n, engine="cvxpy", solver=solver, accelerate=None)
    grid = nu_grid(program) if nus is None else sorted(as_numbers(nus, "nus"))
    listener = as_callback(callback, "callback")
    runs: dict[float, MMResult] = {}
    x: Vector | None = None
    for nu in grid:
        runs[nu] = minimize(program.with_nu(nu), step, x, stop=stop)
        x = runs[nu].x
        stopped = listener is not None and says_stop(listener(nu, runs[nu]))
        if stopped or (nus is None and len(runs[nu].support) == 1):
            break
    return FisherPath(tuple(runs), tuple(runs.values()))


def nu_grid(program: SparseFDA) -> list[float]:
    """25 values in geometric progression up to nu_max, then up to 20 doublings.

    nu_max is a statement about ‖x‖₀; the penalty that takes its place may need more.
    """
    top = nu_max(program.a, program.pencil) or 1.0
    return [*(top * np.geomspace(1e-4, 1.0, 25)).tolist(), *(top * 2.0 ** np.arange(1, 21)).tolist()]


@dataclass(frozen=True)
class FisherPath:
    """Sparse FDA for growing ν, each run started where the last one ended.

    MM finds stationary points, so the cardinalities need not be monotone along the path, and not every k occurs on
    it.

    Parameters
    ----------
    nus : tuple of float
        The values of ν, increasing.
    runs : tuple of MMResult
        One run for each ν.

    Examples
    --------
    >>> from dcgev_cvx import datasets, fda_vectors, fisher_path
    >>> X, y, support = datasets.two_gaussians(8, 2)
    >>> [round(ratio, 2) for ratio in fisher_path(*fda_vectors(X, y), nus=[0.001, 0.1]).ratios]
    [2.29, 2.26]
    """

    nus: tuple[float, ...]
    runs: tuple[MMResult, ...]

    @property
    def cardinalities(self) -> tuple[int, ...]:
        """The number of nonzeros at each ν."""
        return tuple(len(run.support) for run in self.runs)

    @property
    def ratios(self) -> tuple[float, ...]:
        """The Fisher ratio (aᵀx)²/xᵀBx at each ν, the reciprocal of xᵀBx as aᵀx = 1; at most aᵀB⁻¹a."""
        return tuple(1.0 / run.program.pencil.B_quad(run.x) for run in self.runs)

    @property
    def missing(self) -> tuple[int, ...]:
        """The cardinalities in between that no ν of the path gives; `fisher_solve` finds them."""
        reached = set(self.cardinalities)
        return tuple(k for k in range(min(reached, default=0), max(reached, default=0)) if k not in reached)


def nu_max(a: Any, B: Any) -> float:
    """min Bᵢᵢ/aᵢ² − 1/(aᵀB⁻¹a): above it one variable minimises xᵀBx + ν‖x‖₀ (beyond the paper).

    Two or more variables cost at least 2ν + 1/(aᵀB⁻¹a), as the dense solution is the cheapest of all; the best single
    one costs ν + min Bᵢᵢ/aᵢ². 0 when one variable is already as good as all of them.

    Examples
    --------
    >>> from dcgev_cvx.search.fisher import nu_max
    >>> round(nu_max([1.0, 1.0], [[1.0, 0.0], [0.0, 2.0]]), 2)  # 1/1 alone, 1/(1 + ½) with both
    0.33
    """
    program = SparseFDA(a, B, 0.0)
    with np.errstate(divide="ignore", over="ignore"):
        single = float(np.min(program.pencil.B_diagonal / program.a**2))
    dense = program.start()
    return max(0.0, single - program.pencil.B_quad(dense))


def fisher_solve(a: Any, B: Any, k: int, *, names: Any = None) -> Solution:
    """max (aᵀx)²/xᵀBx with exactly k nonzeros (Eq:gevmin with ‖x‖₀ = k): `solve` on the pencil (aaᵀ, B).

    Parameters
    ----------
    a : array_like
        The difference of the class means.
    B : array_like or Pencil
        The within-class scatter.
    k : int
        The number of variables, 1 … n.
    names : sequence of str or None
        The variables' names, for the record; those of a Pencil B by default.

    Returns
    -------
    Solution
        x of unit B norm; value is the Fisher ratio a_SᵀB_SS⁻¹a_S of its support. No proof of optimality: for that,
        `exact.best_subset` takes the pencil of `fda_pencil`.

    Examples
    --------
    >>> from dcgev_cvx import datasets, fda_vectors, fisher_solve
    >>> X, y, support = datasets.two_gaussians(8, 2)
    >>> fisher_solve(*fda_vectors(X, y), k=2).support == support
    True
    """
    begin = perf_counter()
    program = SparseFDA(a, B, 0.0)
    pencil = Pencil(Gram(program.a[None, :]), program.pencil.B, program.pencil.names if names is None else names)
    found = solve(pencil, k, check_path=False)
    support, x = np.array(found.support), np.zeros(pencil.n)
    x[support] = np.linalg.solve(pencil.B_sub(support), program.a[support])
    return solution_of(pencil, x, found.method, perf_counter() - begin)


@dataclass(frozen=True)
class LeastSquaresForm:
    """Two-class FDA as least squares: min (1/m)Σ(tᵢ − β − xᵀφᵢ)² + λ‖x‖₁ over x and the offset β (Section 6, remark).

    With t = m/m₁ on class 1 and −m/m₂ on class 2, of mean zero, (1/m)Σ tᵢφᵢ = μ₁ − μ₂ = a, and the total covariance
    is B + π aaᵀ with B the pooled within-class covariance and π = m₁m₂/m². So the loss is xᵀ(B + π aaᵀ)x − 2aᵀx
    plus a constant; β takes up the means. For classes of equal size B is half the paper's Σ₁ + Σ₂.
    """

    t: Vector
    a: Vector
    B: Matrix
    pi: float

    def lasso_of(self, z: Any, nu: float) -> tuple[float, Vector]:
        """(λ, x): if z minimises zᵀBz + ν‖z‖₁ s.t. aᵀz = 1, then x = sz minimises the LASSO with λ = νs.

        On aᵀx = s the LASSO is s²(zᵀBz + (λ/s)‖z‖₁) + a function of s, so its z is the FDA solution at ν = λ/s, and
        s = 2/(2zᵀBz + 2π + ν‖z‖₁) makes the derivative in s vanish.
        """
        z = as_vector(z, len(self.a), "z")
        nu = as_number(nu, "nu")
        s = 2.0 / (2.0 * float(z @ self.B @ z) + 2.0 * self.pi + nu * float(np.sum(np.abs(z))))
        return nu * s, s * z

    def fisher_of(self, x: Any, lam: float) -> tuple[float, Vector]:
        """(ν, z), the inverse: z = x/(aᵀx) and ν = λ/(aᵀx) for a LASSO solution x ≠ 0, which has aᵀx > 0."""
        x, lam = as_vector(x, len(self.a), "x"), as_number(lam, "lambda")
        s = float(self.a @ x)
        if not s > 0.0:
            raise InvalidParameter(f"aᵀx = {s:g}: lambda = {lam:g} leaves nothing of x; take a smaller one.")
        return lam / s, x / s


def least_squares_form(X: Any, y: Any, *, ridge: float = 0.0) -> LeastSquaresForm:
    """FDA's data as a regression: targets t, a = μ₁ − μ₂, the pooled covariance B and π (Section 6, remark).

    Parameters
    ----------
    X : array_like
        Samples, one per row.
    y : array_like
        Labels of two classes; class 1 is the first label in sorted order. A pandas Series is matched to a frame by
        the labels of the rows.
    ridge : float
        ≥ 0, added to B; the loss then has ridge‖x‖² added, and the equivalence stays.

    Returns
    -------
    LeastSquaresForm
        t, a, B and π, with the maps between FDA and LASSO solutions.

    Examples
    --------
    >>> from dcgev_cvx import datasets, least_squares_form
    >>> X, y, _ = datasets.two_gaussians(4, 2, samples=10)
    >>> form = least_squares_form(X, y)
    >>> form.pi, sorted(set(form.t.tolist()))
    (0.25, [-2.0, 2.0])
    """
    table = read_table(X)
    labels = read_labels(in_row_order(X, y, "X", "y"), table.m)
    if len(labels.classes) != 2:
        raise InvalidParameter(f"y has {len(labels.classes)} classes: the equivalence holds for two.")
    m1, m2 = (int(count) for count in labels.counts)
    t = np.where(labels.codes == 0, table.m / m1, -table.m / m2)
    means = class_means(table, labels)
    B = within(table, labels, labels.counts / table.m, as_number(ridge, "ridge"))
    return LeastSquaresForm(frozen(t), frozen(means[0] - means[1]), frozen(B), m1 * m2 / table.m**2)
