"""The questions: every size, no trivial answers, pairs whose arguments matter."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import eigh

from dcgev_cvx.verify.equations import objective, proximal_residual, tangent
from dcgev_cvx.verify.levels import question
from dcgev_cvx.verify.pencil_cases import enumerated
from dcgev_cvx.verify.reference_answers import reference
from dcgev_cvx.verify.run_cases import exact_run
from dcgev_cvx.verify.suite import suite


def test_a_size_that_occurs_once_is_asked_where_it_shows():
    for seed in range(3):
        large = [case for case in suite("step", seed, "quick").cases if case.n > 16]
        assert {case.n for case in large} == {*range(17, 67), 97, 129}
        assert all(reference(case).x.any() for case in large)


@pytest.mark.parametrize("name", ["A", "B", "y"])
def test_arguments_that_may_be_remembered_are_asked_where_they_matter(name):
    moves = []
    for pair in suite("step", 0, "quick").pairs["reused arrays"]:
        x, stale = reference(pair.asked).x, pair.asked.changed("stale", **{name: pair.base.data[name]})
        moves.append(np.max(np.abs(reference(stale).x - x)) / np.max(np.abs(x)))
    assert max(moves) > 1e-2


def test_a_first_order_relaxation_has_few_hopeless_pencils():
    steep = {e: [c.n for c in suite("bound", 0, e).cases if "cond-1e8" in c.flags] for e in ("quick", "full")}
    assert 5 <= len(steep["quick"]) <= 8  # each may cost its solver seconds
    assert max(steep["quick"]) <= 6
    assert max(steep["full"]) >= 9
    for pairs in suite("bound", 0, "quick").pairs.values():
        assert max(pair.asked.n for pair in pairs) <= 8


def test_the_optimum_by_enumeration_matches_the_eigensolver():
    for case in suite("bound", 0, "quick").cases[::7]:
        A, B, k = case.data["A"], case.B, case.data["k"]
        best = enumerated(A, B, k)
        s = list(best.support)
        value = eigh(A[np.ix_(s, s)], B[np.ix_(s, s)], eigvals_only=True)[-1]
        assert best.value == pytest.approx(value, rel=1e-6, abs=1e-12 * best.radius)
        assert best.value <= best.lambda_max + 1e-9 * best.radius


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


def test_a_question_is_copied_and_read_only():
    A = np.eye(2)
    case = question("bound", "two", (), {"A": A, "B": np.eye(2), "k": 1})
    A[0, 0] = 7.0
    assert case.data["A"][0, 0] == 1.0
    assert not case.data["A"].flags.writeable
    assert all(a.flags.writeable for a in case.arguments() if isinstance(a, np.ndarray))
