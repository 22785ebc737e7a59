"""Questions and tolerance profiles."""

from __future__ import annotations

import numpy as np
import pytest

from dcgev_cvx.errors import InvalidParameter
from dcgev_cvx.verify.levels import PROFILES, Tolerances, question, tolerances
from dcgev_cvx.verify.suite import SPACES, left_out_by


def test_a_question_is_copied_and_read_only():
    A = np.eye(2)
    case = question("bound", "two", (), {"A": A, "B": np.eye(2), "k": 1})
    A[0, 0] = 7.0
    assert case.data["A"][0, 0] == 1.0
    assert not case.data["A"].flags.writeable


def test_a_tolerance_is_a_profile_a_number_or_the_standard():
    assert tolerances(None) is PROFILES["standard"]
    assert tolerances("closed") is PROFILES["closed"]
    assert tolerances(1e-7).accuracy == 1e-7
    own = Tolerances("own", 1e-4, "a test")
    assert tolerances(own) is own
    with pytest.raises(InvalidParameter, match="Pass a number or a profile; did you mean 'closed'"):
        tolerances("close")


def test_a_profile_says_which_levels_it_is_not_for():
    left_out = left_out_by(PROFILES["interior-point"], SPACES["step"])
    assert {"ε=1e-5", "B=cond 1e8", "size of A=1e6", "τ=huge"} <= set(left_out)
    assert "ε=1e-4" not in left_out
    assert left_out_by(PROFILES["standard"], SPACES["step"]) == ("B=basis 1e8",)
    assert left_out_by(PROFILES["closed"], SPACES["step"]) == ()
