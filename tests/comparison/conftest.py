"""What the tests of the comparison share: pit props at k = 6 with every method, and the row of a method."""

import pytest

from dcgev_cvx import compare, datasets
from dcgev_cvx.comparison import METHODS


@pytest.fixture(scope="session")
def six():
    return compare(datasets.pitprops(), 6)


@pytest.fixture
def row_of():
    """The row of a method, by its name, in a comparison."""

    def find(comparison, name):
        method = METHODS[name]
        return next(row for row in comparison.rows if (row.method, row.side) == (method.title, method.side))

    return find
