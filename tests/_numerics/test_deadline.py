"""A deadline passes when its time is over, and never without a limit."""

import pytest

from dcgev_cvx import InvalidParameter
from dcgev_cvx._numerics.deadline import Deadline


def test_a_limit_of_zero_has_passed_and_no_limit_never_does():
    assert Deadline.after(0.0, "time_limit").passed
    assert Deadline.after(0.0, "time_limit").left == 0.0
    assert not Deadline.after(None, "time_limit").passed
    assert Deadline().left is None


def test_a_long_limit_has_not_passed():
    limit = Deadline.after(1e6, "time_limit")
    assert not limit.passed
    assert limit.left is not None
    assert 0.0 < limit.left <= 1e6


def test_a_negative_limit_is_invalid():
    with pytest.raises(InvalidParameter, match="time_limit = -1"):
        Deadline.after(-1.0, "time_limit")
