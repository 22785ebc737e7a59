"""The tangents of a convex CVXPY expression: its values and subgradients at many points, fast.

CVXPY's `grad` computes the matrices of the affine maps in an expression again at each call. Here the expression is
taken apart once as Dx + W·a(Mx + s) + constant, with a the vector of its nonlinear atoms. Then a point needs CVXPY
only for the values and slopes of the atoms.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from typing import Any

import cvxpy as cp
import numpy as np
from cvxpy.atoms.affine.affine_atom import AffAtom
from cvxpy.atoms.axis_atom import AxisAtom
from cvxpy.atoms.elementwise.elementwise import Elementwise
from cvxpy.cvxcore.python.canonInterface import get_problem_matrix
from cvxpy.lin_ops.lin_op import CONSTANT_ID
from cvxpy.reductions.eval_params import replace_params_with_consts
from scipy import sparse

from .._numerics.checks import Index, Vector, shown
from ..errors import InvalidParameter, SolverFailed


class NoSubgradient(SolverFailed):
    """A convex expression has no subgradient at a point, which lies outside its domain or on its boundary."""

    @classmethod
    def of(cls, atom: Any) -> NoSubgradient:
        """The error for an atom at the values that its arguments have."""
        return cls(f"{type(atom).__name__} has no subgradient at {shown(atom.args[0].value)}.")


class Tangent:
    """The map x ↦ (e(x), subgradients of e at x) for a convex expression e = Dx + W·a(Mx + s) + constant.

    The subgradients are D + K·diag(S)·L, where S holds the slopes of the atoms at x and D, K and L are fixed. Where e
    has a kink, CVXPY's choice is used: 0 for |x| and ‖x‖ at 0, one of the largest entries for a maximum. It depends
    on x alone.

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
    >>> from dcgev_cvx.dc.tangents import Tangent
    >>> x = cp.Variable(2)
    >>> value, jacobian, slopes = Tangent(cp.sum_squares(x) - x[0], [x]).at(np.array([1.0, 2.0]))
    >>> value, jacobian.toarray(), slopes
    (array([4.]), array([[1., 4.]]), array([2., 4.]))
    """

    def __init__(self, expression: Any, variables: Sequence[cp.Variable]) -> None:
        replaced: list[tuple[cp.Variable, Any]] = []
        linear = without_atoms(expression, replaced)
        replaced.sort(key=lambda pair: not is_euclidean(pair[1]))
        outer, self._constant = affine_map([linear], [*variables, *(t for t, _ in replaced)])
        n = sum(variable.size for variable in variables)
        self.D, self._W = outer[:, :n], outer[:, n:]
        norms = [e for _, e in replaced if is_euclidean(e)]
        self._atoms = [Norms(norms), *(Atom(e) for _, e in replaced[len(norms) :])]
        self._M, self._s = affine_map([e for atom in self._atoms for e in atom.arguments], variables)
        values = np.cumsum([0, *(atom.size for atom in self._atoms)])
        self._ends = np.cumsum([sum(e.size for e in atom.arguments) for atom in self._atoms])
        begins = [0, *self._ends]
        self.K = self._W[:, np.concatenate([k + atom.rows for k, atom in zip(values, self._atoms, strict=False)])]
        self.L = self._M[np.concatenate([k + atom.columns for k, atom in zip(begins, self._atoms, strict=False)])]

    def at(self, x: Vector) -> tuple[Vector, Any, Vector]:
        """(e(x), the sparse matrix of the subgradients of its entries, the atoms' slopes S), or NoSubgradient."""
        arguments = np.split(self._M @ x + self._s, self._ends[:-1])
        found = [atom.at(w) for atom, w in zip(self._atoms, arguments, strict=True)]
        a, S = (np.concatenate(part) for part in zip(*found, strict=True))
        scaled = self.L.data * np.repeat(S, np.diff(self.L.indptr))
        through = self.K @ sparse.csr_array((scaled, self.L.indices, self.L.indptr), shape=self.L.shape)
        slopes = self.D + through if self.D.nnz else through
        return self.D @ x + self._W @ a + self._constant, slopes, S


class Norms:
    """Euclidean norms of affine expressions, evaluated together since programs often have many.

    Entry rows[k] depends on entry columns[k] of the stacked arguments.
    """

    def __init__(self, norms: Sequence[Any]) -> None:
        self.arguments: list[Any] = [e.args[0] for e in norms]
        self.size: int = len(norms)
        sizes = np.array([e.size for e in self.arguments], dtype=int)
        self.rows: Index = np.repeat(np.arange(self.size), sizes)
        self.columns: Index = np.arange(sizes.sum())

    def at(self, w: Vector) -> tuple[Vector, Vector]:
        """Their values and slopes at the stacked arguments."""
        norms = np.sqrt(np.bincount(self.rows, w**2, minlength=self.size))
        if not np.isfinite(norms).all():
            raise NoSubgradient(f"a norm has no subgradient at {shown(w)}.")
        length = norms[self.rows]
        return norms, np.divide(w, length, out=np.zeros(len(w)), where=length > 0.0)


class Atom:
    """Any other nonlinear atom, with rows and columns like those of `Norms`."""

    def __init__(self, e: Any) -> None:
        replaced: list[tuple[cp.Variable, Any]] = []
        self._atom = of_variables(e, replaced)
        self._variables = [w for w, _ in replaced]
        self.arguments: list[Any] = [argument for _, argument in replaced]
        self.size: int = e.size
        self._places = [dependence(self._atom, w) for w in self._variables]
        begins = np.cumsum([0, *(w.size for w in self._variables)])
        self.rows: Index = np.concatenate([i for i, _ in self._places])
        self.columns: Index = np.concatenate([k + j for k, (_, j) in zip(begins, self._places, strict=False)])

    def at(self, w: Vector) -> tuple[Vector, Vector]:
        """Its values and slopes at the stacked arguments."""
        put(self._variables, w)
        value, gradients = evaluated(self._atom)
        slopes = [
            flat(as_sparse(gradients[argument], argument.size, len(value))[j, i])
            for argument, (i, j) in zip(self._variables, self._places, strict=True)
        ]
        return value, np.concatenate(slopes)


def is_euclidean(e: Any) -> bool:
    """Is e the Euclidean norm of an affine expression?"""
    return isinstance(e, cp.Pnorm) and e.p == 2 and e.size == 1 and e.args[0].is_affine()


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


def dependence(atom: Any, argument: cp.Variable) -> tuple[Index, Index]:
    """(i, j): entry i[k] of the atom may depend on entry j[k] of its argument; other slopes are zero everywhere."""
    m, n = atom.size, argument.size
    direct = any(argument is a for a in atom.args)
    if direct and isinstance(atom, Elementwise) and m == n:
        return np.arange(n), np.arange(n)
    if direct and isinstance(atom, AxisAtom):
        slices = np.zeros(argument.shape).sum(axis=atom.axis, keepdims=True).shape
        if np.prod(slices) == m:
            numbers = np.arange(m).reshape(slices, order="F")
            return np.broadcast_to(numbers, argument.shape).ravel(order="F"), np.arange(n)
    return np.tile(np.arange(m), n), np.repeat(np.arange(n), m)


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
    numbers = [slope.data if sparse.issparse(slope) else slope for slope in slopes.values() if slope is not None]
    if len(numbers) < len(slopes) or not all(np.isfinite(part).all() for part in (value, *numbers)):
        raise NoSubgradient.of(atom)
    return value, slopes


def gradient(atom: Any) -> dict[Any, Any]:
    """CVXPY's `grad`, without its chain rule, which takes most of the time, where every argument is a variable."""
    if all(isinstance(argument, cp.Variable) for argument in atom.args):
        return dict(zip(atom.args, atom._grad([argument.value for argument in atom.args]), strict=True))
    return atom.grad


def affine_map(expressions: Sequence[Any], variables: Sequence[cp.Variable]) -> tuple[Any, Vector]:
    """(M, b) with expressions = Mx + b for the stacked variables x, from CVXPY's own compiler."""
    *begins, n = np.cumsum([0, *(variable.size for variable in variables)]).tolist()
    if not expressions:
        return sparse.csr_array((0, n)), np.zeros(0)
    columns = {variable.id: begin for variable, begin in zip(variables, begins, strict=True)}
    fixed: list[Any] = [replace_params_with_consts(e) for e in expressions]
    m = sum(e.size for e in expressions)
    tensor = get_problem_matrix(
        [e.canonical_form[0] for e in fixed], n, columns, {CONSTANT_ID: 1}, {CONSTANT_ID: 0}, m, None
    )
    both = sparse.csr_array(sparse.coo_array(tensor).reshape((m, n + 1), order="F"))
    return both[:, :n], both[:, [n]].toarray().ravel()


def stacked(expressions: Iterable[Any]) -> Any:
    """Expressions as one vector, each column by column."""
    return cp.hstack([cp.vec(e, order="F") for e in expressions])


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
        return sparse.csc_array(slope)
    return sparse.csc_array(np.broadcast_to(np.asarray(slope, dtype=float), (rows, columns)))
