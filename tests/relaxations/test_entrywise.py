"""The entrywise, homogeneous and penalised SDPs: known values, valid radii, units."""

import numpy as np
import pytest
from small_problems import random_cca

from dcgev_cvx import InvalidParameter, InvalidPencil, Pencil
from dcgev_cvx.datasets import pitprops
from dcgev_cvx.exact import brute_force
from dcgev_cvx.relaxations import entrywise_sdp, homogeneous_sdp, literal_sdp, penalized_sdp, radius_for
from dcgev_cvx.relaxations.bounds import smallest_B_eigenvalue, valid_radius

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


def test_the_papers_budget_is_no_bound_where_B_is_small():
    pencil = Pencil(np.diag([3.0, 2.0, 1.0]), 0.01 * np.eye(3))
    paper = entrywise_sdp(pencil, radius_for(pencil, 1, "paper"), k=1)
    assert paper.valid_k == 0
    assert paper.upper_bound == pytest.approx(paper.value, rel=1e-6)
    assert paper.upper_bound < brute_force(pencil, 1).value  # x = 10·e₁ has ‖x‖₁ = 10
    valid = entrywise_sdp(pencil, radius_for(pencil, 1, "valid"), k=1)
    assert valid.valid_k == 1
    assert valid.upper_bound >= brute_force(pencil, 1).value


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


def test_the_penalised_form_bounds_what_it_says():
    pencil, rho, k = pitprops(), 0.2, 4
    relaxed = penalized_sdp(pencil, rho)
    assert relaxed.value == pytest.approx(relaxed.upper_bound, rel=1e-6)
    assert relaxed.upper_bound + rho * k >= brute_force(pencil, k).value
    assert penalized_sdp(pencil, 0.0).upper_bound == pytest.approx(pencil.lambda_max)


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
