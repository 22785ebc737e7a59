"""The exercise `majoriser`: any majoriser is right, not only the one in the solution."""

import pytest

from dcgev_cvx import teach

RIGHT = teach.EXERCISES["majoriser"].family.make()


def larger_shift(A, x, y, rho, eps, tau):
    return RIGHT(A, x, y, rho, eps, 3.0 * tau + 1.0)


def test_a_majoriser_may_lie_higher_than_needed():
    assert teach.check("majoriser", larger_shift)
    assert teach.check("majoriser", lambda A, x, y, *s: RIGHT(A, x, y, *s) + (x - y) @ (x - y))


@pytest.mark.parametrize("share", [0.5, 0.9])
def test_a_part_of_tau_is_not_enough(share):
    verdict = teach.check("majoriser", lambda A, x, y, rho, eps, tau: RIGHT(A, x, y, rho, eps, share * tau))
    assert not verdict
    assert "It cuts f" in verdict.why
