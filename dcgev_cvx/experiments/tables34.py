"""Tables 3 and 4 and Figure 4: gene expression data, variance and time by cardinality (Section 4.4.3)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from .. import datasets
from ..checks import Matrix
from ..pencils import Gram, Pencil
from .base import Experiment, Figure, Finding, Panel, Section, Table, Verdict, agreement, mean
from .cells import Cell, Settings
from .methods import METHODS, trace

PRINTED = {
    "colon": (44.96, (2.057, 0.182, 0.034)),
    "leukemia": (87.64, (3.548, 0.223, 0.156)),
    "ramaswamy-shape": (76.5, (38.731, 2.337, 0.547)),
    "ramaswamy-small": (76.5, (38.731, 2.337, 0.547)),
}
"""The dense first component's share (%), and the seconds of SPCA, GPower and DC-PCA."""

SHAPES = {"ramaswamy-shape": (127, 16063), "ramaswamy-small": (20, 60)}

PREPARED = {
    "colon": "62×2000, each gene standardised",
    "leukemia": "all 72×7129, raw, uncentred",
    "ramaswamy-shape": "127×16063, planted, not Ramaswamy's data",
}


@lru_cache(maxsize=3)
def data(name: str, seed: int) -> Pencil:
    """A = CᵀC of a data set, prepared so that its dense first component has the paper's share.

    Which preparation gives the paper's share was found by trying: standardised genes for colon, raw values for
    leukemia.
    """
    if name == "colon":
        X = datasets.colon().X
        return Pencil(Gram((X - X.mean(axis=0)) / X.std(axis=0)))
    if name == "leukemia":
        return Pencil(Gram(datasets.leukemia().X))
    return Pencil(Gram(planted(*SHAPES[name], 0.765, seed)))


def planted(p: int, n: int, share: float, seed: int) -> Matrix:
    """A rank-one matrix with loadings of all sizes plus noise: its first component explains about `share`.

    Cubed normals as loadings: a few large, many small, as expression data have. The noise has variance one, so that
    the rank-one part of squared norm share/(1 − share)·pn holds that share of the total on average.
    """
    rng = np.random.default_rng([seed, p, n])
    u, v = rng.standard_normal(p), rng.standard_normal(n) ** 3
    noise = rng.standard_normal((p, n))
    return np.sqrt(share / (1.0 - share) * p * n) * np.outer(u / np.linalg.norm(u), v / np.linalg.norm(v)) + noise


def dense_cell(name: str, seed: int) -> dict[str, float]:
    """The share of the dense first component, and of other preparations where the paper's text is ambiguous."""
    pencil = data(name, seed)
    found = {"share": pencil.lambda_max / trace(pencil)}
    if name == "leukemia":
        X = datasets.leukemia().X[-38:]
        train = Pencil(Gram(X))
        found["train"] = train.lambda_max / trace(train)
    if name == "colon":
        X = datasets.colon().X
        raw, centred = Pencil(Gram(X)), Pencil(Gram(X - X.mean(axis=0)))
        found |= {"raw": raw.lambda_max / trace(raw), "centred": centred.lambda_max / trace(centred)}
    return found


def point_cell(name: str, k: int, seed: int, methods: list[str], repeats: int) -> dict[str, Any]:
    """Each method at one cardinality.

    k ± 2 % is near enough: at k = 5000 the search for the exact number would cost much and tell nothing.
    """
    pencil = data(name, seed)
    found = {m: METHODS[m](pencil, k, k // 50, repeats).to_dict() for m in methods}
    return {"trace": trace(pencil), "methods": found}


def cardinalities(n: int, count: int) -> list[int]:
    """About `count` cardinalities from 1 to n, evenly spread in ratio.

    Examples
    --------
    >>> from dcgev_cvx.experiments.tables34 import cardinalities
    >>> cardinalities(100, 5)
    [1, 3, 10, 32, 100]
    """
    return sorted({int(k) for k in np.unique(np.round(np.geomspace(1, n, count)))})


def cells(settings: Settings) -> list[Cell]:
    """The dense share of each data set and one timed cell per cardinality."""
    made: list[Cell] = []
    for name, n in settings["data"]:
        seed = settings["seed"]
        made.append(Cell(f"{name}-dense", dense_cell, {"name": name, "seed": seed}))
        for j, k in enumerate(cardinalities(n, settings["points"])):
            spca = ["SPCA"] if j % settings["spca_every"] == 0 else []
            arguments = {"name": name, "k": k, "seed": seed, "methods": [*spca, "GPower", "DC-PCA"]}
            arguments["repeats"] = settings["repeats"]
            made.append(Cell(f"{name}-{k:05d}", point_cell, arguments, timed=True))
    return made


def section(settings: Settings, results: Mapping[str, Any]) -> Section:
    """Table 3's shares, Table 4's times and Figure 4's curves, for the data sets that are there."""
    findings: list[Finding] = []
    rows: list[tuple[Any, ...]] = []
    panels: list[Panel] = []
    for name, _ in settings["data"]:
        points = [results[key] for key in sorted(results) if key.startswith(f"{name}-") and key != f"{name}-dense"]
        if f"{name}-dense" not in results or not points:
            continue
        findings += [share_finding(name, results[f"{name}-dense"]), *curve_findings(name, points)]
        rows += time_rows(name, points)
        curves = {m: curve(points, m, "raw" if m == "SPCA" else "variance") for m in METHODS}
        panels.append(Panel(name, "cardinality", "variance explained (%)", curves, log_x=True))
    columns = ("data", "method", "paper (s)", "ours (s)", "with search (s)")
    return Section(
        name="tables34",
        title="Tables 3 and 4, Figure 4: gene expression data",
        setup="; ".join(f"{name}: {text}" for name, text in PREPARED.items())
        + ". No single preparation gives both of the paper's shares. Time of one run at the parameter for k (± 2 %), "
        "averaged over the cardinalities; SPCA with its own loadings, the others renormalised.",
        tables=(Table("table4_times", "Average time over the cardinalities", columns, tuple(rows)),),
        findings=tuple(findings),
        figures=(Figure("figure4", "Variance against cardinality (Figure 4 of the paper)", tuple(panels)),)
        * bool(panels),
    )


def curve(points: list[Any], method: str, what: str) -> list[tuple[float, float]]:
    """(cardinality, share in %) of one method."""
    found = [
        (p["methods"][method]["k"], 100 * p["methods"][method][what] / p["trace"]) for p in points if has(p, method)
    ]
    return sorted(found)


def has(point: Any, method: str) -> bool:
    """Was the method run at this cardinality?"""
    return method in point["methods"]


def share_finding(name: str, dense: Mapping[str, float]) -> Finding:
    """The dense first component against the paper's share.

    Within 0.01 of the printed per cent, that is all printed digits.
    """
    ours = 100 * dense["share"]
    if name not in ("colon", "leukemia"):
        return Finding(
            f"{name}: dense first component",
            f"{PRINTED[name][0]} %",
            f"{ours:.2f} %",
            Verdict.UNMATCHED,
            "the matrix of Ramaswamy et al. is not public in this form: a planted matrix of its shape stands in",
        )
    remark = {
        "colon": f"after standardising each gene; raw {100 * dense.get('raw', 0):.2f} %, centred "
        f"{100 * dense.get('centred', 0):.2f} %",
        "leukemia": f"all 72 samples, raw and uncentred; the 38 training samples that the paper's Table 3 names give "
        f"{100 * dense.get('train', 0):.2f} %",
    }[name]
    return Finding(
        f"{name}: dense first component",
        f"{PRINTED[name][0]} %",
        f"{ours:.3f} %",
        agreement(abs(ours - PRINTED[name][0]) < 0.01),
        remark,
    )


def curve_findings(name: str, points: list[Any]) -> list[Finding]:
    """Who explains more, and how long it takes.

    Ratios at equal cardinality, averaged over the cardinalities at which both methods were run.
    """

    def share(other: str, what: str) -> list[float]:
        return [p["methods"]["DC-PCA"]["variance"] / p["methods"][other][what] for p in points if has(p, other)]

    gpower, spca = share("GPower", "variance"), share("SPCA", "raw")
    seconds = {m: mean([p["methods"][m]["seconds"] for p in points if has(p, m)]) for m in METHODS}
    steps = {m: mean([p["methods"][m]["steps"] for p in points if has(p, m)]) for m in METHODS}
    ratio = seconds["DC-PCA"] / seconds["GPower"]
    printed = PRINTED[name][1]
    return [
        Finding(
            f"{name}, Figure 4: variance of DC-PCA / GPower",
            "similar",
            f"mean {mean(gpower):.4f}, smallest {min(gpower):.4f}",
            agreement(mean(gpower) >= 0.995),
            f"{len(gpower)} cardinalities",
        ),
        Finding(
            f"{name}, Figure 4: variance of DC-PCA / SPCA",
            "more than SPCA",
            f"mean {mean(spca):.4f}, smallest {min(spca):.4f}",
            agreement(mean(spca) >= 1.0),
            "SPCA with its own loadings",
        ),
        Finding(
            f"{name}, Table 4: time of DC-PCA / time of GPower",
            f"{printed[2] / printed[1]:.2f}",
            f"{ratio:.2f} ({seconds['DC-PCA']:.4f} s / {seconds['GPower']:.4f} s)",
            agreement(ratio <= 1.0),
            f"time of SPCA / DC-PCA {seconds['SPCA'] / seconds['DC-PCA']:.1f} (paper {printed[0] / printed[2]:.0f}); "
            f"{steps['GPower']:.0f} steps of GPower, {steps['DC-PCA']:.0f} of DC-PCA: where one component dominates, "
            "GPower is done after a few",
        ),
    ]


def time_rows(name: str, points: list[Any]) -> list[tuple[Any, ...]]:
    """Table 4, ours beside the paper's."""
    printed = PRINTED[name][1]
    rows: list[tuple[Any, ...]] = []
    for method, paper in zip(METHODS, printed, strict=True):
        found = [p["methods"][method] for p in points if has(p, method)]
        ours, total = mean([f["seconds"] for f in found]), mean([f["total"] for f in found])
        rows.append((name, method, f"{paper:.3f}", f"{ours:.4f}", f"{total:.3f}"))
    return rows


SETS = [["colon", 2000], ["leukemia", 7129], ["ramaswamy-shape", 16063]]
EXPERIMENT = Experiment(
    "tables34",
    "Tables 3 and 4, Figure 4 (gene expression)",
    {
        "tiny": {"data": [["ramaswamy-small", 60]], "points": 4, "spca_every": 1, "repeats": 1},
        "quick": {"data": SETS, "points": 8, "spca_every": 1, "repeats": 3},
        "full": {"data": SETS, "points": 33, "spca_every": 1, "repeats": 3},
    },
    cells,
    section,
)
