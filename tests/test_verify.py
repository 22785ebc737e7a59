"""The kit: right solvers pass, wrong ones fail with the equation and an example, misconduct is reported."""

from __future__ import annotations

import json
import math
import sys
import time
from dataclasses import replace
from fractions import Fraction
from types import MappingProxyType

import numpy as np
import pytest
import wrong_solvers as catalogue

from dcgev_cvx import verify
from dcgev_cvx.errors import InvalidParameter
from dcgev_cvx.verify import own
from dcgev_cvx.verify.checks import checks, opening
from dcgev_cvx.verify.equations import Asked
from dcgev_cvx.verify.measures import surrogate
from dcgev_cvx.verify.outcomes import Trial
from dcgev_cvx.verify.reference import curvature, reference
from dcgev_cvx.verify.search import search_check
from dcgev_cvx.verify.session import Session, number_of, starved, vector_of
from dcgev_cvx.verify.shrink import counterexample
from dcgev_cvx.verify.suite import suite
from dcgev_cvx.verify.tolerances import PROFILES, tolerances

FAST_RIGHT = [e for e in catalogue.RIGHT if "CVXPY" not in e.name and e.level not in ("step", "algorithm")]
RIGHT_STEPS = [e for e in catalogue.RIGHT if "CVXPY" not in e.name and e.level in ("step", "algorithm")]


@pytest.mark.parametrize("entry", FAST_RIGHT, ids=lambda e: f"{e.level}-{e.name}")
def test_a_right_solver_passes(entry):
    report = verify.check(entry.make(), entry.level, tol=entry.tol)
    assert report.ok, str(report)
    assert report.cases > 30
    assert report.calls > report.cases


def misses(solver, level, tol=None, every=6):
    """The contract checks that fail on a sixth of the battery and one pair of each kind."""
    found = suite(level, 0, "quick").limited(tolerances(tol))
    pairs = MappingProxyType({name: pairs[:1] for name, pairs in found.pairs.items()})
    few = replace(found, battery=found.battery[::every], pairs=pairs)
    trial = Trial(Session(solver, time_limit=60.0), few, tolerances(tol))
    outcomes = [item.run(trial) for item in checks(level, few)]
    assert sum(outcome.cases for outcome in outcomes) > 100
    return [f"{o.name}: {o.note}" for o in outcomes if o.kind == "contract" and not o.passed]


@pytest.mark.parametrize("entry", RIGHT_STEPS, ids=lambda e: f"{e.level}-{e.name}")
def test_a_right_step_or_run_passes(entry):
    assert misses(entry.make(), entry.level, entry.tol) == []


@pytest.mark.parametrize(
    ("name", "level"),
    [
        ("qcqp_step", "step"),
        ("native_step", "step"),
        ("fisher_step", "fda"),
        ("fda_step_of_run", "fda"),
        ("algorithm_1", "algorithm"),
        ("algorithm_2", "pca"),
    ],
)
def test_our_own_solvers_pass(name, level):
    assert misses(getattr(own, name), level) == []


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


WRONG = [*some("step", 11), *some("pca", 6), *some("fda", 5), *some("bound", 4), *some("cardinality", 4)]
NEEDED = {
    "y rounded to float32": "cancellation",
    "answer remembered by two decimals of the data": "one argument changed",
    "the same array handed out again": "answers kept",
    "200 steps": "slow runs",
    "entries below 1e-3 cut": "small entries",
    "A rounded to float32": "range of float64",
    "ε clipped at 1e-12 in the weights": "weights at 0",
    "the best of three searches": "decoys",
    "text": "an answer",
    "τ in single precision": "last digits",
    "answers remembered by ten digits": "last digits",
    "B remembered by its identity": "reused arrays",
    "y returned where A = 0": "A = 0",
    "variables with aᵢ = 0 left out": "no difference",
    "zeros of x0 filled with 1e-3": "x0 decides",
    "the first call returns its start": "stationarity",
    "penalty off where λmax is repeated": "stationarity",
    "too small beyond 12 variables": "validity",
    "unit 2-norm beyond 40 variables": "unit norm",
    "variables without variance left out": "idle variables",
    "divided by the standard deviations": "idle variables",
    "normalised when the norm is above 0.999": "μ near 0",
    "x0 written to at the next call": "inputs unchanged",
    "B overwritten in Fortran order": "inputs unchanged",
    "two arrays handed out in turn": "answers kept",
    "0 where A = 0": "A = 0",
    "penalty off where a has one nonzero": "no difference",
    "entries of y below 1e-8 weighed as zeros": "weights at 0",
    "weights in single precision": "last digits",
    "the k largest entries of a row of the whitened A": "tight relaxations",
    "remembered without B": "one argument changed",
    "remembered without k": "one argument changed",
    "infinite": "not vacuous",
}
"""Faults that one family or one pair alone brings to light, by the check that must fail."""


@pytest.mark.parametrize(("name", "check"), NEEDED.items())
def test_a_fault_is_caught_where_it_lives(name, check):
    entry = next(e for e in catalogue.WRONG[::-1] if e.name == name)
    assert check in {outcome.name for outcome in verify.check(entry.make(), entry.level).failed}


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


def test_the_counterexample_is_small_and_its_snippet_repeats_the_failure():
    entry = next(e for e in catalogue.WRONG if e.name == "τ missing in the linear term")
    solver = entry.make()
    example = verify.check(solver, "step").counterexample
    assert len(example.arguments["y"]) <= 2
    scope = {"solver": solver}
    exec(example.snippet, scope)
    np.testing.assert_allclose(scope["x"], example.found, rtol=1e-12)
    assert np.max(np.abs(scope["x"] - np.array(example.expected))) > 1e-4


def test_an_example_that_needs_other_calls_says_so():
    entry = next(e for e in catalogue.WRONG if e.name == "remembered without k")
    example = verify.check(entry.make(), "bound").counterexample
    assert example.check == "one argument changed"
    last = example.snippet.splitlines()[-1]
    assert last.startswith("# alone it may be right")
    assert "differs in one argument" in last


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


class Unreadable:
    """An object that raises when it is looked at."""

    def __array__(self, *args, **kwargs):
        raise RuntimeError("not now")


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (None, "returned None"),
        ("1.5", "type str"),
        (True, "type bool"),
        (1.0 + 1e-9j, "type complex"),
        ([1.0, 2.0], "shape (2,)"),
        (float("nan"), "NaN"),
        ((i for i in range(3)), "type generator"),
        (10**400, "type int"),
        (Unreadable(), "type Unreadable"),
    ],
)
def test_what_is_no_number_is_named(raw, words):
    value, problem = number_of(raw)
    assert value is None
    assert words in problem


def test_odd_numbers_are_numbers():
    for raw in (1.5, np.float32(1.5), [1.5], np.array(1.5), np.array([[1.5]]), 1.5 + 0j):
        assert number_of(raw)[0] == [1.5]
    assert math.isinf(number_of(math.inf)[0][0])


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (None, "None"),
        ("12", "type str"),
        (["1", "2"], "type list"),
        (np.array([1, "2"], dtype=object), "dtype object"),
        (np.array([True, False]), "dtype bool"),
        (np.array([1.0, 1e-9j]), "dtype complex"),
        (np.ones((1, 2)), "shape (1, 2)"),
        (np.ones(3), "shape (3,)"),
        ((np.ones(2), "optimal"), "type tuple"),
        (np.ma.masked_array([1.0, 2.0], [True, False]), "dtype float64 with 1 masked"),
        ([1.0, math.inf], "1 entries that are NaN or infinite"),
    ],
)
def test_what_is_no_vector_is_named(raw, words):
    x, problem, _, _ = vector_of(raw, 2)
    assert x is None
    assert words in problem


def test_the_limit_of_a_conic_solver_follows_from_strong_convexity():
    """‖x − x*‖²_B ≤ (g(x) − g(x*))/κ on Ω, for whatever x."""
    rng, asked = np.random.default_rng(2), Asked(PROFILES["interior-point"])
    for case in suite("step", 0, "quick").limited(PROFILES["interior-point"]).battery[::5]:
        problem, ref = surrogate(case), reference(case)
        kappa = curvature(problem, ref.mu)
        for size in (1e-4, 1e-2, 1.0):
            x = problem.pulled(ref.x + size * rng.standard_normal(case.n) / problem.root)
            excess = problem.value(x) - problem.value(ref.x)
            assert kappa * problem.norm(x - ref.x) ** 2 <= excess * (1 + 1e-9) + 1e-12 * problem.size(ref.x)
        if ref.nondegenerate and ref.x.any():
            assert 1e-5 < asked.distance(case) < 0.1


@pytest.mark.parametrize(
    ("level", "solver", "size"),
    [("step", lambda *a: -catalogue.right_step(*a), 2), ("bound", catalogue.greedy, 3)],
)
def test_the_search_finds_a_counterexample(level, solver, size):
    trials = [Trial(Session(solver), suite(level, 0, "quick"), tolerances(None)) for _ in range(2)]
    first, second = (search_check(level, 0).run(trial) for trial in trials)
    assert first.status == "failed"
    assert np.array_equal(first.instance.data["A"], second.instance.data["A"])
    assert len(counterexample(trials[0], [first]).arguments["A"]) <= size


@pytest.mark.parametrize(
    ("level", "solver"),
    [("step", catalogue.right_step), ("fda", catalogue.right_fda), ("pca", catalogue.right_pca)],
)
def test_the_search_accuses_no_right_solver(level, solver):
    trial = Trial(Session(solver), suite(level, 0, "quick"), tolerances(None))
    outcome = search_check(level, 3).run(trial)
    assert outcome.passed, outcome.note
    assert outcome.cases > 5


def test_a_full_trial_without_hypothesis_says_so(monkeypatch):
    from dcgev_cvx.verify import runner

    monkeypatch.setattr(runner, "available", lambda: False)
    report = verify.check(catalogue.right_bound, "bound", effort="full")
    assert report.ok
    assert "no search, since hypothesis is not installed" in str(report)


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
        (lambda: verify.check(print, "step", seed=[1]), r"seed = \[1\]"),
        (lambda: verify.check(print, "step", seed=True), "seed = True"),
        (lambda: verify.check(print, "step", effort=["quick"]), "effort = "),
        (lambda: verify.check(print, "step", tol=[1e-5]), "tol = "),
        (lambda: verify.check(print, "step", progress=3), "progress = 3 is not callable"),
        (lambda: verify.check(print, "step", time_limit=0.0), "time_limit = 0"),
        (lambda: verify.check(print, "step", time_limit=1e12), r"time_limit = 1e\+12"),
        (lambda: verify.parametrize_with_checks("fda", time_limit=1e12), r"time_limit = 1e\+12"),
        (lambda: verify.ProcessSolver("true", "fda", time_limit=1e12), r"time_limit = 1e\+12"),
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


@pytest.mark.parametrize("level", verify.LEVELS)
def test_the_first_call_of_all_has_a_telling_answer(level):
    for seed in range(3):
        case = opening(suite(level, seed, "quick"))
        assert case.n >= 2
        assert case.data["A" if "A" in case.data else "a"].any()
        assert level not in ("step", "fda") or reference(case).x.any()


def test_a_size_that_occurs_once_is_asked_where_it_shows():
    for seed in range(3):
        large = [case for case in suite("step", seed, "quick").battery if case.n > 16]
        assert {case.n for case in large} == {*range(17, 67), 97, 129}
        assert all(reference(case).x.any() for case in large)


def suite_checks(level):
    return checks(level, suite(level, 0, "quick"))


@pytest.mark.parametrize("name", ["A", "B", "y"])
def test_what_is_remembered_is_asked_where_it_matters(name):
    moves = []
    for pair in suite("step", 0, "quick").pairs["reused arrays"]:
        x, stale = reference(pair.asked).x, pair.asked.changed("stale", **{name: pair.base.data[name]})
        moves.append(np.max(np.abs(reference(stale).x - x)) / np.max(np.abs(x)))
    assert max(moves) > 1e-2


def test_a_first_order_relaxation_has_few_hopeless_pencils():
    steep = {e: [c.n for c in suite("bound", 0, e).battery if "cond-1e8" in c.flags] for e in ("quick", "full")}
    assert 5 <= len(steep["quick"]) <= 8  # each may cost its solver seconds
    assert max(steep["quick"]) <= 6
    assert max(steep["full"]) >= 9
    for pairs in suite("bound", 0, "quick").pairs.values():
        assert max(pair.asked.n for pair in pairs) <= 8


@pytest.mark.parametrize("size", [1e200, 1e308])
@pytest.mark.parametrize("level", ["step", "pca", "cardinality"])
def test_answers_that_overflow_are_failures_and_not_crashes(level, size):
    report = verify.check(lambda *args: np.full(len(args[0]), size), level)
    assert not report.ok
    assert report.checks[0].passed


def test_a_solver_is_not_blamed_for_a_busy_machine():
    assert not starved(wall=10.0, cpu=0.001, limit=10.0)  # asleep
    assert not starved(wall=10.0, cpu=9.9, limit=10.0)  # in an endless loop
    assert starved(wall=10.0, cpu=1.0, limit=10.0)  # a tenth of a core
    assert not starved(wall=61.0, cpu=3.0, limit=10.0)  # long enough


class Mute(Exception):
    """An exception whose message cannot be read."""

    def __str__(self):
        raise RuntimeError


class Trap:
    """An answer that leaves when it is looked at."""

    def __array__(self, *args, **kwargs):
        raise SystemExit(2)


class Nameless:
    """A solver that has no name, closes its stdout and returns fractions."""

    @property
    def __name__(self):
        raise ValueError

    def __call__(self, A, B, k):
        sys.stdout.close()
        return Fraction(max(0.0, catalogue.lambda_max(A, B)))


def mute(*args):
    raise Mute


@pytest.mark.parametrize(
    ("solver", "words"), [(mute, "raised Mute: without a message"), (lambda *args: Trap(), "type Trap")]
)
def test_what_cannot_be_looked_at_is_no_answer(solver, words):
    report = verify.check(solver, "cardinality")
    assert words in report.checks[0].note


def test_a_solver_without_a_name_or_a_stdout_may_be_right():
    report = verify.check(Nameless(), "bound")
    assert report.ok
    assert report.solver == "Nameless"


def test_rounded_answers_are_not_held_to_their_last_digits():
    found = suite("fda", 0, "quick")
    few = replace(found, battery=found.battery[:1])
    last = next(item for item in checks("fda", few) if item.name == "last digits")

    def judged(finish):
        trial = Trial(Session(lambda *args: finish(catalogue.right_fda(*args))), few, tolerances(None))
        return last.run(trial).status

    assert judged(lambda x: x) == "passed"
    assert judged(lambda x: np.array([float(f"{v:.9g}") for v in x])) == "passed"
    assert judged(lambda x: x.astype(np.float32)) == "passed"
    assert judged(lambda x: x.astype(np.float32).astype(float)) == "failed"


def test_light_import():
    import subprocess

    code = "import sys, dcgev_cvx; assert 'dcgev_cvx.verify' not in sys.modules and 'scipy.linalg' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
