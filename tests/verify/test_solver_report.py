"""The report, the settings of a trial, and the decorator for pytest."""

from __future__ import annotations

import json
import subprocess
import sys
from xml.etree import ElementTree

import pytest
import wrong_solvers as catalogue

from dcgev_cvx import verify
from dcgev_cvx.errors import InvalidParameter
from dcgev_cvx.verify.level_checks import KIT, checks
from dcgev_cvx.verify.suite import suite


@pytest.mark.slow
def test_the_same_seed_gives_the_same_report():
    entry = next(e for e in catalogue.WRONG if e.level == "bound")
    reports = [verify.check(entry.make(), "bound", seed=3) for _ in range(2)]
    rows = [[(o.name, o.status, o.worst, o.failures) for o in report.checks] for report in reports]
    assert rows[0] == rows[1]
    assert reports[0].counterexample.arguments == reports[1].counterexample.arguments


def test_no_check_at_all_is_a_failure():
    report = verify.check(catalogue.exact_bound, "bound")
    empty = type(report)(**{**vars(report), "checks": ()})
    assert report.ok
    assert not empty.ok


def test_the_report_as_text_and_json():
    report = verify.check(catalogue.WRONG[0].make(), "step")
    text = str(report)
    assert text.splitlines()[0].startswith("FAILED: <lambda> as step (ALG); ")
    assert "smallest example" in text
    data = json.loads(json.dumps(report.to_dict(), allow_nan=False))
    assert data["ok"] is False
    assert {"name", "tag", "status", "worst", "tolerance", "instance"} <= set(data["checks"][0])
    junit = ElementTree.fromstring(report.to_junit())
    failed = {case.get("name") for case in junit.findall("testcase/failure/..")}
    assert failed == {outcome.name for outcome in report.failed}
    assert (int(junit.get("tests")), int(junit.get("failures"))) == (len(report.contract), len(failed))


def test_the_report_can_be_repeated_from_what_it_says():
    report, again = (verify.check(catalogue.exact_bound, "bound", seed=seed) for seed in (0, 3))
    assert set(report.origin) == {"kit", "schema", "platform", "cases"}
    assert report.origin["cases"] != again.origin["cases"]
    assert report.to_dict()["origin"] == report.origin
    assert f"cases {report.origin['cases']}" in report.text(details=True)
    assert "seed 0" in report.text(details=True)


@pytest.mark.parametrize("level", verify.LEVELS)
def test_every_check_says_since_which_version_of_the_kit_it_exists(level):
    made = checks(level, suite(level, 0, "quick"))
    assert all(1 <= int(item.since) <= int(KIT) for item in made)


def test_known_failures_do_not_decide_and_one_that_passes_is_said():
    def low(A, B, k):
        return 0.0

    assert not verify.check(low, "bound").ok
    known = verify.check(low, "bound", include=["validity", "valid answer"], expected={"validity": "not written yet"})
    assert known.ok
    assert known.failed == ()
    assert "known failure: not written yet" in known.text(details=True)
    assert {outcome.name for outcome in known.checks} == {"validity", "valid answer"}
    fixed = verify.check(catalogue.exact_bound, "bound", exclude=["not vacuous"], expected={"validity": "fixed since"})
    assert "known failure 'validity' passes (fixed since)" in str(fixed)
    assert "not vacuous" not in {outcome.name for outcome in fixed.checks}


def test_known_failures_alone_are_no_pass():
    assert not verify.check(lambda A, B, k: 0.0, "bound", include=["validity"], expected={"validity": "?"}).ok


def test_a_solver_without_a_name_is_called_by_its_type():
    class Bound:
        def __call__(self, A, B, k):
            return catalogue.exact_bound(A, B, k)

    report = verify.check(Bound(), "bound")
    assert report.ok
    assert report.solver == "Bound"


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: verify.check(print, "stepp"), "did you mean 'step'"),
        (lambda: verify.check(3, "step"), "not callable"),
        (lambda: verify.check(print, "step", tol="tight"), "tol = 'tight' is unknown"),
        (lambda: verify.check(print, "step", tol=2.0), "between 1e-13 and 0.1"),
        (lambda: verify.check(print, "step", effort="most"), "effort = 'most'"),
        (lambda: verify.check(print, "step", seed=-1), "seed = -1"),
        (lambda: verify.check(print, "step", seed=[1]), r"seed = \[1\]"),
        (lambda: verify.check(print, "step", seed=True), "seed = True"),
        (lambda: verify.check(print, "step", effort=["quick"]), "effort = "),
        (lambda: verify.check(print, "step", tol=[1e-5]), "tol = "),
        (lambda: verify.check(print, "bound", include=["validty"]), "did you mean 'validity'"),
        (lambda: verify.check(print, "bound", exclude=["minimiser"]), "exclude = 'minimiser'"),
        (lambda: verify.check(print, "bound", expected={"nothing": "?"}), "expected = 'nothing'"),
        (lambda: verify.check(print, "bound", include="validity"), "must be a list"),
        (lambda: verify.check(print, "bound", include=["no worse than λmax"]), "no check that decides"),
        (lambda: verify.check(print, "step", time_limit=0.0), "time_limit = 0"),
        (lambda: verify.check(print, "step", time_limit=1e12), r"time_limit = 1e\+12"),
        (lambda: verify.parametrize_with_checks("fda", time_limit=1e12), r"time_limit = 1e\+12"),
        (lambda: verify.ProcessSolver("true", "fda", time_limit=1e12), r"time_limit = 1e\+12"),
    ],
)
def test_settings_out_of_range_are_named(call, words):
    with pytest.raises(InvalidParameter, match=words):
        call()


@verify.parametrize_with_checks("fda")
def test_parametrize_gives_one_test_per_check(check):
    check(catalogue.right_fda)


def wrong_fda(a, B, y, nu, eps):
    return catalogue.right_fda(a, B, y, 2 * nu, eps)


def test_a_check_of_a_test_raises_with_the_example():
    mark = verify.parametrize_with_checks("fda")
    bound = dict(zip(mark.kwargs["ids"], mark.args[1], strict=True))["minimiser"]
    with pytest.raises(verify.VerificationFailed, match=r"(?s)minimiser.*FAILED.*x = solver\(a, B, y, nu, eps\)"):
        bound(wrong_fda)


def test_importing_the_package_does_not_import_the_kit():
    code = "import sys, dcgev_cvx; assert 'dcgev_cvx.verify' not in sys.modules and 'scipy.linalg' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
