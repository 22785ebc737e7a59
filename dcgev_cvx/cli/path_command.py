"""`dcgev path`: cardinality and value for a range of ρ̃ (ν for two-class FDA).

Run Algorithm 1 for a range of ρ̃, from the largest, where one variable or none is left, down to 1e-4 of it, and show
the number of nonzeros and the renormalized value of each run. For two classes (--task fda): sparse FDA for a range of
ν (Section 6). Not every k is on the path; `dcgev solve -k` finds the others.

Usage:

    dcgev path pitprops --plot path.png
    dcgev path pitprops --rho 1,2,4.84,8 --json
    dcgev path samples.csv --task pca --points 80
    dcgev path samples.csv --task fda --y kind --ridge 0.01
"""

import argparse
from typing import Any

import numpy as np

from .._numerics.canvas import new_figure
from .._numerics.checks import as_whole
from .._numerics.text_tables import table
from ..errors import InvalidParameter
from ..penalties import MACHINE_EPS
from ..pencils import Pencil
from ..search.fisher import fisher_path, nu_max
from ..search.path import MOST_POINTS, Path, path, point_of
from . import console
from .problem import mean_difference, read_problem


def add(subparsers: Any) -> None:
    """Register the command and its options."""
    parser = console.add_command(subparsers, "path", run, __doc__)
    console.add_problem(parser)
    grid = parser.add_argument_group("path")
    grid.add_argument("--points", type=int, help="number of ρ̃ or ν, geometric below the largest (default: 40 ρ̃)")
    grid.add_argument("--rho", type=console.numbers, help="the values of ρ̃, with commas, instead of --points")
    grid.add_argument("--nu", type=console.numbers, help="the values of ν, with commas, for two-class FDA")
    grid.add_argument("--eps", type=float, help="ε of the approximation ‖x‖_ε (default: machine precision)")
    console.add_plot(parser)
    console.add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Compute, draw and show the path."""
    plot = console.as_picture(args.plot)
    found = follow(read_problem(args), args)
    if plot is not None:
        from ..plotting import plot_path

        figure = new_figure((7.0, 4.2), layout="constrained")
        plot_path(found, figure.add_subplot())
        console.draw(figure, plot)
    if args.json:
        console.print_json("path", {"points": found.to_rows(), "missing": list(found.missing)})
    else:
        print_path(found)
    return 0


def follow(pencil: Pencil, args: argparse.Namespace) -> Path:
    """The path in ρ̃, or in ν for two classes, from the largest value to the smallest."""
    eps = MACHINE_EPS if args.eps is None else args.eps
    a = mean_difference(pencil)
    if a is not None and args.rho is not None:
        raise InvalidParameter("--rho has no meaning for two classes: the penalty of sparse FDA is ν, give --nu.")
    if a is None and args.nu is not None:
        raise InvalidParameter("--nu is the penalty of FDA for two classes (--task fda): give --rho.")
    values: Any = args.rho if a is None else args.nu
    if values is not None and args.points is not None:
        raise InvalidParameter("--rho or --nu and --points were both given: give the values, or their number.")
    points = None if args.points is None else as_whole(args.points, "--points", high=MOST_POINTS)
    console.tell("running Algorithm 1 for each ρ̃ …" if a is None else "running sparse FDA for each ν …")
    if a is None:
        return path(pencil, values, points=points or 40, eps=eps)
    if points is not None:
        values = (nu_max(a, pencil.B) or 1.0) * np.geomspace(1.0, 1e-4, points)
    found = fisher_path(a, pencil.B, values, eps=eps)
    made = [point_of(pencil, nu, run) for nu, run in zip(found.nus, found.runs, strict=True)]
    return Path(pencil, tuple(reversed(made)), "nu")


def print_path(found: Path) -> None:
    """The table, and the cardinalities between the extremes that were not reached."""
    pairs = [(p, p.result.status.value.split(":")[0]) for p in found.points]
    rows = [(f"{p.rho:.5g}", str(p.k), f"{p.value:.6g}" if p.k else "-", status) for p, status in pairs]
    console.show(table((found.symbol, "nonzeros", "renormalized value", "status"), rows, words=(3,)))
    if found.missing:
        missing = ", ".join(map(str, found.missing))
        console.show(f"\nno {found.symbol} tried gives k = {missing}; `dcgev solve -k` finds such vectors")
