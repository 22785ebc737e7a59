"""`dcgev reproduce`: the tables and figures of the paper, run, resumed and judged number by number.

Usage:

    dcgev reproduce table1 figure1
    dcgev reproduce all --full --jobs -1 --out reproduction
    dcgev reproduce table5 --corpus corpus.npz
    dcgev reproduce table2 --dask tcp://scheduler:8786

Every cell is on disk as soon as it is done: the same command goes on where the last run stopped, and a damaged file
is computed again. A folder with results of other settings is refused, since results are not mixed. Cells that are
timed run alone whatever --jobs says. The report (Markdown, HTML, JSON, CSV, figures) has every published number
beside ours with a verdict. Exit code 1 says that a cell could not be computed, not that a number differs.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any


def add(subparsers: Any) -> None:
    """Register the command and its options."""
    parser = subparsers.add_parser(
        "reproduce",
        help="run the paper's experiments and compare every published number",
        description="Run tables and figures of Section 4 of the paper and compare every published number with ours. "
        "Each finished piece is on disk at once: a run that was stopped or killed goes on where it was.",
        epilog="The gene expression data are fetched once into the folder DCGEV_DATA, or the platform's cache.",
    )
    parser.add_argument(
        "names",
        nargs="+",
        metavar="NAME",
        help="table1, figure1, figure2, figure3, table2, tables34, table5, figure6, or all",
    )
    effort = parser.add_mutually_exclusive_group()
    effort.add_argument(
        "--tiny", dest="effort", action="store_const", const="tiny", help="seconds: to see that it runs"
    )
    effort.add_argument("--quick", dest="effort", action="store_const", const="quick", help="minutes (the default)")
    effort.add_argument("--full", dest="effort", action="store_const", const="full", help="the paper's sizes: hours")
    parser.add_argument(
        "--jobs", type=int, default=1, metavar="N", help="worker processes, -1 for all cores (default 1)"
    )
    parser.add_argument(
        "--dask", metavar="ADDRESS", help="a Dask scheduler to use instead (pip install 'dcgev-cvx[dask]')"
    )
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="seed of the random matrices (default 0)")
    parser.add_argument(
        "--corpus", metavar="FILE", help="table5: manpages, planted, or an .npz of aligned bags of words"
    )
    parser.add_argument("--songs", metavar="DIR", help="figure6: planted, or the folder that holds CAL500.arff")
    parser.add_argument(
        "--out", default="reproduction", metavar="DIR", help="folder of the results (default reproduction)"
    )
    parser.add_argument(
        "--page", metavar="FILE", help="write the report without figures to this Markdown file as well"
    )
    parser.set_defaults(run=run, effort="quick")


def run(args: argparse.Namespace) -> int:
    """Run, report, and return 1 when a cell could not be computed."""
    from .._numerics.checks import as_path
    from ..errors import InvalidParameter
    from ..reproduction import reproduce
    from ..reproduction.cells import checked_folder, write_atomically
    from ..reproduction.report import markdown
    from ..reproduction.runner import Crew

    crew = Crew(args.jobs, args.dask)
    page = None if args.page is None else as_path(args.page, "--page")
    if page is not None:
        checked_folder(page.parent, "--page")
        if page.is_dir():
            raise InvalidParameter(f"--page {page} is a folder: give the name of a file.")
    with Progress() as watch:
        data = {name: value for name in ("corpus", "songs") if (value := getattr(args, name)) is not None}
        report = reproduce(
            args.names, args.out, effort=args.effort, seed=args.seed, data=data, crew=crew, watch=watch
        )
    if page is not None:
        write_atomically(page, markdown(report, figures=False))
    show(report, Path(args.out))
    return 1 if any(section.missing for section in report.sections) else 0


def show(report: Any, out: Path) -> None:
    """Every number with its verdict, and where the report lies."""
    from . import console

    for section in report.sections:
        console.show(f"{section.title}")
        for finding in section.findings:
            console.show(f"  {finding.verdict.value:8}  {finding.what}: paper {finding.paper}, ours {finding.ours}")
        for sentence in section.missing:
            console.show(f"  not computed: {sentence}")
    console.show(f"\n{report.summary}. Report: {out / 'report.html'}")


class Progress:
    """Bars with the time left on stderr; what must be said is printed above them."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
        from rich.progress import Progress as Bars

        self._bars = Bars(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=Console(stderr=True, markup=False, highlight=False),
            disable=not sys.stderr.isatty(),
        )
        self._tasks: dict[str, Any] = {}

    def __enter__(self) -> Progress:
        self._bars.start()
        return self

    def __exit__(self, *exception: object) -> None:
        if not self._bars.disable:  # some versions of rich end with an empty line even so
            self._bars.stop()
        if exception[0] is KeyboardInterrupt:
            self.said("finished cells are on disk: the same command goes on from here.")

    def begun(self, name: str, total: int, kept: int) -> None:
        """A new bar; cells from an earlier run count as done."""
        self._tasks[name] = self._bars.add_task(name, total=total, completed=kept)
        if kept:
            self.said(f"{name}: {kept} of {total} cells are on disk already.")

    def done(self, name: str, cell: Any) -> None:
        """One cell more."""
        self._bars.advance(self._tasks[name])

    def said(self, sentence: str) -> None:
        """A line above the bars."""
        print(f"dcgev: {sentence}", file=sys.stderr)
