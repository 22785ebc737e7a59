"""Deflation in the metric of B: the pencil without a component (Section 4.4, Section 5.1).

With B = LLᵀ and z = Lᵀx the pencil (A, B) is the ordinary problem of L⁻¹AL⁻ᵀ, in which Mackey (2008) defines his
deflations for unit vectors. Written back in x each has the form below, where W is B-orthonormal (WᵀBW = I): the
component itself, or, when the pencil has views (CCA), one column per view, so that both views are deflated and A
keeps its zero blocks.

For an eigenvector all four rules agree: the eigenvalue becomes zero and the others stay. For a sparse vector they
differ. Hotelling's may leave A indefinite and may find the same variables again; projection and Schur's complement
keep A ⪰ 0 and its factor. "orthogonalized-hotelling", Hotelling's rule on the part of x that is orthogonal to the
earlier components, is the one by which the paper's numbers for the pit props come out.
"""

from collections.abc import Callable
from typing import Literal, TypeAlias

import numpy as np

from .._numerics.checks import UNIT_ROUNDOFF, Matrix, Vector, as_vector, check_bytes, largest, one_of
from .._numerics.spectra import power_of_two
from ..errors import InvalidParameter
from ..pencils import Pencil, expect_pencil
from .explained_variance import checked_loadings

Deflation: TypeAlias = Literal["orthogonalized-hotelling", "hotelling", "projection", "schur"]


def deflate(pencil: Pencil, x: Vector, deflation: Deflation, earlier: Matrix | None = None) -> Pencil:
    """The pencil without the component x: only A changes.

    Parameters
    ----------
    pencil : Pencil
        (A, B).
    x : array
        The component to take out, any nonzero vector; only its direction matters.
    deflation : {"orthogonalized-hotelling", "hotelling", "projection", "schur"}
        The rule.
    earlier : array or None
        The components taken out before, one per column; used by "orthogonalized-hotelling" alone.

    Returns
    -------
    Pencil
        The deflated A with the same B.

    Examples
    --------
    Without its leading eigenvector the pencil's largest eigenvalue is the second one:

    >>> import numpy as np
    >>> from dcgev_cvx import datasets, deflate
    >>> pencil = datasets.pitprops()
    >>> second = float(np.linalg.eigvalsh(pencil.dense()[0])[-2])
    >>> round(deflate(pencil, pencil.leading_vector, "hotelling").lambda_max / second, 9)
    1.0
    """
    rule = rule_of(deflation)
    W = directions(expect_pencil(pencil), x)
    if earlier is not None and np.shape(earlier) != (pencil.n, 0):
        vectors, found = checked_loadings(pencil, earlier, "earlier").T, np.zeros((pencil.n, 0))
        if deflation == "orthogonalized-hotelling":
            for v in vectors:
                found = np.column_stack([found, orthonormal(pencil, directions(pencil, v), found)])
            W = orthonormal(pencil, W, found)
    return rule(pencil, W) if W.shape[1] else pencil


def directions(pencil: Pencil, x: Vector) -> Matrix:
    """W: x scaled to unit B norm, or its nonzero views, each scaled to unit B norm and embedded in its rows.

    Deflating a CCA pencil by x itself would fill the diagonal blocks of A, which are zero by definition.
    """
    x = as_vector(x, pencil.n, "x")
    if not np.any(x):
        raise InvalidParameter("x = 0 is not a direction: there is nothing to deflate.")
    columns: list[Vector] = []
    for rows in pencil.views:
        w = np.zeros(pencil.n)
        w[rows] = x[rows]
        if np.any(w):
            w /= power_of_two(largest(w))  # exact: only the direction matters, and its square must be a number
            columns.append(w / pencil.B_norm(w))
    return np.column_stack(columns)


def orthonormal(pencil: Pencil, W: Matrix, found: Matrix) -> Matrix:
    """W made B-orthonormal to `found` by Gram–Schmidt, twice for the rounding; what they already span drops out."""
    columns: list[Vector] = []
    for w in W.T:
        basis = np.column_stack([found, *columns])
        rest = w
        # once is not enough where w lies nearly in the span, and twice is
        for _ in range(2):
            rest = rest - basis @ (basis.T @ pencil.B_dot(rest))
        norm = pencil.B_norm(rest)
        if norm > 1e3 * pencil.n * UNIT_ROUNDOFF:
            columns.append(rest / norm)
    return np.column_stack(columns) if columns else np.zeros((pencil.n, 0))


def hotelling(pencil: Pencil, W: Matrix) -> Pencil:
    """A − BW(WᵀAW)WᵀB: for an eigenvector its eigenvalue becomes zero and nothing else changes.

    For any other vector the result has a negative eigenvalue, so it is no Gram matrix and is formed, n × n.
    Orthogonalized Hotelling deflation (Mackey 2008, the paper's) is this rule with W orthogonal to the earlier
    ones.

    Proof of the negative eigenvalue, with B = I and A ≻ 0: put z = A⁻¹w and q = wᵀA⁻¹w. Then
    zᵀ(A − (wᵀAw)wwᵀ)z = q(1 − (wᵀAw)q), and (wᵀAw)q ≥ 1 by Cauchy and Schwarz, with equality for
    eigenvectors only.
    """
    check_bytes(
        (pencil.n, pencil.n),
        "Hotelling's deflated A",
        'Use deflation="projection" or "schur", which keep the factor C.',
    )
    BW = B_times(pencil, W)
    A = pencil.dense()[0] - BW @ (W.T @ pencil.A_dot(W)) @ BW.T
    return pencil.with_A(0.5 * (A + A.T))


def projection(pencil: Pencil, W: Matrix) -> Pencil:
    """(I − BWWᵀ)A(I − WWᵀB): the later components see A on the B-orthogonal complement of W only.

    A factor stays one: C − (CW)(BW)ᵀ. For every x in the span of W the deflated xᵀAx is 0, and A ⪰ 0 stays so.
    """
    return pencil.deflated(W, B_times(pencil, W))


def schur(pencil: Pencil, W: Matrix) -> Pencil:
    """A − AW(WᵀAW)⁻¹WᵀA: the covariance that is left once the scores of W are known; B plays no part.

    It is (I − VWᵀ)A(I − WVᵀ) with V = AW(WᵀAW)⁻¹, so that a factor stays one. Afterwards AW = 0: the scores of later
    components are uncorrelated with those of W, and A ⪰ 0 stays so. Where WᵀAW is singular, for A ⪰ 0 a component
    that explains nothing, it raises InvalidParameter.
    """
    AW = pencil.A_dot(W)
    M = W.T @ AW
    check_invertible(np.abs(np.linalg.eigvalsh(0.5 * (M + M.T))), pencil)
    return pencil.deflated(W, np.asarray(np.linalg.solve(M, AW.T).T, dtype=np.float64))


def rule_of(deflation: str) -> Callable[[Pencil, Matrix], Pencil]:
    """The rule by name."""
    rules = {"orthogonalized-hotelling": hotelling, "hotelling": hotelling, "projection": projection, "schur": schur}
    return rules[one_of(deflation, "deflation", rules)]


def B_times(pencil: Pencil, W: Matrix) -> Matrix:
    """BW."""
    return W if pencil.B is None else pencil.B @ W


def check_invertible(values: Vector, pencil: Pencil) -> None:
    """WᵀAW must be invertible for Schur's complement."""
    if not np.min(values) > pencil.n * UNIT_ROUNDOFF * pencil.A_scale / pencil.B_scale:
        raise InvalidParameter(
            f"WᵀAW is singular (smallest |eigenvalue| {np.min(values):.3g}): a component that explains nothing has "
            'no Schur complement. Use deflation="projection".'
        )
