"""Vectors and programs: JSON out and back without loss, answers judged, programs of other languages tried."""

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
import wrong_solvers as catalogue

from dcgev_cvx import Pencil, cli, relaxations, solve, verify
from dcgev_cvx.errors import DCGEVError, InvalidParameter, SolverFailed
from dcgev_cvx.verify import own, vectors
from dcgev_cvx.verify.instances import LEVELS, question
from dcgev_cvx.verify.refusals import refusals
from dcgev_cvx.verify.session import Session
from dcgev_cvx.verify.suite import suite
from dcgev_cvx.verify.tolerances import PROFILES

EXAMPLES = Path(__file__).parents[1] / "examples"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    where = tmp_path_factory.mktemp("vectors")
    vectors.export(where, "fda", effort="quick")
    return where


def answers_of(folder, solver=catalogue.right_fda):
    found = {}
    for content in vectors.read_vectors(folder):
        for vector in content["vectors"]:
            case = vectors.instance_of(content["level"], vector)
            found[vector["id"]] = None if vector["result"] == "invalid" else solver(*case.arguments()).tolist()
    return found


def test_vectors_read_back_to_the_same_bits(folder):
    stored = {v["id"]: v for content in vectors.read_vectors(folder) for v in content["vectors"]}
    cases = suite("fda", 0, "quick").limited(PROFILES["standard"]).battery
    assert len(stored) == len(cases) + len(list(refusals("fda")))
    for index, case in enumerate(cases, start=1):
        again = vectors.instance_of("fda", stored[f"fda-{index:04d}"])
        for name in ("a", "B", "y", "nu", "eps"):
            assert np.array_equal(again.data[name], case.data[name])


def test_every_file_obeys_the_schema(folder):
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads((folder / "schema.json").read_text(encoding="utf-8"))
    for content in vectors.read_vectors(folder):
        jsonschema.validate(content, schema)
        assert content["note"].startswith("catches: ")


def test_every_level_exports_and_its_groups_have_notes(tmp_path):
    for level in ("fda", "pca", "bound", "cardinality"):  # steps and runs are many, and the same code
        counts = vectors.export(tmp_path, level, effort="quick")
        assert sum(counts.values()) - counts["invalid"] == len(suite(level, 0, "quick").battery)
    verdicts = {content["level"]: content["verdict"] for content in vectors.read_vectors(tmp_path)}
    assert verdicts == {"fda": "exact", "pca": "certificate", "bound": "bound", "cardinality": "certificate"}


def test_right_answers_pass_and_one_wrong_digit_fails(folder, tmp_path, capsys):
    answers = answers_of(folder)
    path = tmp_path / "answers.json"
    path.write_text(json.dumps({"schema_version": 1, "answers": answers}), encoding="utf-8")
    assert cli.main(["vectors", "check", str(folder), str(path)]) == 0
    name = next(n for n, x in answers.items() if len(x) > 2 and np.count_nonzero(x) > 2)
    broken = {
        **answers,
        name: [
            x + (1e-3 * abs(x)) * (i == int(np.argmax(np.abs(answers[name])))) for i, x in enumerate(answers[name])
        ],
    }
    path.write_text(json.dumps({"schema_version": 1, "answers": broken}), encoding="utf-8")
    capsys.readouterr()
    assert cli.main(["vectors", "check", str(folder), str(path)]) == 1
    out = capsys.readouterr().out
    assert name in out
    assert "1 failed, 0 blocked" in out


def test_a_missing_answer_is_blocked_and_a_bad_one_failed(folder):
    answers = answers_of(folder)
    names = sorted(answers)
    del answers[names[0]]
    answers[names[1]] = "none"
    status = {j.id: j for j in vectors.judge_answers(folder, answers)}
    assert status[names[0]].status == "blocked"
    assert status[names[1]].status == "failed"
    assert status[names[2]].status == "passed"


@pytest.mark.parametrize(
    ("level", "solver"),
    [
        ("step", own.qcqp_step),
        ("step", own.native_step),
        ("algorithm", own.algorithm_1),
        ("pca", own.algorithm_2),
        ("fda", own.fisher_step),
        ("cardinality", lambda A, B, k: solve(Pencil(A, B), k).x),
        ("bound", lambda A, B, k: relaxations.homogeneous_sdp(Pencil(A, B), k).upper_bound),
    ],
)
def test_our_own_solvers_refuse_what_has_no_answer(level, solver):
    for words, data in refusals(level):
        with pytest.raises(DCGEVError):
            print(words, solver(*(data[name] for name in LEVELS[level].arguments)))


def test_a_number_where_there_is_no_answer_fails(folder):
    answers = answers_of(folder)
    names = [v["id"] for c in vectors.read_vectors(folder) if c["group"] == "invalid" for v in c["vectors"]]
    answers |= {names[0]: [0.0, 0.0, 0.0], names[1]: {"error": "y is too short"}}
    status = {j.id: j for j in vectors.judge_answers(folder, answers)}
    assert [status[name].status for name in names[:3]] == ["failed", "passed", "passed"]
    assert "B is 4 × 4" in status[names[0]].note


def test_vectors_of_a_profile_with_a_gap_are_judged_by_it(tmp_path):
    vectors.export(tmp_path, "fda", effort="quick", tol="interior-point")
    answers = answers_of(tmp_path, catalogue.right_fda)
    assert {j.status for j in vectors.judge_answers(tmp_path, answers)} == {"passed"}


def test_files_that_are_none_are_named(folder, tmp_path):
    bad = tmp_path / "answers.json"
    bad.write_text("{", encoding="utf-8")
    with pytest.raises(InvalidParameter, match="is not JSON"):
        vectors.read_answers(bad)
    bad.write_text('{"schema_version": 1, "answers": {}}', encoding="utf-8")
    with pytest.raises(InvalidParameter, match="holds no answers"):
        vectors.read_answers(bad)
    with pytest.raises(InvalidParameter, match="cannot be read"):
        vectors.read_answers(tmp_path / "nothing.json")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InvalidParameter, match="is a pipe or a device"):
        vectors.read_answers(tmp_path / "pipe")
    with pytest.raises(InvalidParameter, match="holds no vectors"):
        vectors.judge_answers(tmp_path, {"step-0001": [1.0]})
    with pytest.raises(InvalidParameter, match="have no vector"):
        vectors.judge_answers(folder, {"step-9999": [1.0]})
    with pytest.raises(InvalidParameter, match="not a folder"):
        vectors.judge_answers(tmp_path / "no", {})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"schema_version": 1, "answers": {"fda-0001": [1.0], "fda-0001": [2.0]}}', "'fda-0001' occurs twice"),
        ("[" * 200000, "is not JSON"),
        ('\ufeff{"schema_version": 1, "answers": {}}', "holds no answers"),
    ],
)
def test_answers_that_are_odd_are_named(tmp_path, text, words):
    path = tmp_path / "answers.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidParameter, match=words):
        vectors.read_answers(path)


@pytest.mark.parametrize("change", [{"input": {}}, {"input": {"a": [[]], "B": 1}}, {"tolerance": None}])
def test_a_vector_file_that_was_changed_is_named(folder, tmp_path, change):
    content = json.loads((folder / "fda-plain.json").read_text(encoding="utf-8"))
    first = content["vectors"][0]
    (tmp_path / "fda-plain.json").write_text(json.dumps({**content, "vectors": [{**first, **change}]}), "utf-8")
    answers = {first["id"]: first["expected"]["x"]}
    with pytest.raises(InvalidParameter, match=r"\('plain'\) is not as it was exported"):
        vectors.judge_answers(tmp_path, answers)


def test_export_on_the_command_line_counts_what_it_wrote(tmp_path, capsys):
    assert cli.main(["vectors", "export", str(tmp_path / "v"), "--level", "bound", "--quick"]) == 0
    out = capsys.readouterr().out
    count = len(suite("bound", 0, "quick").battery) + len(list(refusals("bound")))
    assert f"{count} vectors written" in out


# ── programs ─────────────────────────────────────────────────────────────────────────────────────

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
        ('print("hm", flush=True)', "not JSON"),
        ('print("[1]", flush=True)', "not a JSON object"),
        ('print(json.dumps({"id": -1, "bound": 1.0}), flush=True)', "answered with id -1"),
        ('print(json.dumps({"id": m["id"]}), flush=True)', "no 'bound'"),
        ('print("gone wrong", file=sys.stderr); sys.exit(3)', "exit code 3.*gone wrong|ended"),
        ('sys.stdout.buffer.write(b"\\xff\\xfe1\\n"); sys.stdout.flush()', "not JSON: '\ufffd\ufffd1'"),
        ('print("[" * 100000, flush=True)', "not JSON"),
        ('print("1" * 2**23, flush=True)', "ended: a line is too long"),
        ('print(json.dumps({"id": m["id"], "error": "x" * 9000}), flush=True)', "error: 'x{300,400} …"),
        ("import os; os.close(1); import time; time.sleep(30)", "closed its output"),
    ],
)
def test_a_program_that_misbehaves_is_reported(tmp_path, body, words):
    with verify.ProcessSolver(program(tmp_path, body), "bound") as solver, pytest.raises(SolverFailed, match=words):
        solver(np.eye(2), np.eye(2), 1)


def test_a_program_that_floods_its_output_is_ended(tmp_path):
    body = 'print((json.dumps({"id": m["id"], "bound": 1.0}) + "\\n") * 10**6, flush=True)'
    with verify.ProcessSolver(program(tmp_path, body), "bound") as solver:
        report = verify.check(solver, "bound")
        with pytest.raises(SolverFailed, match="ended: it answers more than it is asked"):
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
    with verify.ProcessSolver([sys.executable, "-c", f"{hello}; time.sleep(60)"], "bound") as solver:
        assert "no answer within 1 s" in Session(solver, 1.0).call(case, case.arguments()).problem
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
    assert "a line is not JSON: 'iteration 1'" in report.checks[0].note


def test_a_program_that_cannot_be_started_or_does_not_greet(tmp_path):
    with pytest.raises(SolverFailed, match="could not be started"):
        verify.ProcessSolver("no-such-program-here", "pca")
    with pytest.raises(SolverFailed, match="must answer"):
        verify.ProcessSolver([sys.executable, "-c", "input(); print('{}')"], "pca")
    with pytest.raises(InvalidParameter, match="must name a program"):
        verify.ProcessSolver("", "pca")


def test_null_entries_are_nan(tmp_path):
    body = 'print(json.dumps({"id": m["id"], "x": [None] * len(m["A"])}), flush=True)'
    with verify.ProcessSolver(program(tmp_path, body), "cardinality") as solver:
        assert np.all(np.isnan(solver(np.eye(2), np.eye(2), 1)))


# ── dcgev verify ─────────────────────────────────────────────────────────────────────────────────


def test_a_function_in_a_file(tmp_path, capsys):
    path = tmp_path / "mine.py"
    path.write_text(
        "from scipy.linalg import eigh\ndef bound(A, B, k):\n    return eigh(A, B)[0][-1]\n", encoding="utf-8"
    )
    page = tmp_path / "report.html"
    assert cli.main(["verify", f"{path}:bound", "--level", "bound", "--html", str(page)]) == 0
    assert "PASSED: bound as bound (SGEV-P)" in capsys.readouterr().out
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    path.write_text("def bound(A, B, k):\n    return 0.0\n", encoding="utf-8")
    assert cli.main(["verify", f"{path}:bound", "--level", "bound", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["counterexample"]["check"] == "validity"


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("nothing", "MODULE:FUNCTION"),
        ("no_such_module_here:f", "could not be imported"),
        ("math:nothing", "has no 'nothing'"),
        ("nowhere.py:f", "does not exist"),
    ],
)
def test_targets_that_are_none(target, words, capsys):
    assert cli.main(["verify", target, "--level", "pca"]) == 2
    assert words in capsys.readouterr().err


RUDE = """
import sys
from scipy.linalg import eigh
print("loading")
def bound(A, B, k):
    sys.stderr = sys.stdout = None
    return eigh(A, B, eigvals_only=True)[-1]
"""


def test_a_rude_module_leaves_the_report_readable(tmp_path, capsys):
    path = tmp_path / "rude.py"
    path.write_text(RUDE, encoding="utf-8")
    before = sys.stderr
    assert cli.main(["verify", f"{path}:bound", "--level", "bound", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["ok"] is True
    assert sys.stderr is before


def test_a_function_that_keeps_the_interpreter_to_itself_ends_the_command():
    body = "with watchdog(1.0): re.match('(a+)+$', 40 * 'a' + 'b')"
    script = f"import re; from dcgev_cvx.cli.verify_command import watchdog\n{body}"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert "Timeout" in done.stderr
    assert "line 2 in <module>" in done.stderr


def test_either_a_function_or_a_command(capsys):
    assert cli.main(["verify", "--level", "pca"]) == 2
    assert "either" in capsys.readouterr().err


def test_agreement_on_pit_props(capsys):
    assert cli.main(["agreement", "pitprops", "--json"]) == 0
    rows = {row["who"]: row for row in json.loads(capsys.readouterr().out)["rows"]}
    assert rows["QCQPStep"]["distance"] < 1e-10
    assert rows["closed form"]["distance"] < 1e-12
    assert 1e-12 < rows["CLARABEL"]["distance"] < 1e-3
    assert "cannot solve" in rows["OSQP"]["failure"]
