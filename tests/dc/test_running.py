"""Runs of d.c. programs: d-stationary ends, scales, unbounded programs, limits of time."""

import sys
from pathlib import Path

import cvxpy as cp
import numpy as np
import pytest

from dcgev_cvx import DCProgram, Infeasible, Status, Unbounded

sys.path.append(str(Path(__file__).parents[2]))  # benchmarks are not installed

from benchmarks.joki import JOKI, joki


def scalar(value, **attributes):
    return cp.Variable(name="x", value=value, **attributes)


@pytest.mark.parametrize("name", JOKI)
def test_the_published_starts_of_joki_end_at_d_stationary_points(name):
    minimum = JOKI[name][2]
    result = joki(name).minimize()
    assert result.status is Status.D_STATIONARY
    if name != "JB09":  # there both centres start at one point, and one of them is left without data
        assert result.f == pytest.approx(minimum, abs=1e-5 * max(1.0, abs(minimum)))


def test_a_strict_local_maximum_is_critical_and_no_end():
    x = scalar(0.0)
    program = DCProgram(x**2, cp.abs(x))
    assert program.certify([0.0]).word == "critical"
    result = program.minimize()
    assert result.status is Status.D_STATIONARY
    assert abs(result.x[0]) == pytest.approx(0.5, abs=1e-6)


def test_a_critical_point_of_two_kinks_is_left():
    w = scalar(1.0)
    u, v = 0.5 * cp.square(w - 1) + cp.abs(w), cp.pos(cp.abs(w) - 1) + cp.abs(w - 1)
    result = DCProgram(u, v).minimize()
    assert result.converged
    assert result.f == pytest.approx(0.5, abs=1e-8)


def test_pieces_that_cannot_all_be_tried_are_counted():
    x = cp.Variable(2, value=[0.0, 0.0])
    result = DCProgram(2 * cp.norm(x), cp.norm(x)).minimize()
    assert result.status is Status.D_STATIONARY_TRIED
    assert "pieces tried" in result.certificate.word


@pytest.mark.parametrize("start", [0.0, 1.0, -3e6])
def test_a_minimum_far_from_the_start_in_a_small_unit(start):
    x = scalar(start)
    result = DCProgram(1e-5 * cp.abs(x - 2e6), 0 * x, [cp.abs(x) <= 4e6]).minimize()
    assert result.converged
    assert result.f == pytest.approx(0.0, abs=1e-5)


@pytest.mark.parametrize("start", [0.0, 0.1])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_a_constraint_counts_in_its_own_unit(scale, start):
    x = cp.Variable(3, value=np.full(3, start))
    result = DCProgram(cp.sum_squares(x), 0, [scale * cp.norm(x) >= scale]).minimize()
    assert result.converged
    assert result.f == pytest.approx(1.0, abs=1e-6)


def ring(f, c):
    x = cp.Variable(2, value=[0.3, 0.1])
    return DCProgram(f * cp.sum_squares(x - 1), f * cp.norm1(x), [c * cp.norm(x) >= 2 * c, c * x <= 3 * c])


@pytest.mark.parametrize(("k", "j"), [(-60, 0), (60, 0), (0, -60), (0, 60), (33, -27)])
def test_powers_of_two_change_no_iterate(k, j):
    plain, scaled = ring(1.0, 1.0).minimize(), ring(2.0**k, 2.0**j).minimize()
    assert scaled.status is plain.status
    assert np.array_equal(scaled.x, plain.x)


@pytest.mark.parametrize("scale", [1e-12, 1e-6, 1e9])
def test_the_unit_of_the_objective_does_not_matter(scale):
    x = scalar(0.5)
    result = DCProgram(scale * x**4, scale * (3 * x**2 + x)).minimize()
    assert result.converged
    assert result.x[0] == pytest.approx(1.30084, abs=1e-3)


UNBOUNDED = {
    "as a root": lambda x: DCProgram(-cp.sqrt(x), 0 * x, [x >= 0]),
    "as a logarithm": lambda x: DCProgram(-cp.log(x), 0 * x),
    "as a power": lambda x: DCProgram(x**2, x**4),
    "as a line": lambda x: DCProgram(cp.abs(x), 2 * cp.abs(x)),
}


@pytest.mark.parametrize("make", UNBOUNDED.values(), ids=UNBOUNDED)
def test_an_objective_that_falls_for_ever_is_unbounded(make):
    with pytest.raises(Unbounded, match=r"falls for ever as x → .∞"):
        make(scalar(1.0)).minimize()


def test_a_level_tangent_at_the_start_is_no_proof_that_nothing_is_feasible():
    """The slope of x⁴ at 0.003 is so small that the linearised constraint cannot be met."""
    x = cp.Variable(2, value=[0.002, 0.003])
    result = DCProgram(cp.sum(x), 0, [x >= 0, x <= 7, cp.sum(x) ** 4 >= 1000]).minimize()
    assert result.converged
    with pytest.raises(Infeasible):
        DCProgram(cp.sum(x), 0, [x >= 7, x <= 0, cp.sum(x) ** 4 >= 1000]).minimize()


def test_time_limit_callback_and_no_curvature():
    x = scalar(0.3)
    assert DCProgram(x**2, cp.abs(x)).minimize(time_limit=0).status is Status.TIME_LIMIT
    assert DCProgram(x**2, 0 * x**2).minimize().x[0] == pytest.approx(0.0, abs=1e-8)


def test_a_start_outside_the_domain_of_u_is_left_by_the_first_step():
    result = DCProgram(-cp.log(x := scalar(-1.0)) + x**2, cp.abs(x)).minimize()
    assert result.converged
    assert result.x[0] == pytest.approx(1.0, abs=1e-5)
