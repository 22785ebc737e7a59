"""The ρ̃ path, its end, and the cardinalities on it."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest
from families import cca, pca

from dcgev_cvx import InvalidParameter, Pencil, datasets, path, rho_max, solve, sparse_gev
from dcgev_cvx.penalties import MCP, SCAD, L1Penalty, LogPenalty, LqPenalty
from dcgev_cvx.search.path import Path, PathPoint, on_path

MODULE = sys.modules["dcgev_cvx.search.path"]  # the name is also that of a function


def test_the_grid_is_geometric_from_the_top_to_a_ten_thousandth():
    pencil = Pencil(np.diag([4.0, 3.0, 2.0]))
    found = path(pencil, eps=0.1)
    top = np.log(11.0) * 2.0 * 4.0 * 1.1
    assert rho_max(pencil, eps=0.1) == pytest.approx(top, rel=1e-12)
    assert [p.rho for p in found.points] == pytest.approx(top * 10.0 ** (-4.0 * np.arange(40) / 39), rel=1e-9)
    assert [p.rho for p in path(Pencil(np.zeros((2, 2)))).points] == [0.0]


def test_the_path_ends_when_the_callback_says_so_and_has_at_most_ten_thousand_points():
    pencil, seen = Pencil(np.diag([4.0, 3.0])), []
    found = path(pencil, points=10_000, callback=lambda point: seen.append(point) or len(seen) == 2)
    assert found.points == tuple(seen)
    assert len(seen) == 2
    assert len(path(pencil, [1.0, 2.0, 3.0], callback=lambda point: None).points) == 3
    with pytest.raises(InvalidParameter, match="points"):
        path(pencil, points=10_001)


def test_the_value_of_a_point_is_that_of_its_support_and_none_after_a_collapse():
    pencil = Pencil(np.diag([4.0, 3.0]), np.diag([2.0, 1.0]))
    x = np.array([0.1, 0.2])
    point = MODULE.point_of(pencil, 5.0, SimpleNamespace(x=x, support=(0, 1)))
    assert (point.rho, point.k, point.value) == (5.0, 2, pytest.approx(3.0))
    assert np.isnan(MODULE.point_of(pencil, 5.0, SimpleNamespace(x=0.0 * x, support=())).value)


@pytest.mark.parametrize("eps", [1.0, 1e-3, 2.2e-16])
@pytest.mark.parametrize("make", [pca, cca])
def test_rho_max_is_where_the_first_step_collapses(make, eps):
    pencil = make(0)
    top = rho_max(pencil, eps=eps)
    above = sparse_gev(pencil, rho=top * (1 + 1e-9), eps=eps, shift="metric", engine="native")
    below = sparse_gev(pencil, rho=top * (1 - 1e-6), eps=eps, shift="metric", engine="native")
    assert above.status.name == "COLLAPSED"
    assert above.n_iter == 1
    assert np.count_nonzero(below.history[1].x) >= 1


def test_path_of_pitprops(pitprops):
    """No ρ̃ gives k = 4; the values rise with k, and what is not reached is listed."""
    found = path(pitprops, points=120)
    assert 4 in found.missing
    assert {2, 3, 5, 6, 7}.issubset(found.reached)
    assert found.best(4) is None
    assert found.best(6).value == pytest.approx(3.7710, abs=1e-4)
    assert all(p.result.certificate.passes() or p.k == 0 for p in found.points)
    rhos = [p.rho for p in found.points]
    assert rhos == sorted(rhos, reverse=True)
    assert "no ρ̃ tried gave k = 4" in str(found)
    assert found.to_rows()[3]["support"] == list(found.points[3].support)


def test_path_takes_what_it_is_given(pitprops):
    assert [p.rho for p in path(pitprops, [0.5, 4.84]).points] == [4.84, 0.5]
    with pytest.raises(InvalidParameter, match="must list numbers"):
        path(pitprops, [])
    with pytest.raises(InvalidParameter, match=r"rhos\[\d\] = -1"):
        path(pitprops, [-1.0])


def test_on_path(pitprops):
    assert on_path(pitprops, 6)
    assert not on_path(pitprops, 4)


@pytest.mark.slow
def test_passing_k_is_not_being_on_the_path():
    """A run that has k nonzeros only on its way to collapse does not put k on the path."""
    rng = np.random.default_rng(0)
    A = rng.standard_normal((8, 8))
    M = rng.standard_normal((20, 8))
    assert solve(Pencil(A + A.T, M.T @ M / 20), 1).on_path is False


def test_missing_lists_what_lies_between_the_smallest_and_the_largest():
    points = tuple(PathPoint(1.0, k, 1.0, (), None) for k in (7, 2, 0, 5))
    assert Path(datasets.pitprops(), points).reached == (2, 5, 7)
    assert Path(datasets.pitprops(), points).missing == (3, 4, 6)


def test_the_best_point_of_a_cardinality_has_the_largest_value():
    points = tuple(PathPoint(1.0, k, value, (), None) for k, value in ((2, 1.0), (2, 3.0), (3, 5.0), (2, 2.0)))
    assert Path(datasets.pitprops(), points).best(2).value == 3.0


PENALTIES = [LogPenalty(), MCP(), SCAD(), LqPenalty(), L1Penalty()]


@pytest.mark.parametrize("penalty", PENALTIES, ids=lambda penalty: type(penalty).__name__)
def test_a_path_runs_with_any_penalty(penalty, pitprops):
    found = path(pitprops, points=6, penalty=penalty)
    for point in found.points:
        assert point.result.program.penalty == penalty
        assert point.result.certificate.passes()
    assert found.points[0].k <= found.points[-1].k == 13


@pytest.mark.parametrize("penalty", [LogPenalty(), LqPenalty(), L1Penalty()])
def test_at_rho_max_the_first_step_collapses_with_any_penalty_of_positive_slope(penalty, pitprops):
    top = rho_max(pitprops, penalty=penalty)
    above, below = (path(pitprops, [share * top], penalty=penalty).points[0] for share in (1.001, 0.9))
    assert above.k == 0
    assert below.result.history[1].x.any()
    assert rho_max(pitprops, penalty=LogPenalty()) == pytest.approx(rho_max(pitprops))
