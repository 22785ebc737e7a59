"""Why DC-PCA takes longer than GPower (Tables 2 and 4): start, stopping rule, products with A, steps and records."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from statistics import median

import numpy as np
from findings import Table
from timed_runs import METHODS, STOP, cpu_seconds, searched, start

from dcgev_cvx import Pencil, SparseGEV, dc_pca
from dcgev_cvx.steps.closed import soft_threshold

COLUMNS = {
    "k": "k",
    "GPower": "GPower ms",
    "GPower steps": "steps",
    "DC-PCA": "DC-PCA ms",
    "DC-PCA steps": "steps",
    "shrinking": "of these until the support is final",
    "leading": "steps from the leading eigenvector",
    "at 1e-3": "steps when stopped at 1e-3",
    "start": "start ms",
    "products": "products with A ms",
    "updates": "updates alone ms",
}


def explained(pencil: Pencil, k: int) -> dict:
    """Times (ms) and steps of GPower and DC-PCA at k nonzeros, and of DC-PCA with one thing changed at a time."""
    found: dict = {"k": k}
    for name in ("GPower", "DC-PCA"):
        run, at = searched(name, pencil, k, max(1, k // 50))
        found |= {name: milliseconds(partial(METHODS[name], pencil, at)), f"{name} steps": run.steps}
    C, x, iterates = pencil.A.C, start(pencil.A.C), list[np.ndarray]()
    options = {"rho": at, "x0": x, "engine": "native", "accelerate": False, "stop": STOP}
    dc_pca(pencil, callback=lambda iterate: iterates.append(iterate.x), **options)
    sizes, program = [int(np.count_nonzero(y)) for y in iterates], SparseGEV(pencil, at)
    return found | {
        "shrinking": sum(size != sizes[-1] for size in sizes),
        "leading": dc_pca(pencil, **(options | {"x0": None})).n_iter,
        "at 1e-3": dc_pca(pencil, **(options | {"stop": replace(STOP, decrease=1e-3)})).n_iter,
        "start": milliseconds(lambda: start(C)),
        "products": milliseconds(lambda: [program.linear(y) for y in iterates[:-1]]),
        "updates": milliseconds(lambda: updated(program, x, found["DC-PCA steps"])),
    }


def updated(program: SparseGEV, x: np.ndarray, steps: int) -> np.ndarray:
    """So many updates of (ALG-S) and nothing else: no f, g, multiplier, residual, record or certificate."""
    for _ in range(steps):
        z = soft_threshold(program.linear(x), 0.5 * program.slopes(x))
        x = z / np.linalg.norm(z)
    return x


def milliseconds(call: Callable[[], object], repeats: int = 5) -> float:
    """The median CPU time of a call, after an untimed one."""
    call()
    return 1e3 * median(cpu_seconds(call) for _ in range(repeats))


def why_table(causes: dict[str, list[dict]]) -> Table:
    """One row per data set and k."""

    def text(entry: float) -> str:
        return str(entry) if isinstance(entry, int) else f"{entry:.2f}"

    rows = [(name, *(text(cause[key]) for key in COLUMNS)) for name, some in causes.items() for cause in some]
    return Table(
        "Where the time of DC-PCA goes: steps, and milliseconds of CPU time", ("data", *COLUMNS.values()), rows
    )


def why_text(causes: dict[str, list[dict]]) -> str:
    """What the table says, from its numbers."""
    every = [cause for some in causes.values() for cause in some]

    def over(part: str, whole: str, percent: bool = False) -> str:
        ratios = [(100 if percent else 1) * cause[part] / cause[whole] for cause in every]
        low, high = (f"{ratio:.0f}" if ratio >= 10.0 else f"{ratio:.2g}" for ratio in (min(ratios), max(ratios)))
        return f"{low}–{high}{' %' if percent else ''}"

    return (
        f"DC-PCA takes {over('DC-PCA', 'GPower')} times as long as GPower in the table below, and this is why. Start: "
        f"it takes {over('start', 'DC-PCA', True)} of the time, and from the leading eigenvector DC-PCA needs "
        f"{over('leading', 'DC-PCA steps')} times as many steps. Stopping rule: stopped at 1e-3 it needs "
        f"{over('at 1e-3', 'DC-PCA steps')} times as many. Products with A: {over('products', 'DC-PCA', True)} of the "
        f"time, one in a step as in GPower's. Steps: {over('DC-PCA steps', 'GPower steps')} times as many as GPower; "
        "at machine precision ε variables leave the support a few at a time: it is final only after "
        f"{over('shrinking', 'DC-PCA steps', True)} of the steps. Records: dc_pca also computes f, g, the multiplier "
        "and the KKT residual of each step and a certificate, which GPower's function does not; the updates alone take "
        f"{over('updates', 'DC-PCA', True)} of its time, and {over('updates', 'GPower')} times GPower's."
    )
