"""Table 2: time for n/p = 10 at five sizes, as ratios to GPower in the same run (Section 4.4.2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .base import Experiment, Finding, Section, Table, agreement
from .cells import Settings
from .timing import SETUP, average, of_size, ratio_finding, size_cells

PRINTED = {
    (100, 1000): (0.135, 0.027, 0.034),
    (250, 2500): (1.895, 0.159, 0.151),
    (500, 5000): (10.256, 0.310, 0.301),
    (750, 7500): (34.367, 1.224, 1.202),
    (1000, 10000): (87.459, 1.904, 1.913),
}
"""Seconds of SPCA, GPower and DC-PCA on the paper's 3 GHz workstation."""


def section(settings: Settings, results: Mapping[str, Any]) -> Section:
    """Our seconds beside the paper's; the verdict is on ratios, machines differ.

    Sizes without results are left out rather than shown as zero.
    """
    rows: list[tuple[Any, ...]] = []
    findings: list[Finding] = []
    for size in settings["sizes"]:
        cells = of_size(results, size)
        if not cells:
            continue
        spca, gpower, dc = PRINTED[size[0], size[1]]
        for name, paper in (("SPCA", spca), ("GPower", gpower), ("DC-PCA", dc)):
            rows.append(
                (
                    f"{size[0]}×{size[1]}",
                    name,
                    f"{paper:.3f}",
                    f"{average(cells, name, 'seconds'):.4f}",
                    f"{average(cells, name, 'k'):.0f}",
                    f"{100 * average(cells, name, 'variance') / cells[0]['trace']:.4f}",
                )
            )
        label = f"Table 2, {size[0]}×{size[1]}"
        findings.append(ratio_finding(label, cells, (gpower, dc)))
        findings.append(spca_finding(label, cells, (spca, dc)))
    columns = ("p×n", "method", "paper (s)", "ours (s)", "cardinality", "variance (%)")
    return Section(
        name="table2",
        title="Table 2: time for n/p = 10",
        setup=SETUP,
        tables=(Table("table2_times", "Average time for one component", columns, tuple(rows)),),
        findings=tuple(findings),
    )


def spca_finding(label: str, cells: list[Any], paper: tuple[float, float]) -> Finding:
    """DC-PCA is faster than SPCA."""
    ratio = average(cells, "SPCA", "seconds") / average(cells, "DC-PCA", "seconds")
    return Finding(
        f"{label}: time of SPCA / time of DC-PCA",
        f"{paper[0] / paper[1]:.0f}",
        f"{ratio:.0f}",
        agreement(ratio > 1.0),
        "agreement means that DC-PCA is the faster; the elastic net here is scikit-learn's",
    )


EXPERIMENT = Experiment(
    "table2",
    "Table 2 (time, n/p = 10)",
    {
        "tiny": {"sizes": [[100, 1000]], "instances": 2, "spca_instances": 1, "repeats": 1},
        "quick": {
            "sizes": [[100, 1000], [250, 2500]],
            "instances": 3,
            "spca_instances": 1,
            "repeats": 3,
        },
        "full": {"sizes": [list(size) for size in PRINTED], "instances": 5, "spca_instances": 1, "repeats": 3},
    },
    size_cells,
    section,
)
