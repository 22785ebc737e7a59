"""`dcgev agreement` prints a row per solver, and says which ones failed or are not installed."""

import numpy as np
import pytest


@pytest.fixture
def small(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("A.npy", np.array([[2.0, 0.8], [0.8, 1.2]]))
    return "A.npy"


def test_the_table_has_the_solvers_and_what_is_missing(run, small):
    code, out, err = run("agreement", "--A", small)
    assert (code, err) == (0, "")
    assert "A.npy: n = 2, B = I, λmax(A,B) = 2.49443, ρ̃ = 0.2494, ε = 0.01" in out
    rows = {line.split()[0] for line in out.splitlines() if line.strip()}
    assert {"reference", "QCQPStep", "CLARABEL", "native"} <= rows
    assert max(map(len, out.splitlines())) <= 80


def test_json_has_the_same_rows_and_the_settings(run_json, small):
    found = run_json("agreement", "--A", small, "--rho", "0.1", "--eps", "0.05")
    assert (found["rho"], found["eps"]) == (0.1, 0.05)
    rows = {row["who"]: row for row in found["rows"]}
    assert rows["native engine"]["distance"] < 1e-12


def test_an_invalid_penalty_is_one_line(run, small):
    code, out, err = run("agreement", "--A", small, "--rho", "-1")
    assert (code, out) == (2, "")
    assert err.startswith("dcgev: rho = -1 is out of range")
