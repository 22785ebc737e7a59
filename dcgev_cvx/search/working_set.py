r"""Fewer variables before the search: of data that are not arrays in memory, only a working set W is looked at.

The working set has the variables of the largest variance. A = CᵀC ⪰ 0 and B = I allow a proof that no better support
has a variable outside W: for a support S with r ≥ 1 variables outside,

    λmax(A_SS) ≤ λmax(A on S ∩ W) + λmax(A on S \ W) ≤ bound_W(k − r) + (the r largest variances outside W),

and if that is at most the value found for every r ≤ k, the variables outside are removed for good. The first
inequality holds for every positive semidefinite matrix in two blocks, the second because λmax ≤ tr.
"""

from dataclasses import dataclass

import numpy as np

from .._numerics.checks import Index, Matrix, Vector
from .._numerics.selection import largest_first
from ..errors import InvalidParameter
from ..pencils import Pencil
from ..solutions import Solution, solution_of

WORKING_SET = 500
"""Variables kept, or 10k if that is more: one pass over the data and a small dense matrix."""
ROUNDING = 1e-9
"""Relative margin of the proof: the rounding of sums of up to a million terms."""


@dataclass(frozen=True)
class WorkingSet:
    """The variables that are kept, and the sub-pencil on them as a matrix."""

    whole: Pencil
    kept: Index
    pencil: Pencil

    def embed(self, found: Solution, *, prove: bool = False) -> Solution:
        """A solution of the sub-pencil as one of the whole, without its certificate, which judges the part alone.

        Its method says how many variables were kept and, if so asked, whether that is proved to lose nothing.
        """
        x = np.zeros(self.whole.n)
        x[self.kept] = found.x
        words = f"{len(self.kept)} of {self.whole.n} variables kept"
        if len(self.kept) == self.whole.n:
            words = f"all {self.whole.n} variables"
        elif prove:
            proved = self.proves(found.k, found.value)
            words += f" ({'proved: no better support has another' if proved else 'not proved to be enough'})"
        return solution_of(self.whole, x, f"{words}; {found.method}", found.seconds)

    def proves(self, k: int, value: float) -> bool:
        """Is a vector of this value at least as good as all with a removed variable?"""
        if self.whole.B is not None or not self.whole.semidefinite:
            return False
        outside = np.delete(self.whole.A_diagonal, self.kept)
        largest = np.cumsum(-np.sort(-outside)[:k])
        inside = subset_bounds(np.asarray(self.pencil.dense()[0]), k)
        bound = max(inside[k - r] + largest[r - 1] for r in range(1, len(largest) + 1))
        return bool(bound * (1.0 + ROUNDING) <= value)


def working_set(pencil: Pencil, k: int) -> WorkingSet | None:
    """The variables worth looking at for supports of size k; None for data in memory, which need no selection."""
    if pencil.in_memory:
        return None
    kept = np.sort(largest_first(scores(pencil, size := min(pencil.n, max(WORKING_SET, 10 * k))), size))
    part = pencil.restrict(kept)
    return WorkingSet(pencil, kept, part) if part.in_memory or size < pencil.n else None


def scores(pencil: Pencil, size: int) -> Vector:
    """By what variables are kept: Aᵢᵢ/Bᵢᵢ, or where it hardly differs the length of row i of A, by random directions.

    The rows are those of A²Z for sixteen random directions Z, which weigh the leading eigenvectors most.
    """
    variances = pencil.A_diagonal / pencil.B_diagonal
    if size >= pencil.n or -np.sort(-variances)[size] < 0.5 * variances.max():
        return variances
    Z = np.random.default_rng(0).standard_normal((pencil.n, 16))
    Q = np.linalg.qr(pencil.A_dot(Z))[0]
    return np.linalg.norm(pencil.A_dot(Q), axis=1) / pencil.B_roots


def subset_bounds(A: Matrix, k: int) -> list[float]:
    """Upper bounds on λmax of principal submatrices of size 0, …, k, by Gershgorin's rows and by the trace."""
    off = np.abs(A) - np.diag(np.abs(np.diagonal(A)))
    largest = -np.sort(-off, axis=1)[:, : k - 1]
    rows = np.diagonal(A)[:, None] + np.cumsum(np.hstack([np.zeros((len(A), 1)), largest]), axis=1)
    traces = np.cumsum(-np.sort(-np.diagonal(A)))
    bounds = [min(float(rows[:, j].max()), float(traces[j])) for j in range(min(k, len(A)))]
    return [0.0, *bounds, *[bounds[-1]] * (k - len(bounds))]


def affordable(pencil: Pencil, rho: float) -> WorkingSet | None:
    """The variables that an optimal support of max xᵀAx − ρ̃‖x‖₀ may have (SGEV-R): Aᵢᵢ ≥ ρ̃; None for data in memory.

    Proof, for B = I and A ⪰ 0: λmax(A_SS) ≤ λmax(A on S without i) + Aᵢᵢ, so that for Aᵢᵢ < ρ̃ the support without i
    is worth more.
    """
    if pencil.in_memory:
        return None
    kept = np.flatnonzero(pencil.A_diagonal >= rho * (1.0 - ROUNDING))
    if not len(kept):
        raise InvalidParameter(f"rho = {rho:g} exceeds every variance (largest {pencil.A_scale:.6g}): lower rho.")
    return WorkingSet(pencil, kept, pencil.restrict(kept))
