"""`dcgev path`: cardinality and value along the ρ̃ path, kept point by point, drawn on request.

Usage:

    dcgev path pitprops --plot path.png
    dcgev path pitprops --rho 1,2,4.84,8 --json
    dcgev path x.csv --task pca --points 80 --out folder

ρ̃ runs from the largest, where one variable or none is left, to 1e-4 of it in geometric steps. With --out each
point is appended to path.jsonl as soon as it is there, so that an interrupt loses nothing. Cardinalities that no ρ̃
gave are named at the end: not every k lies on the path, and `dcgev solve -k` finds those.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path as File
from typing import TYPE_CHECKING, Any

from . import tasks

if TYPE_CHECKING:
    from ..paths import Path


def add(subparsers: Any) -> None:
    """Register the command and its options."""
    from .solve import add_problem

    parser = subparsers.add_parser(
        "path",
        help="cardinality and value for a range of ρ̃",
        description="Algorithm 1 for a range of ρ̃, from sparse to dense: which cardinalities it reaches, and what "
        "they are worth.",
        epilog="Example: dcgev path pitprops --plot path.png",
    )
    add_problem(parser)
    tasks.add_task(parser)
    grid = parser.add_argument_group("path")
    grid.add_argument("--points", type=int, default=40, help="number of ρ̃, geometric below rho_max (default: 40)")
    grid.add_argument("--rho", help="the ρ̃ themselves, with commas, instead of --points")
    grid.add_argument("--eps", type=float, help="ε of the approximation ‖x‖_ε (default: machine precision)")
    output = parser.add_argument_group("output")
    output.add_argument("--plot", metavar="FILE", help="draw the path to .png, .pdf or .svg")
    output.add_argument("--out", metavar="DIR", help="keep every point in DIR as soon as it is computed")
    output.add_argument("--json", action="store_true", help="print JSON and nothing else")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Compute point by point; what is there at an interrupt has been written.

    Points are shown at the end and written at once; an interrupt leaves path.jsonl with what was done.
    """
    from ..paths import Path, path_points
    from ..penalties import MACHINE_EPS
    from .cardinality import made_folder, progress
    from .solve import finite

    check_plot(args.plot)
    pencil = tasks.problem(args)
    folder = None if args.out is None else made_folder(args.out)
    eps = MACHINE_EPS if args.eps is None else args.eps
    rhos = grid(pencil, args.rho, args.points, eps)
    if folder is not None:
        (folder / "path.jsonl").write_text("", encoding="utf-8")
    points: list[Any] = []
    for point in path_points(pencil, rhos, eps=eps):
        points.append(point)
        if folder is not None:
            with (folder / "path.jsonl").open("a", encoding="utf-8") as handle:
                row = finite(Path(pencil, (point,)).to_rows()[0])
                handle.write(json.dumps(row, ensure_ascii=False) + "\n")
        progress(f"{len(points)} of {len(rhos)}: ρ̃ = {point.rho:.4g}, {point.k} nonzeros")
    found = Path(pencil, tuple(points))
    if args.plot is not None:
        draw(found, args.plot)
    report(found, args)
    return 0


def grid(pencil: Any, text: str | None, points: int, eps: float) -> list[float]:
    """The ρ̃ of the path, largest first.

    Raises InvalidParameter for --points below 1 or a ρ̃ that is no number ≥ 0.
    """
    import numpy as np

    from ..checks import as_number
    from ..errors import InvalidParameter
    from ..paths import rho_max

    if text is not None:
        return sorted((as_number(rho, "rho") for rho in text.split(",")), reverse=True)
    if points < 1:
        raise InvalidParameter(f"--points {points} must be at least 1.")
    top = rho_max(pencil, None, eps)
    return np.geomspace(top, 1e-4 * top, points).tolist() if top > 0.0 else [0.0]


def report(found: Path, args: argparse.Namespace) -> None:
    """The table, or JSON.

    With --json the missing cardinalities are listed too.
    """
    from .. import __version__
    from . import tables
    from .solve import finite

    rows = found.to_rows()
    if args.json:
        made = {"command": "path", "version": __version__, "points": rows, "missing": list(found.missing)}
        print(json.dumps(finite(made), ensure_ascii=False, indent=2, allow_nan=False))
        return
    cells = [
        (
            f"{row['rho']:.5g}",
            str(row["k"]),
            f"{row['value']:.6g}" if row["k"] else "-",
            point.result.status.value.split(":")[0],
        )
        for row, point in zip(rows, found.points, strict=True)
    ]
    tables.show(tables.table(("ρ̃", "nonzeros", "renormalized value", "status"), cells, words=0))
    if found.missing:
        tables.show(f"no ρ̃ tried gives k = {', '.join(map(str, found.missing))}; `dcgev solve -k` does")


def check_plot(name: str | None) -> None:
    """Refuse a picture that cannot be drawn, by its ending or its folder, before the work and not after it.

    Raises InvalidParameter for another ending than .png, .pdf, .svg or a folder that is not there.
    """
    from ..errors import InvalidParameter

    if name is None:
        return
    file = File(name)
    if file.suffix.lower() not in (".png", ".pdf", ".svg"):
        raise InvalidParameter(f"--plot {name}: the picture's name must end in .png, .pdf or .svg.")
    if not file.parent.is_dir():
        raise InvalidParameter(f"--plot {name}: the folder {file.parent} does not exist.")


def draw(found: Path, name: str) -> None:
    """The picture of the path in a file."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    from ..plotting import plot_path

    figure = Figure(figsize=(7.0, 4.2), layout="constrained")
    FigureCanvasAgg(figure)
    plot_path(found, figure.add_subplot())
    figure.savefig(name, dpi=150)
