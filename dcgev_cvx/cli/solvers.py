"""`dcgev solvers`: which CVXPY solvers are here, which MM steps each one solves, how to get the others.

Usage:

    dcgev solvers
    dcgev solvers --json

"Can solve" is found out and not looked up: a step of three variables is solved by each solver, and counts if its
KKT residual, recomputed from the data, passes. A dash may mean that the solver does not take second-order cones,
that its answer was wrong, or that it crashed.
"""

from __future__ import annotations

import argparse
import json
from typing import Any


def add(subparsers: Any) -> None:
    """Register the command and its options."""
    parser = subparsers.add_parser(
        "solvers",
        help="the installed CVXPY solvers and the steps each can solve",
        description="The installed CVXPY solvers and the MM steps each can solve, found out by solving a small step "
        "of each kind with each of them.",
    )
    parser.add_argument("--json", action="store_true", help="print JSON and nothing else")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Try every step with every installed solver and print who passed."""
    from ..steps.backend import INSTALL, installed_solvers

    found = {solver: {"version": version(solver), "steps": trial(solver)} for solver in installed_solvers()}
    missing = {solver: f"pip install {package}" for solver, package in INSTALL.items() if solver not in found}
    if args.json:
        print(json.dumps({"command": "solvers", "installed": found, "missing": missing}, indent=2))
    else:
        show(found, missing)
    return 0


def trial(solver: str) -> dict[str, bool]:
    """Which steps the solver answered with a KKT residual that passes, on a small program of each kind.

    SolverFailed is the only failure that counts as "cannot"; anything else would be a bug of ours.
    """
    from ..errors import SolverFailed
    from ..steps.backend import Backend

    backend = Backend(solver)
    passed: dict[str, bool] = {}
    for name, step, program in small_steps():
        try:
            step(backend)(program, program.start())
            passed[name] = True
        except SolverFailed:
            passed[name] = False
    return passed


def small_steps() -> list[tuple[str, Any, Any]]:
    """(name, step, program) of every CVXPY step, with a dense B and three variables.

    All have a dense B and ε = 0.1, so that no form degenerates into the closed one.
    """
    import numpy as np

    from ..pencils import Pencil
    from ..programs import SparseFDA, SparseGEV
    from ..steps import conic as convex

    A = np.array([[2.0, 1.0, 0.0], [1.0, 1.0, 0.5], [0.0, 0.5, 1.5]])
    B = np.array([[1.0, 0.2, 0.0], [0.2, 1.5, 0.1], [0.0, 0.1, 2.0]])
    pencil = Pencil(A, B)
    plain, shifted = SparseGEV(pencil, 0.1, 0.1), SparseGEV(pencil, 0.1, 0.1, tau=0.5)
    metric = SparseGEV(pencil, 0.1, 0.1, tau=0.5, shift="metric")
    fda = SparseFDA(np.array([1.0, 0.5, -0.5]), B, 0.1, 0.1)
    return [
        ("QCQPStep", convex.QCQPStep, shifted),
        ("LassoStep", convex.LassoStep, shifted),
        ("LinearStep", convex.LinearStep, plain),
        ("MetricLassoStep", convex.MetricLassoStep, metric),
        ("FisherStep", convex.FisherStep, fda),
    ]


def version(solver: str) -> str:
    """The version of the package behind a solver, or an empty string.

    Some solvers come inside another package (HiGHS in highspy, ECOS_BB in ecos).
    """
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as installed_version

    from ..steps.backend import INSTALL

    package = (INSTALL | {"HIGHS": "highspy", "ECOS_BB": "ecos"}).get(solver, solver.lower())
    try:
        return installed_version(package)
    except PackageNotFoundError:
        return ""


def show(found: dict[str, dict[str, Any]], missing: dict[str, str]) -> None:
    """Who is here and what each solved, then how to install the others."""
    from . import tables

    columns = ("solver", "version", "QCQP", "Lasso", "Linear", "MetricLasso", "Fisher")
    rows = [
        (solver, entry["version"], *("yes" if passed else "-" for passed in entry["steps"].values()))
        for solver, entry in found.items()
    ]
    tables.show(
        tables.table(columns, rows, words=2),
        "  yes: solved, and the KKT residual recomputed from the data passes.\n"
        "  B = I needs no solver at all: dc_pca takes its steps in closed form.\n",
    )
    if missing:
        tables.show("Not installed:", tables.facts(missing.items()))
