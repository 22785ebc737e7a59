"""Figure 1: pit props, variance and cardinality of six components, the trade-off, and the role of ρ̃."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import accumulate
from typing import Any

from .findings import Experiment, Figure, Finding, Panel, Section, agreement
from .pitprops_methods import CARDINALITIES, components_task, curve_task, exact_task, path_task
from .running import Settings, Task


def tasks(settings: Settings) -> list[Task]:
    """Components and the trade-off curve of each method, the exact optima, and DC-PCA along ρ̃."""
    ks, methods = settings["ks"], settings["methods"]
    return [
        *(Task(f"components-{m}", components_task, {"method": m, "ks": list(CARDINALITIES[m])}) for m in methods),
        *(Task(f"curve-{m}", curve_task, {"method": m, "ks": ks}) for m in methods),
        Task("exact", exact_task, {"ks": ks}),
        Task("path", path_task, {"points": settings["points"]}),
    ]


def section(settings: Settings, results: Mapping[str, Any]) -> Section:
    """Four panels and what the paper says of them."""
    figure = Figure("figure1", "Pit props (Figure 1 of the paper)", panels(settings["methods"], results))
    return Section(
        name="figure1",
        title="Figure 1: pit props",
        setup="(a) tr(P_V A)/tr(A) of the first components found with orthogonalized Hotelling deflation, SPCA's six "
        "at once with its authors' penalties; (c) xᵀAx/tr(A) of the first component, SPCA (alone, ridge λmax) and "
        "SCoTLASS with their own loadings, the others renormalised; (d) DC-PCA from the leading eigenvector, "
        "loadings before renormalisation.",
        findings=tuple(findings(settings["methods"], results)),
        figures=(figure,),
    )


def panels(methods: list[str], results: Mapping[str, Any]) -> tuple[Panel, ...]:
    """The four panels of the figure."""
    shares = {m: results[f"components-{m}"]["projector"] for m in methods}
    curves = {m: results[f"curve-{m}"] for m in methods} | {"exact": results["exact"]}
    path = results["path"]
    cumulative = {m: [(j, 100 * v) for j, v in enumerate(share, 1)] for m, share in shares.items()}
    counts = {m: list(enumerate(accumulate(CARDINALITIES[m]), 1)) for m in methods}
    first = {name: [(k, 100 * v) for k, v in curve] for name, curve in curves.items()}
    along = {"cardinality": [(r, k) for r, k, _ in path], "variance (%)": [(r, 100 * v) for r, _, v in path]}
    return (
        Panel("(a) cumulative variance", "components", "variance explained (%)", cumulative),
        Panel("(b) cumulative cardinality", "components", "nonzero loadings", counts),
        Panel("(c) first component", "cardinality", "variance explained (%)", first),
        Panel("(d) DC-PCA along ρ̃", "ρ̃", "cardinality; variance (%)", along),
    )


def findings(methods: list[str], results: Mapping[str, Any]) -> list[Finding]:
    """The claims of Figure 1, checked at every cardinality."""
    ours, exact = dict(map(tuple, results["curve-DC-PCA"])), dict(map(tuple, results["exact"]))
    missed = [k for k in ours if ours[k] < exact[k] * (1.0 - 1e-6)]
    made = [
        Finding(
            "Figure 1c: DC-PCA at its best support",
            "similar to GSPCA",
            f"the exact optimum at {len(ours) - len(missed)} of {len(ours)} cardinalities",
            agreement(all(ours[k] >= 0.99 * exact[k] for k in ours)),
            f"not at k = {missed}" if missed else "every support is the proved optimum",
        )
    ]
    if "SPCA" in methods:
        spca = dict(map(tuple, results["curve-SPCA"]))
        worst = min(ours[k] / spca[k] for k in ours)
        what = "Figure 1c: DC-PCA explains more than SPCA"
        verdict = agreement(worst >= 1.0 - 1e-9)
        made.append(Finding(what, "at every cardinality", f"smallest ratio {worst:.4f}", verdict))
    made += [cumulative_finding(rival, results) for rival in ("SPCA", "DSPCA") if rival in methods]
    reached = {int(k) for _, k, _ in results["path"] if k > 0}
    jumped = [k for k in range(1, 13) if k not in reached]
    path_finding = Finding(
        "Figure 1d: cardinalities along ρ̃",
        "ρ̃ is chosen for the desired sparsity",
        f"{len(reached)} of 13 reached on {len(results['path'])} values of ρ̃",
        agreement(len(jumped) <= 6),
        f"not reached on this grid of ρ̃: k = {jumped}" if jumped else "",
    )
    return [*made, path_finding]


def cumulative_finding(rival: str, results: Mapping[str, Any]) -> Finding:
    """Six components of DC-PCA against a rival's by one measure; the paper compares numbers of two measures."""
    ours, theirs = (100 * results[f"components-{m}"]["projector"][-1] for m in ("DC-PCA", rival))
    renormalised = "are renormalised, as DC-PCA's are; the printed ones explain 75.5 %"
    loadings = "are its own" if rival == "SPCA" else renormalised
    return Finding(
        f"Figure 1a-b: DC-PCA explains more with fewer loadings than {rival}",
        "more variance, fewer loadings",
        f"{ours:.2f} % with {sum(CARDINALITIES['DC-PCA'])}, {rival} {theirs:.2f} % with {sum(CARDINALITIES[rival])}",
        agreement(ours > theirs),
        f"both by tr(P_V A)/tr(A); {rival}'s loadings {loadings}",
    )


EXPERIMENT = Experiment(
    "figure1",
    {
        "tiny": {"methods": ["GPower", "DC-PCA"], "ks": [2, 6], "points": 20},
        "quick": {"methods": list(CARDINALITIES), "ks": list(range(1, 14)), "points": 100},
        "full": {"methods": list(CARDINALITIES), "ks": list(range(1, 14)), "points": 400},
    },
    tasks,
    section,
)
