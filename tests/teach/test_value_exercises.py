"""The exercises whose answer is a number, a vector, a matrix or a tuple."""

import numpy as np
import pytest

from dcgev_cvx import datasets, dc_pca, teach
from dcgev_cvx.relaxations import homogeneous_sdp


def test_tau_is_accepted_to_four_digits_and_not_given_away():
    least = -datasets.indefinite(7).lambda_min_A
    assert teach.check("tau", least)
    assert teach.check("tau", round(least, 3))
    larger = teach.check("tau", 1.1 * least)
    assert not larger
    assert "a smaller one is too" in larger.why
    assert f"{least:.4g}" not in larger.why
    assert "cuts f" in teach.check("tau", 0.99 * least).why


@pytest.mark.parametrize("x0", [[0, 1], [0.0, 7.0], [0.0, -1e-9]])
def test_any_multiple_of_the_second_eigenvector_breaks_corollary_6(x0):
    assert teach.check("corollary", (np.diag([2, 1]), x0))


@pytest.mark.parametrize(
    ("A", "x0", "words"),
    [
        (np.diag([2.0, 1.0]), [1e-12, 1.0], "the component 1e-12 along"),
        (np.diag([1.0, 0.99]), [1e-3, 1.0], "makes it grow"),
        (np.zeros((2, 2)), [0.0, 1.0], "All eigenvalues"),
        (np.eye(2), [0.0, 1.0], "every x0 ends at λmax"),
        (np.diag([2.0, -1.0]), [0.0, 1.0], "λmin(A) = -1"),
        (np.diag([2.0, 1.0]), [0.0, 0.0], "x0 = 0 is excluded"),
        (np.ones((2, 3)), [0.0, 1.0], "square"),
    ],
)
def test_a_start_that_breaks_nothing_is_told_why(A, x0, words):
    assert words in teach.check("corollary", (A, x0)).why


def test_eigenvectors_as_computed_break_corollary_6(pitprops):
    A, _ = pitprops.dense()
    *others, top = np.linalg.eigh(A)[1].T
    assert all(teach.check("corollary", (A, x)) for x in others)
    assert not teach.check("corollary", (A, top))


def test_stuck_wants_a_stationary_pair_that_is_not_the_best(pitprops):
    pair = np.zeros(13)
    pair[[0, 1]] = np.sqrt(0.5)
    assert "these are the best two variables" in teach.check("stuck", pair).why
    assert "Not stationary. With y = x: KKT row" in teach.check("stuck", np.full(13, 13**-0.5)).why
    assert "with 1 nonzero: two" in teach.check("stuck", np.eye(13)[0]).why
    assert "6 nonzeros" in teach.check("stuck", dc_pca(pitprops, rho=4.84).x).why
    assert "divide x by its length" in teach.check("stuck", 2 * pair).why
    assert "no nonzeros" in teach.check("stuck", np.zeros(13)).why


def test_a_bound_needs_a_symmetric_matrix_and_four_fifths_of_the_gap(pitprops):
    U = homogeneous_sdp(pitprops, 3).U
    assert teach.check("bound", U)
    assert teach.check("bound", np.round(U, 2))
    assert "not symmetric" in teach.check("bound", U + np.eye(13, k=1)).why
    assert "(13, 13) is needed" in teach.check("bound", np.zeros((3, 3))).why
    assert "is asked for" in teach.check("bound", 0.3 * U).why


@pytest.mark.parametrize(
    ("rho", "words"),
    [(0.5, "Take a larger"), (2.5, "Take a smaller"), (50.0, "costs more than it brings"), (-1.0, "out of range")],
)
def test_cardinality_says_which_way_to_go(rho, words):
    assert teach.check("cardinality", 1.4)
    assert words in teach.check("cardinality", rho).why


# `suspect`: exactly one of three steps is wrong, and only for a B that is not diagonal

A, B = np.array([[2.0, 0.5], [0.5, 1.0]]), np.array([[1.0, 0.4], [0.4, 1.0]])
Y = np.array([0.5, 0.5])


def test_only_the_wrong_suspect_is_found_wrong():
    verdicts = {letter: teach.check("suspect", (letter, A, B, Y, 0.5, 0.1, 1.0)).ok for letter in teach.SUSPECTS}
    assert verdicts == {"a": False, "b": True, "c": False}


def test_a_diagonal_b_is_told_so_for_every_letter():
    for letter in teach.SUSPECTS:
        why = teach.check("suspect", (letter, A, np.diag([1.0, 2.0]), Y, 0.5, 0.1, 1.0)).why
        assert "B is diagonal here" in why


def test_an_invalid_problem_is_told_what_is_wrong():
    assert "is not one of a, b, c" in teach.check("suspect", ("z", A, B, Y, 0.5, 0.1, 1.0)).why
    assert "must be (letter" in teach.check("suspect", ("b", A, B)).why
    assert "not positive definite" in teach.check("suspect", ("b", A, np.zeros((2, 2)), Y, 0.5, 0.1, 1.0)).why
    assert "lies outside Ω" in teach.check("suspect", ("b", A, B, 9 * Y, 0.5, 0.1, 1.0)).why
