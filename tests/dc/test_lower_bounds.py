"""Lower bounds of d.c. programs: never above the minimum, and tight where theory says so."""

import cvxpy as cp
import numpy as np
import pytest
from random_programs import random_program

from dcgev_cvx import DCProgram


@pytest.mark.parametrize("seed", range(8))
def test_no_feasible_point_lies_below_the_bound(seed):
    program = random_program(seed)
    bound = program.lower_bound()
    assert bound.checked
    points = np.random.default_rng(seed).uniform(-1, 1, (400, program.n))
    values = [program.f(x) for x in points if program.violation(x) <= 0.0]
    assert bound.value <= min(values, default=np.inf)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_chords_are_exact_where_v_is_largest_at_corners(scale):
    x = cp.Variable(2, value=np.array([0.3, -0.4]) * scale)
    result = DCProgram(0 * cp.sum(x), cp.norm1(x / scale) + cp.norm(x / scale), [cp.abs(x) <= scale]).minimize()
    assert result.f == pytest.approx(-2 - np.sqrt(2))
    assert result.gap <= 1e-6


def test_shors_sdp_is_exact_for_one_quadratic_constraint():
    A = np.diag([1.0, -2.0, 0.5])
    x = cp.Variable(3, value=[0.1, 0.2, 0.3])
    problem = cp.Problem(cp.Minimize(cp.quad_form(x, A)), [cp.sum_squares(x) <= 1])
    result = DCProgram.from_problem(problem).minimize()
    assert result.bound.method.startswith("Shor's SDP")
    assert result.bound.value == pytest.approx(-2.0, abs=1e-5)
    assert result.bound.value <= -2.0


def test_hubers_function_is_not_lifted_as_a_quadratic():
    """CVXPY calls it quadratic; as such it gave a bound above the minimum."""
    x = cp.Variable(2, value=[0.5, 0.5])
    bound = DCProgram(cp.sum_squares(x), cp.sum(cp.huber(x)), [cp.abs(x) <= 3]).lower_bound()
    assert bound.value <= 0.0


def test_without_a_box_there_is_no_bound():
    x = cp.Variable(value=0.3)
    result = DCProgram(x**2, cp.abs(x)).minimize()
    assert result.bound.value == -np.inf
    assert result.gap == np.inf
    assert "Add bounds on the variables" in result.bound.method


def test_a_convex_objective_gives_the_box():
    """Circle packing has no bounds on its variables; points with a larger objective than the best one do not count."""
    c = cp.Variable((3, 2), value=np.array([[2.0, 0.0], [0.0, 2.0], [-2.0, 0.0]]))
    apart = [cp.norm(c[i] - c[j]) >= 2 for i in range(3) for j in range(i)]
    result = DCProgram(cp.max(cp.abs(c)), 0, apart).minimize()
    assert 0.0 - 1e-6 <= result.bound.value <= result.f


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
def test_the_bound_of_a_quadratic_does_not_depend_on_the_unit_of_the_variables(unit: float) -> None:
    """Shor's matrix was once lifted in the variables' own unit: at 1e6 the bound lay above the minimum."""
    A = np.array([[-0.54, 1.0, 1.31], [1.57, 1.19, 0.15], [0.81, 0.54, -1.63]])
    x = cp.Variable(3, value=unit * np.array([1.3, 0.6, -0.2]))
    loss = 2e3 * cp.log_sum_exp(np.array([[-0.5, 0.95, -0.88]]) @ x / unit + 1.14)
    program = DCProgram(loss, 2e3 * cp.sum_squares(A @ x / unit - [0.32, -0.49, 0.43]), [cp.abs(x) / unit <= 3.0])
    result = program.minimize()
    assert result.bound.value <= -298990.0
    assert result.bound.value <= result.f
    assert result.bound.value >= -305000.0
