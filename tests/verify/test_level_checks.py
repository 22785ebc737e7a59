"""The checks: right solvers of every make pass, wrong ones fail where their fault shows."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

import numpy as np
import package_solvers
import pytest
import wrong_solvers as catalogue

from dcgev_cvx import verify
from dcgev_cvx.verify.level_checks import checks
from dcgev_cvx.verify.levels import tolerances
from dcgev_cvx.verify.reference_answers import reference
from dcgev_cvx.verify.solver_report import respondent
from dcgev_cvx.verify.suite import suite
from dcgev_cvx.verify.trial import Session, Trial

RIGHT = [e for e in catalogue.RIGHT if "CVXPY" not in e.name]


def misses(solver, level, tol=None, every=6, of=None):
    """The contract checks that fail on a sixth of the cases and one pair of each kind."""
    found = suite(level, 0, "quick", tolerances(of or tol))
    pairs = MappingProxyType({name: pairs[:1] for name, pairs in found.pairs.items()})
    few = replace(found, cases=(*found.cases[::every], *(made[0].base for made in pairs.values())), pairs=pairs)
    trial = Trial(Session(respondent(solver, level, 60.0)), few, tolerances(tol))
    outcomes = [item.run(trial) for item in checks(level, few)]
    assert sum(outcome.cases for outcome in outcomes) > 100
    return [f"{o.name}: {o.note}" for o in outcomes if o.kind == "contract" and not o.passed]


@pytest.mark.parametrize("entry", RIGHT, ids=lambda e: f"{e.level}-{e.name}")
def test_a_right_solver_passes(entry):
    assert misses(entry.make(), entry.level, entry.tol) == []


@pytest.mark.parametrize(
    ("solver", "level"),
    [
        (package_solvers.qcqp_step, "step"),
        (package_solvers.native_step, "step"),
        (package_solvers.fisher_step, "fda"),
        (package_solvers.fda_step_of_run, "fda"),
        (package_solvers.algorithm_1, "algorithm"),
        (package_solvers.algorithm_2, "pca"),
    ],
)
def test_the_packages_own_solvers_pass(solver, level):
    assert misses(solver, level) == []


def test_a_conic_solver_at_default_accuracy_passes_at_its_tolerance():
    assert misses(catalogue.cvxpy_step("CLARABEL"), "step", "interior-point") == []


def test_the_report_says_what_a_profile_leaves_out():
    report = verify.check(catalogue.exact_bound, "bound", tol="interior-point")
    assert report.ok, str(report)
    assert "B=cond 1e8" in report.left_out
    assert "left out by this profile" in report.text(details=True)


@pytest.mark.slow
def test_an_exact_step_passes_at_the_tolerance_of_a_closed_form():
    assert misses(catalogue.right_step, "step", "closed", every=12) == []
    assert misses(catalogue.right_fda, "fda", "closed", every=12, of="standard") == []


def some(level, every):
    """A share of the wrong solvers; `python -m benchmarks mutation` tries them all."""
    return [e for e in catalogue.WRONG if e.level == level and "SDP" not in e.name][::every]


WRONG = [*some("step", 90), *some("pca", 40), *some("fda", 40), *some("bound", 20), *some("cardinality", 20)]
NEEDED = {
    "y rounded to float32": "last digits",
    "answer remembered by two decimals": "one part changed",
    "one_buffer": "answers kept",
    "200 steps": "stationarity",
    "text": "valid answer",
    "answer remembered by ten digits": "last digits",
    "B remembered by its identity": "reused arrays",
    "cold_start": "stationarity",
    "late_writing": "inputs unchanged",
    "B overwritten in Fortran order": "inputs unchanged",
    "two arrays handed out in turn": "answers kept",
    "remembered without k": "one part changed",
    "infinite": "not vacuous",
}
"""Faults that one check alone brings to light."""


@pytest.mark.parametrize(("name", "check"), NEEDED.items())
def test_a_fault_is_caught_by_the_check_that_is_meant_for_it(name, check):
    entry = next(e for e in catalogue.WRONG[::-1] if e.name == name)
    found = suite(entry.level, 0, "quick")
    trial = Trial(Session(respondent(entry.make(), entry.level, 60.0)), found, tolerances(None))
    made = {item.name: item for item in checks(entry.level, found)}
    for first in ("valid answer",) if check in ("answers kept", "inputs unchanged", "stationarity") else ():
        made[first].run(trial)  # these look at what earlier calls left
    assert made[check].run(trial).status == "failed"


@pytest.mark.slow
@pytest.mark.parametrize("entry", WRONG, ids=lambda e: f"{e.level}-{e.name}")
def test_a_wrong_solver_is_caught(entry):
    report = verify.check(entry.make(), entry.level)
    assert not report.ok
    assert report.failed
    assert report.counterexample is not None
    with pytest.raises(verify.VerificationFailed, match="FAILED"):
        report.raise_if_failed()


@pytest.mark.parametrize("name", ["τ forgotten", "penalty halved"])
def test_a_wrong_run_is_caught(name):
    entry = next(e for e in catalogue.WRONG if e.level == "algorithm" and e.name == name)
    assert misses(entry.make(), "algorithm", every=1) != []


def test_the_catalogue_is_large_enough():
    assert len(catalogue.WRONG) >= 40
    assert len(catalogue.RIGHT) >= 8
    assert {e.level for e in catalogue.WRONG} == set(verify.LEVELS) == {e.level for e in catalogue.RIGHT}


@pytest.mark.parametrize("level", verify.LEVELS)
def test_the_first_call_of_all_has_a_telling_answer(level):
    found = suite(level, 0, "quick")
    case = found.pairs["the same call twice"][0].base
    assert case in found.cases
    assert case.n >= 2
    assert case.data["A" if "A" in case.data else "a"].any()
    assert level not in ("step", "fda") or reference(case).x.any()


def test_advisory_checks_do_not_decide():
    report = verify.check(lambda A, B, k: np.trace(np.linalg.solve(B, A @ np.linalg.solve(B, A))) ** 0.5, "bound")
    advisory = {outcome.name: outcome for outcome in report.advisory}
    assert report.ok
    assert advisory["no worse than λmax"].status == "failed"


def test_rounded_answers_are_not_held_to_their_last_digits():
    found = suite("fda", 0, "quick")
    few = replace(found, cases=found.cases[:1])
    last = next(item for item in checks("fda", few) if item.name == "last digits")

    def judged(finish):
        asked = respondent(lambda *args: finish(catalogue.right_fda(*args)), "fda", 60.0)
        trial = Trial(Session(asked), few, tolerances(None))
        return last.run(trial).status

    assert judged(lambda x: x) == "passed"
    assert judged(lambda x: np.array([float(f"{v:.9g}") for v in x])) == "passed"
    assert judged(lambda x: x.astype(np.float32)) == "passed"
    assert judged(lambda x: x.astype(np.float32).astype(float)) == "failed"
