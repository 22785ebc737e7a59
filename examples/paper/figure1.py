"""Figure 1: pit props, variance and cardinality of six components, the trade-off, and the role of ρ̃.

Reproduced: panels a–d and what the text says of them. Different: the paper compares variances of two measures in
panel a, here all are tr(P_V A)/tr(A). Panel c has the proved optimum beside the methods. SPCA in panel c is alone,
with ridge λmax.
"""

from itertools import accumulate

import numpy as np
from findings import Figure, Finding, Panel, Section, Work, agreement
from table1 import CARDINALITIES, PROJECTOR, component_cells

from dcgev_cvx import datasets, dc_pca, rho_max
from dcgev_cvx.comparison import Cell

TITLE = "Figure 1: pit props"
SETTINGS = {
    "tiny": {"ks": [2, 6], "points": 20},
    "quick": {"ks": list(range(1, 14)), "points": 100},
    "full": {"ks": list(range(1, 14)), "points": 400},
}
METHODS = {
    "scotlass": "SCoTLASS",
    "spca": "SPCA",
    "dspca": "DSPCA",
    "gspca": "GSPCA",
    "gpower": "GPower",
    "dc-trimmed": "DC-PCA",
    "exact": "exact",
}
SETUP = (
    "(a) tr(P_V A)/tr(A) of the first components found with orthogonalized Hotelling deflation, SPCA's six at once "
    "with its authors' penalties. (c) xᵀAx/tr(A) of the first component, SPCA (alone, ridge λmax) and SCoTLASS with "
    "their own loadings, the others renormalised. (d) DC-PCA from the leading eigenvector, loadings before "
    "renormalisation."
)


def along_rho(points: int) -> list[list[float]]:
    """(ρ̃, cardinality, variance in %) of DC-PCA from the leading eigenvector on a linear grid (Figure 1d)."""
    pencil = datasets.pitprops()
    found = [dc_pca(pencil, rho=float(rho)) for rho in np.linspace(0.0, rho_max(pencil), points + 1)[:-1]]
    return [[run.program.rho, len(run.support), 100.0 * pencil.A_quad(run.x) / pencil.n] for run in found]


def section(settings: dict, work: Work) -> Section:
    """Four panels and what the paper says of them."""
    components = work.cells(component_cells(), "components")
    path = work.cells([Cell(f"path-{settings['points']}", along_rho, {"points": settings["points"]})], "figure1")
    curves = work.study({"pit props": datasets.pitprops()}, settings["ks"], list(METHODS), "figure1c")
    first: dict[str, dict[int, float]] = {name: {} for name in METHODS.values()}
    for row in curves.rows:
        if row["method"] in METHODS and row["value"] is not None:
            first[METHODS[row["method"]]][row["k"]] = 100.0 * row["value"] / 13.0
    (rows,) = path.values()
    cumulative = {m: list(enumerate((100.0 * v for v in components[m][PROJECTOR]), 1)) for m in CARDINALITIES}
    counts = {m: list(enumerate(accumulate(ks), 1)) for m, ks in CARDINALITIES.items()}
    along = {"cardinality": [(r, k) for r, k, _ in rows], "variance (%)": [(r, v) for r, _, v in rows]}
    panels = (
        Panel("(a) cumulative variance", "components", "variance explained (%)", cumulative),
        Panel("(b) cumulative cardinality", "components", "nonzero loadings", counts),
        Panel("(c) first component", "cardinality", "variance (%)", {m: list(c.items()) for m, c in first.items()}),
        Panel("(d) DC-PCA along ρ̃", "ρ̃", "cardinality; variance (%)", along),
    )
    six = {m: points[-1][1] for m, points in cumulative.items()}
    findings = [*first_findings(first), *(cumulative_finding(rival, six) for rival in ("SPCA", "DSPCA"))]
    figure = Figure("figure1", "Pit props (Figure 1 of the paper)", panels)
    return Section(SETUP, findings=[*findings, path_finding([int(k) for _, k, _ in rows])], figures=[figure])


def first_findings(curves: dict[str, dict[int, float]]) -> list[Finding]:
    """DC-PCA against the proved optimum and against SPCA at every cardinality."""
    ours, exact = curves["DC-PCA"], curves["exact"]
    missed = [k for k in ours if ours[k] < exact[k] * (1.0 - 1e-6)]
    worst = min(ours[k] / curves["SPCA"][k] for k in ours)
    reached = f"the exact optimum at {len(ours) - len(missed)} of {len(ours)} cardinalities"
    close, remark = all(ours[k] >= 0.99 * exact[k] for k in ours), f"not at k = {missed}" if missed else ""
    what, claim = "Figure 1c: DC-PCA explains more than SPCA", "at every cardinality"
    return [
        Finding("Figure 1c: DC-PCA at its best support", "similar to GSPCA", reached, agreement(close), remark),
        Finding(what, claim, f"smallest ratio {worst:.4f}", agreement(worst >= 1.0 - 1e-9)),
    ]


def cumulative_finding(rival: str, shares: dict[str, float]) -> Finding:
    """Six components of DC-PCA against a rival's by one measure; the paper compares numbers of two measures."""
    ours, theirs = shares["DC-PCA"], shares[rival]
    loadings = "are its own" if rival == "SPCA" else "are renormalised, as DC-PCA's; the printed explain 75.5 %"
    return Finding(
        f"Figure 1a-b: DC-PCA explains more with fewer loadings than {rival}",
        "more variance, fewer loadings",
        f"{ours:.2f} % with {sum(CARDINALITIES['DC-PCA'])}, {rival} {theirs:.2f} % with {sum(CARDINALITIES[rival])}",
        agreement(ours > theirs),
        f"both by tr(P_V A)/tr(A); {rival}'s loadings {loadings}",
    )


def path_finding(found: list[int]) -> Finding:
    """Which cardinalities DC-PCA has along ρ̃."""
    jumped = [k for k in range(1, 13) if k not in found]
    reached = f"{13 - len(jumped)} of 13 reached on {len(found)} values of ρ̃"
    remark = f"not reached on this grid of ρ̃: k = {jumped}" if jumped else ""
    what, claim = "Figure 1d: cardinalities along ρ̃", "ρ̃ is chosen for the desired sparsity"
    return Finding(what, claim, reached, agreement(len(jumped) <= 6), remark)
