"""The relaxations: the paper's, as printed; the valid and the homogeneous ones; bounds that outlive a bad solver."""

from __future__ import annotations

import pickle

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse

from dcgev_cvx import Backend, Infeasible, InvalidParameter, InvalidPencil, Pencil, SolverFailed
from dcgev_cvx.datasets import pitprops, planted_pca, two_gaussians
from dcgev_cvx.exact import brute_force
from dcgev_cvx.relaxations import (
    entrywise_sdp,
    fisher_l1,
    fisher_l1_penalized,
    homogeneous_sdp,
    literal_dual,
    literal_sdp,
    penalized_sdp,
    radius_for,
)
from dcgev_cvx.relaxations.base import Dimacs
from dcgev_cvx.relaxations.bounds import smallest_B_eigenvalue, valid_radius
from dcgev_cvx.steps import backend as solvers


def random_cca():
    """Two views of seven variables that share two factors."""
    rng, m = np.random.default_rng(1), 60
    Z = rng.standard_normal((m, 2))
    X = Z @ rng.standard_normal((2, 7)) * 0.5 + rng.standard_normal((m, 7))
    Y = Z @ rng.standard_normal((2, 7)) * 0.5 + rng.standard_normal((m, 7))
    X, Y = X - X.mean(axis=0), Y - Y.mean(axis=0)
    A, B = np.zeros((14, 14)), np.zeros((14, 14))
    A[:7, 7:], A[7:, :7] = X.T @ Y / m, Y.T @ X / m
    B[:7, :7], B[7:, 7:] = X.T @ X / m + 0.01 * np.eye(7), Y.T @ Y / m + 0.01 * np.eye(7)
    return Pencil(A, B)


TABLE = [
    # problem, k, exact, paper k², k/λmin(B), homogeneous D = I, D = diag(B)^½
    (pitprops, 2, 1.9540, 3.0172, 1.9540, 1.9540, 1.9540),
    (pitprops, 4, 2.9375, 4.2186, 3.0172, 3.0172, 3.0172),
    (pitprops, 6, 3.7710, 4.2186, 3.8137, 3.8137, 3.8137),
    (random_cca, 2, 0.4013, 0.6770, 0.6719, 0.4085, 0.4013),
    (random_cca, 4, 0.5725, 0.6882, 0.6882, 0.6034, 0.5941),
]


@pytest.mark.parametrize(("problem", "k", "exact", "paper", "valid", "plain", "diagonal"), TABLE)
def test_the_table_of_bounds(problem, k, exact, paper, valid, plain, diagonal):
    pencil = problem()
    found = [
        entrywise_sdp(pencil, radius_for(pencil, k, "paper"), k=k),
        entrywise_sdp(pencil, radius_for(pencil, k, "valid"), k=k),
        homogeneous_sdp(pencil, k, scale="identity"),
        homogeneous_sdp(pencil, k),
    ]
    assert [r.upper_bound for r in found] == pytest.approx([paper, valid, plain, diagonal], abs=5.1e-5)
    assert brute_force(pencil, k).value == pytest.approx(exact, abs=5.1e-5)
    for r in found:
        assert r.upper_bound - r.value == pytest.approx(0.0, abs=1e-4 * r.value)
        assert r.rounded.value <= exact + 1e-4
        assert r.dimacs.worst < 1e-6


@pytest.mark.parametrize("radius", [0.1, 1.0, 2.0, 8.0])
def test_the_literal_sdp_says_lambda_max_whatever_the_radius(radius):
    rng = np.random.default_rng(0)
    G, H = rng.standard_normal((8, 8)), rng.standard_normal((8, 20))
    pencil = Pencil(G + G.T, H @ H.T / 20 + 0.1 * np.eye(8))
    primal, dual = literal_sdp(pencil, radius), literal_dual(pencil, radius)
    # strong duality, and both are the dense eigenvalue: the SDP of Section 3 does not see the radius
    assert primal.value == pytest.approx(pencil.lambda_max, rel=1e-6)
    assert dual.problem.value * (dual.value / dual.problem.value) == pytest.approx(pencil.lambda_max, rel=1e-6)
    assert primal.upper_bound == dual.upper_bound >= pencil.lambda_max
    assert primal.dimacs.worst < 1e-6
    assert dual.dimacs.worst < 1e-6


def test_two_points_prove_the_vacuity_without_a_solver():
    pencil = pitprops()
    v, top = pencil.leading_vector, pencil.lambda_max
    X = np.outer(v, v)  # with x = 0: feasible for every radius
    assert np.sum(X * pencil.A) == pytest.approx(top)
    assert np.trace(X) <= 1.0 + 1e-12
    assert np.linalg.eigvalsh(top * np.eye(13) - pencil.A)[0] >= -1e-12  # r = 0, β = 0, t = 0, μ = λmax


def test_the_papers_budget_is_no_bound_where_B_is_small():
    pencil = Pencil(np.diag([3.0, 2.0, 1.0]), 0.01 * np.eye(3))
    paper = entrywise_sdp(pencil, radius_for(pencil, 1, "paper"), k=1)
    assert paper.valid_k == 0
    assert paper.upper_bound == pytest.approx(paper.value, rel=1e-6)
    assert paper.upper_bound < brute_force(pencil, 1).value  # x = 10·e₁ has ‖x‖₁ = 10
    valid = entrywise_sdp(pencil, radius_for(pencil, 1, "valid"), k=1)
    assert valid.valid_k == 1
    assert valid.upper_bound >= brute_force(pencil, 1).value


@pytest.mark.parametrize("iterations", [20, 50, 100])
def test_a_solver_stopped_early_gives_a_worse_bound_never_a_wrong_one(iterations):
    for pencil, k in ((pitprops(), 6), (random_cca(), 4)):
        truth = brute_force(pencil, k).value
        sloppy = Backend("SCS", {"max_iters": iterations})
        for relaxed in (
            homogeneous_sdp(pencil, k, solver=sloppy),
            entrywise_sdp(pencil, radius_for(pencil, k, "valid"), solver=sloppy),
        ):
            assert truth <= relaxed.upper_bound <= pencil.lambda_max * (1.0 + 1e-9)


def test_sharpening_pays():
    relaxed = homogeneous_sdp(pitprops(), 6, solver=Backend("SCS", {"max_iters": 50}))
    assert relaxed.upper_bound < 4.0


@pytest.mark.parametrize("fault", ["nan", "none", "shape", "flip"])
def test_a_lying_solver_is_refused_or_outlived(monkeypatch, fault):
    honest = solvers.attempt

    def lying(problem, name, options, *, unfinished=False):
        out = honest(problem, name, options, unfinished=unfinished)
        constraint = problem.constraints[0]
        S = constraint.dual_value
        bad = {"nan": np.full_like(S, np.nan), "none": None, "shape": S[:2, :2], "flip": -7.0 * S}[fault]
        constraint.dual_variables[0].save_value(bad)
        return out

    monkeypatch.setattr("dcgev_cvx.relaxations.base.attempt", lying)
    pencil = pitprops()
    if fault == "flip":
        assert brute_force(pencil, 4).value <= homogeneous_sdp(pencil, 4).upper_bound
    else:
        with pytest.raises(SolverFailed, match="no finite 13×13 matrix"):
            homogeneous_sdp(pencil, 4)


FAULTS = {
    "random": lambda v: np.random.default_rng(np.size(v)).standard_normal(np.shape(v)),
    "nan": lambda v: np.full(np.shape(v), np.nan),
    "inf": lambda v: np.full(np.shape(v), np.inf),
    "zeros": lambda v: np.zeros(np.shape(v)),
    "huge": lambda v: 1e200 * np.asarray(v),
    "tiny": lambda v: 1e-200 * np.asarray(v),
    "sign": lambda v: -np.asarray(v),
    "single": lambda v: np.asarray(v, dtype=np.float32).astype(np.float64),
    "shape": lambda v: np.zeros(3),
    "none": lambda v: None,
}
ODD = {
    "text": lambda v: "garbage",
    "letters": lambda v: np.full(np.shape(v), "x"),
    "objects": lambda v: np.full(np.shape(v), None, dtype=object),
    "complex": lambda v: np.asarray(v) * (1.0 + 1.0j),
    "sparse": lambda v: scipy.sparse.csr_matrix(np.atleast_2d(v)),
    "largest": lambda v: np.full(np.shape(v), 1.7e308),
    "one": lambda v: 3.0,
}
"""What is no array of numbers, or of no size that an answer has."""
SDPS = {
    "homogeneous": lambda pencil, k: homogeneous_sdp(pencil, k),
    "entrywise": lambda pencil, k: entrywise_sdp(pencil, radius_for(pencil, k, "valid")),
    "penalised": lambda pencil, k: penalized_sdp(pencil, 0.1),
    "literal": lambda pencil, k: literal_sdp(pencil, float(k)),
    "literal dual": lambda pencil, k: literal_dual(pencil, float(k)),
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("fault", [*FAULTS, *ODD])
@pytest.mark.parametrize("sdp", SDPS)
def test_every_number_of_a_solver_may_be_wrong(monkeypatch, sdp, fault):
    """All multipliers, all variables, and each of them alone: a bound that holds, or SolverFailed; no other error."""
    k, pencil = 2, Pencil(1e120 * random_cca().A, random_cca().B)
    truth, honest = brute_force(pencil, k).value, solvers.attempt
    victims = [slice(None), slice(1), slice(1, 2), slice(2, 3), slice(3, None)]

    def lying(problem, name, options, *, unfinished=False):
        out = honest(problem, name, options, unfinished=unfinished)
        numbers = [*(v for c in problem.constraints for v in c.dual_variables), *problem.variables()]
        for variable in numbers[victims[0]]:
            variable._value = (FAULTS | ODD)[fault](variable.value)
        return out

    monkeypatch.setattr("dcgev_cvx.relaxations.base.attempt", lying)
    while victims:
        try:
            found = SDPS[sdp](pencil, k)
        except SolverFailed:
            continue
        finally:
            victims.pop(0)
        price = 0.1 * valid_radius(pencil, k) ** 2 if sdp == "penalised" else 0.0
        assert found.upper_bound + price >= truth * (1.0 - 1e-12)
        assert str(found)
        assert found.dimacs.worst >= 0.0


@pytest.mark.parametrize("share", [0.5, 1.0, 1.5])
def test_a_trace_that_is_not_one_is_an_error_where_it_has_to_be_one(monkeypatch, share):
    """err1 counts what is missing from tr(XB) = 1 too; tr(XB) ≤ 1 asks for no more than that."""
    honest, pencil = solvers.attempt, Pencil(np.diag([3.0, 2.0, 1.0]))

    def lying(problem, name, options, *, unfinished=False):
        out = honest(problem, name, options, unfinished=unfinished)
        (X,) = problem.variables()
        X.save_value(share * X.value)
        return out

    monkeypatch.setattr("dcgev_cvx.relaxations.base.attempt", lying)
    assert homogeneous_sdp(pencil, 1).dimacs.err1 == pytest.approx(abs(share - 1.0) / 2.0, abs=1e-6)
    assert entrywise_sdp(pencil, 2.0).dimacs.err1 == pytest.approx(max(0.0, share - 1.0) / 2.0, abs=1e-6)


def test_a_missing_multiplier_makes_the_worst_error_infinite():
    assert Dimacs(0.0, 0.0, np.nan, 0.0, 0.0, 0.0).worst == np.inf
    assert Dimacs(0.0, 0.0, 0.0, 0.0, -0.25, 0.0).worst == 0.25


def test_rank_one_is_told_apart_from_exact():
    exact, loose = homogeneous_sdp(pitprops(), 2), homogeneous_sdp(pitprops(), 4)
    assert exact.rank == 1
    assert exact.exact
    assert "the relaxation is exact" in str(exact)
    assert loose.rank == 1
    assert not loose.exact
    assert "more than k nonzeros" in str(loose)
    assert loose.rounded.k == 4


def test_the_homogeneous_sdp_does_not_depend_on_units():
    pencil = random_cca()
    A, B = pencil.dense()
    s = 10.0 ** np.linspace(-3.0, 3.0, 14)
    scaled = Pencil(1e40 * A * np.outer(s, s), 1e-20 * B * np.outer(s, s))
    assert homogeneous_sdp(scaled, 4).upper_bound == pytest.approx(
        1e60 * homogeneous_sdp(pencil, 4).upper_bound, rel=1e-6
    )


def test_negative_spectra_and_one_variable():
    negative = homogeneous_sdp(Pencil(-np.eye(5) - 0.1), 3)
    assert negative.upper_bound == pytest.approx(-1.0, abs=1e-6)
    assert literal_sdp(Pencil(-np.eye(3)), 1.0).upper_bound == 0.0
    one = homogeneous_sdp(Pencil([[2.0]], [[0.5]]), 1)
    assert one.upper_bound == pytest.approx(4.0)


def test_scs_and_clarabel_agree_and_the_first_is_chosen_by_size():
    pencil = planted_pca(35, 4, samples=100).pencil
    relaxed = homogeneous_sdp(pencil, 4)
    assert relaxed.solver == "SCS"
    assert homogeneous_sdp(pitprops(), 4).solver == "CLARABEL"
    other = homogeneous_sdp(pencil, 4, solver="CLARABEL")
    assert relaxed.upper_bound == pytest.approx(other.upper_bound, rel=1e-4)
    assert relaxed.upper_bound - relaxed.value == pytest.approx(0.0, abs=1e-4 * relaxed.value)


def test_the_penalised_form_bounds_what_it_says():
    pencil, rho, k = pitprops(), 0.2, 4
    relaxed = penalized_sdp(pencil, rho)
    assert relaxed.value == pytest.approx(relaxed.upper_bound, rel=1e-6)
    assert relaxed.upper_bound + rho * k >= brute_force(pencil, k).value
    assert penalized_sdp(pencil, 0.0).upper_bound == pytest.approx(pencil.lambda_max)


def test_problems_can_be_printed_with_their_parameters():
    problem = homogeneous_sdp(pitprops(), 4).problem
    assert [p.name() for p in problem.parameters()] == ["k"]
    assert problem.is_dpp()
    assert "abs" in str(problem)
    assert isinstance(problem, cp.Problem)


def test_results_are_read_only_and_inputs_untouched():
    pencil = pitprops()
    before = np.array(pencil.A)
    relaxed = homogeneous_sdp(pencil, 3)
    with pytest.raises(ValueError, match="read-only"):
        relaxed.X[0, 0] = 1.0
    assert np.array_equal(before, pencil.A)


def test_bad_input():
    pencil = pitprops()
    with pytest.raises(InvalidParameter, match="k = 0 is out of range"):
        homogeneous_sdp(pencil, 0)
    with pytest.raises(InvalidParameter, match="radius = -1 is out of range"):
        entrywise_sdp(pencil, -1.0)
    with pytest.raises(InvalidParameter, match="rule = 'loose' is unknown; known: paper, valid"):
        radius_for(pencil, 2, "loose")
    with pytest.raises(InvalidParameter, match=r"n = 400 has 80200 variables.*GB.*cheap_bound"):
        homogeneous_sdp(Pencil(np.eye(400)), 3)


def fisher_data():
    X, y, _ = two_gaussians(20, 3)
    a = X[y == 1.0].mean(axis=0) - X[y == 0.0].mean(axis=0)
    return a, np.cov(X[y == 1.0].T) + np.cov(X[y == 0.0].T)


@pytest.mark.parametrize("factor", [1.0, 1.001, 2.0, 20.0])
def test_l1_fda_is_solved_to_its_dual_bound(factor):
    a, B = fisher_data()
    radius = factor / np.max(np.abs(a))
    qp = fisher_l1(a, B, radius)
    assert a @ qp.x == pytest.approx(1.0)
    assert np.sum(np.abs(qp.x)) <= radius * (1.0 + 1e-9)
    assert qp.lower_bound <= qp.value * (1.0 + 1e-12)
    assert qp.gap.relative < 1e-6
    if factor == 20.0:  # a loose ball: the dense Fisher direction
        assert qp.value == pytest.approx(1.0 / (a @ np.linalg.solve(B, a)), rel=1e-6)


@pytest.mark.parametrize("nu", [0.0, 0.1, 1.0, 10.0])
def test_penalized_l1_fda_is_solved_to_its_dual_bound(nu):
    a, B = fisher_data()
    qp = fisher_l1_penalized(a, B, nu)
    assert a @ qp.x == pytest.approx(1.0)
    assert qp.lower_bound <= qp.value * (1.0 + 1e-12)
    assert qp.gap.relative < 1e-6


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("factor", [1.0, 30.0, 1e5, 1e9])
def test_the_fisher_bound_outlives_any_multiplier(monkeypatch, fault, factor):
    """B with a condition of 1e7: what is proved of the minimum stays below what is attained, whatever β is."""
    rng, honest = np.random.default_rng(0), solvers.attempt
    Q = np.linalg.qr(rng.standard_normal((5, 5)))[0]
    a, B = rng.standard_normal(5), (Q * np.logspace(-7, 0, 5)) @ Q.T
    radius = 1.5 / np.max(np.abs(a))
    fair = fisher_l1(a, 0.5 * (B + B.T), radius)
    assert fair.gap.relative <= 1e-6

    def lying(problem, name, options, *, unfinished=False):
        out = honest(problem, name, options, unfinished=unfinished)
        for variable in problem.constraints[-1].dual_variables:
            variable._value = factor * FAULTS[fault](variable.value) if fault != "none" else None
        return out

    monkeypatch.setattr("dcgev_cvx.relaxations.base.attempt", lying)
    assert 0.0 <= fisher_l1(a, 0.5 * (B + B.T), radius).lower_bound <= fair.value


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("fault", ODD)
@pytest.mark.parametrize("victim", ["x", "multipliers"])
def test_a_fisher_qp_refuses_or_outlives_what_is_no_number(monkeypatch, victim, fault):
    honest = solvers.attempt

    def lying(problem, name, options, *, unfinished=False):
        out = honest(problem, name, options, unfinished=unfinished)
        multipliers = [v for c in problem.constraints for v in c.dual_variables]
        for variable in problem.variables() if victim == "x" else multipliers:
            variable._value = ODD[fault](variable.value)
        return out

    monkeypatch.setattr("dcgev_cvx.relaxations.base.attempt", lying)
    if victim == "x":
        with pytest.raises(SolverFailed, match="returned no finite vector"):
            fisher_l1([1.0, 0.5], np.eye(2), 1.5)
    else:
        assert 0.0 <= fisher_l1([1.0, 0.5], np.eye(2), 1.5).lower_bound <= 0.8


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("size", [1e-320, 1e-300, 1e300])
def test_a_metric_whose_reciprocals_leave_floating_point_is_refused(size):
    pencil = Pencil(size * np.array([[2.0, 1.0], [1.0, 3.0]]), size * np.eye(2))
    for sdp in SDPS.values():
        with pytest.raises(InvalidPencil, match=r"(Rescale B|no ℓ1 radius)"):
            sdp(pencil, 1)


def test_l1_fda_without_a_feasible_point():
    a, B = fisher_data()
    least = 1.0 / np.max(np.abs(a))
    with pytest.raises(Infeasible, match=f"{least:.6f}"[:6]):
        fisher_l1(a, B, 0.99 * least)
    with pytest.raises(Infeasible, match="a = 0"):
        fisher_l1(np.zeros(20), B, 1.0)


def test_a_relaxation_travels_without_its_problem(pitprops):
    import pickle

    from dcgev_cvx.relaxations import homogeneous_sdp

    here = homogeneous_sdp(pitprops, 2)
    there = pickle.loads(pickle.dumps(here))
    assert there.upper_bound == here.upper_bound
    assert there.problem is None
    assert np.array_equal(there.X, here.X)


def test_a_fisher_qp_travels_between_processes():
    found = fisher_l1([1.0, 0.5], np.eye(2), 1.2)
    back = pickle.loads(pickle.dumps(found))
    assert np.array_equal(back.x, found.x)
    assert back.gap == found.gap
    assert back.problem is None
    assert found.problem is not None


def nearly_singular():
    Q = np.linalg.qr(np.random.default_rng(19).standard_normal((3, 3)))[0]
    B = (Q * np.logspace(-14.8, 0, 3)) @ Q.T
    M = np.random.default_rng(9).standard_normal((3, 3))
    return Pencil(M @ M.T, 0.5 * (B + B.T))


def test_where_no_radius_is_proved_none_is_given():
    pencil = nearly_singular()
    assert smallest_B_eigenvalue(pencil) == 0.0
    assert valid_radius(pencil, 2) == np.inf
    with pytest.raises(InvalidPencil, match=r"no ℓ1 radius is proved to hold at k = 2.*near .e\+1.*homogeneous_sdp"):
        radius_for(pencil, 2, "valid")
    assert radius_for(pencil, 2, "paper") == 2.0
    assert entrywise_sdp(pencil, 2.0, k=2).valid_k == 0


def test_units_do_not_spoil_the_radius():
    """The smallest eigenvalue lies below the rounding of the largest, and is known all the same."""
    c = 2.0**-50
    pencil = Pencil(np.diag([1.0, c]), [[1.0, 2.0**-26], [2.0**-26, c]])
    lowest = 0.75 * c  # det/trace, to ten digits
    assert 0.2 * lowest <= smallest_B_eigenvalue(pencil) <= lowest * (1.0 + 1e-9)
    radius = radius_for(pencil, 2, "valid")
    found = entrywise_sdp(pencil, radius, k=2)
    assert found.valid_k == 2
    assert found.upper_bound >= pencil.lambda_max
