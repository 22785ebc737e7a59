"""Figure 3 and Tables 2 and 4: the time of one run at a fixed parameter, by data and method (Section 4.4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean, median_high
from typing import Any, TypeAlias

from .findings import Finding, Table, agreement, own_claim
from .running import Settings, Task
from .timed_methods import PAPER, compared, gaussian_pencil

HOW_TIMED = (
    "Time is the CPU time of one run at the parameter that was found, start included. It is the median of a few "
    "runs with one BLAS thread, taken in turn with the other methods, each after an untimed one (SPCA: a single "
    "run). Passes count how often a run reads the data; a product with some of the columns counts as that share of "
    "a pass. GPower and DC-PCA are plain NumPy. Both start at the longest column. DC-PCA uses a sample of the "
    "columns if that explains half of the sample's variance, and up to 1.3 p^⅓ power steps if it explains less than "
    "a quarter of tr A. As in its authors' program, GPower stops when its objective rises by less than 1e-4 of "
    "itself. DC-PCA stops when its own rises by less than 1e-4 of xᵀAx. The paper does not state its stopping rule. "
    "The parameter of the d.c. methods is searched for the cardinality that GPower reached, within half a per cent. "
    "If the cardinality jumps over it, the largest loadings of the last run with more are kept, and that run is "
    "timed. SPCA's regression is scikit-learn's compiled one. `d.c. one-shot` keeps k loadings at every step and "
    "needs no search. It is compared with GPower and its search, a bisection, at the same k."
)

Numbers: TypeAlias = Sequence[float]
SIMILAR = 0.995
"""A mean ratio of variances from here on counts as similar."""


def size_task(p: int, n: int, seed: list[int], spca: bool, repeats: int) -> dict[str, Any]:
    """Each method on one random matrix at cardinality n/10 ± 5 %."""
    k = n // 10
    return compared(gaussian_pencil(p, n, seed), k, max(1, k // 20), repeats, spca=spca)


def size_tasks(settings: Settings) -> list[Task]:
    """One timed task per size and instance; SPCA, the slowest, on the first instances only."""
    tasks: list[Task] = []
    for p, n in settings["sizes"]:
        for i in range(settings["instances"]):
            arguments = {"p": p, "n": n, "seed": [settings["seed"], p, n, i], "repeats": settings["repeats"]}
            arguments["spca"] = i < settings["spca_instances"]
            tasks.append(Task(f"{p}x{n}-{i:03d}", size_task, arguments, timed=True))
    return tasks


def of_size(results: Mapping[str, Any], size: Sequence[int]) -> list[Any]:
    """The results of one size."""
    return [result for key, result in results.items() if key.startswith(f"{size[0]}x{size[1]}-")]


def average(results: Sequence[Any], method: str, what: str, weights: Numbers | None = None) -> float:
    """The mean of one number over the results that have the method, with equal weights by default."""
    chosen = [(i, result["methods"][method]) for i, result in enumerate(results) if method in result["methods"]]
    shares = None if weights is None else [weights[i] for i, _ in chosen]
    return fmean((answer[what] for _, answer in chosen), shares)


def variance_ratios(results: Sequence[Any], ours: str, theirs: str = "GPower", what: str = "variance") -> list[float]:
    """The variance of one method divided by another's, result by result."""
    found = [result["methods"] for result in results if theirs in result["methods"]]
    return [methods[ours]["variance"] / methods[theirs][what] for methods in found]


def findings(label: str, results: Sequence[Any], paper: Numbers, weights: Numbers | None = None) -> list[Finding]:
    """DC-PCA's time against GPower's and SPCA's, given the paper's seconds of SPCA, GPower and DC-PCA.

    Seconds depend on the machine, ratios of two methods in one run hardly do: the verdicts are on ratios.
    """
    ratio = average(results, "SPCA", "seconds") / average(results, "DC-PCA", "seconds")
    what, printed = f"{label}: time of SPCA / time of DC-PCA", f"{paper[0] / paper[2]:.0f}"
    remark = "agreement means that DC-PCA is faster; the elastic net here is scikit-learn's"
    return [
        gpower_finding(label, results, paper, weights),
        one_shot_finding(label, results),
        Finding(what, printed, f"{ratio:.{0 if weights is None else 1}f}", agreement(ratio > 1.0), remark),
    ]


def gpower_finding(label: str, results: Sequence[Any], paper: Numbers, weights: Numbers | None) -> Finding:
    """DC-PCA's time over GPower's, with steps, passes and variances: at most 1, or the paper's ratio, agrees."""

    def both(what: str) -> list[float]:
        return [average(results, method, what, weights) for method in ("DC-PCA", "GPower")]

    seconds, steps, passes = both("seconds"), both("steps"), both("passes")
    ratio, printed, variances = seconds[0] / seconds[1], paper[2] / paper[1], variance_ratios(results, "DC-PCA")
    remark = (
        f"{steps[0]:.1f} steps and {passes[0]:.1f} passes, GPower {steps[1]:.1f} and {passes[1]:.1f}; ratio of "
        f"variances at equal k: mean {fmean(variances):.4f}, smallest {min(variances):.4f}; mean of {len(results)}"
    )
    if weights is not None:
        equal = average(results, "DC-PCA", "seconds") / average(results, "GPower", "seconds")
        middle = median_high(result["methods"]["GPower"]["k"] for result in results)
        remark += f"; {equal:.2f} with equal weights, where half of the cardinalities are below k = {middle}"
    if ratio > 1.0 and passes[0] > passes[1]:
        remark += "; it reads the data more often"
    return Finding(
        f"{label}: time of DC-PCA / time of GPower at a fixed parameter",
        f"{printed:.2f} ({paper[2]:.3f} s / {paper[1]:.3f} s)",
        f"{ratio:.2f} ({1e3 * seconds[0]:.2f} ms / {1e3 * seconds[1]:.2f} ms)",
        agreement(ratio <= max(1.0, printed) and fmean(variances) >= SIMILAR),
        remark,
    )


def one_shot_finding(label: str, results: Sequence[Any]) -> Finding:
    """The time to a component of a wanted cardinality: one-shot d.c. steps against GPower with its search."""
    gpower, ours = average(results, "GPower", "total"), average(results, "d.c. one-shot", "total")
    ratios = variance_ratios(results, "d.c. one-shot")
    return Finding(
        f"{label}: time to a component with k loadings, d.c. one-shot / GPower and its search",
        "(not in the paper)",
        f"{ours / gpower:.2f} ({1e3 * ours:.1f} ms / {1e3 * gpower:.1f} ms)",
        own_claim(ours <= gpower and fmean(ratios) >= 0.9995),  # printed as 1.000: equal or better
        f"ratio of variances at equal k: mean {fmean(ratios):.3f}, smallest {min(ratios):.3f}; "
        f"{average(results, 'GPower', 'runs'):.0f} runs in GPower's search",
    )


def time_rows(label: str, results: Sequence[Any], paper: Numbers) -> list[tuple[Any, ...]]:
    """Our times beside the paper's, a row per method that was run."""
    printed = dict(zip(PAPER, paper, strict=True))
    rows: list[tuple[Any, ...]] = []
    for name in dict.fromkeys(name for result in results for name in result["methods"]):
        seconds, total, steps, passes = (average(results, name, w) for w in ("seconds", "total", "steps", "passes"))
        share = fmean(r["methods"][name]["variance"] / r["trace"] for r in results if name in r["methods"])
        shown = (f"{printed[name]:.3f}" if name in printed else "", f"{seconds:.5f}", f"{total:.4f}", f"{steps:.0f}")
        rows.append((label, name, *shown, f"{passes:.1f}" if passes else "", f"{share:.3%}"))
    return rows


def time_table(name: str, title: str, rows: Sequence[tuple[Any, ...]]) -> Table:
    """The table of times, its rows from `time_rows`."""
    columns = ("data", "method", "paper (s)", "one run (s)", "with search (s)", "steps", "passes", "variance")
    return Table(name, title, columns, tuple(rows))
