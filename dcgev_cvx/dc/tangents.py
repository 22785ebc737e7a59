"""The tangents of a convex CVXPY expression: its values and subgradients at many points, fast.

CVXPY's `grad` computes the matrices of the affine maps in an expression again at each call. Here the expression is
taken apart once as Dx + W·a(Mx + s) + constant, with a the vector of its nonlinear atoms. Then a point needs CVXPY
only for the values and slopes of the atoms.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import cvxpy as cp
import numpy as np
from scipy import sparse

from .._numerics.checks import Index, Matrix, Vector, shown
from ..errors import InvalidParameter, SolverFailed
from .cvxpy_internals import AffAtom, AxisAtom, Elementwise, affine_map, as_sparse, flat, gradient
from .kinks import Chooser, Kink, may_have_kinks, slices, slopes_and_kinks


class NoSubgradient(SolverFailed):
    """A convex expression has no subgradient at a point, which lies outside its domain or on its boundary."""

    @classmethod
    def of(cls, atom: Any) -> NoSubgradient:
        """The error for an atom at the values that its arguments have."""
        return cls(f"{type(atom).__name__} has no subgradient at {shown(atom.args[0].value)}.")


class Tangent:
    """The map x ↦ (e(x), subgradients of e at x) for a convex expression e = Dx + W·a(Mx + s) + constant.

    Where e has a kink, CVXPY's subgradient is used, which depends on x alone: 0 for |x| and ‖x‖ at 0, one of the
    largest entries for a maximum. `pieces` gives the others.

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
    >>> value, jacobian = Tangent(cp.sum_squares(x) - x[0], [x]).at(np.array([1.0, 2.0]))
    >>> value, jacobian.toarray()
    (array([4.]), array([[1., 4.]]))
    """

    def __init__(self, expression: Any, variables: Sequence[cp.Variable]) -> None:
        replaced: list[tuple[cp.Variable, Any]] = []
        linear = without_atoms(expression, replaced)
        replaced.sort(key=lambda pair: not is_euclidean(pair[1]))
        outer, constant = affine_map([linear], [*variables, *(t for t, _ in replaced)])
        n = sum(variable.size for variable in variables)
        self._constant: Vector = constant
        self._D: Any = outer[:, :n]
        self._W: Any = sparse.csc_array(outer[:, n:])
        norms = [e for _, e in replaced if is_euclidean(e)]
        self._atoms = [Norms(norms), *(Atom(e) for _, e in replaced[len(norms) :])]
        self._M, self._s = affine_map([e for atom in self._atoms for e in atom.arguments], variables)
        values = np.cumsum([0, *(atom.size for atom in self._atoms)])
        ends = np.cumsum([0, *(sum(e.size for e in atom.arguments) for atom in self._atoms)])
        self._values = [slice(a, b) for a, b in pairwise(values)]
        self._parts = [slice(a, b) for a, b in pairwise(ends)]
        self._K = self._W[:, np.concatenate([k + atom.rows for k, atom in zip(values, self._atoms, strict=False)])]
        self._L = self._M[np.concatenate([k + atom.columns for k, atom in zip(ends, self._atoms, strict=False)])]

    def at(self, x: Vector) -> tuple[Vector, Any]:
        """(e(x), the sparse matrix of the subgradients of its entries), or NoSubgradient."""
        w = self._M @ x + self._s
        found = [atom.at(w[part]) for atom, part in zip(self._atoms, self._parts, strict=True)]
        a, S = (np.concatenate(part) for part in zip(*found, strict=True))
        scaled = self._L.data * np.repeat(S, np.diff(self._L.indptr))
        through = self._K @ sparse.csr_array((scaled, self._L.indices, self._L.indptr), shape=self._L.shape)
        slopes = self._D + through if self._D.nnz else through
        return self._D @ x + self._W @ a + self._constant, sparse.csr_array(slopes)

    def value(self, x: Vector) -> Vector:
        """e(x), or NoSubgradient outside the domain."""
        w = self._M @ x + self._s
        a = np.concatenate([atom.value(w[part]) for atom, part in zip(self._atoms, self._parts, strict=True)])
        return self._D @ x + self._W @ a + self._constant

    def kinked(self, x: Vector, lengths: Vector, rows: Index) -> bool:
        """May one of these entries of e have a kink at x or close to it?"""
        w, close = self._M @ x + self._s, self._close(lengths)
        return any(
            atom.kinked(w[part], close[part])
            for atom, values, part in zip(self._atoms, self._values, self._parts, strict=True)
            if self._W[rows][:, values].nnz
        )

    def piece(self, x: Vector, there: Vector, lengths: Vector, rows: Index, choose: Chooser) -> tuple[Vector, Any]:
        """(value at x, slopes) of an affine function below e that touches it at x or close to it.

        Where kinks of these entries meet at x, `choose` takes the piece; `there` is where the tangent will be used,
        and `lengths` are the sizes of the variables, by which closeness is judged.
        """
        w, target, close = self._M @ x + self._s, self._M @ there + self._s, self._close(lengths)
        a, S = list[Vector](), list[Any]()
        for atom, values, part in zip(self._atoms, self._values, self._parts, strict=True):
            if self._W[rows][:, values].nnz and atom.kinked(w[part], close[part]):
                value, slopes = atom.piece(w[part], target[part], close[part], choose)
            else:
                value, at = atom.at(w[part])
                slopes = sparse.csr_array((at, (atom.rows, atom.columns)), shape=(atom.size, len(w[part])))
            a.append(value)
            S.append(sparse.csr_array(slopes))
        through = self._W @ sparse.block_diag(S, format="csr") @ self._M if self._W.shape[1] else 0.0 * self._D
        return self._D @ x + self._W @ np.concatenate(a) + self._constant, sparse.csr_array(self._D + through)

    # What the lower bounds ask: v = Dx + W·a + constant, a = atoms of w = map·x + shift

    @property
    def atoms(self) -> int:
        """The number of entries of a."""
        return self._W.shape[1]

    @property
    def arguments(self) -> int:
        """The number of entries of w."""
        return self._M.shape[0]

    @property
    def map(self) -> Any:
        """M of w = Mx + s."""
        return self._M

    @property
    def shift(self) -> Vector:
        """s of w = Mx + s."""
        return self._s

    def affine(self, x: Any, a: Any) -> Any:
        """Dx + W·a + constant."""
        return self._D @ x + self._constant + (0.0 if a is None else self._W @ a)

    def parts(self) -> Iterator[tuple[range, list[Index], Callable[[Vector], Vector], float, bool]]:
        """(entries of a, the entries of w that each depends on, values at w, 1 if convex or −1 if concave, sum?)."""
        for atom, values, part in zip(self._atoms, self._values, self._parts, strict=True):
            entries = range(values.start, values.stop)
            if entries:
                places = [part.start + np.unique(atom.columns[atom.rows == i]) for i in range(len(entries))]
                yield entries, places, lambda w, a=atom, p=part: a.value(w[p]), atom.sign, atom.separable

    def _close(self, lengths: Vector) -> Vector:
        return abs(self._M) @ lengths


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
        self.sign, self.separable = 1.0, False
        self._each: list[Atom] = []
        self._norms = norms

    def at(self, w: Vector) -> tuple[Vector, Vector]:
        """Their values and slopes at the stacked arguments."""
        norms = np.sqrt(np.bincount(self.rows, w**2, minlength=self.size))
        if not np.isfinite(norms).all():
            raise NoSubgradient(f"a norm has no subgradient at {shown(w)}.")
        length = norms[self.rows]
        return norms, np.divide(w, length, out=np.zeros(len(w)), where=length > 0.0)

    def value(self, w: Vector) -> Vector:
        """Their values at the stacked arguments."""
        return self.at(w)[0]

    def kinked(self, w: Vector, close: Vector) -> bool:
        """Is one of the arguments close to 0?"""
        return bool(self.size) and bool((np.bincount(self.rows, np.abs(w) > close, minlength=self.size) == 0).any())

    def piece(self, w: Vector, there: Vector, close: Vector, choose: Chooser) -> tuple[Vector, Any]:
        """The pieces of the norms whose arguments are close to 0, the tangents of the others."""
        self._each = self._each or [Atom(e) for e in self._norms]
        ends = np.cumsum(np.bincount(self.rows, minlength=self.size))[:-1]
        parts = (np.split(vector, ends) for vector in (w, there, close))
        found = [atom.piece(*part, choose) for atom, *part in zip(self._each, *parts, strict=True)]
        return np.concatenate([a for a, _ in found]), sparse.block_diag([S for _, S in found], format="csr")


class Atom:
    """Any other nonlinear atom, with rows and columns like those of `Norms`."""

    def __init__(self, e: Any) -> None:
        replaced: list[tuple[cp.Variable, Any]] = []
        self._atom = of_variables(e, replaced)
        self._variables = [w for w, _ in replaced]
        self.arguments: list[Any] = [argument for _, argument in replaced]
        self.size: int = e.size
        self._kinked = any(may_have_kinks(node) for node in nonlinear_nodes(self._atom))
        self._copies: dict[int, Any] = {}
        self.sign: float = 1.0 if e.is_convex() else -1.0
        self.separable: bool = type(e).__name__ in ("quad_over_lin", "norm1") and len(self._variables) == 1
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

    def value(self, w: Vector) -> Vector:
        """Its value at the stacked arguments."""
        put(self._variables, w)
        try:
            with np.errstate(all="ignore"):
                return flat(self._atom.value)
        except (ValueError, IndexError, ArithmeticError, np.linalg.LinAlgError) as cause:
            raise NoSubgradient.of(self._atom) from cause

    def kinked(self, w: Vector, close: Vector) -> bool:
        """May it have a kink within this distance of its arguments?"""
        if not self._kinked:
            return False
        seen: list[Kink] = []
        self.piece(w, w, close, lambda kink, _, __: seen.append(kink) or 0)
        return bool(seen)

    def piece(self, w: Vector, there: Vector, close: Vector, choose: Chooser) -> tuple[Vector, Matrix]:
        """(value, slopes) of an affine function below the atom; at kinks `choose` takes the piece.

        An atom inside another one is replaced by its own piece: the outer one increases in it, so that what comes out
        still lies below.
        """
        put(self._variables, w)
        begins = np.cumsum([0, *(v.size for v in self._variables)])
        places = {v.id: begin for v, begin in zip(self._variables, begins, strict=False)}

        def below(e: Any) -> tuple[Vector, Matrix]:
            if e.is_constant():
                return flat(e.value), np.zeros((e.size, len(w)))
            if isinstance(e, cp.Variable):
                return w[places[e.id] :][: e.size], np.eye(len(w))[places[e.id] :][: e.size]
            inner = [below(argument) for argument in e.args]
            values = [np.reshape(a, arg.shape, order="F") for (a, _), arg in zip(inner, e.args, strict=True)]
            through = np.vstack([S for _, S in inner])
            here = np.concatenate([a for a, _ in inner])
            if isinstance(e, AffAtom):
                copy, slopes = self._copy(e), self._slopes(e)(values)
                put_values(copy.args, values)
                return flat(copy.value), slopes @ through
            slopes, kinks = slopes_and_kinks(e, values, np.abs(through) @ close + 1e-300, self._slopes(e))
            for kink in kinks:
                chosen = choose(kink, here, here + through @ (there - w))
                slopes[kink.entry, kink.entries] = kink.options[chosen]
            if kinks:
                return slopes @ here, slopes @ through
            copy = self._copy(e)
            put_values(copy.args, values)
            return flat(copy.value), slopes @ through

        return below(self._atom)

    def _copy(self, e: Any) -> Any:
        """The node alone: a variable in the place of each argument that is not constant."""
        if id(e) not in self._copies:
            self._copies[id(e)] = e.copy(
                [a if a.is_constant() else cp.Variable(a.shape, symmetric=is_square(a)) for a in e.args]
            )
        return self._copies[id(e)]

    def _slopes(self, e: Any) -> Any:
        """The function that computes the slopes of a node in its stacked arguments."""
        copy = self._copy(e)

        def slopes(values: list[Any]) -> Matrix:
            put_values(copy.args, values)
            _, by_variable = evaluated(copy)
            columns = [
                as_sparse(by_variable.get(a, 0.0), a.size, copy.size).T.toarray() if isinstance(a, cp.Variable)
                else np.zeros((copy.size, a.size))
                for a in copy.args
            ]  # fmt: skip
            return np.hstack(columns)

        return slopes


def is_euclidean(e: Any) -> bool:
    """Is e the Euclidean norm of an affine expression?"""
    return isinstance(e, cp.Pnorm) and e.p == 2 and e.size == 1 and is_plain(e.args[0])


def is_square(e: Any) -> bool:
    """Is e a symmetric matrix? Spectral atoms need to know."""
    return e.ndim == 2 and e.shape[0] == e.shape[1] and e.shape[0] > 1 and e.is_symmetric()


def is_plain(e: Any) -> bool:
    """Is e made of affine atoms alone? 0*square(x) is affine to CVXPY, which cannot compile it as such."""
    if e.is_constant() or isinstance(e, cp.Variable):
        return True
    return isinstance(e, AffAtom) and e.is_affine() and all(is_plain(a) for a in e.args)


def nonlinear_nodes(e: Any) -> list[Any]:
    """The nonlinear atoms in an expression tree."""
    if is_plain(e):
        return []
    return [e] * (not isinstance(e, AffAtom)) + [node for a in e.args for node in nonlinear_nodes(a)]


def without_atoms(e: Any, atoms: list[tuple[cp.Variable, Any]]) -> Any:
    """e with a variable in the place of each outermost nonlinear atom; these pairs are appended to `atoms`."""
    if is_plain(e):
        return e
    if isinstance(e, AffAtom):
        return e.copy([without_atoms(argument, atoms) for argument in e.args])
    atoms.append((cp.Variable(e.shape), e))
    return atoms[-1][0]


def of_variables(e: Any, arguments: list[tuple[cp.Variable, Any]]) -> Any:
    """e with a variable in the place of each affine argument; these pairs are appended to `arguments`."""
    if e.is_constant():
        return e
    if is_plain(e):
        arguments.append((cp.Variable(e.shape, symmetric=is_square(e)), e))
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
    if direct and isinstance(atom, AxisAtom) and len(rows := slices(atom)) == n and rows.max() == m - 1:
        return rows, np.arange(n)
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


def stacked(expressions: Iterable[Any]) -> Any:
    """Expressions as one vector, each column by column."""
    return cp.hstack([cp.vec(e, order="F") for e in expressions])


def put(variables: Iterable[cp.Variable], x: Vector) -> None:
    """Give the variables the values that x stacks."""
    begin = 0
    for variable in variables:
        variable.save_value(np.reshape(x[begin : begin + variable.size], variable.shape, order="F"))
        begin += variable.size


def put_values(arguments: Iterable[Any], values: Iterable[Any]) -> None:
    """Give those of the arguments that are variables their values."""
    for argument, value in zip(arguments, values, strict=True):
        if isinstance(argument, cp.Variable):
            argument.save_value(value)


@contextmanager
def restored(variables: Sequence[cp.Variable]) -> Generator[None]:
    """Give the variables back the values that they have now."""
    kept = [variable.value for variable in variables]
    try:
        yield
    finally:
        for variable, value in zip(variables, kept, strict=True):
            variable.save_value(value)
