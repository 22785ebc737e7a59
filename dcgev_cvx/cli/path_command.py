"""`dcgev path`: cardinality and value for a range of ρ̃ (ν for two-class FDA).

Run Algorithm 1 for a range of ρ̃, from the largest, where one variable or none is left, down to 1e-4 of it, and show
the number of nonzeros and the renormalized value of each run. For two classes (--task fda): sparse FDA for a range of
ν (Section 6). Not every k is on the path; `dcgev solve -k` finds the others.

Usage:

    dcgev path pitprops --plot path.png
    dcgev path pitprops --rho 1,2,4.84,8 --json
    dcgev path samples.csv --task pca --points 80 --out folder
    dcgev path samples.csv --task fda --y kind --ridge 0.01
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .._numerics.output_files import output_file, output_folder, write_file
from .._numerics.text_tables import count, table
from ..errors import InvalidParameter
from . import console

if TYPE_CHECKING:
    from ..pencils import Pencil
    from ..search.path import Path, PathPoint


def add(subparsers: Any) -> None:
    """Register the command and its options."""
    parser = console.add_command(subparsers, "path", run, __doc__)
    console.add_problem(parser)
    grid = parser.add_argument_group("path")
    grid.add_argument("--points", type=int, help="number of ρ̃ or ν, geometric below the largest (default: 40 ρ̃)")
    grid.add_argument("--rho", help="the values of ρ̃, with commas, instead of --points")
    grid.add_argument("--nu", help="the values of ν, with commas, for two-class FDA")
    grid.add_argument("--eps", type=float, help="ε of the approximation ‖x‖_ε (default: machine precision)")
    output = parser.add_argument_group("output")
    console.add_plot(output)
    output.add_argument("--out", metavar="DIR", help="write each point to DIR/path.jsonl as soon as it is computed")
    console.add_json(output)


def run(args: argparse.Namespace) -> int:
    """Compute, keep, draw and show the path; after an interrupt, the points that there are."""
    from .._numerics.canvas import new_figure
    from ..penalties import MACHINE_EPS
    from ..search.path import Path
    from .problem import read_problem

    args.eps = MACHINE_EPS if args.eps is None else args.eps
    plot = console.as_picture(args.plot)
    pencil = read_problem(args)
    a = mean_difference(args, pencil)
    parameter = "rho" if a is None else "nu"
    file = None if args.out is None else output_file("--out", output_folder("--out", args.out) / "path.jsonl")
    values = grid(pencil, a, args)
    total = "" if values is None else f" of {len(values)}"
    points: list[PathPoint] = []

    def keep(point: PathPoint) -> None:
        points.append(point)
        found = Path(pencil, tuple(points), parameter)
        if file is not None:
            rows = (json.dumps(console.finite(row), ensure_ascii=False) for row in found.to_rows())
            write_file(file, "".join(f"{row}\n" for row in rows))
        console.tell(f"{len(points)}{total}: {found.symbol} = {point.rho:.4g}, {count(point.k, 'nonzero')}")

    stopped = None
    try:
        follow(pencil, a, values, args.eps, keep)
    except KeyboardInterrupt:
        if not points:
            raise
        stopped = f"after {len(points)}{total} points{'' if file is None else f', kept in {file}'}"
    found = Path(pencil, tuple(sorted(points, key=lambda point: -point.rho)), parameter)
    if plot is not None:
        from ..plotting import plot_path

        figure = new_figure((7.0, 4.2), layout="constrained")
        plot_path(found, figure.add_subplot())
        console.draw(figure, plot)
    print_path(found, args, ended=stopped is None)
    if stopped is not None:
        raise KeyboardInterrupt(stopped)
    return 0


def mean_difference(args: argparse.Namespace, pencil: Pencil) -> Any:
    """The vector a of A = aaᵀ where there are two classes and ν runs along the path; None where ρ̃ does."""
    from ..pencils import Gram

    two_classes = args.task == "fda" and isinstance(pencil.A, Gram) and len(pencil.A.C) == 1
    if two_classes and args.rho is not None:
        raise InvalidParameter("--rho has no meaning for two classes: the penalty of sparse FDA is ν, give --nu.")
    if not two_classes and args.nu is not None:
        raise InvalidParameter("--nu is the penalty of FDA for two classes (--task fda): give --rho.")
    return pencil.A.C[0] if two_classes and isinstance(pencil.A, Gram) else None


def grid(pencil: Pencil, a: Any, args: argparse.Namespace) -> list[float] | None:
    """The values of the path; None for ν without --points or --nu, which rises until one variable is left."""
    import numpy as np

    from .._numerics.checks import as_number, as_whole
    from ..search.fisher import nu_max
    from ..search.path import MOST_POINTS, rho_max
    from .csv_files import is_number

    name, text = ("rho", args.rho) if a is None else ("nu", args.nu)
    if text is not None and args.points is not None:
        raise InvalidParameter(f"--{name} and --points were both given: give the values, or their number.")
    if text is not None:
        cells = [float(cell) if is_number(cell) else cell for cell in text.split(",")]
        return sorted((as_number(cell, name) for cell in cells), reverse=True)
    if a is not None and args.points is None:
        return None
    points = 40 if args.points is None else as_whole(args.points, "--points", high=MOST_POINTS)
    top = rho_max(pencil, None, args.eps) if a is None else nu_max(a, pencil.B)
    return np.geomspace(top, 1e-4 * top, points).tolist() if top > 0.0 else [0.0]


def follow(pencil: Pencil, a: Any, values: Any, eps: float, keep: Callable[[PathPoint], None]) -> None:
    """The runs of the path, each kept as it ends."""
    from ..search.fisher import fisher_path
    from ..search.path import path_points, point_of

    if a is not None:
        fisher_path(a, pencil.B, values, eps=eps, callback=lambda nu, run: keep(point_of(pencil, nu, run)))
    else:
        for point in path_points(pencil, values, eps=eps):
            keep(point)


def print_path(found: Path, args: argparse.Namespace, *, ended: bool) -> None:
    """The table, or JSON, and the cardinalities between the extremes that were not reached."""
    if args.json:
        content = {"points": found.to_rows(), "missing": list(found.missing)}
        console.print_json("path", content, ended=ended)
        return
    pairs = [(p, p.result.status.value.split(":")[0]) for p in found.points]
    rows = [(f"{p.rho:.5g}", str(p.k), f"{p.value:.6g}" if p.k else "-", status) for p, status in pairs]
    console.show(table((found.symbol, "nonzeros", "renormalized value", "status"), rows, words=(3,)))
    if found.missing and ended:
        missing = ", ".join(map(str, found.missing))
        console.show(f"\nno {found.symbol} tried gives k = {missing}; `dcgev solve -k` finds such vectors")
