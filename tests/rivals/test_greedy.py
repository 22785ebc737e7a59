"""The greedy paths."""

import itertools

from small_problems import gaussian

from dcgev_cvx.rivals.greedy import path
from dcgev_cvx.rivals.gspca import forward


def test_greedy_paths_are_nested_and_complete():
    pencil = gaussian(10, 14)
    for supports in (list(path(pencil)), list(forward(pencil.dense()[0]))):
        assert [len(S) for S in supports] == list(range(1, 15))
        assert all(set(a) < set(b) for a, b in itertools.pairwise(supports))
