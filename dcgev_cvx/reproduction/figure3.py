"""Figure 3: time against the number of variables for p = 500 samples (Section 4.4.2)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from .base import Experiment, Figure, Finding, Panel, Section, agreement
from .cells import Settings
from .methods import METHODS, PAPER
from .timing import SETUP, average, of_size, size_cells


def section(settings: Settings, results: Mapping[str, Any]) -> Section:
    """Time against n on logarithmic axes."""
    curves: dict[str, list[tuple[float, float]]] = {name: [] for name in METHODS}
    for size in settings["sizes"]:
        cells = of_size(results, size)
        for name, curve in curves.items():
            if cells:
                curve.append((size[1], average(cells, name, "seconds")))
    panel = Panel("time against n", "n", "seconds", curves, log_x=True, log_y=True)
    return Section(
        name="figure3",
        title="Figure 3: time against the number of variables",
        setup=f"p = {settings['sizes'][0][0]} (the paper: 500), {settings['instances']} Gaussian matrices of each "
        f"size (the paper: 100). {SETUP}",
        findings=(scaling(curves),),
        figures=(Figure("figure3", "Average time for one component (Figure 3 of the paper)", (panel,)),),
    )


def scaling(curves: Mapping[str, list[tuple[float, float]]]) -> Finding:
    """DC-PCA and GPower scale better than SPCA: compared at the largest n.

    The claim is about order, not about seconds, and is judged at the largest n alone.
    """
    largest = {name: curve[-1][1] for name, curve in curves.items()}
    powers = ", ".join(f"{name} n^{exponent(curve):.2f}" for name, curve in curves.items() if len(curve) > 1)
    return Finding(
        "Figure 3: who is fastest at the largest n",
        "DC-PCA and GPower, then SPCA",
        ", ".join(f"{name} {1e3 * largest[name]:.1f} ms" for name in PAPER),
        agreement(max(largest["GPower"], largest["DC-PCA"]) < largest["SPCA"]),
        f"growth between the smallest and the largest n: {powers}",
    )


def exponent(curve: list[tuple[float, float]]) -> float:
    """The slope between the ends on logarithmic axes.

    Between the ends only: with three sizes a fit would say no more.
    """
    (n0, t0), (n1, t1) = curve[0], curve[-1]
    return math.log(t1 / t0) / math.log(n1 / n0)


EXPERIMENT = Experiment(
    "figure3",
    "Figure 3 (time against n)",
    {
        "tiny": {"sizes": [[20, 40], [20, 80]], "instances": 1, "spca_instances": 1, "repeats": 1},
        "quick": {
            "sizes": [[100, 500], [100, 1000], [100, 2000]],
            "instances": 2,
            "spca_instances": 1,
            "repeats": 2,
        },
        "full": {
            "sizes": [[500, n] for n in (500, 1000, 2000, 4000, 8000, 16000)],
            "instances": 3,
            "spca_instances": 1,
            "repeats": 2,
        },
    },
    size_cells,
    section,
)
