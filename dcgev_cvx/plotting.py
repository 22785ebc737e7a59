"""Pictures of results: Axes in, Axes out, labelled with the paper's symbols and readable in grey."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .paths import Path


def plot_path(path: Path, ax: Any = None) -> Any:
    """Cardinality and share of λmax(A, B) along the ρ̃ path (Figure 1d); returns the Axes.

    The left axis counts nonzeros (steps), the right one shows the renormalized value of the
    same points (dots). Cardinalities that no ρ̃ on the path gave are dotted lines.
    """
    if ax is None:
        import matplotlib.pyplot as plt

        ax = plt.figure(figsize=(7.0, 4.2), layout="constrained").add_subplot()
    points = [point for point in path.points if point.k > 0 and point.rho > 0.0]
    rhos = [point.rho for point in points]
    ax.step(rhos, [point.k for point in points], where="mid", color="black", label="nonzeros")
    for i, k in enumerate(path.missing):
        ax.axhline(k, color="0.6", linewidth=0.8, linestyle=":", label="no ρ̃ tried gives this k" if i == 0 else None)
    ax.set(xscale="log", xlabel=r"$\tilde\rho$", ylabel=r"$\|x\|_0$")
    right = ax.twinx()
    shares = [point.value / path.pencil.lambda_max for point in points]
    right.plot(rhos, shares, "o", color="#0072B2", markersize=4, label="renormalized value")
    right.set_ylim(bottom=min(0.0, *shares) if shares else 0.0)
    right.set_ylabel(r"$x^TAx \,/\, \lambda_{max}(A,B)$", color="#0072B2")
    handles = [pair for axes in (ax, right) for pair in zip(*axes.get_legend_handles_labels(), strict=True)]
    ax.legend(*zip(*handles, strict=True), loc="lower left", frameon=False)
    return ax


__all__ = ["plot_path"]
