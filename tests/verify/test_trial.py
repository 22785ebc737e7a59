"""Calls of a solver: time limits, exceptions, and the form of an answer."""

from __future__ import annotations

import math
import time
from fractions import Fraction

import numpy as np
import pytest
import wrong_solvers as catalogue

from dcgev_cvx import verify
from dcgev_cvx.verify.answers import number_of, vector_of


def test_a_hanging_solver_is_not_judged_and_not_waited_for():
    begin = time.perf_counter()
    report = verify.check(catalogue.hanging, "bound", time_limit=0.2)
    assert time.perf_counter() - begin < 20.0
    assert not report.ok
    assert report.verdict == "not judged"
    assert report.calls == 1
    assert "no answer within 0.2 s" in report.checks[0].note
    assert {outcome.status for outcome in report.checks} == {"blocked"}
    assert report.counterexample.found is None


def slow_at_two(A, B, k):
    if len(A) == 2:
        time.sleep(2.0)
    return float(np.max(np.linalg.eigvals(np.linalg.solve(B, A)).real)) + 1e-6 * float(np.max(np.abs(A)))


def test_what_a_slow_solver_answered_before_is_said_to_be_right():
    report = verify.check(slow_at_two, "bound", time_limit=0.2)
    assert report.verdict == "not judged"
    assert report.headline.startswith("NOT JUDGED")
    assert f"the answers to the {report.calls - 1} calls before it are right" in report.direction[0]
    assert len(report.counterexample.arguments["A"]) == 2
    assert str(report).count("no answer within") < 5  # the note is not repeated for every check


def test_a_wrong_answer_before_a_slow_one_is_a_failure():
    report = verify.check(lambda A, B, k: slow_at_two(A, B, k) if len(A) == 2 else -1e9, "bound", time_limit=0.2)
    assert report.verdict == "failed"
    assert [outcome.name for outcome in report.failed] == ["validity"]


def silent_failure(*args):
    raise ValueError


@pytest.mark.parametrize(
    ("solver", "words"),
    [
        (catalogue.crashing, "no licence found"),
        (catalogue.leaving, "SystemExit"),
        (silent_failure, "raised ValueError: without a message"),
    ],
)
def test_a_solver_that_raises_is_a_failed_check(solver, words):
    report = verify.check(solver, "cardinality")
    assert not report.ok
    assert words in report.checks[0].note
    assert report.counterexample.found is None


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
    ],
)
def test_a_bound_that_is_not_a_number_is_named(raw, words):
    answer = number_of(raw)
    assert answer.x is None
    assert words in answer.problem


def test_numbers_of_other_types_are_numbers():
    for raw in (1.5, np.float32(1.5), [1.5], np.array(1.5), np.array([[1.5]]), 1.5 + 0j, Fraction(3, 2)):
        assert number_of(raw).x == [1.5]
    assert math.isinf(number_of(math.inf).x[0])


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
def test_an_answer_that_is_not_a_vector_is_named(raw, words):
    answer = vector_of(raw, 2)
    assert answer.x is None
    assert words in answer.problem


def test_lists_columns_and_other_precisions_are_right():
    for raw in (np.ones(2), [1.0, 1.0], np.ones((2, 1)), np.ones(2, dtype=np.float32)):
        assert np.array_equal(vector_of(raw, 2).x, [1.0, 1.0])
    assert vector_of(np.ones(2, dtype=np.float32), 2).single


@pytest.mark.parametrize("size", [1e200, 1e308])
@pytest.mark.parametrize("level", ["pca", "cardinality"])
def test_answers_that_overflow_are_failures_and_not_crashes(level, size):
    report = verify.check(lambda *args: np.full(len(args[0]), size), level)
    assert not report.ok
    assert report.checks[0].passed
