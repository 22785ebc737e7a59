"""The questions: every pair of levels, every size, no trivial answers."""

from __future__ import annotations

import numpy as np
import pytest

from dcgev_cvx import verify
from dcgev_cvx.verify.equations import objective, proximal_residual, tangent
from dcgev_cvx.verify.levels import PROFILES, Space, question
from dcgev_cvx.verify.run_cases import exact_run
from dcgev_cvx.verify.suite import SPACES, covered, is_telling, suite


@pytest.mark.parametrize("level", verify.LEVELS)
def test_the_cases_hold_every_pair_of_levels(level):
    found = suite(level, 0, "quick")
    assert found.space.share == 1.0
    assert found.space.missing == ()
    space = SPACES[level].without(*found.left_out)
    rows = [{flag for flag in case.flags if "=" in flag} for case in found.space.cases]
    for a, b in np.argwhere(np.triu(space.sensible)):
        assert any({space.levels[a], space.levels[b]} <= row for row in rows)


def test_full_asks_every_question_of_quick_and_more():
    quick, full = suite("bound", 0, "quick"), suite("bound", 0, "full")
    assert {digest(case) for case in quick.cases} < {digest(case) for case in full.cases}
    for name, pairs in quick.pairs.items():
        assert {digest(pair.asked) for pair in pairs} <= {digest(pair.asked) for pair in full.pairs[name]}


def digest(case):
    return tuple(np.asarray(case.data[name]).tobytes() for name in ("A", "B", "k"))


@pytest.mark.slow
@pytest.mark.parametrize("level", ["pca", "bound"])
def test_every_pair_is_held_at_other_seeds_too(level):
    assert suite(level, 2, "quick").space.missing == ()


def test_a_pair_that_cannot_be_built_does_not_crowd_out_others():
    space = Space({"a": "1234", "b": "1234", "c": "1234"})
    data = {"A": np.eye(1), "B": np.eye(1), "k": 1}

    def build(row, rng):
        return None if row["a"] == row["b"] == "1" else question("bound", "", tuple(row.values()), data)

    assert covered(space, build, np.random.default_rng(0), attempts=200).missing == (("a=1", "b=1"),)


def test_a_profile_covers_its_own_space():
    found = suite("step", 0, "quick", PROFILES["interior-point"])
    assert found.space.share == 1.0
    assert all(case.data["eps"] >= 1e-4 for case in found.space.cases)


def test_a_hiding_level_stands_in_for_no_other_pair():
    space = Space({"a": "12", "b": "12", "c": "12"}, {}, frozenset(("a=2",)))
    data = {"A": np.eye(1), "B": np.eye(1), "k": 1}

    def build(row, rng):
        return question("bound", "", tuple(f"{k}={v}" for k, v in row.items()), data)

    pairs = covered(space, build, np.random.default_rng(0)).cases
    rows = [set(case.flags) for case in (*pairs, *covered(space, build, np.random.default_rng(0), pairs).cases)]
    plain = [row for row in rows if "a=1" in row]
    assert all(any({f"b={i}", f"c={j}"} <= row for row in plain) for i in "12" for j in "12")
    assert sum("a=2" in row for row in rows) == 2


def test_levels_that_contradict_each_other_do_not_meet_and_what_cannot_be_built_is_missing():
    space = Space({"a": "12", "b": "12"}, {"a=1": ("b=1",)})
    data = {"A": np.eye(1), "B": np.eye(1), "k": 1}

    def build(row, rng):
        return None if row == {"a": "2", "b": "2"} else question("bound", "", tuple(row.values()), data)

    found = covered(space, build, np.random.default_rng(0), attempts=50)
    assert found.pairs == 3
    assert found.missing == (("a=2", "b=2"),)
    assert found.share == pytest.approx(2 / 3)
    assert not space.allows({"a": "1", "b": "1"})


def test_many_steps_depend_on_every_argument():
    cases = suite("step", 0, "quick").cases
    assert sum(map(is_telling, cases)) > 100
    assert {case.n for case in cases} >= set(range(1, 33))


def test_no_trivial_point_passes_for_the_end_of_a_useful_run():
    telling = [case for case in suite("pca", 0, "quick").cases if is_telling(case)]
    assert len(telling) > 25
    for case in telling:
        x0 = case.data["x0"]
        # a trivial point is told from an answer: it lies above the start, or it is not stationary
        for corner in (np.zeros(case.n), *np.eye(case.n)):
            above = objective(case, x0) < objective(case, corner)
            assert above or proximal_residual(tangent(case, corner), corner, 1e-9) > 1e-3
        x, steps = exact_run(case, 500)
        assert steps <= 500
        assert np.count_nonzero(x) >= 2
        assert proximal_residual(tangent(case, x), x, 1e-9) < 1e-6
