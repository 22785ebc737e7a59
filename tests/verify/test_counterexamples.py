"""Small examples: failing cases shrunk, and failures beyond the suite found by the search."""

from __future__ import annotations

import numpy as np
import wrong_solvers as catalogue

from dcgev_cvx import verify
from dcgev_cvx.verify.counterexamples import rounded


def test_the_counterexample_is_small_and_its_snippet_repeats_the_failure():
    entry = next(e for e in catalogue.WRONG if e.name == "τ missing in the linear term")
    solver = entry.make()
    example = verify.check(solver, "step").counterexample
    assert len(example.arguments["y"]) <= 2
    scope = {"solver": solver}
    exec(example.snippet, scope)
    np.testing.assert_allclose(scope["x"], example.found, rtol=1e-12)
    assert np.max(np.abs(scope["x"] - np.array(example.expected))) > 1e-4 * np.max(np.abs(scope["x"]))


def test_an_example_that_needs_other_calls_says_so():
    entry = next(e for e in catalogue.WRONG if e.name == "remembered without k")
    example = verify.check(entry.make(), "bound").counterexample
    assert example.check == "one part changed"
    last = example.snippet.splitlines()[-1]
    assert last.startswith("# alone it may be right")
    assert "differs in one place" in last


def test_numbers_lose_digits_of_the_largest_entry_or_of_each():
    assert rounded(0.0123, 1) == 0.01
    assert rounded(3, 1) == 3
    np.testing.assert_array_equal(rounded(np.array([12.3, 0.4]), 1), [10.0, 0.0])
    np.testing.assert_array_equal(rounded(np.array([12.3, 0.44]), 1, each=True), [10.0, 0.4])
