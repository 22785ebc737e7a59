"""Deflation in the metric of B: take a component out of A and look for the next one (Section 4.4, Section 5.1).

With B = LLᵀ and z = Lᵀx the pencil (A, B) is the ordinary problem of L⁻¹AL⁻ᵀ, in which Mackey
(2008) defines his deflations for unit vectors. Written back in x each has the form below, where
W is B-orthonormal (WᵀBW = I): the component itself, or, when the pencil has views (CCA), one
column per view, so that both views are deflated and A keeps its zero blocks.

For an eigenvector all four rules agree: the eigenvalue becomes zero and the others stay. For a sparse
vector, which is none, they differ. Hotelling's may leave A indefinite and may find the same variables
again; projection and Schur's complement keep A ⪰ 0 and its factor. "orthogonalized-hotelling", Hotelling's
rule on the part of x that is orthogonal to the earlier components, is the one by which the paper's numbers
for the pit props come out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np

from .._numerics.checks import (
    UNIT_ROUNDOFF,
    Matrix,
    Vector,
    as_callback,
    as_vector,
    check_bytes,
    frozen,
    largest,
    listed,
    one_of,
    says_stop,
    shown,
)
from .._numerics.spectra import power_of_two
from ..certificates import Solution, checked_k, value
from ..errors import InvalidParameter
from ..pencils import Gram, Pencil, expect_pencil
from . import explained
from .view_counts import checked_ks, solve_views

if TYPE_CHECKING:
    from .paths import Effort

Deflation: TypeAlias = Literal["orthogonalized-hotelling", "hotelling", "projection", "schur"]


@dataclass(frozen=True)
class Components:
    """Sparse components in the order in which they were found, each valued against the undeflated pencil.

    V holds them as columns, unit in the B norm; deflated_values are their values in the
    deflated pencils in which they were found.

    The two kinds of values differ because sparse components are correlated: in the deflated pencil a
    component is worth only what the earlier ones did not explain.

    Examples
    --------
    >>> from dcgev_cvx import components, datasets
    >>> found = components(datasets.pitprops(), [2, 2], effort="quick")
    >>> [solution.support for solution in found.solutions], found.V.shape
    ([(0, 1), (5, 6)], (13, 2))
    >>> [round(float(share), 3) for share in found.projector_trace()]
    [0.15, 0.29]
    """

    pencil: Pencil
    solutions: tuple[Solution, ...]
    V: Matrix
    deflated_values: tuple[float, ...]
    deflation: Deflation

    @property
    def values(self) -> tuple[float, ...]:
        """xᵀAx/xᵀBx of each component, A undeflated."""
        return tuple(solution.value for solution in self.solutions)

    @property
    def cardinalities(self) -> tuple[int, ...]:
        """The number of nonzeros of each component."""
        return tuple(solution.k for solution in self.solutions)

    def projector_trace(self) -> Vector:
        """tr(P_V A)/tr(A) of the first 1, 2, … components: the paper's measure.

        Nondecreasing and at most 1. Raises InvalidParameter where A is no variance (CCA).
        """
        return self._cumulative(explained.projector_trace)

    def adjusted(self) -> Vector:
        """Zou's adjusted variance of the first 1, 2, … components, as a share of the total.

        Depends on the order of the components: each is credited with what the earlier ones left.
        """
        return self._cumulative(explained.adjusted)

    def plain_sum(self) -> Vector:
        """Σ xᵀAx/tr(A) of the first 1, 2, … components: counts shared variance more than once.

        The only one of the three that needs no look at the other components, and the only one without a limit.
        """
        return self._cumulative(explained.plain_sum)

    def _cumulative(self, measure: Callable[[Pencil, Matrix], float]) -> Vector:
        return np.array([measure(self.pencil, self.V[:, : j + 1]) for j in range(self.V.shape[1])])

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and lists, for JSON; the shares of explained variance only where A is a variance."""
        found: dict[str, Any] = {
            "deflation": self.deflation,
            "components": [solution.to_dict() for solution in self.solutions],
            "deflated_values": list(self.deflated_values),
        }
        if explained.is_variance(self.pencil):
            names = ("projector_trace", "adjusted", "plain_sum")
            found["explained"] = {name: getattr(self, name)().tolist() for name in names}
        return found

    def __str__(self) -> str:
        lines = [f"{j + 1}. {solution}" for j, solution in enumerate(self.solutions)]
        if explained.is_variance(self.pencil):
            shares = (self.projector_trace()[-1], self.adjusted()[-1], self.plain_sum()[-1])
            lines.append("projector trace {:.2%}, adjusted {:.2%}, plain sum {:.2%}".format(*shares))
        return "\n".join(lines)


def components(
    pencil: Pencil,
    ks: Sequence[int | Sequence[int]],
    *,
    deflation: Deflation = "orthogonalized-hotelling",
    effort: Effort = "normal",
    random_state: int = 0,
    callback: Callable[[Solution], Any] | None = None,
) -> Components:
    """Sparse components one after the other, A deflated by each before the next is sought (Section 4.4).

    ks gives the cardinality of each; for a pencil with views an entry may be a tuple such as
    (kx, ky). The callback sees each component when it is found; one that returns True ends the search.

    Parameters
    ----------
    pencil
        (A, B); with views (cca_pencil) both views of a component are deflated.
    ks
        One cardinality per component, or for views one tuple per component. Its length is the number of
        components.
    deflation
        "orthogonalized-hotelling" (the paper's), "hotelling", "projection" or "schur". For A = CᵀC with large n
        take one of the last two, which keep the factor; the others form an n × n matrix.
    effort, random_state
        Passed to `solve` for each component.
    callback
        Called with each Solution, its value against the undeflated A.

    Returns
    -------
    Components
        As many as were found before the callback said stop.

    Raises
    ------
    InvalidParameter
        For an empty ks, a cardinality out of range, an unknown deflation, more components than A has rank, or
        (Schur) a component that explains nothing.

    Examples
    --------
    >>> from dcgev_cvx import components, datasets
    >>> components(datasets.pitprops(), [])
    Traceback (most recent call last):
    dcgev_cvx.errors.InvalidParameter: ks is empty: give one cardinality per component, e.g. ks=[6, 2, 2].
    """
    expect_pencil(pencil)
    wanted = listed(ks)
    if not wanted:
        empty = "ks is empty: give" if isinstance(ks, (list, tuple)) else f"ks = {shown(ks)} must list"
        raise InvalidParameter(f"{empty} one cardinality per component, e.g. ks=[6, 2, 2].")
    rule_of(deflation)
    listener = as_callback(callback, "callback")
    for k in wanted:
        checked_ks(pencil, k) if isinstance(k, Sequence) and not isinstance(k, str) else checked_k(k, pencil.n)
    current, found, V = pencil, np.zeros((pencil.n, 0)), np.zeros((pencil.n, 0))
    solutions: list[Solution] = []
    inner: list[float] = []
    for j, k in enumerate(wanted):
        if j:
            # deflated before the search and not after it: the last component needs no deflation
            current = deflate(current, V[:, -1], deflation, found)
            found = np.column_stack([found, orthonormal(pencil, directions(pencil, V[:, -1]), found)])
            refuse_empty(current, pencil, j)
        solution = find(current, k, effort, random_state)
        inner.append(solution.value)
        solutions.append(replace(solution, value=value(pencil, solution.x)))
        V = np.column_stack([V, solution.x])
        if listener is not None and says_stop(listener(solutions[-1])):
            break
    return Components(pencil, tuple(solutions), frozen(V), tuple(inner), deflation)


def find(pencil: Pencil, k: int | Sequence[int], effort: Effort, random_state: int) -> Solution:
    """Solve for one cardinality, or for one per view.

    Whether k lies on the ρ̃ path is not asked: a deflated pencil's path is of no interest.
    """
    if isinstance(k, Sequence):
        return solve_views(pencil, k, effort=effort, random_state=random_state)
    from .paths import solve

    return solve(pencil, k, effort=effort, random_state=random_state, check_path=False)


def refuse_empty(deflated: Pencil, pencil: Pencil, j: int) -> None:
    """Stop when A has been used up: what is left is rounding.

    Without it the search would return components of rounding errors, scaled up to look like directions.
    """
    if deflated.A_scale <= 100.0 * pencil.n * UNIT_ROUNDOFF * pencil.A_scale:
        raise InvalidParameter(
            f"Nothing is left of A after {j} component(s): it has rank {j} or less. Ask for at most {j}."
        )


def deflate(pencil: Pencil, x: Vector, deflation: Deflation, found: Matrix | None = None) -> Pencil:
    """The pencil without the component x; `found` holds the earlier W (one column per view and component).

    Parameters
    ----------
    x
        The component to take out, any nonzero vector; only its direction matters.
    found
        The B-orthonormal directions taken out so far; used by "orthogonalized-hotelling" alone.

    B, names and blocks stay: only A changes, so that later components are still scaled in the same metric.

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
    if found is not None and np.shape(found) != (pencil.n, 0):
        earlier = checked_directions(pencil, found, "found")
        W = orthonormal(pencil, W, earlier) if deflation == "orthogonalized-hotelling" else W
    A = rule(pencil, W) if W.shape[1] else pencil.A
    return Pencil(A, pencil.B, pencil.names, pencil.blocks)


def directions(pencil: Pencil, x: Vector) -> Matrix:
    """W: x scaled to unit B norm, or its nonzero views, each scaled to unit B norm and embedded in its rows.

    With views a component x = (wx, wy) gives two columns. Deflating by x itself would fill the diagonal blocks of A,
    which in CCA are zero by definition.
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
    """W made B-orthonormal to `found` by Gram–Schmidt, twice for the rounding; what they already span drops out.

    "Twice is enough": after one pass the remainder may have lost digits to cancellation, after a second it is
    orthogonal to working precision. What remains below 1e3·n·u was in the span already.
    """
    columns: list[Vector] = []
    for w in W.T:
        basis = np.column_stack([found, *columns])
        rest = w
        # once is not enough where w lies nearly in the span
        for _ in range(2):
            rest = rest - basis @ (basis.T @ pencil.B_dot(rest))
        norm = pencil.B_norm(rest)
        if norm > 1e3 * pencil.n * UNIT_ROUNDOFF:
            columns.append(rest / norm)
    return np.column_stack(columns) if columns else np.zeros((pencil.n, 0))


def checked_directions(pencil: Pencil, W: Matrix, what: str = "W") -> Matrix:
    """W with WᵀBW = I, without which the rules below mean nothing; InvalidParameter says by how much it fails."""
    W = explained.checked_loadings(pencil, W, what)
    with np.errstate(over="ignore", invalid="ignore"):
        error = float(np.max(np.abs(W.T @ np.column_stack([pencil.B_dot(w) for w in W.T]) - np.eye(W.shape[1]))))
    if not error <= 1e-8:
        raise InvalidParameter(f"{what} must be B-orthonormal, WᵀBW = I, but max |WᵀBW − I| = {error:.3g}.")
    return W


def hotelling(pencil: Pencil, W: Matrix) -> Matrix:
    """A − BW(WᵀAW)WᵀB: for an eigenvector its eigenvalue becomes zero and nothing else changes.

    For any other vector (wᵀAw)(wᵀA⁺w) > 1 in the metric, so the result has a negative
    eigenvalue: it is no Gram matrix and is formed, n × n. Orthogonalized Hotelling
    deflation (Mackey 2008, the paper's) is this rule with W orthogonal to the earlier ones.

    Proof of the negative eigenvalue, with B = I and A ≻ 0: put z = A⁻¹w and q = wᵀA⁻¹w. Then
    zᵀ(A − (wᵀAw)wwᵀ)z = q(1 − (wᵀAw)q), and (wᵀAw)q ≥ 1 by Cauchy and Schwarz, with equality for
    eigenvectors only.
    """
    W = checked_directions(pencil, W)
    if isinstance(pencil.A, Gram):
        check_bytes(
            (pencil.n, pencil.n),
            "Hotelling's deflated A",
            'Use deflation="projection" or "schur", which keep the factor C.',
        )
    A = pencil.A.toarray() if isinstance(pencil.A, Gram) else pencil.A
    BW = np.column_stack([pencil.B_dot(w) for w in W.T])
    return even(A - BW @ (W.T @ times(pencil, W)) @ BW.T)


def projection(pencil: Pencil, W: Matrix) -> Matrix | Gram:
    """(I − BWWᵀ)A(I − WWᵀB): the later components see A on the B-orthogonal complement of W only.

    A factor stays one: C − (CW)(BW)ᵀ.

    For every x in the span of W the deflated xᵀAx is 0, and A ⪰ 0 stays so, being multiplied from both sides.
    """
    W = checked_directions(pencil, W)
    BW = np.column_stack([pencil.B_dot(w) for w in W.T])
    if isinstance(pencil.A, Gram):
        return Gram(pencil.A.C - (pencil.A.C @ W) @ BW.T)
    AW = times(pencil, W)
    cross = AW @ BW.T
    return even(pencil.A - cross - cross.T + BW @ (W.T @ AW) @ BW.T)


def schur(pencil: Pencil, W: Matrix) -> Matrix | Gram:
    """A − AW(WᵀAW)⁻¹WᵀA: the covariance that is left once the scores of W are known; B plays no part.

    A factor stays one: C − QQᵀC with Q an orthonormal basis of CW.

    Afterwards AW = 0: the scores of later components are uncorrelated with those of W. If A ⪰ 0 it stays so, as
    Schur complements do.

    Raises InvalidParameter when WᵀAW is singular, which for A ⪰ 0 says that a component explains nothing.
    """
    W = checked_directions(pencil, W)
    if isinstance(pencil.A, Gram):
        Q, R = np.linalg.qr(pencil.A.C @ W)
        refuse_flat(np.abs(np.diagonal(R)) ** 2, pencil)
        return Gram(pencil.A.C - Q @ (Q.T @ pencil.A.C))
    AW = times(pencil, W)
    M = W.T @ AW
    refuse_flat(np.abs(np.linalg.eigvalsh(0.5 * (M + M.T))), pencil)
    return even(pencil.A - AW @ np.linalg.solve(M, AW.T))


RULES: dict[str, Callable[[Pencil, Matrix], Matrix | Gram]] = {
    "orthogonalized-hotelling": hotelling,
    "hotelling": hotelling,
    "projection": projection,
    "schur": schur,
}
assert set(RULES) == set(get_args(Deflation))


def rule_of(deflation: str) -> Callable[[Pencil, Matrix], Matrix | Gram]:
    """The rule by name, or the nearest name."""
    return RULES[one_of(deflation, "deflation", RULES)]


def times(pencil: Pencil, W: Matrix) -> Matrix:
    """AW, column by column."""
    return np.column_stack([pencil.A @ w for w in W.T])


def even(A: Matrix) -> Matrix:
    """(A + Aᵀ)/2: rounding has no say in the symmetry."""
    return 0.5 * (A + A.T)


def refuse_flat(values: Vector, pencil: Pencil) -> None:
    """WᵀAW must be invertible for Schur's complement."""
    if not np.min(values) > pencil.n * UNIT_ROUNDOFF * pencil.A_scale / pencil.B_scale:
        raise InvalidParameter(
            f"WᵀAW is singular (smallest |eigenvalue| {np.min(values):.3g}): a component that explains nothing has "
            'no Schur complement. Use deflation="projection".'
        )


__all__ = ["Components", "Deflation", "components", "deflate", "hotelling", "projection", "schur"]
