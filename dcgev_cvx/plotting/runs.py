"""Pictures of runs: f and its surrogate along the steps of one run, cardinality and value along a path."""

from typing import Any

import numpy as np

from .._numerics.canvas import DC, PROVED, RIVAL, axes_of, lower_panel, name_beside, plain, whole_numbers
from .._numerics.checks import as_whole, expect
from .._numerics.text_tables import count
from ..errors import InvalidParameter
from ..mm import MMResult
from ..pencils import Gram, Pencil
from ..search.fisher import FisherPath
from ..search.path import Path, point_of

RUN = "see sparse_gev, dc_pca or minimize"
"""Where a run comes from."""


def plot_history(result: MMResult, ax: Any = None) -> Any:
    """Draw f(x⁽ˡ⁾) and, below it, the number of nonzeros along the steps of a run.

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
    ax = axes_of(ax, (6.4, 4.6))
    steps = [point.l for point in history]
    counts = [int(np.count_nonzero(point.x)) for point in history]
    ax.plot(steps, [point.f for point in history], color=DC)
    ax.set_ylabel(r"$f(x^{(l)})$")
    ax.locator_params(nbins=6)
    plain(ax, f"{count(counts[0], 'nonzero')} become {counts[-1]} in {count(result.n_iter, 'step')}")
    below = lower_panel(ax, 0.55)
    below.step(steps, counts, where="post", color=PROVED)
    below.set(xlabel=r"step $l$", ylabel="nonzeros")
    below.set_ylim(0, max(1.0, 1.05 * max(counts) + 0.5))
    plain(below)
    whole_numbers(ax.xaxis, below.yaxis)
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
    ax.step(places, above, where="post", color=PROVED, label=r"$f(x^{(l)})$")
    ax.plot(places[1:], between, "v", color=DC, markersize=4, label=r"$g(x^{(l)},x^{(l-1)})$")
    positive = [value for value in (*above, *between) if value > 0.0]
    if positive:
        ax.set_yscale("log")
        ax.set_ylim(0.5 * min(positive), 2.0 * max(positive))
        ax.yaxis.set_major_formatter("{x:g}")  # a formula at each tick would take longer than all the rest
        ax.yaxis.set_minor_formatter("{x:g}")
        ax.yaxis.get_minor_locator().set_params(subs=(2.0, 5.0))
        if max(positive) > 1e2 * min(positive):
            ax.yaxis.get_major_locator().set_params(numticks=6)
            ax.yaxis.minorticks_off()
    ax.set(xlabel=r"step $l$", ylabel=r"above the last $f$")
    kept = result.certificate.sandwich <= 1e-9
    plain(ax, "Each g lies between two values of f" if kept else "A g is not between two values of f: a step was wrong")
    whole_numbers(ax.xaxis)
    ax.legend(frameon=False, fontsize=9, loc="upper right")  # where nothing is: f decreases
    return ax


def plot_path(path: Path | FisherPath, ax: Any = None) -> Any:
    """Draw cardinality and share of λmax(A, B) along a path in ρ̃, or in ν for FDA (Figure 1d).

    Above, the renormalized value; below, the number of nonzeros, with dotted lines at the cardinalities between those
    reached that no ρ̃ on the path gave.

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
    ax = axes_of(ax, (7.0, 4.8))
    points = [point for point in path.points if point.k > 0 and point.rho > 0.0]
    prices, counts = [point.rho for point in points], [point.k for point in points]
    symbol = r"$\tilde\rho$" if path.parameter == "rho" else r"$\nu$"
    shares = [100.0 * point.value / path.pencil.lambda_max for point in points]
    ax.plot(prices, shares, "o-", color=DC, markersize=3.5, linewidth=1.0)
    ax.set(xscale="log", ylabel=r"value, % of $\lambda_{max}$")
    ax.set_ylim(min(0.0, *shares) if shares else 0.0, None)
    plain(ax, finding(counts, shares, path.pencil.n, symbol))
    below = lower_panel(ax, 0.75)
    below.step(prices, counts, where="mid", color=PROVED)
    below.set(xlabel=symbol, ylabel="nonzeros")
    below.set_ylim(0.0, 1.08 * max(counts, default=1))
    whole_numbers(below.yaxis)
    for k in path.missing:
        below.axhline(k, color=RIVAL, linewidth=0.8, linestyle=":")
    if path.missing:
        words = "not reached:\nk = " + ", ".join(map(str, path.missing[:6])) + (" …" if len(path.missing) > 6 else "")
        name_beside(below, (1.0, 0.5), words, RIVAL, xycoords="axes fraction", fontsize=8)
    plain(below)
    return ax


def finding(counts: list[int], shares: list[float], n: int, symbol: str) -> str:
    """What a path shows, as a title: the smallest support that keeps 90 % of the dense value."""
    enough = [(k, share) for k, share in zip(counts, shares, strict=True) if share >= 90.0]
    if not enough:
        return f"A larger {symbol} leaves fewer nonzeros"
    k, share = min(enough)
    return f"{count(k, 'nonzero')} of {n} keep {share:.0f} % of the dense value"


def as_points(path: Path | FisherPath) -> Path:
    """A path in ρ̃ as it is; one in ν as points of the pencil (aaᵀ, B)."""
    if not isinstance(path, FisherPath):
        return expect(path, Path, "path", "see dcgev_cvx.path and dcgev_cvx.fisher_path")
    if not path.runs:
        raise InvalidParameter("the path is empty: there is no ν to draw.")
    program = path.runs[0].program
    pencil = Pencil(Gram(program.a[None, :]), program.pencil.B)
    return Path(pencil, tuple(point_of(pencil, nu, run) for nu, run in zip(path.nus, path.runs, strict=True)), "nu")
