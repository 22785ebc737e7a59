"""The ρ̃ path, its end, and the cardinalities on it."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest
from families import cca, pca

from dcgev_cvx import InvalidParameter, Pencil, Status, datasets, path, rho_max, solve, sparse_gev
from dcgev_cvx.search.path import Path, PathPoint, on_path


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


def test_passing_k_is_not_being_on_the_path():
    """A run that has k nonzeros only on its way to collapse does not put k on the path."""
    rng = np.random.default_rng(0)
    A = rng.standard_normal((8, 8))
    M = rng.standard_normal((20, 8))
    assert solve(Pencil(A + A.T, M.T @ M / 20), 1).on_path is False


def test_the_runs_of_on_path_share_one_budget(monkeypatch):
    limits = []

    def spent(program, step, *, stop, shrink):
        limits.append(stop.max_iter)
        return SimpleNamespace(x=np.ones(4), n_iter=1600, status=Status.SMALL_STEP)

    module = sys.modules["dcgev_cvx.search.path"]  # the name is also that of a function
    monkeypatch.setattr(module, "minimize", spent)
    two = SimpleNamespace(x=np.array([1.0, 1.0, 0.0, 0.0]))
    monkeypatch.setattr(module, "native_run", lambda program, **_: two)
    assert not on_path(Pencil(np.diag([4.0, 3.0, 2.0, 1.0])), 2)
    assert limits == [3000, 1400]


def test_missing_lists_what_lies_between_the_smallest_and_the_largest():
    points = tuple(PathPoint(1.0, k, 1.0, (), None) for k in (7, 2, 0, 5))
    assert Path(datasets.pitprops(), points).reached == (2, 5, 7)
    assert Path(datasets.pitprops(), points).missing == (3, 4, 6)


def test_the_best_point_of_a_cardinality_has_the_largest_value():
    points = tuple(PathPoint(1.0, k, value, (), None) for k, value in ((2, 1.0), (2, 3.0), (3, 5.0), (2, 2.0)))
    assert Path(datasets.pitprops(), points).best(2).value == 3.0
