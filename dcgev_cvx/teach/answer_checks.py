"""The check of each exercise, which computes its verdict from the data, and the three steps of `suspect`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any

import numpy as np

from .._numerics.checks import Vector, as_number, as_real, as_vector
from ..certificates import certify, renormalize, value
from ..errors import InvalidParameter, SolverFailed
from ..pencils import Pencil
from ..programs import SparseGEV, smallest_tau
from .verdicts import Surrogate, Verdict, all_of, frozen, judge_step, majorises, random_point, text


@cache
def pitprops() -> Pencil:
    """Pit props, once."""
    from ..datasets import pitprops as load

    return load()


def step_programs(B: bool = False, tau: bool = False) -> list[SparseGEV]:
    """A few programs with B = I or not, τ = 0 or not, one of which collapses."""
    A = np.array([[3.0, 1.0, 0.5], [1.0, 2.0, -0.4], [0.5, -0.4, 1.0]])
    metric = np.array([[1.0, 0.3, 0.0], [0.3, 1.5, 0.2], [0.0, 0.2, 0.8]]) if B else None
    settings = ((0.5, 0.1), (2.0, 1e-3), (0.0, 1.0), (1e4, 0.5))
    return [SparseGEV(Pencil(A, metric), rho, eps, 0.7 if tau else 0.0) for rho, eps in settings]


def starts(program: SparseGEV) -> list[Vector]:
    """A few points of Ω."""
    return [frozen(program.start()), *(random_point(program, np.random.default_rng(seed)) for seed in range(4))]


def judge_majoriser(answer: Any) -> Verdict:
    """g(A, x, y, rho_eps, eps, tau) on three programs, one of which needs its τ."""
    # with A ⪰ 0 any τ ≥ 0 will do, so a g without τ shows itself only where A is indefinite and the price is small
    indefinite = SparseGEV(Pencil(np.array([[1.0, 0.5, 0.0], [0.5, -2.0, 0.3], [0.0, 0.3, 0.5]])), 0.01, 0.5)
    programs = [SparseGEV(Pencil(np.ones((1, 1))), 0.5, 0.1, 2.0), step_programs(tau=True)[1], indefinite]

    def of(program: SparseGEV) -> Surrogate:
        A, _ = program.pencil.dense()
        return lambda x, y: answer(A, x, y, program.rho_eps, program.eps, program.tau)

    return all_of((majorises(p, of(p)) for p in programs), "it touches, lies above and is convex on three programs")


def judge_threshold(answer: Any) -> Verdict:
    """step(A, y, rho, eps) with B = I and τ = 0."""
    pairs = [(program, y) for program in step_programs() for y in starts(program)]
    verdicts = (judge_step(p, y, answer(p.pencil.dense()[0], y, p.rho, p.eps)) for p, y in pairs)
    return all_of(verdicts, f"the minimiser of (ALG) in all {len(pairs)} cases, the collapse among them")


def judge_dcp(answer: Any) -> Verdict:
    """problem(A, B, y, rho, eps, tau), a cp.Problem with a variable named x."""
    program = step_programs(B=True, tau=True)[0]
    return all_of(
        (judge_problem(program, y, answer) for y in starts(program)), "DCP, and its solution is the MM step"
    )


def judge_problem(program: SparseGEV, y: Vector, build: Any) -> Verdict:
    """Is the problem DCP, and does its solution minimise g(·, y)?"""
    import cvxpy as cp

    from ..steps.backend import Backend
    from ..steps.native import native_step

    A, B = program.pencil.dense()
    problem = build(A, B, y, program.rho, program.eps, program.tau)
    if not isinstance(problem, cp.Problem):
        return Verdict(False, f"a cp.Problem is wanted, this is a {type(problem).__name__}")
    found = [variable for variable in problem.variables() if variable.name() == "x"]
    if not found:
        return Verdict(False, 'no variable is called x: write cp.Variable(n, name="x")')
    if not problem.is_dcp():
        return Verdict(False, "CVXPY says that it is not DCP: which term is concave where it must be convex?")
    try:
        Backend().solve(problem)
    except SolverFailed as failure:
        return Verdict(False, f"it could not be solved: {failure}")
    x = as_vector(found[0].value, program.pencil.n, "the solution x")
    best = program.g(native_step(program, y).x, y)
    if program.violation(x) > 1e-6:
        return Verdict(False, f"its solution has xᵀBx = {program.pencil.B_quad(x):.6g} > 1")
    excess = program.g(x, y) - best
    return Verdict(excess <= 1e-6 * (1.0 + program.size(x)), f"g at its solution is {excess:.2g} above the minimum")


def judge_tau(answer: Any) -> Verdict:
    """τ for datasets.indefinite(7), whose largest eigenvalue in modulus is not the smallest one."""
    from ..datasets import indefinite

    pencil = indefinite(7)
    tau, least = as_number(answer, "τ"), smallest_tau(pencil, "identity")
    if abs(tau - least) <= 2e-4 * least:  # four digits
        return Verdict(True, f"A + τI ⪰ 0 holds from τ = {least:.6g} on")
    if tau > least:
        return Verdict(False, f"τ = {tau:g} is large enough, and a smaller one is too: g could lie closer to f")
    A, _ = pencil.dense()
    d = np.linalg.eigh(A)[1][:, 0]
    words = f"at ρ̃ = 0, g − f = {float(d @ A @ d) + tau:.4g} < 0 where x − y = {text(d)}"
    return Verdict(False, f"{words}: the surrogate cuts f")


def judge_stuck(answer: Any) -> Verdict:
    """X on pit props at ρ̃ = 4.84: stationary, two nonzeros, and with a smaller value than the best two."""
    from ..exact import best_subset

    program = SparseGEV(pitprops(), 4.84)
    x = as_vector(answer, program.pencil.n, "x")
    certificate = certify(program, x)
    if not certificate.passes():
        residual = max(certificate.stationarity, certificate.complementarity)
        return Verdict(False, f"not stationary: residual {residual:.1e}, xᵀx − 1 = {certificate.feasibility:.1e}")
    if np.count_nonzero(x) != 2:
        return Verdict(False, f"stationary, but with {np.count_nonzero(x)} nonzeros: two are asked for")
    found, best = value(program.pencil, renormalize(program.pencil, x)), best_subset(program.pencil, 2).value
    return Verdict(found < best - 1e-3, f"stationary with value {found:.6g}; the best two variables have {best:.6g}")


def judge_corollary(answer: Any) -> Verdict:
    """(A, x0): the power method tends to the largest eigenvalue that x0 has a share in; is that below λmax(A)?"""
    A, x0 = answer
    values, vectors = np.linalg.eigh(Pencil(as_real(A, "A", InvalidParameter)).dense()[0])
    x0, top = as_vector(x0, len(values), "x0"), float(values[-1])
    if values[0] < -1e-12 * np.abs(values).max():
        return Verdict(False, f"A ⪰ 0 is asked for, λmin(A) = {values[0]:.3g}")
    if not x0.any():
        return Verdict(False, "x0 = 0 is too easy: find another")
    # eigenvectors and no run: from a share of 1e-12 a run stands still for long and stops, yet its limit is λmax
    shares = np.abs(vectors.T @ (x0 / np.abs(x0).max()))
    end = float(values[shares > 1e-13 * len(x0)].max())
    return Verdict(end < top - 1e-3 * abs(top), f"it tends to xᵀAx = {end:.6g}, λmax = {top:.6g}")


def judge_bound(answer: Any) -> Verdict:
    """U whose homogeneous bound on pit props at k = 3 closes half of the gap from λmax to the optimum."""
    from ..exact import best_subset
    from ..relaxations.bounds import homogeneous_bound

    pencil = pitprops()
    U = as_real(answer, "U", InvalidParameter)
    if U.shape != (pencil.n, pencil.n):
        raise InvalidParameter(f"U has shape {U.shape}; pit props has {pencil.n} variables.")
    bound, best = homogeneous_bound(pencil, 3, U), best_subset(pencil, 3).value
    words = f"your U proves {bound:.5g}; the optimum is {best:.5g}, U = 0 proves {pencil.lambda_max:.5g}"
    return Verdict(bound <= 0.5 * (best + pencil.lambda_max), words)


def judge_cardinality(answer: Any) -> Verdict:
    """ρ̃ for five nonzeros on pit props."""
    from ..algorithms import dc_pca

    rho = as_number(answer, "ρ̃")
    result = dc_pca(pitprops(), rho=rho)
    words = (
        f"Algorithm 2 at ρ̃ = {rho:g} ends with {len(result.support)} nonzeros ({result.status.value.split(':')[0]})"
    )
    return Verdict(result.converged and len(result.support) == 5, words)


def suspect_a(A: Any, B: Any, y: Any, rho: float, eps: float, tau: float) -> Vector:
    """One of three steps; at most one is wrong."""
    from ..steps.native import native_step

    program = SparseGEV(Pencil(A, B), rho, eps, tau)
    return native_step(program, program.start(y)).x


def suspect_b(A: Any, B: Any, y: Any, rho: float, eps: float, tau: float) -> Vector:
    """One of three steps; at most one is wrong."""
    program = SparseGEV(Pencil(A, B), rho, eps, tau)
    c, p, diagonal = program.linear(y), program.slopes(y), program.pencil.B_diagonal
    z = np.sign(c) * np.maximum(0.0, np.abs(c) - 0.5 * p)
    low, high = 0.0, float(np.linalg.norm(z / np.sqrt(diagonal))) + 1.0
    for _ in range(200):
        mu = 0.5 * (low + high)
        inside = float(np.sum(diagonal * (z / (tau + mu * diagonal)) ** 2)) < 1.0
        low, high = (low, mu) if inside else (mu, high)
    return z / (tau + high * diagonal)


def suspect_c(A: Any, B: Any, y: Any, rho: float, eps: float, tau: float) -> Vector:
    """One of three steps; at most one is wrong."""
    from ..steps.conic import QCQPStep

    program = SparseGEV(Pencil(A, B), rho, eps, tau)
    return QCQPStep()(program, program.start(y)).x


SUSPECTS: Mapping[str, Callable[..., Vector]] = MappingProxyType({"a": suspect_a, "b": suspect_b, "c": suspect_c})
"""Three steps (A, B, y, rho, eps, tau) → x for the exercise `suspect`."""


def judge_suspect(answer: Any) -> Verdict:
    """(letter, A, B, y, rho, eps, tau) on which a suspect is wrong."""
    letter, A, B, y, rho, eps, tau = answer
    if letter not in SUSPECTS:
        return Verdict(False, f"the suspects are {', '.join(SUSPECTS)}")
    program = SparseGEV(Pencil(A, B), rho, eps, tau)
    y = program.start(y)
    found = judge_step(program, y, SUSPECTS[letter](A, B, y, rho, eps, tau), tol=1e-6)
    return Verdict(not found.ok, f"step {letter}: {found.why}")
