"""Every convex model of the paper on small data with a known optimum: what a CVXPY solver is tried on.

A case names a function of `models`, its arguments, and an interval that holds the optimum, with the reason: the
certified minimiser of a step (two methods), an exact argument, or a safe bound above and a feasible point below.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

import numpy as np

from .. import models
from .._numerics.checks import Matrix, Vector
from .levels import Random, condition_of, spectra
from .pencil_cases import leading, pencil, unit
from .reference_answers import Surrogate, dual_lasso, reference, surrogate
from .step_cases import fda_case, step_case

Status: TypeAlias = Literal["optimal", "infeasible", "unbounded"]
ROUNDING = 1e-9
"""What the two methods behind a value may differ by, relative to its terms."""
FACTOR = 2.0**10
"""The data of scaled cases are so many times the original ones: no digit changes."""
IN_UNITS_OF_THE_VALUE = ("A", "c", "p", "tau", "nu", "rho")
"""Arguments that are multiplied when the objective is; B as well where it stands in the objective."""


@dataclass(frozen=True)
class ModelCase:
    """A model with its data, and what its solution must be.

    Parameters
    ----------
    model : str
        A function of `dcgev_cvx.models`.
    data : mapping
        Its arguments by name.
    low, high : float
        An interval that holds the optimum.
    proof : str
        Why the interval holds it.
    status : str
        "optimal", or "infeasible" or "unbounded" for a problem without an optimum.
    variant : str
        "" for a problem of its own; else how it is derived: another solve, new parameters, scaled or permuted data.
    after : mapping or None
        The arguments of the problem that was solved just before, whose parameters change to those of `data`.
    """

    model: str
    data: Mapping[str, Any]
    low: float
    high: float
    proof: str
    status: Status = "optimal"
    variant: str = ""
    after: Mapping[str, Any] | None = field(default=None, repr=False)

    @property
    def n(self) -> int:
        """The number of variables, or rows of X."""
        return next(len(np.asarray(value)) for value in self.data.values() if np.ndim(value) > 0)

    @property
    def size(self) -> float:
        """What an error of the value is measured by: 1 + |value|."""
        return 1.0 + max(abs(self.low), abs(self.high)) if self.status == "optimal" else 1.0

    @property
    def where(self) -> str:
        """The case in a few words."""
        return f"n = {self.n}{', ' if self.variant else ''}{self.variant}"

    def problem(self) -> Any:
        """The problem in CVXPY."""
        return getattr(models, self.model)(**self.data)


def model_cases(seed: int = 0) -> list[ModelCase]:
    """The cases of all models, each with its variants; the smallest first."""
    rng = np.random.default_rng([seed, 33])
    found = [case for make in (step_models, fisher_models, sdp_models, without_optimum) for case in make(rng)]
    found.sort(key=lambda case: (case.model, case.status != "optimal", case.n))
    return [made for case in found for made in (case, *variants(case))]


def value_of(model: str, data: Mapping[str, Any], value: float, proof: str, terms: float = 0.0) -> ModelCase:
    """A case whose value is known to rounding; terms is the size of what cancels in it."""
    slack = ROUNDING * max(abs(value), terms)
    return ModelCase(model, data, value - slack, value + slack, proof)


# The MM step in its five forms, and the QPs of sparse FDA


def step_models(rng: Random) -> Iterator[ModelCase]:
    """(ALG) as QCQP, LASSO, linear and metric LASSO, from certified minimisers."""
    proof = (
        "minimiser of the step by feature-sign search and by the dual, KKT residual below 1e-12 in extended precision"
    )
    for n in (1, 2, 3, 5, 8, 20):
        for metric in ("I", "dense", "diagonal"):
            A, B = pencil("covariance", metric if n > 1 else "I", n, rng)
            y, share, eps = (
                unit(B, rng.standard_normal(n)),
                float(rng.choice([0.0, 0.1, 0.4])),
                float(rng.choice([1.0, 1e-2])),
            )
            for tau in (0.0, 0.7):
                case = step_case(A, B, y, share, eps, tau)
                step, x = surrogate(case), reference(case).x
                data = {"c": step.c, "p": step.p, "B": None if metric == "I" else B}
                value, terms = step.value(x), step.size(x)
                yield value_of("qcqp", {**data, "tau": tau}, value, proof, terms)
                if tau > 0.0:
                    yield value_of("lasso", {**data, "tau": tau}, value, proof, terms)
                    continue
                yield value_of("linear", data, -0.5 * value, proof, terms)
                z = dual_lasso(B, step.c, step.p)
                yield metric_case(data, Surrogate(B, step.c, step.p, B), z)


def metric_case(data: Mapping[str, Any], step: Surrogate, z: Vector) -> ModelCase:
    """The LASSO in B's metric: a value above, by the point z, and one below, by the dual at u = c − Bz in its box.

    min zᵀBz − 2cᵀz + pᵀ|z| = max −(c − u)ᵀB⁻¹(c − u) over |u| ≤ p/2.
    """
    u = np.clip(step.c - step.B @ z, -0.5 * step.p, 0.5 * step.p)
    below = -float((step.c - u) @ np.linalg.solve(step.B, step.c - u))
    slack = ROUNDING * step.size(z)
    return ModelCase("metric_lasso", data, below - slack, step.value(z) + slack, "a primal and a dual feasible point")


def fisher_models(rng: Random) -> Iterator[ModelCase]:
    """The step of sparse FDA and its two ℓ1 forms."""
    proof = "minimiser by feature-sign search and by the dual, KKT residual below 1e-12 in extended precision"
    for n in (1, 2, 3, 5, 8, 20):
        for metric in ("I", "dense"):
            B = pencil("zero", metric if n > 1 else "I", n, rng)[1]
            case = fda_case(B, float(rng.choice([1.0, 0.1])), rng, ())
            a, step, x = case.data["a"], surrogate(case), reference(case).x
            given = None if metric == "I" else B
            yield value_of("fisher_step", {"p": step.p, "a": a, "B": given}, step.value(x), proof)
            # ε far above the entries makes every weight 1/(ε log(1 + 1/ε)): the step has the penalty ν‖x‖₁
            flat = case.changed("flat", eps=1e30, nu=0.2 * float(x @ B @ x) / float(np.sum(np.abs(x))))
            level, z = surrogate(flat), reference(flat).x
            nu = float(level.p[0])
            yield value_of("fisher_l1_penalized", {"a": a, "B": given, "nu": nu}, level.value(z), proof)
            radius, square = float(np.sum(np.abs(z))), float(z @ B @ z)
            words = "‖x‖₁ = radius at the certified minimiser of xᵀBx + ν‖x‖₁, which minimises xᵀBx among these"
            yield value_of("fisher_l1", {"a": a, "B": given, "radius": radius}, square, words)


# The semidefinite relaxations


def sdp_models(rng: Random) -> Iterator[ModelCase]:
    """The SDPs at data where an exact argument gives the value."""
    for n in (1, 2, 3, 5, 8):
        for kind, metric in (("covariance", "I"), ("indefinite", "dense"), ("planted", "I"), ("negative", "diagonal")):
            A, B = pencil(kind, metric if n > 1 else "I", n, rng)
            v = unit(B, leading(A, B))
            top, given = largest(A, B), None if metric == "I" else B
            pair = {"A": A, "B": given}
            yield from literal(pair, top)
            words = "‖v‖₁ ≤ radius at the leading eigenvector v, and no X exceeds max(0, λmax(A, B))"
            budget = 1.001 * float(np.sum(np.abs(v)))
            yield value_of("entrywise_sdp", {**pair, "radius": budget}, max(0.0, top), words, abs(top))
            yield value_of("dspca", {**pair, "rho": 0.0}, max(0.0, top), "ρ = 0: max(0, λmax(A, B))", abs(top))
            ratios = np.diag(A) / np.diag(B)
            for model in ("homogeneous_sdp", "pairwise_sdp"):
                yield value_of(model, {**pair, "k": float(n)}, top, "k = n: Σ|Xᵢⱼ| ≤ n tr X always, so λmax(A, B)")
                if n > 1:
                    words = "k = 1: X is diagonal, so the largest Aᵢᵢ/Bᵢᵢ"
                    yield value_of(model, {**pair, "k": 1.0}, float(np.max(ratios)), words)
    for n in (2, 4, 6):
        yield from structured(n, rng)


def literal(pair: Mapping[str, Any], top: float) -> Iterator[ModelCase]:
    """The SDP of Section 3 as printed, and its dual: λmax(A, B) at every radius."""
    for radius in (1.0, 3.0):
        words = "x = 0 is allowed, so that the budget never binds: max(0, λmax(A, B))"
        yield value_of("literal_sdp", {**pair, "radius": radius}, max(0.0, top), words, abs(top))
        yield value_of("literal_dual", {**pair, "radius": radius}, max(0.0, top), f"dual of it: {words}", abs(top))


def structured(n: int, rng: Random) -> Iterator[ModelCase]:
    """A sparse leading eigenvector, a diagonal pencil, a rank-one and a nearly diagonal matrix."""
    k = max(1, n // 2)
    block, _ = pencil("covariance", "I", k, rng)
    A = 0.1 * np.eye(n)
    A[:k, :k] += block
    top, words = largest(A, np.eye(n)), "the leading eigenvector has k nonzeros: it is feasible, and λmax(A) a bound"
    D, E = np.diag(rng.uniform(0.2, 2.0, n)), np.diag(rng.uniform(0.5, 2.0, n))
    ratio = float(np.max(np.diag(D) / np.diag(E)))
    for model in ("homogeneous_sdp", "pairwise_sdp"):
        yield value_of(model, {"A": A, "B": None, "k": float(k)}, top, words)
        yield value_of(model, {"A": D, "B": E, "k": float(k)}, ratio, "A and B are diagonal: the largest Aᵢᵢ/Bᵢᵢ")
    a = rng.uniform(0.2, 1.0, n)
    words = "1ᵀ|X|1 ≤ 1, so tr(XA) ≤ max |Aᵢⱼ|, which the largest Aᵢᵢ of a semidefinite A reaches"
    data = {"A": np.outer(a, a), "B": None, "radius": 1.0}
    yield value_of("entrywise_sdp", data, float(np.max(a * a)), words)
    rho = 1.5 * float(np.max(np.abs(A - np.diag(np.diag(A)))))
    words = "ρ exceeds every |Aᵢⱼ|, i ≠ j: the dual U = A − diag(A) + ρI shows max Aᵢᵢ − ρ, or 0"
    value = max(0.0, float(np.max(np.diag(A))) - rho)
    yield value_of("dspca", {"A": A, "B": None, "rho": rho}, value, words, rho)
    M, _ = pencil("covariance", "I", n, rng)
    yield between({"A": M, "B": None, "k": 1.5})


def between(data: Mapping[str, Any]) -> ModelCase:
    """The homogeneous SDP where nothing is exact: the best of some feasible X below, of some safe bounds above."""
    A, k, eye = data["A"], data["k"], np.eye(len(data["A"]))
    v = leading(A, eye)
    X = np.outer(v, v)
    diagonal = np.diag(v * v)
    t = min(1.0, (k - 1.0) / max(1e-300, float(np.sum(np.abs(X - diagonal)))))
    low = max(float(np.max(np.diag(A))), float(np.sum(A * (t * X + (1.0 - t) * diagonal))))
    bounds = [largest(A - np.clip(A + mu * k * eye, -mu, mu) + mu * k * eye, eye) for mu in np.linspace(0.0, 2.0, 41)]
    words = "the diagonal or a shrunk vvᵀ is feasible; λmax(A − U + μkI) with |Uᵢⱼ| ≤ μ is a bound"
    return ModelCase("homogeneous_sdp", data, low - ROUNDING, min(bounds) + ROUNDING, words)


def largest(A: Matrix, B: Matrix) -> float:
    """λmax(A, B) by whitening; the Rayleigh quotient of SciPy's eigenvector must agree."""
    v = leading(A, B)
    values = spectra(A[None], B[None])[0]
    top, other = float(values[-1]), float(v @ A @ v) / float(v @ B @ v)
    limit = 1e-12 * float(np.max(np.abs(values))) * condition_of(B) + 1e-300
    if abs(top - other) > limit:
        raise ArithmeticError(f"two ways to λmax differ by {abs(top - other):.1e}")
    return top


# Problems without an optimum


def without_optimum(rng: Random) -> Iterator[ModelCase]:
    """Infeasible and unbounded siblings: B is singular, or a budget is too small."""
    A, flat = np.array([[2.0, 0.5], [0.5, 1.0]]), np.diag([1.0, 0.0])
    c, p = np.array([1.0, 1.0]), np.array([0.5, 0.5])
    direction = "B is 0 on the second variable, along which the objective improves without end"
    for model, data in (("linear", {"c": c, "p": p}), ("qcqp", {"c": c, "p": p, "tau": 0.0}),
                        ("literal_sdp", {"A": A, "radius": 2.0})):  # fmt: skip
        yield ModelCase(model, {**data, "B": flat}, 0.0, 0.0, direction, "unbounded")
    words = "μB − A has the entry −A₂₂ < 0 for every μ"
    yield ModelCase("literal_dual", {"A": A, "B": flat, "radius": 2.0}, 0.0, 0.0, words, "infeasible")
    a = np.array([0.5, 0.4])
    words = "aᵀx = 1 needs ‖x‖₁ ≥ 1/max |aᵢ| = 2"
    yield ModelCase("fisher_l1", {"a": a, "B": None, "radius": 1.5}, 0.0, 0.0, words, "infeasible")
    words = "Σ|Xᵢⱼ| ≥ tr X, so that k < 1 leaves X = 0, and tr X = 1 fails"
    yield ModelCase("homogeneous_sdp", {"A": A, "B": None, "k": 0.5}, 0.0, 0.0, words, "infeasible")


# The same problem in other words


def variants(case: ModelCase) -> Iterator[ModelCase]:
    """A second solve with a warm start, new parameters, scaled data, and the variables in the opposite order."""
    if case.status != "optimal" or case.n not in (3, 8):
        return
    yield replace(case, variant="second solve", after=case.data)
    changed = replace(case, variant="new parameters", after=other_parameters(case))
    if changed.after is not None:
        yield changed
    for factor in (FACTOR, 1.0 / FACTOR):
        yield scaled_by(case, factor)
    data = {name: reversed_order(value) for name, value in case.data.items()}
    yield replace(case, variant="permuted", data=data)


def other_parameters(case: ModelCase) -> Mapping[str, Any] | None:
    """The data with other values of what the model takes as parameters; None for the one that has none."""
    if case.model == "pairwise_sdp":
        return None
    changed = {name: change(case.data[name]) for name, change in PARAMETERS.items() if name in case.data}
    return {**case.data, **changed}


PARAMETERS: Mapping[str, Callable[[Any], Any]] = {
    "c": lambda c: c[::-1] * 1.5,
    "p": lambda p: p * 3.0,
    "k": lambda k: k + 1.0,
    "radius": lambda radius: radius * 1.4,
    "nu": lambda nu: nu * 5.0,
    "rho": lambda rho: rho + 0.3,
}


def scaled_by(case: ModelCase, factor: float) -> ModelCase:
    """The case with its objective multiplied."""
    in_objective = {"metric_lasso", "fisher_step", "fisher_l1", "fisher_l1_penalized"}
    names = (*IN_UNITS_OF_THE_VALUE, "B") if case.model in in_objective else IN_UNITS_OF_THE_VALUE
    data = dict(case.data)
    if case.model in in_objective and data["B"] is None:
        data["B"] = np.eye(case.n)
    data |= {name: factor * data[name] for name in names if data.get(name) is not None}
    if case.model in in_objective - {"metric_lasso"}:
        data["a"] = case.data["a"]
    return replace(case, variant=f"scaled by {factor:g}", data=data, low=factor * case.low, high=factor * case.high)


def reversed_order(value: Any) -> Any:
    """An array with its variables in the opposite order."""
    if np.ndim(value) == 0:
        return value
    return np.ascontiguousarray(value[::-1] if np.ndim(value) == 1 else value[::-1, ::-1])
