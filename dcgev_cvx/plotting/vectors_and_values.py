"""Pictures of answers: value against cardinality, and loadings by name."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .._numerics.canvas import DC, PROVED, RIVAL, STYLES, axes_of, name_ends, plain, whole_numbers
from .._numerics.checks import Index, Matrix, as_number, as_real, as_vector, expect
from ..errors import InvalidParameter
from ..pencils import Pencil, expect_pencil

MOST_NAMES = 40
"""Variables in one picture; the names of more would overlap."""


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
        ax.axhline(top, color=RIVAL, linewidth=0.8, label=r"$\lambda_{max}(A,B)$")
    ax.set(xlabel=r"nonzeros $k$", ylabel=r"$x^TAx \,/\, x^TBx$")
    plain(ax, "Value against the number of nonzeros")
    whole_numbers(ax.xaxis)
    name_ends(ax)
    return ax


def as_pairs(name: object, pairs: Any) -> Matrix:
    """The points (k, value) of a curve as rows, at least one."""
    given = as_real(pairs, f"the curve {name!r}", InvalidParameter)
    if given.ndim != 2 or given.shape[1] != 2:
        raise InvalidParameter(f"the curve {name!r} must be a list of pairs (k, value).")
    return given


def plot_loadings(pencil: Pencil, vectors: Any, ax: Any = None) -> Any:
    """Draw the entries of a vector as bars by size, those of several vectors as a heat map with their numbers.

    Parameters
    ----------
    pencil : Pencil
        The pencil whose variables the entries belong to.
    vectors : array_like or mapping of str to array_like
        One vector of length n, or several by label. At most 40 variables are drawn, those with the largest entries.
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
    X = np.array([as_vector(raw, pencil.n, "x") for raw in given.values()])
    if len(X) > 1:
        return heat_map(pencil, list(given), X, ax)
    rows = by_size(X)
    ax = axes_of(ax, (5.6, 0.9 + 0.26 * len(rows)))
    ax.barh(np.arange(len(rows)), X[0, rows], 0.8, color=DC)
    ax.axvline(0.0, color=PROVED, linewidth=0.8)
    ax.set_yticks(np.arange(len(rows)), [pencil.name(int(i)) for i in rows])
    ax.invert_yaxis()
    ax.set_xlabel(r"$x_i$")
    plain(ax, f"{np.count_nonzero(X)} of {pencil.n} variables, by size")
    return ax


def by_size(X: Matrix) -> Index:
    """The variables that are not zero in all vectors, the largest first; at most MOST_NAMES."""
    sizes = np.max(np.abs(X), axis=0)
    order = np.argsort(-sizes, kind="stable")[: max(1, np.count_nonzero(sizes))]
    return order[:MOST_NAMES]


def heat_map(pencil: Pencil, names: Sequence[str], X: Matrix, ax: Any) -> Any:
    """Several vectors as columns of signed shades with their numbers; a zero is an empty cell."""
    rows = np.sort(by_size(X))
    ax = axes_of(ax, (2.6 + 0.75 * len(X), 0.9 + 0.28 * len(rows)))
    Y = X[:, rows].T
    edge = float(np.max(np.abs(Y))) or 1.0
    ax.imshow(Y, cmap="PuOr_r", vmin=-1.4 * edge, vmax=1.4 * edge, aspect="auto")  # pale enough to read numbers on
    for (i, j), value in np.ndenumerate(Y):
        if value:
            ax.text(j, i, f"{value:.2f}".replace("-", "−"), ha="center", va="center", fontsize=8)
    ax.set_xticks(np.arange(len(X)), names)
    ax.set_yticks(np.arange(len(rows)), [pencil.name(i) for i in rows])
    ax.tick_params(length=0, top=True, labeltop=True, bottom=False, labelbottom=False)
    ax.spines[:].set_visible(False)
    ax.set_title("Loadings; an empty cell is zero", loc="left", fontsize=10)
    return ax
