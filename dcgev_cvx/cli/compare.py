"""`dcgev compare`: the d.c. solution, the SDP bounds and the exact optimum of one problem, side by side.

Usage:

    dcgev compare                                         pit props at k = 6
    dcgev compare pitprops -k 2:10 --plot intervals.png --html report.html
    dcgev compare x.csv --task cca --Y y.csv -k 4 --ridge 0.1 --time-limit 60
    dcgev compare pitprops -k 4 --methods solve,homogeneous,exact --json

A row is printed for every method, also for those that failed or were left out, with the reason. Numbers in brackets
do not count: a vector with too many nonzeros, or a bound that does not hold at this k. The time limit is for all k
together and is shared evenly among those to come. Ctrl-C shows the rows that were finished, also of a k that was not.
Files are tried for writing before the work begins.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from contextlib import redirect_stdout
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from ..errors import InvalidParameter
from . import tasks

if TYPE_CHECKING:
    from ..comparison import Comparison
    from ..pencils import Pencil


def add(subparsers: Any) -> None:
    """Register the command and its options."""
    from .solve import add_problem

    parser = subparsers.add_parser(
        "compare",
        help="d.c. solution, SDP bounds and exact optimum side by side",
        description="Every method on one problem: vectors found from below, bounds proved from above, and the gap "
        "between them, which trusts no solver. Without DATA: pit props, k = 6.",
        epilog="Examples: dcgev compare · dcgev compare pitprops -k 2:10 --plot intervals.png --html report.html · "
        "dcgev compare x.csv --task cca --Y y.csv -k 4 --ridge 0.1",
    )
    add_problem(parser)
    tasks.add_task(parser)
    parser.add_argument("-k", default="6", metavar="K", help="cardinality 6, a range 2:10, or 2,4,6 (default: 6)")
    parser.add_argument("--methods", metavar="M,M,…", help="only these (default: all; a wrong name lists them)")
    parser.add_argument(
        "--time-limit", type=float, metavar="S", help="seconds for all; then what is there is reported"
    )
    parser.add_argument("--force", action="store_true", help="run SDPs whose size would be refused")
    output = parser.add_argument_group("output")
    output.add_argument("--details", action="store_true", help="say how each method ended")
    output.add_argument("--plot", metavar="FILE", help="draw the intervals to .png, .pdf or .svg")
    output.add_argument("--html", metavar="FILE", help="write one self-contained page")
    output.add_argument("--json", action="store_true", help="print JSON and nothing else")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Check where the output goes, compare, show.

    A comparison is a report and not a test: exit code 0 whatever the gaps are. Each k is shown as soon as it is done.
    """
    from .._numerics.checks import as_number
    from .solve import print_json

    check_outputs(args)
    if args.time_limit is not None:
        as_number(args.time_limit, "--time-limit", strict=True)
    name = problem_name(args)
    pencil = tasks.problem(args)
    ks = cardinalities(args.k, pencil.n)
    found: list[Comparison] = []
    stopped = compared(pencil, ks, name, args, found)
    if args.json:
        print_json(record(found, name) | ({} if stopped is None else {"ended": False}))
    write_outputs(found, name, args)
    if stopped is not None:
        raise KeyboardInterrupt(stopped)
    return 0


def compared(
    pencil: Pencil, ks: list[int], name: str, args: argparse.Namespace, found: list[Comparison]
) -> str | None:
    """Fill `found`, one comparison a k, each shown when it is done; None, or what an interrupt left of the range.

    Ctrl-C in the middle of a k leaves the rows that were finished. With nothing finished at all it is passed on.
    """
    from ..comparison import Interrupted, compare

    methods = None if args.methods is None else [word.strip() for word in args.methods.split(",")]
    begin, stopped = perf_counter(), None
    for position, k in enumerate(ks):
        limit = share(args.time_limit, begin, len(ks) - position)
        told = teller(k) if not args.json else None
        try:
            with redirect_stdout(sys.stderr):  # SCS prints when it is interrupted, and stdout is for the answer
                found.append(compare(pencil, k, methods, time_limit=limit, force=args.force, progress=told))
        except KeyboardInterrupt as stop:
            stopped = f"after {position} of {len(ks)} cardinalities, which are reported"
            if isinstance(stop, Interrupted):
                found.append(stop.comparison)
                stopped = f"at k = {k}, after {position} of {len(ks)} cardinalities; the rows finished are reported"
            elif not found:
                raise
        forget()
        if not args.json and len(found) > position:
            show(found[-1], name, details=args.details)
        if stopped is not None:
            break
    return stopped


def problem_name(args: argparse.Namespace) -> str:
    """What the tables are headed with; pit props when nothing was named.

    Without any problem the pit props are taken, so that `dcgev compare` alone shows what the command does.
    """
    if args.data is None and args.A is None and args.X is None:
        args.data = "pitprops"
    return str(args.data or args.A or args.X)


def cardinalities(text: str, n: int) -> list[int]:
    """6 → [6], 2:10 → [2, …, 10], 2,4,6 → [2, 4, 6]; every one between 1 and n.

    Raises InvalidParameter for text that is none of the three forms, an empty range, or a k outside 1 … n.

    Examples
    --------
    >>> from dcgev_cvx.cli.compare import cardinalities
    >>> cardinalities("2:5", 13), cardinalities("2,6", 13)
    ([2, 3, 4, 5], [2, 6])
    """
    from .._numerics.checks import shown
    from ..certificates import checked_k

    try:
        if ":" in text:
            low, high = (int(part) for part in text.split(":"))
            ks = range(low, high + 1)
        else:
            ks = [int(part) for part in text.split(",")]
    except ValueError:
        raise InvalidParameter(f"-k {shown(text)} is not a cardinality: write 6, a range 2:10, or 2,4,6.") from None
    if not ks:
        raise InvalidParameter(f"-k {text} is an empty range: the first number must not exceed the second.")
    return [checked_k(k, n) for k in ks]


def check_outputs(args: argparse.Namespace) -> None:
    """Refuse files that cannot be written before the work, not after it.

    Raises InvalidParameter or SolverMissing before anything is computed.
    """
    from .._numerics.checks import as_path
    from .path import check_plot, writable

    check_plot(args.plot)
    if args.html is not None:
        writable("--html", as_path(args.html, "--html"))


def share(limit: float | None, begin: float, runs: int) -> float | None:
    """What is left of the time limit, divided evenly among the runs to come.

    At least 0.05 s, so that a spent limit still leads to rows that say so.
    """
    return None if limit is None else max(0.05, (limit - (perf_counter() - begin)) / runs)


def teller(k: int) -> Any:
    """Progress on a terminal's stderr, one line that is overwritten.

    None when stderr is no terminal: a log file is not the place for a line that overwrites itself.
    """
    if not sys.stderr.isatty():
        return None

    def tell(method: str) -> None:
        print(f"\r\033[Kk = {k}: {method} …", end="", file=sys.stderr, flush=True)

    return tell


def forget() -> None:
    """Take the progress line away."""
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr, flush=True)


def show(comparison: Comparison, name: str, *, details: bool) -> None:
    """The two tables, the verdict, the best support; how each method ended, or what went wrong."""
    from . import tables

    pencil = comparison.pencil
    metric = "B = I" if pencil.B is None else "B dense"
    tables.show(f"{name}: n = {pencil.n}, {metric}, λmax(A,B) = {pencil.lambda_max:.6g}")
    if pencil.lambda_max <= 0.0:
        tables.show("λmax(A,B) ≤ 0: no direction has a positive value; the largest is the least negative.")
    tables.show(f"\n{comparison}")
    if details:
        tables.show(tables.facts([(row.method, row.status) for row in comparison.rows]))
    else:
        tables.show(*(f"{', '.join(methods)}: {status}" for status, methods in wrong(comparison).items()))
    tables.show("")


def wrong(comparison: Comparison) -> dict[str, list[str]]:
    """What went wrong, and the methods that it happened to."""
    found: dict[str, list[str]] = {}
    for row in comparison.rows:
        if not row.ok:
            found.setdefault(row.status, []).append(row.method)
    return found


def record(found: list[Comparison], name: str) -> dict[str, Any]:
    """The comparisons as plain data."""
    from .. import __version__

    runs = [comparison.to_dict() for comparison in found]
    return {"command": "compare", "version": __version__, "problem": name, "comparisons": runs}


def write_outputs(found: list[Comparison], name: str, args: argparse.Namespace) -> None:
    """The picture and the page, where they were asked for."""
    from ..comparison import html_report
    from ..comparison.interval_plot import figure_of

    if args.plot is not None:
        figure_of(found).savefig(args.plot, dpi=150)
    if args.html is not None:
        page = html_report(found, title=name, command=shlex.join(["dcgev", *sys.argv[1:]]))
        Path(args.html).write_text(page, encoding="utf-8")
