"""Questions about one MM step: the branches that the plain ones take, the hard ones near a boundary or a tie."""

from __future__ import annotations

import numpy as np
import pytest

from dcgev_cvx.verify.call_pairs import usable
from dcgev_cvx.verify.levels import PROFILES
from dcgev_cvx.verify.reference_answers import reference
from dcgev_cvx.verify.step_cases import STEP_SPACE, hard_steps, penalty_of, plain_steps, shifted, through
from dcgev_cvx.verify.suite import suite


@pytest.mark.parametrize("seed", [0, 7])
def test_plain_steps_keep_some_entries_and_drop_others_in_every_branch(seed):
    cases = list(plain_steps("step", seed))
    assert all(map(usable, cases))
    branches = {}
    for case in cases:
        B, x = case.B, reference(case).x
        metric = (
            "I" if np.array_equal(B, np.eye(case.n)) else "diagonal" if not (B - np.diag(B.diagonal())).any() else ""
        )
        branches.setdefault((metric, case.data["tau"] > 0.0), []).append(0 < np.count_nonzero(x) < case.n)
    assert {key: sum(partial) >= 3 for key, partial in branches.items()} == {
        (metric, shifted): True for metric in ("I", "diagonal", "") for shifted in (False, True)
    }


def test_plain_steps_of_fda_lie_in_the_plane():
    cases = list(plain_steps("fda", 0))
    assert len(cases) == 27
    assert all(usable(case) and abs(case.data["a"] @ case.data["y"] - 1.0) < 1e-9 for case in cases)
    assert any(0 < np.count_nonzero(reference(case).x) < case.n for case in cases)


@pytest.mark.parametrize("level", ["step", "fda"])
def test_the_suite_asks_the_plain_steps(level):
    asked = {case.name for case in suite(level, 0, "quick").cases}
    assert {case.name for case in plain_steps(level, 0)} <= asked


def test_hard_steps_name_their_kind():
    kinds = {case.flags[0] for case in hard_steps(0, 4)}
    assert kinds == {"nearly-active", "near-tie", "zero-A", "cancelling", "twins", "barely-I", "large-ρ"}


def test_a_penalty_is_a_share_of_what_takes_every_entry_to_zero():
    rng, y, pull = np.random.default_rng(0), np.array([0.6, 0.8]), np.array([2.0, 1.0])
    limit = float(np.max(pull * (y + 0.1)) * np.log(1.0 + 1.0 / 0.1))
    low, high = STEP_SPACE.dimensions["ρ"]["0.3 … 0.6"]
    assert all(low * limit <= penalty_of("0.3 … 0.6", pull, y, 0.1, rng) <= high * limit for _ in range(20))


def test_the_least_shift_makes_a_semidefinite():
    A = np.array([[1.0, 2.0], [2.0, 1.0]])
    assert shifted(A) == pytest.approx(1.0)
    assert shifted(A @ A) == 0.0


def test_a_start_of_sparse_fda_is_not_huge_where_a_has_one_nonzero():
    y = through(np.array([0.0, 2.0, 0.0]), np.array([1.0, 1e-9, -0.5]))
    np.testing.assert_allclose(y, [5e-10, 0.5, -0.25])
    found = suite("fda", 0, "quick", PROFILES["interior-point"]).cases
    assert max(float(np.sqrt(case.data["y"] @ case.B @ case.data["y"])) for case in found) < 1e3


@pytest.mark.parametrize("seed", range(5))
def test_optima_just_inside_and_just_at_the_boundary_are_asked_at_every_seed(seed):
    near = [case for case in hard_steps(seed, 4) if "nearly-active" in case.flags]
    norms = [float(np.sqrt(x @ case.B @ x)) for case in near for x in [reference(case).x]]
    np.testing.assert_allclose(norms, [0.9997, 0.997, 1.0, 1.0], atol=1e-9)
