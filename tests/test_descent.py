"""DC-PCA in plain NumPy, as Tables 2 and 4 time it: the printed steps, the one-sided ones, and their start."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from dcgev_cvx import Gram, Pencil, dc_pca
from dcgev_cvx.programs import MACHINE_EPS, rho_eps
from dcgev_cvx.reproduction import onesided
from dcgev_cvx.reproduction.descent import descend, log_sum, rho_max
from dcgev_cvx.reproduction.methods import METHODS, gaussian, gaussian_pencil
from dcgev_cvx.reproduction.onesided import descend_one_sided, minimiser, one_sided_max, still, threshold
from dcgev_cvx.reproduction.starts import given_start, krylov_start
from dcgev_cvx.reproduction.tables34 import planted
from dcgev_cvx.rivals.sparse_pca import combined, longest_column

BOTH = [(descend, rho_max), (descend_one_sided, one_sided_max)]


def objective(C, rho, x):
    """xᵀAx − ρ_ε Σ log(1 + |xᵢ|/ε), from the data."""
    return float(np.sum((C @ x) ** 2)) - rho_eps(rho, MACHINE_EPS) * float(np.sum(np.log1p(np.abs(x) / MACHINE_EPS)))


# ---- the printed steps


@pytest.mark.parametrize("share", [0.05, 0.2, 0.5])
def test_the_timed_loop_is_dc_pca(share):
    """Same start, same ρ̃: the bare loop with shrinking ends where the certified driver ends (ALG-S)."""
    C = gaussian(20, 60, [1, 2])
    pencil = Pencil(Gram(C))
    start = krylov_start(C)
    rho = share * rho_max(start)
    bare = descend(C, rho, start, tol=0.0, max_iter=3000)
    certified = dc_pca(pencil, rho=rho, x0=start.x)
    assert bare.converged
    assert np.array_equal(bare.x != 0.0, certified.x != 0.0)
    assert_allclose(bare.x, certified.x, atol=1e-6)


def test_a_run_that_is_out_of_steps_has_not_converged():
    C = gaussian(20, 60, [1, 2])
    start = krylov_start(C)
    found = descend(C, 0.05 * rho_max(start), start, max_iter=2)
    assert (found.steps, found.converged) == (2, False)


@pytest.mark.parametrize("length", [5, 511, 512, 1000, 1003])
def test_log_sum_multiplies_before_it_takes_logarithms(length):
    numbers = np.random.default_rng(length).random(length) ** 8 + np.finfo(float).eps
    numbers[: length // 2] = np.finfo(float).eps
    assert_allclose(log_sum(numbers), np.sum(np.log(numbers)), rtol=1e-13)


def test_krylov_start_by_how_much_the_longest_column_explains():
    """Half of the sample: the column alone, its image estimated; a quarter: one power step; less: 1.3 p^⅓."""
    dominant, fair, noise = planted(20, 60, 0.9, 0), planted(20, 60, 0.45, 0), gaussian(50, 60, [1])
    starts = [krylov_start(C) for C in (dominant, fair, noise)]
    assert [start.passes for start in starts] == [2.0, 5.0, 13.0]
    assert abs(starts[0].x @ Pencil(Gram(dominant)).leading_vector) > 0.99
    for C, start in zip((fair, noise), starts[1:], strict=True):
        known = given_start(C, start.x)
        assert_allclose(start.image, known.image, atol=1e-9)
    leading = Pencil(Gram(noise)).leading_vector
    assert abs(starts[2].x @ leading) > abs(krylov_start(noise, 1).x @ leading)


@pytest.mark.parametrize(("loop", "highest"), BOTH)
def test_the_timed_loops_collapse_at_their_largest_rho(loop, highest):
    C = gaussian(10, 30, [3])
    start = krylov_start(C)
    assert not loop(C, 1.0001 * highest(start), start).x.any()
    assert loop(C, 0.95 * highest(start), start).x.any()


@pytest.mark.parametrize(("loop", "highest"), BOTH)
def test_without_a_penalty_the_loops_are_the_power_method(loop, highest):
    C = gaussian(8, 12, [4])
    found = loop(C, 0.0, krylov_start(C), tol=0.0, max_iter=5000).x
    assert_allclose(np.sum((C @ found) ** 2), Pencil(Gram(C)).lambda_max, rtol=1e-8)
    assert not loop(np.zeros((2, 5)), 0.0, krylov_start(np.zeros((2, 5)))).x.any()
    assert highest(krylov_start(np.zeros((2, 5)))) == 0.0


@pytest.mark.parametrize(("loop", "highest"), BOTH)
def test_a_zero_loading_has_no_sign(loop, highest):
    C = gaussian(30, 200, [5])
    start = krylov_start(C)
    x = loop(C, 0.1 * highest(start), start).x
    assert np.count_nonzero(x) < 200
    assert not np.signbit(x[x == 0.0]).any()


@pytest.mark.parametrize("order", ["C", "F"])
def test_the_longest_column_is_the_first_among_equals(order):
    C = np.array([[0.0, 0.6, 0.8, 1.0], [0.5, 0.8, 0.6, 0.0]], order=order)
    C[:, 3] *= 1.0 + 2e-16  # longer by rounding alone
    z, squares = longest_column(C)
    assert_allclose(z, [0.6, 0.8], rtol=1e-15)
    assert_allclose(squares, 3.25, rtol=1e-15)
    C[:, 3] *= 1.001
    assert_allclose(longest_column(C)[0], [1.0, 0.0], rtol=1e-15)
    assert not longest_column(np.zeros((2, 3)))[0].any()


@pytest.mark.parametrize("count", [1, 10, 40])
def test_a_product_with_few_columns_touches_few(count):
    C = gaussian(5, 50, [9])
    t = np.zeros(50)
    t[:count] = 1.0 + np.arange(count)
    found, share = combined(C, t)
    assert_allclose(found, C @ t, rtol=1e-12)
    assert share == (1.0 if count == 40 else count / 50)


# ---- the one-sided steps


@pytest.mark.parametrize("share", [0.01, 0.05, 0.2, 0.5])
@pytest.mark.parametrize("seed", range(4))
def test_the_one_sided_loop_ends_at_a_stationary_point(share, seed):
    """The certified driver has nothing to add: its first printed steps move x by no more than rounding (ALG-S)."""
    C = gaussian(20, 60, [6, seed])
    start = krylov_start(C)
    rho = share * one_sided_max(start)
    found = descend_one_sided(C, rho, start, tol=0.0, max_iter=3000)
    again = dc_pca(Pencil(Gram(C)), rho=rho, x0=found.x)
    assert found.converged
    assert again.converged
    assert again.certificate.passes()
    assert_allclose(again.x, found.x, atol=1e-6)


@pytest.mark.parametrize("share", [0.02, 0.1, 0.4])
@pytest.mark.parametrize("seed", range(3))
def test_the_objective_of_the_one_sided_loop_does_not_fall(share, seed):
    C = gaussian(30, 200, [7, seed])
    start = krylov_start(C)
    rho = share * one_sided_max(start)
    runs = [descend_one_sided(C, rho, start, max_iter=steps, tol=0.0) for steps in range(1, 12)]
    values = np.array([objective(C, rho, run.x) for run in runs])
    assert np.all(np.diff(values) >= -1e-12 * values[-1])
    assert values[-1] > values[0] > 0.0


@pytest.mark.parametrize("k", [10, 40, 100])
def test_the_tighter_majoriser_saves_steps_and_passes(k):
    pencil = gaussian_pencil(30, 200, [5])
    printed, tighter = (METHODS[name](pencil, k, 2).answer for name in ("DC-PCA", "DC-PCA, one-sided"))
    assert abs(printed.k - tighter.k) <= 4
    assert tighter.steps < printed.steps
    assert tighter.passes < printed.passes


@given(st.floats(0.01, 100.0), st.floats(1e-6, 1.0), st.floats(0.0, 3.0))
def test_a_loading_is_kept_where_it_pays(mu, price, share):
    """argmin −2cx + μx² + ρ_ε log(1 + x/ε) over x ≥ 0, by looking at many x: 0 below the threshold, and not above."""
    cut = threshold(mu, price)
    c = share * cut
    x = np.geomspace(1e-3, 10.0, 20_001) * max(c, cut) / mu
    gains = 2.0 * c * x - mu * x * x - price * np.log1p(x / MACHINE_EPS)
    if share < 1.0 - 1e-6:
        assert np.max(gains) < 0.0
    if share > 1.0 + 1e-4:
        assert np.max(gains) > 0.0
        best = (c + math.sqrt(c * c - 2.0 * mu * price)) / (2.0 * mu)
        assert_allclose(x[np.argmax(gains)], best, rtol=1e-2)


def test_the_minimiser_is_along_the_loadings_that_pay():
    c, mu, price = np.array([4.0, -3.0, 0.5, -0.2]), 2.0, 0.1
    cut = threshold(mu, price)
    size = np.abs(c)
    assert (size > cut).tolist() == [True, True, False, False]
    x, cost = minimiser(c, size * (size > cut), mu, price)
    expected = np.sign(c) * np.where(size > cut, size + np.sqrt(np.maximum(c * c - 2.0 * mu * price, 0.0)), 0.0)
    assert_allclose(x, expected / np.linalg.norm(expected), rtol=1e-14)
    assert_allclose(cost, price * np.sum(np.log1p(np.abs(x) / MACHINE_EPS)), rtol=1e-12)


def test_the_majoriser_lies_between_the_objective_and_the_printed_one():
    """f ≤ g̃ ≤ g with equality at y: the penalty is concave, and only g replaces it by its tangent."""
    rng = np.random.default_rng(8)
    C = gaussian(20, 30, [8])
    A, price = C.T @ C, rho_eps(3.0, MACHINE_EPS)
    y = rng.standard_normal(30) / 6.0
    room = np.abs(y) + MACHINE_EPS

    def log(x):
        return price * np.sum(np.log1p(np.abs(x) / MACHINE_EPS))

    for x in [y, *(rng.standard_normal((20, 30)) * rng.integers(0, 2, (20, 30)) / 6.0)]:
        f = -x @ A @ x + log(x)
        tighter = y @ A @ y - 2.0 * y @ A @ x + log(x)
        printed = y @ A @ y - 2.0 * y @ A @ x + log(y) + price * np.sum((np.abs(x) - np.abs(y)) / room)
        assert f <= tighter + 1e-9
        assert tighter <= printed + 1e-9


def test_a_step_that_would_lower_the_objective_is_not_taken(monkeypatch):
    """With steps that ruin the objective in their place, the loop ends where it was."""
    C = gaussian(20, 60, [1, 2])
    start = krylov_start(C)
    rho = 0.1 * one_sided_max(start)
    once = descend_one_sided(C, rho, start, max_iter=1)
    made = []

    def ruinous(c, paying, mu, price):
        made.append(minimiser(c, paying, mu, price))
        return made[-1] if len(made) == 1 else (np.full(len(c), len(c) ** -0.5), 1e9)

    monkeypatch.setattr(onesided, "minimiser", ruinous)
    found = descend_one_sided(C, rho, start)
    assert np.array_equal(found.x, once.x)
    assert (found.steps, found.converged) == (2, True)


def test_a_run_is_still_by_its_last_step_or_by_what_is_left():
    assert still(0.02, 0.07, 0.1)
    assert not still(0.06, 0.07, 0.1)
    assert still(0.1, 1.1, 0.0101)  # 0.1 + 0.1/11 + … : 0.01 is left
    assert not still(0.1, 1.1, 0.0099)
    assert not still(0.2, 0.2, 0.1)  # rises that do not shrink foretell nothing
    assert not still(0.1, math.inf, 0.1)
