"""Reference answers: certified in extended precision, two methods that agree, equal to formulas known by hand."""

from __future__ import annotations

import ast
import math
from pathlib import Path

import mpmath
import numpy as np
import package_solvers
import pytest
import wrong_solvers as catalogue

from dcgev_cvx import verify
from dcgev_cvx.errors import SolverFailed
from dcgev_cvx.penalties import log_scale
from dcgev_cvx.verify import reference_answers
from dcgev_cvx.verify.levels import condition, question
from dcgev_cvx.verify.reference_answers import feature_sign_search, first_point, reference, surrogate
from dcgev_cvx.verify.suite import suite


def test_the_kit_imports_no_step():
    """The referee never imports the players."""
    for path in Path(verify.__file__).parent.glob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        found = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.level == 2}
        players = {name for name in found if name.split(".")[0] in {"steps", "mm", "algorithms", "search", "models"}}
        assert not players, path.name


@pytest.mark.parametrize("level", ["step", "fda"])
def test_every_reference_is_certified(level):
    for case in suite(level, 0, "quick").cases:
        ref = reference(case)
        assert ref.kkt < 1e-12
        assert ref.agreement < (1e-10 if condition(case) <= 1e4 else 1e-9)


@pytest.mark.parametrize(
    ("level", "solver", "limit"),
    [
        ("step", package_solvers.native_step, 1e-11),
        ("step", package_solvers.qcqp_step, 1e-11),
        ("step", catalogue.right_step, 1e-11),
        ("fda", package_solvers.fisher_step, 1e-11),
    ],
)
def test_the_packages_own_steps_agree_on_every_family(level, solver, limit):
    """Two implementations that share no code; at cond(B) = 1e8 rounding moves x by more."""
    families = set()
    for case in suite(level, 0, "quick").cases[:: 4 if solver is package_solvers.qcqp_step else 2]:
        problem, ref = surrogate(case), reference(case)
        x = solver(*package_solvers.arguments_of(case))
        families |= set(case.flags)
        allowed = max(limit, 1e-15 * condition(case)) if ref.strictness > 1e-6 else 1e-6
        assert problem.norm(x - ref.x) <= allowed * problem.length(ref.x), case.name
    assert {"B=cond 1e8", "ε=rounding", "B=I", "B=dense"} <= families


def scaled_objective(case, s):
    """The objective times s: A, ρ̃, τ times s (FDA: B and ν); the minimiser stays."""
    names = ("B", "nu") if case.level == "fda" else ("A", "rho", "tau")
    return case.changed("objective scaled", **{name: case.data[name] * s for name in names})


def scaled_variables(case, s):
    """The variables in other units, x → x/s: A, B, τ times s², a times s, y and ε over s, ρ̃ such that ρ_ε stays."""
    data = case.data
    values = {name: data[name] * (s * s) for name in ("A", "B", "tau") if name in data}
    values |= {name: data[name] / s for name in ("y", "eps")}
    values |= {"a": data["a"] * s} if "a" in data else {}
    growth = log_scale(data["eps"] / s) / log_scale(data["eps"])
    values |= {name: data[name] * growth for name in ("rho", "nu") if name in data}
    return case.changed("variables scaled", **values)


@pytest.mark.parametrize("level", ["step", "fda"])
@pytest.mark.parametrize("scale", [1e-100, 1e-30, 1e30, 1e100])
def test_references_exist_at_every_scale(level, scale):
    """2ᵏ times the objective and other units of the variables change x by its unit and nothing else."""
    s = 2.0 ** round(math.log2(scale))
    for case in suite(level, 0, "quick").cases[::15]:
        ref = reference(case)
        np.testing.assert_array_equal(reference(scaled_objective(case, s)).x, ref.x)
        other = reference(scaled_variables(case, math.sqrt(scale))).x * math.sqrt(scale)
        assert surrogate(case).norm(other - ref.x) <= 1e-9 * surrogate(case).length(ref.x)


def test_one_variable_by_hand():
    for case in (c for c in suite("step", 0, "quick").cases if c.n == 1):
        A, B, y, tau = case.data["A"][0, 0], case.data["B"][0, 0], case.data["y"][0], case.data["tau"]
        c, p = (A + tau) * y, case.coefficient / (abs(y) + case.data["eps"])
        z = math.copysign(max(0.0, abs(c) - p / 2), c)
        limit = 1 / math.sqrt(B)
        x = max(-limit, min(limit, z / tau)) if tau > 0 else math.copysign(limit, z) * (z != 0)
        assert reference(case).x[0] == pytest.approx(x, rel=1e-12, abs=1e-300)


def test_the_soft_threshold_by_hand():
    for case in suite("step", 0, "quick").cases:
        if not np.array_equal(case.B, np.eye(case.n)):
            continue
        problem = surrogate(case)
        z = np.sign(problem.c) * np.maximum(0.0, np.abs(problem.c) - 0.5 * problem.p)
        radius = max(case.data["tau"], float(np.linalg.norm(z)))
        np.testing.assert_allclose(reference(case).x, z / radius if radius else z, atol=1e-13)


def test_the_step_in_fifty_digits():
    mild = [c for c in suite("step", 0, "quick").cases if c.n == 3 and condition(c) < 1e3 and c.data["tau"] > 0]
    case = next(c for c in mild if reference(c).mu > 0)
    x, mu = reference(case).x, reference(case).mu
    with mpmath.workdps(50):
        on = [i for i in range(3) if x[i] != 0]
        problem = surrogate(case)
        worst = max(
            abs(
                2 * mpmath.mpf(case.data["tau"]) * mpmath.mpf(x[i])
                - 2 * mpmath.mpf(problem.c[i])
                + 2 * mpmath.mpf(mu) * sum(mpmath.mpf(case.B[i, j]) * mpmath.mpf(x[j]) for j in range(3))
                + mpmath.mpf(problem.p[i]) * int(np.sign(x[i]))
            )
            for i in on
        )
        assert worst < 1e-13 * max(1.0, float(np.max(np.abs(problem.c))))


def wrong_search(step, x, correct=None):
    """A point inside Ω that is not the minimiser."""
    return np.full_like(step.c, 0.1), 0.5


def wrong_dual(step, guess):
    return np.full_like(step.c, 0.1)


@pytest.mark.parametrize(("name", "wrong"), [("feature_sign_search", wrong_search), ("dual_minimiser", wrong_dual)])
def test_a_mistake_in_either_method_is_noticed(monkeypatch, name, wrong):
    case = suite("step", 0, "quick").cases[200].changed("again")
    monkeypatch.setattr(reference_answers, name, wrong)
    with pytest.raises(SolverFailed, match="not certified"):
        reference(case)


def test_the_search_may_start_anywhere():
    """From the origin or from y, in any order of the variables, it ends at the same point."""
    for case in suite("step", 0, "quick").cases[::9]:
        step = surrogate(case)
        y = case.data["y"]
        first, mu = feature_sign_search(step, first_point(step))
        second, again = feature_sign_search(step, y / max(1.0, step.norm(y)))
        assert step.norm(first - second) <= max(1e-11, 1e-15 * condition(case))
        assert mu == pytest.approx(again, rel=1e-6, abs=1e-9)


def test_dust_beside_a_small_answer_is_cut():
    """x near 0 has entries below the accuracy; the reference keeps them and its zero is exact."""
    data = {"A": np.diag([-0.3, 0.7]), "B": np.eye(2), "y": np.array([0.02, -0.001]), "rho": 0.0, "eps": 1e-8}
    rho = 0.999 * 2 * 0.5 * 0.02 * (0.02 + 1e-8) * math.log1p(1e8)
    best = reference(question("step", "small x", (), {**data, "tau": 0.8, "rho": rho})).x
    assert 0 < np.max(np.abs(best)) < 1e-3
    assert best[1] == 0.0
