"""The exercise `threshold`: right answers of any form pass."""

import numpy as np

from dcgev_cvx import Pencil, SparseGEV, teach
from dcgev_cvx.steps.conic import LinearStep


def test_a_step_by_cvxpy_is_right_too():
    def step(A, y, rho, eps):
        return LinearStep()(SparseGEV(Pencil(A), rho, eps, 0.0), y).x

    assert teach.check("threshold", step)


def test_a_column_and_a_list_are_accepted():
    right = teach.EXERCISES["threshold"].family.make()
    assert teach.check("threshold", lambda *a: right(*a)[:, None])
    assert teach.check("threshold", lambda *a: right(*a).tolist())


def test_twice_the_step_leaves_the_ball():
    right = teach.EXERCISES["threshold"].family.make()
    assert "xᵀBx = 4 > 1" in teach.check("threshold", lambda *a: 2.0 * right(*a)).why
    assert np.allclose(right(np.eye(2), np.array([1.0, 0.0]), 0.0, 0.1), [1.0, 0.0])
