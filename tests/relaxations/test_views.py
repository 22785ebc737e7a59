"""Relaxations with a budget for each view: against enumeration, against one budget for all, under a lying solver."""

import numpy as np
import pytest
from lying_solver import EVERY_FAULT, FAULTS, ODD, lie
from small_problems import optimum

from dcgev_cvx import InvalidParameter, Pencil, SolverFailed, cca_pencil, models
from dcgev_cvx.budgets import Budget
from dcgev_cvx.relaxations import entrywise_sdp, homogeneous_sdp, pairwise_sdp, radius_for
from dcgev_cvx.relaxations.bounds import homogeneous_bound, largest_valid_k
from dcgev_cvx.relaxations.pairwise import pairwise_bound

SDPS = {
    "homogeneous": homogeneous_sdp,
    "entrywise": lambda pencil, k: entrywise_sdp(pencil, radius_for(pencil, k, "valid"), k=k),
    "pairwise": pairwise_sdp,
}


def two_views(seed, p=4, q=3):
    """A CCA pencil whose views share a factor; it has a B ≠ I."""
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((25, 1))
    X = rng.standard_normal((25, p)) @ rng.standard_normal((p, p)) + Z
    return cca_pencil(X, rng.standard_normal((25, q)) @ rng.standard_normal((q, q)) + Z, ridge=0.1)


def optimum_within(pencil, budget):
    """The best value of all supports, one after the other."""
    return max(optimum(pencil.restrict(np.array(S)), budget.total) for S in budget.supports())


@pytest.mark.parametrize("sdp", SDPS)
def test_a_budget_for_each_view_bounds_its_own_optimum_and_no_worse_than_one_for_all(sdp):
    for seed, k in enumerate([(1, 1), (2, 2), (1, 3)]):
        pencil = two_views(seed)
        found, truth = SDPS[sdp](pencil, k), optimum_within(pencil, Budget.of(pencil, k))
        assert truth <= found.upper_bound * (1.0 + 1e-12)
        assert found.upper_bound <= SDPS[sdp](pencil, sum(k)).upper_bound * (1.0 + 1e-2)
        assert Budget.of(pencil, k).admits(found.rounded.support)
        assert found.rounded.value <= truth * (1.0 + 1e-12)
        assert found.valid_k == k
        assert found.dimacs.worst < 1e-2
        assert found.upper_bound == pytest.approx(found.value, rel=0.05 if sdp == "pairwise" else 1e-4)


@pytest.mark.parametrize("sdp", SDPS)
def test_one_group_of_all_is_one_budget(sdp):
    pencil = two_views(9)
    grouped = Pencil(pencil.A, pencil.B, blocks=(7,))
    assert SDPS[sdp](grouped, [4]).upper_bound == SDPS[sdp](pencil, 4).upper_bound


def test_groups_need_not_be_views():
    pencil = Pencil(two_views(2).A + np.eye(7), two_views(2).B)
    budget = Budget.of(pencil, (1, 2, 1), groups=[[0, 3], [1, 6, 4], [2, 5]])
    truth = optimum_within(pencil, budget)
    for sdp in (homogeneous_sdp, pairwise_sdp):
        assert truth * (1.0 - 1e-12) <= sdp(pencil, budget).upper_bound <= 1.1 * truth


def test_the_bounds_can_be_computed_again_from_what_is_returned():
    pencil = two_views(3)
    found = homogeneous_sdp(pencil, (2, 1))
    assert homogeneous_bound(pencil, (2, 1), found.U, X=found.X) == found.upper_bound
    paired = pairwise_sdp(pencil, (2, 1))
    assert pairwise_bound(pencil, (2, 1), paired.U, paired.a) == paired.upper_bound


@pytest.mark.parametrize("k", [(2, 1), (4, 3)])
def test_the_problems_are_the_models_in_the_users_own_data(k):
    pencil = two_views(4)
    labels = Budget.of(pencil, k).labels
    A, B = pencil.dense()
    value = models.homogeneous_sdp_by_group(A, B, k, labels, pencil.B_roots).solve(solver="CLARABEL")
    assert homogeneous_sdp(pencil, k).problem.solve(solver="CLARABEL") == pytest.approx(value, rel=1e-6)
    assert homogeneous_sdp(pencil, k).value == pytest.approx(value, rel=1e-5)
    paired = models.pairwise_sdp_by_group(A, B, k, labels)
    assert pairwise_sdp(pencil, k).upper_bound == pytest.approx(paired.solve(solver="CLARABEL"), rel=1e-3)


def test_the_models_of_one_group_are_those_without_groups():
    pencil, one = two_views(5), np.zeros(7, dtype=int)
    A, B = pencil.dense()
    pairs = [
        (models.homogeneous_sdp_by_group(A, B, [3], one), models.homogeneous_sdp(A, B, 3)),
        (models.pairwise_sdp_by_group(A, B, [3], one), models.pairwise_sdp(A, B, 3)),
        (models.entrywise_sdp_by_group(A, B, [1.2], one), models.entrywise_sdp(A, B, 1.2)),
    ]
    for grouped, plain in pairs:
        assert grouped.solve(solver="CLARABEL") == pytest.approx(plain.solve(solver="CLARABEL"), rel=1e-5)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("fault", EVERY_FAULT)
@pytest.mark.parametrize("sdp", ["homogeneous", "entrywise"])
def test_every_number_of_a_solver_may_be_wrong(monkeypatch, sdp, fault):
    pencil, k = two_views(6), (2, 1)
    truth = optimum_within(pencil, Budget.of(pencil, k))
    victims = [slice(None), slice(1), slice(2, 3), slice(3, None)]

    def spoil(problem):
        numbers = [*(v for c in problem.constraints for v in c.dual_variables), *problem.variables()]
        for variable in numbers[victims[0]]:
            variable._value = (FAULTS | ODD)[fault](variable.value)

    lie(monkeypatch, spoil)
    while victims:
        try:
            assert SDPS[sdp](pencil, k).upper_bound >= truth * (1.0 - 1e-12)
        except SolverFailed:
            pass
        finally:
            victims.pop(0)


def test_a_radius_for_each_view_holds_for_a_number_in_each():
    pencil = two_views(7)
    assert radius_for(pencil, (2, 1), "paper") == (2.0, 1.0)
    radius = radius_for(pencil, (2, 1), "valid")
    assert largest_valid_k(pencil, radius) == (2, 1)
    lowest = [np.linalg.eigvalsh(pencil.B_sub(view))[0] for view in pencil.views]
    assert radius == pytest.approx(np.sqrt(np.array([2, 1]) / lowest))


def test_numbers_that_do_not_match_the_views_raise():
    pencil = two_views(8)
    for sdp in (homogeneous_sdp, pairwise_sdp):
        with pytest.raises(InvalidParameter, match="one number for each of the 2 views"):
            sdp(pencil, (1, 1, 1))
        with pytest.raises(InvalidParameter, match=r"k\[1\] = 4 is out of range"):
            sdp(pencil, (1, 4))
    with pytest.raises(InvalidParameter, match="one for each of the 2 view"):
        entrywise_sdp(pencil, (1.0, 1.0, 1.0))
    with pytest.raises(InvalidParameter, match=r"radius\[1\] = -1 is out of range"):
        entrywise_sdp(pencil, (1.0, -1.0))
