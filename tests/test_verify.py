"""The kit: right solvers pass, wrong ones fail with the equation and an example, misconduct is reported."""

from __future__ import annotations

import json
import sys
import time

import numpy as np
import pytest
import wrong_solvers as catalogue

from dcgev_cvx import verify
from dcgev_cvx.errors import InvalidParameter
from dcgev_cvx.verify.suite import suite

FAST_RIGHT = [e for e in catalogue.RIGHT if "CVXPY" not in e.name and e.level != "algorithm"]


@pytest.mark.parametrize("entry", FAST_RIGHT, ids=lambda e: f"{e.level}-{e.name}")
def test_a_right_solver_passes(entry):
    report = verify.check(entry.make(), entry.level, tol=entry.tol)
    assert report.ok, str(report)
    assert report.cases > 30
    assert report.calls > report.cases


def test_a_conic_solver_at_default_accuracy_passes_at_its_tolerance():
    report = verify.check(catalogue.cvxpy_step("CLARABEL"), "step", tol="interior-point")
    assert report.ok, str(report)
    assert report.left_out > 0
    assert "left out by this profile" in str(report)


def test_an_exact_step_passes_at_the_tolerance_of_a_closed_form():
    assert verify.check(catalogue.right_step, "step", tol="closed").ok
    assert verify.check(catalogue.right_fda, "fda", tol="closed").ok


def some(level, every):
    """A share of the wrong solvers; `python -m benchmarks mutation` tries them all."""
    return [e for e in catalogue.WRONG if e.level == level and "SDP" not in e.name][::every]


WRONG = [*some("step", 4), *some("pca", 3), *some("fda", 4), *some("bound", 2), *some("cardinality", 2)]


@pytest.mark.parametrize("entry", WRONG, ids=lambda e: f"{e.level}-{e.name}")
def test_a_wrong_solver_is_caught(entry):
    report = verify.check(entry.make(), entry.level)
    assert not report.ok
    assert report.failed
    assert report.counterexample is not None
    with pytest.raises(verify.VerificationFailed, match="FAILED"):
        report.raise_if_failed()


@pytest.mark.parametrize("name", ["τ forgotten", "stops at 1e-4", "x0 ignored"])
def test_a_wrong_run_is_caught(name):
    entry = next(e for e in catalogue.WRONG if e.level == "algorithm" and e.name == name)
    assert not verify.check(entry.make(), "algorithm").ok


def test_the_catalogue_is_large_enough():
    assert len(catalogue.WRONG) >= 40
    assert len(catalogue.RIGHT) >= 8
    assert {e.level for e in catalogue.WRONG} == set(verify.LEVELS) == {e.level for e in catalogue.RIGHT}


def test_the_split_in_the_metric_of_b_passes_as_an_algorithm():
    report = verify.check(catalogue.metric_algorithm, "algorithm")
    assert report.ok, str(report)


def test_the_counterexample_is_small_and_its_snippet_repeats_the_failure():
    entry = next(e for e in catalogue.WRONG if e.name == "τ missing in the linear term")
    solver = entry.make()
    example = verify.check(solver, "step").counterexample
    assert len(example.arguments["y"]) <= 2
    scope = {"solver": solver}
    exec(example.snippet, scope)
    np.testing.assert_allclose(scope["x"], example.found, rtol=1e-12)
    assert np.max(np.abs(scope["x"] - np.array(example.expected))) > 1e-4


def test_a_hanging_solver_is_reported_and_not_waited_for():
    begin = time.perf_counter()
    report = verify.check(catalogue.hanging, "bound", time_limit=0.2)
    assert time.perf_counter() - begin < 20.0
    assert not report.ok
    assert report.calls == 1
    answer = report.checks[0]
    assert answer.status == "failed"
    assert "no answer within 0.2 s" in answer.note
    assert any(outcome.status == "blocked" for outcome in report.checks)


@pytest.mark.parametrize(
    ("solver", "words"), [(catalogue.crashing, "no licence found"), (catalogue.leaving, "SystemExit")]
)
def test_a_solver_that_raises_is_a_failed_check(solver, words):
    report = verify.check(solver, "fda")
    assert not report.ok
    assert words in report.checks[0].note
    assert report.counterexample.found is None


def test_manners_do_not_decide():
    report = verify.check(catalogue.noisy_step, "step")
    manners = {outcome.name: outcome for outcome in report.manners}
    assert report.ok
    assert manners["silent"].status == "failed"
    assert "slow" in manners["no warnings"].note


def test_the_same_seed_gives_the_same_report():
    entry = next(e for e in catalogue.WRONG if e.level == "fda")
    reports = [verify.check(entry.make(), "fda", seed=3) for _ in range(2)]
    rows = [[(o.name, o.status, o.worst, o.failures) for o in report.checks] for report in reports]
    assert rows[0] == rows[1]
    assert reports[0].counterexample.arguments == reports[1].counterexample.arguments


def test_no_check_at_all_is_a_failure():
    report = verify.check(catalogue.right_bound, "bound")
    empty = type(report)(**{**vars(report), "checks": ()})
    assert report.ok
    assert not empty.ok


def test_the_report_as_text_json_and_page():
    report = verify.check(catalogue.WRONG[0].make(), "step")
    text = str(report)
    assert text.splitlines()[0].startswith("FAILED: solver as step (ALG): ")
    assert "smallest example found" in text
    data = json.loads(json.dumps(report.to_dict(), allow_nan=False))
    assert data["ok"] is False
    assert {"name", "tag", "status", "worst", "tolerance", "instance"} <= set(data["checks"][0])
    assert "<table>" in report.to_html()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: verify.check(print, "stepp"), "did you mean 'step'"),
        (lambda: verify.check(3, "step"), "not callable"),
        (lambda: verify.check(print, "step", tol="tight"), "tol = 'tight' is unknown"),
        (lambda: verify.check(print, "step", tol=2.0), "between 1e-13 and 0.1"),
        (lambda: verify.check(print, "step", effort="most"), "effort = 'most'"),
        (lambda: verify.check(print, "step", seed=-1), "seed = -1"),
        (lambda: verify.check(print, "step", time_limit=0.0), "time_limit = 0"),
    ],
)
def test_bad_settings_are_named(call, words):
    with pytest.raises(InvalidParameter, match=words):
        call()


@verify.parametrize_with_checks("fda")
def test_parametrize_gives_one_test_per_check(check):
    check(catalogue.right_fda)


def test_a_check_of_a_test_raises_with_the_example():
    bound = next(b for b in verify.parametrize_with_checks("fda").args[1] if str(b) == "minimiser")
    with pytest.raises(verify.VerificationFailed, match=r"(?s)minimiser.*FAILED.*x = solver\(a, B, y, nu, eps\)"):
        bound(wrong_fda)


def wrong_fda(a, B, y, nu, eps):
    return catalogue.right_fda(a, B, y, 2 * nu, eps)


def test_every_level_has_the_special_families():
    names = {check.name for check in suite_checks("step")}
    assert {"weights at 0", "interior optimum", "collapse", "near ties", "tiny ε", "one variable"} <= names
    assert {"x0 decides", "slow runs"} <= {check.name for check in suite_checks("pca")}
    assert {"tight relaxations", "decoys", "monotone in k"} <= {check.name for check in suite_checks("bound")}


def suite_checks(level):
    from dcgev_cvx.verify.checks import checks

    return checks(level, suite(level, 0, "quick"))


def test_our_own_solvers_pass():
    from dcgev_cvx.verify import own

    report = verify.check(own.algorithm_2, "pca")
    assert report.ok, str(report)


@pytest.mark.parametrize("size", [1e200, 1e308])
@pytest.mark.parametrize("level", ["step", "pca", "cardinality"])
def test_answers_that_overflow_are_failures_and_not_crashes(level, size):
    report = verify.check(lambda *args: np.full(len(args[0]), size), level)
    assert not report.ok
    assert report.checks[0].passed


def test_light_import():
    import subprocess

    code = "import sys, dcgev_cvx; assert 'dcgev_cvx.verify' not in sys.modules and 'scipy.linalg' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
