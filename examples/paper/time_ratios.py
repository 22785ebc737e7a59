"""The paper's claims on time: DC-PCA is about as fast as GPower, and faster than SPCA (Tables 2 and 4)."""

from statistics import fmean

import numpy as np
from findings import Finding, agreement
from timed_runs import METHODS

SIMILAR = 0.995
"""A mean ratio of variances from here on counts as similar."""


def ratios_to(results: list, rival: str, what: str = "variance") -> list[float]:
    """The variance of DC-PCA divided by a rival's, result by result."""
    return [result["DC-PCA"]["variance"] / result[rival][what] for result in results]


def time_findings(label: str, results: list, paper: list[float], over_all_k: bool = False) -> list[Finding]:
    """DC-PCA's time against GPower's and SPCA's, given the paper's seconds of SPCA, GPower and DC-PCA.

    Seconds depend on the machine, ratios hardly do: the verdicts are on ratios. With `over_all_k` a time is the mean
    over all cardinalities between those measured (trapezoidal rule).
    """

    def mean_time(method: str) -> float:
        seconds, ks = ([result[method][what] for result in results] for what in ("seconds", "k"))
        order = np.argsort(ks)
        whole = np.trapezoid(np.array(seconds)[order], np.array(ks)[order]) / max(1, max(ks) - min(ks))
        return float(whole) if over_all_k else fmean(seconds)

    def ratio_of(one: str, other: str) -> tuple[str, str, float]:
        theirs, mine = (times[one] / times[other] for times in (printed, ours))
        paper = f"{theirs:.3g} ({printed[one]:.4g} s / {printed[other]:.4g} s)"
        return paper, f"{mine:.3g} ({1e3 * ours[one]:.4g} ms / {1e3 * ours[other]:.4g} ms)", mine

    ours, printed = {method: mean_time(method) for method in METHODS}, dict(zip(METHODS, paper, strict=True))
    steps = [fmean(result[method]["steps"] for result in results) for method in ("DC-PCA", "GPower")]
    variances = ratios_to(results, "GPower")
    *to_gpower, ratio = ratio_of("DC-PCA", "GPower")
    *from_spca, slower = ratio_of("SPCA", "DC-PCA")
    holds = round(ratio, 2) <= max(1.0, round(paper[2] / paper[1], 2)) and fmean(variances) >= SIMILAR
    remark = (
        f"{steps[0]:.1f} steps, GPower {steps[1]:.1f}; ratio of variances at equal k: mean {fmean(variances):.4f}, "
    )
    single = [result["DC-PCA"]["seconds"] / result["GPower"]["seconds"] for result in results]
    remark += f"smallest {min(variances):.4f}; mean of {len(results)} runs, whose ratios of times are "
    remark += f"{min(single):.3g}–{max(single):.3g}"
    note = "agreement means that DC-PCA is faster; the elastic net here is scikit-learn's"
    what = f"{label}: time of DC-PCA / time of GPower at a fixed parameter"
    return [
        Finding(what, *to_gpower, agreement(holds), remark),
        Finding(f"{label}: time of SPCA / time of DC-PCA", *from_spca, agreement(slower > 1.0), note),
    ]
