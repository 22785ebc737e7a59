"""Tables 3 and 4 and Figure 4: gene expression data, variance and time by cardinality (Section 4.4.3).

The data are downloaded when they are first used, from pinned addresses, and checked by their sha256; later calls read
the cache, whose folder the environment variable DCGEV_DATA may name. The files are those of two R packages: Colon.rda
of plsgenomics (GPL, version 2 or later) and golub.RData of datamicroarray (MIT).
"""

import os
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from .._numerics.checks import Matrix
from .._numerics.extras import require
from ..errors import DataUnavailable
from ..pencils import Gram, Pencil
from . import timing
from .report import Experiment, Figure, Finding, Panel, Section, Verdict, agreement, percent_finding
from .running import Settings, Task

SOURCES = {
    "Colon.rda": (
        "https://raw.githubusercontent.com/cran/plsgenomics/8c770daf139b94f6dd073529a53863d6db902a98/data/Colon.rda",
        "c0138c39df533b6a122133ec4fe9f63cbced94e7462990262da33f2836cc2e06",
    ),
    "golub.RData": (
        "https://raw.githubusercontent.com/ramhiser/datamicroarray/a95f6f68ed3debf48ee54f198435fa12aa655b16/data/"
        "golub.RData",
        "594f5507597fb2352d210c803a88a218fbf6d1f2705372029e5738815216747b",
    ),
}
"""The address of one version of each file, and its sha256."""


RAMASWAMY = (76.5, (38.731, 2.337, 0.547))
PAPER_NUMBERS = {
    "colon": (44.96, (2.057, 0.182, 0.034)),
    "leukemia": (87.64, (3.548, 0.223, 0.156)),
    "ramaswamy-shape": RAMASWAMY,
    "ramaswamy-small": RAMASWAMY,
}
"""The share of the dense first component (%), and the seconds of SPCA, GPower and DC-PCA."""


# Data


def colon() -> Matrix:
    """Alon et al. (1999): raw expression values of 62 tissues × 2000 genes.

    The paper's 44.96 % for the first principal component is that of standardised genes: pca_pencil(X, scale=True).
    """
    return read("Colon.rda", "Colon", "X")


def leukemia() -> Matrix:
    """Golub et al. (1999): raw expression values of 72 patients × 7129 genes, the training set's 38 last.

    The paper's 87.64 % is the share of the first component of raw, uncentred values over all 72 patients:
    pca_pencil(X, center=False).
    """
    return read("golub.RData", "golub", "x")


def read(file: str, name: str, part: str) -> Matrix:
    """One table of an R object in a file."""
    rdata, path = require("rdata", "reproduce"), located(file)
    try:
        return np.array(rdata.read_rda(path, default_encoding="utf-8")[name][part], dtype=np.float64, order="C")
    except Exception as cause:  # the parser raises many kinds
        raise DataUnavailable(f"{path} cannot be read as an R file: {cause}") from cause


def located(file: str) -> Path:
    """The path of a file whose hash is right: from the cache, or downloaded into it."""
    pooch = require("pooch", "reproduce")
    folder = Path(os.environ.get("DCGEV_DATA") or pooch.os_cache("dcgev_cvx")).expanduser()
    url, sha256 = SOURCES[file]
    try:
        return Path(pooch.retrieve(url, known_hash=f"sha256:{sha256}", fname=file, path=folder))
    except Exception as cause:  # every transport has its own errors
        state = "is damaged" if (folder / file).exists() else "is missing"
        raise DataUnavailable(
            f"{folder / file} {state} and could not be downloaded ({type(cause).__name__}). Download {url} and put "
            f"it there, or set DCGEV_DATA to the folder that holds it; its sha256 must be {sha256}."
        ) from cause


@lru_cache(maxsize=3)
def data(name: str, seed: int) -> Pencil:
    """A = CᵀC of a data set, prepared so that its dense first component has the paper's share.

    The preparation that gives the paper's share was found by trying: standardised genes for colon, raw values for
    leukemia.
    """
    if name == "colon":
        X = colon()
        return Pencil(Gram((X - X.mean(axis=0)) / X.std(axis=0)))
    if name == "leukemia":
        return Pencil(Gram(leukemia()))
    p, n = {"ramaswamy-shape": (127, 16063), "ramaswamy-small": (20, 60)}[name]
    return Pencil(Gram(planted(p, n, 0.765, seed)))


def planted(p: int, n: int, share: float, seed: int) -> Matrix:
    """A rank-one matrix plus noise: its first component explains about `share` of the variance.

    The loadings are cubed normals: a few large, many small, as in expression data. The noise has variance one, so
    that the rank-one part, of squared norm share/(1 − share)·pn, holds that share of the total on average.
    """
    rng = np.random.default_rng([seed, p, n])
    u, v = rng.standard_normal(p), rng.standard_normal(n) ** 3
    noise = rng.standard_normal((p, n))
    return np.sqrt(share / (1.0 - share) * p * n) * np.outer(u / np.linalg.norm(u), v / np.linalg.norm(v)) + noise


# The experiment


def dense_task(name: str, seed: int) -> dict[str, float]:
    """The share (%) of the dense first component, also for other preparations where the paper is ambiguous."""
    pencils = {"ours": data(name, seed)}
    if name == "leukemia":
        pencils["the 38 training samples that the paper's Table 3 names"] = Pencil(Gram(leukemia()[-38:]))
    if name == "colon":
        X = colon()
        pencils |= {"raw": Pencil(Gram(X)), "centred": Pencil(Gram(X - X.mean(axis=0)))}
    return {what: timing.percent(pencil, pencil.lambda_max) for what, pencil in pencils.items()}


def cardinality_task(name: str, k: int, seed: int, repeats: int) -> dict[str, Any]:
    """Each method at cardinality k ± 2 %."""
    return timing.compared(data(name, seed), k, k // 50, repeats)


def cardinalities(n: int, count: int) -> list[int]:
    """About `count` cardinalities from 1 to n, evenly spread in ratio.

    Examples
    --------
    >>> from dcgev_cvx.reproduction.tables34 import cardinalities
    >>> cardinalities(100, 5)
    [1, 3, 10, 32, 100]
    """
    return [int(k) for k in np.unique(np.round(np.geomspace(1, n, count)))]


def tasks(settings: Settings) -> list[Task]:
    """The dense share of each data set, and one timed task per cardinality."""
    made: list[Task] = []
    for name, n in settings["data"]:
        shared = {"name": name, "seed": settings["seed"]}
        made.append(Task(f"{name}-dense", dense_task, shared))
        for k in cardinalities(n, settings["points"]):
            arguments = {**shared, "k": k, "repeats": settings["repeats"]}
            made.append(Task(f"{name}-{k:05d}", cardinality_task, arguments, timed=True))
    return made


def section(settings: Settings, results: Mapping[str, Any]) -> Section:
    """Table 3's shares, Table 4's times and Figure 4's curves, for the data sets that are available."""
    findings: list[Finding] = []
    panels: list[Panel] = []
    for name, _ in settings["data"]:
        if f"{name}-dense" in results:
            points = [results[key] for key in results if key.startswith(f"{name}-") and key != f"{name}-dense"]
            findings += [share_finding(name, results[f"{name}-dense"]), *variance_findings(name, points)]
            findings += timing.time_findings(f"{name}, Table 4", points, PAPER_NUMBERS[name][1], over_all_k=True)
            curves = {method: curve(points, method) for method in timing.METHODS}
            panels.append(Panel(name, "cardinality", "variance explained (%)", curves, log_x=True))
    figure = Figure("figure4", "Variance against cardinality (Figure 4 of the paper)", panels)
    return Section(
        setup="colon: 62×2000, each gene standardised. leukemia: all 72×7129, raw, uncentred. ramaswamy-shape: "
        "127×16063, planted, not Ramaswamy's data. No single preparation gives both of the paper's shares. k ± 2 %. "
        "Times are means over all cardinalities from 1 to n, as in the paper, interpolated between those measured. "
        f"SPCA has its own loadings, the others are renormalised. {timing.HOW_TIMED}",
        findings=findings,
        figures=[figure] if panels else [],
    )


def curve(points: list[Any], method: str) -> list[tuple[float, float]]:
    """(cardinality, share in %) of one method; SPCA with its own loadings."""
    what = "raw" if method == "SPCA" else "variance"
    return sorted((point[method]["k"], point[method][what]) for point in points)


def share_finding(name: str, shares: Mapping[str, float]) -> Finding:
    """The dense first component against the paper's share, to all printed digits."""
    what, ours, printed = f"{name}: dense first component", shares["ours"], PAPER_NUMBERS[name][0]
    if name not in ("colon", "leukemia"):
        remark = "the matrix of Ramaswamy et al. is not public in this form; a planted one of its shape replaces it"
        return Finding(what, f"{printed} %", f"{ours:.2f} %", Verdict.UNMATCHED, remark)
    how = "after standardising each gene" if name == "colon" else "all 72 samples, raw and uncentred"
    others = ", ".join(f"{other}: {share:.2f} %" for other, share in shares.items() if other != "ours")
    return percent_finding(what, printed, ours, 0.01, f"{how}; {others}", digits=3)


def variance_findings(name: str, points: list[Any]) -> list[Finding]:
    """Variances of DC-PCA against GPower and SPCA at equal cardinality."""
    what = f"{name}, Figure 4: variance of DC-PCA"
    gpower, spca = timing.ratios_to(points, "GPower"), timing.ratios_to(points, "SPCA", "raw")
    to_gpower, to_spca = (f"mean {fmean(r):.4f}, smallest {min(r):.4f}" for r in (gpower, spca))
    similar, more = agreement(fmean(gpower) >= timing.SIMILAR), agreement(fmean(spca) >= 1.0)
    return [
        Finding(f"{what} / GPower", "similar", to_gpower, similar, f"{len(gpower)} cardinalities"),
        Finding(f"{what} / SPCA", "more than SPCA", to_spca, more, "SPCA with its own loadings"),
    ]


DATA: list[list[Any]] = [["colon", 2000], ["leukemia", 7129], ["ramaswamy-shape", 16063]]
EXPERIMENT = Experiment(
    title="Tables 3 and 4, Figure 4: gene expression data",
    tiny={"data": [["ramaswamy-small", 60]], "points": 4, "repeats": 1},
    quick={"data": DATA, "points": 16, "repeats": 5},
    full={"data": DATA, "points": 33, "repeats": 9},
    tasks=tasks,
    section=section,
)
