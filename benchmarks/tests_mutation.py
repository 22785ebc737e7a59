"""How many random faults in the core the tests of the faulty module alone detect.

A fault changes one operator, comparison, sign, constant, or min/max of one module; then the module's own test file
runs. A fault that no test detects is printed with its line and the counts so far; Ctrl-C ends a run with the score of
the faults tried. EQUIVALENT lists the faults that change nothing, with the reason. The package is copied to temporary
folders: the work tree is not touched. Each fault has a process of its own, forked from one that has imported the
packages of others, and its tests stop at the first failure.

python -m benchmarks tests_mutation                  200 faults of seed 1
python -m benchmarks.tests_mutation 7 40 search      seed, number, and modules whose name contains a word
python -m benchmarks.tests_mutation all proofs       every fault of the modules whose name contains a word
"""

from __future__ import annotations

import ast
import os
import shutil
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from time import monotonic, sleep

# one BLAS thread, as in the tests: set before NumPy loads, because the processes of the faults are forked from this one
os.environ |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}

import numpy as np

from .report import Measure, at_least

SEED, FAULTS, SECONDS, JOBS = 1, 200, 300.0, 2
LOADED = ("cvxpy", "numba", "pandas", "pytest", "scipy.linalg", "scipy.sparse.linalg", "sklearn")
ROOT = Path(__file__).parent.parent
CORE = (
    *(
        "programs",
        "mm",
        "algorithms",
        "certificates",
        "models",
        "_numerics/proofs",
        "relaxations/bounds",
    ),
    *("steps/polish", "steps/closed", "steps/conic", "steps/scaling", "steps/shrink", "steps/accelerate"),
    *("exact/*", "search/*"),
)
SWAPS: dict[type, type] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.And: ast.Or,
    ast.Or: ast.And,
}
NAMES = {"min": "max", "max": "min", "minimum": "maximum", "maximum": "minimum"}
FLAGS = ("check_finite", "lower", "overwrite_a", "overwrite_b", "copy", "strict")
FASTER = "decides how soon something happens, not what is computed"
POWERS = "scaling by powers of two rounds nothing"
EQUIVALENT: dict[tuple[str, str], str] = {
    (
        "certificates",
        "whole = isinstance(history, (list, tuple)) and "
        "all((np.shape(getattr(point, 'x', 1)) == (n,) for point in history))",
    ): "0 and 1 are both numbers, whose shape is ()",
    ("exact/screening", "size = 2 * size if perf_counter() <= deadline else len(order)"): FASTER,
    ("search/one_shot", "STEPS, STILL = (40, 0.006)"): FASTER,
    (
        "models",
        "x, others = (diagonal_of(X), cp.sum(Y, axis=1) + diagonal_of(Y))",
    ): "Yᵢᵢ may be 0 and stands in no other constraint but 0 ≤ Yᵢᵢ ≤ Xᵢᵢ, so that its sign changes no optimum",
    (
        "programs",
        "return math.log1p(eps) - math.log(eps) if eps < 2.0 else math.log1p(1.0 / eps)",
    ): "both formulas are accurate to rounding between 1 and 2",
    (
        "programs",
        "return math.log1p(eps) - math.log(eps) if eps <= 1.0 else math.log1p(1.0 / eps)",
    ): "both formulas give log 2 at 1, where log 1 = 0",
    ("steps/shrink", "if not 0 < np.count_nonzero(y) < 1.4 * len(y) or not absorbing(self.part, y):"): FASTER,
    (
        "_numerics/proofs",
        "margin = 4.0 / n * UNIT_ROUNDOFF * max(abs(top), float(np.max(np.abs(M))))",
    ): "any first margin will do: the proof rejects one that is too small, and it then grows",
    (
        "_numerics/proofs",
        "margin = 4.0 * n * UNIT_ROUNDOFF / max(abs(top), float(np.max(np.abs(M))))",
    ): "max |M| is at least ½: the first margin is at most four times larger, and one that is too small is rejected",
    **dict.fromkeys(
        (
            ("_numerics/proofs", f"margin = 4.0 * n * UNIT_ROUNDOFF * {larger}")
            for larger in (
                "min(abs(top), float(np.max(np.abs(M))))",
                "max(abs(top), float(np.min(np.abs(M))))",
            )
        ),
        "a smaller first margin: the proof rejects one that is too small, and it then grows",
    ),
    **dict.fromkeys(
        (
            ("_numerics/proofs", line)
            for line in (
                "if B is None and len(M) > DENSE_LIMIT:",
                "if B is None or len(M) >= DENSE_LIMIT:",
                "if B is not None and len(M) < DENSE_LIMIT:",
                "if B is not None or len(M) <= DENSE_LIMIT:",
            )
        ),
        "both routines of LAPACK give the eigenvalue from which the proof starts",
    ),
    (
        "_numerics/proofs",
        "if not np.all(diagonal >= 0.0):",
    ): "a zero on the diagonal makes the factorisation fail, which is the same answer",
    **dict.fromkeys(
        (
            (
                "_numerics/proofs",
                "rounded = 8.0 * UNIT_ROUNDOFF * np.max(np.sum(abs(lam) * np.abs(B) + size, "
                f"axis={axis}), axis=-1, keepdims=True)",
            )
            for axis in ("1", "-2")
        ),
        "the matrices are symmetric: sums of rows are sums of columns",
    ),
    **dict.fromkeys(
        (
            ("steps/shrink", f"return slope >= {limit}")
            for limit in (
                "2.0 * F * float(np.max(np.abs(program.a))) + 2.0 * root * math.sqrt(F)",
                "4.0 * root * (pencil.n * pencil.A_scale + shift) / smallest",
            )
        ),
        "a zero stays where the slope equals the largest pull too",
    ),
    (
        "steps/accelerate",
        "zeros = (y != 0.0).tobytes()",
    ): "the nonzeros change when the zeros do",
    (
        "steps/accelerate",
        "return ahead if np.all(np.sign(ahead) / images[-1] > 0.0) else None",
    ): "product and quotient with a number that is not zero have the same sign",
    ("steps/accelerate", "return z / norm if norm >= 1.0 else z"): "z/1 is z",
    (
        "steps/polish",
        "scale = max(float((np.abs(gradient) / roots).max()), 2e-300)",
    ): "a guard against division by zero",
    ("steps/polish", "if (new / signs[support] <= 0.0).any():"): "signs on a support are 1 and −1",
    (
        "steps/polish",
        "return (z / tau, 0.0) if norm < tau else (z / norm, norm - tau)",
    ): "where the two are equal both answers are z/τ and 0",
    ("steps/polish", "if float(x @ (B @ x)) < 1.0:"): "on the sphere itself Newton's first step is 0",
    **dict.fromkeys(
        (
            ("steps/polish", "if abs(step) < 1e-09 * mu:"),
            ("steps/polish", "if abs(step) <= 2e-09 * mu:"),
            ("steps/polish", "NEWTON_STEPS = 61"),
        ),
        "Newton's method converges quadratically: a step more or less is below rounding",
    ),
    **dict.fromkeys(
        (
            ("steps/polish", "return (x / ax, mu) if 0.5 <= ax < 2.0 else vertex(B, h, a)"),
            ("steps/polish", "return (x / ax, mu) if 0.5 < ax < 4.0 else vertex(B, h, a)"),
        ),
        "aᵀx is 1 to rounding, or all its digits are lost: any wide interval around 1 will do",
    ),
    (
        "steps/polish",
        "price = np.where(h / a < 0.0, -h / a, np.inf)",
    ): "product and quotient have the same sign, and a quotient by 0 the price +inf",
    ("steps/polish", "for _ in range(3):"): "a third round changes the rounding alone",
    ("search/deflation", "for _ in range(3):"): "a third round changes the rounding alone",
    ("steps/polish", "x, mu = (np.zeros_like(h), 1.0)"): "the first round finds μ from any value",
    (
        "steps/polish",
        "t = np.append(np.unique(t[(t > 0.0) & (t <= 1.0)]), 1.0)",
    ): "t = 1 is a candidate in either case",
    ("steps/polish", "unit = max(2.0 ** (-1001), power_of_two(self.size))"): POWERS,
    ("steps/polish", "return x / math.sqrt(along) if along >= 1.0 else x"): "x/1 is x",
    ("steps/polish", "h = self.c[support] - 0.5 * self.p[support] / signs"): "signs on a support are 1 and −1",
    (
        "steps/polish",
        "return (x * ax, mu) if 0.5 < ax < 2.0 else vertex(B, h, a)",
    ): "aᵀx is 1 but for rounding, within which x changes in either case",
    ("exact/branch_and_bound", "if self.left >= 0.0 and work(pencil.n, k, k) <= LEAF_WORK:"): FASTER,
    (
        "search/exchange",
        "size = 1 if self.exchange_work > TABLE else max(2, CHUNK // (self.k * self.pencil.n))",
    ): FASTER,
    ("search/exchange_table", "CHUNK = 2 << 18"): FASTER,
    ("search/exchange_table", "CHUNK = 1 << 19"): FASTER,
    (
        "search/exchange_table",
        "rows = len(pencil.A.C) if isinstance(pencil.A, Gram) else 1",
    ): "a support has at least one variable, and the larger of the two numbers counts",
    (
        "search/exchange_table",
        "if B is not None or B_cross is not None:",
    ): "both are None, or neither",
    ("steps/scaling", "scaling = cls(unit_lengths(pencil), 2.0)"): "only its units of the variables are used",
    (
        "search/matching_program",
        "if rho_eps > 0.0 and energy * rho_eps / eps < 1e+300:",
    ): "a guard against overflow, which is further away",
    (
        "search/constructions",
        "if all((2.0 ** (-50) <= size <= 2.0 ** 50 for size in (pencil.A_scale or 2.0, pencil.B_scale))):",
    ): "any number of ordinary size stands for a zero matrix",
    (
        "search/exchange_table",
        "unclear = np.abs(rises) <= 2e-14 * (np.abs(own) + other)",
    ): "rounding is far below either number, and an exchange that is worth anything far above",
    (
        "search/exchange_table",
        "rises[unclear] = np.where(falls[unclear] < 0.0, 2.0, 0.0)",
    ): "any positive number will do: the gain is infinite there",
    ("search/exchange_table", "gains[falls < 0.0] = math.inf"): "where falls is 0, the quotient is infinite already",
    (
        "search/restarts",
        "ratio = diagonal / (float(np.max(np.abs(diagonal))) or 2.0)",
    ): "0/2 is 0/1",
    (
        "search/restarts",
        "votes[self.generator.permutation(parents[0])[:leaving]] = -2.0",
    ): "the other votes are not negative: any negative number is below them",
    ("search/restarts", "votes[parent] += 2.0"): "what is added to votes between 0 and 1 orders them alike",
    ("search/one_shot", "x, rho = (x.astype(R.dtype), 1.0)"): "at least one step is made, which sets ρ",
    **dict.fromkeys(
        (
            ("search/one_shot", f"gather = {test}")
            for test in (
                "R.size > 10 ** 5 and 2 * len(support) < len(x)",
                "R.size >= 11 ** 5 and 2 * len(support) < len(x)",
                "R.size >= 10 ** 6 and 2 * len(support) < len(x)",
                "R.size >= 10 ** 5 or 2 * len(support) < len(x)",
                "R.size >= 10 ** 5 and 3 * len(support) < len(x)",
                "R.size >= 10 ** 5 and 2 / len(support) < len(x)",
                "R.size >= 10 ** 5 and 2 * len(support) <= len(x)",
            )
        ),
        "the product is the same from the rows of the support and from all rows",
    ),
    **dict.fromkeys(
        (
            ("search/exchange_factor", line)
            for line in (
                "return rest / np.maximum(1.0 - x * x, 2e-14)",
                "cross = (Ax - self.G * x) / np.sqrt(np.maximum(1.0 - x * x, 2e-14))",
            )
        ),
        "a guard against division by zero, where the numerator is zero but for rounding",
    ),
    (
        "search/exchange_factor",
        "y[place] = Ax / self.value if self.value > 0.0 else 2.0",
    ): "where the value is 0 no other member has a row: the power step scales y to unit length",
    ("search/exchange_factor", "y[place] = 2.0"): "the only nonzero of y, which is scaled to unit length",
    (
        "search/matching_program",
        "if info != 0 or not np.all(x / signs > 0.0):",
    ): "signs on a support are 1 and −1",
    ("search/matching_program", "if top < 0.0:"): "where xᵀAx = 0 no ρ_ε is positive either",
    ("search/constructions", "size = max(2, CHUNK // pencil.n)"): FASTER,
    (
        "search/working_set",
        "largest = -np.sort(-off, axis=1)[:, :k + 1]",
    ): "only the first k columns of the sums are read",
    (
        "search/path",
        "program = SparseGEV(pencil, 1.0, eps, shift='metric')",
    ): "the step's linear part and its start do not depend on ρ̃",
    (
        "search/path",
        "program = SparseGEV(pencil, 1.0, shift='metric')",
    ): "every run sets its own ρ̃",
    (
        "steps/scaling",
        "return Scaling(unit_lengths(program.pencil) / size, "
        "(power_of_four(price) if price >= 1000000.0 else 1.0) / (size * size))",
    ): POWERS,
    ("search/one_shot", "rho = 1.0"): "at least one step is made, which sets ρ",
    (
        "search/constructions",
        "best, z = (largest_first(gain, missing), x * length)",
    ): "the value depends on the direction of z alone, and z is brought to unit length",
    (
        "search/constructions",
        "if all((2.0 ** (-50) <= size <= 2.0 ** 51 for size in (pencil.A_scale or 1.0, pencil.B_scale))):",
    ): POWERS,
    (
        "exact/root",
        "root = replace(root, dual=dual if bound < best else root.dual, bound=min(bound, root.bound), support=support)",
    ): "of two duals with the same bound either will do",
    ("exact/root", "in_time = scaled.n + CORE >= k and perf_counter() < deadline"): FASTER,
    ("exact/root", "weights = np.diagonal(splitting.X) + 2e-06 * np.mean(splitting.Y, axis=0)"): FASTER,
    (
        "exact/branch_and_bound",
        "self.keep(Node(self.root, nobody, everyone, 1))",
    ): "the tree is begun again before the branch is taken",
    ("exact/branch_and_bound", "if self.left < self.cost:"): FASTER,
    ("exact/branch_and_bound", "if self.left > 0.0 and work(pencil.n, k, k) < LEAF_WORK:"): FASTER,
    (
        "certificates",
        "if not all((rise < 0.0 for rise in rises)):",
    ): "where nothing rises the violation is 0 by the formula too",
    (
        "certificates",
        "if 0 <= len(support) < program.pencil.n:",
    ): "a program without variables has f = g = 0, and nothing rises in either case",
    (
        "certificates",
        "if 1 < len(support) < program.pencil.n:",
    ): "variables that are zero throughout add the same to f and to g: only the time differs",
    (
        "certificates",
        "return float(np.abs(z) @ pencil.B_roots) ** 2 >= CANCELLATION * pencil.B_quad(z)",
    ): "a sum that loses exactly four digits has twelve left in either case",
    (
        "models",
        "x, t = (variable('x', A[1]), variable('t', A[0]))",
    ): "the rows of a square matrix have the same length",
    **dict.fromkeys(
        (
            ("exact/root", line)
            for line in (
                "in_time = seconds >= 12.0 * spent or math.isinf(bound)",
                "if seconds > (1.0 if effort == 'quick' else 2.0) * (1.0 + 0.0005 * pencil.n):",
                "return largest(pencil, pencil.leading_vector, k) if pencil.n < QUICK_LIMIT else best_row(pencil, k)",
                "late = perf_counter() + CHECK_STEPS * 1.6e-10 * len(root.kept) ** 3 >= deadline",
                "in_time = scaled.n - CORE >= k and perf_counter() <= deadline",
                "if dual is None or perf_counter() >= deadline:",
                "if root.bound < threshold(value):",
                "weights = np.diagonal(splitting.X) - 1e-06 * np.mean(splitting.Y, axis=0)",
                "slow = slow + 1 if bound - value >= (1.0 - PROGRESS) * (best - value) else 0",
                "if slow == 2 or len(root.kept) < k:",
            )
        ),
        FASTER,
    ),
    **dict.fromkeys(
        (
            ("exact/root", f"weights[core] = {sum_} on_support(scaled, inner.support)[core] ** {power}")
            for sum_, power in (
                ("1.0 - dual.a[core][:, core].T @", 2),
                ("2.0 + dual.a[core][:, core].T @", 2),
                ("1.0 + dual.a[core][:, core].T @", 3),
            )
        ),
        "the order in which variables are tried for removal; each removal is proved",
    ),
    ("exact/root", "best, slow = (math.inf, 1)"): "the first check is never slow and sets it to 0",
    (
        "exact/root",
        "row = np.abs(pencil.A_dot(np.eye(2, pencil.n, i)[0])) / pencil.B_roots",
    ): "only the first row is used",
    ("exact/root", "RELAXED_LIMIT = 2501"): FASTER,
    ("exact/root", "CORE_ABOVE, CORE = (501, 300)"): FASTER,
    ("exact/root", "CORE_ABOVE, CORE = (500, 301)"): FASTER,
    ("exact/root", "QUICK_LIMIT = 1001"): FASTER,
    ("exact/enumeration", "margin = 4.0 * k * UNIT_ROUNDOFF * min(abs(guess), float(np.max(size)))"): FASTER,
    ("exact/root", "in_time = scaled.n - CORE > k and perf_counter() < deadline"): FASTER,
    (
        "exact/screening",
        "if np.any(e < 0.0):",
    ): "at e = 0 a charge is U²/0, not finite, and pair_dual returns None too",
    (
        "relaxations/bounds",
        "lam, nudge = (float(np.max(np.diagonal(A))), max(UNIT_ROUNDOFF * float(np.min(sizes)), TINY))",
    ): FASTER,
    (
        "relaxations/bounds",
        "lam, nudge = (float(np.min(np.diagonal(A))), max(UNIT_ROUNDOFF * float(np.max(sizes)), TINY))",
    ): FASTER,
    ("relaxations/bounds", "nudge *= 4.0"): FASTER,
    (
        "relaxations/bounds",
        "scaled = -lambda_max_bound(-Scaling(u, 2.0).form(B), None) * least * least",
    ): "the unit of the objective is no part of B̂",
    (
        "relaxations/bounds",
        "if not np.all(slope[short] >= 0.0):",
    ): "a slope of zero gives λ = +inf, the same answer",
    ("relaxations/bounds", "short = ~(left >= 0.0)"): "all that rounding can do was taken off before",
    (
        "relaxations/bounds",
        "if isinstance(pencil.A, Gram) and pencil.B is None and (pencil.A.rows <= pencil.n):",
    ): "of a square factor both products have the same size",
    (
        "relaxations/bounds",
        "return lambda_max_bound(charged(A, c, dual), pencil.B, charged(size, c + 4.0, moduli))",
    ): "two more units of the charge to spare",
    ("exact/root", "weights = np.diagonal(splitting.X) + 1e-06 * np.mean(splitting.Y, axis=1)"): FASTER,
    ("search/exchange", "if self.exchange_work >= TABLE:"): FASTER,
    (
        "certificates",
        "least = int(np.min(exponents, where=values != 0.0, initial=1025))",
    ): "no number has an exponent above 1024, and zeros are 0 times any power of two",
    (
        "exact/branch_and_bound",
        "self.keep(Node(bound, included, free, 1))",
    ): "out of time the search ends before the branch is taken",
    ("search/exchange_factor", "count, before = (0, -2)"): "any number below the first count will do",
    (
        "search/path",
        "return tuple((k for k in range(min(reached, default=1), max(reached, default=0)) if k not in reached))",
    ): "no number lies between 1 and 0, nor between 0 and 0",
    (
        "exact/enumeration",
        "many = count if count <= 10 ** 15 else f'about 1e{math.log10(count):.0f}'",
    ): "no binomial coefficient is 10¹⁵, except for n = 10¹⁵ variables",
    (
        "search/exchange",
        "flat, at = (gains.reshape(len(supports), -2), np.arange(len(supports)))",
    ): "NumPy computes the length of an axis that is given as any negative number",
}
"""(module, the faulty line) → why no test can detect the fault."""


@dataclass(frozen=True)
class Fault:
    """One change of one module: its line, before and after, and the whole faulty source."""

    module: str
    line: int
    before: str
    after: str
    source: str

    @property
    def room(self) -> str:
        """The folder of its module."""
        return self.module.rpartition("/")[0] or "(top)"

    @property
    def equivalent(self) -> bool:
        """Is it listed as one that changes nothing?"""
        return (self.module, self.after) in EQUIVALENT


def run(repeats: int) -> Iterator[Measure]:
    yield from measures(SEED, FAULTS)


def measures(seed: int | None, number: int, word: str = "") -> Iterator[Measure]:
    drawn = faults(seed, number, word)
    chosen = [fault for fault in drawn if not fault.equivalent]
    sound = [unchanged(module) for module in {fault.module: 0 for fault in chosen}]
    if failing := [fault.module for fault, detected in judged(sound) if detected]:
        raise SystemExit(f"the tests of {', '.join(failing)} fail without any fault: mend them first")
    tried, missed = Counter[str](), Counter[str]()
    with suppress(KeyboardInterrupt):  # a run that is stopped reports what it has tried
        for fault, detected in judged(chosen):
            tried[fault.room] += 1
            missed[fault.room] += not detected
            so_far = f"  {tried.total():>3} of {len(chosen)} tried, {missed.total():>2} missed"
            if not detected:
                print(f"{so_far}: {fault.module}:{fault.line}: {fault.before}  →  {fault.after}", flush=True)
            elif tried.total() % 10 == 0:
                print(so_far, flush=True)
    for room, of in sorted(tried.items()):
        print(f"  {room:<14} {of - missed[room]:>4} of {of:>4} detected", flush=True)
    total = tried.total()
    found, stopped = total - missed.total(), f"; stopped before {len(chosen)}" if total < len(chosen) else ""
    detail = f"{found} of {total}{stopped}; seed {seed}; {len(drawn) - len(chosen)} equivalent left out"
    yield at_least("faults in the core that its tests detect", 100.0 * found / max(1, total), "%", 90.0, detail)


def modules(word: str = "") -> list[str]:
    """The modules of the core that have a test file of their own."""
    found = [file for name in CORE for file in sorted((ROOT / "dcgev_cvx").glob(f"{name}.py"))]
    names = [file.relative_to(ROOT / "dcgev_cvx").with_suffix("").as_posix() for file in found]
    return [name for name in names if word in name and test_of(name).exists()]


def test_of(module: str) -> Path:
    """The test file of a module."""
    folder, _, name = module.rpartition("/")
    return ROOT / "tests" / folder / f"test_{name}.py"


def faults(seed: int | None, number: int, word: str = "") -> list[Fault]:
    """Random faults, each site of the core equally likely; all of them without a seed."""
    places = [(module, i) for module in modules(word) for i in range(len(sites(tree_of(module))))]
    if seed is None:
        return [fault_at(*place) for place in places]
    rng = np.random.default_rng(seed)
    picked = rng.choice(len(places), min(number, len(places)), replace=False)
    return [fault_at(*places[i]) for i in picked]


def tree_of(module: str) -> ast.Module:
    return ast.parse((ROOT / "dcgev_cvx" / f"{module}.py").read_text(encoding="utf-8"))


def sites(tree: ast.AST) -> list[ast.AST]:
    """The nodes that can be changed; not in messages, annotations, docstrings, decorators or flags of LAPACK."""
    found: list[ast.AST] = []
    apart = [getattr(tree, name, None) for name in ("annotation", "returns")] + getattr(tree, "decorator_list", [])
    for child in ast.iter_child_nodes(tree):
        flag = isinstance(child, ast.keyword) and child.arg in FLAGS
        if flag or child in apart or isinstance(child, ast.Raise | ast.JoinedStr | ast.arg):
            continue
        if is_site(child):
            found.append(child)
        found += sites(child)
    return found


def is_site(node: ast.AST) -> bool:
    if isinstance(node, ast.BinOp | ast.BoolOp | ast.AugAssign):
        return type(node.op) in SWAPS
    if isinstance(node, ast.Compare):
        return type(node.ops[0]) in SWAPS
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.USub | ast.Not)
    if isinstance(node, ast.Constant):
        return type(node.value) in (bool, int, float)
    return (isinstance(node, ast.Name) and node.id in NAMES) or (isinstance(node, ast.Attribute) and node.attr in NAMES)


def fault_at(module: str, index: int) -> Fault:
    """The module with one site changed."""
    tree = tree_of(module)
    node = sites(tree)[index]
    line = getattr(node, "lineno", 0)
    statement = innermost_statement(tree, node)
    before = ast.unparse(statement).partition("\n")[0]
    change(tree, node)
    after = ast.unparse(statement).partition("\n")[0]
    return Fault(module, line, before, after, ast.unparse(tree))


def unchanged(module: str) -> Fault:
    """The module without a fault, whose tests must pass."""
    return Fault(module, 0, "", "", (ROOT / "dcgev_cvx" / f"{module}.py").read_text(encoding="utf-8"))


def innermost_statement(tree: ast.AST, node: ast.AST) -> ast.AST:
    """The statement of a node, for the report."""
    holders = [stmt for stmt in ast.walk(tree) if isinstance(stmt, ast.stmt) and node in ast.walk(stmt)]
    return holders[-1]


def change(tree: ast.AST, node: ast.AST) -> None:
    """Change one node in place."""
    if isinstance(node, ast.BinOp | ast.BoolOp | ast.AugAssign):
        node.op = SWAPS[type(node.op)]()
    elif isinstance(node, ast.Compare):
        node.ops[0] = SWAPS[type(node.ops[0])]()
    elif isinstance(node, ast.Name):
        node.id = NAMES[node.id]
    elif isinstance(node, ast.Attribute):
        node.attr = NAMES[node.attr]
    elif isinstance(node, ast.Constant):
        value = node.value
        node.value = (
            not value
            if isinstance(value, bool)
            else value + 1
            if isinstance(value, int)
            else 2.0 * value + (value == 0.0)
        )
    elif isinstance(node, ast.UnaryOp):
        replace_child(tree, node, node.operand)


def replace_child(tree: ast.AST, old: ast.AST, new: ast.AST) -> None:
    """Put one node in the place of another."""
    for parent in ast.walk(tree):
        for name, value in ast.iter_fields(parent):
            if value is old:
                setattr(parent, name, new)
            elif isinstance(value, list) and any(item is old for item in value):
                setattr(parent, name, [new if item is old else item for item in value])


def judged(chosen: Iterable[Fault]) -> Iterator[tuple[Fault, bool]]:
    """Each fault with whether its tests detect it, as they end; some at a time, each in its own copy of the package."""
    for name in LOADED:
        with suppress(ImportError):
            import_module(name)
    waiting, running = list(reversed(list(chosen))), dict[int, tuple[Fault, Path, float]]()
    with tempfile.TemporaryDirectory() as folder:
        free = [Path(folder) / str(i) for i in range(JOBS)]
        for place in free:  # numba's compiled functions are copied too: they hold for a file that is not changed
            shutil.copytree(ROOT / "dcgev_cvx", place / "dcgev_cvx")
        try:
            while waiting or running:
                while waiting and free:
                    fault, place = waiting.pop(), free.pop()
                    (place / "dcgev_cvx" / f"{fault.module}.py").write_text(fault.source, encoding="utf-8")
                    running[started(fault, place)] = fault, place, monotonic() + SECONDS
                sleep(0.02)
                for child, (fault, place, deadline) in list(running.items()):
                    done, status = os.waitpid(child, os.WNOHANG)
                    if not done and monotonic() < deadline:
                        continue
                    with suppress(ProcessLookupError):
                        os.killpg(child, signal.SIGKILL)
                    if not done:
                        os.waitpid(child, 0)
                    name = Path("dcgev_cvx") / f"{fault.module}.py"
                    shutil.copy2(ROOT / name, place / name)
                    free.append(place)
                    del running[child]
                    yield fault, not done or status != 0
        finally:
            for child in running:  # a run that is stopped leaves no process behind
                with suppress(ProcessLookupError):
                    os.killpg(child, signal.SIGKILL)


def started(fault: Fault, place: Path) -> int:
    """The process that runs the module's own test file on the copy of the package in a folder."""
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        os.setsid()
        quiet = os.open(os.devnull, os.O_RDWR)
        for stream in range(3):
            os.dup2(quiet, stream)
        os.environ |= {"PYTHONPATH": str(place), "PYTHONDONTWRITEBYTECODE": "1"}
        sys.dont_write_bytecode = True
        os.chdir(ROOT / "tests")
        sys.path[:0] = [str(ROOT / "tests"), str(place)]
        for name in [name for name in sys.modules if name.partition(".")[0] in ("dcgev_cvx", "benchmarks")]:
            del sys.modules[name]
        pytest = import_module("pytest")
        status = int(pytest.main(["-x", "-q", "-n", "0", "-p", "no:cacheprovider", str(test_of(fault.module))]))
    finally:
        os._exit(status)


def main() -> int:
    words = sys.argv[1:]
    if words[:1] == ["all"]:
        made = list(measures(None, 0, *words[1:2]))
    else:
        seed, number = (int(word) for word in words[:2]) if len(words) > 1 else (SEED, FAULTS)
        made = list(measures(seed, number, *words[2:3]))
    for measure in made:
        print(measure)
    return 1 if any(measure.met is False for measure in made) else 0


if __name__ == "__main__":
    raise SystemExit(main())
