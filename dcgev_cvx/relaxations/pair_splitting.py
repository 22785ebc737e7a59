"""The pairwise relaxation, and the best dual matrices (U, a) of its bound, by a first-order method.

Relaxation and method are research of this package, not of the paper. The relaxation (`models.pairwise_sdp`) has
X ≈ xxᵀ and Yᵢⱼ ≈ xᵢ²zⱼ, z being the indicator of the support:

    max tr(XA)  s.t.  X ⪰ 0, tr(XB) = 1                              the spectrahedron
                      Xᵢⱼ² ≤ YᵢⱼYⱼᵢ                                  the pairs
                      0 ≤ Yᵢⱼ ≤ Xᵢᵢ, Σ_{j∈g, j≠i} Yᵢⱼ ≤ sᵢ_g Xᵢᵢ     the rows, for every group g

One group of all variables has sᵢ = k − 1; otherwise sᵢ_g = k_g, less one where i is in g. ADMM projects on the
spectrahedron and the rows, each group with its own copy of the diagonal of X, then on the pairs. All projections are
exact and cheap: one eigenvalue problem of order n, one equation in one unknown per row and group, and eigenvalues of
2 × 2 matrices. The multipliers of the pairs are −U and −a. They obey Uᵢⱼ² ≤ aᵢⱼaⱼᵢ after every step, so that each step
ends with a proved bound.
"""

import math
from collections.abc import Iterator
from time import perf_counter

import numpy as np
from scipy.linalg import LinAlgError, eigh

from .._numerics.checks import Index, Matrix, Vector, frozen
from .._numerics.deadline import Deadline
from ..budgets import Budget, Cardinality
from ..certificates import on_support
from ..pencils import Pencil
from .pairwise import PairDual, charges, pair_dual, pairwise_bound
from .relaxation import Dimacs, Relaxation, round_off

CHECK_STEPS = 25
"""Steps between two proved bounds, which cost about as much as two steps."""
MAX_STEPS = 1000
"""The most steps; it converges in 100 to 200 where the relaxation is exact."""
BOUND_SETTLED = 1e-5
"""`pairwise_sdp` ends when a check lowers the bound by less than this share of it."""
RELAXATION = 1.6
"""Over-relaxation of ADMM; 1.5 to 1.8 is the customary range (Eckstein)."""
BALANCE_STEPS, BALANCE = 25, 3.0
"""Every so many steps the penalty is doubled or halved if one residual exceeds the other by this factor."""
NEVER = Deadline()
TRACE_TOL = 1e-8
"""How well tr(XB) = 1 is solved for a general B, before X is divided by what is left."""


@np.errstate(over="ignore", invalid="ignore")  # a dual that leaves floating point counts as 0
def pairwise_sdp(pencil: Pencil, k: Cardinality, *, time_limit: float | None = None, force: bool = False) -> Relaxation:
    """Solve max tr(XA) s.t. tr(XB) = 1, X ⪰ 0, Xᵢⱼ² ≤ YᵢⱼYⱼᵢ, 0 ≤ Yᵢⱼ ≤ Xᵢᵢ, Σⱼ Yᵢⱼ ≤ (k − 1)Xᵢᵢ (beyond the paper).

    It is at least as tight as `homogeneous_sdp` with any weights, often exact, and valid for every B. It is solved by
    ADMM in this package, not by a solver of CVXPY.

    Parameters
    ----------
    pencil : Pencil
        The pencil (A, B), n ≤ 250 unless forced.
    k : int or sequence of int
        The cardinality, or one for each view.
    time_limit : float, optional
        Seconds. An answer cut short still gives a valid bound.
    force : bool
        Solve it beyond n = 250.

    Returns
    -------
    Relaxation
        The value, the proved bound and the rounded vector. Its U and a are the arguments of `pairwise_bound`.

    Examples
    --------
    >>> from dcgev_cvx import datasets
    >>> from dcgev_cvx.relaxations import pairwise_sdp
    >>> relaxed = pairwise_sdp(datasets.pitprops(), 6)
    >>> round(relaxed.rounded.value, 3), round(relaxed.upper_bound, 3)
    (3.771, 3.771)
    """
    from .. import models  # CVXPY is not needed by the exact search, which imports this module
    from .solving import ScaledData

    data = ScaledData.of(pencil, time_limit, force)
    budget = Budget.of(pencil, k)
    x = on_support(pencil, budget.largest(np.abs(pencil.leading_vector) * pencil.B_roots)) / data.scaling.u
    splitting = PairSplitting(data.A, None if pencil.B is None else data.B, budget, x)
    zero = np.zeros_like(data.A)
    best, dual = pencil.lambda_max / data.scaling.o, PairDual(zero, zero)
    status, before = "stopped by a limit", math.inf
    for found, bound in splitting.bounds(Deadline.after(time_limit, "time_limit")):
        if found is not None and bound < best:
            best, dual = bound, found
        if before - bound <= BOUND_SETTLED * abs(bound):
            status = "the bound settled"
            break
        before = min(before, bound)
    X, value = splitting.spectral, float(np.sum(splitting.spectral * data.A))
    slack = best * data.B - data.A - dual.U - np.diag(charges(dual.a, 0, budget))
    A, U = pencil.dense()[0], data.scaling.multiplier_form(dual.U)
    a = data.scaling.o * (dual.a / data.scaling.u[:, None] / data.scaling.u[:, None])
    return Relaxation(
        name="pairwise SDP",
        value=data.scaling.o * value,
        upper_bound=pairwise_bound(pencil, budget, U, a),
        X=frozen(data.scaling.matrix(X)),
        U=frozen(U),
        problem=models.pairwise_sdp(A, pencil.B, budget.total)
        if len(budget.counts) == 1
        else models.pairwise_sdp_by_group(A, pencil.B, budget.counts, budget.labels),
        solver="ADMM",
        status=status,
        rounded=round_off(pencil, data.scaling.matrix(X), budget, "pairwise SDP", data.begin),
        dimacs=Dimacs.of(data.A, X, slack, objectives=(value, best), violation=splitting.residual, residual=zero),
        valid_for=budget,
        seconds=perf_counter() - data.begin,
        a=frozen(a),
    )


class PairSplitting:
    """The state of ADMM on one pencil: copies (X, Y) that obey the pairs, and scaled multipliers (S, T, t).

    It starts from the best vector known. `rho` is the penalty: xᵀAx − mean Aᵢᵢ/Bᵢᵢ in units of xᵀBx = 1. Divided by
    ‖xxᵀ‖² it is too large for CCA, where ADMM then needs three times as many steps.
    """

    def __init__(self, A: Matrix, B: Matrix | None, k: Budget | int, x: Vector) -> None:
        self.A, self.B, n = A, B, len(A)
        self.budget: Budget = k if isinstance(k, Budget) else Budget.whole(n, k)
        gain = float(x @ A @ x - np.mean(np.diagonal(A) / (1.0 if B is None else np.diagonal(B))))
        self.rho: float = max(gain, 1e-3 * float(np.max(np.abs(A)))) or 1.0  # A may be zero
        self.X, self.Y = np.outer(x, x), np.zeros((n, n))
        self.spectral: Matrix = self.X  # the copy in the spectrahedron, and its distance
        self.residual: float = math.inf
        self.S: Matrix = np.zeros((n, n))
        self.T: Matrix = np.zeros((n, n))
        # one row for each group
        self.t: Matrix = np.zeros((len(self.budget.counts), n))
        self.theta: Matrix = np.zeros_like(self.t)
        self.level: float = -math.inf
        self.steps: int = 0

    @np.errstate(over="ignore", invalid="ignore")  # where numbers overflow there is no dual, and `dual` is None
    def run(self, steps: int, deadline: Deadline = NEVER) -> None:
        """Up to so many steps, none begun after the deadline."""
        for _ in range(steps):
            if deadline.passed:
                return
            primal, dual = self.step()
            self.steps += 1
            if self.steps % BALANCE_STEPS == 0 and not 1.0 / BALANCE <= primal / max(dual, 1e-300) <= BALANCE:
                factor = 2.0 if primal > dual else 0.5
                self.rho *= factor  # the multipliers are rho·(S, T, t)
                self.S, self.T, self.t = self.S / factor, self.T / factor, self.t / factor

    def bounds(self, deadline: Deadline = NEVER) -> Iterator[tuple[PairDual | None, float]]:
        """After every few steps the dual and the bound that it proves, until a limit is met or LAPACK fails."""
        while self.steps < MAX_STEPS and not deadline.passed:
            try:
                self.run(CHECK_STEPS, deadline)
            except LinAlgError:
                return
            dual = self.dual
            yield dual, math.inf if dual is None else dual.bound(self.A, self.B, np.abs(self.A), self.budget)

    def step(self) -> tuple[float, float]:
        """One step of ADMM, and the norms of its primal and dual residuals."""
        X, Y, x = self.X, self.Y, np.diagonal(self.X).copy()
        spectral, self.level = on_spectrahedron(X - self.S + self.A / self.rho, self.B, self.level)
        diagonal, rows, self.theta = self.on_rows(x - self.t, Y - self.T)
        ahead = [RELAXATION * new + (1.0 - RELAXATION) * old for new, old in ((spectral, X), (rows, Y), (diagonal, x))]
        S, T, t = ahead[0] + self.S, ahead[1] + self.T, ahead[2] + self.t
        self.X, self.Y = on_pairs(S, T)
        # the diagonal of X is in the spectrahedron and in the rows of every group, and in no pair: the mean of all
        x = (np.diagonal(S) + np.sum(t, axis=0)) / (1.0 + len(t))
        np.fill_diagonal(self.X, x)
        np.fill_diagonal(self.Y, 0.0)
        self.S, self.T, self.t = S - self.X, T - self.Y, t - x
        np.fill_diagonal(self.T, 0.0)
        self.spectral, self.residual = spectral, norm(spectral - self.X, rows - self.Y, diagonal - x)
        return self.residual, norm(self.X - X, self.Y - Y)

    def on_rows(self, x: Matrix, Y: Matrix) -> tuple[Matrix, Matrix, Matrix]:
        """The projection on the rows of every group: one x and one θ for each."""
        x, Y, theta, budget = x.copy(), Y.copy(), self.theta.copy(), self.budget
        for g, (group, k) in enumerate(zip(budget.groups, budget.counts, strict=True)):
            most = k - (budget.labels == g)
            x[g], Y[:, group], theta[g] = on_rows(x[g], Y[:, group], most, theta[g])
        return x, Y, theta

    def restrict(self, kept: Index) -> None:
        """Go on with these variables only."""
        rows = np.ix_(kept, kept)
        self.A, self.B = self.A[rows], None if self.B is None else self.B[rows]
        self.X, self.Y, self.S, self.T = self.X[rows], self.Y[rows], self.S[rows], self.T[rows]
        self.t, self.theta, self.budget = self.t[:, kept], self.theta[:, kept], self.budget.restrict(kept)

    @property
    def dual(self) -> PairDual | None:
        """The multipliers as (U, a); None where they are not numbers."""
        return pair_dual(-self.rho * self.S, -self.rho * self.T, len(self.A))


def norm(*arrays: Matrix) -> float:
    """The Euclidean norm of all entries."""
    return math.sqrt(sum(float(np.vdot(array, array)) for array in arrays))


def on_spectrahedron(V: Matrix, B: Matrix | None, level: float) -> tuple[Matrix, float]:
    """The X ⪰ 0 with tr(XB) = 1 nearest to V: the positive part of V − θB; and θ, to start from the next time.

    With B = I the eigenvalues are projected on the simplex. Otherwise Newton's method on tr(B(V − θB)₊) = 1, a
    convex and decreasing function of θ: from the left it rises to the root, and one eigenvalue problem a step is
    nearly always enough when θ comes from the step before.
    """
    if B is None:
        values, Q = eigenpairs(V)
        theta = float(np.max((np.cumsum(values[::-1]) - 1.0) / np.arange(1, len(V) + 1)))
        return positive_part(values - theta, Q), theta
    theta = level if math.isfinite(level) else float(eigh(V, B, eigvals_only=True, check_finite=False)[-1]) - 1.0
    X, trace, jump = V, 0.0, 1.0
    for _ in range(12):
        values, Q = eigenpairs(V - theta * B)
        X = positive_part(values, Q)
        trace = float(np.sum(X * B))
        if abs(trace - 1.0) <= TRACE_TOL:
            break
        slope = trace_slope(values, Q.T @ B @ Q) if trace > 0.1 else 0.0
        # far to the right of the root the slope is no guide
        theta, jump = (theta + (trace - 1.0) / slope, jump) if slope > 0.0 else (theta - jump, 2.0 * jump)
    return (X / trace if trace > 0.0 else X), theta


def trace_slope(values: Vector, W: Matrix) -> float:
    """−d/dθ tr(B(V − θB)₊) = Σ ΩᵢⱼWᵢⱼ², Ω the divided differences of the positive part, W = QᵀBQ."""
    plus = np.maximum(values, 0.0)
    gaps = values[:, None] - values
    with np.errstate(divide="ignore", invalid="ignore"):
        slopes = (plus[:, None] - plus) / gaps
    omega = np.where(gaps != 0.0, slopes, (values > 0.0)[:, None])
    return float(np.sum(omega * W * W))


def eigenpairs(M: Matrix) -> tuple[Vector, Matrix]:
    """All eigenpairs, in ascending order; divide and conquer is the fastest of LAPACK's here."""
    return eigh(M, driver="evd", check_finite=False)


def positive_part(values: Vector, Q: Matrix) -> Matrix:
    """Q Diag(values₊) Qᵀ."""
    chosen = values > 0.0
    return (Q[:, chosen] * values[chosen]) @ Q[:, chosen].T


def on_pairs(X: Matrix, Y: Matrix) -> tuple[Matrix, Matrix]:
    """The nearest (X, Y) with [[Yᵢⱼ, Xᵢⱼ], [Xᵢⱼ, Yⱼᵢ]] ⪰ 0 for all pairs: negative eigenvalues are set to zero."""
    mean, half = 0.5 * (Y + Y.T), 0.5 * (Y - Y.T)
    radius = np.sqrt(half * half + X * X)
    upper, lower = np.maximum(mean + radius, 0.0), np.maximum(mean - radius, 0.0)
    shrink = 0.5 * (upper - lower) / np.maximum(radius, 1e-300)
    return shrink * X, 0.5 * (upper + lower) + shrink * half


def on_rows(x: Vector, Y: Matrix, s: Index, theta: Vector) -> tuple[Vector, Matrix, Vector]:
    """The nearest (x, Y) with 0 ≤ Yᵢⱼ ≤ xᵢ and Σⱼ Yᵢⱼ ≤ sᵢxᵢ in every row, and its multipliers θ.

    Given the multiplier θ ≥ 0 of the sum, y = clip(Y − θ, 0, x), and x = x₀ + sθ + Σⱼ (Yⱼ − θ − x)₊ is the largest of
    the means of x₀ + sθ and the c largest Yⱼ − θ. The excess Σ y − s·x falls with θ and is piecewise linear:
    Newton's steps, halving where they leave the bracket, started from the θ given.
    """
    width = max(1, int(np.max(np.count_nonzero(Y > 0.0, axis=1))))
    # only positive entries can be above θ
    largest = -np.sort(-np.partition(Y, Y.shape[1] - width, axis=1)[:, Y.shape[1] - width :], axis=1)
    sums, count = np.cumsum(np.pad(largest, ((0, 0), (1, 0))), axis=1), np.arange(width + 1)
    low, high = np.zeros(len(x)), np.maximum(largest[:, 0], 0.0)
    theta, top = np.minimum(theta, high), x
    for _ in range(60):
        means = (x[:, None] + (s * theta)[:, None] + sums - count * theta[:, None]) / (1.0 + count)
        top = np.maximum(0.0, np.max(means, axis=1))
        above = largest - theta[:, None]
        at_top = above >= top[:, None]
        between = np.count_nonzero((above > 0.0) & ~at_top, axis=1)
        capped = np.count_nonzero(at_top, axis=1)
        excess = np.sum(np.clip(above, 0.0, top[:, None]), axis=1) - s * top
        low, high = np.where(excess > 0.0, theta, low), np.where(excess < 0.0, theta, high)
        # a row without excess at θ = 0 has a slack sum
        ended = (np.abs(excess) <= 1e-13) | ((excess < 0.0) & (theta == 0.0)) | (high - low <= 1e-15)
        if np.all(ended):
            break
        slope = between + np.where(top > 0.0, (s - capped) ** 2 / (1.0 + capped), 0.0)
        guess = theta + excess / np.maximum(slope, 1e-300)
        # strictly: from the ends of the bracket Newton's steps may lead from one to the other for ever
        inside = (guess > low) & (guess < high)
        halved = np.where((excess < 0.0) & (low == 0.0) & (guess <= 0.0), 0.0, 0.5 * (low + high))
        theta = np.where(ended, theta, np.where(inside, guess, halved))
    return top, np.clip(Y - theta[:, None], 0.0, top[:, None]), theta
