"""`dcgev solvers`: each solver is tried on each step."""

import json


def test_solvers_are_tried_and_not_just_listed(run):
    code, out, _ = run("solvers", "--json")
    assert code == 0
    found = json.loads(out)["installed"]
    for solver in ("CLARABEL", "SCS", "ECOS"):
        assert all(found[solver].values())
    osqp = found["OSQP"]
    assert (osqp["MetricLassoStep"], osqp["FisherStep"], osqp["QCQPStep"]) == (True, True, False)


def test_missing_solvers_come_with_the_command_that_installs_them(run, monkeypatch):
    monkeypatch.setattr("dcgev_cvx.steps.backend.installed_solvers", lambda: ("CLARABEL",))
    _, out, _ = run("solvers")
    assert "pip install ecos" in out
