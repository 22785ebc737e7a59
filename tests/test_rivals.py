"""Every rival against a known answer: printed loadings, exact optima, scikit-learn, brute force over supports."""

import itertools
import math
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from dcgev_cvx import Gram, Pencil, datasets, rivals
from dcgev_cvx.errors import InvalidParameter
from dcgev_cvx.rivals.base import Run, best_loadings, factor, largest, search, trimmed
from dcgev_cvx.rivals.gpower import ascend, gamma_max
from dcgev_cvx.rivals.greedy import path as greedy_path
from dcgev_cvx.rivals.gspca import bordered, forward, minors
from dcgev_cvx.rivals.scotlass import closed, driven
from dcgev_cvx.rivals.spca import elastic_net, lars, penalized, soft

EXACT = (1.0, 1.9540, 2.4753, 2.9375, 3.4062, 3.7710, 3.9962, 4.0686, 4.1386, 4.1726, 4.2083, 4.2182, 4.2186)
FAST = [name for name in rivals.RIVALS if name != "dspca"]


@pytest.fixture(scope="module")
def pit():
    return datasets.pitprops()


def gaussian(p, n, seed=0):
    return Pencil(Gram(np.random.default_rng(seed).standard_normal((p, n))))


def best_value(A, k):
    return max(np.linalg.eigvalsh(A[np.ix_(S, S)])[-1] for S in itertools.combinations(range(len(A)), k))


@pytest.mark.parametrize("name", rivals.RIVALS)
def test_one_call_shape_and_unit_answer(pit, name):
    found = rivals.RIVALS[name](pit, 5)
    assert found.k == 5
    assert len(found.support) == 5
    assert_allclose(np.linalg.norm(found.x), 1.0, rtol=1e-12)
    assert_allclose(found.value, found.x @ np.asarray(pit.A) @ found.x, rtol=1e-12)
    assert found.value <= EXACT[4] + 1e-4
    assert found.method.startswith(name)
    assert found.seconds > 0.0
    assert found.names == pit.names


@pytest.mark.parametrize("name", rivals.RIVALS)
def test_first_row_of_table_1(pit, name):
    """GSPCA and GPower print these loadings; DSPCA and the greedy path have the same support."""
    found = rivals.RIVALS[name](pit, 6)
    if name in ("gspca", "gpower", "dspca", "greedy"):
        assert found.support == (0, 1, 6, 7, 8, 9)
        printed = (0.44, 0.45, 0.38, 0.34, 0.40, 0.42)
        assert_allclose(np.abs(found.x[list(found.support)]), printed, atol=0.01)


@pytest.mark.parametrize("name", ["gspca", "greedy", "gpower"])
def test_exact_optimum_on_pit_props_at_every_cardinality(pit, name):
    values = [rivals.RIVALS[name](pit, k).value for k in range(1, 14)]
    assert_allclose(values, EXACT, atol=5.1e-5)


def test_dspca_on_pit_props_is_exact_where_the_relaxation_is_tight(pit):
    assert_allclose([rivals.dspca(pit, k).value for k in (1, 2)], EXACT[:2], atol=5e-5)


def test_dspca_takes_the_valid_radius(pit, monkeypatch):
    """‖x‖₀ ≤ k and ‖x‖₂ = 1 give ‖x‖₁ ≤ √k, not k."""
    from dcgev_cvx import relaxations

    class Relaxed:
        X = np.eye(13)

    asked = []
    monkeypatch.setattr(relaxations, "entrywise_sdp", lambda pencil, radius: asked.append(radius) or Relaxed)
    rivals.dspca(pit, 4)
    assert asked == [2.0]


def test_gspca_exact_proves_the_optimum(pit):
    found = rivals.gspca(pit, 4, search="exact")
    assert found.method == "gspca-exact"
    assert_allclose(found.value, EXACT[3], atol=5e-5)


@pytest.mark.parametrize("name", FAST)
@pytest.mark.parametrize("k", [1, 4, 11, 12])
def test_bounded_by_brute_force_on_random_data(name, k):
    pencil = gaussian(6, 12, seed=k)
    found = rivals.RIVALS[name](pencil, k)
    assert found.k == k
    assert found.value <= best_value(pencil.dense()[0], k) * (1.0 + 1e-10)


@pytest.mark.parametrize("name", FAST)
def test_k_equal_n_is_the_dense_component(name):
    pencil = gaussian(15, 8)
    found = rivals.RIVALS[name](pencil, 8)
    assert found.k == 8
    assert_allclose(found.value, pencil.lambda_max, rtol=5e-3 if name == "spca" else 1e-7)


@pytest.mark.parametrize("name", FAST)
def test_planted_support_is_found(name):
    planted = datasets.planted_pca(30, 4, strength=8.0, rng=3)
    assert rivals.RIVALS[name](planted.pencil, 4).support == planted.support


# ---- the greedy passes against eigenvalues computed one by one


@settings(deadline=None, derandomize=True, max_examples=40)
@given(st.integers(2, 9), st.integers(0, 10_000))
def test_bordered_and_minor_eigenvalues(n, seed):
    M = np.random.default_rng(seed).standard_normal((n + 3, n + 3))
    A = M @ M.T
    S, rest = np.arange(n), np.arange(n, n + 3)
    values, V = np.linalg.eigh(A[:n, :n])
    found = bordered(values, V.T @ A[np.ix_(S, rest)], np.diagonal(A)[rest])
    truth = [np.linalg.eigvalsh(A[np.ix_([*S, j], [*S, j])])[-1] for j in rest]
    assert_allclose(found, truth, rtol=1e-9)
    dropped = minors(values, V)
    truth = [np.linalg.eigvalsh(np.delete(np.delete(A[:n, :n], i, 0), i, 1))[-1] for i in range(n)]
    assert_allclose(dropped, truth, rtol=1e-9)


def test_interlacing_roots_at_multiple_eigenvalues():
    """λ₁ = λ₂, a variable without coupling, and a diagonal matrix: the roots stay in their interval."""
    assert_allclose(minors(*np.linalg.eigh(np.eye(4))), 1.0)
    values, V = np.linalg.eigh(np.diag([3.0, 2.0, 1.0]))
    assert_allclose(minors(values, V), [2.0, 3.0, 3.0])
    assert_allclose(bordered(np.array([2.0, 2.0]), np.zeros((2, 1)), np.array([5.0])), 5.0)


def test_greedy_paths_are_nested_and_complete():
    pencil = gaussian(10, 14)
    for path in (list(greedy_path(pencil)), list(forward(pencil.dense()[0]))):
        assert [len(S) for S in path] == list(range(1, 15))
        assert all(set(a) < set(b) for a, b in itertools.pairwise(path))


def test_forward_takes_the_best_candidate():
    A = gaussian(9, 10, seed=4).dense()[0]
    path = list(forward(A))
    for S, T in itertools.pairwise(path[:6]):
        gains = {i: np.linalg.eigvalsh(A[np.ix_([*S, i], [*S, i])])[-1] for i in set(range(10)) - set(S)}
        assert max(gains, key=gains.get) == T[-1]


# ---- GPower


def test_gpower_ascends_and_ends_at_a_fixed_point():
    """At the limit z is the normalised gradient, and x the thresholded correlations (Eq:journee)."""
    C = np.random.default_rng(1).standard_normal((20, 60))
    run = ascend(C, 4.0, tol=0.0, max_iter=5000)
    z = C @ run.x
    z /= np.linalg.norm(z)
    s = C.T @ z
    x = np.where(s * s > 4.0, s, 0.0)
    assert run.converged
    assert_allclose(x / np.linalg.norm(x), run.x, atol=1e-7)


@pytest.mark.parametrize("kind", ["l0", "l1"])
def test_gpower_objective_never_falls(kind):
    C = np.random.default_rng(2).standard_normal((15, 50))
    gamma = 0.2 * gamma_max(C, kind)

    def objective(z):
        s = C.T @ z
        return np.sum(np.maximum(s * s - gamma, 0)) if kind == "l0" else np.sum(np.maximum(np.abs(s) - gamma, 0) ** 2)

    values = []
    for steps in range(1, 12):
        x = ascend(C, gamma, kind, tol=-1.0, max_iter=steps).x
        z = C @ x
        values.append(objective(z / np.linalg.norm(z)))
    assert np.all(np.diff(values) >= -1e-9)


def test_gpower_at_gamma_max_has_no_column_left():
    C = np.random.default_rng(3).standard_normal((5, 8))
    for kind in ("l0", "l1"):
        assert not ascend(C, 1.0001 * gamma_max(C, kind), kind).x.any()


def test_gpower_from_covariance_and_from_data_agree():
    data = gaussian(40, 12)
    dense = Pencil(data.dense()[0])
    for k in (3, 7):
        assert_allclose(rivals.gpower(data, k, start="leading").value, rivals.gpower(dense, k, start="leading").value)


# ---- SPCA


def test_elastic_net_is_the_minimiser():
    """KKT of ‖y − Cβ‖² + λ‖β‖² + λ₁‖β‖₁."""
    rng = np.random.default_rng(0)
    C, y = np.asfortranarray(rng.standard_normal((20, 30))), rng.standard_normal(20)
    beta = elastic_net(C, y, 5.0, 8.0, np.zeros(30))
    gradient = 2 * C.T @ (C @ beta - y) + 10.0 * beta
    on = beta != 0
    assert 0 < on.sum() < 30
    assert_allclose(gradient[on], -8.0 * np.sign(beta[on]), atol=2e-2)
    assert np.all(np.abs(gradient[~on]) <= 8.0 + 2e-2)


def test_elastic_net_equals_scikit_learns_estimator():
    from sklearn.linear_model import ElasticNet

    rng = np.random.default_rng(5)
    C, y = np.asfortranarray(rng.standard_normal((25, 10))), rng.standard_normal(25)
    ridge, lasso = 3.0, 4.0
    strength = lasso / 50 + ridge / 25
    model = ElasticNet(alpha=strength, l1_ratio=lasso / 50 / strength, fit_intercept=False, tol=1e-10)
    assert_allclose(elastic_net(C, y, ridge, lasso, np.zeros(10)), model.fit(C, y).coef_, atol=1e-4)


def test_lars_point_solves_its_elastic_net():
    """The LARS point with k nonzeros satisfies the KKT system at its own λ₁."""
    rng = np.random.default_rng(6)
    M = rng.standard_normal((40, 9))
    gram, c = M.T @ M + np.eye(9), rng.standard_normal(9) * 10
    beta = lars(gram, c, 4)
    r = c - gram @ beta
    on = beta != 0
    assert on.sum() == 4
    assert np.ptp(np.abs(r[on])) < 1e-8
    assert np.all(np.abs(r[~on]) <= np.abs(r[on]).max() + 1e-8)
    # the last point with four: the fifth is about to enter
    assert_allclose(np.abs(r[~on]).max(), np.abs(r[on]).max(), atol=1e-8)


def test_spca_from_data_and_covariance_find_the_same_planted_vector():
    planted = datasets.planted_pca(20, 3, strength=9.0, samples=200, rng=1)
    data = Pencil(Gram(factor(planted.pencil)))
    assert rivals.spca(data, 3).support == rivals.spca(planted.pencil, 3).support == planted.support


def test_spca_limit_is_the_soft_threshold():
    """As λ grows the regression tends to a soft threshold of Aα (ridge = inf)."""
    pencil = gaussian(30, 15)
    limit = rivals.spca(pencil, 5, ridge=math.inf)
    near = rivals.spca(Pencil(pencil.dense()[0]), 5, ridge=1e5)
    assert limit.support == near.support
    assert_allclose(np.abs(limit.x), np.abs(near.x), atol=2e-3)
    assert_allclose(soft(np.array([3.0, -2.0, 1.0]), 2), [2.0, -1.0, 0.0])


def test_spca_renormalized_explains_no_less():
    pencil = gaussian(20, 40)
    plain, best = rivals.spca(pencil, 8), rivals.spca(pencil, 8, renormalized=True)
    assert plain.support == best.support
    assert best.value > plain.value


def test_penalized_needs_data(pit):
    with pytest.raises(InvalidParameter, match=r"Pencil\(Gram\(C\)\)"):
        penalized(pit, 1.0, 1.0)


def test_spca_of_six_components_is_the_printed_table(pit):
    """The loadings of Zou, Hastie and Tibshirani's Table with their own penalties, to the printed digits."""
    V = rivals.spca_components(pit, (0.06, 0.16, 0.1, 0.5, 0.5, 0.5))
    printed = np.zeros((13, 6))
    printed[[0, 1, 4, 6, 7, 8, 9], 0] = (-0.48, -0.48, 0.18, -0.25, -0.34, -0.42, -0.40)
    printed[[2, 3, 7, 11], 1] = (0.79, 0.62, -0.02, 0.01)
    printed[[4, 5, 6, 12], 2] = (0.64, 0.59, 0.49, -0.02)
    printed[[10, 11, 12], [3, 4, 5]] = 1.0
    signs = np.sign(np.sum(V * printed, axis=0))
    assert np.array_equal(V != 0.0, printed != 0.0)
    assert_allclose(V * signs, printed, atol=0.006)


def test_spca_without_a_penalty_is_pca(pit):
    V = rivals.spca_components(pit, (0.0, 0.0), ridge=1e-9)
    truth = np.linalg.eigh(np.asarray(pit.A))[1][:, :-3:-1]
    assert_allclose(np.abs(np.sum(V * truth, axis=0)), 1.0, atol=1e-4)


def test_spca_components_at_the_limits(pit):
    assert not rivals.spca_components(pit, (1e6,)).any()
    assert not rivals.spca_components(Pencil(np.zeros((3, 3))), (0.1, 0.1)).any()
    for lassos, text in (((), "must list numbers"), ((0.1,) * 14, "1 to n = 13"), ((-0.1,), "out of range")):
        with pytest.raises(InvalidParameter, match=text):
            rivals.spca_components(pit, lassos)
    with pytest.raises(InvalidParameter, match="B = I"):
        rivals.spca_components(Pencil(np.eye(2), 2.0 * np.eye(2)), (0.1,))


# ---- SCoTLASS


@pytest.mark.parametrize("rho", [0.0, 0.5, 1.5, 3.0])
def test_scotlass_closed_form_is_the_driver(pit, rho):
    """Eq:scotl in three lines against the MM driver with the ℓ1 penalty."""
    ours, theirs = closed(pit, rho, 1e-12, 5000), driven(pit, rho, 1e-12, 5000)
    assert_allclose(ours.x, theirs.x, atol=1e-6)


def test_scotlass_collapses_where_the_first_step_is_zero(pit):
    from dcgev_cvx.rivals.scotlass import rho_max

    for once in (closed, driven):
        run = once(pit, 1.001 * rho_max(pit), 1e-9, 100)
        assert run.converged
        assert not run.x.any()


def test_scotlass_engines_agree(pit):
    assert_allclose(rivals.scotlass(pit, 6).x, rivals.scotlass(pit, 6, engine="driver").x, atol=1e-6)


# ---- what they share


def test_search_says_when_a_cardinality_is_jumped_over():
    def staircase(t):
        return Run(np.r_[np.ones(5 if t < 0.5 else 2), np.zeros(3 if t >= 0.5 else 0)], 1, True)

    missed = search(staircase, 1.0, 4, 5)
    assert not missed.exact
    assert np.count_nonzero(missed.run.x) == 5
    hit = search(staircase, 1.0, 2, 5)
    assert hit.exact
    assert hit.parameter >= 0.5
    assert search(staircase, 1.0, 5, 5).parameter == 0.0


def test_out_of_iterations_is_said():
    found = rivals.gpower(gaussian(20, 40), 10, max_iter=2, tol=0.0)
    assert found.method == "gpower-l0 (out of iterations)"


def test_trimmed_and_largest_break_ties_by_position():
    x = np.array([1.0, -2.0, 2.0, 1.0])
    assert list(largest(np.abs(x), 3)) == [0, 1, 2]
    assert list(trimmed(x, 3)) == [1.0, -2.0, 2.0, 0.0]


def test_best_loadings_are_the_leading_eigenvector(pit):
    x = best_loadings(pit, np.arange(13.0), 4)
    A = np.asarray(pit.A)[9:, 9:]
    assert_allclose(pit.A_quad(x), np.linalg.eigvalsh(A)[-1])


def test_factor_of_a_covariance(pit):
    C = factor(pit)
    assert_allclose(C.T @ C, np.asarray(pit.A), atol=1e-12)
    assert not factor(Pencil(np.zeros((3, 3)))).any()


@pytest.mark.parametrize("name", FAST)
def test_zero_matrix_and_single_variable(name):
    assert rivals.RIVALS[name](Pencil(np.zeros((4, 4))), 2).value == 0.0
    assert_allclose(rivals.RIVALS[name](Pencil([[2.0]]), 1).value, 2.0)


@pytest.mark.parametrize("name", rivals.RIVALS)
@pytest.mark.parametrize("scale", [1e-140, 1e-80, 1e80, 1e140])
def test_units_change_nothing(name, scale):
    """Squares of A's entries would overflow or vanish: the rivals work in a unit of their own."""
    C = np.random.default_rng(1).standard_normal((4, 6))
    unit = 2.0 ** round(math.log2(scale))
    plain, scaled = rivals.RIVALS[name](Pencil(Gram(C)), 3), rivals.RIVALS[name](Pencil(Gram(unit * C)), 3)
    assert plain.support == scaled.support
    assert_allclose(scaled.x, plain.x, atol=1e-6)
    assert_allclose(scaled.value / unit / unit, plain.value, rtol=1e-6)


@pytest.mark.parametrize("name", rivals.RIVALS)
def test_k_nonzeros_where_the_eigenvalue_is_shared_and_fewer_where_more_would_cost(name):
    rival = rivals.RIVALS[name]
    assert rival(Pencil(np.eye(4)), 3).k == 3
    assert rival(Pencil(np.zeros((4, 4))), 3).k == 3
    found = rival(Pencil(np.diag([3.0, 2.0, 1.0])), 2)
    assert (found.support, found.value) == ((0,), 3.0)


def test_the_first_call_draws_no_random_number():
    """scikit-learn's import draws one from Python's global generator: a fresh process must not show it."""
    code = (
        "import random, numpy; from dcgev_cvx import Gram, Pencil, rivals; random.seed(5); "
        "before = random.getstate(); "
        "[rival(Pencil(Gram(numpy.eye(3) + 1.0)), 2) for rival in rivals.RIVALS.values()]; "
        "assert random.getstate() == before"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("name", rivals.RIVALS)
def test_bad_input(pit, name):
    rival = rivals.RIVALS[name]
    with pytest.raises(InvalidParameter, match="k = 14 is out of range"):
        rival(pit, 14)
    with pytest.raises(InvalidParameter, match="must be a whole number"):
        rival(pit, 2.5)
    with pytest.raises(InvalidParameter, match="B = I"):
        rival(Pencil(np.eye(2), 2.0 * np.eye(2)), 1)
    with pytest.raises(InvalidParameter, match=r"λmin\(A\) = -1"):
        rival(Pencil(np.diag([1.0, -1.0])), 1)
    with pytest.raises(InvalidParameter, match="must be a Pencil"):
        rival(np.eye(3), 1)


@pytest.mark.parametrize(
    ("name", "option", "text"),
    [
        ("gpower", {"kind": "l2"}, "kind = 'l2' is unknown"),
        ("gpower", {"start": "zero"}, "start = 'zero' is unknown"),
        ("gspca", {"search": "random"}, "search = 'random' is unknown"),
        ("scotlass", {"engine": "cvx"}, "engine = 'cvx' is unknown"),
        ("spca", {"ridge": 0.0}, "ridge = 0 is out of range"),
        ("spca", {"ridge": math.nan}, "ridge = nan is not finite"),
    ],
)
def test_bad_options(pit, name, option, text):
    with pytest.raises(InvalidParameter, match=text):
        rivals.RIVALS[name](pit, 3, **option)


def test_inputs_are_not_modified():
    C = np.random.default_rng(0).standard_normal((8, 10))
    kept = C.copy()
    pencil = Pencil(Gram(C))
    for name in FAST:
        rivals.RIVALS[name](pencil, 3)
    assert np.array_equal(C, kept)
