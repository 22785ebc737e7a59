"""A Solution: scaled, its value computed from the data, printable and plain."""

import json
import pickle

import numpy as np
import pytest
import referee

from dcgev_cvx import (
    InvalidParameter,
    Pencil,
    SparseGEV,
    certify,
    dc_pca,
)
from dcgev_cvx.solutions import checked_k, solution_of


def test_the_vector_is_scaled_and_judged_by_the_data():
    A, B = referee.random_pencil(0, 5, cond=10.0)
    pencil = Pencil(A, B, ("a", "b", "c", "d", "e"))
    x = np.array([3.0, 0.0, -4.0, 0.0, 0.0])
    solution = solution_of(pencil, x, "by hand", 0.5)
    assert pencil.B_norm(solution.x) == pytest.approx(1.0, abs=1e-15)
    assert (solution.k, solution.support) == (2, (0, 2))
    assert solution.value == pytest.approx((x @ A @ x) / (x @ B @ x), rel=1e-13)
    assert not solution.x.flags.writeable
    assert np.array_equal(x, [3.0, 0.0, -4.0, 0.0, 0.0])
    assert str(solution).startswith("by hand: value ")
    assert "a +" in str(solution)
    assert "c -" in str(solution)


def test_to_dict_is_json():
    pencil = Pencil(np.diag([2.0, 1.0]))
    plain = solution_of(pencil, np.array([1.0, 0.0]), "by hand", 0.0).to_dict()
    assert json.loads(json.dumps(plain)) == {
        "method": "by hand",
        "k": 1,
        "value": 2.0,
        "support": [0],
        "loadings": {"x1": 1.0},
        "rho": None,
        "eps": None,
        "on_path": None,
        "stationarity": None,
        "seconds": 0.0,
    }
    program = SparseGEV(pencil, 0.1)
    certificate = certify(program, np.array([1.0, 0.0]))
    full = solution_of(pencil, [1.0, 0.0], "d.c.", 0.0, rho=0.1, eps=1e-4, on_path=True, certificate=certificate)
    assert full.to_dict()["rho"] == 0.1
    assert full.to_dict()["stationarity"] == certificate.stationarity <= 1e-15
    assert pickle.loads(pickle.dumps(full)).to_dict() == full.to_dict()


def test_zero_is_not_a_direction():
    with pytest.raises(InvalidParameter, match="x = 0 is not a direction"):
        solution_of(Pencil(np.eye(2)), np.zeros(2), "by hand", 0.0)


@pytest.mark.parametrize("k", [1, 5, np.int64(3)])
def test_cardinality_in_range(k):
    assert checked_k(k, 5) == int(k)
    assert type(checked_k(k, 5)) is int


@pytest.mark.parametrize("k", [0, -1, 6, 2.0, True, "3", None, np.float64(2)])
def test_cardinality_out_of_range(k):
    with pytest.raises(InvalidParameter, match=r"k = .*between 1 and n = 5"):
        checked_k(k, 5)


def test_printed_names_do_not_steer_the_terminal():
    pencil = Pencil(np.diag([3.0, 1.0]), names=["\x1b[2J", "v"])
    solution = solution_of(pencil, np.array([1.0, 0.0]), "by hand", 0.0)
    assert "·[2J +1.000" in str(solution)
    assert "·[2J" in str(dc_pca(pencil, rho=0.1))
    assert "\x1b[2J" in solution.to_dict()["loadings"]
