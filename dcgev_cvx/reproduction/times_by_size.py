"""Figure 3 and Table 2: time against the size of Gaussian matrices, p = 500 and n/p = 10 (Section 4.4.2)."""

import math
from collections.abc import Mapping
from statistics import fmean
from typing import Any

from .report import Curve, Experiment, Figure, Finding, Panel, Section, agreement
from .running import Settings, Task
from .timing import HOW_TIMED, METHODS, compared, gaussian_pencil, numbers_of, time_findings

PAPER_SECONDS = {
    (100, 1000): (0.135, 0.027, 0.034),
    (250, 2500): (1.895, 0.159, 0.151),
    (500, 5000): (10.256, 0.310, 0.301),
    (750, 7500): (34.367, 1.224, 1.202),
    (1000, 10000): (87.459, 1.904, 1.913),
}
"""Seconds of SPCA, GPower and DC-PCA in Table 2, on the paper's 3 GHz workstation."""


def size_task(p: int, n: int, seed: list[int], repeats: int) -> dict[str, Any]:
    """Each method on one random matrix at cardinality n/10 ± 5 %."""
    k = n // 10
    return compared(gaussian_pencil(p, n, seed), k, max(1, k // 20), repeats)


def tasks(settings: Settings) -> list[Task]:
    """One timed task per size and instance."""
    made: list[Task] = []
    for p, n in settings["sizes"]:
        for i in range(settings["instances"]):
            arguments = {"p": p, "n": n, "seed": [settings["seed"], p, n, i], "repeats": settings["repeats"]}
            made.append(Task(f"{p}x{n}-{i:03d}", size_task, arguments, timed=True))
    return made


def of_size(results: Mapping[str, Any], p: int, n: int) -> list[Any]:
    """The results of one size."""
    return [result for key, result in results.items() if key.startswith(f"{p}x{n}-")]


def setup(settings: Settings) -> str:
    """What both experiments have in common."""
    count = f"{settings['instances']} Gaussian matrices of each size (the paper: 100)"
    return f"{count}. Parameters are searched until the cardinality is n/10 ± 5 %. {HOW_TIMED}"


def table2_section(settings: Settings, results: Mapping[str, Any]) -> Section:
    """Our seconds beside the paper's; the verdicts are on ratios, since machines differ."""
    findings: list[Finding] = []
    for p, n in settings["sizes"]:
        findings += time_findings(f"Table 2, {p}×{n}", of_size(results, p, n), PAPER_SECONDS[p, n])
    return Section(setup(settings), findings=findings)


def figure3_section(settings: Settings, results: Mapping[str, Any]) -> Section:
    """Time against n on logarithmic axes."""
    curves: dict[str, Curve] = {}
    for name in METHODS:
        seconds = [(n, numbers_of(of_size(results, p, n), name, "seconds")) for p, n in settings["sizes"]]
        curves[name] = [(n, fmean(times)) for n, times in seconds]
    panel = Panel("time against n", "n", "seconds", curves, log_x=True, log_y=True)
    return Section(
        setup=f"p = {settings['sizes'][0][0]} (the paper: 500), {setup(settings)}",
        findings=[growth_finding(curves)],
        figures=[Figure("figure3", "Average time for one component (Figure 3 of the paper)", [panel])],
    )


def growth_finding(curves: Mapping[str, Curve]) -> Finding:
    """DC-PCA and GPower are faster than SPCA at the largest n; the growth is the slope between the two ends."""
    largest = {name: curve[-1][1] for name, curve in curves.items()}
    powers: list[str] = []
    for name, ((n, first), *_, (N, last)) in curves.items():
        powers.append(f"{name} n^{math.log(last / first) / math.log(N / n):.2f}")
    return Finding(
        "Figure 3: which method is fastest at the largest n",
        "DC-PCA and GPower, then SPCA",
        ", ".join(f"{name} {1e3 * seconds:.1f} ms" for name, seconds in largest.items()),
        agreement(max(largest["GPower"], largest["DC-PCA"]) < largest["SPCA"]),
        f"growth between the smallest and the largest n: {', '.join(powers)}",
    )


FIGURE3 = Experiment(
    title="Figure 3: time against the number of variables",
    tiny={"sizes": [[20, 40], [20, 80]], "instances": 1, "repeats": 1},
    quick={"sizes": [[100, 500], [100, 1000], [100, 2000]], "instances": 2, "repeats": 3},
    full={"sizes": [[500, n] for n in (500, 1000, 2000, 4000, 8000, 16000)], "instances": 3, "repeats": 3},
    tasks=tasks,
    section=figure3_section,
)
TABLE2 = Experiment(
    title="Table 2: time for n/p = 10",
    tiny={"sizes": [[100, 1000]], "instances": 1, "repeats": 1},
    quick={"sizes": [[100, 1000], [250, 2500]], "instances": 5, "repeats": 5},
    full={"sizes": [list(size) for size in PAPER_SECONDS], "instances": 5, "repeats": 9},
    tasks=tasks,
    section=table2_section,
)
