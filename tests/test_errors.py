"""One family of errors, each also a kind that Python users already catch."""

import pytest

from dcgev_cvx import errors


@pytest.mark.parametrize(
    ("kind", "python"),
    [
        (errors.InvalidPencil, ValueError),
        (errors.InvalidParameter, ValueError),
        (errors.Infeasible, ValueError),
        (errors.SolverFailed, RuntimeError),
        (errors.SolverMissing, ImportError),
        (errors.MissingPackage, ImportError),
    ],
)
def test_every_error_is_ours_and_pythons(kind, python):
    assert issubclass(kind, errors.DCGEVError)
    assert issubclass(kind, python)


@pytest.mark.parametrize(
    ("typed", "hint"),
    [
        ("CLARABLE", "did you mean 'CLARABEL'?"),
        ("clarabel2", "did you mean 'CLARABEL'?"),
        ("scss", "did you mean 'SCS'?"),
        ("zzzzzz", "known: CLARABEL, ECOS, SCS"),
        ("", "known: CLARABEL, ECOS, SCS"),
    ],
)
def test_nearest_name(typed, hint):
    assert errors.nearest(typed, ["SCS", "ECOS", "CLARABEL"]) == hint
