"""Sparse Fisher discriminant analysis: its path in ν, a given number of variables, the LASSO behind it (Section 6).

A = aaᵀ has rank one, so the best vector on a support S is known: x_S ∝ B_SS⁻¹a_S, with the
Fisher ratio (aᵀx)²/xᵀBx = a_SᵀB_SS⁻¹a_S. Choosing S is best-subset regression, and what one
variable more or less is worth has a closed form.

If S gains the variable j, a_SᵀB_SS⁻¹a_S rises by (aⱼ − B_jS x)²/(Bⱼⱼ − B_jS B_SS⁻¹B_Sj), the square of what S
leaves of aⱼ over the variance of j that S does not explain; if S loses i it falls by xᵢ²/(B_SS⁻¹)ᵢᵢ. Both
are the block inverse formula, and both make greedy search and exchanges cheap.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from time import perf_counter
from typing import Any

import numpy as np

from .._numerics.checks import (
    Index,
    Matrix,
    Vector,
    as_callback,
    as_number,
    as_numbers,
    as_vector,
    checked_names,
    frozen,
    says_stop,
    shown,
)
from .._numerics.data_tables import Labels, Table, class_means, read_labels, read_table, within
from ..certificates import Solution, checked_k, solution_of
from ..errors import InvalidParameter
from ..mm import MMResult, Stop, minimize
from ..programs import MACHINE_EPS, SparseFDA

BACKWARD_LIMIT = 600
"""Backward elimination starts from all variables and takes n³ work: up to this n it is tried."""
SEEDS = 30
"""Forward selection starts from each of this many best single variables."""
DROPS = 12
"""How many of the cheapest members an exchange considers."""
PAIR_LIMIT = 60
"""Up to this many variables members are also exchanged two at a time."""


@dataclass(frozen=True)
class FisherPath:
    """Sparse FDA for growing ν, each run started where the last one ended; runs[i] belongs to nus[i].

    nus is increasing. A larger ν never raises the optimum's penalty, but MM finds stationary points, so the
    cardinalities need not be monotone along the path, and not every k occurs on it.
    """

    nus: tuple[float, ...]
    runs: tuple[MMResult, ...]

    @property
    def cardinalities(self) -> tuple[int, ...]:
        """The number of nonzeros at each ν."""
        return tuple(len(run.support) for run in self.runs)

    @property
    def ratios(self) -> tuple[float, ...]:
        """The Fisher ratio (aᵀx)²/xᵀBx at each ν; aᵀx = 1.

        At most aᵀB⁻¹a, the ratio of the dense direction; the reciprocal of the objective's first term.
        """
        return tuple(1.0 / run.program.pencil.B_quad(run.x) for run in self.runs)

    @property
    def missing(self) -> tuple[int, ...]:
        """The cardinalities between the largest and the smallest found that no ν of the path gives.

        For these `fisher_solve` still finds a vector, which no ν of this path gives.
        """
        reached = self.cardinalities
        return tuple(k for k in range(min(reached, default=0), max(reached, default=0)) if k not in reached)


def fisher_path(
    a: Any,
    B: Any,
    nus: Sequence[float] | None = None,
    *,
    k: int | None = None,
    eps: float = MACHINE_EPS,
    solver: Any = "CLARABEL",
    stop: Stop | None = None,
    callback: Callable[[float, MMResult], Any] | None = None,
) -> FisherPath:
    """min xᵀBx + ν_ε Σ log(ε + |xᵢ|) s.t. aᵀx = 1 for growing ν, warm-started (Eq:fdastudent).

    Unless given, ν runs through 25 values up to nu_max and is then doubled until one variable is
    left. With k, the gap of the path around k is bisected until some ν gives k, or to 1 % in ν.
    The callback sees each run as it ends; one that returns True ends the path.

    Parameters
    ----------
    a, B
        As in `sparse_fda`.
    nus
        The values of ν ≥ 0, in any order; they are run in increasing order.
    k
        A cardinality to be hit, if some ν hits it; without it the grid decides.
    eps
        ε of the penalty. At machine precision, the default, a variable that has left does not come back
        further along the path.
    solver, stop
        Of each MM run.
    callback
        Called with (ν, result).

    Raises
    ------
    InvalidParameter
        For an empty nus, a negative ν, or k out of range.

    Examples
    --------
    >>> from dcgev_cvx import datasets
    >>> from dcgev_cvx.pencils import fda_vectors
    >>> from dcgev_cvx.search.fisher import fisher_path
    >>> X, y, support = datasets.two_gaussians(8, 2)
    >>> path = fisher_path(*fda_vectors(X, y), nus=[0.001, 0.01, 0.1])
    >>> path.cardinalities, path.missing
    ((8, 7, 3), (4, 5, 6))
    """
    from ..steps.backend import Backend
    from ..steps.conic import FisherStep

    program = SparseFDA(a, B, 0.0, eps)
    step = FisherStep(solver if isinstance(solver, Backend) else Backend(solver))
    grid = nu_grid(program) if nus is None else sorted(as_numbers(nus, "nus"))
    listener, wanted = as_callback(callback, "callback"), None if k is None else checked_k(k, program.pencil.n)
    runs: dict[float, MMResult] = {}

    def run(nu: float, x0: Vector | None) -> bool:
        runs[nu] = minimize(program.with_nu(nu), step, x0, stop=stop)
        return listener is not None and says_stop(listener(nu, runs[nu]))

    x: Vector | None = None
    for nu in grid:
        if run(nu, x) or (nus is None and len(runs[nu].support) == 1):
            break
        x = runs[nu].x
    if wanted is not None:
        bisect(runs, wanted, run)
    return FisherPath(tuple(sorted(runs)), tuple(runs[nu] for nu in sorted(runs)))


def nu_grid(program: SparseFDA) -> list[float]:
    """25 values in geometric progression up to nu_max, then up to 20 doublings.

    The grid begins at 1e-4 of nu_max, where nearly all variables stay. nu_max is a statement about ‖x‖₀; the
    surrogate penalty may need more, hence the doublings.
    """
    top = nu_max(program.a, program.pencil) or 1.0
    return [*(top * np.geomspace(1e-4, 1.0, 25)).tolist(), *(top * 2.0 ** np.arange(1, 21)).tolist()]


def bisect(runs: dict[float, MMResult], k: int, run: Callable[[float, Vector | None], bool]) -> None:
    """Runs at ν between the path's last point with more than k nonzeros and the next, until they are 1 % apart.

    ν is halved in the logarithm. It ends at once when a run has k nonzeros or when the path is not monotone
    around k, for then there is no bracket.
    """
    for _ in range(20):
        above = [nu for nu in sorted(runs) if len(runs[nu].support) > k]
        below = [nu for nu in sorted(runs) if len(runs[nu].support) < k]
        # some run has k already, or there is no bracket to halve
        if len(above) + len(below) < len(runs) or not above or not below or below[0] < above[-1]:
            break
        middle = float(np.sqrt(above[-1] * below[0]))
        if below[0] < 1.01 * above[-1] or run(middle, runs[above[-1]].x):
            break


def nu_max(a: Any, B: Any) -> float:
    """min Bᵢᵢ/aᵢ² − 1/(aᵀB⁻¹a): above it one variable minimises xᵀBx + ν‖x‖₀ (beyond the paper).

    Two or more variables cost at least 2ν + 1/(aᵀB⁻¹a), as the dense solution is the cheapest
    of all; the best single one costs ν + min Bᵢᵢ/aᵢ².

    0 when one variable is already as good as all of them. A variable with aᵢ = 0 has an infinite quotient and
    does not take part.

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


def fisher_solve(a: Any, B: Any, k: int, *, path: FisherPath | None = None, names: Any = None) -> Solution:
    """max (aᵀx)²/xᵀBx with exactly k nonzeros (Eq:gevmin with ‖x‖₀ = k).

    Starts: the supports of a ν path (those of size k, else its neighbours trimmed or grown), forward
    selection from the best single variables, backward elimination for n up to BACKWARD_LIMIT; each
    is improved by exchanges until none raises the ratio. With a path, on_path says whether one of its ν gives k,
    and that ν stands in Solution.rho, whose place it takes in FDA.

    Parameters
    ----------
    a, B
        As in `sparse_fda`.
    k
        The number of variables, 1 … n.
    path
        A FisherPath of the same problem, to start from its supports too.
    names
        The variables' names, for the record.

    Returns
    -------
    Solution
        x of unit B norm; value is the Fisher ratio a_SᵀB_SS⁻¹a_S of its support. No proof of optimality:
        for that, `best_subset` takes the pencil of `fda_pencil`.

    Examples
    --------
    >>> from dcgev_cvx import datasets
    >>> from dcgev_cvx.pencils import fda_vectors
    >>> from dcgev_cvx.search.fisher import fisher_solve
    >>> X, y, support = datasets.two_gaussians(8, 2)
    >>> fisher_solve(*fda_vectors(X, y), k=2).support == support
    True
    """
    begin = perf_counter()
    program = SparseFDA(a, B, 0.0)
    k = checked_k(k, program.pencil.n)
    check_path(path, program.pencil.n)
    labels = checked_names(names, program.pencil.n)
    metric = program.pencil.dense()[1]
    seeds = np.argsort(-gains(program.a, metric, np.zeros(0, dtype=np.intp)), kind="stable")[:SEEDS]
    starts = [grown(program.a, metric, seeds[i : i + 1], k) for i in range(len(seeds))]
    if program.pencil.n <= BACKWARD_LIMIT:
        starts.append(trimmed(program.a, metric, np.arange(program.pencil.n), k))
    starts += [fitted(program.a, metric, support, k) for support in neighbours(path, k)]
    # several starts often meet in one support, which is improved once
    distinct = {tuple(S): S for S in starts}.values()
    best = max((exchanged(program.a, metric, S) for S in distinct), key=lambda S: ratio_of(program.a, metric, S))
    support = exchanged(program.a, metric, best, pairs=program.pencil.n <= PAIR_LIMIT)
    x = np.zeros(program.pencil.n)
    x[support] = np.linalg.solve(metric[np.ix_(support, support)], program.a[support])
    on_path = None if path is None else k in path.cardinalities
    nu = np.nan if path is None or not on_path else path.nus[path.cardinalities.index(k)]
    found = solution_of(program.pencil, x, "sparse FDA", perf_counter() - begin, rho=nu, on_path=on_path)
    return found if labels is None else replace(found, names=labels)


def check_path(path: Any, n: int) -> None:
    """What fisher_path returned for as many variables, or None."""
    if path is None:
        return
    if not isinstance(path, FisherPath):
        raise InvalidParameter(f"path = {shown(path)} must be what fisher_path returns, or None.")
    other = next((run.program.pencil.n for run in path.runs if run.program.pencil.n != n), None)
    if other is not None:
        raise InvalidParameter(f"path is of {other} variables where a has {n}: it belongs to another problem.")


def neighbours(path: FisherPath | None, k: int) -> list[Index]:
    """The path's supports of size k, or the nearest above and below."""
    if path is None:
        return []
    sizes = np.array(path.cardinalities)
    wanted = (
        [k] if k in sizes else [int(s) for s in (*np.sort(sizes[sizes > k])[:1], *np.sort(sizes[sizes < k])[-1:])]
    )
    return [np.array(run.support, dtype=np.intp) for run in path.runs if len(run.support) in wanted]


def fitted(a: Vector, B: Matrix, support: Index, k: int) -> Index:
    """A support trimmed or grown to k members."""
    return trimmed(a, B, support, k) if len(support) >= k else grown(a, B, support, k)


def ratio_of(a: Vector, B: Matrix, support: Index) -> float:
    """a_SᵀB_SS⁻¹a_S, the best Fisher ratio on a support."""
    return float(a[support] @ np.linalg.solve(B[np.ix_(support, support)], a[support]))


def losses(a: Vector, B: Matrix, support: Index) -> Vector:
    """What dropping each member costs: xᵢ²/(B_SS⁻¹)ᵢᵢ with x = B_SS⁻¹a_S.

    Infinite accuracy is not needed: they only rank members, the exchange is judged by `ratio_of`.
    """
    inverse = np.linalg.inv(B[np.ix_(support, support)])
    return (inverse @ a[support]) ** 2 / np.diagonal(inverse)


def gains(a: Vector, B: Matrix, support: Index) -> Vector:
    """What adding each outsider brings: (aⱼ − B_jS x)²/(Bⱼⱼ − B_jS B_SS⁻¹B_Sj); −1 for members.

    The variance that S does not explain is kept above 1e-14·Bⱼⱼ, since for a variable that S spans both
    numerator and denominator are rounding.
    """
    if not len(support):
        return a**2 / np.diagonal(B)
    rows = B[support]
    solved = np.linalg.solve(rows[:, support], np.column_stack([a[support], rows]))
    residual = a - rows.T @ solved[:, 0]
    spread = np.diagonal(B) - np.einsum("ij,ij->j", rows, solved[:, 1:])
    gain = residual**2 / np.maximum(spread, 1e-14 * np.diagonal(B))
    gain[support] = -1.0
    return gain


def grown(a: Vector, B: Matrix, support: Index, k: int) -> Index:
    """The support with the best outsider added, one at a time, up to k.

    Ties go to the lower position; members have the gain −1 and are never taken twice.
    """
    while len(support) < k:
        support = np.append(support, int(np.argmax(gains(a, B, support))))
    return np.sort(support)


def trimmed(a: Vector, B: Matrix, support: Index, k: int) -> Index:
    """The support with the cheapest member dropped, one at a time, down to k; B_SS⁻¹ is downdated.

    The downdate B_{S∖i}⁻¹ = (B_SS⁻¹ − column·row/pivot) costs k² instead of k³, which matters
    when all n variables are the start.
    """
    inverse = np.linalg.inv(B[np.ix_(support, support)])
    while len(support) > k:
        x = inverse @ a[support]
        i = int(np.argmin(x**2 / np.diagonal(inverse)))
        keep = np.arange(len(support)) != i
        inverse = (inverse - np.outer(inverse[:, i], inverse[i]) / inverse[i, i])[np.ix_(keep, keep)]
        support = support[keep]
    return np.sort(support)


def exchanged(a: Vector, B: Matrix, support: Index, *, pairs: bool = False) -> Index:
    """The support after exchanges that raise the ratio, until none does (at most 20 per member).

    The ratio rises by at least 1e-12 of itself each time and supports are finite in number.
    """
    for _ in range(20 * len(support)):
        better = best_exchange(a, B, support, 1)
        if better is None and pairs:
            better = best_exchange(a, B, support, 2)
        if better is None:
            break
        support = better
    return support


def best_exchange(a: Vector, B: Matrix, support: Index, count: int) -> Index | None:
    """The best support after dropping `count` of the cheapest members and growing back, if it is worth more.

    count = 2 lets a pair of correlated variables leave together, which single exchanges cannot: each of
    them hides the other's uselessness.
    """
    cheapest = np.argsort(losses(a, B, support), kind="stable")[:DROPS]
    best, ratio = None, ratio_of(a, B, support) * (1.0 + 1e-12)
    for dropped in combinations(cheapest, count):
        candidate = grown(a, B, np.delete(support, dropped), len(support))
        worth = ratio_of(a, B, candidate)
        if worth > ratio:
            best, ratio = candidate, worth
    return best


@dataclass(frozen=True)
class LeastSquaresForm:
    """Two-class FDA as least squares: min (1/m)Σ(tᵢ − β − xᵀφᵢ)² + λ‖x‖₁ over x and the offset β (Section 6, remark).

    With t = m/m₁ on class 1 and −m/m₂ on class 2 the loss is xᵀ(B + π aaᵀ)x − 2aᵀx plus a
    constant, B the pooled within-class covariance, a = μ₁ − μ₂ and π = m₁m₂/m². (For classes of
    equal size B is half the paper's Σ₁ + Σ₂.)

    Derivation: with t centred, (1/m)Σ tᵢφᵢ = μ₁ − μ₂ = a, and the total covariance splits into within and
    between, B + π aaᵀ. The offset β takes up the means.

    t   targets, one per sample, of mean zero
    pi  π = m₁m₂/m² ≤ ¼, with equality for classes of equal size
    """

    t: Vector
    a: Vector
    B: Matrix
    pi: float

    def lasso_of(self, z: Any, nu: float) -> tuple[float, Vector]:
        """(λ, x): if z minimises zᵀBz + ν‖z‖₁ s.t. aᵀz = 1, then x = sz minimises the LASSO with λ = νs.

        On aᵀx = s the LASSO is s²(zᵀBz + (λ/s)‖z‖₁) + a function of s, so its z is the
        FDA solution at ν = λ/s, and s = 2/(2zᵀBz + 2π + ν‖z‖₁) makes the derivative in s vanish.

        s is positive and finite for every z ≠ 0, so each FDA solution is a LASSO solution; `fisher_of` is the
        inverse.
        """
        z = as_vector(z, len(self.a), "z")
        nu = as_number(nu, "nu")
        s = 2.0 / (2.0 * float(z @ self.B @ z) + 2.0 * self.pi + nu * float(np.sum(np.abs(z))))
        return nu * s, s * z

    def fisher_of(self, x: Any, lam: float) -> tuple[float, Vector]:
        """(ν, z), the way back: z = x/(aᵀx) and ν = λ/(aᵀx) for a LASSO solution x ≠ 0.

        Raises InvalidParameter when aᵀx ≤ 0: a LASSO solution x ≠ 0 has aᵀx > 0, since otherwise 0 would be better.
        """
        x, lam = as_vector(x, len(self.a), "x"), as_number(lam, "lambda")
        s = float(self.a @ x)
        if not s > 0.0:
            raise InvalidParameter(f"aᵀx = {s:g}: lambda = {lam:g} leaves nothing of x; take a smaller one.")
        return lam / s, x / s


def least_squares_form(X: Any, y: Any, *, ridge: float = 0.0) -> LeastSquaresForm:
    """FDA's data as a regression: targets t, a = μ₁ − μ₂, the pooled covariance B and π (Section 6, remark).

    Parameters
    ----------
    X, y
        Samples and their labels, of two classes; class 1 is the first label in sorted order.
    ridge
        ≥ 0, added to B; the loss then has ridge‖x‖² added, and the equivalence stays.

    Examples
    --------
    >>> from dcgev_cvx import datasets
    >>> from dcgev_cvx.search.fisher import least_squares_form
    >>> X, y, _ = datasets.two_gaussians(4, 2, samples=10)
    >>> form = least_squares_form(X, y)
    >>> form.pi, sorted(set(form.t.tolist()))
    (0.25, [-2.0, 2.0])
    """
    table = read_table(X)
    labels = read_labels(y, table.m)
    if len(labels.classes) != 2:
        raise InvalidParameter(f"y has {len(labels.classes)} classes: the equivalence holds for two.")
    return regression_of(table, labels, as_number(ridge, "ridge"))


def regression_of(table: Table, labels: Labels, ridge: float) -> LeastSquaresForm:
    """The form of a table whose labels have been read."""
    m1, m2 = (int(count) for count in labels.counts)
    t = np.where(labels.codes == 0, table.m / m1, -table.m / m2)
    means = class_means(table, labels)
    B = within(table, labels, labels.counts / table.m, ridge)
    return LeastSquaresForm(frozen(t), frozen(means[0] - means[1]), frozen(B), m1 * m2 / table.m**2)


__all__ = ["FisherPath", "LeastSquaresForm", "fisher_path", "fisher_solve", "least_squares_form", "nu_max"]
