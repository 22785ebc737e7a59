"""Pictures of results: Axes in, Axes out, labelled with the paper's symbols and readable in grey."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any

from ._numerics.checks import expect
from .errors import InvalidParameter
from .pictures import (
    Sheet,
    axes_of,
    joint_legend,
    plot_agreement,
    plot_basins,
    plot_history,
    plot_loadings,
    plot_majoriser,
    plot_majoriser_2d,
    plot_sandwich,
    plot_tradeoff,
)

if TYPE_CHECKING:
    from .comparison import Comparison, Row
    from .search.fisher import FisherPath
    from .search.paths import Path


def plot_path(path: Path | FisherPath, ax: Any = None) -> Any:
    """Cardinality and share of λmax(A, B) along the path in ρ̃, or in ν for FDA (Figure 1d); returns the Axes.

    The left axis counts nonzeros (steps), the right one shows the renormalized value of the
    same points (dots). Cardinalities that no ρ̃ on the path gave are dotted lines.
    path is what `path` or `fisher_path` returned.
    """
    path = in_points(path)
    ax = axes_of(ax, (7.0, 4.2))
    points = [point for point in path.points if point.k > 0 and point.rho > 0.0]
    rhos = [point.rho for point in points]
    ax.step(rhos, [point.k for point in points], where="mid", color="black", label="nonzeros")
    missing = f"no {path.symbol} tried gives this k"
    for i, k in enumerate(path.missing):
        ax.axhline(k, color="0.4", linewidth=1.0, linestyle=":", label=missing if i == 0 else None)
    ax.set(xscale="log", xlabel=r"$\tilde\rho$" if path.parameter == "rho" else r"$\nu$", ylabel=r"$\|x\|_0$")
    right = ax.twinx()
    shares = [point.value / path.pencil.lambda_max for point in points]
    right.plot(rhos, shares, "o", color="#0072B2", markersize=4, label="renormalized value")
    right.set_ylim(bottom=min(0.0, *shares) if shares else 0.0)
    right.set_ylabel(r"$x^TAx \,/\, \lambda_{max}(A,B)$", color="#0072B2")
    joint_legend(ax, right, "lower left")
    return ax


def in_points(path: Path | FisherPath) -> Path:
    """A path in ρ̃ as it is; one in ν as points of the pencil (aaᵀ, B) that its runs are about."""
    from .pencils import Gram, Pencil
    from .programs import SparseFDA
    from .search.fisher import FisherPath
    from .search.paths import Path, point_of

    if not isinstance(path, FisherPath):
        return expect(path, Path, "path", "see dcgev_cvx.path and dcgev_cvx.fisher_path")
    program = path.runs[0].program if path.runs else None
    if not isinstance(program, SparseFDA):
        raise InvalidParameter("the path is empty: there is no ν to draw.")
    pencil = Pencil(Gram(program.a[None, :]), program.pencil.B)
    return Path(pencil, tuple(point_of(pencil, nu, run) for nu, run in zip(path.nus, path.runs, strict=True)), "nu")


MARKS = {
    "DC-PCA (closed form)": ("o", "#0072B2"),
    "DC (CVXPY)": ("s", "#56B4E9"),
    "DC (native)": ("^", "#009E73"),
    "solve": ("D", "#000000"),
    "greedy": ("v", "#999999"),
    "homogeneous SDP, rounded": ("P", "#CC79A7"),
    "exact (branch and bound)": ("*", "#D55E00"),
}
"""Marker and colour of each kind of vector: told apart in grey too."""

LEVELS = {
    "literal SDP (Section 3)": (":", "#999999"),
    "entrywise SDP, paper (k²)": ("--", "#56B4E9"),
    "entrywise SDP, valid (k/λmin)": ("-.", "#0072B2"),
    "homogeneous SDP": ("-", "#CC79A7"),
    "no SDP": ("--", "#E69F00"),
    "exact (branch and bound)": ("-", "#D55E00"),
}
"""Line style and colour of each bound."""

HALF = 0.4
"""Half the width of a level."""


LEAST_SPAN = 0.01
"""The least width of a picture by method, relative to the values: rounding errors are no gap."""


def comparison_plot(comparisons: Sequence[Comparison], ax: Any = None) -> Any:
    """Lower values, the exact optimum and upper bounds: by method for one k, over k for several; returns the Axes.

    The band is what is proved to hold the optimum. Hollow marks are bounds that do not hold at that k,
    or vectors with too many nonzeros. comparisons are what `compare` returned, one for each k.
    """
    from .comparison.rows import checked_comparisons

    found = checked_comparisons(comparisons)
    ax = axes_of(ax, (8.0, 4.8))
    return by_method(found[0], ax) if len(found) == 1 else by_cardinality(found, ax)


def by_method(comparison: Comparison, ax: Any) -> Any:
    """One line a method, values to the right."""
    rows = [row for row in comparison.rows if isfinite(row.value)]
    rows.sort(key=lambda row: (row.side == "lower", -row.value))
    if isfinite(comparison.gap.absolute):
        ax.axvspan(comparison.best_lower, comparison.best_upper, color="#D55E00", alpha=0.15)
        ax.axvline(comparison.best_upper, color="#D55E00", linewidth=0.8)
    for position, row in enumerate(rows):
        mark = "<" if row.side == "upper" else ">"
        ax.plot(row.value, position, mark, color="black", markersize=7, fillstyle="full" if row.valid else "none")
    labels = [f"{row.method}{'' if row.valid else ' (not valid)'}" for row in rows]
    ax.set_yticks(range(len(rows)), labels)
    ax.axhline(sum(row.side == "upper" for row in rows) - 0.5, color="0.7", linewidth=0.8)
    ax.invert_yaxis()
    low, high = ax.get_xlim()
    room = max(0.0, LEAST_SPAN * max(abs(low), abs(high)) - (high - low))
    ax.set_xlim(low - 0.5 * room, high + 0.5 * room)
    ax.set_xlabel(r"$x^TAx \,/\, x^TBx$")
    ax.set_title(f"k = {comparison.k}: upper bounds (◂) above, vectors found (▸) below", fontsize=10)
    return ax


def by_cardinality(comparisons: Sequence[Comparison], ax: Any) -> Any:
    """One mark a vector and k, one level a bound and k, the proved interval as a band."""
    for position, comparison in enumerate(comparisons):
        height = comparison.gap.absolute
        if isfinite(height):
            label = "holds the optimum" if position == 0 else None
            base = comparison.best_lower
            ax.bar(comparison.k, height, 2 * HALF, base, color="#D55E00", alpha=0.25, label=label)
    for method in methods_of(comparisons, "upper"):
        dashes, color = LEVELS.get(method, ("-", "black"))
        draw_levels(ax, points_of(comparisons, method, "upper"), dashes, color, f"{method} bound")
    lowers = methods_of(comparisons, "lower")
    for position, method in enumerate(lowers):
        marker, color = MARKS.get(method, (".", "black"))
        # the best vectors coincide: side by side they can be seen
        shift = 0.09 * (position - 0.5 * (len(lowers) - 1))
        draw_points(ax, points_of(comparisons, method, "lower"), shift, marker, color, method)
    ax.use_sticky_edges = False
    ax.set_xticks([comparison.k for comparison in comparisons])
    ax.set(xlabel=r"cardinality $k$", ylabel=r"$x^TAx \,/\, x^TBx$")
    ax.legend(fontsize=7, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return ax


def methods_of(comparisons: Sequence[Comparison], side: str) -> list[str]:
    """The methods of one side that gave a number, in their order."""
    rows = [row for comparison in comparisons for row in comparison.rows]
    return list(dict.fromkeys(row.method for row in rows if row.side == side and isfinite(row.value)))


def points_of(comparisons: Sequence[Comparison], method: str, side: str) -> list[tuple[int, Row]]:
    """(k, row) of one method on one side."""
    pairs = [(comparison.k, row) for comparison in comparisons for row in comparison.rows]
    return [(k, row) for k, row in pairs if row.method == method and row.side == side and isfinite(row.value)]


def draw_levels(ax: Any, points: list[tuple[int, Row]], dashes: str, color: str, label: str) -> None:
    """A short level line for each bound, dotted and thin where it does not count."""
    for valid in (True, False):
        chosen = [(k, row.value) for k, row in points if row.valid is valid]
        if chosen:
            ks, values = zip(*chosen, strict=True)
            left, right = [k - HALF for k in ks], [k + HALF for k in ks]
            words = label if valid else f"{label} (not valid)"
            style, width = (dashes, 1.6) if valid else (":", 0.8)
            ax.hlines(values, left, right, color=color, linestyle=style, linewidth=width, label=words)


def draw_points(ax: Any, points: list[tuple[int, Row]], shift: float, marker: str, color: str, label: str) -> None:
    """The marks of one method, hollow where the row does not count."""
    for valid in (True, False):
        chosen = [(k + shift, row.value) for k, row in points if row.valid is valid]
        if chosen:
            words = label if valid else f"{label} (not valid)"
            filled = "full" if valid else "none"
            x, y = zip(*chosen, strict=True)
            ax.plot(x, y, marker, color=color, markersize=5, fillstyle=filled, linestyle="none", label=words)


__all__ = [
    "Sheet",
    "comparison_plot",
    "plot_agreement",
    "plot_basins",
    "plot_history",
    "plot_loadings",
    "plot_majoriser",
    "plot_majoriser_2d",
    "plot_path",
    "plot_sandwich",
    "plot_tradeoff",
]
