"""Questions and tolerance profiles."""

from __future__ import annotations

import numpy as np
import pytest

from dcgev_cvx.errors import InvalidParameter
from dcgev_cvx.verify.levels import PROFILES, Tolerances, question, tolerances


def test_a_question_is_copied_and_read_only():
    A = np.eye(2)
    case = question("bound", "two", (), {"A": A, "B": np.eye(2), "k": 1})
    A[0, 0] = 7.0
    assert case.data["A"][0, 0] == 1.0
    assert not case.data["A"].flags.writeable
    assert all(a.flags.writeable for a in case.arguments() if isinstance(a, np.ndarray))


def test_a_tolerance_is_a_profile_a_number_or_the_standard():
    assert tolerances(None) is PROFILES["standard"]
    assert tolerances("closed") is PROFILES["closed"]
    assert tolerances(1e-7).accuracy == 1e-7
    own = Tolerances("own", 1e-4, "a test")
    assert tolerances(own) is own
    with pytest.raises(InvalidParameter, match="Pass a number or a profile; did you mean 'closed'"):
        tolerances("close")


def test_a_profile_says_which_cases_it_is_for():
    data = {"A": np.eye(2), "B": np.diag([1.0, 1e-4]), "y": np.ones(2), "rho": 0.1, "eps": 1e-6, "tau": 0.0}
    hard, mild = (
        question("step", "hard", (), data),
        question("step", "mild", (), {**data, "B": np.eye(2), "eps": 0.1}),
    )
    assert PROFILES["standard"].admits(hard)
    assert not PROFILES["interior-point"].admits(hard)
    assert PROFILES["interior-point"].admits(mild)
