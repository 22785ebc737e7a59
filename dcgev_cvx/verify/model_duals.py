"""What a solver's dual values prove, computed from the data: a bound on the optimum, and the DIMACS errors of an SDP.

Each bound holds for whatever numbers are given: multipliers are made nonnegative, matrices symmetric and small enough.
The gap to the value of a feasible point measures dual feasibility and complementarity at once.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .._numerics.checks import Matrix
from .levels import spectra
from .reference_answers import Surrogate, dual_lasso

STEPS = ("qcqp", "lasso", "linear", "fisher_step", "fisher_l1_penalized")
SDPS = ("entrywise_sdp", "homogeneous_sdp", "dspca")


def dual_bound(model: str, data: Mapping[str, Any], duals: Sequence[Any]) -> float:
    """A lower bound of a minimum, an upper bound of a maximum; NaN for a model without a formula here."""
    if model in STEPS:
        value = step_bound(model, data, float(np.ravel(duals[0])[0]))
        return -0.5 * value if model == "linear" else value
    if model in SDPS:
        return sdp_bound(model, data, *sdp_duals(duals, model))
    return math.nan


def step_bound(model: str, data: Mapping[str, Any], mu: float) -> float:
    """min over x of the Lagrangian at μ: a LASSO; of the maximum in `linear` the multiplier counts twice."""
    n = len(data["a"] if "a" in data else data["c"])
    B = np.eye(n) if data["B"] is None else data["B"]
    if "a" in data:
        p = data["p"] if "p" in data else np.full(n, data["nu"])
        step, level = Surrogate(B, -0.5 * mu * data["a"], p, B), mu
    else:
        level = max(0.0, 2.0 * mu if model == "linear" else mu)
        step = Surrogate(data.get("tau", 0.0) * np.eye(n) + level * B, data["c"], data["p"], B)
    if np.linalg.eigvalsh(step.H)[0] <= 0.0:
        return 0.0 if np.all(2.0 * np.abs(step.c) <= step.p) else -math.inf
    # at u in the box the value is −(c − u)ᵀH⁻¹(c − u), whatever led to u
    u = np.clip(step.c - step.H @ dual_lasso(step.H, step.c, step.p), -0.5 * step.p, 0.5 * step.p)
    return -float((step.c - u) @ np.linalg.solve(step.H, step.c - u)) - level


def sdp_duals(duals: Sequence[Any], model: str) -> tuple[Matrix, float, float]:
    """(Z, λ, μ) of X ⪰ 0, of the trace, and of the ℓ1 budget, 0 where the model has none."""
    Z = np.atleast_2d(np.asarray(duals[0], dtype=np.float64))
    mu = 0.0 if model == "dspca" else max(0.0, float(np.ravel(duals[2])[0]))
    return 0.5 * (Z + Z.T), float(np.ravel(duals[1])[0]), mu


def residual_matrix(model: str, data: Mapping[str, Any], Z: Matrix, lam: float, mu: float) -> tuple[Matrix, float]:
    """(A + Z − λB + shift, the bound on its entries): at an optimal dual the entries lie within the bound."""
    A = data["A"]
    B = np.eye(len(A)) if data["B"] is None else data["B"]
    shift = mu * data["k"] * np.eye(len(A)) if model == "homogeneous_sdp" else 0.0
    return A + shift + Z - lam * B, data["rho"] if model == "dspca" else mu


def sdp_bound(model: str, data: Mapping[str, Any], Z: Matrix, lam: float, mu: float) -> float:
    """λmax(A − U + shift, B) and the price of the budget, with U the residual cut to its bound."""
    residual, allowed = residual_matrix(model, data, Z, lam, mu)
    B = np.eye(len(Z)) if data["B"] is None else data["B"]
    shift = mu * data["k"] * np.eye(len(Z)) if model == "homogeneous_sdp" else 0.0
    top = float(spectra((data["A"] + shift - np.clip(residual, -allowed, allowed))[None], B[None])[0, -1])
    if model == "homogeneous_sdp":
        return top
    return max(0.0, top) + (mu * data["radius"] ** 2 if model == "entrywise_sdp" else 0.0)


def dimacs_errors(model: str, data: Mapping[str, Any], X: Matrix, duals: Sequence[Any]) -> dict[str, float]:
    """err1 … err6 of an SDP: primal equation and cone, dual equation and cone, gap, complementarity."""
    Z, lam, mu = sdp_duals(duals, model)
    A, B = data["A"], np.eye(len(Z)) if data["B"] is None else data["B"]
    residual, allowed = residual_matrix(model, data, Z, lam, mu)
    trace, value = float(np.sum(X * B)), float(np.sum(X * A))
    if model == "dspca":
        value -= allowed * float(np.sum(np.abs(X)))
    other = sdp_bound(model, data, Z, lam, mu)
    size, both = 1.0 + float(np.max(np.abs(A))), 1.0 + abs(value) + abs(other)
    return {
        "err1": abs(trace - 1.0) / 2.0 if model == "homogeneous_sdp" else max(0.0, trace - 1.0) / 2.0,
        "err2": max(0.0, -float(np.linalg.eigvalsh(X)[0])) / 2.0,
        "err3": max(0.0, float(np.max(np.abs(residual))) - allowed) / size,
        "err4": max(0.0, -float(np.linalg.eigvalsh(Z)[0])) / size,
        "err5": (other - value) / both,
        "err6": float(np.sum(X * Z)) / both,
    }
