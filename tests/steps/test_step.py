"""What a step returns: what is accepted, and the step where nothing pulls."""

import numpy as np
import pytest

from dcgev_cvx import Pencil, SolverFailed, SparseGEV
from dcgev_cvx.steps.step import StepOutput, own_copy, taken, without_pull


@pytest.mark.parametrize(
    "x",
    [[1.0, 2.0], np.ones(3), np.ones((2, 1)), np.ones(2, dtype=int), np.ones(2) * 1j, np.array([1.0, np.nan]), None],
    ids=str,
)
def test_what_is_no_finite_vector_like_y_fails(x):
    with pytest.raises(SolverFailed, match="NaN, infinite or misshapen"):
        own_copy(x, np.zeros(2))


def test_a_step_may_reuse_its_array():
    x = np.array([1.0, -2.0], dtype=np.float32)
    kept = own_copy(x, np.zeros(2))
    x[:] = 0.0
    assert kept.dtype == np.float64
    assert kept.tolist() == [1.0, -2.0]


def test_a_minimiser_alone_is_an_output():
    program, y = SparseGEV(Pencil(np.diag([2.0, 1.0])), 0.1, eps=0.1), np.array([0.6, 0.8])
    out = taken(lambda program, y: y / 2, program, y)
    assert isinstance(out, StepOutput)
    assert out.x.tolist() == [0.3, 0.4]
    assert out.value == program.g(out.x, y)
    with pytest.raises(SolverFailed, match="the step returned tuple instead of an array or a StepOutput"):
        taken(lambda program, y: (y,), program, y)


@pytest.mark.parametrize(("rho", "stays"), [(0.0, True), (1.0, False)])
def test_without_a_pull_x_is_zero_or_the_surrogate_is_constant(rho, stays):
    program = SparseGEV(Pencil(np.diag([1.0, 0.0])), rho, eps=0.1)
    y = np.array([0.0, 1.0])
    out = without_pull(program, y)
    assert np.array_equal(out.x, y if stays else np.zeros(2))
    assert out.value == program.g(out.x, y)
