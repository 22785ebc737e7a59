"""Many starts: the best result, the table of all, the same in parallel."""

import cvxpy as cp
import numpy as np
import pytest

from dcgev_cvx import DCProgram, InvalidParameter


def two_valleys(value=None):
    x = cp.Variable(name="x", value=value)
    return DCProgram(x**4, 3 * x**2 + x, [cp.abs(x) <= 2])


def test_the_best_of_many_starts_with_the_table_of_all():
    result = two_valleys().minimize(starts=8, random_state=1)
    assert result.f == pytest.approx(-3.513905, abs=1e-5)
    assert len(result.starts) == 8
    assert min(row.f for row in result.starts) == result.f
    assert len(result.table().splitlines()) == 8
    again = two_valleys().minimize(starts=8, random_state=1)
    assert [row.f for row in again.starts] == [row.f for row in result.starts]


def test_the_variables_values_come_first_and_given_starts_in_their_order():
    result = two_valleys(-1.0).minimize(starts=3)
    assert result.starts[0].x0.tolist() == [-1.0]
    given = two_valleys().minimize(starts=[[-1.0], [1.0]])
    assert [row.x0[0] for row in given.starts] == [-1.0, 1.0]
    assert given.starts[0].f > given.starts[1].f


def test_starts_in_parallel_end_as_one_after_the_other():
    pytest.importorskip("joblib")
    one, two = (two_valleys().minimize(starts=4, n_jobs=n) for n in (1, 2))
    assert np.array_equal(one.x, two.x)
    assert [row.f for row in one.starts] == [row.f for row in two.starts]


@pytest.mark.parametrize(
    ("starts", "text"),
    [(0, "at least 1"), (2.5, "a number of starts"), ([], "is empty"), ([[np.nan]], "list of vectors")],
)
def test_invalid_starts(starts, text):
    with pytest.raises(InvalidParameter, match=text):
        two_valleys().minimize(starts=starts)
