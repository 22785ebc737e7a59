"""The cause of a failure: the named mistake, the argument that is not used, the state that is left over."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pytest
import wrong_solvers as catalogue

from dcgev_cvx import verify
from dcgev_cvx.errors import InvalidParameter
from dcgev_cvx.verify.mistakes import MISTAKES, mistaken_step
from dcgev_cvx.verify.reference_answers import reference
from dcgev_cvx.verify.suite import suite

STATED = {
    "no penalty": "without the penalty",
    "log(1 + 1/ε) forgotten": "without the logarithm",
    "penalty doubled": "twice the penalty",
    "weights 0 at 0": "the weight 0 where yᵢ = 0",
    "τ missing in the linear term": "without τ in the linear term",
    "B = I": "with B = I",
    "normalised in the 2-norm": "scaled to ‖x‖₂ = 1",
    "sign flipped": "the other sign",
    "1 % too long": "1.01 times the right ones",
    "B remembered by its size": "the B of an earlier call",
}


def cause(solver, level):
    return "\n".join(verify.check(solver, level).direction)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "words"), STATED.items())
def test_a_mistake_in_a_step_is_named(name, words):
    assert words in cause(next(e for e in catalogue.WRONG if e.level == "step" and e.name == name).make(), "step")


def test_a_power_step_is_told_that_it_has_no_penalty_in_the_first_three_lines():
    def good(A, y):
        z = A @ y
        return z / np.linalg.norm(z)

    report = verify.check(good, "step")
    first = "\n".join(str(report).splitlines()[:3])
    assert "without the penalty (the soft threshold is missing)" in first
    assert "do not depend on B, rho, eps and tau" in first
    assert {"answers kept", "inputs unchanged"} <= {o.name for o in report.contract if o.passed}


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("log forgotten", "without the logarithm"),
        ("200 steps", "iterates of the right run after 200 steps"),
        ("x0 ignored", "stationary but f is larger"),
        ("late_writing", "x0 was changed in place"),
    ],
)
def test_a_mistake_in_a_run_is_named(name, words):
    assert words in cause(next(e for e in catalogue.WRONG if e.level == "pca" and e.name == name).make(), "pca")


def test_a_stale_answer_is_traced_to_the_argument_that_changed():
    entry = next(e for e in catalogue.WRONG if e.name == "remembered without k")
    assert "the answer of an earlier call is returned again although k changed" in cause(entry.make(), "bound")


def test_an_answer_that_is_no_number_is_the_cause():
    assert "returned a value of type str" in cause(lambda A, B, k: "1", "bound")


def test_where_a_bound_fails_is_said():
    def solver(A, B, k):
        return np.nan if not A.any() else catalogue.exact_bound(A, B, k)

    assert "wrong only where A=zero" in cause(solver, "bound")


def test_every_mistake_differs_from_the_right_step_somewhere():
    cases = {level: suite(level, 0, "quick").cases[::7] for level in ("step", "fda")}
    for mistake in MISTAKES:
        for level in {"step", "fda"} & set(mistake.levels):
            x = [(case, reference(case).x) for case in cases[level] if case.n <= 12]
            with np.errstate(all="ignore"):
                assert any(
                    not np.allclose(mistaken_step(case, [mistake]), right, rtol=1e-12, atol=0.0) for case, right in x
                ), mistake.name


def test_a_function_of_other_arguments_is_refused():
    with pytest.raises(InvalidParameter, match=r"takes \(M, v\); this level calls it with \(A, B, y, rho, eps, tau\)"):
        verify.check(lambda M, v: v, "step")


def test_the_page_of_mistakes_is_up_to_date():
    folder = Path(__file__).parents[2] / "docs"
    names = runpy.run_path(str(folder / "_tools" / "mistakes_page.py"))
    assert names["page"]() == (folder / "mistakes.md").read_text(encoding="utf-8")
