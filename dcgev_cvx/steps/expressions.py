"""CVXPY expressions taken apart: into convex minus convex, and into the tangent of a convex one.

A tangent needs a value and subgradients, which CVXPY's own `grad` gives. An expression is taken apart once as
outer(x, t) with tₖ = atomₖ(w) and w = inner(x), where outer and inner are affine. Then only the atoms are
evaluated at each point. CVXPY's `grad` of the whole expression computes the matrices of the affine maps again at
each call, which takes ten times as long.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from typing import Any

import cvxpy as cp
import numpy as np
from cvxpy.atoms.affine.add_expr import AddExpression
from cvxpy.atoms.affine.affine_atom import AffAtom
from cvxpy.atoms.affine.binary_operators import DivExpression, MulExpression
from cvxpy.atoms.affine.unary_operators import NegExpression
from cvxpy.constraints.nonpos import Inequality
from cvxpy.constraints.zero import Equality
from scipy import sparse

from .._numerics.checks import Vector, shown
from ..errors import InvalidParameter, SolverFailed


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
    >>> from dcgev_cvx.steps.expressions import split
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
            raise InvalidParameter(f"constraints must be CVXPY constraints such as x >= 0; got {shown(constraint)}.")
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


def as_convex(e: Any, what: str) -> Any:
    """A real, scalar, convex CVXPY expression, or an error that says which of these it is not."""
    if isinstance(e, (int, float, np.number)):
        e = cp.Constant(e)
    if not isinstance(e, cp.Expression) or e.size != 1 or e.is_complex():
        raise InvalidParameter(f"{what} must be a real, scalar CVXPY expression; got {shown(e)}.")
    if not e.is_convex():
        raise InvalidParameter(
            f"{what} = {shown(str(e))} must be convex by CVXPY's rules; its curvature is {e.curvature.lower()}. "
            "DCProgram.from_problem splits sums of convex and concave terms by itself."
        )
    return cp.sum(e) if e.shape else e


def variables_of(parts: Sequence[Any]) -> list[cp.Variable]:
    """The variables of expressions and constraints, each once; integer and complex ones are not allowed."""
    found = {variable.id: variable for part in parts for variable in part.variables()}
    for variable in found.values():
        if variable.attributes["boolean"] or variable.attributes["integer"]:
            raise InvalidParameter(
                f"variable {variable.name()} is integer; only continuous variables are allowed. "
                "A variable with values −1 and 1 is a continuous one with cp.square(x) == 1."
            )
        if variable.is_complex():
            raise InvalidParameter(
                f"variable {variable.name()} is complex; only real variables are allowed. "
                "Use two real variables for its real and imaginary parts."
            )
    if not found:
        raise InvalidParameter("the program has no variables; u, v and the constraints are constant.")
    return list(found.values())


class NoSubgradient(SolverFailed):
    """A convex expression has no subgradient at a point, which lies outside its domain or on its boundary."""

    @classmethod
    def of(cls, atom: Any) -> NoSubgradient:
        """The error for an atom at the values that its arguments have."""
        return cls(f"{type(atom).__name__} has no subgradient at {shown(atom.args[0].value)}.")


class Tangent:
    """The map x ↦ (e(x), a matrix of subgradients of e at x), for a convex expression e of the stacked variables.

    Where e has a kink, CVXPY's choice of subgradient is used: 0 for |x| and ‖x‖ at 0, one of the largest entries
    for a maximum. It depends on x alone.

    Parameters
    ----------
    expression : cp.Expression
        Convex, of any shape; its entries are taken in column-major order.
    variables : sequence of cp.Variable
        The variables in the order in which x stacks them, each in column-major order.

    Examples
    --------
    >>> import cvxpy as cp
    >>> import numpy as np
    >>> from dcgev_cvx.steps.expressions import Tangent
    >>> x = cp.Variable(2)
    >>> value, jacobian = Tangent(cp.sum_squares(x) - x[0], [x]).at(np.array([1.0, 2.0]))
    >>> value, jacobian.toarray()
    (array([4.]), array([[1., 4.]]))
    """

    def __init__(self, expression: Any, variables: Sequence[cp.Variable]) -> None:
        n = sum(variable.size for variable in variables)
        atoms: list[tuple[cp.Variable, Any]] = []
        outer, self._constant = affine_map(without_atoms(expression, atoms), [*variables, *(t for t, _ in atoms)])
        self.direct, self.weights = outer[:, :n], outer[:, n:]
        arguments: list[tuple[cp.Variable, Any]] = []
        self._others: list[tuple[int, Any, int, list[cp.Variable]]] = []
        norms: list[tuple[int, int, int]] = []
        row = column = 0
        for _, atom in atoms:
            first = len(arguments)
            atom, own = of_variables(atom, arguments), [w for w, _ in arguments[first:]]
            if is_euclidean(atom):
                norms.append((row, column, own[0].size))
            else:
                self._others.append((row, atom, column, own))
            row, column = row + atom.size, column + sum(w.size for w in own)
        self._shape = row, column
        self._norm_rows = np.concatenate([np.zeros(0, int), *(np.full(size, i) for i, _, size in norms)])
        self._norm_columns = np.concatenate([np.zeros(0, int), *(j + np.arange(size) for _, j, size in norms)])
        maps = [affine_map(argument, variables) for _, argument in arguments]
        self.inner = sparse.vstack([sparse.csr_array((0, n)), *(matrix for matrix, _ in maps)], format="csr")
        self._shift = np.concatenate([np.zeros(0), *(shift for _, shift in maps)])

    def at(self, x: Vector) -> tuple[Vector, Any]:
        """(e(x), the sparse matrix of the subgradients of its entries at x), or NoSubgradient."""
        return self.from_atoms(x, *self.atoms_at(x))

    def from_atoms(self, x: Vector, values: Vector, slopes: Any) -> tuple[Vector, Any]:
        """e(x) and its subgradients, from the values and slopes of its atoms."""
        value = self.direct @ x + self.weights @ values + self._constant
        through = self.weights @ (slopes @ self.inner)
        return value, self.direct + through if self.direct.nnz else through

    def atoms_at(self, x: Vector) -> tuple[Vector, Any]:
        """(the atoms' values, the sparse matrix of their slopes in their arguments inner·x + shift)."""
        w = self.inner @ x + self._shift
        values, blocks = self._norms_at(w)
        for row, atom, column, arguments in self._others:
            put(arguments, w[column:])
            value, slopes = evaluated(atom)
            values[row : row + len(value)] = value
            for argument in arguments:
                block = as_sparse(slopes[argument], argument.size, len(value))
                blocks.append((block.data, block.col + row, block.row + column))
                column += argument.size
        data, rows, columns = (np.concatenate(part) for part in zip(*blocks, strict=True))
        return values, sparse.csr_array((data, (rows, columns)), shape=self._shape)

    def _norms_at(self, w: Vector) -> tuple[Vector, list[tuple[Any, Any, Any]]]:
        """The values of the Euclidean norms, with 0 for other atoms, and their slopes; all at once, for speed."""
        rows, entries = self._norm_rows, w[self._norm_columns]
        values = np.sqrt(np.bincount(rows, entries**2, minlength=self._shape[0]))
        if not np.isfinite(values).all():
            raise NoSubgradient(f"a norm has no subgradient at {shown(entries)}.")
        slopes = np.divide(entries, values[rows], out=np.zeros(len(rows)), where=values[rows] > 0.0)
        return values, [(slopes, rows, self._norm_columns)]


def is_euclidean(atom: Any) -> bool:
    """Is the atom the Euclidean norm of one variable?"""
    whole = isinstance(atom, cp.Pnorm) and atom.p == 2 and atom.size == 1
    return whole and isinstance(atom.args[0], cp.Variable)


def without_atoms(e: Any, atoms: list[tuple[cp.Variable, Any]]) -> Any:
    """e with a variable in the place of each outermost nonlinear atom; these pairs are appended to `atoms`."""
    if e.is_affine():
        return e
    if isinstance(e, AffAtom):
        return e.copy([without_atoms(argument, atoms) for argument in e.args])
    atoms.append((cp.Variable(e.shape), e))
    return atoms[-1][0]


def of_variables(e: Any, arguments: list[tuple[cp.Variable, Any]]) -> Any:
    """e with a variable in the place of each affine argument; these pairs are appended to `arguments`."""
    if e.is_constant():
        return e
    if e.is_affine():
        arguments.append((cp.Variable(e.shape), e))
        return arguments[-1][0]
    if isinstance(e, cp.norm_inf):  # CVXPY has no gradient of it
        e = cp.max(cp.abs(e.args[0]), axis=e.axis, keepdims=e.keepdims)
    return e.copy([of_variables(argument, arguments) for argument in e.args])


def evaluated(atom: Any) -> tuple[Vector, dict[Any, Any]]:
    """The value of an atom, and its slopes by variable."""
    try:
        with np.errstate(all="ignore"):
            value, slopes = flat(atom.value), gradient(atom)
    except NotImplementedError as cause:
        name = type(atom).__name__
        raise InvalidParameter(
            f"CVXPY has no gradient of {name}, which v needs. Write {name} in other atoms."
        ) from cause
    except (ValueError, IndexError, ArithmeticError, np.linalg.LinAlgError) as cause:  # atoms check their arguments
        raise NoSubgradient.of(atom) from cause
    entries = [slope.data if sparse.issparse(slope) else slope for slope in slopes.values() if slope is not None]
    if len(entries) < len(slopes) or not all(np.isfinite(entry).all() for entry in (value, *entries)):
        raise NoSubgradient.of(atom)
    return value, slopes


def gradient(atom: Any) -> dict[Any, Any]:
    """CVXPY's `grad`, without its chain rule, which takes most of the time, where every argument is a variable."""
    if all(isinstance(argument, cp.Variable) for argument in atom.args):
        return dict(zip(atom.args, atom._grad([argument.value for argument in atom.args]), strict=True))
    return atom.grad


def affine_map(e: Any, variables: Sequence[cp.Variable]) -> tuple[Any, Vector]:
    """(M, b) with e = Mx + b for the stacked variables x."""
    with restored(variables):
        put(variables, np.zeros(sum(variable.size for variable in variables)))
        shift, slopes = flat(e.value), e.grad
    blocks = [as_sparse(slopes.get(variable, 0.0), variable.size, e.size) for variable in variables]
    return sparse.csr_array(sparse.vstack(blocks).T), shift


def stacked(expressions: Iterable[Any]) -> Any:
    """Expressions as one vector, each column by column."""
    return cp.hstack([cp.vec(e, order="F") for e in expressions])


def entry_name(variables: Sequence[cp.Variable], i: int) -> str:
    """The name of entry i of the stacked variables, such as x[0] or X[1, 2]."""
    ends = np.cumsum([variable.size for variable in variables])
    k = int(np.searchsorted(ends, i, side="right"))
    variable = variables[k]
    where = np.unravel_index(i - int(ends[k]) + variable.size, variable.shape, order="F")
    return f"{variable.name()}[{', '.join(map(str, where))}]" if where else variable.name()


def put(variables: Iterable[cp.Variable], x: Vector) -> None:
    """Give the variables the values that x stacks."""
    begin = 0
    for variable in variables:
        variable.save_value(np.reshape(x[begin : begin + variable.size], variable.shape, order="F"))
        begin += variable.size


@contextmanager
def restored(variables: Sequence[cp.Variable]) -> Generator[None]:
    """Give the variables back the values that they have now."""
    kept = [variable.value for variable in variables]
    try:
        yield
    finally:
        for variable, value in zip(variables, kept, strict=True):
            variable.save_value(value)


def dense(value: Any) -> Any:
    """A value of CVXPY as an array."""
    return value.toarray() if sparse.issparse(value) else np.asarray(value, dtype=float)


def flat(value: Any) -> Vector:
    """A value of CVXPY as a vector, column by column."""
    return np.ravel(dense(value), order="F")


def as_sparse(slope: Any, rows: int, columns: int) -> Any:
    """A slope of CVXPY, which is a number, an array or a sparse matrix, as a sparse matrix."""
    if sparse.issparse(slope):
        return sparse.coo_array(slope)
    return sparse.coo_array(np.broadcast_to(np.asarray(slope, dtype=float), (rows, columns)))
