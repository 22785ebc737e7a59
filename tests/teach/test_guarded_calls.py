"""A student's code may raise, loop, print, leave or return nonsense: each gets a sentence."""

import contextlib
import threading
from time import sleep

import numpy as np
import pytest

from dcgev_cvx import teach
from dcgev_cvx.teach import guarded_calls
from dcgev_cvx.teach.guarded_calls import Unusable, guarded

RIGHT = teach.EXERCISES["threshold"].variant()


def endless(*args):
    while True:
        pass


def stubborn(*args):
    while True:
        with contextlib.suppress(Exception):
            sleep(0.01)


@pytest.mark.parametrize("loop", [endless, stubborn])
def test_an_endless_loop_is_ended_and_leaves_no_thread_behind(loop):
    before = threading.active_count()
    verdict = teach.check("threshold", loop, time_limit=0.2)
    assert not verdict
    assert "no answer within 0.2 s" in verdict.why
    assert threading.active_count() == before


def careless(A, y, rho, eps):
    y *= 2.0
    return y


def recursive(*args):
    return recursive(*args)


def leaves(*args):
    raise SystemExit(3)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (lambda *a: None, "returns None. Is a `return` missing?"),
        (lambda *a: "x", "x"),
        (lambda *a: np.ones(2), "x must have length 3, got shape (2,)"),
        (lambda *a: np.ones((3, 3)), "x must have length 3"),
        (lambda *a: 1j * np.ones(3), "complex"),
        (lambda *a: [1.0, "a", 2.0], "not an array of real numbers"),
        (lambda *a: 1 / 0, "raises ZeroDivisionError in line"),
        (lambda: 1, "raises TypeError"),
        (careless, "changes one of its arguments: work on a copy"),
        (recursive, "raises RecursionError"),
        (leaves, "raises SystemExit in line"),
        (np.ones(3), "The answer must be a function"),
        (lambda *a: np.full(3, np.nan), "NaN or infinite entries"),
        (lambda *a: np.full(3, 1e300), "> 1"),
    ],
)
def test_nonsense_gets_a_sentence(answer, words):
    verdict = teach.check("threshold", answer)
    assert not verdict
    assert words in verdict.why
    assert "Traceback" not in verdict.why
    assert "guarded_calls" not in verdict.why


def test_the_line_of_the_students_code_is_named():
    why = teach.check("threshold", careless).why
    assert "`y *= 2.0`" in why


def test_output_is_kept_back_and_its_first_line_shown(capsys):
    def chatty(*args):
        print("threshold")
        return RIGHT(*args)

    verdict = teach.check("threshold", chatty)
    assert verdict
    assert "Your code printed 'threshold'." in verdict.why
    assert capsys.readouterr().out == ""


def test_without_threads_the_code_still_runs(monkeypatch):
    def none(self):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(guarded_calls.threading.Thread, "start", none)
    assert teach.check("threshold", RIGHT)


def test_guarded_returns_the_value_and_what_was_printed():
    assert guarded(lambda: 3, 1.0) == (3, "")
    with pytest.raises(Unusable, match="no message"):
        guarded(lambda: (_ for _ in ()).throw(ValueError()), 1.0)
