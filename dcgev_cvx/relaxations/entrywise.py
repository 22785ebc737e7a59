"""SDPs that tie sparsity to X by its moduli: the paper's 1ᵀ|X|1 ≤ radius², the homogeneous budget, DSPCA's penalty.

All three have the same dual up to two constants (c, r): minimise λmax(A + U + c·b·D², B) + r·b over symmetric U with
|Uᵢⱼ| ≤ b·dᵢdⱼ. (c, r) = (0, radius²) for a fixed budget, (k, 0) for the homogeneous one, and b = ρ fixed for the
penalty. The proof is Lagrange's: the multiplier b of the budget turns b·Σ dᵢdⱼ|Xᵢⱼ| into max over such U of −tr(UX),
and max tr(X(A + U + …)) over tr(XB) = 1, X ⪰ 0 is an eigenvalue.

With a budget for each view the moduli between any two views have a limit and a multiplier b of their own. For
X = xxᵀ and s_g = Σ_{i∈g} dᵢ|xᵢ| they are s_g·s_h ≤ r_g·r_h, or s_g·s_h ≤ √(k_g T_g·k_h T_h) with T_g = Σ_{i∈g} dᵢ²xᵢ²
by Cauchy and Schwarz in each view. The sums over all views, (Σ s_g)² ≤ (Σ r_g)² and (Σ s_g)² ≤ k Σ T_g, follow from
these, so that no further limit makes the relaxations tighter.
"""

import numpy as np

from .. import models
from .._numerics.checks import Vector, as_number
from ..budgets import Budget, Cardinality
from ..pencils import Pencil
from .bounds import (
    Radius,
    Scale,
    checked_radius,
    homogeneous_bound,
    penalized_bound,
    radius_bound,
    scale_vector,
    valid_budget,
)
from .relaxation import Relaxation
from .solving import Limit, ScaledData, SolverChoice, solved_sdp


def entrywise_sdp(
    pencil: Pencil,
    radius: Radius,
    *,
    k: Cardinality | None = None,
    solver: SolverChoice = None,
    time_limit: float | None = None,
    force: bool = False,
) -> Relaxation:
    """Solve max tr(XA) s.t. tr(XB) ≤ 1, 1ᵀ|X|1 ≤ radius², X ⪰ 0, the paper's tractable form (Section 3).

    It relaxes max xᵀAx s.t. xᵀBx ≤ 1, ‖x‖₁ ≤ radius, and bounds (SGEV-P) for k ≤ `valid_k` only. Take the radius from
    `radius_for(pencil, k, "paper")` = k or `radius_for(pencil, k, "valid")` = √(k/λmin(B)).

    Parameters
    ----------
    pencil : Pencil
        The pencil (A, B), n ≤ 250 unless forced.
    radius : float or sequence of float
        The ℓ1 budget, > 0, or one for each view: Σ |Xᵢⱼ| ≤ r_g·r_h over i in g and j in h then. Above √(n/λmin(B)) it
        is slack and the value is λmax(A, B)₊.
    k : int or sequence of int, optional
        The number of nonzeros of the rounded vector, which is not part of the SDP; `valid_k` by default.
    solver : str or Backend, optional
        By default Clarabel up to n = 30, SCS beyond.
    time_limit : float, optional
        Seconds for Clarabel or SCS; other solvers are not limited. An answer cut short still gives a valid bound.
    force : bool
        Build the SDP beyond n = 250.

    Returns
    -------
    Relaxation
        The value, the proved bound and the rounded vector.

    Raises
    ------
    InvalidParameter
        If the radius or k is out of range, or n is above the limit without force.
    SolverFailed
        If no solver of the backend returns a matrix.

    Examples
    --------
    The paper's radius k = 2 allows much more than two nonzeros; √2 is what two nonzeros need:

    >>> from dcgev_cvx import datasets
    >>> from dcgev_cvx.relaxations import entrywise_sdp
    >>> pencil = datasets.pitprops()
    >>> round(entrywise_sdp(pencil, 2.0).upper_bound, 3), round(entrywise_sdp(pencil, 2.0**0.5).upper_bound, 3)
    (3.017, 1.954)
    """
    radii, labels = checked_radius(pencil, radius)
    rounding = None if k is None else Budget.of(pencil, k)
    data = ScaledData.of(pencil, time_limit, force)
    valid = valid_budget(pencil, radius)
    scaled, given = data.radius(np.array(radii)), np.minimum(radii, 1e150)  # squares are numbers
    one = len(radii) == 1
    return solved_sdp(
        f"entrywise SDP (radius {', '.join(f'{r:.4g}' for r in radii)})",
        data,
        solver,
        models.entrywise_sdp if one else lambda A, B, r, d: models.entrywise_sdp_by_group(A, B, r, labels, d),
        (scaled[0], given[0]) if one else (scaled, given),
        lambda U, _: radius_bound(pencil, radius, U),
        Limit(labels, radii=scaled),
        rounding=Budget(labels, tuple(max(1, count) for count in valid.counts)) if rounding is None else rounding,
        valid_for=valid,
    )


def homogeneous_sdp(
    pencil: Pencil,
    k: Cardinality,
    *,
    scale: Scale | Vector = "diagonal",
    solver: SolverChoice = None,
    time_limit: float | None = None,
    force: bool = False,
) -> Relaxation:
    """Solve max tr(XA) s.t. tr(XB) = 1, Σ dᵢdⱼ|Xᵢⱼ| ≤ k Σ dᵢ²Xᵢᵢ, X ⪰ 0 (beyond the paper).

    A k-sparse x has (Σ dᵢ|xᵢ|)² ≤ k Σ dᵢ²xᵢ² for every positive d, so xxᵀ is feasible: a relaxation of (SGEV-P) for
    every B. No radius and no λmin(B) enter, and the value may be negative, as (SGEV-P)'s may. At k = n the value is
    λmax(A, B); at k = 1 it is max Aᵢᵢ/Bᵢᵢ, exact.

    Parameters
    ----------
    pencil : Pencil
        The pencil (A, B), n ≤ 250 unless forced.
    k : int or sequence of int
        The cardinality, or one for each view: Σ dᵢdⱼ|Xᵢⱼ| ≤ √(k_g T_g·k_h T_h) over i in g and j in h then, with
        T_g = Σ_{i∈g} dᵢ²Xᵢᵢ.
    scale : {"diagonal", "identity"} or array_like
        The weights d: diag(B)^½, which makes the value independent of the variables' units, 1, or a positive vector.
        Every choice is valid.
    solver : str or Backend, optional
        By default Clarabel up to n = 30, SCS beyond.
    time_limit : float, optional
        Seconds for Clarabel or SCS; other solvers are not limited. An answer cut short still gives a valid bound.
    force : bool
        Build the SDP beyond n = 250.

    Returns
    -------
    Relaxation
        The value, the proved bound and the rounded vector.

    Examples
    --------
    >>> from dcgev_cvx import datasets
    >>> from dcgev_cvx.relaxations import homogeneous_sdp
    >>> relaxed = homogeneous_sdp(datasets.pitprops(), 6)
    >>> round(relaxed.rounded.value, 4), round(relaxed.upper_bound, 4)
    (3.771, 3.8137)
    """
    d, budget = scale_vector(pencil, scale), Budget.of(pencil, k)
    data = ScaledData.of(pencil, time_limit, force, d)
    one, counts = len(budget.counts) == 1, budget.counts
    return solved_sdp(
        "homogeneous SDP",
        data,
        solver,
        models.homogeneous_sdp
        if one
        else lambda A, B, k, d: models.homogeneous_sdp_by_group(A, B, k, budget.labels, d),
        (counts[0], counts[0]) if one else (counts, counts),
        lambda U, X: homogeneous_bound(pencil, budget, U, scale=d, X=X),
        Limit(budget.labels, budget),
        rounding=budget,
        valid_for=budget,
    )


def penalized_sdp(
    pencil: Pencil,
    rho: float,
    *,
    k: Cardinality | None = None,
    solver: SolverChoice = None,
    time_limit: float | None = None,
    force: bool = False,
) -> Relaxation:
    """Solve max tr(XA) − ρ1ᵀ|X|1 s.t. tr(XB) ≤ 1, X ⪰ 0, DSPCA's penalised form (Section 4).

    value and upper_bound are those of max xᵀAx − ρ‖x‖₁². A k-sparse x with xᵀBx = 1 has ‖x‖₁² ≤ k/λmin(B), so
    upper_bound + ρk/λmin(B) bounds (SGEV-P) at k; upper_bound alone does at no k, and valid_k is 0.

    Parameters
    ----------
    pencil : Pencil
        The pencil (A, B), n ≤ 250 unless forced.
    rho : float
        The price ρ ≥ 0 of 1ᵀ|X|1, in the units of A. The value falls from λmax(A, B)₊ at ρ = 0 to 0.
    k : int or sequence of int, optional
        The number of nonzeros of the rounded vector; by default the number of diagonal entries of X that stand out.
    solver : str or Backend, optional
        By default Clarabel up to n = 30, SCS beyond.
    time_limit : float, optional
        Seconds for Clarabel or SCS; other solvers are not limited. An answer cut short still gives a valid bound.
    force : bool
        Build the SDP beyond n = 250.

    Returns
    -------
    Relaxation
        The value, the proved bound and the rounded vector.

    Examples
    --------
    >>> from dcgev_cvx import datasets
    >>> from dcgev_cvx.relaxations import penalized_sdp
    >>> relaxed = penalized_sdp(datasets.pitprops(), 0.5)
    >>> relaxed.rounded.support, round(relaxed.upper_bound, 3)
    ((0, 1, 6, 8, 9), 1.025)
    """
    rho = as_number(rho, "rho")
    data = ScaledData.of(pencil, time_limit, force)
    # from 2·max|Aᵢⱼ| on X = 0 is the optimum: a solver need not be given more
    price = min(rho, 2.0 * pencil.A_scale) * data.unit * data.unit / data.scaling.o
    return solved_sdp(
        f"penalised SDP (rho {rho:.4g})",
        data,
        solver,
        models.dspca,
        (price, rho),
        lambda U, _: penalized_bound(pencil, rho, U),
        Limit(np.zeros(pencil.n, dtype=np.intp)),
        rounding=None if k is None else Budget.of(pencil, k),
        valid_for=Budget.whole(pencil.n, 0),
        price=price,
    )
