"""The battery of whole runs: Algorithms 1 and 2 over all families of A, B, n, ε, ρ̃ and starts (Section 3.2)."""

from __future__ import annotations

import numpy as np

from ..programs import MACHINE_EPS
from .instances import Instance
from .run_cases import QUICK_RUN, draw_run, first_good
from .special_runs import better_starts, edge_runs, long_runs, slow_runs, small_entries, sparse_starts
from .steps_battery import balanced

RUN_EPSILONS = (30.0, 4.0, 1.0, 0.1, 1e-2, 1e-4, 1e-6, 1e-8, MACHINE_EPS)
RUN_SHARES = (0.0, 0.003, 0.01, 0.03, 0.08)
"""ρ̃ as a share of λmax(A, B)."""
RUN_STARTS = ("eigen", "near", "zeros", "interior", "dense")
PCA_KINDS = ("covariance", "planted", "graded", "rank-one", "exchangeable", "twins", "idle")
PCA_LARGE = (17, 20, 24, 32, 33, 41, 48, 60, 64, 65, 97)
ALGORITHM_KINDS = ("covariance", "indefinite", "pulled-down", "cca", "planted", "graded", "twins", "idle")


def run_battery(level: str, seed: int, count: int) -> list[Instance]:
    """Runs over all families, then slow ones, better starts and collapsing ones.

    The columns of the design are crossed as in the battery of steps. Draws that are no use are redrawn TRIES times
    and then dropped, so that the number of cases varies a little between seeds.
    """
    rng = np.random.default_rng([seed, 4, len(level)])
    pca = level == "pca"
    kinds = PCA_KINDS if pca else ALGORITHM_KINDS
    sizes = (*range(2, 17), *range(2, 17), *PCA_LARGE) if pca else (*range(2, 13), 20)
    metrics = ("identity",) if pca else ("dense", "uneven", "identity", "levels", "cond-1e3", "small")
    columns = (kinds, metrics, sizes, RUN_EPSILONS, RUN_SHARES, RUN_STARTS)
    drawn = zip(*(balanced(rng, column, count) for column in columns), strict=True)
    found = [first_good(lambda row=row: draw_run(level, rng, *row), QUICK_RUN) for row in drawn]
    special = [
        *slow_runs(level, seed, 2 + count // 40),
        *long_runs(level, seed, 2 + count // 60),
        *small_entries(level, seed, 2 + count // 30),
        *better_starts(level, seed, 3 + count // 20 if pca else 2 + count // 30),
        *sparse_starts(level, seed, 2 + count // 60),
    ]
    return [case for case in (*found, *special, *edge_runs(level, seed)) if case is not None]
