"""What every SDP relaxation returns: the solver's value, a proved bound, and how good the solver's answer is."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from .._numerics.checks import Matrix
from .._numerics.proofs import leading_pair
from .._numerics.spectra import power_of_two
from .._numerics.text_tables import count
from ..budgets import Budget
from ..certificates import on_support
from ..pencils import Pencil
from ..solutions import Solution, solution_of
from .bounds import Gap

if TYPE_CHECKING:
    import cvxpy as cp

RANK_TOL = 1e-4
"""Eigenvalues of X below this share of the largest are what a first-order solver leaves of zeros."""
EXACT_TOL = 1e-6
"""The gap at which a relaxation is called exact: what solvers leave open at their usual tolerances."""


@dataclass(frozen=True)
class Relaxation:
    """An SDP relaxation, solved: the solver's value, and a bound that does not depend on the solver.

    `value` may lie below the true optimum when the solver stopped early; `upper_bound` never does. Compare vectors
    with `upper_bound` alone.

    Parameters
    ----------
    name : str
        Which relaxation it is.
    value : float
        The objective at the solver's X.
    upper_bound : float
        Proved from the data and the dual matrix U (see `relaxations.bounds`).
    X : ndarray
        The solver's primal matrix.
    U : ndarray
        The dual matrix, from the solver's multipliers.
    problem : cvxpy.Problem
        The model of `dcgev_cvx.models` with the user's own data, to be printed or solved in class. The package solves
        the same model on scaled data. None after unpickling: a CVXPY problem does not travel between processes.
    solver : str
        The solver that answered.
    status : str
        What the solver claimed: "optimal", "optimal_inaccurate", "user_limit", …
    seconds : float
        The time for everything.
    rounded : Solution
        The k-sparse vector read off X's leading eigenvector, renormalized.
    dimacs : Dimacs
        How well the solver did.
    valid_for : Budget
        The supports for which the bound holds; none where a count is 0.
    a : ndarray, optional
        The charges of the pairwise relaxation, which its bound needs beside U.

    Examples
    --------
    >>> from dcgev_cvx import datasets
    >>> from dcgev_cvx.relaxations import homogeneous_sdp
    >>> relaxed = homogeneous_sdp(datasets.pitprops(), 2)
    >>> relaxed.exact, relaxed.rank, relaxed.rounded.support
    (True, 1, (0, 1))
    >>> print(relaxed.problem)
    maximize tr(XA)
    subject to X ⪰ 0
               tr(XB) = 1
               Σ dᵢdⱼ|Xᵢⱼ| ≤ k Σ dᵢ²Xᵢᵢ
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
    valid_for: Budget
    a: Matrix | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "problem": None}

    @cached_property
    def rank(self) -> int:
        """The number of eigenvalues of X above 1e-4 of the largest; rank one means X = xxᵀ."""
        values = np.linalg.eigvalsh(self.X / power_of_two(float(np.max(np.abs(self.X)))))
        return int(np.sum(values > RANK_TOL * values[-1])) if values[-1] > 0.0 else 0

    @property
    def gap(self) -> Gap:
        """Between the rounded vector's value and the proved bound; about (SGEV-P) only where the bound holds for it."""
        return Gap(self.rounded.value, self.upper_bound)

    @property
    def valid_k(self) -> int | tuple[int, ...]:
        """The bound holds for (SGEV-P) at every k up to this one, or one for each view; 0 means at none."""
        counts = self.valid_for.counts
        return counts[0] if len(counts) == 1 else counts

    @property
    def bounds_rounded(self) -> bool:
        """Does the bound hold for the rounded vector?"""
        return self.valid_for.admits(self.rounded.support)

    @property
    def exact(self) -> bool:
        """Does the rounded vector attain the bound (to 1e-6)? Then it solves (SGEV-P), whatever the rank of X."""
        return self.bounds_rounded and self.gap.relative <= EXACT_TOL

    @property
    def rank_in_words(self) -> str:
        """What the rank of X says about the relaxation."""
        if self.rank != 1 or not self.bounds_rounded:  # a bound that does not hold at k says nothing about k
            return f"X has rank {self.rank}"
        if self.exact:
            return "X has rank one and is k-sparse: the relaxation is exact"
        return "X has rank one, but its vector has more than k nonzeros"

    def __str__(self) -> str:
        return (
            f"{self.name}: value {self.value:.6g} ({self.solver}: {self.status}), proved upper bound "
            f"{self.upper_bound:.6g}\n"
            f"  {self.rank_in_words}; rounded to {count(self.rounded.k, 'nonzero')}: {self.rounded.value:.6g}\n"
            f"  worst DIMACS error {self.dimacs.worst:.1e}, {self.seconds:.2f} s"
        )


@dataclass(frozen=True)
class Dimacs:
    """The six DIMACS errors of an SDP's answer, recomputed from the data of the scaled problem.

    They are the customary numbers by which SDP solvers are compared, all relative and zero at an exact primal-dual
    solution. They describe how well the solver did, not how good the bound is, which is proved whatever they are.

    Parameters
    ----------
    err1 : float
        Primal: constraints violated.
    err2 : float
        Primal: X short of semidefinite.
    err3 : float
        Dual: stationarity.
    err4 : float
        Dual: slack S short of semidefinite.
    err5 : float
        The relative gap between the objectives; negative when the dual objective lies below the primal one.
    err6 : float
        Complementarity ⟨X, S⟩.

    Examples
    --------
    >>> from dcgev_cvx.relaxations import Dimacs
    >>> Dimacs(1e-9, 0.0, 2e-9, 0.0, -3e-8, 1e-9).worst
    3e-08
    """

    err1: float
    err2: float
    err3: float
    err4: float
    err5: float
    err6: float

    @property
    def worst(self) -> float:
        """The largest modulus; infinite when a multiplier was not a number."""
        errors = (self.err1, self.err2, self.err3, self.err4, self.err5, self.err6)
        return max(math.inf if math.isnan(e) else abs(e) for e in errors)

    @classmethod
    @np.errstate(over="ignore", invalid="ignore")  # multipliers may be anything, and then so are their errors
    def of(
        cls, A: Matrix, X: Matrix, S: Matrix, *, objectives: tuple[float, float], violation: float, residual: Matrix
    ) -> Dimacs:
        """The errors of a pair (X, S) with its (primal, dual) objectives; the right-hand side has norm one."""
        primal, dual = objectives
        data, size = 1.0 + float(np.linalg.norm(A)), 1.0 + abs(primal) + abs(dual)
        return cls(
            err1=violation / 2.0,
            err2=max(0.0, -float(np.linalg.eigvalsh(X)[0])) / 2.0,
            err3=float(np.linalg.norm(residual)) / data,
            err4=max(0.0, -float(np.linalg.eigvalsh(S)[0])) / data,
            err5=(dual - primal) / size,
            err6=float(np.sum(X * S)) / size,
        )


def round_off(pencil: Pencil, X: Matrix, budget: Budget | None, name: str, begin: float) -> Solution:
    """The best vector on the k largest entries of X's leading eigenvector; without a budget as many as stand out in X.

    Entries are compared as |vᵢ|√Bᵢᵢ, so that the support does not depend on the variables' units.
    """
    M = X * (pencil.B_roots[:, None] * pencil.B_roots)
    if budget is None:
        # Mᵢᵢ is the square of a loading when X has rank one: 1e-3 of the largest is 3 % of the largest loading
        budget = Budget.whole(pencil.n, max(1, int(np.sum(np.diagonal(M) > 1e-3 * np.max(np.diagonal(M))))))
    support = budget.largest(np.abs(leading_pair(M)[1]))
    return solution_of(pencil, on_support(pencil, support), f"{name}, rounded", perf_counter() - begin)
