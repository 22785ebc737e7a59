"""How far the installed solvers agree on one step and on one program."""

from __future__ import annotations

import json

import numpy as np

from dcgev_cvx import Pencil, cli
from dcgev_cvx.cli.solver_agreement import agreement


def test_agreement_on_pit_props(capsys):
    assert cli.main(["agreement", "pitprops", "--json"]) == 0
    rows = {row["who"]: row for row in json.loads(capsys.readouterr().out)["rows"]}
    assert rows["QCQPStep"]["distance"] < 1e-10
    assert rows["closed form"]["distance"] < 1e-12
    assert 1e-12 < rows["CLARABEL"]["distance"] < 1e-3
    assert "cannot solve" in rows["OSQP"]["failure"]


def test_agreement_with_a_general_metric_and_an_indefinite_matrix():
    A = np.array([[1.0, 0.4, -0.3], [0.4, -0.8, 0.2], [-0.3, 0.2, 0.5]])
    found, _ = agreement(Pencil(A, np.eye(3) + 0.2), 0.1, 1e-2)
    rows = {row.who: row for row in found}
    assert rows["reference"].kkt < 1e-13
    assert rows["QCQPStep"].distance < 1e-10
    assert rows["CLARABEL"].distance < 1e-3
    assert "closed form" not in rows
    assert rows["Algorithm 1*"].kkt < 1e-5
