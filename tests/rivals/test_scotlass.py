"""SCoTLASS by its printed iteration, against the package's MM driver."""

import pytest
from numpy.testing import assert_allclose

from dcgev_cvx import L1Penalty, SparseGEV, Stop, minimize
from dcgev_cvx.rivals.scotlass import scotlass_rho_max, scotlass_run
from dcgev_cvx.steps.closed import soft_threshold_step


@pytest.mark.parametrize("rho", [0.0, 0.5, 1.5, 3.0])
def test_scotlass_closed_form_is_the_driver(pitprops, rho):
    """Eq:scotl against `minimize` with the ℓ1 penalty, which is its own majoriser."""
    program = SparseGEV(pitprops, rho, penalty=L1Penalty())
    result = minimize(program, soft_threshold_step, stop=Stop(max_iter=5000, step=1e-12))
    assert_allclose(scotlass_run(pitprops, rho, 1e-12, 5000).x, result.x, atol=1e-6)


def test_scotlass_collapses_where_the_first_step_is_zero(pitprops):
    run = scotlass_run(pitprops, 1.001 * scotlass_rho_max(pitprops), 1e-9, 100)
    assert run.converged
    assert not run.x.any()
