"""Pictures of runs: f and its surrogate along the steps of one run, cardinality and value along a path."""

from typing import Any

import numpy as np

from .._numerics.canvas import axes_of
from .._numerics.checks import as_whole, expect
from ..errors import InvalidParameter
from ..mm import MMResult
from ..pencils import Gram, Pencil
from ..programs import SparseFDA
from ..search.fisher import FisherPath
from ..search.path import Path, point_of
from .sheet import BLACK, BLUE, whole_numbers

RUN = "see sparse_gev, dc_pca or minimize"
"""Where a run comes from."""


def plot_history(result: MMResult, ax: Any = None) -> Any:
    """Draw f(x⁽ˡ⁾), left, and the number of nonzeros, right, along the steps of a run.

    Parameters
    ----------
    result : MMResult
        A run, as `sparse_gev`, `dc_pca` or `minimize` returns it.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        The Axes that were drawn on.

    Examples
    --------
    >>> from dcgev_cvx import datasets, dc_pca
    >>> from dcgev_cvx.plotting import plot_history
    >>> axes = plot_history(dc_pca(datasets.pitprops(), rho=4.84))
    """
    history = expect(result, MMResult, "result", RUN).history
    ax = axes_of(ax)
    steps = [point.l for point in history]
    ax.plot(steps, [point.f for point in history], color=BLACK, label=r"$f(x^{(l)})$")
    ax.set(xlabel=r"$l$", ylabel=r"$f(x^{(l)})$")
    right = ax.twinx()
    counts = [int(np.count_nonzero(point.x)) for point in history]
    right.step(steps, counts, where="post", color=BLUE, linestyle="--", label=r"$\|x^{(l)}\|_0$")
    right.set_ylabel(r"$\|x^{(l)}\|_0$", color=BLUE)
    right.set_ylim(0, max(1.0, 1.05 * max(counts) + 0.5))
    ax.locator_params(nbins=6)
    whole_numbers(ax.xaxis, right.yaxis)
    legend_of_both(ax, right, "upper right")  # both fall
    return ax


def plot_sandwich(result: MMResult, ax: Any = None, *, steps: int | None = None) -> Any:
    """Draw f(x⁽ˡ⁺¹⁾) ≤ g(x⁽ˡ⁺¹⁾, x⁽ˡ⁾) ≤ f(x⁽ˡ⁾), each minus the last value of f, on a log scale (Eq:sandwich).

    An accelerated step minimises g(·, z) for another z; its mark lies between the two values of f all the same.

    Parameters
    ----------
    result : MMResult
        A run, as `sparse_gev`, `dc_pca` or `minimize` returns it.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    steps : int, optional
        How many steps to draw; all by default.

    Returns
    -------
    matplotlib.axes.Axes
        The Axes that were drawn on.

    Examples
    --------
    >>> from dcgev_cvx import datasets, dc_pca
    >>> from dcgev_cvx.plotting import plot_sandwich
    >>> axes = plot_sandwich(dc_pca(datasets.pitprops(), rho=4.84), steps=10)
    """
    history = expect(result, MMResult, "result", RUN).history
    history = history if steps is None else history[: as_whole(steps, "steps") + 1]
    ax = axes_of(ax)
    above = [point.f - result.f for point in history]
    between = [point.g - result.f for point in history[1:]]
    places = [point.l for point in history]
    ax.step(places, above, where="post", color=BLACK, label=r"$f(x^{(l)})$")
    ax.plot(places[1:], between, "v", color=BLUE, markersize=4, label=r"$g(x^{(l)},x^{(l-1)})$")
    positive = [value for value in (*above, *between) if value > 0.0]
    if positive:
        ax.set_yscale("log")
        ax.set_ylim(0.5 * min(positive), 2.0 * max(positive))
        ax.yaxis.set_major_formatter("{x:.0e}")  # a formula at each tick would take longer than all the rest
        ax.yaxis.set_minor_formatter("{x:.0e}")
        ax.yaxis.get_minor_locator().set_params(subs=(2.0, 5.0))
        if max(positive) > 1e2 * min(positive):
            ax.yaxis.get_major_locator().set_params(numticks=6)
            ax.yaxis.minorticks_off()
    ax.set(xlabel=r"$l$", ylabel=r"above the last $f$")
    whole_numbers(ax.xaxis)
    ax.legend(frameon=False, fontsize=9)
    return ax


def plot_path(path: Path | FisherPath, ax: Any = None) -> Any:
    """Draw cardinality and share of λmax(A, B) along a path in ρ̃, or in ν for FDA (Figure 1d).

    The left axis counts nonzeros (steps), the right one shows the renormalized value of the same points (dots).
    Cardinalities that no ρ̃ on the path gave are dotted lines.

    Parameters
    ----------
    path : Path or FisherPath
        What `path` or `fisher_path` returned.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        The Axes that were drawn on.

    Examples
    --------
    >>> from dcgev_cvx import datasets, path
    >>> from dcgev_cvx.plotting import plot_path
    >>> axes = plot_path(path(datasets.pitprops(), [30.0, 12.0, 9.0]))
    """
    path = as_points(path)
    ax = axes_of(ax, (7.0, 4.2))
    points = [point for point in path.points if point.k > 0 and point.rho > 0.0]
    prices = [point.rho for point in points]
    ax.step(prices, [point.k for point in points], where="mid", color=BLACK, label="nonzeros")
    missing = f"no {path.symbol} tried gives this k"
    for i, k in enumerate(path.missing):
        ax.axhline(k, color="0.4", linewidth=1.0, linestyle=":", label=missing if i == 0 else None)
    ax.set(xscale="log", xlabel=r"$\tilde\rho$" if path.parameter == "rho" else r"$\nu$", ylabel=r"$\|x\|_0$")
    ax.yaxis.get_major_locator().set_params(integer=True)
    right = ax.twinx()
    shares = [point.value / path.pencil.lambda_max for point in points]
    right.plot(prices, shares, "o", color=BLUE, markersize=4, label="renormalized value")
    right.set_ylim(bottom=min(0.0, *shares) if shares else 0.0)
    right.set_ylabel(r"$x^TAx \,/\, \lambda_{max}(A,B)$", color=BLUE)
    legend_of_both(ax, right, "lower left")
    return ax


def as_points(path: Path | FisherPath) -> Path:
    """A path in ρ̃ as it is; one in ν as points of the pencil (aaᵀ, B)."""
    if not isinstance(path, FisherPath):
        return expect(path, Path, "path", "see dcgev_cvx.path and dcgev_cvx.fisher_path")
    program = path.runs[0].program if path.runs else None
    if not isinstance(program, SparseFDA):
        raise InvalidParameter("the path is empty: there is no ν to draw.")
    pencil = Pencil(Gram(program.a[None, :]), program.pencil.B)
    return Path(pencil, tuple(point_of(pencil, nu, run) for nu, run in zip(path.nus, path.runs, strict=True)), "nu")


def legend_of_both(ax: Any, right: Any, place: str) -> None:
    """One legend for an Axes and its twin."""
    handles = [pair for axes in (ax, right) for pair in zip(*axes.get_legend_handles_labels(), strict=True)]
    ax.legend(*zip(*handles, strict=True), loc=place, frameon=False)
