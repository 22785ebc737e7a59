"""Figure 1: pit props, variance and cardinality of six components, the trade-off, and the role of ρ̃."""

from collections.abc import Mapping
from itertools import accumulate
from typing import Any

import numpy as np

from .. import datasets
from ..algorithms import dc_pca
from ..exact import best_subset
from ..search.path import rho_max
from .report import Experiment, Figure, Finding, Panel, Section, agreement
from .running import Settings, Task
from .table1 import CARDINALITIES, PROJECTOR, component_by, components_task


def curve_task(method: str, ks: list[int]) -> list[list[float]]:
    """(k, xᵀAx/tr A) of the first component for each cardinality; tr A = n for a correlation matrix."""
    pencil = datasets.pitprops()
    if method == "exact":
        return [[k, best_subset(pencil, k).value / pencil.n] for k in ks]
    return [[k, pencil.A_quad(component_by(method, pencil, k)) / pencil.n] for k in ks]


def path_task(points: int) -> list[list[float]]:
    """(ρ̃, cardinality, xᵀAx/tr A) of DC-PCA from the leading eigenvector on a linear grid of ρ̃ (Figure 1d)."""
    pencil = datasets.pitprops()
    rows: list[list[float]] = []
    for rho in np.linspace(0.0, rho_max(pencil), points + 1)[:-1]:
        x = dc_pca(pencil, rho=float(rho)).x
        rows.append([float(rho), int(np.count_nonzero(x)), pencil.A_quad(x) / pencil.n])
    return rows


def tasks(settings: Settings) -> list[Task]:
    """Components and the trade-off curve of each method, the exact optima, and DC-PCA along ρ̃."""
    return [
        *(Task(f"components-{m}", components_task, {"method": m}) for m in CARDINALITIES),
        *(Task(f"curve-{m}", curve_task, {"method": m, "ks": settings["ks"]}) for m in (*CARDINALITIES, "exact")),
        Task("path", path_task, {"points": settings["points"]}),
    ]


def section(_: Settings, results: Mapping[str, Any]) -> Section:
    """Four panels and what the paper says of them."""
    path = results["path"]
    cumulative = {m: share_points(enumerate(results[f"components-{m}"][PROJECTOR], 1)) for m in CARDINALITIES}
    counts = {m: list(enumerate(accumulate(ks), 1)) for m, ks in CARDINALITIES.items()}
    first = {m: share_points(results[f"curve-{m}"]) for m in (*CARDINALITIES, "exact")}
    along = {"cardinality": [(r, k) for r, k, _ in path], "variance (%)": share_points((r, v) for r, _, v in path)}
    panels = (
        Panel("(a) cumulative variance", "components", "variance explained (%)", cumulative),
        Panel("(b) cumulative cardinality", "components", "nonzero loadings", counts),
        Panel("(c) first component", "cardinality", "variance explained (%)", first),
        Panel("(d) DC-PCA along ρ̃", "ρ̃", "cardinality; variance (%)", along),
    )
    six = {m: points[-1][1] for m, points in cumulative.items()}
    return Section(
        setup="(a) tr(P_V A)/tr(A) of the first components found with orthogonalized Hotelling deflation, SPCA's six "
        "at once with its authors' penalties. (c) xᵀAx/tr(A) of the first component, SPCA (alone, ridge λmax) and "
        "SCoTLASS with their own loadings, the others renormalised. (d) DC-PCA from the leading eigenvector, "
        "loadings before renormalisation.",
        findings=[
            *first_component_findings({m: dict(points) for m, points in first.items()}),
            *(cumulative_finding(rival, six) for rival in ("SPCA", "DSPCA")),
            path_finding([int(k) for _, k, _ in path]),
        ],
        figures=[Figure("figure1", "Pit props (Figure 1 of the paper)", panels)],
    )


def share_points(points: Any) -> list[tuple[float, float]]:
    """Points with their second number in per cent."""
    return [(x, 100.0 * share) for x, share in points]


def first_component_findings(curves: Mapping[str, Mapping[float, float]]) -> list[Finding]:
    """DC-PCA against the proved optimum and against SPCA at every cardinality."""
    ours, exact = curves["DC-PCA"], curves["exact"]
    missed = [k for k in ours if ours[k] < exact[k] * (1.0 - 1e-6)]
    worst = min(ours[k] / curves["SPCA"][k] for k in ours)
    return [
        Finding(
            "Figure 1c: DC-PCA at its best support",
            "similar to GSPCA",
            f"the exact optimum at {len(ours) - len(missed)} of {len(ours)} cardinalities",
            agreement(all(ours[k] >= 0.99 * exact[k] for k in ours)),
            f"not at k = {missed}" if missed else "every support is the proved optimum",
        ),
        Finding(
            "Figure 1c: DC-PCA explains more than SPCA",
            "at every cardinality",
            f"smallest ratio {worst:.4f}",
            agreement(worst >= 1.0 - 1e-9),
        ),
    ]


def cumulative_finding(rival: str, shares: Mapping[str, float]) -> Finding:
    """Six components of DC-PCA against a rival's by one measure; the paper compares numbers of two measures."""
    ours, theirs = shares["DC-PCA"], shares[rival]
    renormalised = "are renormalised, as DC-PCA's are; the printed ones explain 75.5 %"
    loadings = "are its own" if rival == "SPCA" else renormalised
    return Finding(
        f"Figure 1a-b: DC-PCA explains more with fewer loadings than {rival}",
        "more variance, fewer loadings",
        f"{ours:.2f} % with {sum(CARDINALITIES['DC-PCA'])}, {rival} {theirs:.2f} % with {sum(CARDINALITIES[rival])}",
        agreement(ours > theirs),
        f"both by tr(P_V A)/tr(A); {rival}'s loadings {loadings}",
    )


def path_finding(cardinalities: list[int]) -> Finding:
    """Which cardinalities DC-PCA has along ρ̃."""
    jumped = [k for k in range(1, 13) if k not in cardinalities]
    return Finding(
        "Figure 1d: cardinalities along ρ̃",
        "ρ̃ is chosen for the desired sparsity",
        f"{13 - len(jumped)} of 13 reached on {len(cardinalities)} values of ρ̃",
        agreement(len(jumped) <= 6),
        f"not reached on this grid of ρ̃: k = {jumped}" if jumped else "",
    )


EXPERIMENT = Experiment(
    title="Figure 1: pit props",
    tiny={"ks": [2, 6], "points": 20},
    quick={"ks": list(range(1, 14)), "points": 100},
    full={"ks": list(range(1, 14)), "points": 400},
    tasks=tasks,
    section=section,
)
