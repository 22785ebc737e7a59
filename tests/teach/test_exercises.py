"""The exercises: starters are not yet right, solutions are, and typical mistakes are named."""

import runpy
from pathlib import Path

import numpy as np
import pytest

from dcgev_cvx import InvalidParameter, teach

FOLDER = Path(__file__).parents[2] / "examples"
NAMES = sorted(teach.EXERCISES)


def last_line(folder, name, capsys):
    runpy.run_path(str(FOLDER / folder / f"{name}.py"))
    return capsys.readouterr().out.strip().splitlines()[-1]


@pytest.mark.parametrize("name", NAMES)
def test_the_starter_runs_and_is_not_yet_right(name, capsys):
    assert last_line("exercises", name, capsys).startswith("not yet: ")


@pytest.mark.parametrize("name", NAMES)
def test_the_solution_is_right(name, capsys):
    assert last_line("solutions", name, capsys).startswith("right: ")


def test_every_exercise_has_starter_and_solution_and_nothing_else():
    for folder in ("exercises", "solutions"):
        assert sorted(path.stem for path in (FOLDER / folder).glob("*.py")) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_tasks_and_hints_are_there_and_no_answer_is_no_answer(name):
    assert teach.task(name).endswith(".")
    assert teach.hint(name)
    assert not teach.check(name, None)
    assert "no answer" in str(teach.check(name, ...))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("nonsense", ["x", -1.0, (), np.full(13, np.nan), lambda *args: "x", lambda: 1])
def test_nonsense_is_a_verdict_and_no_exception(name, nonsense):
    verdict = teach.check(name, nonsense)
    assert not verdict
    assert verdict.why


def test_an_unknown_exercise_is_refused():
    with pytest.raises(InvalidParameter, match="did you mean 'threshold'"):
        teach.check("treshold", None)


@pytest.mark.parametrize("name", NAMES)
def test_an_answer_of_the_wrong_kind_is_told_what_is_wanted(name):
    assert f"(wanted: {teach.EXERCISES[name].wants})" in teach.check(name, "x").why


def test_an_answer_that_leaves_python_does_not_end_the_lesson():
    def leaves(*args):
        raise SystemExit(3)

    assert "SystemExit: 3" in teach.check("threshold", leaves).why
