"""The questions: every size, no trivial answers, pairs whose arguments matter."""

from __future__ import annotations

import numpy as np

from dcgev_cvx.verify.equations import objective, proximal_residual, tangent
from dcgev_cvx.verify.run_cases import exact_run
from dcgev_cvx.verify.suite import suite


def test_a_first_order_relaxation_has_few_hopeless_pencils():
    steep = {e: [c.n for c in suite("bound", 0, e).cases if "cond-1e8" in c.flags] for e in ("quick", "full")}
    assert 5 <= len(steep["quick"]) <= 8  # each may cost its solver seconds
    assert max(steep["quick"]) <= 6
    assert max(steep["full"]) >= 9
    for pairs in suite("bound", 0, "quick").pairs.values():
        assert max(pair.asked.n for pair in pairs) <= 8


def test_no_trivial_point_passes_for_the_end_of_a_run():
    for case in suite("pca", 0, "quick").cases:
        if {"collapse", "one-variable"} & set(case.flags):
            continue
        x0 = case.data["x0"]
        # a trivial point is told from an answer: it lies above the start, or it is not stationary
        for corner in (np.zeros(case.n), *np.eye(case.n)):
            above = objective(case, x0) < objective(case, corner)
            assert above or proximal_residual(tangent(case, corner), corner, 1e-9) > 1e-3
        run = exact_run(case, 500)
        assert np.count_nonzero(run.x) >= 2
        assert proximal_residual(tangent(case, run.x), run.x, 1e-9) < 1e-6
