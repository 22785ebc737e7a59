"""What an exact search says of its answer."""

import numpy as np
from small_problems import null

from dcgev_cvx import Pencil
from dcgev_cvx.datasets import pitprops
from dcgev_cvx.exact import best_subset


def test_words():
    text = str(best_subset(pitprops(), 6))
    assert text.startswith("proved optimal: value 3.7709596")
    assert "topdiam, length, ringbut, bowmax, bowdist, whorls" in text


def test_rounding_closes_nothing_where_the_optimum_is_merely_small():
    """1e-9 beside entries of size one is far above rounding: a limit of one node leaves it open."""
    pencil = Pencil(null(30).A - (null(30).lambda_max - 1e-9) * np.eye(30))
    stopped = best_subset(pencil, 8, node_limit=1)
    assert not stopped.optimal
