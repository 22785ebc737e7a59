"""Pictures of answers: value against cardinality, and loadings by name."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .._numerics.canvas import axes_of
from .._numerics.checks import Matrix, as_number, as_real, as_vector, expect
from ..errors import InvalidParameter
from ..pencils import Pencil, expect_pencil
from .sheet import BLACK, STYLES, whole_numbers

MOST_NAMES = 40
"""Names of variables on an axis; more would overlap."""


def plot_tradeoff(
    curves: Mapping[str, Sequence[tuple[int, float]]], *, top: float | None = None, ax: Any = None
) -> Any:
    """Draw value against cardinality, one curve per method.

    Parameters
    ----------
    curves : mapping of str to sequence of (int, float)
        By name, the pairs (k, xᵀAx/xᵀBx) of a method, in the order in which they are joined.
    top : float, optional
        λmax(A, B), drawn as a line that no curve can pass; not drawn by default.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        The Axes that were drawn on.

    Examples
    --------
    >>> from dcgev_cvx.plotting import plot_tradeoff
    >>> axes = plot_tradeoff({"solve": [(1, 1.0), (2, 1.954)], "greedy": [(1, 1.0), (2, 1.9)]}, top=4.22)
    """
    points = {str(name): as_pairs(name, pairs) for name, pairs in expect(curves, dict, "curves", "by method").items()}
    if not points:
        raise InvalidParameter("curves is empty: give one list of pairs (k, value) per method.")
    top = None if top is None else as_number(top, "top", low=-1e300)
    ax = axes_of(ax)
    for i, (name, pairs) in enumerate(points.items()):
        color, marker, style = STYLES[i % len(STYLES)]
        ax.plot(*pairs.T, marker=marker, linestyle=style, color=color, markersize=5, fillstyle="none", label=name)
    if top is not None:
        ax.axhline(top, color="0.5", linewidth=0.8, label=r"$\lambda_{max}(A,B)$")
    ax.set(xlabel=r"$k$", ylabel=r"$x^TAx \,/\, x^TBx$")
    whole_numbers(ax.xaxis)
    ax.legend(frameon=False, fontsize=9)
    return ax


def as_pairs(name: object, pairs: Any) -> Matrix:
    """The points (k, value) of a curve as rows, at least one."""
    given = as_real(pairs, f"the curve {name!r}", InvalidParameter)
    if given.ndim != 2 or given.shape[1] != 2:
        raise InvalidParameter(f"the curve {name!r} must be a list of pairs (k, value).")
    return given


def plot_loadings(pencil: Pencil, vectors: Any, ax: Any = None) -> Any:
    """Draw the entries of one vector or several as bars, by the names of the variables.

    Parameters
    ----------
    pencil : Pencil
        The pencil whose variables the entries belong to.
    vectors : array_like or mapping of str to array_like
        One vector of length n, or several by label, drawn side by side.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        The Axes that were drawn on.

    Examples
    --------
    >>> from dcgev_cvx import datasets, solve
    >>> from dcgev_cvx.plotting import plot_loadings
    >>> pencil = datasets.pitprops()
    >>> axes = plot_loadings(pencil, {"dense": pencil.leading_vector, "k = 4": solve(pencil, 4).x})
    """
    expect_pencil(pencil)
    several = isinstance(vectors, Mapping) and not hasattr(vectors, "toarray")  # a sparse matrix may be a mapping
    given: Mapping[str, Any] = vectors if several else {"": vectors}
    if not given:
        raise InvalidParameter("there is no vector to draw: give one, or several by label.")
    ax = axes_of(ax, (7.0, 3.6))
    width = 0.8 / len(given)
    for i, (name, raw) in enumerate(given.items()):
        x = as_vector(raw, pencil.n, "x")
        place = np.arange(pencil.n) + (i - 0.5 * (len(given) - 1)) * width
        color, hatch = STYLES[(i + 1) % 4][0], ("", "///", "...", "xx")[i % 4]
        ax.bar(place, x, width, color=color, edgecolor="white", hatch=hatch, label=name or None)
    ax.axhline(0.0, color=BLACK, linewidth=0.8)
    if pencil.n <= MOST_NAMES:
        ax.set_xticks(np.arange(pencil.n), [pencil.name(i) for i in range(pencil.n)], rotation=60, ha="right")
    else:
        ax.set_xlabel("position of the variable, from 0")
    ax.set_ylabel(r"$x_i$")
    ax.locator_params(axis="y", nbins=6)
    if any(given):  # above the bars: inside no place is always free
        ax.legend(frameon=False, fontsize=9, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=min(4, len(given)))
    return ax
