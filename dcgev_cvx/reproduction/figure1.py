"""Figure 1: pit props, variance and cardinality along six components, the trade-off, and the role of ρ̃."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import accumulate
from typing import Any

from .base import Experiment, Figure, Finding, Panel, Section, agreement
from .cells import Cell, Settings
from .pitprops import PATTERNS, components_cell, curve_cell, exact_cell, sweep_cell


def cells(settings: Settings) -> list[Cell]:
    """Components and the trade-off curve of each method, the exact optima, and the sweep of ρ̃."""
    ks, methods = settings["ks"], settings["methods"]
    return [
        *(Cell(f"components-{m}", components_cell, {"method": m, "ks": list(PATTERNS[m])}) for m in methods),
        *(Cell(f"curve-{m}", curve_cell, {"method": m, "ks": ks}) for m in methods),
        Cell("exact", exact_cell, {"ks": ks}),
        Cell("sweep", sweep_cell, {"points": settings["points"]}),
    ]


def section(settings: Settings, results: Mapping[str, Any]) -> Section:
    """Four panels and what the paper says of them."""
    methods = settings["methods"]
    panels = (
        cumulative(methods, results),
        Panel(
            "(b) cumulative cardinality",
            "components",
            "nonzero loadings",
            {m: list(enumerate(accumulate(PATTERNS[m]), 1)) for m in methods},
        ),
        Panel(
            "(c) first component",
            "cardinality",
            "variance explained (%)",
            {m: [(k, 100 * v) for k, v in results[f"curve-{m}"]] for m in methods}
            | {"exact": [(k, 100 * v) for k, v in results["exact"]]},
        ),
        Panel(
            "(d) DC-PCA along ρ̃",
            "ρ̃",
            "cardinality; variance (%)",
            {
                "cardinality": [(rho, k) for rho, k, _ in results["sweep"]],
                "variance (%)": [(rho, 100 * v) for rho, _, v in results["sweep"]],
            },
        ),
    )
    return Section(
        name="figure1",
        title="Figure 1: pit props",
        setup="(a) tr(P_V A)/tr(A) of the first components found with orthogonalized Hotelling deflation, SPCA's six "
        "at once with its authors' penalties; (c) xᵀAx/tr(A) of the first component, SPCA (alone, ridge λmax) and "
        "SCoTLASS with their own loadings, the others renormalised; (d) DC-PCA from the leading eigenvector, "
        "loadings as the iteration leaves them.",
        findings=tuple(findings(settings, results)),
        figures=(Figure("figure1", "Pit props (Figure 1 of the paper)", panels),),
    )


def cumulative(methods: list[str], results: Mapping[str, Any]) -> Panel:
    """Figure 1a."""
    curves = {m: [(j, 100 * v) for j, v in enumerate(results[f"components-{m}"]["projector"], 1)] for m in methods}
    return Panel("(a) cumulative variance", "components", "variance explained (%)", curves)


def findings(settings: Settings, results: Mapping[str, Any]) -> list[Finding]:
    """What Figure 1 claims, checked at every cardinality."""
    ours = dict(map(tuple, results["curve-DC-PCA"]))
    exact = dict(map(tuple, results["exact"]))
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
    if "SPCA" in settings["methods"]:
        spca = dict(map(tuple, results["curve-SPCA"]))
        worst = min(ours[k] / spca[k] for k in ours)
        made.append(
            Finding(
                "Figure 1c: DC-PCA explains more than SPCA",
                "at every cardinality",
                f"smallest ratio {worst:.4f}",
                agreement(worst >= 1.0 - 1e-9),
            )
        )
    made += [cumulative_finding(rival, results) for rival in ("SPCA", "DSPCA") if f"components-{rival}" in results]
    reached = {int(k) for _, k, _ in results["sweep"] if k > 0}
    jumped = [k for k in range(1, 13) if k not in reached]
    made.append(
        Finding(
            "Figure 1d: cardinalities along ρ̃",
            "ρ̃ is chosen for the desired sparsity",
            f"{len(reached)} of 13 reached on {len(results['sweep'])} values of ρ̃",
            agreement(len(jumped) <= 6),
            f"not met on this grid of ρ̃: k = {jumped}" if jumped else "",
        )
    )
    return made


def cumulative_finding(rival: str, results: Mapping[str, Any]) -> Finding:
    """Six components of DC-PCA against a rival's, by one measure: the paper compares numbers of two."""
    ours, theirs = (100 * results[f"components-{m}"]["projector"][-1] for m in ("DC-PCA", rival))
    own = (
        "loadings are its own"
        if rival == "SPCA"
        else "are renormalised, as DC-PCA's; as printed, they explain 75.5 %"
    )
    return Finding(
        f"Figure 1a-b: DC-PCA explains more with fewer loadings than {rival}",
        "more variance, fewer loadings",
        f"{ours:.2f} % with {sum(PATTERNS['DC-PCA'])}, {rival} {theirs:.2f} % with {sum(PATTERNS[rival])}",
        agreement(ours > theirs),
        f"both by tr(P_V A)/tr(A); {rival}'s {own}",
    )


METHODS = list(PATTERNS)
EXPERIMENT = Experiment(
    "figure1",
    "Figure 1 (pit props)",
    {
        "tiny": {"methods": ["GPower", "DC-PCA"], "ks": [2, 6], "points": 20},
        "quick": {"methods": METHODS, "ks": list(range(1, 14)), "points": 100},
        "full": {"methods": METHODS, "ks": list(range(1, 14)), "points": 400},
    },
    cells,
    section,
)
