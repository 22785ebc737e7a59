"""Figure 3 and Table 2: time against the size of Gaussian matrices, p = 500 and n/p = 10 (Section 4.4.2).

Reproduced: both, as ratios of times. Different: fewer matrices of each size than the paper's 100; times are medians
of runs, and how much their ratio varies between matrices is in the remarks. Figure 3 ends at n = 8000.
"""

import math
from statistics import fmean

from findings import PUBLISHED, Figure, Finding, Panel, Section, Work, agreement
from slower import explained, why_table, why_text
from time_ratios import time_findings
from timed_runs import HOW_TIMED, METHODS, compared, gaussian_pencil

from dcgev_cvx.comparison import Cell

TITLE = "Figure 3 and Table 2: time against the number of variables"
SETTINGS = {
    "tiny": {"figure": [[20, 40], [20, 80]], "table": [[100, 1000]], "instances": 1, "repeats": 1},
    "quick": {"figure": [[100, 500], [100, 1000]], "table": [[100, 1000], [250, 2500]], "instances": 2, "repeats": 3},
    "full": {
        "figure": [[500, n] for n in (500, 1000, 2000, 4000, 8000)],
        "table": [[100, 1000], [250, 2500], [500, 5000], [750, 7500], [1000, 10000]],
        "instances": 4,
        "repeats": 3,
    },
}


def size_cell(p: int, n: int, seed: list[int], repeats: int) -> dict:
    """Each method on one random matrix at cardinality n/10 ± 5 %."""
    k = n // 10
    return compared(gaussian_pencil(p, n, seed), k, max(1, k // 20), repeats)


def explained_cell(p: int, n: int, seed: list[int]) -> dict:
    """Where the time of DC-PCA goes on one random matrix."""
    return explained(gaussian_pencil(p, n, seed), n // 10)


def section(settings: dict, work: Work) -> Section:
    """Our seconds beside the paper's; the verdicts are on ratios, since machines differ."""
    cells = []
    for p, n in {tuple(size) for size in (*settings["figure"], *settings["table"])}:
        for i in range(settings["instances"]):
            arguments = {"p": p, "n": n, "seed": [settings["seed"], p, n, i], "repeats": settings["repeats"]}
            cells.append(Cell(f"{p}x{n}-{i}", size_cell, arguments, timed=True))
    for p, n in settings["table"]:
        arguments = {"p": p, "n": n, "seed": [settings["seed"], p, n, 0]}
        cells.append(Cell(f"why-{p}x{n}", explained_cell, arguments, timed=True))
    results = work.cells(sorted(cells, key=lambda cell: cell.arguments["n"]), "figure3_table2")

    def of_size(p: int, n: int) -> list:
        return [result for key, result in results.items() if key.startswith(f"{p}x{n}-")]

    causes = {f"{p}×{n}": [results[f"why-{p}x{n}"]] for p, n in settings["table"]}
    findings: list[Finding] = []
    for p, n in settings["table"]:
        findings += time_findings(f"Table 2, {p}×{n}", of_size(p, n), PUBLISHED["table2"][f"{p}x{n}"])
    curves = {}
    for name in METHODS:
        times = {n: [result[name]["seconds"] for result in of_size(p, n)] for p, n in settings["figure"]}
        curves[name] = [(n, fmean(seconds)) for n, seconds in times.items()]
    panel = Panel("time against n", "n", "seconds", curves, log_x=True, log_y=True)
    return Section(
        f"{settings['instances']} Gaussian matrices of each size (the paper: 100); Figure 3 has p = "
        f"{settings['figure'][0][0]} (the paper: 500). The verdicts are on ratios of times, "
        "whose range over the matrices is in the remarks. Parameters are searched until the cardinality is n/10 ± 5 %. "
        f"{HOW_TIMED} {why_text(causes)}",
        [why_table(causes)],
        findings=[growth_finding(curves), *findings],
        figures=[Figure("figure3", "Average time for one component (Figure 3 of the paper)", [panel])],
    )


def growth_finding(curves: dict) -> Finding:
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
