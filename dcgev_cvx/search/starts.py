"""Supports without exchanges: forward selection, columns of A, and supports cut or grown to fit."""

import math
from typing import TypeAlias

import numpy as np

from .._numerics.checks import Index, Matrix, Vector
from .._numerics.selection import largest_first
from ..certificates import on_support, value
from ..pencils import Pencil
from ..steps.scaling import Scaling
from .exchange import CHUNK, pair_value, pair_values

Plan: TypeAlias = tuple[tuple[Index, int], ...]
"""How many variables a support has from each of some groups, which follow each other and are all variables."""


def forward_selection(pencil: Pencil, k: int) -> Index:
    """From the best pair, add the variable whose 2 × 2 Rayleigh–Ritz value with the eigenvector so far is largest.

    For k = 1 the best variable.

    Examples
    --------
    >>> from dcgev_cvx import datasets
    >>> from dcgev_cvx.search.starts import forward_selection
    >>> forward_selection(datasets.pitprops(), 4)
    array([0, 1, 8, 9])
    """
    pencil = in_units(pencil)[0]
    support = best_pair(pencil) if k > 1 else best_variable(pencil)
    while len(support) < k:
        support = np.sort(np.append(support, largest_first(entry_values(pencil, support), 1)))
    return support


def column_supports(pencil: Pencil, plan: Plan, columns: Index, count: int) -> list[Index]:
    """The largest entries of `count` columns of A, each with its own variable.

    The columns are those whose k largest |Aᵢⱼ|/√(BᵢᵢBⱼⱼ) have the largest sums, without those of variables that a
    support already has. On a correlation matrix the diagonal says nothing; this says where variables go together.
    """
    k = size_of(plan)
    sums = np.empty(len(columns))
    size = max(1, CHUNK // pencil.n)
    for at in range(0, len(columns), size):
        sizes = scaled_columns(pencil, columns[at : at + size])
        sums[at : at + size] = np.partition(sizes, pencil.n - k, axis=1)[:, pencil.n - k :].sum(axis=1)
    found: list[Index] = []
    taken = np.zeros(pencil.n, dtype=bool)
    for column in columns[largest_first(sums, len(columns))]:
        if len(found) < count and not taken[column]:
            sizes = scaled_columns(pencil, np.array([column]))[0]
            sizes[column] = math.inf
            found.append(highest(sizes, plan))
            taken[found[-1]] = True
    return found


def scaled_columns(pencil: Pencil, columns: Index) -> Matrix:
    """Columns of |Aᵢⱼ|/√(BᵢᵢBⱼⱼ) as rows."""
    return np.abs(pencil.A_block(columns)) / (pencil.B_roots[columns, None] * pencil.B_roots)


def fitted(pencil: Pencil, support: Index, plan: Plan) -> Index:
    """A support with the planned number of variables of each group; itself when it has it.

    Members go by their loadings |xᵢ|√Bᵢᵢ, the smallest first; outsiders come by the value of the pair of x and them.
    """
    if all(np.count_nonzero(np.isin(rows, support)) == k for rows, k in plan):
        return support
    loading = np.abs(on_support(pencil, support) * pencil.B_roots)
    score = ranks(entry_values(pencil, support))
    score[support] = pencil.n + ranks(loading[support])
    return highest(score, plan)


def highest(score: Vector, plan: Plan) -> Index:
    """The planned number of variables of each group with the highest scores, ties to the lower position."""
    return np.sort(np.concatenate([rows[largest_first(score[rows], k)] for rows, k in plan]))


def size_of(plan: Plan) -> int:
    """How many variables a support has in all."""
    return sum(k for _, k in plan)


def best_variable(pencil: Pencil) -> Index:
    """The variable with the largest Aᵢᵢ/Bᵢᵢ, the first of those equal but for rounding.

    The diagonal of a correlation matrix is 1 but for rounding, and rounding must not choose the variable.
    """
    ratio = pencil.A_diagonal / pencil.B_diagonal
    top = float(np.max(ratio))
    return np.flatnonzero(ratio >= top - 1e-12 * abs(top))[:1]


def best_pair(pencil: Pencil) -> Index:
    """The pair with the largest value; for A = CᵀC, or beyond 1500 variables, the best pair with the best variable.

    In CCA, where the diagonal of A is zero, nothing less than a pair has a value.
    """
    first = best_variable(pencil)
    if pencil.A_terms or pencil.n > 1500:
        return np.sort(np.append(first, largest_first(entry_values(pencil, first), 1)))
    (A, B), a, b = pencil.dense(), pencil.A_diagonal, pencil.B_diagonal
    pairs = pair_value(a[:, None], b[:, None], A, B, a, b)
    np.fill_diagonal(pairs, -math.inf)
    return np.sort(np.array(np.unravel_index(int(np.argmax(pairs)), pairs.shape)))


def entry_values(pencil: Pencil, support: Index) -> Vector:
    """For each variable the value of the pair of it and the leading eigenvector on a support; −inf for members."""
    found = pair_values(pencil, on_support(pencil, support))
    found[support] = -math.inf
    return found


def spread_over_ties(pencil: Pencil, x: Vector, k: int) -> Vector:
    """x with k nonzeros where its eigenvalue is shared by other variables, so that more of them cost nothing."""
    missing = k - int(np.count_nonzero(x))
    if missing <= 0:
        return x
    unit, length, _ = in_units(pencil)
    gain = pair_values(unit, x / length)
    gain[x != 0.0] = -math.inf
    best, z = largest_first(gain, missing), x / length
    z[best] = float(np.max(np.abs(z))) * np.sqrt(unit.B_scale / unit.B_diagonal[best])
    old, new = value(unit, x / length), value(unit, z)
    return length * z / unit.B_norm(z) if new >= old - 1e-12 * abs(old) else x


def in_units(pencil: Pencil) -> tuple[Pencil, float, float]:
    """(pencil, unit of x, unit of λ): itself if its entries are of ordinary size, so that no square overflows."""
    if all(2.0**-50 <= size <= 2.0**50 for size in (pencil.A_scale or 1.0, pencil.B_scale)):
        return pencil, 1.0, 1.0
    scaling = Scaling.of_pencil(pencil).uniform()
    return scaling.pencil(pencil), float(scaling.u[0]), scaling.o


def ranks(values: Vector) -> Vector:
    """The place of each value in ascending order, the same for equal values."""
    return np.unique(values, return_inverse=True)[1].astype(np.float64)
