"""How violations are measured, and the limits that are allowed."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dcgev_cvx.verify.equations import Limits, excess, feasible, proximal_residual, pulled, tangent
from dcgev_cvx.verify.levels import PROFILES, question
from dcgev_cvx.verify.reference_answers import curvature, reference, surrogate
from dcgev_cvx.verify.suite import suite


def test_the_proximal_residual_is_continuous_in_tiny_entries_and_linear_in_errors():
    case = next(c for c in suite("step", 0, "quick").cases if c.n > 3 and 1 < np.count_nonzero(reference(c).x) < c.n)
    problem, x = surrogate(case), reference(case).x
    assert proximal_residual(problem, x, 1e-9) < 1e-9
    nearly = np.where(x == 0, 1e-10 / problem.root, x)
    assert proximal_residual(problem, nearly, 1e-9) < 1e-9
    errors = [proximal_residual(problem, x * (1 - d), 1e-9) for d in (1e-6, 1e-5, 1e-4)]
    assert errors[0] < errors[1] < errors[2] < 1e-2
    assert errors[2] > 1e-6


def test_the_excess_is_zero_at_the_minimiser_and_positive_elsewhere():
    rng = np.random.default_rng(1)
    for case in suite("step", 0, "quick").cases[20:80]:
        problem, x = surrogate(case), reference(case).x
        other = pulled(problem, x + 0.1 * rng.standard_normal(case.n) / problem.root)
        assert excess(problem, x, x, 1e-9) <= 1e-8
        assert problem.value(other) >= problem.value(x) - 1e-9 * problem.size(x)


def test_an_answer_just_inside_the_boundary_costs_nothing_in_value():
    """‖x‖_B = 1 − δ costs 2μδ; within the accuracy the value is that of the boundary, beyond it is not."""
    cases = [c for c in suite("step", 0, "quick").cases if "cancelling" in c.flags]
    assert cases
    for case in cases:
        problem, best = surrogate(case), reference(case).x
        assert problem.norm(best) == pytest.approx(1.0)
        assert excess(problem, best * (1 - 1e-6), best, 1e-5) < 1e-12
        assert excess(problem, best * (1 - 1e-3), best, 1e-5) > 1e-5


def test_tiny_entries_beside_a_small_answer_are_cut():
    """x near 0 has entries below the accuracy; cutting at a smaller size keeps them."""
    data = {"A": np.diag([-0.3, 0.7]), "B": np.eye(2), "y": np.array([0.02, -0.001]), "eps": 1e-8, "tau": 0.8}
    rho = 0.999 * 2 * 0.5 * 0.02 * (0.02 + 1e-8) * math.log1p(1e8)
    step = question("step", "small x", (), {**data, "rho": rho})
    best = reference(step).x
    assert 0 < np.max(np.abs(best)) < 1e-3
    assert best[1] == 0.0
    assert excess(surrogate(step), best + np.array([0.0, 1e-10]), best, 1e-3) < 1e-12


def test_the_limit_of_a_conic_solver_follows_from_strong_convexity():
    """‖x − x*‖²_B ≤ (g(x) − g(x*))/κ on Ω, for whatever x."""
    rng, limits = np.random.default_rng(2), Limits(PROFILES["interior-point"])
    for case in suite("step", 0, "quick", PROFILES["interior-point"]).cases[::15]:
        problem, ref = surrogate(case), reference(case)
        kappa = curvature(problem, ref.mu)
        for size in (1e-4, 1e-2, 1.0):
            x = pulled(problem, ref.x + size * rng.standard_normal(case.n) / problem.root)
            above = problem.value(x) - problem.value(ref.x)
            assert kappa * problem.norm(x - ref.x) ** 2 <= above * (1 + 1e-9) + 1e-12 * problem.size(ref.x)
        if ref.nondegenerate and ref.x.any() and kappa > 1e-2:
            assert 1e-5 < limits.distance(case) < 0.1


def test_only_a_conic_solver_may_leave_omega_in_proportion_to_its_entries():
    data = {"A": np.eye(2), "B": 0.01 * np.eye(2), "y": np.ones(2), "rho": 0.0, "eps": 0.1, "tau": 0.0}
    case, x = question("step", "long", (), data), np.array([10.0, 0.0])
    loose, strict = (feasible(case, x, Limits(PROFILES[name]))[1] for name in ("interior-point", "closed"))
    assert (loose, strict) == pytest.approx((1.1e-4, 1e-10), rel=1e-9, abs=0.0)


def test_dust_in_place_of_zero_is_small_where_nothing_pulls():
    data = {"A": np.eye(3), "B": np.eye(3), "y": np.zeros(3), "rho": 0.0, "eps": 0.1, "tau": 10.0}
    step = surrogate(question("step", "no pull", (), data))
    assert proximal_residual(step, np.array([3e-21, 0.0, 0.0]), 1e-5) < 1e-20
    assert proximal_residual(step, np.array([0.1, 0.0, 0.0]), 1e-5) == pytest.approx(0.1)


def test_the_end_of_a_run_is_not_measured_from_zero():
    """Its tangent program has c = 0 too, but H = −A pulls."""
    data = {"A": np.diag([2.0, 1.0]), "rho": 0.01, "eps": 0.1, "x0": np.array([1.0, 0.0])}
    run = question("pca", "a run", (), data)
    assert proximal_residual(tangent(run, data["x0"]), data["x0"], 1e-9) < 1e-12
