"""The native engine against the reference, CVXPY's own nonlinear door and dccp, judged by our referee."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from time import perf_counter

import cvxpy as cp
import numpy as np

from dcgev_cvx import MMResult, Pencil, SparseGEV, Stop, datasets, minimize, sparse_gev
from dcgev_cvx._numerics.checks import Vector
from dcgev_cvx.algorithms import native_run
from dcgev_cvx.search.path import rho_max
from dcgev_cvx.steps.native import native_step
from dcgev_cvx.steps.polish import surrogate_at

from .report import Measure, Skipped, at_least, at_most, installed, timed


def cca_pencil_of(n: int, *, samples: int | None = None, seed: int = 0, ridge: float = 0.1) -> Pencil:
    """n/2 + n/2 Gaussian variables, ten of each carrying two shared factors."""
    rng = np.random.default_rng(seed)
    h, m = n // 2, samples or 2 * n
    Z = rng.standard_normal((m, 2))
    D = rng.standard_normal((m, n))
    D[:, :10] += Z @ rng.standard_normal((2, 10))
    D[:, h : h + 10] += Z @ rng.standard_normal((2, 10))
    S = np.cov(D.T, bias=True)
    A, B = S.copy(), S.copy()
    A[:h, :h] = A[h:, h:] = 0.0
    B[:h, h:] = 0.0
    B[h:, :h] = 0.0
    return Pencil(A, B + ridge * np.eye(n))


def run(repeats: int) -> Iterator[Measure | Skipped]:
    """Every measure of the engine."""
    yield from against_cvxpy(500, repeats)
    yield against_lars(500, repeats)
    if not installed("unopy"):
        yield Skipped("UNO through CVXPY's nlp=True", "pip install '.[bench]'")
        return
    yield from against_uno(datasets.pitprops(), "pit props", 0.3, 1.0, repeats)
    yield from against_uno(dense_pencil(300), "dense n = 300", 0.0, 50.0, 1)


def against_cvxpy(n: int, repeats: int) -> Iterator[Measure]:
    """A whole run on a CCA pencil: same start, same stop, metric shift, Clarabel; and what extrapolation saves."""
    pencil = cca_pencil_of(n)
    rho = 0.002 * rho_max(pencil)
    stop = Stop(max_iter=60, step=1e-6)
    program = SparseGEV(pencil, rho, shift="metric")
    fast = timed(lambda: sparse_gev(pencil, rho=rho, shift="metric", engine="native", stop=stop), repeats)
    begin = perf_counter()
    slow = sparse_gev(pencil, rho=rho, shift="metric", stop=stop)
    seconds = perf_counter() - begin
    quick = sparse_gev(pencil, rho=rho, shift="metric", engine="native", stop=stop)
    plain = minimize(program, native_step, stop=stop, shrink=True)
    detail = (
        f"CVXPY {seconds:.1f} s in {slow.n_iter} steps, f = {slow.f:.6g}; "
        f"native {fast:.3f} s in {quick.n_iter} steps, f = {quick.f:.6g}, {len(quick.support)} nonzeros"
    )
    yield at_least(f"CCA n = {n}, CVXPY / native", seconds / fast, "×", 200.0, detail)
    yield Measure(f"CCA n = {n}, plain steps / extrapolated", plain.n_iter / quick.n_iter, "×")


def against_lars(n: int, repeats: int) -> Measure:
    """One weighted LASSO with Gram matrix B: lars_path_gram down to the same penalty, our kernel with its walk."""
    from sklearn.linear_model import lars_path_gram

    pencil = cca_pencil_of(n)
    program = SparseGEV(pencil, 0.002 * rho_max(pencil), shift="metric")
    y = program.start()
    sub = surrogate_at(program, y)
    # weights are absorbed into the variables: zᵢ = uᵢ/pᵢ makes the penalty Σ|uᵢ|
    scale = 1.0 / np.maximum(sub.p, 1e-12)
    G = sub.B.sub(np.arange(n)) * np.outer(scale, scale)
    Xy = sub.c * scale
    lars = timed(lambda: lars_path_gram(Xy, G, n_samples=1, alpha_min=0.5, method="lasso"), 1)
    ours = timed(lambda: native_step(program, y), repeats)
    return Measure(f"LASSO n = {n}, lars_path_gram / kernel and walk", lars / ours, "×", detail=f"{1e3 * ours:.2f} ms")


def dense_pencil(n: int) -> Pencil:
    """A Wishart A and a well-conditioned dense B."""
    rng = np.random.default_rng(0)
    M, N = rng.standard_normal((n, 2 * n)), rng.standard_normal((n, 2 * n))
    return Pencil(M @ M.T / n, N @ N.T / (2 * n) + 0.1 * np.eye(n))


def against_uno(pencil: Pencil, what: str, rho: float, least: float, repeats: int) -> Iterator[Measure]:
    """(SGEV-A) by CVXPY's nlp=True with UNO and natively, ε = 1e-4, same start: time until f is as low."""
    program = SparseGEV(pencil, rho or 0.05 * rho_max(pencil, eps=1e-4), 1e-4, shift="metric")
    x0 = program.start()
    problem, x, y = nonlinear_problem(program)

    def theirs() -> None:
        x.value, y.value = x0, np.abs(x0)  # y too: the last answer is no fresh start
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            problem.solve(solver="UNO", nlp=True)

    slow = timed(theirs, repeats)
    found: Vector = np.asarray(x.value, dtype=np.float64)
    target = program.f(found / max(1.0, pencil.B_norm(found)))

    def ours(until: float = -np.inf) -> MMResult:
        return native_run(program, callback=lambda point: point.f <= until)

    whole, result = timed(ours, max(5, repeats)), ours()
    quick = timed(lambda: ours(target), max(5, repeats))
    detail = (
        f"UNO {slow:.4f} s, f = {target:.6g}; native {quick:.4f} s to that f, "
        f"{whole:.4f} s to its own end, f = {result.f:.6g}"
    )
    yield Measure(f"{what}, UNO / native to its own end", slow / whole, "×")
    if result.f <= target:
        yield at_least(f"{what}, UNO / native to UNO's f", slow / quick, "×", least, detail)
        return
    # UNO found a better point from this start: ours is then ε-continuation, to its own end
    again = timed(lambda: continued(program, x0), max(5, repeats))
    after = continued(program, x0)
    detail += f"; with ε-continuation {again:.4f} s to its own end, f = {after.f:.6g}"
    yield Measure(f"{what}, f above UNO's", (result.f - target) / abs(target), "rel")
    yield at_least(f"{what}, UNO / native with ε-continuation", slow / again, "×", least, detail)
    yield at_most(f"{what}, f above UNO's with it", (after.f - target) / abs(target), "rel", 1e-6)


def continued(program: SparseGEV, x: Vector) -> MMResult:
    """The native run after ten steps at each of ε = 0.1, 0.01 and 0.001: ε-continuation by decades."""
    for eps in (1e-1, 1e-2, 1e-3):
        early = native_run(program.with_rho(program.rho, eps), x, stop=Stop(max_iter=10))
        x = early.x if early.x.any() else x
    return native_run(program, x)


def nonlinear_problem(program: SparseGEV) -> tuple[cp.Problem, cp.Variable, cp.Variable]:
    """min ρ_ε Σ log(ε + yᵢ) − xᵀAx s.t. xᵀBx ≤ 1, |x| ≤ y, as CVXPY's nonlinear door takes it."""
    A, B = program.pencil.dense()
    n = program.pencil.n
    x, y = cp.Variable(n), cp.Variable(n)
    objective = program.rho_eps * cp.sum(cp.log(y + program.eps)) - cp.quad_form(x, A, assume_PSD=True)
    constraints = [cp.quad_form(x, B, assume_PSD=True) <= 1, x <= y, -y <= x, y >= 0]
    return cp.Problem(cp.Minimize(objective), constraints), x, y
