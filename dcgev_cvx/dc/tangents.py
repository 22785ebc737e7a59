"""The tangents of a convex CVXPY expression: its values and subgradients at many points, fast.

CVXPY's `grad` computes the matrices of the affine maps in an expression again at each call. Here the expression is
taken apart once: e = D·(x, a) + constant, with a the vector of its nonlinear atoms. The arguments M·(x, a) + s of an
atom contain only atoms of lower levels. Then a point needs CVXPY only for the values and slopes of the atoms.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import cvxpy as cp
import numpy as np
from scipy import sparse

from .._numerics.checks import Index, Vector
from .cvxpy_internals import AffAtom, affine_map
from .kinks import Atoms, Kink, grouped

Chooser = Callable[[int, Kink, Vector], int]
"""Called with the number of a kink, the kink, and the arguments where the tangent will be used; returns a piece."""


@dataclass(frozen=True)
class Level:
    """The groups of atoms whose arguments w = M·(x, a) + s contain atoms of lower levels only.

    inner is the part of M for x and for the atoms of lower levels.
    """

    groups: list[Atoms]
    values: slice
    M: Any
    s: Vector
    rows: Index
    columns: Index
    inner: tuple[Any, Any]

    @cached_property
    def parts(self) -> list[tuple[Atoms, slice]]:
        """Each group with the slice of w that is its own."""
        ends = np.cumsum([0, *(sum(e.size for e in group.arguments) for group in self.groups)])
        return [(group, slice(a, b)) for group, a, b in zip(self.groups, ends, ends[1:], strict=False)]

    @cached_property
    def _pattern(self) -> tuple[Index, Index, Index]:
        order = np.argsort(self.rows, kind="stable")
        begins = np.searchsorted(self.rows[order], np.arange(self.values.stop - self.values.start + 1))
        return order, self.columns[order], begins

    def slopes(self, data: Vector) -> Any:
        """The slopes of the atoms in w as a sparse matrix."""
        order, columns, begins = self._pattern
        return sparse.csr_array((data[order], columns, begins), shape=(len(begins) - 1, len(self.s)))

    @cached_property
    def sizes(self) -> Any:
        """|M|."""
        return abs(self.M)


class Tangent:
    """The map x ↦ (e(x), subgradients of e at x) for a convex expression e.

    Where e has a kink, `at` uses a subgradient that depends on x alone: 0 for |x| and ‖x‖ at 0, one of the
    largest entries for a maximum. `piece` gives the others.

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
        atoms: list[tuple[int, Any, cp.Variable]] = []
        outer = without_atoms(expression, atoms)[0]
        self.n: int = sum(variable.size for variable in variables)
        levels, named = list[list[Atoms]](), list[cp.Variable]()
        for number in range(1 + max((level for level, _, _ in atoms), default=-1)):
            here = [(e, t) for level, e, t in atoms if level == number]
            groups = grouped([e for e, _ in here])
            levels.append([group for group, _ in groups])
            named += [t for _, members in groups for e in members for other, t in here if other is e]
        known = [*variables, *named]
        arguments = [[e for group in groups for e in group.arguments] for groups in levels]
        whole, constants = affine_map([outer, *(e for some in arguments for e in some)], known)
        *firsts, end = np.cumsum([0, outer.size, *(sum(e.size for e in some) for some in arguments)])
        blocks = [(whole[i:j], constants[i:j]) for i, j in zip(firsts, [*firsts[1:], end], strict=True)]
        self._D, self._constant = blocks[0]
        self._outer: Any = self._D[:, : self.n], self._D[:, self.n :]
        self.levels: list[Level] = []
        begin = 0
        for groups, (M, constant) in zip(levels, blocks[1:], strict=True):
            size = sum(group.size for group in groups)
            values = np.cumsum([0, *(group.size for group in groups)])
            ends = np.cumsum([0, *(sum(e.size for e in group.arguments) for group in groups)])
            rows = np.concatenate([k + group.rows for k, group in zip(values, groups, strict=False)])
            columns = np.concatenate([k + group.columns for k, group in zip(ends, groups, strict=False)])
            inner = M[:, : self.n], M[:, self.n : self.n + begin]
            self.levels.append(Level(groups, slice(begin, begin + size), M, constant, rows, columns, inner))
            begin += size
        self.atoms: int = begin
        self._kept: tuple[Any, list[Kink]] = None, []
        self._uses: dict[bytes, Any] = {}

    def at(self, x: Vector) -> tuple[Vector, Any]:
        """(e(x), the sparse matrix of the subgradients of its entries), or NoSubgradient."""
        return self._forward(x, [], None, x)

    def value(self, x: Vector) -> Vector:
        """e(x), or NoSubgradient outside the domain."""
        y = self.with_atoms(x)
        return self._D @ y + self._constant

    def with_atoms(self, x: Vector) -> Vector:
        """(x, a)."""
        y = np.concatenate([x, np.zeros(self.atoms)])
        for level in self.levels:
            w = level.M @ y + level.s
            y[self.n :][level.values] = np.concatenate([group.value(w[part]) for group, part in level.parts])
        return y

    def kinks(self, x: Vector, lengths: Vector, rows: Index) -> list[Kink]:
        """The kinks of these entries of e at x or within these lengths of it, the innermost first.

        Kink.row counts all atoms.
        """
        key = x.tobytes(), lengths.tobytes(), rows.tobytes()
        if self._kept[0] == key:
            return self._kept[1]
        # how far the atoms move within the lengths, and which of them these entries depend on
        y, far, used = self.with_atoms(x), np.concatenate([lengths, np.zeros(self.atoms)]), self._used(rows)
        found = list[Kink]()
        for level in self.levels:
            w, close = level.M @ y + level.s, level.sizes @ far
            moved, begin, place = list[Vector](), level.values.start, 0
            for group, part in level.parts:
                for kink in group.kinks(w[part], close[part] + 1e-300) if used[level.values].any() else []:
                    if used[begin + kink.row]:
                        at, columns = place + kink.places, part.start + kink.columns
                        found.append(Kink(begin + kink.row, at, columns, kink.options, kink.complete, kink.sign))
                reach = np.bincount(group.rows, close[part][group.columns], minlength=group.size).astype(float)
                moved.append(reach)
                begin, place = begin + group.size, place + len(group.rows)
            far[self.n :][level.values] = np.concatenate(moved)
        found = self._relevant(y, found, rows)
        self._kept = key, found
        return found

    def _relevant(self, y: Vector, kinks: list[Kink], rows: Index) -> list[Kink]:
        """The kinks on which these entries of e depend: that of |x| in (|x| − 1)₊ at 0 is none."""
        if not kinks:
            return kinks
        used = np.asarray(abs(self._outer[1][rows]).sum(axis=0)).ravel() > 0.0
        for level in reversed(self.levels):
            w = level.M @ y + level.s
            steep = np.abs(np.concatenate([group.at(w[part])[1] for group, part in level.parts]))
            for kink in kinks:
                if level.values.start <= kink.row < level.values.stop:
                    steep[kink.places] = np.maximum(steep[kink.places], np.abs(kink.options).max(axis=0))
            moving = used[level.values][level.rows] & (steep > 0.0)
            wanted = np.bincount(level.columns, moving, minlength=len(level.s)) > 0.0
            used |= np.asarray(level.sizes[wanted][:, self.n :].sum(axis=0)).ravel() > 0.0
        return [kink for kink in kinks if used[kink.row]]

    def piece(self, x: Vector, kinks: Sequence[Kink], choose: Chooser, there: Vector) -> tuple[Vector, Any]:
        """(value at x, slopes) of an affine function below e that touches it at x or close to it.

        At each of the kinks `choose` takes the piece; `there` is where the tangent will be used.
        """
        return self._forward(x, kinks, choose, there)

    def _forward(self, x: Vector, kinks: Sequence[Kink], choose: Chooser | None, there: Vector) -> tuple[Vector, Any]:
        n, done, J = self.n, 0, sparse.csr_array((0, self.n))
        y = np.concatenate([x, np.zeros(self.atoms)])
        below = y.copy()  # the values at x of the chosen pieces, of which atoms further out take the tangents
        for level in self.levels:
            w, W = level.M @ y + level.s, level.inner[0]
            if done:
                W = sparse.csr_array(W + level.inner[1] @ J)
            found = [group.at(w[part]) for group, part in level.parts]
            a, data = (np.concatenate(part) for part in zip(*found, strict=True))
            own = [(i, k) for i, k in enumerate(kinks) if level.values.start <= k.row < level.values.stop]
            lower = level.M @ below + level.s if kinks else w
            target = lower + W @ (there - x) if own else w
            for i, kink in own:
                assert choose is not None
                data[kink.places] = kink.options[choose(i, kink, target)]
            S = level.slopes(data)
            y[n:][level.values] = a
            below[n:][level.values] = a + S @ (lower - w)
            for _, kink in own:
                row = kink.row - level.values.start
                below[n:][level.values][row] = data[kink.places] @ lower[kink.columns]
            J = sparse.csr_array(S @ W) if not done else sparse.vstack([J, S @ W], format="csr")
            done += len(a)
        slopes = self._outer[0] + self._outer[1] @ J if done else self._D
        return self._D @ (below if kinks else y) + self._constant, sparse.csr_array(slopes)

    def _used(self, rows: Index) -> Any:
        """Which atoms do these entries of e depend on?"""
        key = rows.tobytes()
        if key not in self._uses:
            used = np.asarray(abs(self._outer[1][rows]).sum(axis=0)).ravel() > 0.0
            for level in reversed(self.levels):
                wanted = np.bincount(level.columns, used[level.values][level.rows], minlength=len(level.s)) > 0.0
                used |= np.asarray(level.sizes[wanted][:, self.n :].sum(axis=0)).ravel() > 0.0
            self._uses[key] = used
        return self._uses[key]

    # What the lower bounds ask

    def affine(self, x: Any, a: Any) -> Any:
        """e as an affine expression in x and the atoms."""
        return self._D[:, : self.n] @ x + self._constant + (self._D[:, self.n :] @ a if self.atoms else 0.0)

    @property
    def outer(self) -> Index:
        """The atoms that e depends on directly."""
        return np.flatnonzero(np.asarray(abs(self._D[:, self.n :]).sum(axis=0)).ravel())

    def dependence(self) -> Any:
        """Which entries of x each atom depends on, as a sparse matrix."""
        J: Any = sparse.csr_array((0, self.n))
        for level in self.levels:
            W = abs(level.M[:, : self.n]) + abs(level.M[:, self.n : self.n + J.shape[0]]) @ J
            S = level.slopes(np.ones(len(level.rows)))
            J = sparse.vstack([J, S @ W], format="csr")
        return J


def is_plain(e: Any) -> bool:
    """Is e made of affine atoms alone? 0*square(x) is affine to CVXPY, which cannot compile it as such."""
    if e.is_constant() or isinstance(e, cp.Variable):
        return True
    return isinstance(e, AffAtom) and e.is_affine() and all(is_plain(a) for a in e.args)


def without_atoms(e: Any, atoms: list[tuple[int, Any, cp.Variable]]) -> tuple[Any, int]:
    """(e with a variable in the place of each outermost nonlinear atom, the lowest level at which it is known).

    The atoms are appended to `atoms` with their level and variable, the innermost first.
    """
    if is_plain(e):
        return e, 0
    if isinstance(e, cp.norm1):
        e = cp.sum(cp.abs(e.args[0]), axis=e.axis, keepdims=e.keepdims)
    elif isinstance(e, cp.norm_inf):
        e = cp.max(cp.abs(e.args[0]), axis=e.axis, keepdims=e.keepdims)
    parts = [without_atoms(a, atoms) for a in e.args]
    level = max(number for _, number in parts)
    e = e.copy([part for part, _ in parts])
    if isinstance(e, AffAtom):
        return e, level
    atoms.append((level, e, cp.Variable(e.shape, nonneg=e.is_nonneg())))
    return atoms[-1][2], level + 1


def stacked(expressions: Iterable[Any]) -> Any:
    """Expressions as one vector, each column by column."""
    return cp.hstack([cp.vec(e, order="F") for e in expressions])


@contextmanager
def restored(variables: Sequence[cp.Variable]) -> Generator[None]:
    """Give the variables back the values that they have now."""
    kept = [variable.value for variable in variables]
    try:
        yield
    finally:
        for variable, value in zip(variables, kept, strict=True):
            variable.save_value(value)


@contextmanager
def without_values(variables: Sequence[cp.Variable]) -> Generator[None]:
    """Take the values from the variables for a while: with them CVXPY fails to compile sum_largest of all entries."""
    with restored(variables):
        for variable in variables:
            variable.save_value(None)
        yield
