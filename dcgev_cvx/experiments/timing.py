"""Figure 3 and Table 2: the time of one run at a fixed parameter, by problem size (Section 4.4.2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .base import Finding, agreement, mean
from .cells import Cell, Settings
from .methods import METHODS, gaussian_pencil, trace

SETUP = (
    "Parameters are searched until the cardinality is n/10 ± 5 %; the search is not timed. Time of one run, start "
    "included, the quickest of a few, one BLAS thread, one run at a time. DC-PCA starts in the span of at most 6 "
    "power steps, GPower at the longest column, as its authors do; both stop when their objective rises by less than "
    "1e-4 of itself."
)


def size_cell(p: int, n: int, seed: list[int], methods: list[str], repeats: int) -> dict[str, Any]:
    """Each method once on one random matrix at comparable cardinality.

    The slack of 5 % in k is for the search alone; cardinality and variance are reported beside the time.
    """
    pencil = gaussian_pencil(p, n, seed)
    k = n // 10
    found = {name: METHODS[name](pencil, k, max(1, k // 20), repeats).to_dict() for name in methods}
    return {"trace": trace(pencil), "methods": found}


def size_cells(settings: Settings) -> list[Cell]:
    """One timed cell per size and instance; SPCA, the slowest, on the first instances only.

    Keys hold size and instance, by which `of_size` finds them again.
    """
    made: list[Cell] = []
    for p, n in settings["sizes"]:
        for i in range(settings["instances"]):
            methods = ["SPCA"] if i < settings["spca_instances"] else []
            arguments = {
                "p": p,
                "n": n,
                "seed": [settings["seed"], p, n, i],
                "methods": [*methods, "GPower", "DC-PCA"],
                "repeats": settings["repeats"],
            }
            made.append(Cell(f"{p}x{n}-{i:03d}", size_cell, arguments, timed=True))
    return made


def of_size(results: Mapping[str, Any], size: Sequence[int]) -> list[Any]:
    """The instances of one size."""
    return [cell for key, cell in results.items() if key.startswith(f"{size[0]}x{size[1]}-")]


def average(cells: Sequence[Any], method: str, what: str) -> float:
    """The mean of one number over the instances that have the method."""
    return mean([cell["methods"][method][what] for cell in cells if method in cell["methods"]])


def ratios(cells: Sequence[Any], what: str) -> float:
    """The mean over instances of DC-PCA's number divided by GPower's."""
    return mean([cell["methods"]["DC-PCA"][what] / cell["methods"]["GPower"][what] for cell in cells])


def time_ratio(cells: Sequence[Any]) -> float:
    """DC-PCA's average time divided by GPower's in the same run.

    Of averages, as the paper's ratio is; `ratios` averages the ratios of instances.
    """
    return average(cells, "DC-PCA", "seconds") / average(cells, "GPower", "seconds")


def ratio_finding(label: str, cells: Sequence[Any], paper: tuple[float, float]) -> Finding:
    """DC-PCA's time over GPower's: at most 1, or at most the paper's own ratio, at comparable variance.

    Seconds depend on the machine, ratios of two methods in the same run hardly do: the verdict is on the ratio.
    """
    printed, ours, variance = paper[1] / paper[0], time_ratio(cells), ratios(cells, "variance")
    return Finding(
        f"{label}: time of DC-PCA / time of GPower",
        f"{printed:.2f} ({paper[1]:.3f} s / {paper[0]:.3f} s)",
        f"{ours:.2f} ({average(cells, 'DC-PCA', 'seconds'):.4f} s / {average(cells, 'GPower', 'seconds'):.4f} s)",
        agreement(ours <= max(1.0, printed)),
        f"variance of DC-PCA / GPower {variance:.3f}, cardinality {average(cells, 'DC-PCA', 'k'):.0f} and "
        f"{average(cells, 'GPower', 'k'):.0f}, mean of {len(cells)}",
    )
