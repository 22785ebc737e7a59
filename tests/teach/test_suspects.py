"""The exercise `suspect`: exactly one of three steps is wrong, and only for a B that is not diagonal."""

import numpy as np

from dcgev_cvx import teach

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
