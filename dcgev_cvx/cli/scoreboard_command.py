"""`dcgev scoreboard`: every installed CVXPY solver on every model of the paper.

Each solver runs in a process of its own, on about a thousand small problems whose optimum is known, and its answers
are judged from the data. With --out, the run is written as JSON, CSV and Markdown, with a heat map (SVG) and a script
for every finding, which needs CVXPY and NumPy alone. --from writes them again from a stored run.

Usage:

    dcgev scoreboard
    dcgev scoreboard SCS CLARABEL QOCO --out scores
    dcgev scoreboard --from docs/_data/scoreboard/scoreboard.json --out docs
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from .._numerics.output_files import output_folder, write_file
from .._numerics.text_tables import table
from ..errors import InvalidParameter
from .console import add_command, add_json, overwrite, print_json, show


def add(subparsers: Any) -> None:
    """Register the command and its options."""
    parser = add_command(subparsers, "scoreboard", run, __doc__)
    parser.add_argument("solvers", metavar="SOLVER", nargs="*", help="names in CVXPY, or MODULE:OBJECT (default: all)")
    parser.add_argument("--seed", type=int, default=0, help="another draw of the problems (default: 0)")
    parser.add_argument(
        "--tol", type=float, default=1e-5, help="what the solvers claim; ten times it is allowed (1e-5)"
    )
    parser.add_argument("--time-limit", type=float, default=10.0, metavar="S", help="seconds per problem (default: 10)")
    parser.add_argument("--jobs", type=int, default=2, help="solvers at once (default: 2)")
    parser.add_argument("--out", metavar="DIR", help="write scoreboard.json, .csv, .md, .svg, and the scripts")
    parser.add_argument("--from", dest="stored", metavar="FILE", help="a stored scoreboard.json, instead of a new run")
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Run the trials or read them, print the table, and write the files."""
    from ..verify import scoreboard

    folder = None if args.out is None else output_folder("--out", args.out)
    found = stored_run(args.stored) if args.stored else new_run(args, folder)
    if folder is not None and args.stored is None:
        write_file(folder / "scoreboard.json", json.dumps(found, ensure_ascii=False, indent=1, allow_nan=False) + "\n")
        write_file(folder / "scoreboard.csv", scoreboard.csv_text(found))
    if folder is not None:
        data = "_data/scoreboard/" if args.stored else ""
        write_file(folder / "scoreboard.md", scoreboard.markdown(found, f"{data}scoreboard.svg", data))
        (folder / data).mkdir(parents=True, exist_ok=True)
        write_file(folder / data / "scoreboard.svg", scoreboard.heat_map(found))
    if args.json:
        print_json("scoreboard", {name: value for name, value in found.items() if name != "command"})
        return 0
    show(table(scoreboard.HEADS, scoreboard.by_solver(found)))
    show_findings(found)
    return 0


def new_run(args: argparse.Namespace, folder: Path | None) -> dict[str, Any]:
    """The trials of the named solvers, or of all that are installed."""
    from ..verify.scoreboard import run_scoreboard
    from ..verify.solver_trial import default_solvers, known_solver

    if args.jobs < 1:
        raise InvalidParameter(f"--jobs {args.jobs}: at least 1 is needed.")
    names = [known_solver(name) for name in args.solvers] or default_solvers()
    settings: Any = {"seed": args.seed, "tol": args.tol, "time_limit": args.time_limit, "jobs": args.jobs}
    return run_scoreboard(names, scripts=folder, progress=None if args.json else solving, **settings)


def show_findings(found: dict[str, Any]) -> None:
    """A line for every finding."""
    for one in found["findings"]:
        what = ": ".join(filter(None, (one["said"], one["what"])))
        about = f"{one['solver']}, {one['model']}, {one['problem']}"
        show(f"{about}: {one['outcome']}: {what} ({one['alone']})")


def solving(solver: str, number: int) -> None:
    """The progress of one of the solvers."""
    if number % 25 == 0:
        overwrite(f"{solver}: problem {number}")


def stored_run(path: str) -> dict[str, Any]:
    """A run from its file."""
    from ..verify.scoreboard import checked_run

    try:
        return checked_run(json.loads(Path(path).read_text(encoding="utf-8")))
    except OSError as cause:
        raise InvalidParameter(f"--from {path} cannot be read: {cause.strerror or cause}.") from cause
    except ValueError as cause:
        raise InvalidParameter(f"--from {path} is not JSON: {cause}.") from cause
