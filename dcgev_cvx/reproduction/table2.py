"""Table 2: time for n/p = 10 at five sizes, as ratios to GPower in the same run (Section 4.4.2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from . import timing
from .findings import Experiment, Finding, Section
from .running import Settings

PAPER_SECONDS = {
    (100, 1000): (0.135, 0.027, 0.034),
    (250, 2500): (1.895, 0.159, 0.151),
    (500, 5000): (10.256, 0.310, 0.301),
    (750, 7500): (34.367, 1.224, 1.202),
    (1000, 10000): (87.459, 1.904, 1.913),
}
"""Seconds of SPCA, GPower and DC-PCA on the paper's 3 GHz workstation."""


def section(settings: Settings, results: Mapping[str, Any]) -> Section:
    """Our seconds beside the paper's; the findings compare ratios, since machines differ."""
    rows: list[tuple[Any, ...]] = []
    findings: list[Finding] = []
    for p, n in settings["sizes"]:
        if found := timing.of_size(results, (p, n)):
            rows += timing.time_rows(f"{p}×{n}", found, PAPER_SECONDS[p, n])
            findings += timing.findings(f"Table 2, {p}×{n}", found, PAPER_SECONDS[p, n])
    return Section(
        name="table2",
        title="Table 2: time for n/p = 10",
        setup=f"Parameters are searched until the cardinality is n/10 ± 5 %. {timing.HOW_TIMED}",
        tables=(timing.time_table("table2_times", "Average time for one component", rows),),
        findings=tuple(findings),
    )


EXPERIMENT = Experiment(
    "table2",
    {
        "tiny": {"sizes": [[100, 1000]], "instances": 2, "spca_instances": 1, "repeats": 1},
        "quick": {"sizes": [[100, 1000], [250, 2500]], "instances": 5, "spca_instances": 1, "repeats": 3},
        "full": {"sizes": [list(s) for s in PAPER_SECONDS], "instances": 5, "spca_instances": 1, "repeats": 7},
    },
    timing.size_tasks,
    section,
)
