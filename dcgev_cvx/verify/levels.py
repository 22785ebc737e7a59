"""What is asked of a solver, and how exactly: the six levels, one question of a level, the tolerance profiles.

Also here: the space of cases that `suite` covers, and the exact optimum of (SGEV-P) that bounds are judged by.

    step         (A, B, y, rho, eps, tau) → x       one MM step, exact
    algorithm    (A, B, rho, eps, x0) → x           a run of Algorithm 1, judged by its certificate
    pca          (A, rho, eps, x0) → x              a run of Algorithm 2
    bound        (A, B, k) → number                 an upper bound on (SGEV-P)
    fda          (a, B, y, nu, eps) → x             one step of sparse FDA
    cardinality  (A, B, k) → x                      a k-sparse vector of unit B norm

Arguments are positional. rho and nu are the paper's ρ̃ and ν: the solver divides by log(1 + 1/ε) itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from types import MappingProxyType
from typing import Any, TypeAlias, TypeVar

import numpy as np

from .._numerics.checks import UNIT_ROUNDOFF, Matrix, Vector, frozen, one_of, shown
from ..errors import InvalidParameter, nearest
from ..penalties import Penalty, log_scale

T = TypeVar("T")
Random: TypeAlias = np.random.Generator
Row: TypeAlias = dict[str, str]
"""A level of every dimension of a case space, by the name of the dimension."""


@dataclass(frozen=True)
class Level:
    """A signature that a solver may have, and the equation that judges its answers.

    Parameters
    ----------
    name : str
        The name of the level.
    arguments : tuple of str
        The names of the positional arguments, in order.
    returns : str
        "x" for a vector, "bound" for a number.
    tag : str
        The paper's tag of the problem.
    verdict : str
        "exact": against a certified minimiser; "certificate": by conditions that many answers may meet; "bound":
        against the exact optimum.
    task : str
        What the solver must return.

    Examples
    --------
    >>> from dcgev_cvx import verify
    >>> verify.LEVELS["pca"].arguments
    ('A', 'rho', 'eps', 'x0')
    """

    name: str
    arguments: tuple[str, ...]
    returns: str
    tag: str
    verdict: str
    task: str


LEVELS: Mapping[str, Level] = MappingProxyType(
    {
        name: Level(name, tuple(arguments.split()), returns, tag, verdict, task)
        for name, arguments, returns, tag, verdict, task in (
            ("step", "A B y rho eps tau", "x", "ALG", "exact", "the minimiser of (ALG)"),
            ("algorithm", "A B rho eps x0", "x", "SGEV-A", "certificate",
             "a stationary point of (SGEV-A) reached from x0 without ascent"),
            ("pca", "A rho eps x0", "x", "ALG-S", "certificate",
             "Algorithm 2: a stationary point of (SGEV-A) with B = I reached from x0 without ascent"),
            ("bound", "A B k", "bound", "SGEV-P", "bound", "a valid upper bound on (SGEV-P)"),
            ("fda", "a B y nu eps", "x", "Eq:fdaiterative", "exact", "the minimiser of Eq:fdaiterative"),
            ("cardinality", "A B k", "x", "SGEV-P", "certificate", "at most k nonzeros and a unit B norm"),
        )
    }
)  # fmt: skip


def strided(array: Any) -> Any:
    """Every second entry of a larger array, backwards; the gaps are NaN, which detects reading beyond the view."""
    wide = np.full([2 * size for size in array.shape], np.nan)
    view = wide[tuple(slice(None, None, -2) for _ in array.shape)]
    view[...] = array
    return view


LAYOUTS: Mapping[str, Callable[[Any], Any]] = {
    "C order": np.copy,
    "Fortran order": lambda array: np.array(array, order="F"),
    "strided": strided,
    "read-only": lambda array: frozen(np.copy(array)),
}
"""How the arrays of a call lie in memory."""


def laid_out(value: Any, layout: str) -> Any:
    """A copy of an array in a layout; a number as it is."""
    return LAYOUTS[layout](value) if isinstance(value, np.ndarray) else value


def known_level(name: object) -> Level:
    """The level of that name; InvalidParameter names the nearest one."""
    return LEVELS[one_of(name, "level", LEVELS)]


@dataclass(frozen=True, eq=False)
class Instance:
    """One question to a solver.

    Parameters
    ----------
    level : str
        The name of the level.
    name : str
        A description for the report.
    data : mapping
        The arguments by name; arrays are read-only.
    flags : tuple of str
        The families that the question belongs to.
    penalty : Penalty or None
        The penalty in place of the paper's logarithm.
    cache : dict
        What judging needs (reference answer, surrogate, condition number), computed once; not part of the question.

    Examples
    --------
    >>> import numpy as np
    >>> from dcgev_cvx.verify.levels import question
    >>> case = question("bound", "two variables", (), {"A": np.eye(2), "B": np.eye(2), "k": 1})
    >>> case.n, case.layout
    (2, 'C order')
    """

    level: str
    name: str
    data: Mapping[str, Any]
    flags: tuple[str, ...] = ()
    penalty: Penalty | None = None
    cache: dict[str, Any] = field(default_factory=dict[str, Any], repr=False)

    @property
    def n(self) -> int:
        """The number of variables."""
        return len(self.data["a"] if self.level == "fda" else self.data["A"])

    @property
    def B(self) -> Matrix:
        """The metric: the identity at the level pca."""
        return self.once("B", lambda: frozen(np.eye(self.n))) if self.level == "pca" else self.data["B"]

    @property
    def coefficient(self) -> float:
        """ρ_ε or ν_ε, the factor of the penalty (SGEV-A)."""
        price, eps = float(self.data["nu" if self.level == "fda" else "rho"]), float(self.data["eps"])
        return price / log_scale(eps) if self.penalty is None else self.penalty.coefficient(price, eps)

    def slopes(self, y: Any, number: Any = np.float64) -> Any:
        """p = ρ_ε w(y), the slopes of the penalty's tangent, written anew for the logarithm (Eq:log)."""
        if self.penalty is None:
            return number(self.coefficient) / (np.abs(y) + number(self.data["eps"]))
        return number(self.coefficient) * self.penalty.weights(y, self.data["eps"]).astype(number)

    def charge(self, x: Vector) -> float:
        """The penalty at x above its value at 0, the logarithm written anew: no constant hides a difference."""
        eps = self.data["eps"]
        if self.penalty is None:
            return self.coefficient * float(np.sum(np.log1p(np.abs(x) / eps)))
        return self.coefficient * (self.penalty.value(x, eps) - self.penalty.value(0.0 * x, eps))

    @property
    def layout(self) -> str:
        """How the arrays are laid out in memory when a function is called."""
        return next((flag[7:] for flag in self.flags if flag.startswith("layout=")), "C order")

    def changed(self, name: str, **values: Any) -> Instance:
        """The same question with some arguments replaced; the flags describe the original and are dropped."""
        return question(self.level, f"{self.name}, {name}", (), {**self.data, **values}, self.penalty)

    def once(self, name: str, compute: Callable[[], T]) -> T:
        """The value of that name from the cache, computed at the first call."""
        if name not in self.cache:
            self.cache[name] = compute()
        return self.cache[name]


def question(
    level: str, name: str, flags: tuple[str, ...], data: Mapping[str, Any], penalty: Penalty | None = None
) -> Instance:
    """An instance whose arrays are read-only C-ordered float64 copies."""
    kept = {
        key: frozen(np.array(value, dtype=np.float64, order="C")) if isinstance(value, np.ndarray) else value
        for key, value in data.items()
    }
    return Instance(level, name, kept, flags, penalty)


def stored_question(level: str, name: str, record: Mapping[str, Any], flags: tuple[str, ...] = ()) -> Instance:
    """The question in a record of JSON: lists become float64 arrays, numbers such as k stay as they are."""
    return question(level, name, flags, {key: as_array(record[key]) for key in LEVELS[level].arguments})


def as_array(value: Any) -> Any:
    """A list as an array of float64; anything else as it is."""
    return np.array(value, dtype=np.float64) if isinstance(value, list) else value


def flags_of(row: Row) -> tuple[str, ...]:
    """The levels of a row as flags."""
    return tuple(f"{name}={level}" for name, level in row.items())


def plain(value: Any) -> Any:
    """Lists and Python numbers for JSON and for snippets; floats read back to the same bits."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    return float(value) if isinstance(value, np.floating) and math.isfinite(value) else value


def condition(instance: Instance) -> float:
    """cond(B)."""
    return 1.0 if instance.level == "pca" else instance.once("condition", lambda: condition_of(instance.B))


def scaled_condition(instance: Instance) -> float:
    """cond(D⁻¹BD⁻¹) with D = diag(B)^½: the magnification of relative errors of single entries of x."""
    root = np.sqrt(np.diagonal(instance.B))
    return instance.once("scaled condition", lambda: condition_of(instance.B / np.outer(root, root)))


def condition_of(B: Matrix) -> float:
    """λmax/λmin of a symmetric matrix."""
    values = np.linalg.eigvalsh(B)
    return float(values[-1] / values[0]) if values[0] > 0.0 else math.inf


def rounding(instance: Instance) -> float:
    """What rounding alone may do to x: 50 units in the last place, magnified by cond(B) and by cancellation in c."""
    return 50.0 * UNIT_ROUNDOFF * max(condition(instance), instance.once("cancellation", lambda: lost(instance)))


def lost(instance: Instance) -> float:
    """max (|A| + τI)|y| / max |(A + τI)y|: the digits that cancel in the linear term of a step, as a factor."""
    if instance.level != "step":
        return 1.0
    A, y, tau = instance.data["A"], instance.data["y"], instance.data["tau"]
    whole, left = np.max(np.abs(A) @ np.abs(y) + tau * np.abs(y)), np.max(np.abs(A @ y + tau * y))
    return float(whole / left) if left > 0.0 else 1.0


# The space of cases


@dataclass(eq=False)
class Space:
    """Dimensions with their levels; a level is written "dimension=level".

    Faulty code seldom fails everywhere; it fails on a branch, and a branch asks about one or two properties of the
    data. So the cases are not drawn but designed: each property is a dimension with a few levels, and `suite` makes
    cases until every two levels of different dimensions have occurred together.

    dimensions  what is drawn at each level by its name: sizes, the ends of a range; or the names alone
    apart       pairs of levels that contradict each other, as {level: levels}
    hiding      levels at which the answer is 0 whatever the rest is
    """

    dimensions: Mapping[str, Any]
    apart: Mapping[str, Iterable[str]] = field(default_factory=dict[str, Iterable[str]])
    hiding: frozenset[str] = frozenset()

    def draw(self, name: str, level: str, rng: Random) -> float:
        """A number between the ends of a level, evenly on a logarithmic scale."""
        low, high = self.dimensions[name][level]
        return low if low == high else float(np.exp(rng.uniform(np.log(low), np.log(high))))

    def without(self, *levels: str) -> Space:
        """The space with some levels left out."""
        kept = dict[str, Any]()
        for name, values in self.dimensions.items():
            left = [v for v in values if f"{name}={v}" not in levels]
            kept[name] = {v: values[v] for v in left} if isinstance(values, Mapping) else left
        return Space(kept, self.apart, self.hiding)

    @cached_property
    def levels(self) -> list[str]:
        """All levels in order."""
        return [f"{name}={value}" for name, values in self.dimensions.items() for value in values]

    @cached_property
    def owner(self) -> Any:
        """The dimension of each level, as a number."""
        return np.repeat(np.arange(len(self.dimensions)), [len(values) for values in self.dimensions.values()])

    @cached_property
    def hides(self) -> Any:
        """Which levels hide the others."""
        return np.array([level in self.hiding for level in self.levels])

    @cached_property
    def sensible(self) -> Any:
        """Which pairs of levels can occur together, as a symmetric matrix of truth values."""
        place = {level: index for index, level in enumerate(self.levels)}
        allowed = self.owner[:, None] != self.owner[None, :]
        for level, others in self.apart.items():
            for other in (o for o in others if o in place and level in place):
                allowed[place[level], place[other]] = allowed[place[other], place[level]] = False
        return allowed & ~(self.hides[:, None] & self.hides[None, :])

    def allows(self, row: Row) -> bool:
        """Can the levels of a row occur together?"""
        at = [self.levels.index(level) for name, value in row.items() if (level := f"{name}={value}") in self.levels]
        return len(at) == len(self.dimensions) and all(self.sensible[a, b] for a, b in combinations(at, 2))

    def row(self, chosen: Iterable[int]) -> Row:
        """The levels of some numbers, by dimension."""
        return dict(self.levels[i].split("=", 1) for i in chosen)


# The exact optimum of (SGEV-P)


@dataclass(frozen=True)
class Optimum:
    """The best support of (SGEV-P) at k by enumeration, its value, and the size of the pencil's spectrum.

    radius is max |λ| of the whole pencil, the unit in which misses of a bound are measured: unlike the optimum itself
    it cannot be near zero by cancellation. It is 1 for A = 0, which has no unit of its own.
    """

    value: float
    support: tuple[int, ...]
    lambda_max: float
    radius: float


def optimum(instance: Instance) -> Optimum:
    """max λmax(A_S, B_S) over every support of size k (SGEV-P)."""
    return instance.once("optimum", lambda: enumerated(instance.data["A"], instance.B, int(instance.data["k"])))


def enumerated(A: Matrix, B: Matrix, k: int) -> Optimum:
    """Every support of size k, 12 870 at most, diagonalised in one batch of LAPACK."""
    supports = list(combinations(range(len(A)), k))
    tops = top_values(A, B, supports)
    best, values = int(np.argmax(tops)), spectra(A[None], B[None])[0]
    return Optimum(float(tops[best]), supports[best], float(values[-1]), float(np.max(np.abs(values))) or 1.0)


def top_values(A: Matrix, B: Matrix, supports: Sequence[Sequence[int]]) -> Vector:
    """λmax of the pencil on every support."""
    chosen = np.array(supports)
    rows, columns = chosen[:, :, None], chosen[:, None, :]
    return spectra(A[rows, columns], B[rows, columns])[:, -1]


def spectra(A: Matrix, B: Matrix) -> Matrix:
    """The eigenvalues of a batch of pencils, as those of L⁻¹AL⁻ᵀ with B = LLᵀ."""
    L = np.linalg.cholesky(B)
    W = np.linalg.solve(L, np.swapaxes(np.linalg.solve(L, A), -1, -2))
    return np.asarray(np.linalg.eigvalsh(0.5 * (W + np.swapaxes(W, -1, -2))), dtype=np.float64)


# How exact an answer must be


@dataclass(frozen=True)
class Tolerances:
    """How exact an answer must be, and the cases that this is meant for.

    Two kinds of solver stop by two kinds of rule. One that controls x (a closed form, an active set, an iteration run
    until it stands still) is held to an accuracy δ in x; its value is then off by δ² and its optimality conditions by
    δ. One that controls the value (a conic solver, which stops at a duality gap) is held to a gap, and the allowed
    error in x follows from strong convexity: g(x, y) − g(x*, y) ≥ κ‖x − x*‖²_B on Ω with κ = μ + τ/λmax(B).

    Parameters
    ----------
    name : str
        The name of the profile.
    accuracy : float
        The limit for x, its conditions, the constraint and ascent; with a gap, the limit for whole runs.
    reason : str
        What the profile is for, for the report.
    smallest_eps, largest_condition, largest_scale : float
        Cases with a smaller ε, a larger cond(B) or data of another scale are not asked. The report counts them.
    gap : float
        The duality gap, relative to 1 + |value|, at which a solver that controls the value stops; 0 for the others.

    Examples
    --------
    >>> from dcgev_cvx import verify
    >>> verify.PROFILES["closed"].accuracy
    1e-10
    """

    name: str
    accuracy: float
    reason: str
    smallest_eps: float = 0.0
    largest_condition: float = math.inf
    largest_scale: float = math.inf
    gap: float = 0.0


PROFILES: Mapping[str, Tolerances] = MappingProxyType(
    {
        profile.name: profile
        for profile in (
            Tolerances(
                "standard",
                1e-5,
                "any method run to convergence; a stop at 1e-4 or single precision fails; a B of condition 1e8 in a "
                "random basis, where coordinate descent needs 1e8 passes, is asked by the profile closed only",
            ),
            Tolerances(
                "interior-point",
                1e-3,
                "a conic solver at its default gap, which leaves √(gap/κ) in x; weights beyond 1/ε = 1e4, "
                "cond(B) > 2e3 and data far from size one need a cap, scaling or refinement and are left out",
                smallest_eps=1e-4,
                largest_condition=2e3,
                largest_scale=100.0,
                gap=1e-6,  # interior points stop at 1e-8; SCS asked for 1e-8 leaves 2e-7
            ),
            Tolerances("closed", 1e-10, "a closed form, or an answer refined on its support"),
        )
    }
)


def tolerances(tol: Any) -> Tolerances:
    """The profile of a name, the standard one for None, or one made of a number between 1e-13 and 0.1.

    Examples
    --------
    >>> from dcgev_cvx.verify.levels import tolerances
    >>> tolerances(None).accuracy, tolerances("closed").accuracy, tolerances(1e-6).name
    (1e-05, 1e-10, '1e-06')
    """
    if tol is None or isinstance(tol, Tolerances):
        return PROFILES["standard"] if tol is None else tol
    if isinstance(tol, str):
        if tol in PROFILES:
            return PROFILES[tol]
        raise InvalidParameter(f"tol = {shown(tol)} is unknown. Pass a number or a profile; {nearest(tol, PROFILES)}")
    if isinstance(tol, bool) or not isinstance(tol, (int, float, np.floating)) or not 1e-13 <= tol <= 0.1:
        raise InvalidParameter(f"tol = {shown(tol)} must be a profile's name or a number between 1e-13 and 0.1.")
    return Tolerances(f"{float(tol):g}", float(tol), "given by the caller")
