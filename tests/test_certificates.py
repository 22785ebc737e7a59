"""Certificates, renormalization, values and Solutions, against 50-digit arithmetic."""

from fractions import Fraction

import numpy as np
import pytest
import referee
from hypothesis import given
from hypothesis import strategies as st

from dcgev_cvx import (
    Gram,
    InvalidParameter,
    InvalidPencil,
    Iterate,
    Pencil,
    SparseFDA,
    SparseGEV,
    Stop,
    certificates,
    certify,
    dc_pca,
    renormalize,
    sparse_fda,
)
from dcgev_cvx._numerics.exact_products import rounded_product
from dcgev_cvx.certificates import (
    Certificate,
    ExactPencil,
    by_support_size,
    carefully,
    on_support,
    sandwich_violation,
    snap,
    step_residuals,
    value,
)
from dcgev_cvx.penalties import ExponentialPenalty, L1Penalty
from dcgev_cvx.solutions import solution_of
from dcgev_cvx.steps.native import native_step

epsilons = st.sampled_from([1.0, 1e-2, 1e-4, 1e-8, 2.2e-16])


@given(st.integers(0, 500), epsilons, st.floats(0.01, 3), st.sampled_from([None, 10.0, 1e4]))
def test_stationarity_is_the_referees(seed, eps, rho, cond):
    A, B = referee.random_pencil(seed, 5, cond=cond)
    x = referee.start(seed, B, 5, zeros=seed % 4)
    program = SparseGEV(Pencil(A, B), rho, eps)
    mine, theirs = certify(program, x).stationarity, referee.stationarity(A, B, x, rho=rho, eps=eps)
    # ours may also divide by 2μBx, the other term that must cancel: it is never larger
    assert mine <= theirs * (1 + 1e-9) + 1e-12
    assert mine >= 0.01 * min(theirs, 1.0) - 1e-12


@given(st.integers(0, 500), epsilons, st.floats(0.01, 3), st.booleans(), st.sampled_from(["identity", "metric"]))
def test_step_residual_is_the_referees(seed, eps, rho, indefinite, shift):
    A, B = referee.random_pencil(seed, 5, cond=10.0, indefinite=indefinite)
    program = SparseGEV(Pencil(A, B), rho, eps, shift=shift)
    y, x = referee.start(seed, B, 5, zeros=1), referee.start(seed + 1, B, 5, zeros=seed % 4)
    mine = max(step_residuals(program, y, x))
    theirs = referee.step_kkt(A, B, y, x, rho=rho, eps=eps, tau=program.tau, shift=shift)
    # one divides by the largest term, the other by ‖2c‖: the same up to a factor
    assert (mine <= 1e-11) == (theirs <= 1e-10)
    assert mine <= 5 * theirs + 1e-12


def test_a_limit_is_stationary_and_a_random_point_is_not(pitprops):
    result = dc_pca(pitprops, rho=1.0, eps=1e-2, stop=Stop(stationarity=1e-10))
    assert result.converged
    assert len(result.support) >= 2
    assert certify(result.program, result.x).passes(1e-8)
    assert referee.stationarity(pitprops.A, None, result.x, rho=1.0, eps=1e-2) <= 1e-8
    rng = np.random.default_rng(0)
    for _ in range(20):
        x = result.x + 1e-3 * rng.standard_normal(13) * (result.x != 0)
        assert not certify(result.program, x / np.linalg.norm(x)).passes(1e-6)


@pytest.mark.parametrize("rho", [0.0, 0.3, 5.0])
@pytest.mark.parametrize("eps", [1e-4, 2.2e-16])
def test_a_unit_vector_is_stationary_for_small_eps(rho, eps):
    A, B = referee.random_pencil(3, 4, cond=10.0)
    x = np.eye(4)[1] / np.sqrt(B[1, 1])
    program = SparseGEV(Pencil(A, B), rho, eps)
    assert certify(program, x).passes() == (rho > 0.0)


@pytest.mark.parametrize(("pull", "excess"), [(0.5, 0.0), (0.99, 0.0), (1.01, 0.01), (1.5, 0.5), (3.0, 2.0)])
def test_off_the_support_the_excess_over_the_slope_counts(pull, excess):
    """At x = e₁ with ε = 1 row 2 reads max(0, 2|A₂₁| − ρ_ε), over the largest term 2(Ax)₁ = 4."""
    program = SparseGEV(Pencil(np.eye(2)), 0.3, 1.0)
    A = np.array([[2.0, 0.5 * pull * program.rho_eps], [0.5 * pull * program.rho_eps, 1.0]])
    certificate = certify(SparseGEV(Pencil(A), 0.3, 1.0), [1.0, 0.0])
    assert certificate.stationarity == pytest.approx(excess * program.rho_eps / 4.0, abs=1e-15)


def test_dust_is_snapped_and_counted(pitprops):
    clean = dc_pca(pitprops, rho=4.84)
    program, zeros = clean.program, np.flatnonzero(clean.x == 0)
    dusty = clean.x.copy()
    dusty[zeros] = 1e-12
    assert len(zeros) == 7
    assert np.array_equal(snap(program, dusty), clean.x)
    assert certify(program, dusty).snapped == 7
    assert certify(program, dusty).passes()
    assert not certify(program, dusty, tol=0.0).passes()


def test_feasibility_is_the_violation_of_the_point_given():
    program = SparseGEV(Pencil(np.diag([2.0, 1.0])), 0.0)
    assert certify(program, [1.0, 0.0]).feasibility == 0.0
    assert certify(program, [1.5, 0.0]).feasibility == 1.25
    assert not certify(program, [1.5, 0.0]).passes()


def test_a_point_inside_with_a_pull_outward_is_not_stationary():
    program = SparseGEV(Pencil(np.diag([2.0, 1.0])), 0.0)
    certificate = certify(program, [0.5, 0.0])
    assert max(certificate.complementarity, certificate.stationarity) > 0.1
    assert not certificate.passes()
    assert certify(program, [0.0, 0.0]).passes()


@pytest.mark.parametrize("size", [1e-150, 1e-6, 1e6, 1e150])
def test_numbers_are_free_of_scale(size):
    A, B = referee.random_pencil(5, 6, cond=10.0)
    x = referee.start(5, B, 6, zeros=2)
    plain = certify(SparseGEV(Pencil(A, B), 0.4, 1e-2), x)
    scaled = certify(SparseGEV(Pencil(A * size, B), 0.4 * size, 1e-2), x)
    assert scaled.stationarity == pytest.approx(plain.stationarity, rel=1e-9)
    assert scaled.complementarity == pytest.approx(plain.complementarity, rel=1e-9, abs=1e-15)


def test_fisher_certificate():
    a, B = np.array([1.0, -0.5, 0.25, 0.1]), referee.random_pencil(1, 4, cond=10.0)[1]
    result = sparse_fda(a, B, nu=0.1, eps=1e-2)
    assert result.converged
    assert referee.fisher_kkt(a, B, result.x, result.x, nu=0.1, eps=1e-2) <= 1e-8
    program = SparseFDA(a, B, 0.1, 1e-2)
    assert certify(program, result.x).passes(1e-8)
    wrong = result.x + np.array([0.1, 0.2, 0.0, 0.0])
    assert not certify(program, wrong / (a @ wrong)).passes()
    assert not certify(program, 2 * result.x).passes()


def history(program, points):
    return [Iterate(i, x, program.f(x), program.f(x), 0.0, 0.0) for i, x in enumerate(points)]


def test_sandwich_holds_along_a_run_and_breaks_when_it_goes_backward(pitprops):
    result = dc_pca(pitprops, rho=1.0, eps=1e-2)
    assert sandwich_violation(result.program, result.history) == 0.0
    backward = history(result.program, [it.x for it in reversed(result.history[:6])])
    assert sandwich_violation(result.program, backward) > 1e-6
    assert not certify(result.program, result.x, backward).passes()


def test_sandwich_takes_nothing_from_the_history_but_points(pitprops):
    result = dc_pca(pitprops, rho=1.0, eps=1e-2)
    liars = [Iterate(it.l, it.x, -1e9 * it.l, -1e9 * it.l, 0.0, 0.0) for it in reversed(result.history[:6])]
    assert sandwich_violation(result.program, liars) > 1e-6


def test_an_ascent_in_one_part_of_the_history_is_enough(pitprops):
    result = dc_pca(pitprops, rho=4.84)
    points = [point.x for point in result.history]
    assert len(list(by_support_size(result.history))) > 1
    assert sandwich_violation(result.program, result.history) == 0.0
    for broken in ([*points, 0.5 * points[-1]], [points[0], 0.5 * points[0], *points]):
        assert sandwich_violation(result.program, history(result.program, broken)) > 1e-3


def test_where_every_point_is_zero_nothing_rises(pitprops):
    program = SparseGEV(pitprops, 1.0)
    assert sandwich_violation(program, history(program, [np.zeros(13)] * 3)) == 0.0


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("size", [1e100, 1e160, 1e250, 1e308])
@pytest.mark.parametrize("penalty", [None, L1Penalty(), ExponentialPenalty()], ids=["log", "l1", "exp"])
def test_far_outside_nothing_passes_and_nothing_warns(size, penalty):
    A, B = referee.random_pencil(2, 4, cond=100.0, indefinite=True)
    x = size * np.array([0.5, -0.25, 0.125, -0.5])
    program = SparseGEV(Pencil(A, B), 0.3, 1e-2, penalty=penalty)
    fisher = SparseFDA([1.0, 0.5, -0.5, 0.1], B, 0.1, 1e-2, penalty)
    for judge in (program, fisher):
        assert not certify(judge, x).passes()
        begin = judge.start()
        there_and_back = [Iterate(i, point, 0.0, 0.0, 0.0, 0.0) for i, point in enumerate((begin, x, begin))]
        assert sandwich_violation(judge, there_and_back) > 1e-9


def test_a_point_just_inside_passes_with_the_multiplier_of_the_boundary(pitprops):
    result = dc_pca(pitprops, rho=1.0, eps=1e-2)
    just_inside = certify(result.program, (1.0 - 1e-9) * result.x)
    assert just_inside.passes()
    assert just_inside.complementarity == pytest.approx(1e-9, rel=0.5)


def test_the_snap_does_not_depend_on_the_size_of_x():
    program = SparseGEV(Pencil(np.diag([2.0, 1.0, 1.0])), 0.1)
    for size in (1e-320, 1e-200, 1.0, 1e200):
        assert np.count_nonzero(snap(program, size * np.array([1.0, 0.5, 0.0]))) == 2
    assert np.count_nonzero(snap(program, 1e-200 * np.array([1.0, 0.5, 1e-10]))) == 2


def test_passes_looks_at_each_number():
    good = {"feasibility": 0.0, "stationarity": 0.0, "complementarity": 0.0, "sandwich": 0.0, "snapped": 0}
    assert Certificate(**good).passes()
    for name in ("feasibility", "stationarity", "complementarity", "sandwich"):
        for bad in (1e-3, float("inf"), float("nan")):
            assert not Certificate(**{**good, name: bad}).passes()
        assert Certificate(**{**good, name: 1e-10}).passes()


def test_a_certificate_prints_as_words_and_counts_what_it_took_as_zero(pitprops):
    result = dc_pca(pitprops, rho=4.84)
    assert f"certificate: {result.certificate}" in str(result)
    assert str(result.certificate).startswith("feasibility 0.0e+00, stationarity ")
    dusty = certify(result.program, np.where(result.x == 0.0, 1e-10, result.x))
    assert str(dusty).endswith(", 7 entries taken as zero")


@given(st.integers(0, 1000), st.integers(1, 7), st.sampled_from([None, 10.0, 1e4]), st.booleans())
def test_value_never_falls_and_is_the_best_of_its_support(seed, n, cond, indefinite):
    A, B = referee.random_pencil(seed, n, cond=cond, indefinite=indefinite)
    pencil, x = Pencil(A, B), referee.start(seed, B, n, zeros=seed % n)
    z = renormalize(pencil, x)
    support = np.flatnonzero(x)
    best, _ = referee.best_subset(A[np.ix_(support, support)], pencil.B_sub(support), len(support))
    size = max(1.0, abs(pencil.lambda_max))
    assert np.all(z[x == 0] == 0.0)
    assert pencil.B_norm(z) == pytest.approx(1.0, abs=1e-10)
    assert value(pencil, z) >= value(pencil, x) - 1e-10 * size
    assert value(pencil, z) == pytest.approx(best, abs=1e-9 * size)
    assert pencil.B_dot(z) @ x >= 0


def test_a_full_support_gives_the_leading_vector():
    A, B = referee.random_pencil(1, 5, cond=10.0)
    pencil = Pencil(A, B)
    assert renormalize(pencil, pencil.leading_vector) == pytest.approx(pencil.leading_vector, abs=1e-12)
    assert renormalize(pencil, -pencil.leading_vector) == pytest.approx(-pencil.leading_vector, abs=1e-12)
    assert on_support(pencil, np.array([2])) == pytest.approx(np.eye(5)[2] / np.sqrt(B[2, 2]))


def test_zero_has_no_support():
    with pytest.raises(InvalidParameter, match="x = 0 has no support to renormalize on"):
        renormalize(Pencil(np.eye(3)), np.zeros(3))
    with pytest.raises(InvalidParameter, match="x must have length 3"):
        renormalize(Pencil(np.eye(3)), np.ones(2))


def quotient(pencil, x):
    """xᵀAx/xᵀBx of the numbers as they are, and as a fraction."""
    z = [Fraction(float(entry)) for entry in x]

    def quad(M):
        return sum(z[i] * z[j] * Fraction(float(M[i, j])) for i in range(len(z)) for j in range(len(z)))

    if isinstance(pencil.A, Gram):
        above = sum(sum(Fraction(float(c)) * t for c, t in zip(row, z, strict=True)) ** 2 for row in pencil.A.C)
    else:
        above = quad(pencil.A)
    return above / quad(pencil.dense()[1])


@pytest.mark.parametrize("kind", ["dense", "factor", "near B", "underflow"])
@pytest.mark.parametrize("cond", [1e2, 1e8, 1e12, 1e14])
def test_a_value_is_that_of_its_vector_however_b_is_conditioned(kind, cond):
    """At cond(B) = 1e12 xᵀBx lost four digits: values stood above proved bounds, and the gap looked closed."""
    for seed in range(5):
        A, B = referee.random_pencil(seed, 6, cond=cond)
        if kind == "near B":
            A = B + 1e-10 * A
        if kind == "underflow":
            A = 1e-298 * A
        pencil = Pencil(Gram(A) if kind == "factor" else A, B)
        x = pencil.leading_vector * (1e-12 if kind == "underflow" else 1.0)
        exact = quotient(pencil, x)
        assert abs(Fraction(value(pencil, x)) / exact - 1) <= 1e-11


def test_a_part_of_a_pencil_is_not_refused():
    """Its eigenvalues may be too small to be the whole of a pencil."""
    pencil = Pencil(np.diag([1.0, 1e-310, 1e-310]), np.eye(3))
    assert on_support(pencil, np.array([1, 2])) @ np.ones(3) == pytest.approx(1.0)
    assert value(pencil, on_support(pencil, np.array([1]))) == 1e-310


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("x", [[1.0, -1.0], [1e155, -1e155]])
def test_a_value_beyond_floating_point_is_refused(x):
    pencil = Pencil(np.diag([1e299, 1e298]), [[1.0, 1.0 - 1e-12], [1.0 - 1e-12, 1.0]])
    with pytest.raises(InvalidPencil, match=r"overflows: divide A by 1e100"):
        value(pencil, np.array(x))
    assert value(Pencil(np.diag([1e199, 1e198]), pencil.B), np.array(x)) == pytest.approx(5.5e210, rel=1e-3)


# ---- an ill-conditioned B


def nearly_singular(rng, n, digits):
    Q, _ = np.linalg.qr(rng.standard_normal((n, n)))
    B = (Q * 10.0 ** np.append(np.zeros(n - 1), -digits)) @ Q.T
    return Pencil(np.eye(n), 0.5 * (B + B.T))


def exact_form(M, x):
    parts = [Fraction(float(v)) for v in x]
    return sum(parts[i] * Fraction(float(M[i, j])) * parts[j] for i in range(len(x)) for j in range(len(x)))


@pytest.mark.parametrize("digits", [9.0, 11.0, 13.0])
def test_norms_and_certificates_are_exact_where_the_metric_cancels(digits):
    rng = np.random.default_rng(int(digits))
    pencil = nearly_singular(rng, 6, digits)
    x = renormalize(pencil, np.ones(6))
    found = solution_of(pencil, 3.0 * x, "test", 0.0)
    for unit in (x, found.x):
        assert abs(float(exact_form(pencil.B, unit) - 1)) < 1e-8
    program = SparseGEV(pencil, 0.0)
    for scale in (1.0, 1.1):
        truth = float(max(Fraction(0), exact_form(pencil.B, scale * x) - 1))
        assert certify(program, scale * x).feasibility == pytest.approx(truth, rel=1e-9, abs=1e-15)
    exact = [
        float(sum(Fraction(float(b)) * Fraction(float(v)) for b, v in zip(row, x, strict=True))) for row in pencil.B
    ]
    assert rounded_product(pencil.B, x).tolist() == exact
    gram = Gram(rng.standard_normal((3, 6)))
    both = ExactPencil(Pencil(gram, pencil.B))
    assert both.A_dot(x) == pytest.approx(gram.toarray() @ x, rel=1e-9, abs=1e-9 * float(np.abs(x).max()))


def test_what_cannot_be_computed_exactly_is_charged_to_the_certificate(monkeypatch):
    pencil = nearly_singular(np.random.default_rng(0), 6, 13.0)
    program, x = SparseGEV(pencil, 0.0), renormalize(pencil, np.ones(6))
    assert certify(program, x).feasibility < 1e-8
    monkeypatch.setattr(certificates, "EXACT_ENTRIES", 36)  # as many terms as there are
    assert certify(program, x).feasibility < 1e-8
    monkeypatch.setattr(certificates, "EXACT_ENTRIES", 35)
    assert carefully(program, x) == (program, 6 * pencil.rounding(x))
    charged = certify(program, x)
    assert min(charged.feasibility, charged.stationarity) > 1e-6
    assert not charged.passes()
    easy = SparseGEV(Pencil(np.eye(6)), 0.0)
    assert carefully(easy, np.ones(6)) == (easy, 0.0)


def test_numbers_do_not_depend_on_the_units_of_the_variables():
    A, B = referee.random_pencil(4, 5, cond=10.0)
    x, units = referee.start(1, B, 5), 2.0 ** np.array([-6, 0, 3, 9, -2])
    plain = certify(SparseGEV(Pencil(A, B), 0.0), x)
    scaled = certify(SparseGEV(Pencil(A * np.outer(units, units), B * np.outer(units, units)), 0.0), x / units)
    assert plain.stationarity > 1e-3
    assert scaled.stationarity == pytest.approx(plain.stationarity, rel=1e-12)
    assert scaled.complementarity == pytest.approx(plain.complementarity, rel=1e-12, abs=1e-15)


def test_a_step_is_stationary_with_a_shift():
    A, B = referee.random_pencil(3, 5, cond=10.0, indefinite=True)
    for shift in ("identity", "metric"):
        program = SparseGEV(Pencil(A, B), 0.2, 0.1, shift=shift)
        assert program.tau > 0.0
        y = program.start()
        x = native_step(program, y).x
        assert max(step_residuals(program, y, x)) <= 1e-9
        assert max(step_residuals(program, y, 0.9 * x)) > 1e-3


def test_a_vector_keeps_its_sign_when_renormalized():
    pencil = Pencil(np.array([[2.0, 1.0], [1.0, 2.0]]))
    for sign in (1.0, -1.0):
        assert renormalize(pencil, sign * np.array([1.0, 0.2])) == pytest.approx(sign * np.full(2, np.sqrt(0.5)))
    across = on_support(pencil, np.arange(2))
    assert np.array_equal(renormalize(pencil, np.array([1.0, -1.0])), across / np.linalg.norm(across))
