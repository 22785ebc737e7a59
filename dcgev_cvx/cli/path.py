"""`dcgev path`: cardinality and value along the path in ρ̃, or in ν for FDA; kept point by point, drawn on request.

Usage:

    dcgev path pitprops --plot path.png
    dcgev path pitprops --rho 1,2,4.84,8 --json
    dcgev path x.csv --task pca --points 80 --out folder
    dcgev path samples.csv --task fda --y kind --ridge 0.01 --plot path.png

ρ̃ runs from the largest, where one variable or none is left, to 1e-4 of it in geometric steps. With --out each
point is appended to path.jsonl as soon as it is there, so that an interrupt loses nothing. Cardinalities that no ρ̃
gave are named at the end: not every k lies on the path, and `dcgev solve -k` finds those. Two-class FDA has its own
program, whose price is ν (Section 6): ν rises until one variable is left.
"""

from __future__ import annotations

import argparse
import json
from importlib.util import find_spec
from pathlib import Path as File
from typing import TYPE_CHECKING, Any, Literal

from . import tasks

if TYPE_CHECKING:
    from ..pencils import Pencil
    from ..search.paths import Path, PathPoint


def add(subparsers: Any) -> None:
    """Register the command and its options."""
    from .solve import add_problem

    parser = subparsers.add_parser(
        "path",
        help="cardinality and value for a range of ρ̃ (ν for two-class FDA)",
        description="Algorithm 1 for a range of ρ̃, from sparse to dense: which cardinalities it reaches, and what "
        "they are worth. For two classes (--task fda) sparse FDA for a range of ν.",
        epilog="Example: dcgev path pitprops --plot path.png",
    )
    add_problem(parser)
    tasks.add_task(parser)
    grid = parser.add_argument_group("path")
    grid.add_argument("--points", type=int, help="number of ρ̃ or ν, geometric below the largest (default: 40 ρ̃)")
    grid.add_argument("--rho", help="the ρ̃ themselves, with commas, instead of --points")
    grid.add_argument("--nu", help="the ν themselves, with commas, for two-class FDA")
    grid.add_argument("--eps", type=float, help="ε of the approximation ‖x‖_ε (default: machine precision)")
    output = parser.add_argument_group("output")
    output.add_argument("--plot", metavar="FILE", help="draw the path to .png, .pdf or .svg")
    output.add_argument("--out", metavar="DIR", help="keep every point in DIR as soon as it is computed")
    output.add_argument("--json", action="store_true", help="print JSON and nothing else")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Compute point by point; what is there at an interrupt is shown, and path.jsonl has it.

    Points are shown at the end and written at once.
    """
    from ..programs import MACHINE_EPS
    from ..search.paths import Path
    from .cardinality import made_folder

    check_plot(args.plot)
    pencil = tasks.problem(args)
    parameter = checked_parameter(args, pencil)
    folder = None if args.out is None else made_folder(args.out)
    eps = MACHINE_EPS if args.eps is None else args.eps
    values = grid(pencil, parameter, args, eps)
    keep = Keeper(pencil, parameter, folder)
    ended = True
    try:
        follow(pencil, parameter, values, eps, keep)
    except KeyboardInterrupt:
        if not keep.points:
            raise
        ended = False
    found = Path(pencil, tuple(sorted(keep.points, key=lambda point: -point.rho)), parameter)
    if args.plot is not None:
        draw(found, args.plot)
    report(found, args, ended=ended)
    if not ended:
        kept = f"{len(found.points)}{'' if values is None else f' of {len(values)}'} points"
        raise KeyboardInterrupt(f"after {kept}{'' if keep.file is None else f', kept in {keep.file}'}")
    return 0


def checked_parameter(args: argparse.Namespace, pencil: Pencil) -> Literal["rho", "nu"]:
    """What runs along the path: ν for two classes, where A = aaᵀ, else ρ̃; the option of the other is refused."""
    from ..errors import InvalidParameter
    from ..pencils import Gram

    fisher = args.task == "fda" and isinstance(pencil.A, Gram) and len(pencil.A.C) == 1
    if fisher and args.rho is not None:
        raise InvalidParameter("--rho has no meaning for two classes: the price in sparse FDA is ν, give --nu.")
    if not fisher and args.nu is not None:
        raise InvalidParameter("--nu is the price in FDA of two classes (--task fda): give --rho.")
    return "nu" if fisher else "rho"


def grid(pencil: Pencil, parameter: str, args: argparse.Namespace, eps: float) -> list[float] | None:
    """The values of the path, or None for ν as far as one variable.

    Raises InvalidParameter for --points below 1 or a value that is no number ≥ 0.
    """
    import numpy as np

    from .._numerics.checks import as_number
    from ..errors import InvalidParameter
    from ..search.fisher import nu_max
    from ..search.paths import MOST_POINTS, rho_max
    from .inputs import number_in

    text = args.rho if parameter == "rho" else args.nu
    if text is not None and args.points is not None:
        raise InvalidParameter(f"--{parameter} and --points were both given: give the values, or their number.")
    if text is not None:
        return sorted((as_number(number_in(value), parameter) for value in text.split(",")), reverse=True)
    if args.points is not None and not 1 <= args.points <= MOST_POINTS:
        raise InvalidParameter(f"--points {args.points} must be at least 1 and at most {MOST_POINTS}.")
    if parameter == "nu" and args.points is None:
        return None
    top = rho_max(pencil, None, eps) if parameter == "rho" else nu_max(mean_difference(pencil), pencil.B)
    return np.geomspace(top, 1e-4 * top, args.points or 40).tolist() if top > 0.0 else [0.0]


def mean_difference(pencil: Pencil) -> Any:
    """The vector a of A = aaᵀ."""
    from ..pencils import Gram

    assert isinstance(pencil.A, Gram)
    return pencil.A.C[0]


def follow(pencil: Pencil, parameter: str, values: list[float] | None, eps: float, keep: Keeper) -> None:
    """The runs of the path, each kept as it ends."""
    from ..search.fisher import fisher_path
    from ..search.paths import path_points, point_of

    if parameter == "nu":
        a = mean_difference(pencil)
        fisher_path(a, pencil.B, values, eps=eps, callback=lambda nu, run: keep(point_of(pencil, nu, run)))
        return
    assert values is not None
    for point in path_points(pencil, values, eps=eps):
        keep(point, f" of {len(values)}")


class Keeper:
    """The points so far, each written to path.jsonl as soon as it is there."""

    def __init__(self, pencil: Pencil, parameter: Literal["rho", "nu"], folder: File | None) -> None:
        self.pencil = pencil
        self.parameter: Literal["rho", "nu"] = parameter
        self.file = None if folder is None else folder / "path.jsonl"
        self.points: list[PathPoint] = []
        if self.file is not None:
            self.file.write_text("", encoding="utf-8")

    def __call__(self, point: PathPoint, total: str = "") -> None:
        """Keep a point, and tell of it."""
        from ..search.paths import Path
        from .cardinality import progress
        from .solve import finite

        self.points.append(point)
        one = Path(self.pencil, (point,), self.parameter)
        if self.file is not None:
            with self.file.open("a", encoding="utf-8") as handle:
                handle.write(json.dumps(finite(one.to_rows()[0]), ensure_ascii=False) + "\n")
        progress(f"{len(self.points)}{total}: {one.symbol} = {point.rho:.4g}, {point.k} nonzeros")


def report(found: Path, args: argparse.Namespace, *, ended: bool) -> None:
    """The table, or JSON.

    With --json the missing cardinalities are listed too; a path that was interrupted has "ended": false.
    """
    from .. import __version__
    from . import tables
    from .solve import print_json

    rows = found.to_rows()
    if args.json:
        made = {"command": "path", "version": __version__, "points": rows, "missing": list(found.missing)}
        made |= {} if ended else {"ended": False}
        print_json(made)
        return
    cells = [
        (
            f"{row[found.parameter]:.5g}",
            str(row["k"]),
            f"{row['value']:.6g}" if row["k"] else "-",
            point.result.status.value.split(":")[0],
        )
        for row, point in zip(rows, found.points, strict=True)
    ]
    tables.show(tables.table((found.symbol, "nonzeros", "renormalized value", "status"), cells, words=0))
    if found.missing and ended:
        tables.show(f"no {found.symbol} tried gives k = {', '.join(map(str, found.missing))}; `dcgev solve -k` does")


def check_plot(name: str | None) -> None:
    """Refuse a picture that cannot be drawn, by its ending or its place, before the work and not after it.

    Raises InvalidParameter for another ending than .png, .pdf, .svg, a folder that is not there or a file that cannot
    be written, SolverMissing without matplotlib.
    """
    from .._numerics.checks import as_path
    from ..errors import InvalidParameter, SolverMissing

    if name is None:
        return
    file = as_path(name, "--plot")
    if file.suffix.lower() not in (".png", ".pdf", ".svg"):
        raise InvalidParameter(f"--plot {name}: the picture's name must end in .png, .pdf or .svg.")
    if not file.parent.is_dir():
        raise InvalidParameter(f"--plot {name}: the folder {file.parent} does not exist.")
    if find_spec("matplotlib") is None:
        raise SolverMissing("--plot needs matplotlib: pip install matplotlib.")
    writable("--plot", file)


def writable(option: str, file: File) -> None:
    """Open the file for appending and close it again; a file made by this is taken away.

    An existing file is opened for appending, which changes nothing in it.
    """
    from ..errors import InvalidParameter

    existed = file.exists()
    try:
        with file.open("a", encoding="utf-8"):
            pass
    except OSError as cause:
        raise InvalidParameter(f"{option} {file}: cannot be written ({cause.strerror}).") from cause
    if not existed:
        file.unlink()


def draw(found: Path, name: str) -> None:
    """The picture of the path in a file."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    from ..plotting import plot_path

    figure = Figure(figsize=(7.0, 4.2), layout="constrained")
    FigureCanvasAgg(figure)
    plot_path(found, figure.add_subplot())
    figure.savefig(name, dpi=150)
