"""Small examples: failing cases shrunk, and failures beyond the suite found by the search."""

from __future__ import annotations

import numpy as np
import pytest
import wrong_solvers as catalogue

from dcgev_cvx import verify
from dcgev_cvx.verify import solver_report
from dcgev_cvx.verify.counterexamples import counterexample, rounded, search_check
from dcgev_cvx.verify.levels import tolerances
from dcgev_cvx.verify.suite import suite
from dcgev_cvx.verify.trial import Session, Trial


def test_the_counterexample_is_small_and_its_snippet_repeats_the_failure():
    entry = next(e for e in catalogue.WRONG if e.name == "τ missing in the linear term")
    solver = entry.make()
    example = verify.check(solver, "step").counterexample
    assert len(example.arguments["y"]) <= 2
    scope = {"solver": solver}
    exec(example.snippet, scope)
    np.testing.assert_allclose(scope["x"], example.found, rtol=1e-12)
    assert np.max(np.abs(scope["x"] - np.array(example.expected))) > 1e-4


def test_an_example_that_needs_other_calls_says_so():
    entry = next(e for e in catalogue.WRONG if e.name == "remembered without k")
    example = verify.check(entry.make(), "bound").counterexample
    assert example.check == "one argument changed"
    last = example.snippet.splitlines()[-1]
    assert last.startswith("# alone it may be right")
    assert "differs in one argument" in last


def test_numbers_lose_digits_of_the_largest_entry_or_of_each():
    assert rounded(0.0123, 1) == 0.01
    assert rounded(3, 1) == 3
    np.testing.assert_array_equal(rounded(np.array([12.3, 0.4]), 1), [10.0, 0.0])
    np.testing.assert_array_equal(rounded(np.array([12.3, 0.44]), 1, each=True), [10.0, 0.4])


@pytest.mark.parametrize(
    ("level", "solver", "size"),
    [("step", lambda *a: -catalogue.right_step(*a), 2), ("bound", catalogue.greedy, 3)],
)
def test_the_search_finds_a_counterexample(level, solver, size):
    trials = [Trial(Session(solver), suite(level, 0, "quick"), tolerances(None)) for _ in range(2)]
    first, second = (search_check(level, 0).run(trial) for trial in trials)
    assert first.status == "failed"
    assert np.array_equal(first.instance.data["A"], second.instance.data["A"])
    assert len(counterexample(trials[0], [first]).arguments["A"]) <= size


@pytest.mark.parametrize(
    ("level", "solver"),
    [("step", catalogue.right_step), ("fda", catalogue.right_fda), ("pca", catalogue.right_pca)],
)
def test_the_search_accuses_no_right_solver(level, solver):
    trial = Trial(Session(solver), suite(level, 0, "quick"), tolerances(None))
    outcome = search_check(level, 3).run(trial)
    assert outcome.passed, outcome.note
    assert outcome.cases > 5


def test_a_full_trial_without_hypothesis_says_so(monkeypatch):
    monkeypatch.setattr(solver_report, "search_available", lambda: False)
    report = verify.check(catalogue.right_bound, "bound", effort="full")
    assert report.ok
    assert "no search, since hypothesis is not installed" in str(report)
