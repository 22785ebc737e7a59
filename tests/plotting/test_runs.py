"""Pictures of runs and paths."""

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
    plotting,
)
from dcgev_cvx.steps.native import native_step

PLANE = SparseGEV(Pencil(np.array([[2.0, 0.8], [0.8, 1.2]])), rho=0.6, eps=0.1, tau=4.0)


def test_steps_and_counts_have_no_halves(ax):
    short = minimize(PLANE, native_step, [0.3, 0.35], stop=Stop(max_iter=2))
    plotting.plot_history(short, ax)
    right = next(axes for axes in ax.figure.axes if axes is not ax)
    for ticks in (ax.get_xticks(), right.get_yticks()):
        assert np.array_equal(ticks, np.round(ticks))


def test_history_shows_f_and_the_count(result, ax, lines):
    plotting.plot_history(result, ax)
    drawn = lines(ax)[r"$f(x^{(l)})$"]
    assert np.allclose(drawn[1], [point.f for point in result.history])
    right = next(axes for axes in ax.figure.axes if axes is not ax)
    assert right.get_lines()[0].get_ydata()[-1] == 6


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
    assert made.get_xlabel() == "$l$"
    plt.close(made.figure)


def test_a_path_in_nu_is_drawn_with_its_own_values(ax):
    X, y, _ = datasets.two_gaussians(6, 2, samples=80)
    a, B = fda_vectors(X, y)
    found = fisher_path(a, B, [0.01, 0.1, 1.0])
    drawn = plotting.plot_path(found, ax)
    assert drawn.get_xlabel() == r"$\nu$"
    assert list(drawn.lines[0].get_ydata()) == list(found.cardinalities)
    shares = drawn.figure.axes[-1].lines[0].get_ydata()
    dense = a @ np.linalg.solve(B, a)
    assert np.all(shares >= np.array(found.ratios) / dense - 1e-9)  # renormalized
    with pytest.raises(InvalidParameter, match="no ν to draw"):
        plotting.plot_path(FisherPath((), ()), ax)
