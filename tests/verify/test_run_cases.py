"""The exact iteration that chooses the cases of whole runs."""

from __future__ import annotations

import numpy as np
import pytest

from dcgev_cvx import Pencil, SparseGEV
from dcgev_cvx.steps.native import native_step
from dcgev_cvx.verify.run_cases import exact_step
from dcgev_cvx.verify.suite import suite


@pytest.mark.parametrize("shift", ["identity", "metric"])
@pytest.mark.parametrize("level", ["algorithm", "pca"])
def test_the_exact_iteration_takes_the_steps_of_the_package(level, shift):
    taken = 0
    for case in suite(level, 0, "quick").cases[::4]:
        program = SparseGEV(Pencil(case.data["A"], case.B), case.data["rho"], case.data["eps"], shift=shift)
        exact, y = exact_step(case, shift == "metric"), case.data["x0"]
        for _ in range(6):
            x = exact(y)
            assert program.pencil.B_norm(x - native_step(program, y).x) < 1e-9
            taken += bool(np.count_nonzero(x) > 1)
            y = x
    assert taken > 20
