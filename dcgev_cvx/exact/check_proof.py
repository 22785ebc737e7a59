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

Rounding, u = 2⁻⁵³. Powers of two scale variables and A to Bᵢᵢ and max|Aᵢⱼ| near one. Entries of S are sums of four
numbers, off by at most 5u·Gᵢⱼ, G the sum of their moduli; so S is off by at most 5u·g in norm, g the largest row sum
of G. If a floating-point Cholesky factorisation of T = fl(S − cI), m × m, ends, then T + E ⪰ 0 with
‖E‖ ≤ γ/(1 − γ)·tr T, γ = (m + 1)u/(1 − (m + 1)u), whatever the order of summation (Rump, BIT 46, 2006; Higham,
Accuracy and Stability of Numerical Algorithms, Theorem 10.3). c = (m + 3)u·tr S + 8u·g exceeds ‖E‖ + 5u·g and the
rounding of S − cI, so that S ⪰ 0. Sums of k charges are rounded up by the factor 1 + 4(k + 2)u. Underflow loses less
than 1e-310 in all, far below the 2u·g that are left, since max Gᵢⱼ > 1e-250 is required; overflow is refused.
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
STEPS = {"split": 1, "list": 0, "bound": 1, "screen": None}  # how many numbers follow
fractions: Any = np.vectorize(Fraction, otypes=[object])


def exact_root(square: Fraction) -> Fraction:
    """√, rounded down to a multiple of 2⁻²⁰⁰."""
    return Fraction(math.isqrt(int(square * 4**200)), 2**200)


def refuse_unless(condition: Any, reason: str) -> None:
    """Refuse a proof where a condition does not hold."""
    if not condition:
        raise ValueError(reason)


class ProofFile:
    """What a file says, and the check of it."""

    @np.errstate(all="ignore")
    def __init__(self, path: str, matrices: Any, rational: bool) -> None:
        body, _, end = Path(path).read_bytes().rpartition(b"\nend ")
        refuse_unless(body.startswith(b"dcgev-proof 1\n"), "it is not a proof file, or it ends early")
        refuse_unless(hashlib.sha256(body + b"\n").hexdigest().encode() == end.strip(), "damaged: the checksum differs")
        self.lines, self.rational = body.decode("ascii", "replace").split("\n")[:0:-1], rational
        (self.n,) = self.whole("n", 1, 40 if rational else 20_000, size=1)
        digests = [" ".join(self.words(name)) for name in "AB"]
        self.counts = self.whole("counts", 1, self.n)
        self.labels = self.whole("labels", 0, len(self.counts) - 1, size=self.n)
        refuse_unless(np.all(self.left(np.arange(self.n)) <= 0), "counts and labels do not fit")
        support = self.whole("support", 0, self.n - 1, ascending=True)
        x = fractions(self.numbers("x", size=len(support)))
        (self.value,), (self.bound,) = self.numbers("value", size=1), self.numbers("bound", size=1)
        A, B = (self.matrix(name, digest, matrices) for name, digest in zip("AB", digests, strict=True))
        refuse_unless(np.all(self.left(support) >= 0), "the support has more members than the counts allow")
        xAx, xBx = (x @ fractions(M[np.ix_(support, support)]) @ x if len(x) else 0 for M in (A, B))
        refuse_unless(xBx > 0 and Fraction(self.value) * xBx <= xAx, "the vector does not attain the value")
        refuse_unless(self.value <= self.bound, "the value exceeds the bound")
        self.e = -np.round(0.5 * np.log2(np.diag(B))).astype(int)  # the exponents of the variables' scales
        outer = np.add.outer(self.e, self.e)
        self.unit = -np.max((np.frexp(A)[1] + outer)[A != 0]) if A.any() else 0  # that of A
        self.A, self.B, level = (
            self.scaled(A, outer + self.unit),
            self.scaled(B, outer),
            self.scaled(self.bound, self.unit),
        )
        refuse_unless(rational or self.bound == 0 or 1e-250 < abs(level) < 1e250, "the bound is out of range beside A")
        self.S, self.duals = level * self.B - self.A, [None]
        self.G = abs(level) * abs(self.B) + abs(self.A)  # the moduli of the summands
        while self.ahead() == "dual":
            self.duals.append(self.dual())

    def scaled(self, M: Any, exponents: Any) -> Any:
        """M times powers of two; in exact arithmetic they are all 1."""
        return fractions(M) if self.rational else np.ldexp(M, exponents)

    def ahead(self) -> str:
        """The name on the next line."""
        return self.lines[-1].split(None, 1)[0] if self.lines and self.lines[-1].strip() else "nothing"

    def words(self, name: str) -> list[str]:
        """What follows a name on the next line."""
        refuse_unless(self.ahead() == name, f"'{name}' expected, '{self.ahead()}' found")
        return self.lines.pop().split()[1:]

    def numbers(self, name: str, size: int | None = None) -> Any:
        """The finite numbers that follow a name."""
        words = self.words(name)
        refuse_unless(not " ".join(words).strip(" +-.0123456789eE"), f"numbers expected after '{name}'")
        found = np.array(list(map(float, words)))
        refuse_unless(size in (None, len(found)), f"'{name}' has {len(found)} numbers instead of {size}")
        refuse_unless(np.isfinite(found).all(), f"'{name}' has a wrong number")
        return found

    def whole(self, name: str, low: int, high: int, size: int | None = None, ascending: bool = False) -> Any:
        """Whole numbers from low to high."""
        found = self.numbers(name, size)
        fits = np.all((found >= low) & (found <= high) & (found == np.floor(found)))
        refuse_unless(fits and not (ascending and np.any(np.diff(found) <= 0)), f"'{name}' has a wrong number")
        return found.astype(int)

    def matrix(self, name: str, digest: str, matrices: Any) -> Any:
        """A or B, from the other file or the proof file, if its hash is right."""
        M: Any = self.numbers(f"matrix_{name}") if self.ahead() == f"matrix_{name}" else None
        M = np.asarray(matrices[name], "<f8") if name in matrices else M
        if name == "B" and digest == "identity":
            refuse_unless(M is None or np.array_equal(M, np.eye(self.n)), "the proof is about B = I")
            return np.eye(self.n)
        refuse_unless(M is not None, f"{name} is not in the file: give it by --matrices FILE.npz")
        M = M.reshape(self.n, self.n) + 0.0  # -0 counts as 0
        same = hashlib.sha256(M.tobytes()).hexdigest() == digest
        refuse_unless(same, f"the proof is about another {name} (its hash)")
        refuse_unless(np.array_equal(M, M.T) and np.all(np.isfinite(M)), f"{name} is not symmetric and finite")
        refuse_unless(name == "A" or np.all(np.diag(M) > 0), "B has no positive diagonal")
        return M

    def dual(self) -> Any:
        """The row of each variable, -1 for none, a, and U: |U| = √(aᵢⱼaⱼᵢ), signs as written above the diagonal."""
        (unit,), inner = self.numbers("dual", size=1), self.whole("variables", 0, self.n - 1, ascending=True)
        m, outer, e = len(inner), np.setdiff1d(np.arange(self.n), inner), 2 * self.e + self.unit
        signed = self.scaled(self.numbers("charges", size=m * m).reshape(m, m), e[inner, None]) * self.scaled(unit, 0)
        row = np.where(np.isin(np.arange(self.n), inner), np.searchsorted(inner, np.arange(self.n)), -1)
        if self.ahead() == "extended":  # to all variables: other pairs are cancelled at a level, and rows pay
            level, *pays = self.numbers("extended", size=1 + len(outer))
            refuse_unless(min(pays, default=1) > 0, "an extended dual has wrong numbers")
            pays, given, row = self.scaled(np.array(pays), e[outer]), signed, np.arange(self.n)
            signed = self.scaled(level, self.unit) * self.B - self.A
            across, back = np.ix_(inner, outer), np.ix_(outer, inner)
            signed[back] = np.where(signed[back] < 0, -1, 1) * pays[:, None]
            signed[across], signed[np.ix_(inner, inner)] = signed[across] * abs(signed[across]) / pays, given
        a, sign = abs(signed), np.where(np.triu(signed, 1) < 0, -1, 1)
        np.fill_diagonal(a, 0)
        if self.rational:
            return row, a, sign * sign.T * np.frompyfunc(exact_root, 1, 1)(a * a.T)
        return row, a, sign * sign.T * np.where(a * a.T > 1e-300, np.sqrt(a * a.T) * (1.0 - 4.0 * UNIT), 0.0)

    @np.errstate(all="ignore")
    def check(self) -> int:
        """Go through the tree, which has to hold at every step; the number of steps."""
        stack, step = [(np.arange(0), np.arange(self.n))], 0
        self.numbers("tree", size=0)
        while stack:
            (included, free), word, step = stack.pop(), self.ahead(), step + 1
            self.where = f"step {step} ({word})"
            refuse_unless(word in STEPS, f"{self.where}: the tree is not complete")
            numbers = self.whole(word, 0, max(self.n, len(self.duals)), STEPS[word])
            if word == "split":
                refuse_unless(numbers[0] in free, f"{self.where}: the variable is not free")
                inside, rest = np.append(included, numbers), free[free != numbers[0]]
                stack += [(included, rest), (inside, rest[self.left(inside)[self.labels[rest]] > 0])]
            elif word == "list":
                self.enumerate(included, free)
            else:
                dual, Z = numbers[:1], numbers[1:]
                refuse_unless(len(dual) and dual[0] < len(self.duals), f"{self.where}: there is no such dual")
                if word == "screen":
                    possible = len(Z) and not len(included) and np.all(np.isin(Z, free)) and len(np.unique(Z)) == len(Z)
                    refuse_unless(possible, f"{self.where}: impossible here")
                    stack.append((included, np.setdiff1d(free, Z)))
                self.bounded(included, free, self.duals[dual[0]], Z)
        refuse_unless(not any(map(str.strip, self.lines)), "there are lines after the end of the tree")
        return step

    def left(self, chosen: Any) -> Any:
        """How many variables are still to be chosen of each group."""
        return self.counts - np.bincount(self.labels[chosen], minlength=len(self.counts))

    def enumerate(self, included: Any, free: Any) -> None:
        """λB − A ⪰ 0 on every support of a family."""
        k, groups = int(np.sum(self.counts)), enumerate(self.left(included).tolist())
        parts = [combinations(free[self.labels[free] == g].tolist(), m) for g, m in groups]
        supports = parts[0] if len(parts) == 1 else map(chain.from_iterable, product(*parts))
        while some := list(islice(supports, max(1, 2**14 // k**2))):
            others = np.fromiter(chain.from_iterable(some), int).reshape(len(some), k - len(included))
            T = np.hstack([np.tile(included, (len(some), 1)), others])
            self.semidefinite(*(M[T[:, :, None], T[:, None, :]] for M in (self.S, self.G)))

    def bounded(self, included: Any, free: Any, dual: Any, Z: Any) -> None:
        """λB − A − U − Diag(r) ⪰ 0 for the family, or for its supports that hold a variable of Z."""
        T, p = np.append(included, free), len(included)
        S, G = self.S[T[:, None], T], self.G[T[:, None], T]
        if dual is not None:
            rows = dual[0][T]
            refuse_unless(np.all(rows >= 0), "a dual lacks a variable")
            a, U = (M[rows[:, None], rows] for M in dual[1:])
            U[:p, :p] = 0
            r = np.diag(self.sums(a, T, p, Z))
            S, G = S - U - r, G + abs(U) + r
        self.semidefinite(S[None], G[None])

    def sums(self, a: Any, T: Any, p: int, Z: Any) -> Any:
        """The largest sum of charges of every row of T over its partners: all of the first p, and one of Z if any."""
        labels, free, inside = self.labels[T], np.arange(len(T)) >= p, np.isin(T, Z) if len(Z) else T < 0
        r, saved = np.where(free, np.sum(a[:, :p], axis=1), 0), np.full(len(T), np.inf, dtype=a.dtype)
        for g, m in enumerate(self.left(T[:p])):
            own, of_Z = free & (labels == g), inside & (labels == g)
            for rows, most in ((own, m - 1), (~own, m)):
                if most > 0 and own.any() and rows.any():
                    top = -np.sort(-a[rows][:, own], axis=1)[:, :most]
                    r[rows] += np.sum(top, axis=1)
                    if of_Z.any():
                        less = np.maximum(top[:, -1] - np.max(a[rows][:, of_Z], axis=1), 0)
                        saved[rows] = np.minimum(saved[rows], less)
        saved[inside] = 0
        raised = r if self.rational else r * (1.0 + 4.0 * (np.sum(self.counts) + 2) * UNIT)
        return raised - np.minimum(saved, r) if len(Z) else raised

    def semidefinite(self, S: Any, G: Any) -> None:
        """S ⪰ 0 for each of a stack of matrices: exactly, or by Cholesky with the moduli of the summands."""
        if self.rational:
            holds = all(map(exactly_semidefinite, S))
        else:
            largest = np.max(G, axis=(1, 2), initial=0.0)
            holds = np.all((largest == 0.0) | (largest > 1e-250) & (largest < 1e250))
            S, G = S[largest > 0.0], G[largest > 0.0]
            diagonal, rows = np.einsum("kii->ki", S), np.max(np.sum(G, axis=2), axis=1, initial=0.0)  # the first a view
            diagonal -= UNIT * ((S.shape[-1] + 3) * np.sum(diagonal, axis=1) + 8.0 * rows)[:, None]
            try:
                np.linalg.cholesky(S)
            except np.linalg.LinAlgError:
                holds = False
        refuse_unless(holds, f"{self.where}: a matrix is not proved to be positive semidefinite")


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


def check_file() -> None:
    """Check the file that the command line names."""
    parser = argparse.ArgumentParser(description="Check a proof file of dcgev.")
    parser.add_argument("file")
    parser.add_argument("--matrices", metavar="FILE.npz", help="A and B, where the proof file does not contain them")
    parser.add_argument("--rational", action="store_true", help="exact arithmetic, for n ≤ 40")
    args = parser.parse_args()
    try:
        proof = ProofFile(args.file, np.load(args.matrices) if args.matrices else {}, args.rational)
        steps = proof.check()
    except Exception as reason:  # whatever cannot be read proves nothing
        sys.exit(f"refused: {reason}")
    print(f"accepted: n = {proof.n}, at most {' + '.join(map(str, proof.counts))} nonzeros, {steps} steps: ", end="")
    print(f"no support exceeds {proof.bound!s}; the vector attains {proof.value!s}")


if __name__ == "__main__":
    check_file()
