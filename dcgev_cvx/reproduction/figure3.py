"""Figure 3: time against the number of variables for p = 500 samples (Section 4.4.2)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from .findings import Experiment, Figure, Finding, Panel, Section, agreement
from .running import Settings
from .timed_methods import METHODS, PAPER
from .timing import HOW_TIMED, average, of_size, size_tasks


def section(settings: Settings, results: Mapping[str, Any]) -> Section:
    """Time against n on logarithmic axes."""
    by_size = {size[1]: found for size in settings["sizes"] if (found := of_size(results, size))}
    curves = {name: [(n, average(found, name, "seconds")) for n, found in by_size.items()] for name in METHODS}
    panel = Panel("time against n", "n", "seconds", curves, log_x=True, log_y=True)
    return Section(
        name="figure3",
        title="Figure 3: time against the number of variables",
        setup=f"p = {settings['sizes'][0][0]} (the paper: 500), {settings['instances']} Gaussian matrices of each "
        f"size (the paper: 100). Parameters are searched until the cardinality is n/10 ± 5 %. {HOW_TIMED}",
        findings=(scaling(curves),),
        figures=(Figure("figure3", "Average time for one component (Figure 3 of the paper)", (panel,)),),
    )


def scaling(curves: Mapping[str, list[tuple[float, float]]]) -> Finding:
    """DC-PCA and GPower are faster than SPCA at the largest n; the growth is the slope between the two ends."""
    largest = {name: curve[-1][1] for name, curve in curves.items()}
    powers = ", ".join(
        f"{name} n^{math.log(curve[-1][1] / curve[0][1]) / math.log(curve[-1][0] / curve[0][0]):.2f}"
        for name, curve in curves.items()
        if len(curve) > 1
    )
    return Finding(
        "Figure 3: which method is fastest at the largest n",
        "DC-PCA and GPower, then SPCA",
        ", ".join(f"{name} {1e3 * largest[name]:.1f} ms" for name in PAPER),
        agreement(max(largest["GPower"], largest["DC-PCA"]) < largest["SPCA"]),
        f"growth between the smallest and the largest n: {powers}",
    )


EXPERIMENT = Experiment(
    "figure3",
    {
        "tiny": {"sizes": [[20, 40], [20, 80]], "instances": 1, "spca_instances": 1, "repeats": 1},
        "quick": {"sizes": [[100, 500 << i] for i in range(3)], "instances": 2, "spca_instances": 1, "repeats": 2},
        "full": {"sizes": [[500, n] for n in (500, 1000, 2000, 4000, 8000, 16000)], "instances": 3}
        | {"spca_instances": 1, "repeats": 2},
    },
    size_tasks,
    section,
)
