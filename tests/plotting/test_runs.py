"""Pictures of runs and paths."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from dcgev_cvx import (
    FisherPath,
    InvalidParameter,
    Pencil,
    SparseGEV,
    Stop,
    datasets,
    fda_vectors,
    fisher_path,
    minimize,
    path,
    plotting,
)
from dcgev_cvx.steps.native import native_step

PLANE = SparseGEV(Pencil(np.array([[2.0, 0.8], [0.8, 1.2]])), rho=0.6, eps=0.1, tau=4.0)


def test_steps_and_counts_have_no_halves(ax):
    short = minimize(PLANE, native_step, [0.3, 0.35], stop=Stop(max_iter=2))
    plotting.plot_history(short, ax)
    below = next(axes for axes in ax.figure.axes if axes is not ax)
    for ticks in (below.get_xticks(), below.get_yticks()):
        assert np.array_equal(ticks, np.round(ticks))


def test_history_shows_f_and_the_count(result, ax):
    plotting.plot_history(result, ax)
    drawn = ax.get_lines()[0].get_data()
    assert np.allclose(drawn[1], [point.f for point in result.history])
    below = next(axes for axes in ax.figure.axes if axes is not ax)
    assert below.get_lines()[0].get_ydata()[-1] == 6


def test_the_sandwich_lies_between_two_stairs(result, ax, lines):
    plotting.plot_sandwich(result, ax, steps=30)
    drawn = lines(ax)
    stairs, triangles = drawn[r"$f(x^{(l)})$"][1], drawn[r"$g(x^{(l)},x^{(l-1)})$"][1]
    assert len(triangles) == 30
    for (before, after), between in zip(pairwise(stairs), triangles, strict=True):
        assert after - 1e-12 <= between <= before + 1e-12


def test_without_axes_a_new_one_is_made(result):
    import matplotlib.pyplot as plt

    made = plotting.plot_sandwich(result)
    assert made.get_xlabel() == "step $l$"
    plt.close(made.figure)


def test_a_wrong_step_is_said_in_the_title(ax):
    def wrong(program, y):
        out = native_step(program, y)
        return replace(out, x=0.1 * out.x)

    plotting.plot_sandwich(minimize(PLANE, wrong, [0.3, 0.35], stop=Stop(max_iter=3)), ax)
    assert ax.get_title("left") == "A g is not between two values of f: a step was wrong"


def test_a_path_names_the_cardinalities_that_it_does_not_reach(pitprops, ax):
    found = path(pitprops, points=40)
    plotting.plot_path(found, ax)
    below = next(axes for axes in ax.figure.axes if axes is not ax)
    assert found.missing
    assert below.texts[0].get_text() == "not reached:\nk = " + ", ".join(map(str, found.missing))


def test_a_path_in_nu_is_drawn_with_its_own_values(ax):
    X, y, _ = datasets.two_gaussians(6, 2, samples=80)
    a, B = fda_vectors(X, y)
    found = fisher_path(a, B, [0.01, 0.1, 1.0])
    drawn = plotting.plot_path(found, ax)
    below = next(axes for axes in ax.figure.axes if axes is not ax)
    assert below.get_xlabel() == r"$\nu$"
    assert list(below.lines[0].get_ydata()) == list(found.cardinalities)
    shares = drawn.lines[0].get_ydata() / 100.0
    dense = a @ np.linalg.solve(B, a)
    assert np.all(shares * dense >= np.array(found.ratios) - 1e-9 * dense)  # renormalized
    with pytest.raises(InvalidParameter, match="no ν to draw"):
        plotting.plot_path(FisherPath((), ()), ax)
