"""Typical mistakes are found by making them: every fault of every family is judged wrong and named."""

import numpy as np
import pytest

from dcgev_cvx import teach
from dcgev_cvx.teach.faults import Family, Fault

FAMILIES = {name: exercise for name, exercise in teach.EXERCISES.items() if exercise.family is not None}
FAULTS = [(name, fault) for name, exercise in FAMILIES.items() for fault in exercise.family.faults]


@pytest.mark.parametrize("name", FAMILIES)
def test_the_right_answer_of_a_family_is_right(name):
    assert teach.check(name, FAMILIES[name].family.make())


@pytest.mark.parametrize(("name", "fault"), FAULTS, ids=[f"{n}-{list(f.change.values())}" for n, f in FAULTS])
def test_every_fault_is_wrong_and_gets_its_own_sentence_and_the_numbers(name, fault):
    verdict = teach.check(name, FAMILIES[name].family.make(**fault.change))
    assert not verdict
    assert verdict.why.startswith(fault.says)
    assert any(digit.isdigit() for digit in verdict.why[len(fault.says) :])


def test_two_faults_at_once_are_both_named():
    family = FAMILIES["threshold"].family
    why = teach.check("threshold", family.make(half=1.0, price="rho")).why
    assert "without the factor ½" in why
    assert "Also: You used ρ̃ where ρ_ε" in why


def test_a_mistake_that_nobody_listed_gets_the_failing_equation():
    why = teach.check("threshold", lambda A, y, rho, eps: np.array([0.6, 0.0, 0.8])).why
    assert why.startswith("KKT row ")
    assert "not 0 (μ = " in why or "> p" in why


def line(slope=2.0, offset=1.0):
    return lambda x: slope * x + offset


def test_a_family_is_any_function_with_options():
    slope, offset = Fault({"slope": 3.0}, "The slope is 3."), Fault({"offset": 0.0}, "The offset is missing.")
    family = Family(line, lambda answer, i: answer(float(i)), 2, (slope, offset))
    assert family.diagnose(np.array([1.0, 4.0])) == "The slope is 3."
    assert family.diagnose(np.array([0.0, 2.0])) == "The offset is missing."
    assert family.diagnose(np.array([0.0, 3.0])) == "The slope is 3. Also: The offset is missing."
    assert family.diagnose(np.array([7.0, 7.0])) == ""
