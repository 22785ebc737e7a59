"""The kinks of CVXPY's convex atoms: where several affine pieces meet, and the slopes of each.

At a kink the tangent of v is not unique. A point x is *critical* when it minimises the surrogate of one tangent, and
*d-stationary*, with no direction of descent, when it minimises those of all pieces (Pang, Razaviyayn, Alvarado 2017).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import cvxpy as cp
import numpy as np

from .._numerics.checks import Index, Matrix, Vector

CLOSE = 1e-6
"""Pieces within this share of their argument's size count as meeting: iterates reach a kink only in the limit."""
DIRECTIONS = 12
"""At a kink with infinitely many pieces, as that of ‖x‖ at 0, so many random ones are tried beside the axes."""
ENUMERATED = 2**12
"""With more combinations of pieces than this, as many are drawn at random as `SAMPLED`."""
SAMPLED = 512

ENTRYWISE = (cp.abs, cp.norm1)
SMOOTH = {
    *("exp", "log", "log1p", "entr", "power", "Power", "PowerApprox", "QuadForm", "SymbolicQuadForm", "quad_over_lin"),
    *("log_sum_exp", "huber", "logistic", "kl_div", "rel_entr", "MatrixFrac", "log_det", "geo_mean", "GeoMean"),
    *("GeoMeanApprox", "xexp", "tr_inv", "von_neumann_entr", "quantum_rel_entr"),
}
"""The classes of CVXPY's atoms without kinks."""


@dataclass(frozen=True)
class Kink:
    """One entry of an atom at a kink: the slopes in `entries` of the stacked arguments are one row of `options`.

    `complete` where these are all extreme slopes; `sign` is −1 for a concave atom, of which minus is convex.
    """

    entry: int
    entries: Index
    options: Matrix
    complete: bool = True
    sign: float = 1.0


Chooser = Callable[[Kink, Vector, Vector], int]
"""Called with a kink, the arguments there and their sizes; returns the row of `options` to take."""


class Odometer:
    """Goes through all combinations of pieces: each run of an evaluation makes its choices in the same order."""

    def __init__(self, rng: np.random.Generator | None = None) -> None:
        self._rng = rng
        self._digits: list[int] = []
        self._counts: list[int] = []
        self._at = 0
        self.complete: bool = True

    def __call__(self, kink: Kink, here: Vector, there: Vector) -> int:
        """The piece of the present combination."""
        self.complete &= kink.complete
        if self._rng is not None:
            return int(self._rng.integers(len(kink.options)))
        if self._at == len(self._digits):
            self._digits.append(0)
            self._counts.append(0)
        self._counts[self._at] = len(kink.options)
        self._at += 1
        return self._digits[self._at - 1]

    def combinations(self) -> Iterator[int]:
        """Once for each combination; `total` is known after the first."""
        number = 0
        while True:
            self._at = 0
            yield number
            number += 1
            del self._digits[self._at :], self._counts[self._at :]
            while self._digits and self._digits[-1] + 1 >= self._counts[-1]:
                self._digits.pop()
                self._counts.pop()
            if not self._digits:
                return
            self._digits[-1] += 1

    @property
    def total(self) -> int:
        """The number of combinations, if none of the choices changes how many follow."""
        return int(np.prod([float(count) for count in self._counts])) if self._counts else 1


def highest(kink: Kink, here: Vector, there: Vector) -> int:
    """The piece that is tightest at the place where the tangent will be evaluated."""
    return int(np.argmax(kink.sign * (kink.options @ there[kink.entries])))


def may_have_kinks(atom: Any) -> bool:
    """May this nonlinear atom have kinks?"""
    return type(atom).__name__ not in SMOOTH


def slopes_and_kinks(
    atom: Any, arguments: list[Any], close: Vector, gradient: Callable[[list[Any]], Matrix]
) -> tuple[Matrix, list[Kink]]:
    """The slopes of a nonlinear atom, one row for each of its entries, and its kinks.

    `close` says for each entry of the stacked arguments within which distance it counts as being at a kink, and
    `gradient` computes CVXPY's slopes.
    """
    w = np.concatenate([np.ravel(a, order="F") for a in arguments])
    if isinstance(atom, ENTRYWISE):
        rows = np.arange(len(w)) if isinstance(atom, cp.abs) else slices(atom)
        slopes = np.zeros((atom.size, len(w)))
        slopes[rows, np.arange(len(w))] = np.sign(w)
        both = np.array([[1.0], [-1.0]])
        return slopes, [Kink(int(rows[i]), np.array([i]), both) for i in np.flatnonzero(np.abs(w) <= close)]
    if isinstance(atom, (cp.max, cp.maximum, cp.min, cp.minimum)):
        sign = 1.0 if isinstance(atom, (cp.max, cp.maximum)) else -1.0
        slopes, found = np.zeros((atom.size, len(w))), list[Kink]()
        for i, entries in enumerate(candidates(atom, arguments)):
            values = sign * w[entries]
            top = int(np.argmax(values))
            slopes[i, entries[top]] = 1.0
            tied = np.flatnonzero(values >= values[top] - close[entries] - close[entries[top]])
            if len(tied) > 1:
                found.append(Kink(i, entries[tied], np.eye(len(tied)), sign=sign))
        return slopes, found
    if isinstance(atom, cp.sum_largest) and atom.size == 1 and float(atom.k).is_integer():
        return largest_sum(w, int(atom.k), close)
    if isinstance(atom, cp.Pnorm) and atom.p == 2 and atom.size == 1 and len(w) > 1 and (np.abs(w) <= close).all():
        rng = np.random.default_rng(0)
        axes, random = np.eye(len(w))[: 2 * DIRECTIONS], rng.standard_normal((DIRECTIONS, len(w)))
        units = np.concatenate([axes, -axes, random / np.linalg.norm(random, axis=1, keepdims=True)])
        return np.zeros((1, len(w))), [Kink(0, np.arange(len(w)), units, complete=False)]
    slopes = gradient(arguments)
    return slopes, by_directions(atom, arguments, slopes, close, gradient) if may_have_kinks(atom) else []


def largest_sum(w: Vector, k: int, close: Vector) -> tuple[Matrix, list[Kink]]:
    """The slopes of the sum of the k largest entries; entries close to the k-th may be exchanged."""
    order = np.argsort(-w, kind="stable")
    threshold = w[order[min(k, len(w)) - 1]]
    slopes = np.zeros((1, len(w)))
    slopes[0, order[:k]] = 1.0
    tied = np.flatnonzero(np.abs(w - threshold) <= close + close[order[min(k, len(w)) - 1]])
    among = int(slopes[0, tied].sum())
    if among == len(tied):
        return slopes, []
    sets = [
        np.isin(np.arange(len(tied)), chosen)
        for _, chosen in zip(range(64), combinations(range(len(tied)), among), strict=False)
    ]
    return slopes, [Kink(0, tied, np.array(sets, dtype=float), complete=len(sets) < 64)]


def by_directions(
    atom: Any, arguments: list[Any], slopes: Matrix, close: Vector, gradient: Callable[[list[Any]], Matrix]
) -> list[Kink]:
    """Kinks of any other atom, found by its slopes a little way off along axes and random directions.

    The atoms of CVXPY that come here, such as norms, λmax and the nuclear norm, are positively homogeneous: the slopes
    at w′ belong to a tangent, and its value at w is their product with w.
    """
    ends = np.cumsum([0, *(np.size(a) for a in arguments)])
    w = np.concatenate([np.ravel(a, order="F") for a in arguments])
    rng, found = np.random.default_rng(0), list[Matrix]()
    axes = np.eye(len(w))[rng.permutation(len(w))[:DIRECTIONS]]
    random = rng.standard_normal((DIRECTIONS if len(w) > 1 else 0, len(w)))
    for direction in np.concatenate([axes, -axes, random]):
        moved = w + 2.0 * close * direction + 1e-300 * direction
        parts = [
            np.reshape(moved[a:b], np.shape(old), order="F")
            for a, b, old in zip(ends, ends[1:], arguments, strict=False)
        ]
        parts = [
            (part + part.T) / 2
            if part.ndim == 2 and len(part) == len(part.T) and np.allclose(old, np.transpose(old))
            else part
            for part, old in zip(parts, arguments, strict=True)
        ]
        with np.errstate(all="ignore"):
            try:
                found.append(gradient(parts))
            except Exception:  # outside the domain of the atom
                continue
    kinks, sign = list[Kink](), 1.0 if atom.is_atom_convex() else -1.0
    for i in range(len(slopes)):
        options = np.array([slopes[i], *(other[i] for other in found)])
        apart = np.abs(options - slopes[i]).max(axis=1) > 1e-3 * (1e-300 + np.abs(options).max())
        if np.isfinite(options).all() and apart.any():
            kinks.append(Kink(i, np.arange(len(w)), np.unique(options[apart], axis=0), len(w) == 1, sign))
    return kinks


def slices(atom: Any) -> Index:
    """For each entry of the argument, the entry of the atom that it belongs to, for atoms that reduce along an axis."""
    shape = atom.args[0].shape
    kept: Any = np.zeros(shape).sum(axis=atom.axis, keepdims=True).shape
    numbers = np.arange(int(np.prod(kept))).reshape(kept, order="F")
    return np.broadcast_to(numbers, shape).ravel(order="F")


def candidates(atom: Any, arguments: list[Any]) -> list[Index]:
    """For each entry of a maximum, the entries of the stacked arguments of which it is the largest."""
    if isinstance(atom, (cp.max, cp.min)):
        rows = slices(atom)
        return [np.flatnonzero(rows == i) for i in range(atom.size)]
    begins = np.cumsum([0, *(np.size(a) for a in arguments)])
    shapes = [np.shape(a) for a in arguments]
    numbers = [
        np.broadcast_to(begin + np.arange(int(np.prod(shape))).reshape(shape, order="F"), atom.shape).ravel(order="F")
        for begin, shape in zip(begins, shapes, strict=False)
    ]
    return list(np.array(numbers).T)
