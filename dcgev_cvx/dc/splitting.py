"""CVXPY expressions and constraints taken apart into convex minus convex, and checked."""

from collections.abc import Iterable, Sequence
from typing import Any

import cvxpy as cp
import numpy as np
from cvxpy.atoms.affine.add_expr import AddExpression
from cvxpy.atoms.affine.affine_atom import AffAtom
from cvxpy.atoms.affine.binary_operators import DivExpression, MulExpression
from cvxpy.atoms.affine.unary_operators import NegExpression
from cvxpy.constraints.nonpos import Inequality
from cvxpy.constraints.zero import Equality

from .._numerics.checks import shown
from ..errors import InvalidParameter
from .cvxpy_internals import dense_value as dense


def split(e: Any) -> tuple[Any, Any]:
    """(u, v), both convex, with e = u − v, for a sum of convex and concave terms.

    Parameters
    ----------
    e : cp.Expression
        A real expression of any shape.

    Returns
    -------
    tuple of cp.Expression
        u and v.

    Raises
    ------
    InvalidParameter
        Names the first subexpression that is neither convex, nor concave, nor an affine function of such terms.

    Examples
    --------
    >>> import cvxpy as cp
    >>> from dcgev_cvx.dc.splitting import split
    >>> x = cp.Variable(name="x")
    >>> u, v = split(cp.exp(x) - 2 * cp.abs(x))
    >>> print(u, "minus", v)
    exp(x) minus 2.0 * abs(x)
    """
    if e.is_convex():
        return e, cp.Constant(np.zeros(e.shape))
    # terms before the whole: the affine terms of a concave sum go to u, and their variables then need no start
    if isinstance(e, AddExpression):
        u, v = zip(*map(split, e.args), strict=True)
        return total(u), total(v)
    if isinstance(e, NegExpression):
        u, v = split(e.args[0])
        return v, u
    if e.is_concave():
        return cp.Constant(np.zeros(e.shape)), -e
    if isinstance(e, cp.QuadForm) and e.args[1].is_constant() and not e.args[1].parameters():
        return split_quadratic(*e.args)
    product = isinstance(e, MulExpression | DivExpression | cp.multiply)
    if product and any(a.is_constant() for a in e.args):
        return split_product(e)
    if product or not isinstance(e, AffAtom) or not all(e.is_incr(i) for i in range(len(e.args))):
        raise InvalidParameter(
            f"the subexpression {shown(str(e))} has curvature {e.curvature}: it is neither convex nor concave by "
            "CVXPY's rules, nor a sum of such terms. Rewrite it; for example, x*y is ((x + y)**2 - (x - y)**2)/4."
        )
    u, v = zip(*map(split, e.args), strict=True)
    return e.copy(list(u)), e.copy(list(v))


def total(terms: Iterable[Any]) -> Any:
    """The sum of expressions of one shape, without those that are zero."""
    given = list(terms)
    kept = [term for term in given if not term.is_zero()] or given[:1]
    return sum(kept[1:], kept[0])


def split_quadratic(x: Any, P: Any) -> tuple[Any, Any]:
    """The split of xᵀPx: the positive and the negative eigenvalues of P are taken apart."""
    values, vectors = np.linalg.eigh(dense(P.value))
    parts = ((vectors * np.maximum(sign * values, 0.0)) @ vectors.T for sign in (1.0, -1.0))
    u, v = (cp.quad_form(x, cp.psd_wrap((part + part.T) / 2)) for part in parts)
    return u, v


def split_product(e: Any) -> tuple[Any, Any]:
    """The split of C @ e, C * e or e / C with a constant C: its positive and negative entries are taken apart."""
    k = next(i for i, a in enumerate(e.args) if a.is_constant())
    u, v = split(e.args[1 - k])

    def times(part: Any, factor: Any) -> Any:
        return e.copy([factor, part] if k == 0 else [part, factor])

    if e.is_incr(1 - k):
        return times(u, e.args[k]), times(v, e.args[k])
    if e.is_decr(1 - k):
        return -times(v, e.args[k]), -times(u, e.args[k])
    if e.args[k].parameters() or isinstance(e, DivExpression):
        raise InvalidParameter(f"the factor {shown(str(e.args[k]))} has no known sign. Declare it nonneg or nonpos.")
    plus, minus = (cp.Constant(np.maximum(sign * dense(e.args[k].value), 0.0)) for sign in (1.0, -1.0))
    return times(u, plus) + times(v, minus), times(v, plus) + times(u, minus)


def split_constraints(constraints: Iterable[Any]) -> tuple[list[Any], list[tuple[Any, Any]]]:
    """(the convex constraints, the pairs (u, v) of the others, each one u ≤ v with u and v convex).

    An equality of which one half is convex gives that half as a convex constraint and the other as a pair.
    """
    convex: list[Any] = []
    pairs: list[tuple[Any, Any]] = []
    for constraint in constraints:
        if not isinstance(constraint, cp.Constraint):
            raise InvalidParameter(
                f"constraints must be CVXPY constraints such as x >= 0 or x == 1; got {shown(constraint)}."
            )
        if constraint.is_dcp():
            convex.append(constraint)
            continue
        if not isinstance(constraint, Inequality | Equality):
            kind = type(constraint).__name__
            raise InvalidParameter(f"the {kind} constraint {shown(str(constraint))} is not convex by CVXPY's rules.")
        left, right = constraint.args
        for half in [left <= right, right <= left] if isinstance(constraint, Equality) else [left <= right]:
            if half.is_dcp():
                convex.append(half)
            else:
                pairs.append(split(half.args[0] - half.args[1]))
    return convex, pairs


def as_list(constraints: Any) -> list[Any]:
    """The constraints as a list."""
    if isinstance(constraints, cp.Constraint):
        raise InvalidParameter(f"constraints must be a list; got one constraint. Write [{constraints}].")
    try:
        return list(constraints)
    except TypeError as cause:
        raise InvalidParameter(
            f"constraints must be a list of CVXPY constraints such as [x >= 0]; got {shown(constraints)}."
        ) from cause


def as_convex(e: Any, what: str) -> Any:
    """A real, scalar, convex CVXPY expression, or an error that says which of these it is not."""
    if isinstance(e, (int, float, np.number)):
        e = cp.Constant(e)
    if not isinstance(e, cp.Expression) or e.size != 1 or e.is_complex():
        raise InvalidParameter(
            f"{what} must be a real, scalar CVXPY expression; got {shown(e)}. cp.sum(…) makes a vector scalar."
        )
    if not e.is_convex():
        raise InvalidParameter(
            f"{what} = {shown(str(e))} must be convex by CVXPY's rules; its curvature is {e.curvature.lower()}. "
            "DCProgram.from_problem splits sums of convex and concave terms by itself."
        )
    return cp.sum(e) if e.shape else e


def variables_of(parts: Sequence[Any]) -> list[cp.Variable]:
    """The variables of expressions and constraints, each once; integer and complex ones are not allowed."""
    found: dict[int, cp.Variable] = {variable.id: variable for part in parts for variable in part.variables()}
    for variable in found.values():
        if variable.attributes["boolean"] or variable.attributes["integer"]:
            raise InvalidParameter(
                f"variable {variable.name()} is integer; only continuous variables are allowed. "
                "A variable with values −1 and 1 is a continuous one with cp.square(x) == 1."
            )
        if variable.attributes.get("sparsity") not in (None, False):
            raise InvalidParameter(
                f"variable {variable.name()} has a sparsity pattern; only dense variables are allowed. "
                "Use a dense one with the constraint that its other entries are 0."
            )
        if variable.is_complex():
            raise InvalidParameter(
                f"variable {variable.name()} is complex; only real variables are allowed. "
                "Use two real variables for its real and imaginary parts."
            )
    if not found:
        raise InvalidParameter("the program has no variables; u, v and the constraints are constant.")
    return list(found.values())
