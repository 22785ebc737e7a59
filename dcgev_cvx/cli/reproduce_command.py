"""`dcgev reproduce`: the paper's tables and figures, published and computed numbers.

Each result is saved as soon as it is computed: the same command continues a run that was stopped, and computes
damaged files again. Results of another effort or seed have their own folder. Results that contain times are computed
one at a time, whatever --jobs says. The report (Markdown, JSON, CSV, figures) has every published number beside
ours with a verdict. Exit code 1 means that a result could not be computed, not that a number differs.

The gene expression data are downloaded once into the folder DCGEV_DATA, or the platform's cache.

Usage:

    dcgev reproduce table1 figure1
    dcgev reproduce all --full --jobs -1 --out reproduction
    dcgev reproduce table5 --full --corpus laws.npz
"""

import argparse
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

from .._numerics.text_tables import facts
from . import console


def add(subparsers: Any) -> None:
    """Register the command and its options."""
    parser = console.add_command(subparsers, "reproduce", run, __doc__)
    option = parser.add_argument
    names = "table1, figure1, figure2, figure3, table2, tables34, table5, figure6, or all"
    option("names", nargs="+", metavar="NAME", help=names)
    efforts = {"tiny": "seconds: a test run", "quick": "minutes (the default)", "full": "the paper's sizes: hours"}
    group = parser.add_mutually_exclusive_group()
    for effort, text in efforts.items():
        group.add_argument(f"--{effort}", dest="effort", action="store_const", const=effort, help=text)
    option("--jobs", type=int, default=1, metavar="N", help="worker processes, -1 for all cores (default 1)")
    option("--seed", type=int, default=0, metavar="S", help="seed of the random matrices (default 0)")
    option("--corpus", metavar="FILE", help="table5: planted, or an .npz of aligned bags of words")
    option("--out", default="reproduction", metavar="DIR", help="folder of the results (default reproduction)")
    option("--page", metavar="FILE", help="write the report without figures to this Markdown file as well")
    parser.set_defaults(effort="quick")


def run(args: argparse.Namespace) -> int:
    """Run, report, and return 1 when a result could not be computed."""
    from .._numerics.output_files import output_file, output_folder, write_file
    from ..reproduction import reproduce
    from ..reproduction.report import markdown

    page = None
    if args.page is not None:
        output_folder("--page", Path(args.page).parent)
        page = output_file("--page", args.page)
    settings: Any = {name: getattr(args, name) for name in ("effort", "seed", "corpus", "jobs")}
    with progress_bars() as progress:
        report = reproduce(args.names, args.out, progress=progress, **settings)
    if page is not None:
        write_file(page, markdown(report, figures=False))
    for section in report.sections:
        found = [(f.verdict.value, f"{f.what}: paper {f.paper}, ours {f.ours}") for f in section.findings]
        console.show(section.title, facts([*found, *(("not computed", sentence) for sentence in section.missing)]))
    console.show(f"\n{report.summary}. Report: {Path(args.out) / 'report.md'}")
    return 1 if any(section.missing for section in report.sections) else 0


@contextmanager
def progress_bars() -> Generator[Callable[[str, int, int, str], None], None, None]:
    """One bar per experiment on stderr, with the time left; messages are printed above the bars."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    stderr = Console(stderr=True, markup=False, highlight=False)
    columns = ("{task.description}", BarColumn(), MofNCompleteColumn(), "left", TimeRemainingColumn())
    bars, tasks = Progress(*columns, console=stderr), dict[str, Any]()

    def show(name: str, finished: int, total: int, message: str) -> None:
        if name not in tasks:
            tasks[name] = bars.add_task(name, total=total)
        bars.update(tasks[name], completed=finished)
        if message:
            console.note(f"{name}: {message}")

    try:
        with bars if sys.stderr.isatty() else nullcontext():
            yield show
    except KeyboardInterrupt:
        console.note("finished results are saved: the same command continues from here.")
        raise
