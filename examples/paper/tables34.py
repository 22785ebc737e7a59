"""Tables 3 and 4 and Figure 4: gene expression data, variance and time by cardinality (Section 4.4.3).

Reproduced: on Colon and Leukemia, fetched from pinned addresses. Different: the matrix of Ramaswamy et al. is not
public in this form, a planted one of its shape replaces it; each preparation is the one that gives the paper's share
of the dense first component; fewer cardinalities than all of 1 … n, with times interpolated between them.
"""

from functools import lru_cache
from statistics import fmean

import numpy as np
from findings import PUBLISHED, Figure, Finding, Panel, Section, Verdict, Work, agreement, percent_finding
from slower import explained, why_table, why_text
from time_ratios import SIMILAR, ratios_to, time_findings
from timed_runs import HOW_TIMED, METHODS, compared

from dcgev_cvx import Gram, Pencil, datasets
from dcgev_cvx.comparison import Cell

TITLE = "Tables 3 and 4, Figure 4: gene expression data"
DATA = [["colon", 2000], ["leukemia", 7129], ["ramaswamy-shape", 16063]]
SETTINGS = {
    "tiny": {"data": [["ramaswamy-small", 60]], "points": 4, "repeats": 1},
    "quick": {"data": DATA, "points": 6, "repeats": 3},
    "full": {"data": DATA, "points": 30, "repeats": 5},
}


@lru_cache(maxsize=3)
def pencil_of(name: str, seed: int) -> Pencil:
    """A = CᵀC of a data set, prepared so that its dense first component has the paper's share."""
    if name == "colon":
        X = datasets.colon()
        return Pencil(Gram((X - X.mean(axis=0)) / X.std(axis=0)))
    if name == "leukemia":
        return Pencil(Gram(datasets.leukemia()))
    p, n = {"ramaswamy-shape": (127, 16063), "ramaswamy-small": (20, 60)}[name]
    rng = np.random.default_rng([seed, p, n])  # one direction, loadings of few large and many small, and noise
    u, v, noise = rng.standard_normal(p), rng.standard_normal(n) ** 3, rng.standard_normal((p, n))
    size = np.sqrt(0.765 / 0.235 * p * n)
    return Pencil(Gram(size * np.outer(u / np.linalg.norm(u), v / np.linalg.norm(v)) + noise))


def dense_cell(name: str, seed: int) -> dict:
    """The share (%) of the dense first component, also for other preparations where the paper is ambiguous."""
    pencils = {"ours": pencil_of(name, seed)}
    if name == "leukemia":
        pencils["the 38 training samples that the paper's Table 3 names"] = Pencil(Gram(datasets.leukemia()[-38:]))
    if name == "colon":
        X = datasets.colon()
        pencils |= {"raw": Pencil(Gram(X)), "centred": Pencil(Gram(X - X.mean(axis=0)))}
    return {what: 100.0 * pencil.lambda_max / float(pencil.A_diagonal.sum()) for what, pencil in pencils.items()}


def cardinality_cell(name: str, k: int, seed: int, repeats: int) -> dict:
    """Each method at cardinality k ± 2 %."""
    return compared(pencil_of(name, seed), k, k // 50, repeats)


def explained_cell(name: str, k: int, seed: int) -> dict:
    """Where the time of DC-PCA goes."""
    return explained(pencil_of(name, seed), k)


def section(settings: dict, work: Work) -> Section:
    """Table 3's shares, Table 4's times and Figure 4's curves, for the data sets that are available."""
    findings, panels, causes = [], [], {}
    for name, n in settings["data"]:
        shared = {"name": name, "seed": settings["seed"]}
        cells = [Cell(f"{name}-dense", dense_cell, shared)]
        for k in np.unique(np.geomspace(1, n, settings["points"]).round()).astype(int).tolist():
            arguments = {**shared, "k": k, "repeats": settings["repeats"]}
            cells.append(Cell(f"{name}-{k:05d}", cardinality_cell, arguments, timed=True))
        cells += [Cell(f"{name}-why-{k}", explained_cell, {**shared, "k": k}, timed=True) for k in (n // 60, n // 4)]
        results = work.cells(cells, "tables34")
        if f"{name}-dense" not in results:
            continue  # the data could not be had, and the report says so
        shares = results.pop(f"{name}-dense")
        causes[name] = [results.pop(key) for key in list(results) if "-why-" in key]
        points = sorted(results.values(), key=lambda result: result["GPower"]["k"])
        findings += [share_finding(name, shares), *variance_findings(name, points)]
        findings += time_findings(f"{name}, Table 4", points, PUBLISHED["tables34"][name]["seconds"], over_all_k=True)
        what = {method: "raw" if method == "SPCA" else "variance" for method in METHODS}
        curves = {m: sorted((point[m]["k"], point[m][what[m]]) for point in points) for m in METHODS}
        panels.append(Panel(name, "cardinality", "variance explained (%)", curves, log_x=True))
    figure = Figure("figure4", "Variance against cardinality (Figure 4 of the paper)", panels)
    return Section(
        "colon: 62×2000, each gene standardised. leukemia: all 72×7129, raw, uncentred. ramaswamy-shape: 127×16063, "
        "planted, not Ramaswamy's data. No single preparation gives both of the paper's shares. k ± 2 %. Times are "
        "means over all cardinalities from 1 to n, as in the paper, interpolated between those measured. SPCA has "
        f"its own loadings, the others are renormalised. {HOW_TIMED} {why_text(causes) if causes else ''}",
        [why_table(causes)],
        findings=findings,
        figures=[figure] if panels else [],
    )


def share_finding(name: str, shares: dict[str, float]) -> Finding:
    """The dense first component against the paper's share, to all printed digits."""
    what, ours, printed = f"{name}: dense first component", shares["ours"], PUBLISHED["tables34"][name]["share"]
    if name not in ("colon", "leukemia"):
        remark = "the matrix of Ramaswamy et al. is not public in this form; a planted one of its shape replaces it"
        return Finding(what, f"{printed} %", f"{ours:.2f} %", Verdict.UNMATCHED, remark)
    how = "after standardising each gene" if name == "colon" else "all 72 samples, raw and uncentred"
    others = ", ".join(f"{other}: {share:.2f} %" for other, share in shares.items() if other != "ours")
    return percent_finding(what, printed, ours, 0.01, f"{how}; {others}", digits=3)


def variance_findings(name: str, points: list) -> list[Finding]:
    """Variances of DC-PCA against GPower and SPCA at equal cardinality."""
    what = f"{name}, Figure 4: variance of DC-PCA"
    gpower, spca = ratios_to(points, "GPower"), ratios_to(points, "SPCA", "raw")
    to_gpower, to_spca = (f"mean {fmean(r):.4f}, smallest {min(r):.4f}" for r in (gpower, spca))
    similar, more = agreement(fmean(gpower) >= SIMILAR), agreement(fmean(spca) >= 1.0)
    return [
        Finding(f"{what} / GPower", "similar", to_gpower, similar, f"{len(gpower)} cardinalities"),
        Finding(f"{what} / SPCA", "more than SPCA", to_spca, more, "SPCA with its own loadings"),
    ]
