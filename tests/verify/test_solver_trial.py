"""CVXPY solvers by name: right ones pass, wrong ones are found, and whatever they do ends as a row."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import cvxpy as cp
import numpy as np
import pytest

from dcgev_cvx import cli
from dcgev_cvx.verify.model_cases import model_cases
from dcgev_cvx.verify.model_duals import SDPS, STEPS, dual_bound
from dcgev_cvx.verify.scoreboard import by_solver, cells, heat_map, markdown
from dcgev_cvx.verify.solver_scripts import MODELS, script
from dcgev_cvx.verify.solver_trial import Row, judged, known_solver, tried

ROOT = Path(__file__).parents[2]
SMALL = [case for case in model_cases() if case.n <= 3]
FIRST = list({(case.model, case.status, case.variant): case for case in SMALL}.values())
OWN = """
import os, sys, time
import numpy as np
from cvxpy.reductions.solvers.conic_solvers.clarabel_conif import CLARABEL

class Off(CLARABEL):
    def name(self):
        return "OFF"
    def invert(self, solution, inverse_data):
        found = super().invert(solution, inverse_data)
        found.primal_vars = {key: np.asarray(value) + 1e-2 for key, value in found.primal_vars.items()}
        return found

class Crashing(Off):
    def solve_via_data(self, *args, **kwargs):
        os.kill(os.getpid(), 9)

class Leaving(Off):
    def solve_via_data(self, *args, **kwargs):
        os._exit(0)

class Hanging(Off):
    def solve_via_data(self, *args, **kwargs):
        time.sleep(60)

class Flooding(Off):
    def solve_via_data(self, *args, **kwargs):
        os.write(1, b"x" * 10**6)
        print("\\x1b[2J" * 1000, file=sys.stderr)
        raise RuntimeError("\\x1b[31mno licence\\x1b[0m")
"""


@pytest.fixture
def own(tmp_path, monkeypatch):
    (tmp_path / "own.py").write_text(OWN, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def outcomes(solver, cases, **settings):
    return {row.outcome for _, row in tried(solver, cases, **settings)}


def test_the_reference_values_agree_with_an_interior_point_method():
    for case in (case for case in SMALL if case.status == "optimal" and case.variant in ("", "permuted")):
        problem = case.problem()
        problem.solve(solver="CLARABEL")
        assert case.low - 1e-6 * case.size <= problem.value <= case.high + 1e-6 * case.size, (case.model, case.where)
        if case.model in (*STEPS, *SDPS):
            bound = dual_bound(case.model, case.data, [np.asarray(c.dual_value) for c in problem.constraints])
            sense = -1.0 if isinstance(problem.objective, cp.Maximize) else 1.0
            assert abs(problem.value - bound) <= 1e-5 * case.size, (case.model, case.where)
            assert sense * (case.high if sense > 0 else case.low) >= sense * bound - 1e-9 * case.size


def test_every_model_is_asked_and_has_a_script():
    assert {case.model for case in model_cases()} == set(MODELS)


def test_a_right_solver_is_right_on_every_kind_of_question():
    assert outcomes("CLARABEL", FIRST) == {"right"}


def test_a_solver_that_is_off_is_wrong_and_its_script_repeats_it(own):
    cases = [case for case in FIRST if not case.variant and case.status == "optimal"]
    found = [(case, row) for case, row in tried("own:Off", cases) if row.outcome == "wrong"]
    assert {case.model for case, _ in found} >= {"lasso", "literal_sdp", "fisher_l1"}
    case, row = next(pair for pair in found if pair[0].model == "fisher_l1")
    (own / "alone.py").write_text(script(case, row, {}, 1e-5, {}), encoding="utf-8")
    done = subprocess.run([sys.executable, "alone.py"], cwd=own, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stdout.endswith("WRONG\n")


@pytest.mark.parametrize(
    ("name", "outcome"),
    [("Crashing", "crashed"), ("Leaving", "crashed"), ("Hanging", "timed out"), ("Flooding", "not licensed")],
)
def test_whatever_a_solver_does_ends_as_a_row(own, name, outcome):
    (_, row), *_ = tried(f"own:{name}", FIRST[:1], time_limit=8.0 if name != "Hanging" else 2.0)
    assert row.outcome == outcome
    assert "\x1b" not in row.said


def test_an_honest_status_is_not_called_wrong_and_a_false_one_is():
    case = next(case for case in FIRST if case.model == "lasso")
    about = ("X", case.model, case.n, "")
    zeros = {"variables": {"x": [9.0] * case.n}, "duals": [0.0]}
    assert judged(about, case, {"status": "optimal", **zeros}, 1e-5).outcome == "wrong"
    assert judged(about, case, {"status": "optimal_inaccurate", **zeros}, 1e-5).outcome == "inaccurate"
    assert judged(about, case, {"status": "infeasible"}, 1e-5).outcome == "wrong"
    assert judged(about, case, {"status": "user_limit"}, 1e-5).outcome == "failed"
    assert judged(about, case, {"status": "optimal", "variables": {"x": ["1"]}}, 1e-5).outcome == "wrong"
    empty = next(case for case in FIRST if case.status == "infeasible")
    assert judged(("X", empty.model, 2, ""), empty, {"status": "infeasible"}, 1e-5).outcome == "right"
    assert judged(("X", empty.model, 2, ""), empty, {"status": "optimal"}, 1e-5).outcome == "wrong"


@pytest.mark.parametrize(
    ("name", "words"),
    [("CLARABELL", "Did you mean 'CLARABEL'? Installed: "), ("cuclarabel", "pip install cuclarabel")],
)
def test_a_solver_that_is_not_there(name, words, capsys):
    assert cli.main(["verify", "--solver", name]) == 2
    assert words in capsys.readouterr().err


def test_objects_that_are_no_solver(own, capsys):
    assert cli.main(["verify", "--solver", "math:pi"]) == 2
    assert "is no solver of CVXPY's interface" in capsys.readouterr().err
    assert known_solver("clarabel") == "CLARABEL"


@pytest.mark.parametrize("program", sorted(MODELS))
def test_the_script_of_a_model_poses_the_same_problem(program):
    for case in (case for case in FIRST if case.model == program):
        text = script(case, Row("CLARABEL", case.model, case.n, case.variant, "wrong"), {}, 1e-5, {})
        exec(text.replace("raise SystemExit(int(wrong))", ""), names := {})
        assert not names["wrong"], case.where


def test_tables_of_a_run():
    rows = [Row("A", "lasso", 2, "", "right", 1e-9, seconds=1.0), Row("A", "lasso", 3, "", "wrong", 0.5),
            Row("B", "lasso", 2, "", "not licensed"), Row("C", "lasso", 2, "", "right", 1e-9, seconds=3.0)]  # fmt: skip
    run = {"cells": cells(rows), "findings": [], "versions": {}, "platform": "", "seed": 0, "tolerance": 1e-5}
    run |= {"cases": 2, "seconds": 1.0, "claims": {}}
    assert [(row[0], row[2], row[3], row[8], row[12]) for row in by_solver(run)] == [
        ("C", "100 %", "–", "–", "3.0"), ("A", "50.0 %", "50.0 %", "–", "1.0"), ("B", "–", "–", "1", "–")]  # fmt: skip
    assert heat_map(run).count("<rect") == 4
    assert "None." in markdown(run)


def test_the_page_is_written_from_the_stored_run(tmp_path):
    stored = ROOT / "docs" / "_data" / "scoreboard" / "scoreboard.json"
    assert cli.main(["scoreboard", "--from", str(stored), "--out", str(tmp_path)]) == 0
    assert (tmp_path / "scoreboard.md").read_text("utf-8") == (ROOT / "docs" / "scoreboard.md").read_text("utf-8")
    for one in json.loads(stored.read_text("utf-8"))["findings"]:
        text = (stored.parent / one["script"]).read_text("utf-8")
        assert "dcgev_cvx" not in text
        compile(text, one["script"], "exec")
