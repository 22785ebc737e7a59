"""`dcgev solvers`: the installed CVXPY solvers and the steps each can solve.

Every solver solves a step of three variables of each kind, and passes if the KKT residual, recomputed from the data,
is small. A dash means that it does not support the cones, that its answer was wrong, or that it failed.

Usage:

    dcgev solvers
    dcgev solvers --json
"""

import argparse
from typing import Any

from .._numerics.text_tables import facts, table
from .console import add_command, add_json, print_json, show


def add(subparsers: Any) -> None:
    """Register the command and its options."""
    parser = add_command(subparsers, "solvers", run, __doc__)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Try every step with every installed solver and print which passed."""
    from ..steps.backend import INSTALL, installed_solvers

    found = {name: solved(name) for name in installed_solvers()}
    missing = {solver: f"pip install {package}" for solver, package in INSTALL.items() if solver not in found}
    if args.json:
        print_json("solvers", {"installed": found, "missing": missing})
        return 0
    rows = [(name, *("yes" if passed else "-" for passed in steps.values())) for name, steps in found.items()]
    show(
        table(("solver", "QCQP", "Lasso", "Linear", "MetricLasso", "Fisher"), rows),
        "\n  yes: solved, and the KKT residual recomputed from the data is small.\n"
        "  B = I needs no solver: dc_pca takes its steps in closed form.",
    )
    if missing:
        show("\nNot installed:", facts(missing.items()))
    return 0


def solved(solver: str) -> dict[str, bool]:
    """Which steps the solver solves, on a small program of each kind."""
    from ..errors import SolverFailed
    from ..steps.backend import Backend

    passed: dict[str, bool] = {}
    for step, program in small_steps():
        try:
            step(Backend(solver))(program, program.start())
            passed[step.__name__] = True
        except SolverFailed:
            passed[step.__name__] = False
    return passed


def small_steps() -> list[tuple[Any, Any]]:
    """Every CVXPY step with a program of three variables, a dense B and ε = 0.1."""
    import numpy as np

    from ..pencils import Pencil
    from ..programs import SparseFDA, SparseGEV
    from ..steps.conic import FisherStep, LassoStep, LinearStep, MetricLassoStep, QCQPStep

    A = np.array([[2.0, 1.0, 0.0], [1.0, 1.0, 0.5], [0.0, 0.5, 1.5]])
    B = np.array([[1.0, 0.2, 0.0], [0.2, 1.5, 0.1], [0.0, 0.1, 2.0]])
    pencil = Pencil(A, B)
    shifted = SparseGEV(pencil, 0.1, 0.1, tau=0.5)
    return [
        (QCQPStep, shifted),
        (LassoStep, shifted),
        (LinearStep, SparseGEV(pencil, 0.1, 0.1)),
        (MetricLassoStep, SparseGEV(pencil, 0.1, 0.1, tau=0.5, shift="metric")),
        (FisherStep, SparseFDA(np.array([1.0, 0.5, -0.5]), B, 0.1, 0.1)),
    ]
