"""Check a proof file of max xᵀAx s.t. xᵀBx = 1 with a budget of nonzeros in x: python check_proof.py FILE

    --matrices FILE.npz   A, and B unless it is the identity, where the proof file does not contain them
    --rational            exact arithmetic, for n ≤ 40

Exit code 0: the vector of the file attains its value, and no support exceeds its bound λ. 1: refused, with the reason.
This program needs Python and NumPy and shares no code with the search; docs/proof-files.md describes the format.

A family holds the supports that contain I and fill the counts with variables of F. The tree is read in depth-first
order from I = ∅ and F = all variables. `split v` makes two families of one: v in I, and v not in F. Every other line
closes a family, or those of its supports that hold a variable of Z, by a test S ⪰ 0:

    list        λB − A ⪰ 0 on every support
    bound d     λB − A − U − Diag(r) ⪰ 0 on I ∪ F: dual d has charges a ≥ 0 and |Uᵢⱼ| ≤ √(aᵢⱼaⱼᵢ), U = 0 within I, and
                rᵢ is the largest Σⱼ aᵢⱼ over the partners j of i in a support, without pairs within I; d = 0: a = 0
    screen d Z  the same for the supports that hold a variable of Z, with F minus Z left over; here I = ∅

Proof of `bound`. aᵢⱼxᵢ² + 2Uᵢⱼxᵢxⱼ + aⱼᵢxⱼ² ≥ 0. The sum over all pairs of a support but those within I gives
0 ≤ xᵀUx + Σ rᵢxᵢ² ≤ λxᵀBx − xᵀAx. In `screen` a row i ∉ Z has a partner in Z, in a group where the smallest summand of
rᵢ is then replaced by some aᵢⱼ, j ∈ Z: the difference is saved, in the group where it is smallest.

Rounding, u = 2⁻⁵³. Entries of S are sums of four numbers, off by at most 6u·Gᵢⱼ, G the sum of their moduli; so S is
off by at most 6u·g in norm, g the largest row sum of G. S is scaled to size one by powers of two, which rounds nothing.
If a floating-point Cholesky factorisation of T = fl(S − cI), m × m, ends, then T + E ⪰ 0 with ‖E‖ ≤ γ/(1 − γ)·tr T,
γ = (m + 1)u/(1 − (m + 1)u), whatever the order of summation (Rump, BIT 46, 2006; Higham, Accuracy and Stability of
Numerical Algorithms, Theorem 10.3). c = (m + 3)u·tr S + 8u·g exceeds ‖E‖ + 6u·g and the rounding of S − cI, so that
S ⪰ 0. Sums of k charges are rounded up by the factor 1 + 4(k + 2)u.
"""

import argparse
import hashlib
import math
import sys
from fractions import Fraction
from itertools import chain, combinations, islice, product
from pathlib import Path
from typing import Any

import numpy as np

UNIT = 2.0**-53
fractions: Any = np.vectorize(Fraction, otypes=[object])


class Refused(Exception):
    """Why a proof does not hold, in one line."""


def exact_root(square: Fraction) -> Fraction:
    """√, rounded down to a multiple of 2⁻²⁰⁰."""
    return Fraction(math.isqrt(int(square * 4**200)), 2**200)


def require(condition: Any, reason: str) -> None:
    """Refuse the proof unless a condition holds."""
    if not condition:
        raise Refused(reason)


class ProofFile:
    """What a file says, and the check of it."""

    def __init__(self, path: str, matrices: Any, rational: bool) -> None:
        body, _, end = Path(path).read_bytes().rpartition(b"\nend ")
        require(body.startswith(b"dcgev-proof 1\n"), "it is not a proof file, or it ends early")
        require(hashlib.sha256(body + b"\n").hexdigest().encode() == end.strip(), "damaged: the checksum differs")
        self.lines = body.decode("ascii", "replace").split("\n")[:0:-1]
        self.rational, self.number = rational, fractions if rational else np.asarray
        (self.n,), digests = self.line("n", int), {name: self.line(name, str)[0] for name in "AB"}
        require(0 < self.n <= (40 if rational else 10**5), f"n = {self.n} is out of range")
        self.counts, self.labels = self.line("counts", int), self.line("labels", int)
        sizes, n = np.bincount(self.labels, minlength=len(self.counts)), self.n
        fits = len(self.labels) == n and len(sizes) == len(self.counts) and np.all(self.counts <= sizes)
        require(fits and np.all(self.counts > 0), "counts and labels do not fit")
        support, x = self.positions(self.line("support", int)), fractions(self.line("x"))
        (self.value,), (self.bound,) = self.line("value"), self.line("bound")
        A, B = (self.matrix(name, digests[name], matrices) for name in "AB")
        require(rational or not A.any() or 1e-250 < np.max(abs(A)) < 1e250, "A is out of range: use --rational")
        xAx, xBx = (x @ fractions(M[np.ix_(support, support)]) @ x for M in (A, B))
        require(np.all(self.left(support) >= 0), "the support has more members than the counts allow")
        require(xBx > 0 and Fraction(self.value) * xBx <= xAx, "the vector does not attain the value")
        require(self.value <= self.bound < math.inf, "the value exceeds the bound, or there is no bound")
        self.p = np.exp2(-np.round(0.5 * np.log2(np.diag(B))))  # units of the variables
        self.A, self.B, self.level, self.duals = self.number(A), self.number(B), self.number(self.bound), [None]
        while self.ahead() == "dual":
            self.duals.append(self.dual())

    def ahead(self) -> str:
        """The name on the next line."""
        return self.lines[-1].split(None, 1)[0] if self.lines and self.lines[-1].strip() else "nothing"

    def line(self, name: str, kind: Any = float) -> Any:
        """What follows a name on the next line."""
        require(self.ahead() == name, f"'{name}' expected, '{self.ahead()}' found")
        return np.array([kind(word) for word in self.lines.pop().split()[1:]])

    def positions(self, found: Any) -> Any:
        """Ascending positions of variables."""
        require(np.all(np.diff(found, prepend=-1, append=self.n) > 0), "positions must ascend and be less than n")
        return found.astype(int)

    def matrix(self, name: str, digest: str, matrices: Any) -> Any:
        """A or B, from the other file or the proof file, if its hash is right."""
        M = self.line(f"matrix_{name}") if self.ahead() == f"matrix_{name}" else None
        M = np.asarray(matrices[name], "<f8") + 0.0 if name in matrices else M
        if name == "B" and digest == "identity":
            require(M is None or np.array_equal(M, np.eye(self.n)), "the proof is about B = I")
            return np.eye(self.n)
        require(M is not None, f"{name} is not in the file: give it by --matrices FILE.npz")
        require(hashlib.sha256(M.tobytes()).hexdigest() == digest, f"the proof is about another {name} (its hash)")
        M = M.reshape(self.n, self.n)
        require(np.array_equal(M, M.T) and np.all(np.isfinite(M)), f"{name} is not symmetric and finite")
        require(name == "A" or np.all(np.diag(M) > 0), "B has no positive diagonal")
        return M

    def dual(self) -> Any:
        """(variables, a, U) with |U| = √(aᵢⱼaⱼᵢ) rounded down, and the signs that are written above the diagonal."""
        (unit,), inner = self.number(self.line("dual")), self.positions(self.line("variables", int))
        variables, m = inner, len(inner)
        signed = self.number(self.line("charges").reshape(m, m)) * unit
        if self.ahead() == "extended":  # to all variables: other pairs are cancelled at a level, and rows pay
            (level, *pays), outer = self.number(self.line("extended")), np.setdiff1d(np.arange(self.n), inner)
            require(len(pays) == len(outer) and min(pays, default=1) > 0, "an extended dual has wrong numbers")
            given, signed, variables = signed, level * self.B - self.A, np.arange(self.n)
            across, back = np.ix_(inner, outer), np.ix_(outer, inner)
            signed[back] = np.where(signed[back] < 0, -1, 1) * np.array(pays)[:, None]
            signed[across], signed[np.ix_(inner, inner)] = signed[across] * abs(signed[across]) / np.array(pays), given
        a, sign = abs(signed), np.where(np.triu(signed, 1) < 0, -1, 1)
        np.fill_diagonal(a, 0)
        squares = a * a.T
        if self.rational:
            return variables, a, sign * sign.T * np.vectorize(exact_root, otypes=[object])(squares)
        return variables, a, sign * sign.T * np.where(squares > 1e-300, np.sqrt(squares) * (1.0 - 4.0 * UNIT), 0.0)

    def check(self) -> int:
        """Go through the tree, which has to hold at every step; the number of steps."""
        stack, step = [(np.arange(0), np.arange(self.n))], 0
        self.line("tree")
        while stack:
            (included, free), word, step = stack.pop(), self.ahead(), step + 1
            where = f"step {step} ({word})"
            require(word in ("split", "list", "bound", "screen"), f"{where}: the tree is not complete")
            numbers = self.line(word, int)
            if word == "split":
                require(len(numbers) == 1 and numbers[0] in free, f"{where}: the variable is not free")
                inside, rest = np.append(included, numbers), free[free != numbers[0]]
                stack += [(included, rest), (inside, rest[self.left(inside)[self.labels[rest]] > 0])]
            elif word == "list":
                require(self.enumerate(included, free), f"{where}: a support is not proved to stay below the bound")
            else:
                Z = self.positions(numbers[1:] if word == "screen" else np.arange(0))
                require(0 <= numbers[0] < len(self.duals), f"{where}: there is no such dual")
                if word == "screen":
                    require(len(Z) and not len(included) and np.all(np.isin(Z, free)), f"{where}: impossible here")
                    stack.append((included, np.setdiff1d(free, Z)))
                holds = self.bounded(included, free, self.duals[numbers[0]], Z)
                require(holds, f"{where}: a matrix is not proved to be positive semidefinite")
        require(not self.lines, "there are lines after the end of the tree")
        return step

    def left(self, chosen: Any) -> Any:
        """How many variables are still to be chosen of each group."""
        return self.counts - np.bincount(self.labels[chosen], minlength=len(self.counts))

    def enumerate(self, included: Any, free: Any) -> bool:
        """λB − A ⪰ 0 on every support of a family."""
        k, groups = sum(self.counts.tolist()), enumerate(self.left(included).tolist())
        parts = [combinations(free[self.labels[free] == g].tolist(), m) for g, m in groups]
        supports = parts[0] if len(parts) == 1 else map(chain.from_iterable, product(*parts))
        while some := list(islice(supports, max(1, 2**14 // k**2))):
            others = np.fromiter(chain.from_iterable(some), int).reshape(len(some), k - len(included))
            T = np.hstack([np.tile(included, (len(some), 1)), others])
            A, B = (M[T[:, :, None], T[:, None, :]] for M in (self.A, self.B))
            if not self.semidefinite(self.level * B - A, abs(self.level) * abs(B) + abs(A), self.p[T]):
                return False
        return True

    def bounded(self, included: Any, free: Any, dual: Any, Z: Any) -> bool:
        """λB − A − U − Diag(r) ⪰ 0 for the family, or for its supports that hold a variable of Z."""
        T, p = np.append(included, free), len(included)
        A, B, U, r = self.A[np.ix_(T, T)], self.B[np.ix_(T, T)], self.number(0.0), self.number(0.0)
        if dual is not None:
            require(np.all(np.isin(T, dual[0])), "a dual lacks a variable")
            a, U = (M[np.ix_(*[np.searchsorted(dual[0], T)] * 2)] for M in dual[1:])
            U[:p, :p] = 0
            r = np.diag(self.sums(a, T, p, Z))
        size = abs(self.level) * abs(B) + abs(A) + abs(U) + r
        return self.semidefinite(self.level * B - A - U - r, size, self.p[T])

    def sums(self, a: Any, T: Any, p: int, Z: Any) -> Any:
        """The largest sum of charges of every row of T over its partners: all of the first p, and one of Z if any."""
        labels, free = self.labels[T], np.arange(len(T)) >= p
        r, saved = np.where(free, np.sum(a[:, :p], axis=1), 0), np.full(len(T), np.inf, dtype=a.dtype)
        for g, m in enumerate(self.left(T[:p])):
            own, of_Z = free & (labels == g), (labels == g) & np.isin(T, Z)
            for rows, most in ((own, m - 1), (~own, m)):
                if most > 0 and np.any(own) and np.any(rows):
                    top = -np.sort(-a[np.ix_(rows, own)], axis=1)[:, :most]
                    r[rows] += np.sum(top, axis=1)
                    if np.any(of_Z):
                        less = np.maximum(top[:, -1] - np.max(a[np.ix_(rows, of_Z)], axis=1), 0)
                        saved[rows] = np.minimum(saved[rows], less)
        saved[np.isin(T, Z)] = 0
        raised = r if self.rational else r * (1.0 + 4.0 * (sum(self.counts) + 2) * UNIT)
        return raised - np.minimum(saved, r) if len(Z) else raised

    def semidefinite(self, S: Any, size: Any, p: Any) -> bool:
        """S ⪰ 0 for a matrix or all of a stack, with units p and moduli of the summands; exactly, or by Cholesky."""
        if self.rational:
            return all(map(exactly_semidefinite, S.reshape(-1, *S.shape[-2:])))
        scale = p[..., :, None] * p[..., None, :]
        scale *= np.exp2(-np.ceil(np.log2(np.max(size * scale, initial=1e-300))))
        S, size = S * scale, size * scale
        diagonal = np.einsum("...ii->...i", S)  # a view
        lowered = (S.shape[-1] + 3) * np.sum(diagonal, axis=-1) + 8.0 * np.max(np.sum(size, axis=-1), axis=-1)
        if not np.all(np.isfinite(S)) or not np.all(diagonal >= 0.0):
            return False
        diagonal -= UNIT * lowered[..., None]
        try:
            np.linalg.cholesky(S)
        except np.linalg.LinAlgError:
            return not size.any()  # the zero matrix
        return True


def exactly_semidefinite(S: Any) -> bool:
    """S ⪰ 0 for fractions, by elimination in integers (Bareiss)."""
    scale, before = math.lcm(*(v.denominator for v in S.ravel())), 1
    M = np.array([int(v * scale) for v in S.ravel()], dtype=object).reshape(S.shape)
    while len(M):
        pivot = M[0, 0]
        if pivot < 0 or (pivot == 0 and any(M[0])):
            return False
        M = (pivot * M[1:, 1:] - np.outer(M[1:, 0], M[0, 1:])) // before if pivot else M[1:, 1:]
        before = pivot or before
    return True


def main() -> None:
    """Check the file that the command line names."""
    parser = argparse.ArgumentParser(description="Check a proof file of dcgev.")
    parser.add_argument("file")
    parser.add_argument("--matrices", metavar="FILE.npz", help="A and B, where the proof file does not contain them")
    parser.add_argument("--rational", action="store_true", help="exact arithmetic, for n ≤ 40")
    args = parser.parse_args()
    try:
        proof = ProofFile(args.file, np.load(args.matrices) if args.matrices else {}, args.rational)
        steps = proof.check()
    except (Refused, OSError, ValueError, ArithmeticError, IndexError) as reason:
        sys.exit(f"refused: {reason}")
    claim = f"no support exceeds {proof.bound!s}; the vector attains {proof.value!s}"
    print(f"accepted: n = {proof.n}, at most {' + '.join(map(str, proof.counts))} nonzeros, {steps} steps: {claim}")


if __name__ == "__main__":
    main()
