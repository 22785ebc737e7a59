"""The rows of bounds: which are valid at this k, and what the literal SDP bounds."""

import math

import numpy as np

from dcgev_cvx import Pencil, compare


def test_the_papers_budget_is_marked_where_it_is_no_bound(row_of):
    pencil = Pencil(np.diag([3.0, 2.0, 1.0]), 0.01 * np.eye(3))
    found = compare(pencil, 1, ("entrywise-paper", "entrywise-valid", "exact"))
    paper = row_of(found, "entrywise-paper")
    assert (paper.valid, paper.ok) == (False, False)
    assert "not a valid bound" in paper.status
    assert paper.value < found.best_lower
    assert math.isnan(paper.gap)
    assert f"({paper.value:#.6g})" in str(found)
    assert found.gap.closed


def test_the_literal_sdp_is_zero_where_every_eigenvalue_is_negative():
    literal = compare(Pencil(-np.diag([5.0, 4.0, 3.0])), 2, ["literal"]).rows[0]
    assert literal.value == 0.0
    assert literal.status.startswith("valid, and always 0, as λmax(A,B) < 0 and X = 0 is allowed: it ignores k")
