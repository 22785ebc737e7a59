"""The catalogue: solvers that are wrong in one way each, and right ones of different make, by level."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from scipy.linalg import cholesky, eigh, solve_triangular
from scipy.optimize import brentq

from dcgev_cvx.pencils import Pencil
from dcgev_cvx.programs import SparseFDA, SparseGEV
from dcgev_cvx.steps.polish import Surrogate, polish, surrogate_at
from dcgev_cvx.steps.scaling import Metric, Scaling


@dataclass(frozen=True)
class Entry:
    """A solver with its level and what is wrong with it; a factory, so that none keeps state between trials."""

    level: str
    name: str
    make: Callable[[], Callable[..., Any]]
    tol: Any = None


WRONG: list[Entry] = []
RIGHT: list[Entry] = []


def wrong(level: str, name: str) -> Callable[[Any], Any]:
    def register(function: Any) -> Any:
        WRONG.append(Entry(level, name, lambda: function))
        return function

    return register


def wrong_factory(level: str, name: str) -> Callable[[Any], Any]:
    def register(factory: Any) -> Any:
        WRONG.append(Entry(level, name, factory))
        return factory

    return register


def right(level: str, name: str, tol: Any = None) -> Callable[[Any], Any]:
    def register(function: Any) -> Any:
        RIGHT.append(Entry(level, name, lambda: function, tol))
        return function

    return register


# ── pieces of a right step ───────────────────────────────────────────────────────────────────────


def argmin(B, tau, c, p):
    """min τ‖x‖² − 2cᵀx + pᵀ|x| s.t. xᵀBx ≤ 1."""
    c, p = np.asarray(c, float), np.maximum(np.asarray(p, float), 0.0)
    if not np.any(c):
        return np.zeros(len(c))
    program = SparseGEV(Pencil(np.eye(len(c)) * max(np.max(np.abs(c)), tau), B), 1.0, 1.0, tau)
    scaling = Scaling.of_program(program)
    cap = 1.01 * program.largest_slopes(c, c)
    square = float(scaling.u[0]) ** 2
    sub = Surrogate(
        scaling,
        Metric(program.pencil, scaling.u),
        scaling.cost(c),
        scaling.cost(np.minimum(p, cap)),
        tau * square / scaling.o,
        False,
    )
    return minimiser(sub, np.zeros(len(c)), 20 * len(c) + 100)


def minimiser(surrogate, guess, most=None):
    """The exact minimiser in the user's units."""
    unit = surrogate.scaling.u
    return unit * polish(surrogate, guess / unit, most)[0]


def rho_eps(rho, eps):
    return rho / (np.log1p(eps) - np.log(eps)) if eps < 1 else rho / np.log1p(1 / eps)


def parts(A, y, rho, eps, tau):
    c = A @ y + tau * y
    return c, rho_eps(rho, eps) / (np.abs(y) + eps)


@right("step", "active-set walk")
def right_step(A, B, y, rho, eps, tau):
    c, p = parts(A, y, rho, eps, tau)
    return argmin(B, tau, c, p)


def variant(name, change):
    """A right step with (B, tau, c, p) changed before it is solved."""

    def solver(A, B, y, rho, eps, tau):
        c, p = parts(A, y, rho, eps, tau)
        return argmin(*change(A, B, y, rho, eps, tau, c, p))

    WRONG.append(Entry("step", name, lambda: solver))


def after(name, change):
    """A right step whose answer is changed afterwards."""

    def solver(A, B, y, rho, eps, tau):
        return change(right_step(A, B, y, rho, eps, tau), A, B, y, rho, eps, tau)

    WRONG.append(Entry("step", name, lambda: solver))


def b_norm(B, x):
    return math.sqrt(max(0.0, float(x @ B @ x)))


def unit_of(B, x):
    return x / max(b_norm(B, x), 1e-300)


def single_of(array):
    return array.astype(np.float32).astype(float)


variant("linear term without its factor 2", lambda A, B, y, r, e, t, c, p: (B, t, c / 2, p))
variant("penalty doubled", lambda A, B, y, r, e, t, c, p: (B, t, c, 2 * p))
variant("penalty halved", lambda A, B, y, r, e, t, c, p: (B, t, c, p / 2))
variant("τ‖x‖² halved", lambda A, B, y, r, e, t, c, p: (B, t / 2, c, p))
variant("log(1 + 1/ε) forgotten", lambda A, B, y, r, e, t, c, p: (B, t, c, r / (np.abs(y) + e)))
variant("log10", lambda A, B, y, r, e, t, c, p: (B, t, c, p * np.log(10)))
variant(
    "log(1/ε)",
    lambda A, B, y, r, e, t, c, p: (B, t, c, p * (np.log1p(1 / e) / np.log(1 / e) if e != 1 else 1e9)),
)
variant("log(1 + ε)", lambda A, B, y, r, e, t, c, p: (B, t, c, r / np.log1p(e) / (np.abs(y) + e)))
variant("log(2 + 1/ε)", lambda A, B, y, r, e, t, c, p: (B, t, c, r / np.log(2 + 1 / e) / (np.abs(y) + e)))
variant("τ missing in the linear term", lambda A, B, y, r, e, t, c, p: (B, t, A @ y, p))
variant("τ twice in the linear term", lambda A, B, y, r, e, t, c, p: (B, t, c + t * y, p))
variant("τ missing in the square", lambda A, B, y, r, e, t, c, p: (B, 0.0, c, p))
variant("A − τI", lambda A, B, y, r, e, t, c, p: (B, t, A @ y - t * y, p))
variant("convex part linearised too", lambda A, B, y, r, e, t, c, p: (B, 0.0, A @ y, p))
variant("τ ignored when small", lambda A, B, y, r, e, t, c, p: (B, t, c, p) if t > 1 else (B, 0.0, A @ y, p))
variant("τ recomputed", lambda A, B, y, r, e, t, c, p: (B, (s := max(0, -np.linalg.eigvalsh(A)[0])), A @ y + s * y, p))
variant("weights 0 at 0", lambda A, B, y, r, e, t, c, p: (B, t, c, np.where(y == 0, 0, p)))
variant("weights without ε", lambda A, B, y, r, e, t, c, p: (B, t, c, rho_eps(r, e) / np.maximum(np.abs(y), 1e-300)))
variant("weights squared", lambda A, B, y, r, e, t, c, p: (B, t, c, p / (np.abs(y) + e)))
variant("weights from the square root", lambda A, B, y, r, e, t, c, p: (B, t, c, rho_eps(r, e) / np.sqrt(y**2 + e)))
variant("weights 1/√(y² + ε²)", lambda A, B, y, r, e, t, c, p: (B, t, c, rho_eps(r, e) / np.sqrt(y**2 + e**2)))
variant("weights 1/(y + ε)", lambda A, B, y, r, e, t, c, p: (B, t, c, np.abs(rho_eps(r, e) / (y + e + 1e-300))))
variant("weights 1/max(|y|, ε)", lambda A, B, y, r, e, t, c, p: (B, t, c, rho_eps(r, e) / np.maximum(np.abs(y), e)))
variant("weights 1", lambda A, B, y, r, e, t, c, p: (B, t, c, rho_eps(r, e) * np.ones(len(y))))
variant(
    "ε clipped at 1e-8",
    lambda A, B, y, r, e, t, c, p: (B, t, c, p if e > 1e-8 else rho_eps(r, 1e-8) / (np.abs(y) + 1e-8)),
)
variant(
    "ε clipped at 1e-12 in the weights",
    lambda A, B, y, r, e, t, c, p: (B, t, c, rho_eps(r, e) / (np.abs(y) + max(e, 1e-12))),
)
variant(
    "weights capped at 1e6",
    lambda A, B, y, r, e, t, c, p: (B, t, c, rho_eps(r, e) * np.minimum(1 / (np.abs(y) + e), 1e6)),
)
variant("slopes capped at 1e3", lambda A, B, y, r, e, t, c, p: (B, t, c, np.minimum(p, 1e3)))
variant("penalty averaged", lambda A, B, y, r, e, t, c, p: (B, t, c, p / len(y)))
variant("negative entries weighted 0", lambda A, B, y, r, e, t, c, p: (B, t, c, np.where(y < 0, 0, p)))
variant(
    "last variable unpenalised",
    lambda A, B, y, r, e, t, c, p: (B, t, c, np.where(np.arange(len(y)) == len(y) - 1, 0, p)),
)
variant("ρ used squared", lambda A, B, y, r, e, t, c, p: (B, t, c, p * r))
variant("B = I", lambda A, B, y, r, e, t, c, p: (np.eye(len(y)), t, c, p))
variant("B diagonal", lambda A, B, y, r, e, t, c, p: (np.diag(np.diag(B)), t, c, p))
variant("Cholesky factor transposed", lambda A, B, y, r, e, t, c, p: ((L := np.linalg.cholesky(B)).T @ L, t, c, p))
variant("B ridged by 1e-3", lambda A, B, y, r, e, t, c, p: (B + 1e-3 * np.eye(len(y)), t, c, p))
variant("B ridged by 1e-8", lambda A, B, y, r, e, t, c, p: (B + 1e-8 * np.eye(len(y)), t, c, p))
variant("B squared", lambda A, B, y, r, e, t, c, p: (B @ B, t, c, p))
variant("only A's upper triangle", lambda A, B, y, r, e, t, c, p: (B, t, np.triu(A) @ y + t * y, p))
variant("wrong for more than 50 variables", lambda A, B, y, r, e, t, c, p: (B, t, c, p if len(y) <= 50 else 1.01 * p))
variant("wrong for even n", lambda A, B, y, r, e, t, c, p: (B, t, c, p if len(y) % 2 else 1.1 * p))
variant("wrong at tiny ε", lambda A, B, y, r, e, t, c, p: (B, t, c, p if e > 1e-10 else 1.05 * p))
variant("wrong when B is dense", lambda A, B, y, r, e, t, c, p: (B, t, c, p if B[0, -1] == 0 else 1.05 * p))
variant("wrong when y has negative entries", lambda A, B, y, r, e, t, c, p: (B, t, c, p if np.all(y >= 0) else p * 1.1))
variant("y rounded to float32", lambda A, B, y, r, e, t, c, p: (B, t, *parts(A, single_of(y), r, e, t)))
variant("A rounded to float32", lambda A, B, y, r, e, t, c, p: (B, t, *parts(single_of(A), y, r, e, t)))
variant("weights of y/‖y‖_B", lambda A, B, y, r, e, t, c, p: (B, t, c, rho_eps(r, e) / (np.abs(unit_of(B, y)) + e)))
variant("zeros of y stay zero", lambda A, B, y, r, e, t, c, p: (B, t, c, np.where(y == 0, 1e15 * np.max(np.abs(c)), p)))
variant("shift in B's metric", lambda A, B, y, r, e, t, c, p: (B, t, A @ y + t * (B @ y), p))
variant("ε = 1 without its logarithm", lambda A, B, y, r, e, t, c, p: (B, t, c, r / (np.abs(y) + 1) if e == 1 else p))
variant("penalty lost for one variable", lambda A, B, y, r, e, t, c, p: (B, t, c, p if len(y) > 1 else 0 * p))
variant("penalty off by 1e-3", lambda A, B, y, r, e, t, c, p: (B, t, c, p * 1.001))
after("always normalised", lambda x, A, B, *rest: x / b_norm(B, x) if np.any(x) else x)
after("always normalised when B is dense", lambda x, A, B, *rest: x / b_norm(B, x) if np.any(x) and B[0, -1] else x)
after("normalised by xᵀBx", lambda x, A, B, *rest: x / b_norm(B, x) ** 2 if np.any(x) else x)
after("normalised in the 2-norm", lambda x, *rest: x / np.linalg.norm(x) if np.any(x) else x)
after("dust below 1e-3 cut", lambda x, *rest: np.where(np.abs(x) < 1e-3, 0, x))
after("dust below 1e-6 cut, absolutely", lambda x, *rest: np.where(np.abs(x) < 1e-6, 0, x))
after("dust below 1e-8 cut, absolutely", lambda x, *rest: np.where(np.abs(x) < 1e-8, 0, x))
after("entries below 1e-3 of the largest cut", lambda x, *rest: np.where(np.abs(x) < 1e-3 * np.max(np.abs(x)), 0, x))
after("rounded to 4 decimals", lambda x, *rest: np.round(x, 4))
after("rounded to 6 decimals", lambda x, *rest: np.round(x, 6))
after("noise of 1e-4", lambda x, A, B, *rest: x * (1 + 1e-4 * np.sin(37.0 * np.arange(1, len(x) + 1))))
after("stopped 1e-4 short", lambda x, A, B, y, *rest: x + 1e-4 * (y - x))
after("stopped 1e-3 short", lambda x, A, B, y, *rest: x + 1e-3 * (y - x))
after("damped by a half", lambda x, A, B, y, *rest: 0.5 * (x + y))
after("normalised when nearly of unit norm", lambda x, A, B, *rest: x / b_norm(B, x) if b_norm(B, x) > 0.9 else x)
after("largest entry made positive", lambda x, *rest: x if x[np.argmax(np.abs(x))] >= 0 else -x)
after("y kept on collapse", lambda x, A, B, y, *rest: x if np.any(x) else y)
after("sign flipped", lambda x, *rest: -x)
after("absolute values", lambda x, *rest: np.abs(x))
after("sorted", lambda x, *rest: np.sort(x))
after("returns y", lambda x, A, B, y, *rest: y)
after("returns 0", lambda x, *rest: 0 * x)
after("signs taken from y", lambda x, A, B, y, *rest: np.abs(x) * np.where(y < 0, -1.0, 1.0))
after("1 % too long", lambda x, *rest: 1.01 * x)
after("dust of 1e-3 added", lambda x, *rest: np.where(x == 0, 1e-3, x))
after("NaN when y = 0", lambda x, A, B, y, *rest: x if np.any(y) else np.full(len(x), np.nan))
after("NaN on collapse", lambda x, *rest: x if np.any(x) else np.full(len(x), np.nan))
after("a number when n = 1", lambda x, *rest: np.squeeze(x))
after("one entry too many", lambda x, *rest: np.append(x, 0.0))
after("a row (1, n)", lambda x, *rest: x[None, :])
after("None on collapse", lambda x, *rest: x if np.any(x) else None)
after("a dictionary", lambda x, *rest: {"x": x})
after("a status string", lambda x, *rest: "optimal")


@wrong("step", "A changed in place")
def a_changed(A, B, y, rho, eps, tau):
    A += tau * np.eye(len(y))
    return argmin(B, tau, A @ y, rho_eps(rho, eps) / (np.abs(y) + eps))


@wrong("step", "y changed in place")
def y_changed(A, B, y, rho, eps, tau):
    y[:] = right_step(A, B, y, rho, eps, tau)
    return y.copy()


@wrong("step", "float32 inside")
def single_step(A, B, y, rho, eps, tau):
    f = np.float32
    A, B, y = A.astype(f), B.astype(f), y.astype(f)
    c = A @ y + f(tau) * y
    return argmin(B.astype(float), tau, c, f(rho_eps(rho, eps)) / (np.abs(y) + f(eps))).astype(f).astype(float)


@wrong_factory("step", "B's factor remembered by its size")
def stale_factor():
    known: dict[int, Any] = {}

    def solver(A, B, y, rho, eps, tau):
        c, p = parts(A, y, rho, eps, tau)
        return argmin(known.setdefault(len(y), B.copy()), tau, c, p)

    return solver


@wrong_factory("step", "answer remembered by the array's identity")
def stale_identity():
    known: dict[int, Any] = {}

    def solver(A, B, y, rho, eps, tau):
        if id(A) not in known:
            known[id(A)] = (A, right_step(A, B, y, rho, eps, tau))
        return known[id(A)][1]

    return solver


@wrong_factory("step", "A remembered, ρ forgotten")
def stale_rho():
    known: dict[Any, Any] = {}

    def solver(A, B, y, rho, eps, tau):
        key = (A.tobytes(), B.tobytes(), y.tobytes(), eps, tau)
        if key not in known:
            known[key] = right_step(A, B, y, rho, eps, tau)
        return known[key]

    return solver


@wrong_factory("step", "answer remembered by two decimals of the data")
def stale_decimals():
    known: dict[Any, Any] = {}

    def solver(A, B, y, rho, eps, tau):
        key = tuple(np.round(np.concatenate([A.ravel(), B.ravel(), y, [rho, eps, tau]]), 2))
        if key not in known:
            known[key] = right_step(A, B, y, rho, eps, tau)
        return known[key]

    return solver


@wrong_factory("step", "the same array handed out again")
def one_buffer():
    buffers: dict[int, Any] = {}

    def solver(A, B, y, rho, eps, tau):
        x = buffers.setdefault(len(y), np.empty(len(y)))
        x[:] = right_step(A, B, y, rho, eps, tau)
        return x

    return solver


@wrong_factory("step", "second call of a size is off")
def second_call():
    seen: set[Any] = set()

    def solver(A, B, y, rho, eps, tau):
        x = right_step(A, B, y, rho, eps, tau)
        key = A.tobytes()
        if key in seen:
            return x * 0.99
        seen.add(key)
        return x

    return solver


@wrong("step", "memory read in C order whatever it is")
def layout_blind(A, B, y, rho, eps, tau):
    flat = np.ascontiguousarray(A) if A.flags.c_contiguous else A.ravel(order="K").reshape(A.shape)
    flat_y = y if y.flags.c_contiguous else y[::-1].copy()
    return right_step(flat, B, flat_y, rho, eps, tau)


@wrong("step", "50 proximal-gradient steps")
def few_steps(A, B, y, rho, eps, tau):
    c, p = parts(A, y, rho, eps, tau)
    x, size = y.copy(), tau + np.max(np.abs(c)) + 1e-12
    for _ in range(50):
        z = x - (tau * x - c) / size
        z = np.sign(z) * np.maximum(0, np.abs(z) - 0.5 * p / size)
        x = z / max(1.0, b_norm(B, z))
    return x


@wrong("step", "projection by scaling in place of the constraint")
def scaled_projection(A, B, y, rho, eps, tau):
    c, p = parts(A, y, rho, eps, tau)
    z = np.sign(c) * np.maximum(0, np.abs(c) - 0.5 * p)
    z = z / tau if tau > 0 else z * 1e6
    return z / max(1.0, b_norm(B, z))


@wrong("step", "thresholds in whitened variables")
def whitened_threshold(A, B, y, rho, eps, tau):
    c, p = parts(A, y, rho, eps, tau)
    L = np.linalg.cholesky(B)
    d = np.linalg.solve(L, c)
    z = np.sign(d) * np.maximum(0, np.abs(d) - 0.5 * p)
    return np.linalg.solve(L.T, z / max(tau, np.linalg.norm(z), 1e-300))


@wrong("step", "small eigenvalues of B raised, as lstsq does")
def truncated(A, B, y, rho, eps, tau):
    w, V = np.linalg.eigh(B)
    raised = (V * np.maximum(w, 1e-6 * w[-1])) @ V.T
    return right_step(A, B if w[0] > 1e-6 * w[-1] else 0.5 * (raised + raised.T), y, rho, eps, tau)


@wrong("step", "the LASSO's scaling for every τ")
def rescaled_lasso(A, B, y, rho, eps, tau):
    c, p = parts(A, y, rho, eps, tau)
    z = argmin(B, 0.0, c, p)
    length = float(c @ z) - 0.5 * float(p @ np.abs(z))
    return z * max(0.0, length) / max(tau, length, 1e-300)


@wrong("step", "hard threshold for soft")
def hard_threshold(A, B, y, rho, eps, tau):
    c, p = parts(A, y, rho, eps, tau)
    return argmin(B, tau, np.where(np.abs(c) > 0.5 * p, c, 0.0), np.zeros(len(y)))


@wrong("step", "thresholds after solving without penalty")
def late_threshold(A, B, y, rho, eps, tau):
    c, p = parts(A, y, rho, eps, tau)
    x = argmin(B, tau, c, np.zeros(len(y)))
    x = np.sign(x) * np.maximum(0, np.abs(x) - 0.5 * p)
    return x / max(1.0, b_norm(B, x))


@wrong("step", "raises for one variable")
def refuses_one(A, B, y, rho, eps, tau):
    if len(y) == 1:
        raise ValueError("need at least two variables")
    return right_step(A, B, y, rho, eps, tau)


@wrong("step", "divides by τ")
def divides(A, B, y, rho, eps, tau):
    if tau == 0:
        raise ZeroDivisionError("float division by zero")
    return right_step(A, B, y, rho, eps, tau)


# ── right steps of other make ────────────────────────────────────────────────────────────────────


@right("step", "dual bounded least squares and a root in μ")
def dual_step(A, B, y, rho, eps, tau):
    from scipy.optimize import lsq_linear

    c, p = parts(A, y, rho, eps, tau)
    size = np.max(np.abs(c))
    if size == 0 or np.all(np.abs(c) <= 0.5 * p):
        return np.zeros(len(y))
    half = np.minimum(0.5 * p / size, 1e3 * np.max(np.sqrt(np.diag(B))) / np.min(np.sqrt(np.diag(B))) * 1e3)

    def at(M):
        d = np.sqrt(np.diag(M))
        T = solve_triangular(cholesky(M / np.outer(d, d), lower=True), np.diag(1 / d), lower=True)
        free = half > 0
        u = np.zeros(len(y))
        if free.any():
            u[free] = lsq_linear(
                T[:, free], T @ (c / size), (-half[free], half[free]), method="bvls", tol=1e-14, max_iter=2000
            ).x
        return T.T @ (T @ (c - size * u))

    if tau == 0:
        z = at(B)
        return z / b_norm(B, z)
    eye = np.eye(len(y))
    x = at(tau * eye)
    if b_norm(B, x) <= 1:
        return x
    top = math.sqrt(max(float(c @ np.linalg.solve(B, c)), 0)) * 2
    mu = brentq(lambda m: b_norm(B, at(tau * eye + m * B)) - 1, 0, top, xtol=1e-14 * top, rtol=1e-14)
    x = at(tau * eye + mu * B)
    return x / max(1.0, b_norm(B, x))


def cvxpy_step(solver_name, **options):
    def solver(A, B, y, rho, eps, tau):
        import cvxpy as cp

        n = len(y)
        c, p = parts(A, y, rho, eps, tau)
        x = cp.Variable(n)
        objective = -2 * c @ x + p @ cp.abs(x)
        if tau > 0:
            objective += tau * cp.sum_squares(x)
        R = np.linalg.cholesky(B).T
        problem = cp.Problem(cp.Minimize(objective), [cp.norm2(R @ x) <= 1])
        problem.solve(solver=solver_name, **options)
        return x.value

    return solver


RIGHT.append(Entry("step", "CVXPY with Clarabel, default accuracy", lambda: cvxpy_step("CLARABEL"), "interior-point"))
RIGHT.append(Entry("step", "CVXPY with ECOS, default accuracy", lambda: cvxpy_step("ECOS"), "interior-point"))


# with Anderson acceleration SCS 3.3 ends at xᵀBx = 1e7 on a pencil of two variables, and says so by a warning alone
PLAIN_SCS = {"eps_abs": 1e-8, "eps_rel": 1e-8, "acceleration_lookback": 0}
RIGHT.append(Entry("step", "CVXPY with SCS at 1e-8", lambda: cvxpy_step("SCS", **PLAIN_SCS), "interior-point"))


def lasso(M, c, p):
    """min xᵀMx − 2cᵀx + pᵀ|x| by feature-sign search: one variable in at a time, out when its sign turns."""
    d = np.sqrt(np.diag(M))
    size = np.max(np.abs(c) / d)
    M, c, p = M / np.outer(d, d), c / d / size, p / d / size
    x, on = np.zeros(len(c)), list[int]()
    for _ in range(50 * len(c) + 100):
        slope = c - M @ x
        excess = np.where(np.isin(np.arange(len(c)), on), -1.0, np.abs(slope) - 0.5 * p)
        j = int(np.argmax(excess))
        if excess[j] <= 1e-13:
            break
        on.append(j)
        signs = np.where(x != 0, np.sign(x), np.sign(slope))
        while on:
            old, new = x[on], np.linalg.solve(M[np.ix_(on, on)], (c - 0.5 * p * signs)[on])
            turned = [i for i in range(len(on)) if new[i] * signs[on[i]] < 0]
            if not turned:
                x[on] = new
                break
            share, i = min((old[i] / (old[i] - new[i]), i) for i in turned)
            x[on] = old + share * (new - old)
            x[on[i]] = 0.0
            on.pop(i)
    return x * size / d


@right("step", "feature-sign search and a root in μ")
def feature_sign_step(A, B, y, rho, eps, tau):
    A, B, y = (np.asarray(v, float) for v in (A, B, y))
    c, p = parts(A, y, rho, eps, tau)
    if np.all(2 * np.abs(c) <= p):
        return np.zeros(len(y))
    if tau == 0:
        return unit_of(B, lasso(B, c, p))
    x = lasso(tau * np.eye(len(y)), c, p)
    if b_norm(B, x) <= 1:
        return x
    top = 1.001 * math.sqrt(float(c @ np.linalg.solve(B, c)))
    mu = brentq(lambda m: b_norm(B, lasso(tau * np.eye(len(y)) + m * B, c, p)) - 1, 0, top, xtol=1e-15 * top)
    return unit_of(B, lasso(tau * np.eye(len(y)) + mu * B, c, p))


RIGHT.append(
    Entry("step", "feature-sign search at the tolerance of a closed form", lambda: feature_sign_step, "closed")
)


@right("step", "answers as a list")
def list_step(*args):
    return right_step(*args).tolist()


@right("step", "answers as a column")
def column_step(*args):
    return right_step(*args)[:, None]


@right("step", "answers rounded to float32")
def rounded_step(*args):
    return right_step(*args).astype(np.float32)


@right("step", "noisy and warning")
def noisy_step(*args):
    import warnings

    print("iteration 1")
    warnings.warn("slow", stacklevel=1)
    return right_step(*args)


# ── runs ─────────────────────────────────────────────────────────────────────────────────────────


def soft_run(A, rho, eps, x0, *, steps=3000, stop=1e-11, weight=None, half=0.5, finish=None):
    """Algorithm 2."""
    r = rho_eps(rho, eps)
    x = np.array(x0, float)
    for _ in range(steps):
        w = 1 / (np.abs(x) + eps) if weight is None else weight(x, eps)
        c = A @ x
        z = np.sign(c) * np.maximum(0, np.abs(c) - half * r * w)
        norm = np.linalg.norm(z)
        new = z / norm if norm > 0 else z
        moved = np.linalg.norm(new - x)
        x = new
        if moved <= stop:
            break
    return x if finish is None else finish(x)


def general_run(A, B, rho, eps, x0, *, steps=3000, stop=1e-11, shift="identity", tau=None, change=None):
    """Algorithm 1, by the active-set walk."""
    program = SparseGEV(Pencil(A, B), rho, eps, tau=tau, shift=shift)
    x = np.array(x0, float)
    for _ in range(steps):
        if not program.linear(x).any():
            return 0.0 * x if rho > 0.0 else x
        sub = surrogate_at(program, x)
        if change is not None:
            sub = change(sub)
        new = minimiser(sub, x)
        moved = b_norm(B, new - x)
        x = new
        if moved <= stop:
            break
    return x


@right("pca", "Algorithm 2")
def right_pca(A, rho, eps, x0):
    return soft_run(A, rho, eps, x0)


@right("pca", "Algorithm 2, stopped at 1e-6")
def loose_pca(A, rho, eps, x0):
    return soft_run(A, rho, eps, x0, steps=1000, stop=1e-6)


@right("pca", "Algorithm 2, 500 steps")
def many_pca(A, rho, eps, x0):
    return soft_run(A, rho, eps, x0, steps=500)


@right("pca", "Algorithm 2 in lists and floats")
def listed_pca(A, rho, eps, x0):
    rows, x = [[float(v) for v in row] for row in A], [float(v) for v in x0]
    half = 0.5 * rho / math.log1p(1 / eps)
    for _ in range(3000):
        c = [sum(a * b for a, b in zip(row, x, strict=True)) for row in rows]
        z = [math.copysign(max(0.0, abs(u) - half / (abs(v) + eps)), u) for u, v in zip(c, x, strict=True)]
        size = math.hypot(*z)
        new = [v / size for v in z] if size > 0 else z
        moved, x = max(abs(a - b) for a, b in zip(new, x, strict=True)), new
        if moved < 1e-10:
            break
    return x


@right("pca", "proximal gradient steps")
def proximal_pca(A, rho, eps, x0):
    L, half, x = np.linalg.eigvalsh(A)[-1] or rho or 1.0, 0.5 * rho_eps(rho, eps), np.array(x0, float)
    for _ in range(20000):
        v = x + A @ x / L
        z = np.sign(v) * np.maximum(0, np.abs(v) - half / (np.abs(x) + eps) / L)
        new = z / max(1.0, np.linalg.norm(z))
        moved, x = np.linalg.norm(new - x), new
        if moved < 1e-11:
            break
    return x


@right("pca", "Algorithm 2, answers −x")
def minus_pca(A, rho, eps, x0):
    return -soft_run(A, rho, eps, x0)


@right("pca", "Algorithm 2 with a shift τ > 0")
def shifted_pca(A, rho, eps, x0):
    tau = 0.3 * np.linalg.eigvalsh(A)[-1] or rho
    r, x = rho_eps(rho, eps), np.array(x0, float)
    for _ in range(6000):
        c = A @ x + tau * x
        z = np.sign(c) * np.maximum(0, np.abs(c) - 0.5 * r / (np.abs(x) + eps))
        new = z / max(tau, np.linalg.norm(z))
        moved, x = np.linalg.norm(new - x), new
        if moved <= 1e-12:
            break
    return x


@right("pca", "Algorithm 1 with the walk")
def walked_pca(A, rho, eps, x0):
    return general_run(A, np.eye(len(A)), rho, eps, x0)


def pca_wrong(name, **settings):
    WRONG.append(Entry("pca", name, lambda: lambda A, rho, eps, x0: soft_run(A, rho, eps, x0, **settings)))


pca_wrong("penalty doubled", half=1.0)
pca_wrong("penalty halved", half=0.25)
pca_wrong("weights 0 at 0", weight=lambda x, e: np.where(x == 0, 0, 1 / (np.abs(x) + e)))
pca_wrong("weights without ε", weight=lambda x, e: 1 / np.maximum(np.abs(x), 1e-300))
pca_wrong("weights squared", weight=lambda x, e: 1 / (np.abs(x) + e) ** 2)
pca_wrong("weights 1/(x + ε)", weight=lambda x, e: 1 / np.abs(x + e + 1e-300))
pca_wrong("weights 1", weight=lambda x, e: np.ones(len(x)))
pca_wrong("weights 1/max(|x|, ε)", weight=lambda x, e: 1 / np.maximum(np.abs(x), e))
pca_wrong("ε clipped at 1e-3", weight=lambda x, e: 1 / (np.abs(x) + max(e, 1e-3)))
pca_wrong("one step", steps=1)
pca_wrong("ten steps", steps=10)
pca_wrong("100 steps", steps=100)
pca_wrong("200 steps", steps=200)
pca_wrong("stops at 1e-3", stop=1e-3)
pca_wrong("stops at 1e-4", stop=1e-4)
pca_wrong("absolute values", finish=np.abs)
pca_wrong("rounded to 3 decimals", finish=lambda x: np.round(x, 3))
pca_wrong("entries below 0.05 cut", finish=lambda x: np.where(np.abs(x) < 0.05, 0, x))
pca_wrong("entries below 1e-2 cut", finish=lambda x: np.where(np.abs(x) < 1e-2, 0, x))
pca_wrong("entries below 1e-3 cut", finish=lambda x: np.where(np.abs(x) < 1e-3, 0, x))
pca_wrong("unit ℓ1 norm", finish=lambda x: x / np.sum(np.abs(x)) if x.any() else x)
pca_wrong("float32 answer in float64", finish=lambda x: x.astype(np.float32).astype(float))
pca_wrong("sorted", finish=np.sort)
pca_wrong("renormalised off the support", finish=lambda x: (x + 1e-3) / np.linalg.norm(x + 1e-3))


@wrong("pca", "float32 throughout, and the answer says so")
def single_pca(A, rho, eps, x0):
    f = np.float32
    A, x, r, e = A.astype(f), x0.astype(f), f(rho_eps(rho, eps)), f(eps)
    with np.errstate(all="ignore"):
        for _ in range(2000):
            c = A @ x
            z = np.sign(c) * np.maximum(f(0), np.abs(c) - f(0.5) * r / (np.abs(x) + e))
            size = np.sqrt(np.sum(z * z))
            x, old = (z / size if size > 0 else z), x
            if not np.linalg.norm(x - old) > 1e-7:
                break
    return x


@wrong("pca", "A rounded to float32")
def rounded_pca(A, rho, eps, x0):
    with np.errstate(all="ignore"):
        return soft_run(single_of(A), rho, eps, x0)


@wrong("pca", "weights of x0 kept")
def frozen_pca(A, rho, eps, x0):
    kept = 1 / (np.abs(x0) + eps)
    return soft_run(A, rho, eps, x0, weight=lambda x, e: kept)


@wrong("pca", "renormalised on its support")
def renormalised_pca(A, rho, eps, x0):
    return renormalised(A, np.eye(len(A)), soft_run(A, rho, eps, x0))


@wrong("pca", "x0 ignored: leading eigenvector")
def pca_eigen(A, rho, eps, x0):
    return soft_run(A, rho, eps, np.linalg.eigh(A)[1][:, -1])


@wrong("pca", "x0 ignored: constant vector")
def pca_ones(A, rho, eps, x0):
    return soft_run(A, rho, eps, np.ones(len(A)) / np.sqrt(len(A)))


@wrong("pca", "returns the leading eigenvector")
def pca_dense(A, rho, eps, x0):
    return np.linalg.eigh(A)[1][:, -1]


@wrong("pca", "returns x0")
def pca_start(A, rho, eps, x0):
    return x0


@wrong("pca", "returns 0")
def pca_zero(A, rho, eps, x0):
    return np.zeros(len(A))


@wrong("pca", "returns the best single variable")
def pca_single(A, rho, eps, x0):
    return np.eye(len(A))[np.argmax(np.diag(A))]


@wrong("pca", "log(1 + 1/ε) forgotten")
def pca_log(A, rho, eps, x0):
    return soft_run(A, rho * np.log1p(1 / eps), eps, x0)


@wrong("pca", "log10")
def pca_log10(A, rho, eps, x0):
    return soft_run(A, rho * np.log(10), eps, x0)


@wrong("pca", "0/0 on collapse")
def pca_collapse(A, rho, eps, x0):
    x = soft_run(A, rho, eps, x0)
    return x if x.any() else np.full(len(A), np.nan)


@wrong("pca", "negative entries lost")
def pca_positive(A, rho, eps, x0):
    return soft_run(A, rho, eps, np.maximum(soft_run(A, rho, eps, x0), 0))


@wrong("pca", "threshold at an absolute 1e-4")
def pca_absolute(A, rho, eps, x0):
    return soft_run(A, rho, eps, x0) if np.max(np.abs(A)) > 1e-4 else np.zeros(len(A))


@wrong("pca", "wrong beyond 50 variables")
def pca_large(A, rho, eps, x0):
    return soft_run(A, rho, eps, x0, steps=3000 if len(A) <= 50 else 1)


@wrong("pca", "ρ doubled at tiny ε")
def pca_tiny(A, rho, eps, x0):
    return soft_run(A, rho * (2 if eps < 1e-10 else 1), eps, x0)


@wrong("pca", "x0 changed in place")
def pca_inplace(A, rho, eps, x0):
    x0[:] = soft_run(A, rho, eps, x0)
    return x0.copy()


@right("algorithm", "Algorithm 1 with the walk")
def right_algorithm(A, B, rho, eps, x0):
    return general_run(A, B, rho, eps, x0)


@right("algorithm", "the split in B's metric")
def metric_algorithm(A, B, rho, eps, x0):
    return general_run(A, B, rho, eps, x0, shift="metric")


@right("algorithm", "the split in B's metric by feature-sign search, stopped at 1e-7")
def lasso_algorithm(A, B, rho, eps, x0):
    tau, r, x = max(0.0, -float(eigh(A, B, eigvals_only=True)[0])), rho_eps(rho, eps), np.array(x0, float)
    for _ in range(2000):
        c, p = A @ x + tau * (B @ x), r / (np.abs(x) + eps)
        z = lasso(B, c, p) if np.any(2 * np.abs(c) > p) else np.zeros(len(x))
        new = z / max(tau, b_norm(B, z), 1e-300)
        moved, x = b_norm(B, new - x), new
        if moved < 1e-7:
            break
    return x


@right("algorithm", "a larger τ")
def larger_algorithm(A, B, rho, eps, x0):
    tau = 1.3 * max(0.0, -np.linalg.eigvalsh(A)[0]) + 0.05 * np.max(np.abs(A))
    return general_run(A, B, rho, eps, x0, tau=tau)


def algorithm_wrong(name, function):
    WRONG.append(Entry("algorithm", name, lambda: function))


def unshifted(A, B, rho, eps, x0):
    x = np.array(x0, float)
    r = rho_eps(rho, eps)
    for _ in range(60):
        new = argmin(B, 0.0, A @ x, r / (np.abs(x) + eps))
        if b_norm(B, new - x) < 1e-11:
            break
        x = new
    return x


algorithm_wrong("τ forgotten", unshifted)
algorithm_wrong(
    "B = I",
    lambda A, B, rho, eps, x0: (lambda x: x / max(1, b_norm(B, x)))(
        general_run(A, np.eye(len(A)), rho, eps, x0 / max(1, np.linalg.norm(x0)))
    ),
)
algorithm_wrong(
    "B diagonal",
    lambda A, B, rho, eps, x0: (lambda x: x / max(1, b_norm(B, x)))(
        general_run(A, np.diag(np.diag(B)), rho, eps, x0 * 0.5)
    ),
)
algorithm_wrong("penalty doubled", lambda A, B, rho, eps, x0: general_run(A, B, 2 * rho, eps, x0))
algorithm_wrong("penalty halved", lambda A, B, rho, eps, x0: general_run(A, B, rho / 2, eps, x0))
algorithm_wrong("log forgotten", lambda A, B, rho, eps, x0: general_run(A, B, rho * np.log1p(1 / eps), eps, x0))
algorithm_wrong("one step", lambda A, B, rho, eps, x0: general_run(A, B, rho, eps, x0, steps=1))
algorithm_wrong("20 steps", lambda A, B, rho, eps, x0: general_run(A, B, rho, eps, x0, steps=20))
algorithm_wrong("stops at 1e-3", lambda A, B, rho, eps, x0: general_run(A, B, rho, eps, x0, stop=1e-3))
algorithm_wrong("stops at 1e-4", lambda A, B, rho, eps, x0: general_run(A, B, rho, eps, x0, stop=1e-4))
algorithm_wrong(
    "unit 2-norm",
    lambda A, B, rho, eps, x0: (lambda x: x / np.linalg.norm(x) if x.any() else x)(general_run(A, B, rho, eps, x0)),
)
algorithm_wrong(
    "x0 ignored", lambda A, B, rho, eps, x0: general_run(A, B, rho, eps, eigh(A, B)[1][:, -1] * (1 - 1e-12))
)
algorithm_wrong("returns the leading eigenvector", lambda A, B, rho, eps, x0: eigh(A, B)[1][:, -1])
algorithm_wrong("ε clipped at 1e-6", lambda A, B, rho, eps, x0: general_run(A, B, rho, max(eps, 1e-6), x0))
algorithm_wrong("1 % short of the boundary", lambda A, B, rho, eps, x0: 0.99 * general_run(A, B, rho, eps, x0))
algorithm_wrong(
    "renormalised on its support", lambda A, B, rho, eps, x0: renormalised(A, B, general_run(A, B, rho, eps, x0))
)
algorithm_wrong("penalty in whitened variables", lambda A, B, rho, eps, x0: whitened_run(A, B, rho, eps, x0))
algorithm_wrong("A's negative eigenvalues cut", lambda A, B, rho, eps, x0: general_run(cut_off(A), B, rho, eps, x0))
algorithm_wrong(
    "entries below 1e-3 of the largest cut",
    lambda A, B, rho, eps, x0: (lambda x: np.where(np.abs(x) < 1e-3 * np.max(np.abs(x)), 0, x))(
        general_run(A, B, rho, eps, x0, shift="metric")
    ),
)
algorithm_wrong("absolute values", lambda A, B, rho, eps, x0: np.abs(general_run(A, B, rho, eps, x0)))
algorithm_wrong(
    "ρ = 0 ignored penalty at large ε",
    lambda A, B, rho, eps, x0: general_run(A, B, rho if eps < 0.5 else 0.0, eps, x0),
)


def whitened_run(A, B, rho, eps, x0):
    L = np.linalg.cholesky(B)
    W = np.linalg.solve(L, np.linalg.solve(L, A).T)
    W = 0.5 * (W + W.T) + max(0.0, -float(eigh(A, B, eigvals_only=True)[0])) * np.eye(len(A))
    return np.linalg.solve(L.T, soft_run(W, rho, eps, L.T @ x0))


def cut_off(A):
    w, V = np.linalg.eigh(A)
    return (V * np.maximum(w, 0)) @ V.T


def renormalised(A, B, x):
    on = np.flatnonzero(x)
    if not len(on):
        return x
    z = np.zeros(len(x))
    z[on] = eigh(A[np.ix_(on, on)], B[np.ix_(on, on)])[1][:, -1]
    return z


# ── FDA ──────────────────────────────────────────────────────────────────────────────────────────


def fda_argmin(a, B, y, p):
    program = SparseFDA(a, B, 1.0, 1.0)
    scaling = Scaling.of_program(program)
    start = program.start()
    value = float(start @ B @ start) + float(p @ np.abs(start))
    cap = 2.02 * value * np.abs(a) + 2.02 * np.sqrt(np.diag(B) * value)
    metric = Metric(program.pencil, scaling.u / np.sqrt(scaling.o))
    cost = scaling.cost(np.minimum(p, cap))
    sub = Surrogate(scaling, metric, np.zeros(len(a)), cost, 1.0, True, program.a * scaling.u)
    return minimiser(sub, start, 20 * len(a) + 100)


def fda_p(y, nu, eps):
    return rho_eps(nu, eps) / (np.abs(y) + eps)


@right("fda", "active-set walk")
def right_fda(a, B, y, nu, eps):
    y = np.asarray(y, float)
    program = SparseFDA(a, B, nu, eps)
    return minimiser(surrogate_at(program, y / float(np.asarray(a, float) @ y)), y, 2000)


@right("fda", "CVXPY with Clarabel, default accuracy", "interior-point")
def cvxpy_fda(a, B, y, nu, eps):
    import cvxpy as cp

    x = cp.Variable(len(a))
    p = fda_p(y, nu, eps)
    value = 1 / float(a @ np.linalg.solve(B, a))
    problem = cp.Problem(
        cp.Minimize((cp.sum_squares(np.linalg.cholesky(B).T @ x) + p @ cp.abs(x)) / value), [a @ x == 1]
    )
    problem.solve(solver="CLARABEL")
    return x.value


def fda_wrong(name, function):
    WRONG.append(Entry("fda", name, lambda: function))


fda_wrong("penalty doubled", lambda a, B, y, nu, eps: right_fda(a, B, y, 2 * nu, eps))
fda_wrong("penalty halved", lambda a, B, y, nu, eps: right_fda(a, B, y, nu / 2, eps))
fda_wrong("log forgotten", lambda a, B, y, nu, eps: right_fda(a, B, y, nu * np.log1p(1 / eps), eps))
fda_wrong("½xᵀBx", lambda a, B, y, nu, eps: right_fda(a, B / 2, y, nu, eps))
fda_wrong("B = I", lambda a, B, y, nu, eps: right_fda(a, np.eye(len(a)), y, nu, eps))
fda_wrong("B diagonal", lambda a, B, y, nu, eps: right_fda(a, np.diag(np.diag(B)), y, nu, eps))
fda_wrong("aᵀx = −1", lambda a, B, y, nu, eps: -right_fda(a, B, y, nu, eps))
fda_wrong("unit B norm", lambda a, B, y, nu, eps: (lambda x: x / b_norm(B, x))(right_fda(a, B, y, nu, eps)))
fda_wrong("penalty ignored", lambda a, B, y, nu, eps: (lambda z: z / float(a @ z))(np.linalg.solve(B, a)))
fda_wrong("weights 0 at 0", lambda a, B, y, nu, eps: fda_argmin(a, B, y, np.where(y == 0, 0, fda_p(y, nu, eps))))
fda_wrong("weights 1", lambda a, B, y, nu, eps: fda_argmin(a, B, y, rho_eps(nu, eps) * np.ones(len(a))))
fda_wrong(
    "dust below 1e-4 cut",
    lambda a, B, y, nu, eps: (lambda x: np.where(np.abs(x) < 1e-4, 0, x))(right_fda(a, B, y, nu, eps)),
)
fda_wrong("ridge of 1e-3", lambda a, B, y, nu, eps: right_fda(a, B + 1e-3 * np.eye(len(a)), y, nu, eps))
fda_wrong(
    "ε clipped at 1e-12 in the weights",
    lambda a, B, y, nu, eps: fda_argmin(a, B, y, rho_eps(nu, eps) / (np.abs(y) + max(eps, 1e-12))),
)
fda_wrong(
    "a of unit norm", lambda a, B, y, nu, eps: right_fda(a / np.linalg.norm(a), B, y * np.linalg.norm(a), nu, eps)
)
fda_wrong("returns y", lambda a, B, y, nu, eps: y)
fda_wrong("y changed in place", lambda a, B, y, nu, eps: (right_fda(a, B, y, nu, eps), y.__imul__(0))[0])
fda_wrong(
    "positive weights of y only", lambda a, B, y, nu, eps: fda_argmin(a, B, y, np.where(y < 0, 0, fda_p(y, nu, eps)))
)


# ── bounds ───────────────────────────────────────────────────────────────────────────────────────


def lambda_max(A, B):
    return float(eigh(A, B, eigvals_only=True)[-1])


def support_values(A, B, k):
    """Every support of k variables and its λmax, all at once."""
    supports = np.array(list(combinations(range(len(A)), k)))
    rows, columns = supports[:, :, None], supports[:, None, :]
    inverse = np.linalg.inv(np.linalg.cholesky(B[rows, columns]))
    return supports, np.linalg.eigvalsh(inverse @ A[rows, columns] @ inverse.transpose(0, 2, 1))[:, -1]


@right("bound", "λmax(A, B)")
def right_bound(A, B, k):
    return lambda_max(A, B)


@right("bound", "every support")
def exact_bound(A, B, k):
    return float(np.max(support_values(A, B, k)[1]))


@right("bound", "eigenvalues of B⁻¹A")
def unsymmetric_bound(A, B, k):
    return float(np.max(np.linalg.eigvals(np.linalg.solve(B, A)).real))


@right("bound", "whitened by B's eigenvectors")
def whitened_bound(A, B, k):
    w, V = np.linalg.eigh(B)
    T = V / np.sqrt(w)
    return float(np.linalg.eigvalsh(T.T @ A @ T)[-1])


@right("bound", "a random dual matrix, made safe")
def dual_bound(A, B, k):
    rng = np.random.default_rng(0)
    best = lambda_max(A, B)
    d = np.sqrt(np.diag(B))
    for share in (0.0, 0.1, 0.3, 1.0):
        U = -share * np.where(np.eye(len(A)) > 0, 0, np.clip(A / np.outer(d, d), -1, 1)) * np.outer(d, d)
        U = U + 0.01 * share * rng.standard_normal()
        U = (U + U.T) / 2
        b = np.max(np.abs(U) / np.outer(d, d))
        best = min(best, lambda_max(A + U + k * b * np.diag(d * d), B))
    return best


def bound_wrong(name, function):
    WRONG.append(Entry("bound", name, lambda: function))


def greedy(A, B, k):
    chosen: list[int] = []
    for _ in range(k):
        rest = [i for i in range(len(A)) if i not in chosen]
        chosen.append(
            max(
                rest,
                key=lambda i: lambda_max(A[np.ix_([*chosen, i], [*chosen, i])], B[np.ix_([*chosen, i], [*chosen, i])]),
            )
        )
    return lambda_max(A[np.ix_(chosen, chosen)], B[np.ix_(chosen, chosen)])


bound_wrong("greedy value", greedy)
bound_wrong(
    "exact value less 1e-7",
    lambda A, B, k: (
        exact_bound(A, B, k) * (1 - 1e-7)
        if exact_bound(A, B, k) > 0
        else exact_bound(A, B, k) - 1e-7 * abs(exact_bound(A, B, k))
    ),
)
bound_wrong("exact value less 1e-6 absolute", lambda A, B, k: exact_bound(A, B, k) - 1e-6)
bound_wrong("B = I", lambda A, B, k: float(np.linalg.eigvalsh(A)[-1]))
bound_wrong("B diagonal", lambda A, B, k: lambda_max(A, np.diag(np.diag(B))))
bound_wrong("k − 1", lambda A, B, k: exact_bound(A, B, max(1, k - 1)))
bound_wrong("largest diagonal ratio", lambda A, B, k: float(np.max(np.diag(A) / np.diag(B))))
bound_wrong("twice λmax", lambda A, B, k: 2 * lambda_max(A, B))
bound_wrong("infinite", lambda A, B, k: np.inf)
bound_wrong("lower triangle of B⁻¹A", lambda A, B, k: float(np.linalg.eigvalsh(np.linalg.solve(B, A))[-1]))
bound_wrong("singular value / λmax(B)", lambda A, B, k: float(np.linalg.norm(A, 2) / np.linalg.eigvalsh(B)[-1]))
bound_wrong("zero for k = n", lambda A, B, k: lambda_max(A, B) if k < len(A) else 0.0)
bound_wrong("NaN for one variable", lambda A, B, k: lambda_max(A, B) if len(A) > 1 else float("nan"))
bound_wrong("a vector", lambda A, B, k: eigh(A, B, eigvals_only=True))
bound_wrong(
    "budget k for ‖x‖₁² with B = I assumed", lambda A, B, k: min(lambda_max(A, B), k * float(np.max(np.abs(A))))
)
bound_wrong(
    "k largest entries of a row, B = I",
    lambda A, B, k: min(lambda_max(A, B), float(np.max(np.sum(-np.sort(-np.abs(A), axis=1)[:, :k], axis=1)))),
)


def swapped(A, B, k):
    """The best of greedy growth, the eigenvector's largest entries and swaps from the largest variances."""
    x = eigh(A, B)[1][:, -1]
    best = max(greedy(A, B, k), value_on(A, B, list(np.argsort(-np.abs(x))[:k])))
    s = list(np.argsort(-np.diag(A) / np.diag(B))[:k])
    improved = True
    while improved:
        improved = False
        for i in range(k):
            for j in set(range(len(A))) - set(s):
                t = [*s[:i], j, *s[i + 1 :]]
                if value_on(A, B, t) > value_on(A, B, s) + 1e-12:
                    s, improved = t, True
                    break
    return max(best, value_on(A, B, s))


def value_on(A, B, s):
    return lambda_max(A[np.ix_(s, s)], B[np.ix_(s, s)])


bound_wrong("the best of three searches", swapped)
bound_wrong("text", lambda A, B, k: str(lambda_max(A, B)))
bound_wrong("1e-6 too small at k = 1", lambda A, B, k: (v := exact_bound(A, B, k)) - 1e-6 * abs(v) * (k == 1))
bound_wrong(
    "b without its k in the dual bound",
    lambda A, B, k: (lambda U: lambda_max(A + U + np.max(np.abs(U)) * np.eye(len(A)), B))(
        -0.5 * A * (1 - np.eye(len(A)))
    ),
)


def sdp_value(solver, **options):
    def bound(A, B, k):
        import cvxpy as cp

        n = len(A)
        X = cp.Variable((n, n), PSD=True)
        d = np.sqrt(np.diag(B))
        cut = cp.sum(cp.multiply(np.outer(d, d), cp.abs(X))) <= k * cp.sum(cp.multiply(d * d, cp.diag(X)))
        problem = cp.Problem(cp.Maximize(cp.trace(A @ X)), [cp.trace(B @ X) <= 1, cut])
        problem.solve(solver=solver, **options)
        return min(float(problem.value), max(0.0, lambda_max(A, B)))

    return bound


WRONG.append(Entry("bound", "SCS's value of the SDP, trusted", lambda: sdp_value("SCS", eps_abs=1e-4, eps_rel=1e-4)))


# ── k-sparse vectors ─────────────────────────────────────────────────────────────────────────────


def best_support(A, B, k):
    supports, values = support_values(A, B, k)
    return supports[np.argmax(values)]


def on_support(A, B, s):
    x = np.zeros(len(A))
    x[s] = eigh(A[np.ix_(s, s)], B[np.ix_(s, s)])[1][:, -1]
    return x / b_norm(B, x)


@right("cardinality", "every support")
def right_cardinality(A, B, k):
    return on_support(A, B, best_support(A, B, k))


@right("cardinality", "largest entries of the leading eigenvector")
def cut_cardinality(A, B, k):
    x = eigh(A, B)[1][:, -1]
    return on_support(A, B, list(np.sort(np.argsort(-np.abs(x))[:k])))


def cardinality_wrong(name, function):
    WRONG.append(Entry("cardinality", name, lambda: function))


cardinality_wrong("k + 1 nonzeros", lambda A, B, k: right_cardinality(A, B, min(k + 1, len(A))))
cardinality_wrong("unit 2-norm", lambda A, B, k: (lambda x: x / np.linalg.norm(x))(right_cardinality(A, B, k)))
cardinality_wrong("dust of 1e-12", lambda A, B, k: right_cardinality(A, B, k) + 1e-12)
cardinality_wrong("k ignored", lambda A, B, k: eigh(A, B)[1][:, -1])
cardinality_wrong("B diagonal", lambda A, B, k: right_cardinality(A, np.diag(np.diag(B)), k))
cardinality_wrong("0 when λmax < 0", lambda A, B, k: right_cardinality(A, B, k) * (lambda_max(A, B) > 0))
cardinality_wrong(
    "xᵀBx in place of its root", lambda A, B, k: (lambda x: x / float(x @ B @ x))(3 * right_cardinality(A, B, k))
)
cardinality_wrong(
    "fails at k = n", lambda A, B, k: right_cardinality(A, B, k) if k < len(A) else np.linalg.cholesky(-B)[0]
)
cardinality_wrong(
    "small entries cut at 1e-6",
    lambda A, B, k: (lambda x: np.where(np.abs(x) < 1e-6, 0, x))(right_cardinality(A, B, k)),
)
cardinality_wrong(
    "eigenvector cut and not renormalised",
    lambda A, B, k: (lambda x: np.where(np.abs(x) >= np.sort(np.abs(x))[-k], x, 0))(eigh(A, B)[1][:, -1]),
)
cardinality_wrong("the support in place of x", lambda A, B, k: np.array(best_support(A, B, k)))


# ── a second catalogue, written without sight of the kit ─────────────────────────────────────────────


def step_wrong(name, function):
    WRONG.append(Entry("step", name, lambda: function))


def only_for(sizes, factor):
    """ρ̃ multiplied by a factor, for some numbers of variables alone."""
    return lambda n, rho: rho * (factor if sizes(n) else 1.0)


for place, off in (("11", only_for(lambda n: n == 11, 1.05)), ("beyond 40", only_for(lambda n: n > 40, 1.02))):
    step_wrong(
        f"penalty off for n {place}",
        lambda A, B, y, rho, eps, tau, off=off: right_step(A, B, y, off(len(y), rho), eps, tau),
    )
    WRONG.append(
        Entry(
            "fda",
            f"penalty off for n {place}",
            lambda off=off: lambda a, B, y, nu, eps: right_fda(a, B, y, off(len(a), nu), eps),
        )
    )
    WRONG.append(
        Entry(
            "pca",
            f"penalty off for n {place}",
            lambda off=off: lambda A, rho, eps, x0: right_pca(A, off(len(x0), rho) * 1.0, eps, x0),
        )
    )
algorithm_wrong(
    "penalty off for n beyond 20",
    lambda A, B, rho, eps, x0: general_run(A, B, rho * (1.2 if len(x0) > 20 else 1), eps, x0, shift="metric"),
)
step_wrong(
    "τ in single precision", lambda A, B, y, rho, eps, tau: right_step(A, B, y, rho, eps, float(np.float32(tau)))
)
step_wrong(
    "ρ̃ in single precision", lambda A, B, y, rho, eps, tau: right_step(A, B, y, float(np.float32(rho)), eps, tau)
)
variant("weights in single precision", lambda A, B, y, r, e, t, c, p: (B, t, c, single_of(p)))
variant("linear term rounded to single precision", lambda A, B, y, r, e, t, c, p: (B, t, single_of(c), p))
variant("ε above 1 clipped", lambda A, B, y, r, e, t, c, p: (B, t, c, rho_eps(r, min(e, 1)) / (abs(y) + min(e, 1))))
step_wrong(
    "y returned where A = 0", lambda A, B, y, rho, eps, tau: right_step(A, B, y, rho, eps, tau) if A.any() else y
)


@wrong("step", "repeated eigenvalues of B counted once")
def distinct_spectrum(A, B, y, rho, eps, tau):
    x = right_step(A, B, y, rho, eps, tau)
    values, vectors = np.linalg.eigh(B)
    once = np.r_[True, np.diff(values) > 1e-9 * values[-1]]
    c = vectors.T @ (A @ y + tau * y)

    def room(mu):
        return float(np.sum((values * (c / (tau + mu * values)) ** 2)[once])) - 1.0

    if rho > 0 or tau == 0 or float(x @ B @ x) < 1 - 1e-9:
        return x
    mu = brentq(room, 0.0, 1e9, xtol=1e-300, rtol=1e-15, maxiter=500) if room(0.0) > 0 else 0.0
    z = vectors @ (c / (tau + mu * values))
    return z / max(1.0, b_norm(B, z))


@wrong_factory("step", "B remembered by its identity")
def stale_metric():
    kept: dict[int, Any] = {}

    def solver(A, B, y, rho, eps, tau):
        return right_step(A, kept.setdefault(id(B), (B, B.copy()))[1], y, rho, eps, tau)

    return solver


@wrong_factory("step", "answers remembered by ten digits")
def stale_digits():
    kept: dict[Any, Any] = {}

    def solver(A, B, y, rho, eps, tau):
        key = tuple(f"{float(v):.10g}" for part in (A, B, y, rho, eps, tau) for v in np.ravel(part))
        return kept.setdefault(key, right_step(A, B, y, rho, eps, tau)).copy()

    return solver


@wrong_factory("pca", "the first call returns its start")
def cold_start():
    calls: list[int] = []

    def solver(A, rho, eps, x0):
        calls.append(1)
        return right_pca(A, rho, eps, x0) if len(calls) > 1 else np.array(x0)

    return solver


fda_wrong("a in single precision", lambda a, B, y, nu, eps: right_fda(single_of(a), B, y, nu, eps))
fda_wrong("B in single precision", lambda a, B, y, nu, eps: right_fda(a, single_of(B), y, nu, eps))
fda_wrong("y in single precision", lambda a, B, y, nu, eps: fda_argmin(a, B, y, fda_p(single_of(y), nu, eps)))
fda_wrong("weights in single precision", lambda a, B, y, nu, eps: fda_argmin(a, B, y, single_of(fda_p(y, nu, eps))))
fda_wrong("ε above 1 clipped", lambda a, B, y, nu, eps: right_fda(a, B, y, nu, min(eps, 1.0)))


@wrong("fda", "variables with aᵢ = 0 left out")
def seen_fda(a, B, y, nu, eps):
    s = np.flatnonzero(a)
    x = np.zeros(len(a))
    x[s] = fda_argmin(a[s], B[np.ix_(s, s)], y[s], fda_p(y[s], nu, eps))
    return x


pca_wrong("ε above 1 clipped in the weights", weight=lambda x, e: 1 / (np.abs(x) + min(e, 1.0)))


@wrong("pca", "zeros of x0 filled with 1e-3")
def filled_pca(A, rho, eps, x0):
    return right_pca(A, rho, eps, np.where(x0 == 0, 1e-3, x0) if x0.any() else x0)


@wrong("pca", "penalty off where λmax is repeated")
def tied_pca(A, rho, eps, x0):
    top = np.linalg.eigvalsh(A)[-2:]
    return right_pca(A, rho * (1.5 if len(top) > 1 and top[1] - top[0] < 1e-9 * top[1] else 1), eps, x0)


algorithm_wrong("200 steps", lambda A, B, rho, eps, x0: general_run(A, B, rho, eps, x0, steps=200))
algorithm_wrong("ε above 1 clipped", lambda A, B, rho, eps, x0: general_run(A, B, rho, min(eps, 1.0), x0))
bound_wrong("too small beyond 12 variables", lambda A, B, k: lambda_max(A, B) * (0.99 if len(A) > 12 else 1))
cardinality_wrong(
    "unit 2-norm beyond 40 variables",
    lambda A, B, k: (lambda x: x / np.linalg.norm(x) if len(x) > 40 else x)(cut_cardinality(A, B, k)),
)


# ── a third catalogue: right nearly everywhere, and faults that show late or in one layout ───────────


def is_diagonal(B):
    return not np.any(B - np.diag(np.diag(B)))


def off_where(name, condition, factor=1.05):
    """A step whose penalty is off by a factor where a condition on its data holds."""
    variant(name, lambda A, B, y, r, e, t, c, p: (B, t, c, p * (factor if condition(A, B, y, e, c, p) else 1.0)))


off_where("penalty off for n from 30 to 33", lambda A, B, y, e, c, p: 30 <= len(y) <= 33)
off_where("penalty off beyond 64 variables", lambda A, B, y, e, c, p: len(y) > 64)
off_where("penalty off for ε between 1e-7 and 1e-5", lambda A, B, y, e, c, p: 1e-7 <= e <= 1e-5)
off_where("penalty off for ε above 5", lambda A, B, y, e, c, p: e > 5)
off_where("penalty dropped below 1e-3 of c", lambda A, B, y, e, c, p: np.max(p) < 1e-3 * np.max(np.abs(c)), 0.0)
off_where("penalty off where B is diagonal", lambda A, B, y, e, c, p: is_diagonal(B) and np.ptp(np.diag(B)) > 0)
off_where(
    "penalty off where B = bI", lambda A, B, y, e, c, p: is_diagonal(B) and np.ptp(np.diag(B)) == 0 and B[0, 0] != 1
)
off_where("penalty off where A is singular", lambda A, B, y, e, c, p: np.linalg.matrix_rank(A) < len(A))
off_where(
    "penalty off where entries of |c| tie",
    lambda A, B, y, e, c, p: np.any(np.diff(np.sort(np.abs(c))) < 1e-12 * np.max(np.abs(c))),
)
off_where("penalty off where y has one nonzero", lambda A, B, y, e, c, p: np.count_nonzero(y) == 1 < len(y))
after("normalised when the norm is above 0.999", lambda x, A, B, *rest: unit_of(B, x) if b_norm(B, x) > 0.999 else x)


@wrong("step", "variables without variance left out")
def idle_step(A, B, y, rho, eps, tau):
    s = np.flatnonzero(np.any(A != 0, axis=1)) if A.any() else np.arange(len(y))
    x = np.zeros(len(y))
    x[s] = right_step(A[np.ix_(s, s)], B[np.ix_(s, s)], y[s], rho, eps, tau)
    return x


@wrong("step", "scaled in place of μ near the boundary")
def scaled_step(A, B, y, rho, eps, tau):
    c, p = parts(A, y, rho, eps, tau)
    z = np.sign(c) * np.maximum(0, np.abs(c) - p / 2) / tau if tau > 0 else np.zeros(len(y))
    return unit_of(B, z) if 1 < b_norm(B, z) < 1.05 else argmin(B, tau, c, p)


@wrong_factory("step", "ε of the call before")
def stale_epsilon():
    seen: list[float] = []

    def solver(A, B, y, rho, eps, tau):
        seen.append(eps)
        return right_step(A, B, y, rho, seen[-2:][0], tau)

    return solver


@wrong_factory("step", "B remembered by its first entry")
def stale_corner():
    kept: dict[Any, Any] = {}

    def solver(A, B, y, rho, eps, tau):
        return right_step(A, kept.setdefault((len(y), B[0, 0]), B.copy()), y, rho, eps, tau)

    return solver


@wrong_factory("pca", "x0 written to at the next call")
def late_pca():
    last: list[Any] = []

    def solver(A, rho, eps, x0):
        if last and last[0].flags.writeable:
            last[0][:] = 7.0
        last[:] = [x0]
        return right_pca(A, rho, eps, x0)

    return solver


@wrong_factory("pca", "started from the last answer of the size")
def warm_pca():
    last: dict[int, Any] = {}

    def solver(A, rho, eps, x0):
        x = right_pca(A, rho, eps, last.get(len(x0), x0))
        if x.any():
            last[len(x0)] = x
        return x.copy()

    return solver


@wrong("pca", "divided by the standard deviations")
def scaled_pca(A, rho, eps, x0):
    d = np.sqrt(np.diag(A))
    with np.errstate(all="ignore"):
        return soft_run(A / np.outer(d, d) * np.outer(d, d), rho, eps, x0)


@wrong("pca", "stopped when f stands still in eight digits")
def still_pca(A, rho, eps, x0):
    x, r, old = np.array(x0, float), rho_eps(rho, eps), math.inf
    for _ in range(3000):
        x = soft_run(A, rho, eps, x, steps=1)
        f = r * float(np.sum(np.log1p(np.abs(x) / eps))) - float(x @ A @ x)
        if abs(f - old) <= 1e-8 * abs(f):
            break
        old = f
    return x


@wrong("pca", "penalty off beyond 64 variables")
def large_pca(A, rho, eps, x0):
    return right_pca(A, rho * (1.1 if len(x0) > 64 else 1.0), eps, x0)


@wrong("algorithm", "penalty in whitened variables where B is diagonal")
def whitened_diagonal(A, B, rho, eps, x0):
    run = whitened_run if is_diagonal(B) else metric_algorithm
    return run(A, B, rho, eps, x0)


fda_wrong("penalty off where a is constant", lambda a, B, y, nu, eps: right_fda(a, B, y, nu * off_constant(a), eps))
fda_wrong(
    "penalty off where a has one nonzero",
    lambda a, B, y, nu, eps: right_fda(a, B, y, nu * (1.1 if np.count_nonzero(a) == 1 < len(a) else 1.0), eps),
)


def off_constant(a):
    return 1.1 if len(a) > 1 and np.ptp(a) == 0 else 1.0


bound_wrong("NaN where A = 0", lambda A, B, k: lambda_max(A, B) if A.any() else float("nan"))
bound_wrong(
    "1e-6 too small for k = n and a dense B",
    lambda A, B, k: (v := lambda_max(A, B)) - 1e-6 * abs(v) * (k == len(A) and B[0, -1] != 0),
)
bound_wrong("exact on the 2k largest variances", lambda A, B, k: largest_variances(A, B, k))


def largest_variances(A, B, k):
    s = list(np.argsort(-np.diag(A) / np.diag(B))[: 2 * k])
    return exact_bound(A[np.ix_(s, s)], B[np.ix_(s, s)], k)


cardinality_wrong("0 where A = 0", lambda A, B, k: cut_cardinality(A, B, k) * A.any())
cardinality_wrong(
    "unit 2-norm where B = bI",
    lambda A, B, k: (lambda x: x / np.linalg.norm(x) if len(x) > 1 and np.ptp(np.diag(B)) == 0 else x)(
        cut_cardinality(A, B, k)
    ),
)


@wrong("cardinality", "B overwritten in Fortran order")
def overwriting(A, B, k):
    x = cut_cardinality(A, B, k)
    if B.flags.f_contiguous and not B.flags.c_contiguous:
        B[...] = np.linalg.cholesky(B)
    return x


@wrong_factory("cardinality", "two arrays handed out in turn")
def two_buffers():
    kept: dict[Any, Any] = {}
    calls = [0]

    def solver(A, B, k):
        calls[0] += 1
        x = kept.setdefault((len(A), calls[0] % 2), np.empty(len(A)))
        x[:] = cut_cardinality(A, B, k)
        return x

    return solver


@right("pca", "the better of two starts")
def better_pca(A, rho, eps, x0):
    ends = [soft_run(A, rho, eps, start) for start in (x0, np.linalg.eigh(A)[1][:, -1])]
    return min(ends, key=lambda x: rho_eps(rho, eps) * float(np.sum(np.log1p(np.abs(x) / eps))) - float(x @ A @ x))


@right("step", "1e-7 inside Ω")
def careful_step(*args):
    return right_step(*args) * (1 - 1e-7)


@right("step", "dust of 1e-10 of the answer where zeros belong")
def dusty_step(A, B, y, rho, eps, tau):
    x = right_step(A, B, y, rho, eps, tau)
    return x + np.where(x == 0, 1e-10 * np.sqrt(x @ B @ x) / np.sqrt(np.diag(B)), 0.0)


@right("pca", "a list of fractions")
def exact_pca(A, rho, eps, x0):
    from fractions import Fraction

    return [Fraction(float(v)) for v in right_pca(A, rho, eps, x0)]


@right("bound", "rounded up to six digits")
def printed_bound(A, B, k):
    value = max(0.0, lambda_max(A, B))
    return float(f"{value * (1 + 1e-5):.6g}")


@right("bound", "|λmax|")
def absolute_bound(A, B, k):
    return abs(lambda_max(A, B))


def whitened(A, B):
    L = np.linalg.cholesky(B)
    return np.linalg.solve(L, np.linalg.solve(L, A).T)


@right("bound", "Gershgorin's of the whitened A")
def gershgorin_bound(A, B, k):
    return float(np.max(np.sum(np.abs(whitened(A, B)), axis=1)))


@right("bound", "the k largest entries of a row over λmin(B)")
def row_bound(A, B, k):
    rows = np.sum(-np.sort(-np.abs(A), axis=1)[:, :k], axis=1)
    return float(np.max(rows) / np.linalg.eigvalsh(B)[0])


@right("bound", "the sum of the positive eigenvalues")
def trace_bound(A, B, k):
    return float(np.sum(np.maximum(0.0, np.linalg.eigvalsh(whitened(A, B)))))


@right("bound", "exact for few variables and even k, λmax else")
def uneven_bound(A, B, k):
    return exact_bound(A, B, k) if k % 2 == 0 and len(A) < 9 else lambda_max(A, B)


bound_wrong(
    "the k largest entries of a row of the whitened A",
    lambda A, B, k: min(
        max(0.0, lambda_max(A, B)), float(np.max(np.sum(-np.sort(-np.abs(whitened(A, B)), axis=1)[:, :k], axis=1)))
    ),
)


def remembered_without(place):
    """The exact bound, remembered by all arguments but one."""

    def factory():
        kept: dict[Any, float] = {}

        def solver(*args):
            key = tuple(a.tobytes() if isinstance(a, np.ndarray) else a for i, a in enumerate(args) if i != place)
            return kept.setdefault(key, exact_bound(*args))

        return solver

    return factory


WRONG += [Entry("bound", f"remembered without {name}", remembered_without(i)) for i, name in enumerate("ABk")]
variant(
    "entries of y below 1e-8 weighed as zeros",
    lambda A, B, y, r, e, t, c, p: (B, t, c, rho_eps(r, e) / (np.where(np.abs(y) < 1e-8, 0.0, np.abs(y)) + e)),
)


# ── faults of conduct ────────────────────────────────────────────────────────────────────────────


def hanging(*args):
    time.sleep(60.0)


def crashing(*args):
    raise RuntimeError("no licence found")


def leaving(*args):
    raise SystemExit(3)
