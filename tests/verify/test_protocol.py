"""Programs in other languages: JSON lines in and out, and every way in which a program can go wrong."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from dcgev_cvx import cli, verify
from dcgev_cvx.errors import InvalidParameter, SolverFailed
from dcgev_cvx.verify.levels import question

EXAMPLES = Path(__file__).parents[2] / "examples"

ECHO = """
import json, sys
for line in sys.stdin:
    m = json.loads(line)
    if m["type"] == "hello":
        print(json.dumps({"type": "hello", "protocol": 1}), flush=True)
        continue
    %s
"""


def program(tmp_path, body):
    path = tmp_path / "program.py"
    path.write_text(ECHO % body, encoding="utf-8")
    return [sys.executable, str(path)]


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not on this machine")
def test_the_javascript_example_passes(capsys):
    command = f"node {EXAMPLES / 'verify_js' / 'dc_pca.js'}"
    assert cli.main(["verify", "--cmd", command, "--level", "pca"]) == 0
    assert "PASSED" in capsys.readouterr().out


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler on this machine")
def test_the_c_example_passes(tmp_path, capsys):
    source, binary = EXAMPLES / "verify_c" / "dc_pca.c", tmp_path / "dc_pca"
    subprocess.run(["cc", "-O2", "-o", str(binary), str(source), "-lm"], check=True)
    assert cli.main(["verify", "--cmd", str(binary), "--level", "pca", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["ok"] is True


def test_a_wrong_program_gets_a_shrunk_example(tmp_path):
    with verify.ProcessSolver(
        program(tmp_path, 'print(json.dumps({"id": m["id"], "x": m["x0"]}), flush=True)'), "pca"
    ) as solver:
        report = verify.check(solver, "pca")
    assert not report.ok
    assert "memory layout" not in {o.name for o in report.checks}
    assert report.counterexample.equation == "stationarity"
    assert len(report.counterexample.arguments["x0"]) <= 3


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ('print(json.dumps({"id": m["id"], "error": "not today"}), flush=True)', "not today"),
        ('print("hm", flush=True)', "not a JSON object"),
        ('print("[1]", flush=True)', "not a JSON object"),
        ('print(json.dumps({"id": -1, "bound": 1.0}), flush=True)', "answered with id -1"),
        ('print(json.dumps({"id": m["id"]}), flush=True)', "no 'bound'"),
        ('print("gone wrong", file=sys.stderr); sys.exit(3)', "exit code 3.*gone wrong|ended"),
        ('sys.stdout.buffer.write(b"\\xff\\xfe1\\n"); sys.stdout.flush()', "not a JSON object: '\ufffd\ufffd1'"),
        ('print("[" * 100000, flush=True)', "not a JSON object"),
        ('print("1" * 2**23, flush=True)', "not a JSON object"),
        ('print(json.dumps({"id": m["id"], "error": "x" * 9000}), flush=True)', "error: x{300}"),
        ("import os; os.close(1); import time; time.sleep(30)", "closed its output"),
    ],
)
def test_a_program_that_misbehaves_is_reported(tmp_path, body, words):
    with verify.ProcessSolver(program(tmp_path, body), "bound") as solver, pytest.raises(SolverFailed, match=words):
        solver(np.eye(2), np.eye(2), 1)


def test_a_program_that_floods_its_output_is_reported_and_ended(tmp_path):
    body = 'print((json.dumps({"id": m["id"], "bound": 1.0}) + "\\n") * 10**6, flush=True)'
    with verify.ProcessSolver(program(tmp_path, body), "bound") as solver:
        report = verify.check(solver, "bound")
        with pytest.raises(SolverFailed, match="was ended: it wrote 100 lines more"):
            solver(np.eye(2), np.eye(2), 1)
    assert not report.ok
    assert report.seconds < 30.0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this machine")
@pytest.mark.parametrize("then", ['print(json.dumps({"id": m["id"], "bound": 1.0}), flush=True)', "time.sleep(60)"])
def test_a_program_is_ended_with_what_it_has_started(tmp_path, then):
    """A child that holds the pipes open must not hold the kit."""
    body = f"import os, time; os.fork() == 0 and (time.sleep(60), os._exit(0)); {then}"
    begin = time.perf_counter()
    with verify.ProcessSolver(program(tmp_path, body), "bound", time_limit=1.0) as solver, suppress(SolverFailed):
        solver(np.eye(2), np.eye(2), 1)
    assert time.perf_counter() - begin < 15.0


def test_a_request_that_is_not_read_does_not_hold_the_kit():
    """300 kB are more than a pipe holds."""
    hello = """import sys, time; sys.stdin.readline(); print('{"type": "hello", "protocol": 1}', flush=True)"""
    case = question("bound", "large", (), {"A": np.eye(200), "B": np.eye(200), "k": 1})
    begin = time.perf_counter()
    with verify.ProcessSolver([sys.executable, "-c", f"{hello}; time.sleep(60)"], "bound", time_limit=1.0) as solver:
        assert "did not read its request within 1 s" in solver.respond(case).problem
    assert time.perf_counter() - begin < 15.0


def test_a_program_that_hangs_is_given_up_once(tmp_path):
    with verify.ProcessSolver(program(tmp_path, "import time; time.sleep(30)"), "bound", time_limit=1.0) as solver:
        report = verify.check(solver, "bound")
    assert not report.ok
    assert "no line within 1 s" in report.checks[0].note
    assert report.seconds < 20.0


def test_a_program_that_leaves_in_the_middle(tmp_path):
    body = 'sys.exit("no memory") if m["id"] > 5 else print(json.dumps({"id": m["id"], "bound": 9e9}), flush=True)'
    with verify.ProcessSolver(program(tmp_path, body), "bound") as solver:
        report = verify.check(solver, "bound")
    assert not report.ok
    assert "the program ended with exit code 1" in report.checks[0].note
    assert "no memory" in report.checks[0].note
    assert report.seconds < 30.0


def test_a_program_that_prints_beside_its_answers(tmp_path):
    body = 'print("iteration 1", flush=True); print(json.dumps({"id": m["id"], "bound": 1.0}), flush=True)'
    with verify.ProcessSolver(program(tmp_path, body), "bound") as solver:
        report = verify.check(solver, "bound")
    assert not report.ok
    assert "a line is not a JSON object: 'iteration 1'" in report.checks[0].note


def test_a_program_that_cannot_be_started_or_does_not_greet(tmp_path):
    with pytest.raises(SolverFailed, match="could not be started"):
        verify.ProcessSolver("no-such-program-here", "pca")
    with pytest.raises(SolverFailed, match="must answer"):
        verify.ProcessSolver([sys.executable, "-c", "input(); print('{}')"], "pca")
    with pytest.raises(InvalidParameter, match="must name a program"):
        verify.ProcessSolver("", "pca")


def test_null_entries_are_nan(tmp_path):
    body = 'print(json.dumps({"id": m["id"], "x": [None] * len(m["A"])}), flush=True)'
    with (
        verify.ProcessSolver(program(tmp_path, body), "cardinality") as solver,
        pytest.raises(SolverFailed, match="2 entries that are NaN"),
    ):
        solver(np.eye(2), np.eye(2), 1)
