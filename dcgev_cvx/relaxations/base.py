"""What every relaxation returns, and the one way in which its SDP is solved, bounded and rounded.

A solver is asked for two things only: a matrix X to round, and multipliers to build U from. Both are
judged here by arithmetic on the data; the solver's status and objective are recorded and never used.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from time import perf_counter
from types import MappingProxyType
from typing import Any

import cvxpy as cp
import numpy as np

from .._numerics.checks import UNIT_ROUNDOFF, Matrix, as_flag, as_number, as_real, frozen
from .._numerics.limits import LARGEST, refuse_large_sdp
from .._numerics.proofs import leading_pair
from .._numerics.spectra import power_of_two
from ..certificates import Solution, on_support, solution_of
from ..errors import InvalidParameter, InvalidPencil, SolverFailed
from ..pencils import Pencil, expect_pencil
from ..steps.backend import Backend, Solved, attempt
from .bounds import Gap, Units, smallest_B_eigenvalue

INTERIOR_POINT_LIMIT = 30
"""Up to this n Clarabel is the faster solver of these SDPs, beyond it SCS."""
RANK_TOL = 1e-4
"""Eigenvalues of X below this share of the largest are what a first-order solver leaves of zeros."""
EXACT_TOL = 1e-6
BEYOND = 1e30
"""Larger numbers are no answer to a problem in units of size one."""
"""The gap at which a relaxation is called exact: what solvers leave open at their usual tolerances."""
# SCS's own rescaling slows it down here, up to the point of not ending: the units already are of size one
DEFAULTS: Mapping[str, Mapping[str, Any]] = MappingProxyType({"SCS": {"normalize": False, "max_iters": 5000}})
TIME_OPTION: Mapping[str, str] = MappingProxyType({"SCS": "time_limit_secs", "CLARABEL": "time_limit"})


@dataclass(frozen=True)
class Dimacs:
    """The six DIMACS errors of an SDP's answer, recomputed from the data in the units of the problem.

    err1, err2  primal: constraints violated, X short of semidefinite
    err3, err4  dual: stationarity, slack S short of semidefinite
    err5, err6  relative gap between the objectives, ⟨X, S⟩

    They are the customary six numbers by which SDP solvers are compared, all relative and zero at an exact
    primal-dual solution. They describe how well the solver did, not how good the bound is: the bound is
    proved whatever they are. err5 is negative when the solver's dual objective lies below its primal one.
    """

    err1: float
    err2: float
    err3: float
    err4: float
    err5: float
    err6: float

    @property
    def worst(self) -> float:
        """The largest modulus.

        Near the solver's tolerance for an interior-point method, often larger for a first-order one; infinite
        when the multipliers were no numbers.
        """
        errors = (self.err1, self.err2, self.err3, self.err4, self.err5, self.err6)
        return max(math.inf if math.isnan(e) else abs(e) for e in errors)


@dataclass(frozen=True)
class Relaxation:
    """An SDP relaxation, solved: the solver's value, and a bound that does not depend on it.

    value        the solver's optimal value
    upper_bound  proved from the data and the dual matrix U (see `dcgev_cvx.relaxations.bounds`)
    X, U         the primal and the dual matrix
    problem      the cp.Problem, in units where B has a unit diagonal and A is of size one
    rounded      the k-sparse vector read off X's leading eigenvector, renormalized: a lower value

    solver, status   who answered and what it claimed: "optimal", "optimal_inaccurate", "user_limit", …
    valid_k          the bound holds for (SGEV-P) at every k up to this one; 0 says at none
    b                the multiplier of the budget, |Uᵢⱼ| ≤ b·dᵢdⱼ

    value may lie below the true optimum when the solver stopped early; upper_bound may not. Compare vectors
    with upper_bound alone.

    Examples
    --------
    >>> from dcgev_cvx import datasets
    >>> from dcgev_cvx.relaxations import homogeneous_sdp
    >>> relaxed = homogeneous_sdp(datasets.pitprops(), 2)
    >>> relaxed.exact, relaxed.rank, relaxed.rounded.support
    (True, 1, (0, 1))
    >>> print(relaxed.gap)  # doctest: +ELLIPSIS
    [1.954, 1.954], gap ... %
    """

    name: str
    value: float
    upper_bound: float
    X: Matrix
    U: Matrix
    problem: cp.Problem
    solver: str
    status: str
    seconds: float
    rounded: Solution
    dimacs: Dimacs
    valid_k: int
    b: float = math.nan

    def __getstate__(self) -> dict[str, Any]:
        # a compiled problem holds its solver and does not travel between processes
        return {**vars(self), "problem": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)

    @cached_property
    def rank(self) -> int:
        """The number of eigenvalues of X above 1e-4 of the largest.

        Rank one means X = xxᵀ, a single direction; with x k-sparse the relaxation is then tight. Larger ranks mean
        that X mixes several directions, as it may when two supports tie.
        """
        values = np.linalg.eigvalsh(self.X / power_of_two(float(np.max(np.abs(self.X)))))
        return int(np.sum(values > RANK_TOL * values[-1])) if values[-1] > 0.0 else 0

    @property
    def gap(self) -> Gap:
        """Between the rounded vector's value and the proved bound.

        Meaningful as an interval for (SGEV-P) only if rounded.k ≤ valid_k.
        """
        return Gap(self.rounded.value, self.upper_bound)

    @property
    def exact(self) -> bool:
        """Does a k-sparse vector attain the bound (to 1e-6)? Then it solves (SGEV-P).

        The test does not look at the rank of X: what attains a proved bound is optimal, however it was found.
        """
        return self.valid_k >= self.rounded.k and self.gap.relative <= EXACT_TOL

    @property
    def rank_in_words(self) -> str:
        """What the rank of X says about the relaxation."""
        if self.rank != 1:
            return f"X has rank {self.rank}"
        if self.exact:
            return "X has rank one and is k-sparse: the relaxation is exact"
        return "X has rank one, but its vector has more than k nonzeros"

    def __str__(self) -> str:
        return (
            f"{self.name}: value {self.value:.6g} ({self.solver}: {self.status}), proved upper bound "
            f"{self.upper_bound:.6g}\n"
            f"  {self.rank_in_words}; rounded to {self.rounded.k} nonzeros: {self.rounded.value:.6g}\n"
            f"  worst DIMACS error {self.dimacs.worst:.1e}, {self.seconds:.2f} s"
        )


def refuse_sdp(pencil: Any, time_limit: float | None, force: bool) -> None:
    """InvalidParameter for what is no pencil, no time limit, or above SDP_LIMIT and not forced.

    InvalidPencil where X, which holds reciprocals of Bᵢᵢ, would leave floating point.
    """
    n = expect_pencil(pencil).n
    if time_limit is not None:
        as_number(time_limit, "time_limit", strict=True)
    if np.any(np.abs(np.log10(pencil.B_roots)) > LARGEST):
        low, high = float(np.min(pencil.B_diagonal)), float(np.max(pencil.B_diagonal))
        raise InvalidPencil(
            f"diag(B) lies between {low:.1e} and {high:.1e}: an SDP needs it between 1e-{2 * LARGEST} and "
            f"1e{2 * LARGEST}, for X holds its reciprocals. Rescale B."
        )
    if not as_flag(force, "force"):
        refuse_large_sdp(n)


def useful_radius(pencil: Pencil, radius: float) -> float:
    """A radius no larger than 2√(n/λmin(B)), from where on every xᵀBx ≤ 1 has ‖x‖₁ ≤ radius and the budget is slack.

    What a solver is given: the SDP is the same, but 1e200 in its data would make it fail, or never end.
    """
    lowest = max(smallest_B_eigenvalue(pencil), UNIT_ROUNDOFF * pencil.B_scale)
    return min(radius, 2.0 * math.sqrt(pencil.n / lowest))


def backend_for(n: int, solver: Backend | str | None) -> Backend:
    """The given solver, or Clarabel with SCS behind it for small n and SCS beyond.

    Interior-point iterations factor a matrix of order n²/2 and give many digits; SCS projects an n × n
    matrix at each iteration and gives few, which is enough for a bound that does not rest on them.
    """
    if solver is None:
        return Backend("CLARABEL", fallback=("SCS",)) if n <= INTERIOR_POINT_LIMIT else Backend("SCS")
    return solver if isinstance(solver, Backend) else Backend(solver)


def solve_relaxation(problem: cp.Problem, backend: Backend, time_limit: float | None) -> Solved:
    """The first solver that answers; an answer cut short by the limit is an answer, for the bound trusts none.

    Options of the caller are given to the first solver only, since a fallback would not understand them;
    each solver's time limit is set by its own option name where it has one. Raises SolverFailed with every
    solver's reason when none answers.
    """
    reasons: list[str] = []
    for name in backend.solvers:
        given = dict(backend.options) if name == backend.solver else {}
        options = given or dict(DEFAULTS.get(name, {}))
        if time_limit is not None and name in TIME_OPTION:
            options.setdefault(TIME_OPTION[name], float(time_limit))
        try:
            return attempt(problem, name, options, unfinished=True)
        except SolverFailed as failure:
            reasons.append(str(failure))
    raise SolverFailed("; then ".join(reasons))


def numbers_of(raw: Any) -> Matrix:
    """What a solver left, as numbers; an empty array where it is anything else (None, text, NaN, complex, 1e200).

    Problems are in units of size one and B passed the door: no entry of an answer comes near BEYOND.
    """
    try:
        array = as_real(raw, "the answer", InvalidParameter)
    except InvalidParameter:
        return np.empty(0)
    return array if float(np.max(np.abs(array), initial=0.0)) <= BEYOND else np.empty(0)


def number_of(constraint: Any) -> float:
    """A scalar dual variable, NaN when there is none or it is no finite number.

    NaN travels on: `dual_of` turns it into "no dual matrix", and the bound falls back on λmax(A, B).
    """
    array = numbers_of(constraint.dual_value)
    return float(array.item()) if array.size == 1 else math.nan


def matrix_of(raw: Any, n: int, solver: str) -> Matrix:
    """A solver's matrix, symmetric and finite, or SolverFailed.

    Solvers return X symmetric up to their tolerance only; the mean with its transpose is nearest to it.
    """
    array = numbers_of(raw)
    if array.shape != (n, n):
        raise SolverFailed(f"{solver} reported success but returned no finite {n}×{n} matrix.")
    return 0.5 * array + 0.5 * array.T


def round_off(pencil: Pencil, X: Matrix, k: int, name: str, seconds: float) -> Solution:
    """From X to x: the leading eigenvector of X, its k largest entries, the best vector on that support.

    Entries are compared as |vᵢ|√Bᵢᵢ, in the metric, so that the support does not depend on the variables' units.
    On the support the best vector is the leading eigenvector of the sub-pencil: the value is the largest
    that this support allows.
    """
    s = np.sqrt(pencil.B_diagonal)
    Y = X * (s[:, None] * s)
    _, vector = leading_pair(Y)
    # a stable sort gives ties to the first variable, on every machine
    support = np.sort(np.argsort(-np.abs(vector), kind="stable")[:k])
    return solution_of(pencil, on_support(pencil, support), f"{name}, rounded", seconds)


@dataclass(frozen=True)
class Answer:
    """What a solver said, in the problem's units: X, the slack S, both objectives and the two residuals."""

    X: Matrix
    S: Matrix
    primal: float
    dual: float
    violation: float
    residual: Matrix
    solved: Solved

    @property
    def value(self) -> float:
        """The objective of the problem that was solved."""
        return self.primal


@np.errstate(over="ignore", invalid="ignore")  # multipliers may be anything, and then so are their errors
def dimacs_errors(answer: Answer, A: Matrix) -> Dimacs:
    """err1…err6 of a primal-dual pair; the right-hand side has norm one.

    err1 and err2 are divided by 1 + ‖b‖ = 2, err3 and err4 by 1 + ‖A‖_F, err5 and err6 by 1 + |primal| + |dual|.
    """
    data, size = 1.0 + float(np.linalg.norm(A)), 1.0 + abs(answer.primal) + abs(answer.dual)
    return Dimacs(
        err1=answer.violation / 2.0,
        err2=max(0.0, -float(np.linalg.eigvalsh(answer.X)[0])) / 2.0,
        err3=float(np.linalg.norm(answer.residual)) / data,
        err4=max(0.0, -float(np.linalg.eigvalsh(answer.S)[0])) / data,
        err5=(answer.dual - answer.primal) / size,
        err6=float(np.sum(answer.X * answer.S)) / size,
    )


def relaxation_of(
    name: str,
    pencil: Pencil,
    units: Units,
    answer: Answer,
    problem: cp.Problem,
    *,
    upper_bound: float,
    U: Matrix,
    b: float,
    k: int,
    valid_k: int,
    begin: float,
) -> Relaxation:
    """The record of a solved SDP, in the user's units, with its rounded vector and its errors."""
    X = units.primal(answer.X)
    rounded = round_off(pencil, X, k, name, perf_counter() - begin)
    return Relaxation(
        name=name,
        value=units.a * answer.value,
        upper_bound=upper_bound,
        X=frozen(np.ascontiguousarray(X)),
        U=frozen(np.ascontiguousarray(U)),
        b=b,
        problem=problem,
        solver=answer.solved.solver,
        status=answer.solved.status,
        seconds=perf_counter() - begin,
        rounded=rounded,
        dimacs=dimacs_errors(answer, units.A),
        valid_k=valid_k,
    )
