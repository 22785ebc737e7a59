"""The named mistakes: plain wrong formulas, and the search for those that a solver's wrong answers follow from.

A mistake changes the data of a step, the terms of its surrogate, or its answer; several are made one after the other.
The answers of a run are explained by the step that they are fixed points of.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from types import SimpleNamespace
from typing import Any, Literal, TypeAlias

import numpy as np

from .._numerics.checks import Matrix, Vector
from ..errors import SolverFailed
from .call_pairs import RUNS
from .levels import Instance, enumerated
from .pencil_cases import greedy_from, leading
from .reference_answers import Surrogate, feature_sign_search, first_point
from .run_cases import run_end
from .step_cases import shifted

Stage: TypeAlias = Literal["data", "terms", "answer", "whole"]
MOST = 3
"""Mistakes that are made together at most: three explain a step that has no penalty, no B and no τ."""


@dataclass(frozen=True)
class Mistake:
    """A wrong formula.

    words complete "your answers equal those of a step …"; wrong and right are lines of code; change makes the mistake
    in a `SimpleNamespace` of the arguments and of c, p, H, x. levels are those at which it can be made.
    """

    name: str
    levels: tuple[str, ...]
    stage: Stage
    words: str
    wrong: str
    right: str
    change: Callable[[Any], Any]


STEPS, ALL = ("step", "algorithm", "pca"), ("step", "algorithm", "pca", "fda")
METRIC = ("step", "algorithm")
THRESHOLD, WEIGHTS = "np.maximum(np.abs(c) - 0.5 * p, 0)", "w = 1 / (np.abs(y) + eps)"
LOG, LINEAR = "rho_eps = rho / np.log1p(1 / eps)", "c = A @ y + tau * y"
NORM = "x / np.sqrt(x @ B @ x)"


def put(**values: Callable[[Any], Any]) -> Callable[[Any], None]:
    """A change that replaces some names by functions of the others."""

    def change(d: Any) -> None:
        vars(d).update({name: value(d) for name, value in values.items()})

    return change


MISTAKES: tuple[Mistake, ...] = tuple(
    Mistake(name, levels, stage, words, wrong, right, put(**values))
    for name, levels, stage, words, wrong, right, values in (
        ("no penalty", ALL, "terms", "without the penalty (the soft threshold is missing)", "z = c",
         f"z = np.sign(c) * {THRESHOLD}", {"p": lambda d: 0.0 * d.p}),
        ("no logarithm", ALL, "terms", "without the logarithm in ρ_ε", "rho_eps = rho", LOG,
         {"p": lambda d: d.p * d.log}),
        ("decimal logarithm", ALL, "terms", "with the decimal logarithm", "rho_eps = rho / np.log10(1 + 1 / eps)", LOG,
         {"p": lambda d: d.p * math.log(10.0)}),
        ("logarithm of 1 + ε", ALL, "terms", "with log(1 + ε) in place of log(1 + 1/ε)", "rho_eps = rho / np.log1p(eps)",
         LOG, {"p": lambda d: d.p * d.log / math.log1p(d.eps)}),
        ("penalty doubled", ALL, "terms", "with twice the penalty (a factor 2 is missing or was added)",
         "np.maximum(np.abs(c) - p, 0)", THRESHOLD, {"p": lambda d: 2.0 * d.p}),
        ("penalty halved", ALL, "terms", "with half of the penalty", "np.maximum(np.abs(c) - 0.25 * p, 0)", THRESHOLD,
         {"p": lambda d: 0.5 * d.p}),
        ("penalty averaged", ALL, "terms", "with the penalty divided by n", "np.mean(w * np.abs(x))",
         "np.sum(w * np.abs(x))", {"p": lambda d: d.p / len(d.p)}),
        ("linear term halved", ("step",), "terms", "without the factor 2 of the linear term", "tau*x@x - c@x + p@abs(x)",
         "tau*x@x - 2*c@x + p@abs(x)", {"c": lambda d: 0.5 * d.c}),
        ("weights 0 at 0", ALL, "terms", "with the weight 0 where yᵢ = 0", "w = np.where(y == 0, 0, 1 / (abs(y) + eps))",
         WEIGHTS, {"p": lambda d: np.where(d.y == 0.0, 0.0, d.p)}),
        ("weights without ε", ALL, "terms", "with weights without ε", "w = 1 / np.abs(y)", WEIGHTS,
         {"p": lambda d: d.p * (np.abs(d.y) + d.eps) / np.maximum(np.abs(d.y), 1e-99)}),
        ("weights squared", ALL, "terms", "with squared weights", "w = 1 / (np.abs(y) + eps)**2", WEIGHTS,
         {"p": lambda d: d.p / (np.abs(d.y) + d.eps)}),
        ("weights 1", ALL, "terms", "with all weights 1 (a plain LASSO)", "w = np.ones(n)", WEIGHTS,
         {"p": lambda d: d.p * (np.abs(d.y) + d.eps)}),
        ("weights of a square root", ALL, "terms", "with weights 1/√(y² + ε²)", "w = 1 / np.sqrt(y**2 + eps**2)", WEIGHTS,
         {"p": lambda d: d.p * (np.abs(d.y) + d.eps) / np.hypot(d.y, d.eps)}),
        ("weights without a modulus", ALL, "terms", "with weights 1/(y + ε)", "w = 1 / (y + eps)", WEIGHTS,
         {"p": lambda d: np.abs(d.p * (np.abs(d.y) + d.eps) / (d.y + d.eps + 1e-99))}),
        ("ε at least 1e-8", ALL, "data", "with ε raised to 1e-8", "eps = max(eps, 1e-8)", "no lower limit on ε",
         {"wide": lambda d: max(d.eps, 1e-8)}),
        ("ε at least 1e-6", ALL, "data", "with ε raised to 1e-6", "eps = max(eps, 1e-6)", "no lower limit on ε",
         {"wide": lambda d: max(d.eps, 1e-6)}),
        ("ε at least 1e-3", ALL, "data", "with ε raised to 1e-3", "eps = max(eps, 1e-3)", "no lower limit on ε",
         {"wide": lambda d: max(d.eps, 1e-3)}),
        ("zeros kept", ("step", "fda"), "terms", "that keeps the zeros of y", "x[y == 0] = 0", WEIGHTS,
         {"p": lambda d: np.where(d.y == 0.0, 1e15 * (np.max(np.abs(d.c)) + np.max(d.H)), d.p)}),
        ("B forgotten", METRIC, "data", "with B = I", "x / np.linalg.norm(x)", NORM, {"B": lambda d: np.eye(len(d.B))}),
        ("B forgotten", ("fda",), "data", "with B = I", "x @ x + p @ abs(x)", "x @ B @ x + p @ abs(x)",
         {"B": lambda d: np.eye(len(d.B))}),
        ("B taken as diagonal", ("step", "algorithm", "fda"), "data", "with the diagonal of B alone", "np.diag(B) * x",
         "B @ x", {"B": lambda d: np.diag(np.diag(d.B))}),
        ("Cholesky factor transposed", ("step", "algorithm", "fda"), "data", "with LᵀL in place of B = LLᵀ",
         "np.linalg.norm(L @ x)", "np.linalg.norm(L.T @ x)",
         {"B": lambda d: np.linalg.cholesky(d.B).T @ np.linalg.cholesky(d.B)}),
        ("τ forgotten", ("step",), "data", "with τ = 0", "c = A @ y", f"{LINEAR}, and tau * x @ x in the objective",
         {"tau": lambda d: 0.0}),
        ("τ missing in the linear term", ("step",), "terms", "without τ in the linear term", "c = A @ y", LINEAR,
         {"c": lambda d: d.c - d.tau * d.y}),
        ("τ missing in the square", ("step",), "terms", "without τ‖x‖²", "- 2*c@x + p@abs(x)", "tau*x@x - 2*c@x + p@abs(x)",
         {"H": lambda d: 0.0 * d.H}),
        ("A − τI", ("step",), "terms", "with A − τI in place of A + τI", "c = A @ y - tau * y", LINEAR,
         {"c": lambda d: d.c - 2.0 * d.tau * d.y}),
        ("shift in B's metric", ("step",), "terms", "with τBy in place of τy", "c = A @ y + tau * B @ y", LINEAR,
         {"c": lambda d: d.c + d.tau * (d.B @ d.y - d.y)}),
        ("one triangle of A", STEPS, "data", "with the upper triangle of A alone", "np.triu(A) @ y", "A @ y",
         {"A": lambda d: np.triu(d.A)}),
        ("y in single precision", ("step", "fda"), "data", "with y rounded to float32", "y.astype(np.float32)", "y",
         {"y": lambda d: single(d.y)}),
        ("threshold in whitened variables", METRIC, "whole", "that thresholds L⁻¹c in place of c",
         "z = soft(L_inverse @ c, p / 2)", "minimise over x with xᵀBx ≤ 1; thresholds hold for x itself",
         {"x": lambda d: whitened_threshold(d)}),
        ("threshold, then scaling", METRIC, "whole", "that thresholds c as for B = I and scales the result into Ω",
         "z / max(tau, np.sqrt(z @ B @ z))", "minimise over x with xᵀBx ≤ 1: B couples the entries",
         {"x": lambda d: scaled_threshold(d, 0.5 * d.p)}),
        ("hard threshold", ALL, "terms", "with a hard threshold", "np.where(np.abs(c) > p / 2, c, 0)", THRESHOLD,
         {"c": lambda d: np.where(np.abs(d.c) > 0.5 * d.p, d.c, 0.0), "p": lambda d: 0.0 * d.p}),
        ("always normalised", ("step",), "answer", "whose answer is always scaled to ‖x‖_B = 1", NORM,
         "x / max(1, np.sqrt(x @ B @ x))", {"x": lambda d: ratio(d.x, math.sqrt(d.x @ d.B0 @ d.x))}),
        ("normalised without B", METRIC, "answer", "whose answer is scaled to ‖x‖₂ = 1", "x / np.linalg.norm(x)", NORM,
         {"x": lambda d: ratio(d.x, float(np.linalg.norm(d.x)))}),
        ("norm without its root", ("step", "algorithm"), "answer", "whose answer is divided by xᵀBx", "x / (x @ B @ x)",
         NORM, {"x": lambda d: ratio(d.x, float(d.x @ d.B0 @ d.x))}),
        ("unit ℓ1 norm", STEPS, "answer", "whose answer is scaled to ‖x‖₁ = 1", "x / np.sum(np.abs(x))", NORM,
         {"x": lambda d: ratio(d.x, float(np.sum(np.abs(d.x))))}),
        ("unit B norm", ("fda",), "answer", "whose answer is scaled to ‖x‖_B = 1", NORM, "x / (a @ x)",
         {"x": lambda d: ratio(d.x, math.sqrt(d.x @ d.B0 @ d.x))}),
        ("sign flipped", ("step", "fda"), "answer", "with the other sign", "-x", "x", {"x": lambda d: -d.x}),
        ("absolute values", ALL, "answer", "without the signs of its answer", "np.abs(x)", "x",
         {"x": lambda d: np.abs(d.x)}),
        ("sorted", ("step", "fda"), "answer", "whose answer is sorted", "np.sort(x)", "x", {"x": lambda d: np.sort(d.x)}),
        ("y returned", ("step", "fda"), "answer", "that returns y", "return y", "return x", {"x": lambda d: d.y}),
        ("0 returned", STEPS, "answer", "that returns 0", "return 0 * x", "return x", {"x": lambda d: 0.0 * d.x}),
        ("rounded", ALL, "answer", "whose answer is rounded to four decimals", "np.round(x, 4)", "x",
         {"x": lambda d: np.round(d.x, 4)}),
        ("small entries cut", ALL, "answer", "that cuts entries below 1e-3", "x[np.abs(x) < 1e-3] = 0", "x",
         {"x": lambda d: np.where(np.abs(d.x) < 1e-3, 0.0, d.x)}),
        ("tiny entries cut", ("step", "fda"), "answer", "that cuts entries below 1e-6", "x[np.abs(x) < 1e-6] = 0", "x",
         {"x": lambda d: np.where(np.abs(d.x) < 1e-6, 0.0, d.x)}),
    )
)  # fmt: skip
"""Mistakes in a step, simple ones first: of several that explain all answers the first is named."""


def single(array: Any) -> Any:
    """The array rounded to float32."""
    return np.asarray(array, dtype=np.float32).astype(np.float64)


def ratio(x: Vector, size: float) -> Vector:
    """x/size; x where the size is 0."""
    return x / size if size > 0.0 else x


def whitened_threshold(d: Any) -> Vector:
    """L⁻ᵀz/max(τ, ‖z‖) with z = soft(L⁻¹c, p/2)."""
    L = np.linalg.cholesky(d.B)
    z = soft(np.linalg.solve(L, d.c), 0.5 * d.p)
    return np.linalg.solve(L.T, ratio(z, max(d.tau, float(np.linalg.norm(z)))))


def scaled_threshold(d: Any, half: Vector) -> Vector:
    """z/max(τ, ‖z‖_B) with z = soft(c, p/2)."""
    z = soft(d.c, half)
    return ratio(z, max(d.tau, math.sqrt(float(z @ d.B @ z))))


def soft(c: Vector, half: Vector) -> Vector:
    """Every entry nearer to 0 by its threshold, or 0."""
    return np.sign(c) * np.maximum(np.abs(c) - half, 0.0)


def mistaken_step(case: Instance, mistakes: Sequence[Mistake], y: Vector | None = None) -> Vector:
    """The answer of a step at which mistakes were made, from the case's y or another."""
    d = SimpleNamespace(**case.data, B0=case.B)
    d.B, d.y = case.B, case.data["y"] if y is None else y
    if case.level in RUNS:
        d.tau = shifted(d.A)
    d.log = (
        (case.data["nu"] if case.level == "fda" else case.data["rho"]) / case.coefficient if case.coefficient else 1.0
    )
    make(d, mistakes, "data")
    fda = case.level == "fda"
    d.c = np.zeros(len(d.y)) if fda else d.A @ d.y + d.tau * d.y
    wide = getattr(d, "wide", d.eps)
    d.p = case.coefficient * d.log / math.log1p(1.0 / wide) / (np.abs(d.y) + wide)
    d.H = d.B if fda else d.tau * np.eye(len(d.y))
    make(d, mistakes, "terms")
    if any(mistake.stage == "whole" for mistake in mistakes):
        make(d, mistakes, "whole")
    else:
        d.x = minimised(d, d.a if fda else None)
    make(d, mistakes, "answer")
    return d.x


def make(d: Any, mistakes: Sequence[Mistake], stage: Stage) -> None:
    """Make the mistakes of a stage."""
    for mistake in mistakes:
        if mistake.stage == stage:
            mistake.change(d)


def minimised(d: Any, a: Vector | None) -> Vector:
    """argmin xᵀHx − 2cᵀx + pᵀ|x| in Ω, in units of size one."""
    root = np.sqrt(np.diagonal(d.B))
    B = d.B / np.outer(root, root)
    if a is not None:
        size = float(np.max(np.abs(a) / root))
        step = Surrogate(B, np.zeros(len(a)), d.p / root * size, B, a / root / size)
        return feature_sign_search(step, first_point(step))[0] / root / size
    size = float(np.max(np.abs(d.c) / root))
    if size == 0.0:
        return np.zeros(len(d.c))
    step = Surrogate(d.H / np.outer(root, root) / size, d.c / root / size, d.p / root / size, B)
    return feature_sign_search(step, np.zeros(len(d.c)))[0] / root


# Mistakes in bounds and k-sparse vectors


def identity(B: Matrix) -> Matrix:
    """I in place of B."""
    return np.eye(len(B))


def diagonal_part(B: Matrix) -> Matrix:
    """The diagonal of B."""
    return np.diag(np.diag(B))


def greatest(A: Matrix, B: Matrix) -> float:
    """λmax(A, B)."""
    x = leading(A, B)
    return float(x @ A @ x) / float(x @ B @ x)


BOUNDS: tuple[Mistake, ...] = tuple(
    Mistake(name, ("bound",), "whole", words, wrong, right, change)
    for name, words, wrong, right, change in (
        ("B forgotten", "with B = I", "eigvalsh(A)[-1]", "eigh(A, B, eigvals_only=True)[-1]",
         lambda d: greatest(d.A, identity(d.B))),
        ("B taken as diagonal", "with the diagonal of B alone", "A / np.outer(s, s), s = sqrt(diag(B))",
         "eigh(A, B, eigvals_only=True)[-1]", lambda d: greatest(d.A, diagonal_part(d.B))),
        ("k − 1", "that tries supports of k − 1 variables", "combinations(range(n), k - 1)", "combinations(range(n), k)",
         lambda d: enumerated(d.A, d.B, max(1, d.k - 1)).value),
        ("B forgotten", "that tries every support with B = I", "eigvalsh(A_S)", "eigh(A_S, B_S)",
         lambda d: enumerated(d.A, identity(d.B), d.k).value),
        ("greedy value", "that takes the greedy support's value for a bound", "greedy(A, B, k)",
         "a maximum over all supports",
         lambda d: greedy_from(d.A, d.B, d.k, int(np.argmax(np.diag(d.A) / np.diag(d.B))))),
        ("greedy value", "that takes a greedy support's value for a bound", "greedy(A, B, k)", "a maximum over all supports",
         lambda d: max(greedy_from(d.A, d.B, d.k, i) for i in range(len(d.A)))),
        ("diagonal ratio", "that takes the largest Aᵢᵢ/Bᵢᵢ for a bound", "np.max(np.diag(A) / np.diag(B))",
         "eigh(A, B, eigvals_only=True)[-1]", lambda d: float(np.max(np.diag(d.A) / np.diag(d.B)))),
        ("0 returned", "that returns 0", "return 0.0", "return value", lambda d: 0.0),
    )
)  # fmt: skip
VECTORS: tuple[Mistake, ...] = tuple(
    Mistake(name, ("cardinality",), "answer", words, wrong, right, change)
    for name, words, wrong, right, change in (
        ("k ignored", "with every entry nonzero", "return leading eigenvector", "keep k entries",
         lambda d: d.k < len(d.x) == np.count_nonzero(d.x)),
        ("k + 1", "with k + 1 nonzeros", "order[:k + 1]", "order[:k]", lambda d: np.count_nonzero(d.x) == d.k + 1),
        ("normalised without B", "with xᵀx = 1", "x / np.linalg.norm(x)", NORM,
         lambda d: abs(float(d.x @ d.x) - 1.0) < 1e-9),
        ("B taken as diagonal", "with Σ Bᵢᵢxᵢ² = 1", "x / np.sqrt(np.diag(B) @ x**2)", NORM,
         lambda d: abs(float(np.diag(d.B) @ d.x**2) - 1.0) < 1e-9),
        ("0 returned", "that are 0", "return 0 * x", "return x", lambda d: not np.any(d.x)),
    )
)  # fmt: skip
"""Of a k-sparse vector, whose value is free, properties that no right answer has."""
ANY_LEVEL = (*MISTAKES, *BOUNDS, *VECTORS)


# Which mistakes explain wrong answers


@dataclass(frozen=True)
class Explained:
    """Mistakes that, made together, give some of the wrong answers that they were compared with."""

    mistakes: tuple[Mistake, ...]
    matched: int
    compared: int


def explained(wrong: Sequence[tuple[Instance, Vector]], limit: float) -> Explained | None:
    """The fewest mistakes that give most of the wrong answers (case, x); None if none give half of them."""
    level = wrong[0][0].level if wrong else ""
    singles = [(mistake,) for mistake in ANY_LEVEL if level in mistake.levels]
    best, front = Explained((), 0, len(wrong)), [tuple[Mistake, ...]()]
    for _ in range(MOST if level in (*ALL,) else 1):
        combined = [(*made, *one) for made, one in product(front, singles) if compatible(made, one[0])]
        combined = list({frozenset(map(id, made)): made for made in combined}.values())
        scored = [(matches(made, wrong, limit), made) for made in combined]
        scored.sort(key=lambda pair: -pair[0])
        if not scored or scored[0][0] <= best.matched:
            break
        best = Explained(scored[0][1], scored[0][0], len(wrong))
        if best.matched >= 0.97 * len(wrong):
            break
        front = [made for count, made in scored[:6] if count]
    return best if wrong and best.matched >= max(1.0, 0.5 * len(wrong)) else None


def compatible(made: Sequence[Mistake], one: Mistake) -> bool:
    """Can the mistake be made beside the others: another name, and no second whole computation?"""
    return all(one.name != m.name and not (one.stage == m.stage == "whole") for m in made)


def matches(mistakes: Sequence[Mistake], wrong: Sequence[tuple[Instance, Vector]], limit: float) -> int:
    """How many wrong answers the mistakes give; combinations that give none of the first six are given up."""
    found = 0
    for count, (case, x) in enumerate(wrong):
        if count == 6 and found == 0:
            break
        found += gives(case, x, mistakes, limit)
    return found


def gives(case: Instance, x: Vector, mistakes: Sequence[Mistake], limit: float) -> bool:
    """Do the mistakes give this answer? Of a run: is it where a step with the mistakes stays?"""
    try:
        with np.errstate(all="ignore"):
            if case.level in ("bound", "cardinality"):
                value = mistakes[0].change(SimpleNamespace(**case.data, x=x))
                return bool(value) if case.level == "cardinality" else abs(x[0] - value) <= 1e-12 * abs(value)
            run = case.level in RUNS
            if run and any(mistake.stage == "answer" for mistake in mistakes):
                return finishes(case, x, mistakes, limit)
            w = mistaken_step(case, mistakes, x if run else None)
            size = math.sqrt(abs(float(w @ case.B @ w))) if case.level == "fda" else 1.0
            gap = w - x
            near = math.sqrt(abs(float(gap @ case.B @ gap))) <= limit * size
            return near and (not run or bool(np.any(x)))
    except (SolverFailed, np.linalg.LinAlgError, ValueError, OverflowError, ZeroDivisionError):
        return False


def finishes(case: Instance, x: Vector, mistakes: Sequence[Mistake], limit: float) -> bool:
    """Is x the end of the right run, changed by mistakes that are made at the end?"""
    d = SimpleNamespace(x=run_end(case), B0=case.B)
    make(d, mistakes, "answer")
    return all(m.stage == "answer" for m in mistakes) and bool(np.max(np.abs(d.x - x)) <= limit * np.max(np.abs(x)))


def in_words(found: Explained, level: str) -> str:
    """What the answers equal, and in how many cases."""
    what = {"bound": "a bound", "cardinality": "vectors"}.get(level, "a run of steps" if level in RUNS else "a step")
    words = listing([mistake.words for mistake in sorted(found.mistakes, key=ANY_LEVEL.index)])
    verb = "your answers are" if level == "cardinality" else "your answers equal those of"
    return f"{verb} {what} {words}, in {found.matched} of {found.compared} wrong answers compared"


def listing(words: Sequence[str]) -> str:
    """a, b and c."""
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else words[0]


def pages() -> Iterator[tuple[str, list[Mistake]]]:
    """The mistakes by name, each once, with its forms at different levels."""
    named: Mapping[str, list[Mistake]] = {}
    forms = dict[str, list[Mistake]](named)
    for mistake in ANY_LEVEL:
        forms.setdefault(mistake.name, []).append(mistake)
    yield from forms.items()


def right_line(found: Explained) -> str:
    """The first mistake's line as it should be."""
    first = min(found.mistakes, key=ANY_LEVEL.index)
    return f"{first.right}   not   {first.wrong}   (mistake: {first.name})"
