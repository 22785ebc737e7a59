"""Proof files: why no support exceeds a bound, step by step, for checkers that share nothing with the search.

`docs/proof-files.md` describes the format, `check_proof.py` reads it. Only what the proof needs is kept: which
variable was decided where, and for every leaf the dual that bounds it, or that its supports are tried one by one.
"""

from __future__ import annotations

import hashlib
import math
import os
from array import array
from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from .._numerics.checks import Index, Matrix, Vector, as_flag
from .._numerics.output_files import output_file, write_file
from .duals import StoredDual
from .enumeration import ScaledProblem

LISTED, UNBOUNDED = -1, -2
"""Reasons of a node beside the number of its dual: its supports were tried one by one; there is none."""
DUAL_STEPS = ("screen", "bound")
"""The words of the steps whose first number is a dual's."""
ProofStep: TypeAlias = tuple[str, tuple[int, ...]]
"""A line of the tree: a word, then numbers."""


class SearchTree:
    """What the search decided, in 18 bytes a node: the branching variable, the children, and the node's own bound."""

    def __init__(self, screenings: Iterable[tuple[int, Index]] = ()) -> None:
        self.screenings = list(screenings)
        self.branches, self.children, self.reasons, self.bounds = array("i"), array("i"), array("h"), array("d")
        self.add()

    def add(self) -> int:
        """A new node without a reason, and its number."""
        for column, value in ((self.branches, -1), (self.children, -1), (self.reasons, UNBOUNDED)):
            column.append(value)
        self.bounds.append(math.inf)
        return len(self.bounds) - 1

    def explain(self, node: int, reason: int, bound: float = -math.inf) -> None:
        """No support of the node exceeds the bound, by a dual or because each was tried."""
        self.reasons[node], self.bounds[node] = reason, bound

    def split(self, node: int, variable: int) -> tuple[int, int]:
        """Two children: with the variable, and without."""
        self.branches[node], self.children[node] = variable, self.add()
        return self.children[node], self.add()

    def steps(self, level: float) -> Iterator[ProofStep]:
        """The proof of a level: every path ends at the first node whose own bound is low enough."""
        for dual, variables in self.screenings:
            yield "screen", (dual, *variables.tolist())
        stack = [0]
        while stack:
            node = stack.pop()
            if self.reasons[node] == LISTED:
                yield "list", ()
            elif self.bounds[node] <= level:
                yield "bound", (self.reasons[node],)
            else:
                yield "split", (self.branches[node],)
                stack += [self.children[node] + 1, self.children[node]]


class Proof:
    r"""A vector, a bound, and why no support has a larger value: what `save` writes to a file.

    Parameters
    ----------
    problem : ScaledProblem
        What was solved; the proof is about its A and B.
    x : ndarray
        The vector whose value is the lower end.
    bound : float
        The upper end.
    duals : list of StoredDual
        In the search's units.
    steps : list of tuple
        The tree, in depth-first order; duals are numbered from 1.

    Examples
    --------
    >>> from dcgev_cvx import datasets
    >>> from dcgev_cvx.exact import best_subset
    >>> proof = best_subset(datasets.pitprops(), 6).proof
    >>> print(*list(proof.lines())[:2], sep="\n")
    dcgev-proof 1
    n 13
    """

    def __init__(
        self,
        problem: ScaledProblem,
        x: Vector,
        bound: float,
        duals: list[StoredDual],
        steps: list[ProofStep],
    ) -> None:
        self.A, self.B, self.budget, self.x, self.bound = problem.A, problem.B, problem.budget, x, bound
        self.scaling, self.formed = problem.scaling, problem.formed
        # duals that no step uses are left out, and the others numbered anew; 0 stands for none
        used = dict.fromkeys(numbers[0] for word, numbers in steps if word in DUAL_STEPS and numbers[0])
        new = {0: 0} | {old: number for number, old in enumerate(used, 1)}
        self.duals = [duals[old - 1] for old in used]
        self.steps = [
            (word, (new[numbers[0]], *numbers[1:])) if word in DUAL_STEPS else (word, numbers)
            for word, numbers in steps
        ]

    @property
    def value(self) -> float:
        """xᵀAx/xᵀBx for the matrices of the proof, computed exactly and rounded down."""
        support = np.flatnonzero(self.x).tolist()
        a = b = Fraction(0)
        for i in support:
            for j in support:
                pair = Fraction(self.x[i]) * Fraction(self.x[j])
                a += pair * Fraction(self.A[i, j])
                b += pair * (Fraction(int(i == j)) if self.B is None else Fraction(self.B[i, j]))
        nearest = float(a / b)
        return nearest if Fraction(nearest) <= a / b else math.nextafter(nearest, -math.inf)

    def save(self, path: str | os.PathLike[str], *, matrices: bool | None = None) -> None:
        """Write the proof to a text file.

        Parameters
        ----------
        path : str or path
            The file.
        matrices : bool, optional
            Write A and B into it too. By default only where A = CᵀC was formed: its digits depend on the machine.
        """
        file = output_file("the proof file", path)
        with_them = self.formed if matrices is None else as_flag(matrices, "matrices")
        text = "".join(f"{line}\n" for line in self.lines(with_them))
        write_file(file, f"{text}end {hashlib.sha256(text.encode()).hexdigest()}\n")

    def lines(self, matrices: bool = False) -> Iterator[str]:
        """The lines of the file but the last, which is a checksum of the others."""
        support = np.flatnonzero(self.x)
        yield "dcgev-proof 1"
        yield f"n {len(self.A)}"
        yield f"A {matrix_hash(self.A)}"
        yield f"B {'identity' if self.B is None else matrix_hash(self.B)}"
        yield f"counts {words(self.budget.counts)}"
        yield f"labels {words(self.budget.labels.tolist())}"
        yield f"support {words(support.tolist())}"
        yield f"x {words(self.x[support].tolist())}"
        yield f"value {self.value!r}"
        yield f"bound {self.bound!r}"
        for name, M in (("A", self.A), ("B", self.B)) if matrices else ():
            if M is not None:
                yield f"matrix_{name} {entries_of(M)}"
        for dual in self.duals:
            yield from self.dual_lines(dual)
        yield "tree"
        yield from (words([word, *numbers]) for word, numbers in self.steps)

    def dual_lines(self, dual: StoredDual) -> Iterator[str]:
        """The variables of a dual, and its charges with the signs of U above the diagonal, in the user's units."""
        unit, lengths = self.scaling.o, self.scaling.u
        inner = dual.variables if dual.core is None else dual.core.inner
        rows = np.ix_(*[np.searchsorted(dual.variables, inner)] * 2)
        yield f"dual {unit!r}"
        yield f"variables {words(inner.tolist())}"
        signed = np.where(np.triu(dual.U[rows]) < 0.0, -dual.a[rows], dual.a[rows])
        yield f"charges {entries_of(signed / lengths[inner, None] ** 2)}"
        if dual.core is not None:
            others = np.setdiff1d(dual.variables, inner)
            pays = dual.core.allowances / lengths[others] ** 2 * unit
            yield f"extended {dual.core.level * unit!r} {words(pays.tolist())}"


def words(items: Iterable[object]) -> str:
    """Words and numbers with spaces between them."""
    return " ".join(map(str, items))


def entries_of(M: Matrix) -> str:
    """The entries row by row; every number reads back as it is, and a zero takes one character."""
    return " ".join([repr(number) if number else "0" for number in M.ravel().tolist()])


def matrix_hash(M: Matrix) -> str:
    """SHA-256 of the entries as little-endian float64, row by row; −0 counts as 0."""
    return hashlib.sha256((np.asarray(M, dtype="<f8") + 0.0).tobytes()).hexdigest()
