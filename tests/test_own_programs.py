"""Three programs that are not ours run on the driver: plain, extrapolated, shrinking, certified and drawn."""

import runpy
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest

from dcgev_cvx import Certificate, Stop, minimize
from dcgev_cvx.plotting import plot_history, plot_majoriser, plot_sandwich
from dcgev_cvx.steps.accelerate import Accelerated

EXAMPLES = Path(__file__).parent.parent / "examples"
NAMES = ["own_clipped_regression", "own_group_penalty", "own_three_views"]


@pytest.fixture(params=NAMES)
def example(request, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made = runpy.run_path(str(EXAMPLES / f"{request.param}.py"))
    plt.close("all")
    return made["result"].program, made["step"], request.param


def test_it_is_short(example):
    *_, name = example
    text = (EXAMPLES / f"{name}.py").read_text(encoding="utf-8")
    program = text[text.index("\nclass ") : text.index("\nrng =")].split("# %%")[0]
    assert len([line for line in program.splitlines() if line.strip()]) <= 40


def test_it_descends_converges_and_is_certified(example):
    program, step, _ = example
    runs = [minimize(program, step), minimize(program, Accelerated(step))]
    if hasattr(program, "restrict"):
        runs.append(minimize(program, step, shrink=True))
    for run in runs:
        assert run.converged
        assert isinstance(run.certificate, Certificate)
        assert run.certificate.sandwich == 0.0
        assert run.f == pytest.approx(runs[0].f, rel=1e-9)
        assert run.support == runs[0].support
    assert runs[1].n_iter <= runs[0].n_iter
    short = minimize(program, step, stop=Stop(max_iter=1)).x
    assert not program.certify(short).passes()


def test_g_majorises_f_and_the_step_minimises_it(example):
    program, step, _ = example
    rng = np.random.default_rng(0)
    n = len(program.start())
    for _ in range(20):
        y, x = (program.project(rng.standard_normal(n) * rng.choice([0.1, 1.0])) for _ in "yx")
        slack = 1e-10 * (program.size(x) + program.size(y) + 1.0)
        best = step(program, y)
        assert program.g(y, y) == pytest.approx(program.f(y), abs=slack)
        assert program.f(x) <= program.g(x, y) + slack
        assert program.g(best, y) <= min(program.g(x, y), program.f(y)) + slack


def test_a_run_is_drawn(example):
    program, step, _ = example
    run = minimize(program, step)
    first, second = run.history[0].x, run.history[1].x
    for axes in (plot_history(run), plot_sandwich(run), plot_majoriser(program, first, second)):
        assert axes.lines
    plt.close("all")
