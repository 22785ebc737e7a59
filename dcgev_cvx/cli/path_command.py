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
from collections.abc import Callable
from typing import Any

import numpy as np

from .._numerics.canvas import new_figure
from .._numerics.checks import Vector, as_whole
from .._numerics.text_tables import count, table
from ..errors import InvalidParameter
from ..pencils import Pencil
from ..programs import MACHINE_EPS
from ..search.fisher import fisher_path, nu_max
from ..search.path import Path, PathPoint, path, point_of
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
    """Compute, draw and show the path; after an interrupt, the points that there are."""
    plot = console.result_file("--plot", args.plot)
    pencil, points = read_problem(args).pencil, list[PathPoint]()
    a = mean_difference(pencil)

    def keep(point: PathPoint) -> None:
        points.append(point)
        console.tell(f"{len(points)}: {'ρ̃' if a is None else 'ν'} = {point.rho:.4g}, {count(point.k, 'nonzero')}")

    stopped = False
    try:
        follow(pencil, a, args, keep)
    except KeyboardInterrupt:
        if not points:
            raise
        stopped = True
    found = Path(pencil, tuple(sorted(points, key=lambda point: -point.rho)), "rho" if a is None else "nu")
    if args.json:
        console.print_json("path", {"points": found.to_rows(), "missing": list(found.missing)}, ended=not stopped)
    else:
        print_path(found)
    if plot is not None:
        from ..plotting import plot_path

        figure = new_figure((7.0, 4.2), layout="constrained")
        plot_path(found, figure.add_subplot())
        console.draw(figure, plot)
    if stopped:
        raise KeyboardInterrupt(f"after {count(len(points), 'point')}")
    return 0


def follow(pencil: Pencil, a: Vector | None, args: argparse.Namespace, keep: Callable[[PathPoint], None]) -> None:
    """The path in ρ̃, or in ν for two classes, each point kept as it is computed."""
    eps = MACHINE_EPS if args.eps is None else args.eps
    if a is not None and args.rho is not None:
        raise InvalidParameter("--rho has no meaning for two classes: the penalty of sparse FDA is ν, give --nu.")
    if a is None and args.nu is not None:
        raise InvalidParameter("--nu is the penalty of FDA for two classes (--task fda): give --rho.")
    values: Any = args.rho if a is None else args.nu
    if values is not None and args.points is not None:
        raise InvalidParameter("--rho or --nu and --points were both given: give the values, or their number.")
    points = None if args.points is None else as_whole(args.points, "--points", high=10_000)
    if a is None:
        path(pencil, values, points=points or 40, eps=eps, callback=keep)
        return
    if points is not None:
        values = (nu_max(a, pencil.B) or 1.0) * np.geomspace(1.0, 1e-4, points)
    fisher_path(a, pencil.B, values, eps=eps, callback=lambda nu, run: keep(point_of(pencil, nu, run)))


def print_path(found: Path) -> None:
    """What the path shows in a sentence, the table, and the cardinalities that were not reached."""
    console.headline(path_sentence(found))
    console.show("")
    pairs = [(p, p.result.status.value.split(":")[0]) for p in found.points]
    rows = [(f"{p.rho:.5g}", str(p.k), f"{p.value:.6g}" if p.k else "-", status) for p, status in pairs]
    console.show(table((found.symbol, "nonzeros", "renormalized value", "status"), rows, words=(3,)))
    if found.missing:
        missing = ", ".join(map(str, found.missing))
        console.show(f"\nno {found.symbol} tried gives k = {missing}; `dcgev solve -k` finds such vectors")


def path_sentence(found: Path) -> str:
    """The range of cardinalities, and the fewest nonzeros that keep 90 % of the dense value."""
    kept = [point for point in found.points if point.k]
    if not kept:
        return f"Every run collapsed: choose smaller values of {found.symbol}."
    fewest, most = min(point.k for point in kept), max(point.k for point in kept)
    counts = f"from {most} down to {fewest}" if fewest < most else str(most)
    words = f"A larger {found.symbol} leaves fewer variables: {counts} of {found.pencil.n}."
    top = found.pencil.lambda_max
    enough = min(
        (point for point in kept if point.value >= 0.9 * top > 0.0), key=lambda p: (p.k, -p.value), default=None
    )
    return words if enough is None else f"{words} {enough.k} keep {enough.value / top:.1%} of the dense value."
