"""Table 2: time for n/p = 10 at five sizes, as ratios to GPower in the same run (Section 4.4.2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .base import Experiment, Finding, Section, Table, agreement
from .cells import Settings
from .timing import SETUP, TIME_COLUMNS, average, of_size, run_findings, size_cells, time_rows, wanted_finding

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
        label = f"{size[0]}×{size[1]}"
        spca, gpower, dc = PRINTED[size[0], size[1]]
        rows += time_rows(label, cells, (spca, gpower, dc))
        findings += run_findings(f"Table 2, {label}", cells, (gpower, dc))
        findings.append(wanted_finding(f"Table 2, {label}", cells))
        findings.append(spca_finding(f"Table 2, {label}", cells, (spca, dc)))
    return Section(
        name="table2",
        title="Table 2: time for n/p = 10",
        setup=SETUP,
        tables=(Table("table2_times", "Average time for one component", TIME_COLUMNS, tuple(rows)),),
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
            "instances": 5,
            "spca_instances": 1,
            "repeats": 3,
        },
        "full": {"sizes": [list(size) for size in PRINTED], "instances": 5, "spca_instances": 1, "repeats": 7},
    },
    size_cells,
    section,
)
