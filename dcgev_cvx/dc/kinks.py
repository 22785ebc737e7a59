"""The nonlinear atoms of CVXPY: values, slopes, and the kinks where several affine pieces meet.

A group of atoms takes its stacked arguments w. Entry rows[k] of its values depends on entry columns[k] of w, in which
it has the slope data[k]; all other slopes are 0 everywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Protocol

import cvxpy as cp
import numpy as np
from scipy import sparse

from .._numerics.checks import Index, Matrix, Vector, shown
from ..errors import InvalidParameter, SolverFailed
from .cvxpy_internals import AxisAtom, Elementwise, as_sparse, flat, gradient

DIRECTIONS = 12
"""At a kink with infinitely many pieces, as that of ‖x‖ at 0, so many random ones are tried beside the axes."""
DENSE = 2**16
"""Matrices of no more entries are made dense where entries are read."""
MOST_SETS = 64
"""The most choices of the k largest entries that are tried where entries are equal."""

SMOOTH = {
    *("exp", "log", "log1p", "entr", "power", "Power", "PowerApprox", "QuadForm", "SymbolicQuadForm", "quad_over_lin"),
    *("log_sum_exp", "huber", "logistic", "kl_div", "rel_entr", "MatrixFrac", "log_det", "geo_mean", "GeoMean"),
    *("GeoMeanApprox", "xexp", "tr_inv", "von_neumann_entr", "quantum_rel_entr"),
}
"""The classes of CVXPY's atoms without kinks."""


class NoSubgradient(SolverFailed):
    """A convex expression has no subgradient at a point, which lies outside its domain or on its boundary."""

    @classmethod
    def of(cls, atom: Any) -> NoSubgradient:
        """The error for an atom at the values that its arguments have."""
        return cls(f"{type(atom).__name__} has no subgradient at {shown(atom.args[0].value)}.")


@dataclass(frozen=True)
class Kink:
    """Several pieces meet in entry `row`: data[places], the slopes in w[columns], may be any row of `options`.

    `complete` where these are all extreme slopes; `sign` is −1 for a concave atom, of which minus is convex.
    """

    row: int
    places: Index
    columns: Index
    options: Matrix
    complete: bool = True
    sign: float = 1.0

    def highest(self, w: Vector) -> int:
        """The piece that is tightest at arguments w."""
        return int(np.argmax(self.sign * (self.options @ w[self.columns])))


class Atoms(Protocol):
    """A group of atoms that are evaluated together."""

    arguments: list[Any]
    size: int
    rows: Index
    columns: Index

    def at(self, w: Vector) -> tuple[Vector, Vector]:
        """Values and slopes, or NoSubgradient."""
        ...

    def value(self, w: Vector) -> Vector:
        """Values, or NoSubgradient."""
        ...

    def kinks(self, w: Vector, close: Vector) -> list[Kink]:
        """The kinks within these distances of w."""
        ...


class Norms:
    """Euclidean norms, of which absolute values are the case of one argument; programs often have many."""

    def __init__(self, atoms: Sequence[Any]) -> None:
        self.arguments: list[Any] = [e.args[0] for e in atoms]
        self.rows: Index = joined(atoms, [np.arange(e.size) if isinstance(e, cp.abs) else slices(e) for e in atoms])
        self.columns: Index = np.arange(len(self.rows))
        self.size: int = sum(e.size for e in atoms)
        # where w is a convex function that is nonnegative, only pieces that increase in it lie below
        self._signed = np.concatenate([np.full(e.args[0].size, not e.args[0].is_nonneg()) for e in atoms])

    def at(self, w: Vector) -> tuple[Vector, Vector]:
        """Values and slopes: 0 at a kink."""
        norms = self.value(w)
        length = norms[self.rows]
        return norms, np.divide(w, length, out=np.zeros(len(w)), where=length > 0.0)

    def value(self, w: Vector) -> Vector:
        """Values."""
        norms = np.sqrt(np.bincount(self.rows, w * w, minlength=self.size))
        if not np.isfinite(norms).all():
            raise NoSubgradient(f"a norm has no subgradient at {shown(w)}.")
        return norms

    def kinks(self, w: Vector, close: Vector) -> list[Kink]:
        """The norms of which all arguments are close to 0."""
        found = list[Kink]()
        for i in np.flatnonzero(np.bincount(self.rows, np.abs(w) > close, minlength=self.size) == 0):
            places = np.flatnonzero(self.rows == i)
            options = directions(len(places))
            if not self._signed[places].all():
                options = np.unique(np.abs(options), axis=0)
            found.append(Kink(int(i), places, places, options, complete=len(places) == 1))
        return found


class Maxima:
    """Maxima and minima over entries, or of several arguments entry by entry."""

    def __init__(self, atoms: Sequence[Any]) -> None:
        self.arguments: list[Any] = [argument for e in atoms for argument in e.args]
        rows, columns = zip(*map(candidates, atoms), strict=True)
        self.rows: Index = joined(atoms, rows)
        begins = np.cumsum([0, *(sum(a.size for a in e.args) for e in atoms)])
        self.columns: Index = np.concatenate([k + c for k, c in zip(begins, columns, strict=False)])
        order = np.argsort(self.rows, kind="stable")
        self.rows, self.columns = self.rows[order], self.columns[order]
        self._starts: Index = np.flatnonzero(np.diff(self.rows, prepend=-1))
        self.size: int = len(self._starts)
        signs = [1.0 if isinstance(e, (cp.max, cp.maximum)) else -1.0 for e in atoms]
        self._signs: Vector = np.repeat(signs, [e.size for e in atoms])

    def at(self, w: Vector) -> tuple[Vector, Vector]:
        """Values, and slope 1 in the first of the largest entries."""
        signed = self._signs[self.rows] * w[self.columns]
        top = np.maximum.reduceat(signed, self._starts)
        first = np.flatnonzero(signed == top[self.rows])
        first = first[np.diff(self.rows[first], prepend=-1) > 0]
        data = np.zeros(len(self.rows))
        data[first] = 1.0
        if not np.isfinite(top).all() or len(first) < self.size:
            raise NoSubgradient(f"a maximum has no subgradient at {shown(w)}.")
        return self._signs * top, data

    def value(self, w: Vector) -> Vector:
        """Values."""
        return self.at(w)[0]

    def kinks(self, w: Vector, close: Vector) -> list[Kink]:
        """The maxima that several entries attain, or nearly so."""
        top, data = self.at(w)
        near = close[self.columns]
        margin = near[data > 0.0][self.rows] + near
        tied = np.abs(top[self.rows] - w[self.columns]) <= margin
        found = list[Kink]()
        for i in np.flatnonzero(np.bincount(self.rows, tied, minlength=self.size) > 1):
            places = np.flatnonzero(tied & (self.rows == i))
            found.append(Kink(int(i), places, self.columns[places], np.eye(len(places)), sign=float(self._signs[i])))
        return found


class OtherAtom:
    """Any other nonlinear atom; CVXPY computes its values and slopes."""

    def __init__(self, e: Any) -> None:
        self.arguments: list[Any] = [a for a in e.args if not a.is_constant()]
        self._variables = [cp.Variable(a.shape, symmetric=is_square(a)) for a in self.arguments]
        given = iter(self._variables)
        self._atom = e.copy([a if a.is_constant() else next(given) for a in e.args])
        self.size: int = e.size
        self._signed = not all(a.is_nonneg() for a in self.arguments)
        # CVXPY has no slope of w**1.5 at 0
        self._zero_slope: bool = type(e).__name__ in ("Power", "PowerApprox", "power") and float(e.p.value) > 1.0
        self._places = [dependence(self._atom, w) for w in self._variables]
        begins = np.cumsum([0, *(w.size for w in self._variables)])
        self.rows: Index = np.concatenate([i for i, _ in self._places])
        self.columns: Index = np.concatenate([k + j for k, (_, j) in zip(begins, self._places, strict=False)])

    def at(self, w: Vector) -> tuple[Vector, Vector]:
        """Values and slopes."""
        if self._zero_slope:
            w = np.where(w == 0.0, 1e-300, w)
        put(self._variables, w)
        value, gradients = evaluated(self._atom)
        slopes = [
            picked(gradients[argument], (argument.size, len(value)), j, i)
            for argument, (i, j) in zip(self._variables, self._places, strict=True)
        ]
        return value, np.concatenate(slopes)

    def value(self, w: Vector) -> Vector:
        """Values."""
        put(self._variables, w)
        try:
            with np.errstate(all="ignore"):
                return flat(self._atom.value)
        except (ValueError, IndexError, ArithmeticError, np.linalg.LinAlgError) as cause:
            raise NoSubgradient.of(self._atom) from cause

    def kinks(self, w: Vector, close: Vector) -> list[Kink]:
        """The entries of which slopes a little way off differ.

        Atoms with kinks, such as norms, λmax and the nuclear norm, are positively homogeneous: the slopes at w′ belong
        to a tangent, and its value at w is their product with w.
        """
        if type(self._atom).__name__ in SMOOTH:
            return []
        if isinstance(self._atom, cp.sum_largest) and self.size == 1 and float(self._atom.k).is_integer():
            return equal_entries(w, int(self._atom.k), close)
        found = list[Vector]()
        for direction in directions(len(w)):
            put(self._variables, w + 2.0 * close * direction + 1e-300 * direction)
            for variable in self._variables:
                variable.save_value(variable.project(variable.value))
            try:
                found.append(self.at(np.concatenate([flat(variable.value) for variable in self._variables]))[1])
            except NoSubgradient:
                continue
        kinks, here = list[Kink](), self.at(w)[1]
        for i in range(self.size):
            places = np.flatnonzero(self.rows == i)
            options = np.array([data[places] for data in found]).reshape(-1, len(places))
            if not self._signed:
                options = options[(options >= 0.0).all(axis=1)]
            apart = np.abs(options - here[places]).max(axis=1) > 1e-3 * np.abs(options).max(initial=1e-300)
            if apart.any():
                sign = 1.0 if self._atom.is_atom_convex() else -1.0
                options = np.unique(options[apart], axis=0)
                kinks.append(Kink(i, places, self.columns[places], options, len(places) == 1, sign))
        return kinks


def grouped(atoms: Sequence[Any]) -> list[tuple[Atoms, list[Any]]]:
    """The atoms in groups, each with its members in the order of their values."""
    norms = [e for e in atoms if isinstance(e, cp.abs) or is_euclidean(e)]
    maxima = [e for e in atoms if isinstance(e, (cp.max, cp.maximum, cp.min, cp.minimum))]
    others = [e for e in atoms if not any(e is known for known in (*norms, *maxima))]
    groups = [(Norms(norms), norms)] if norms else []
    groups += [(Maxima(maxima), maxima)] if maxima else []
    return [*groups, *((OtherAtom(e), [e]) for e in others)]


def is_euclidean(e: Any) -> bool:
    """Is e a Euclidean norm, or a vector of them?"""
    return isinstance(e, cp.Pnorm) and e.p == 2


def equal_entries(w: Vector, k: int, close: Vector) -> list[Kink]:
    """The kink of the sum of the k largest entries, where others are close to the k-th."""
    order = np.argsort(-w, kind="stable")
    last = order[min(k, len(w)) - 1]
    tied = np.flatnonzero(np.abs(w - w[last]) <= close + close[last])
    above = np.setdiff1d(order[:k], tied)
    among = k - len(above)
    if among >= len(tied):
        return []
    options = list[Vector]()
    for chosen in combinations(tied, among):
        options.append(np.isin(np.arange(len(w)), [*above, *chosen]).astype(float))
        if len(options) == MOST_SETS:
            break
    places = np.arange(len(w))
    return [Kink(0, places, places, np.array(options), complete=len(options) < MOST_SETS)]


def directions(n: int) -> Matrix:
    """Unit vectors: the axes both ways, and in more than one dimension random ones."""
    rng = np.random.default_rng(0)
    axes = np.eye(n)[rng.permutation(n)[: 2 * DIRECTIONS]]
    random = rng.standard_normal((DIRECTIONS if n > 1 else 0, n))
    return np.concatenate([axes, -axes, random / np.linalg.norm(random, axis=1, keepdims=True)])


def slices(atom: Any) -> Index:
    """For each entry of the argument, the entry of the atom that it belongs to, for atoms that reduce along an axis."""
    shape = atom.args[0].shape
    kept: Any = np.zeros(shape).sum(axis=atom.axis, keepdims=True).shape
    numbers = np.arange(int(np.prod(kept))).reshape(kept, order="F")
    return np.broadcast_to(numbers, shape).ravel(order="F")


def candidates(atom: Any) -> tuple[Index, Index]:
    """(i, j): entry i[k] of a maximum is at least entry j[k] of its stacked arguments."""
    if isinstance(atom, (cp.max, cp.min)):
        return slices(atom), np.arange(atom.args[0].size)
    columns, begin = list[Index](), 0
    for a in atom.args:
        numbers = begin + np.arange(a.size).reshape(a.shape, order="F")
        columns.append(np.broadcast_to(numbers, atom.shape).ravel(order="F"))
        begin += a.size
    return np.tile(np.arange(atom.size), len(atom.args)), np.concatenate(columns)


def joined(atoms: Sequence[Any], rows: Iterable[Index]) -> Index:
    """The rows of several atoms as those of one group."""
    begins = np.cumsum([0, *(e.size for e in atoms)])
    return np.concatenate([k + r for k, r in zip(begins, rows, strict=False)])


def dependence(atom: Any, argument: cp.Variable) -> tuple[Index, Index]:
    """(i, j): entry i[k] of the atom may depend on entry j[k] of its argument."""
    m, n = atom.size, argument.size
    if isinstance(atom, Elementwise) and m == n:
        return np.arange(n), np.arange(n)
    if isinstance(atom, AxisAtom) and len(rows := slices(atom)) == n and rows.max() == m - 1:
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


def picked(slopes: Any, shape: tuple[int, int], rows: Index, columns: Index) -> Vector:
    """Entries of a matrix of slopes that CVXPY returned."""
    if shape[0] * shape[1] <= DENSE:  # a sparse matrix takes longer for few entries
        slopes = slopes.toarray() if sparse.issparse(slopes) else np.broadcast_to(np.asarray(slopes, float), shape)
        return slopes[rows, columns]
    return flat(as_sparse(slopes, *shape)[rows, columns])


def is_square(e: Any) -> bool:
    """Is e a symmetric matrix? Spectral atoms need to know."""
    return e.ndim == 2 and e.shape[0] == e.shape[1] and e.shape[0] > 1 and e.is_symmetric()


def put(variables: Iterable[cp.Variable], x: Vector) -> None:
    """Give the variables the values that x stacks."""
    begin = 0
    for variable in variables:
        variable.save_value(np.reshape(x[begin : begin + variable.size], variable.shape, order="F"))
        begin += variable.size
