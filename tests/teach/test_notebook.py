"""The notebook of all exercises: it runs, and its tests pass for right answers alone, as otter-grader reads them."""

import doctest
import json
import subprocess
import sys
from pathlib import Path

import pytest

from dcgev_cvx import teach
from dcgev_cvx.cli import main
from dcgev_cvx.teach.notebook import exercise_notebook, otter_test

STARTERS = Path(__file__).parents[2] / "examples" / "exercises"


def grade(name, answer):
    """Whether the doctest of an exercise passes for an answer, as otter-grader runs it."""
    scope = {}
    exec(otter_test(name), scope)
    (case,) = scope["test"]["suites"][0]["cases"]
    runner = doctest.DocTestRunner(verbose=False)
    parsed = doctest.DocTestParser().get_doctest(case["code"], {"answers": {name: answer}}, name, None, 0)
    runner.run(parsed, out=lambda text: None)
    return runner.summarize(verbose=False).failed == 0


@pytest.mark.parametrize("name", ["tau", "threshold", "descent"])
def test_right_answers_pass_and_every_known_mistake_fails(name):
    exercise = teach.EXERCISES[name]
    assert scope_is_otters(otter_test(name))
    assert grade(name, exercise.variant())
    assert not grade(name, None)
    for fault in exercise.faults:
        options = {option: value for option, value in fault.items() if option != "says"}
        assert not grade(name, exercise.variant(**options)), fault["says"]


def scope_is_otters(text):
    """Otter reads OK_FORMAT and a dictionary `test` with name, points and suites."""
    scope = {}
    exec(text, scope)
    return scope["OK_FORMAT"] is True and {"name", "points", "suites"} <= scope["test"].keys()


@pytest.mark.parametrize("otter", [False, True])
def test_every_starter_is_a_cell_that_runs_and_keeps_its_answer(otter, capsys):
    starters = {file.stem: file.read_text(encoding="utf-8") for file in STARTERS.glob("*.py")}
    notebook = exercise_notebook(starters, otter=otter)
    code = [cell["source"] for cell in notebook["cells"] if cell["cell_type"] == "code"]
    scope = {}
    for cell in code:
        lines = [line for line in cell.splitlines() if "otter" not in line and not line.startswith("grader")]
        exec("\n".join(lines), scope)
    assert scope["answers"].keys() == teach.EXERCISES.keys()
    assert capsys.readouterr().out.count("not yet") >= 9
    assert sum(cell.startswith("grader.check") for cell in code) == (len(teach.EXERCISES) if otter else 0)


def test_the_command_writes_the_notebook_and_its_tests(tmp_path, capsys):
    assert main(["exercise", "export", "--otter", "--out", str(tmp_path / "homework")]) == 0
    notebook = json.loads((tmp_path / "homework" / "exercises.ipynb").read_text(encoding="utf-8"))
    assert notebook["nbformat"] == 4
    assert {file.stem for file in (tmp_path / "homework" / "tests").iterdir()} == set(teach.EXERCISES)
    assert main(["exercise", "tau", "--otter"]) == 2
    assert "--otter belongs to `dcgev exercise export`" in capsys.readouterr().err


def test_progress_counts_what_is_right(tmp_path):
    solutions = Path(__file__).parents[2] / "examples" / "solutions"
    (tmp_path / "tau.py").write_text((solutions / "tau.py").read_text(encoding="utf-8"), encoding="utf-8")
    (tmp_path / "descent.py").write_text((STARTERS / "descent.py").read_text(encoding="utf-8"), encoding="utf-8")
    (tmp_path / "bound.py").write_text("1/0", encoding="utf-8")
    command = [sys.executable, "-m", "dcgev_cvx", "exercise", "progress"]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", cwd=tmp_path, check=False)
    assert done.returncode == 1
    assert done.stdout.startswith(f"1 of {len(teach.EXERCISES)} solved")
    states = {line.split()[0]: line for line in done.stdout.splitlines() if line}
    assert states["tau"].endswith("right")
    assert states["descent"].endswith("not yet")
    assert states["bound"].endswith("ends with an error")
    assert states["stuck"].endswith("not started")
