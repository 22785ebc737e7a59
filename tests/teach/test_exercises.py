"""The exercises: starters are not yet right, solutions are, and typical mistakes are named."""

import runpy
from dataclasses import replace
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
    hints = [teach.hint(name, grade) for grade in (1, 2, 3)]
    assert len(set(hints)) == 3
    assert all(hint.endswith((".", "?")) for hint in hints)
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


@pytest.mark.parametrize("grade", [0, 4, 1.5, "2"])
def test_there_are_three_grades_of_hints(grade):
    with pytest.raises(InvalidParameter, match="grade"):
        teach.hint("tau", grade)


PAGES_BEFORE = ["README.md", "docs/index.md", "docs/tutorials/moving-majoriser.md", "docs/tutorials/rho-to-k.md"]
"""What a student reads before the page of the exercises."""

GIVEN_AWAY = {
    "majoriser": ["exp(-", "Exponential"],
    "tau": ["indefinite(7)"],
    "dcp": ["cp.Problem("],
    "threshold": ["0.5 * rho_eps", "soft-thresh", "soft thresh", "\\tfrac12\\rho"],
    "cardinality": ["five nonzeros"],
    "stuck": ["rho=4.84, x0"],
    "corollary": ["diag([2", "orthogonal to the leading"],
    "bound": ["homogeneous_sdp"],
    "suspect": ["suspect"],
    "descent": ["np.where(x == 0"],
}
"""Strings that an answer to each exercise would contain."""


@pytest.mark.parametrize("name", NAMES)
def test_no_page_before_an_exercise_gives_its_answer_away(name):
    for page in PAGES_BEFORE:
        text = (FOLDER.parent / page).read_text(encoding="utf-8")
        assert [words for words in GIVEN_AWAY[name] if words in text] == [], page


# Mistakes are found by making them

FAULTS = [(name, fault) for name, exercise in teach.EXERCISES.items() for fault in exercise.faults]


@pytest.mark.parametrize("name", sorted({name for name, _ in FAULTS}))
def test_without_a_fault_the_variant_is_right(name):
    assert teach.check(name, teach.EXERCISES[name].variant())


@pytest.mark.parametrize(("name", "fault"), FAULTS, ids=[f"{n}-{list(f.values())[:-1]}" for n, f in FAULTS])
def test_every_fault_is_wrong_and_gets_its_own_sentence_and_the_numbers(name, fault):
    options = {option: value for option, value in fault.items() if option != "says"}
    verdict = teach.check(name, teach.EXERCISES[name].variant(**options))
    assert not verdict
    assert verdict.why.startswith(fault["says"])
    assert any(digit.isdigit() for digit in verdict.why[len(fault["says"]) :])


def test_two_faults_at_once_are_both_named():
    why = teach.check("threshold", teach.EXERCISES["threshold"].variant(half=1.0, price="rho")).why
    assert "without the factor ½" in why
    assert "Also: You used ρ̃ where ρ_ε" in why


def test_a_mistake_that_nobody_listed_gets_the_failing_equation():
    why = teach.check("threshold", lambda A, y, rho, eps: np.array([0.6, 0.0, 0.8])).why
    assert why.startswith("KKT row ")
    assert "not 0 (μ = " in why or "> p" in why


def line(x, wrong):
    return wrong.get("slope", 2.0) * x + wrong.get("offset", 1.0)


def read_line(answer):
    yield answer(0.0)
    yield answer(1.0)


def test_a_variant_is_any_function_with_options():
    faults = ({"slope": 3.0, "says": "The slope is 3."}, {"offset": 0.0, "says": "The offset is missing."})
    exercise = replace(teach.EXERCISES["tau"], faults=faults, read=read_line, right=line)
    assert exercise.diagnose([1.0, 4.0]) == "The slope is 3."
    assert exercise.diagnose([0.0, 2.0]) == "The offset is missing."
    assert exercise.diagnose([0.0, 3.0]) == "The slope is 3. Also: The offset is missing."
    assert exercise.diagnose([7.0, 7.0]) == ""


def test_a_variant_without_a_value_explains_nothing():
    fault = {"slope": "x", "says": "The slope is a word."}
    exercise = replace(teach.EXERCISES["tau"], faults=(fault,), right=lambda wrong: wrong["slope"])
    assert exercise.diagnose([1.0]) == ""
