"""Majorisers and minimisers are recognised, and wrong ones are told what is wrong."""

import numpy as np
import pytest

from dcgev_cvx import Pencil, SparseGEV, teach

PROGRAM = SparseGEV(Pencil(np.array([[2.0, 0.5], [0.5, -1.0]])), rho=0.7, eps=0.1)


def test_the_programs_own_surrogate_majorises():
    assert teach.majorises(PROGRAM, PROGRAM.g)


@pytest.mark.parametrize(
    ("g", "fault"),
    [
        (lambda x, y: PROGRAM.g(x, y) + 0.01, "does not touch"),
        (lambda x, y: PROGRAM.g(x, y) - 0.05 * abs(np.sum(x - y)), "cuts f"),
        (lambda x, y: PROGRAM.f(x), "not convex"),
        (lambda x, y: PROGRAM.f(x) + (x - y) @ (x - y), "not convex"),
        (lambda x, y: PROGRAM.f(y), "cuts f"),
    ],
)
def test_wrong_majorisers_are_told_what_is_wrong(g, fault):
    verdict = teach.majorises(PROGRAM, g)
    assert not verdict
    assert fault in verdict.why


def test_a_step_is_judged_by_its_residual_and_its_constraint():
    program = SparseGEV(Pencil(np.diag([2.0, 1.0])), rho=0.0)
    assert teach.judge_step(program, [0.6, 0.8], np.array([1.2, 0.8]) / np.hypot(1.2, 0.8))
    assert "KKT row" in teach.judge_step(program, [0.6, 0.8], [0.6, 0.8]).why
    assert "> 1" in teach.judge_step(program, [0.6, 0.8], [1.0, 1.0]).why
