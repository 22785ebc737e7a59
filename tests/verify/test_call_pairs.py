"""Pairs of calls: transformations move the answer as they say, and changed arguments matter."""

from __future__ import annotations

import numpy as np
import pytest

from dcgev_cvx.verify.call_pairs import flipped, permuted, start_inside
from dcgev_cvx.verify.levels import strided
from dcgev_cvx.verify.reference_answers import reference
from dcgev_cvx.verify.suite import suite


@pytest.mark.parametrize("level", ["step", "fda"])
def test_the_transformations_move_the_minimiser_as_they_say(level):
    rng = np.random.default_rng(0)
    found = suite(level, 0, "quick").pairs["the same call twice"]
    for base in (pair.base for pair in found):
        x = reference(base).x
        order, signs = rng.permutation(base.n), rng.choice([-1.0, 1.0], size=base.n)
        np.testing.assert_allclose(reference(permuted(base, order)).x, x[order], atol=1e-10)
        np.testing.assert_allclose(reference(flipped(base, signs)).x, signs * x, atol=1e-10)


@pytest.mark.parametrize("name", ["A", "B", "y"])
def test_arguments_that_may_be_remembered_are_asked_where_they_matter(name):
    moves = []
    for pair in suite("step", 0, "quick").pairs["reused arrays"]:
        x, stale = reference(pair.asked).x, pair.asked.changed("stale", **{name: pair.base.data[name]})
        moves.append(np.max(np.abs(reference(stale).x - x)) / np.max(np.abs(x)))
    assert max(moves) > 1e-2


def test_a_strided_array_holds_the_same_numbers():
    array = np.arange(6.0).reshape(2, 3)
    view = strided(array)
    np.testing.assert_array_equal(view, array)
    assert not view.flags.c_contiguous
    assert all(stride < 0 for stride in view.strides)


def test_a_start_stays_where_a_rounded_B_is_indefinite():
    """yᵀBy = −4; a square root of it would warn, which is an error where warnings are."""
    assert start_inside({"B": -np.eye(1), "y": np.array([2.0])})["y"].tolist() == [2.0]
    assert start_inside({"B": np.eye(1), "y": np.array([2.0])})["y"].tolist() == [1.0]
