"""`dcgev compare`: d.c. solution, SDP bounds and exact optimum side by side.

Run every method on one problem and print the vectors found, the bounds proved, and the gap between them, which trusts
no solver. Without DATA: pit props, k = 6. With several k: one row per k.

Numbers in brackets do not count: a vector with too many nonzeros, or a bound that does not hold at this k. The exit
code is 0 whatever the gaps are. Ctrl-C shows the rows that were finished.

Usage:

    dcgev compare
    dcgev compare pitprops -k 2:10 --plot intervals.png
    dcgev compare x.csv --task cca --Y y.csv -k 4+4 --ridge 0.1 --time-limit 60
    dcgev compare pitprops -k 4 --methods solve,homogeneous,exact --json
"""

from __future__ import annotations

import argparse
import math
import textwrap
from contextlib import redirect_stdout
from functools import partial
from io import StringIO
from time import perf_counter
from typing import TYPE_CHECKING, Any

from .._numerics.output_files import write_file
from .._numerics.text_tables import facts, table
from . import console

if TYPE_CHECKING:
    from ..comparison import Comparison
    from ..comparison.rows import Counts
    from ..pencils import Pencil


def add(subparsers: Any) -> None:
    """Register the command and its options."""
    parser = console.add_command(subparsers, "compare", run, __doc__)
    console.add_problem(parser)
    parser.add_argument("-k", default="6", metavar="K", help="6, a range 2:10, 2,4,6, or per view 5+5 (default: 6)")
    parser.add_argument("--methods", metavar="M,M,…", help="only these (default: all; an unknown name lists them)")
    parser.add_argument("--time-limit", type=float, metavar="S", help="seconds for all; unfinished methods say so")
    parser.add_argument("--force", action="store_true", help="also run methods that are skipped because n is large")
    output = parser.add_argument_group("output")
    output.add_argument("--details", action="store_true", help="how each method ended; with several k, all tables")
    output.add_argument("--html", metavar="FILE", help="write a page to share: verdict, picture, tables, versions")
    console.add_plot(output)
    console.add_json(output)


def run(args: argparse.Namespace) -> int:
    """Compare, show and write; the exit code is 0 whatever the gaps are."""
    from .._numerics.checks import as_number
    from ..comparison.interval_plot import figure_of
    from .problem import read_problem

    plot, page = console.result_file("--plot", args.plot), console.result_file("--html", args.html)
    if args.time_limit is not None:
        as_number(args.time_limit, "--time-limit", strict=True)
    problem = read_problem(args, default="pitprops")
    pencil = problem.pencil
    ks = budgets(args.k, pencil)
    found: list[Comparison] = []
    stopped = compared(pencil, ks, args, found)
    if args.json:
        comparisons = [comparison.to_dict() for comparison in found]
        console.print_json("compare", {"problem": problem.name, "comparisons": comparisons}, ended=stopped is None)
    else:
        print_comparisons(found, problem.heading, several=len(ks) > 1, details=args.details)
    if plot is not None:
        console.draw(figure_of(found), plot)
    if page is not None:
        from .html_report import html_page

        sentences = [several_sentence(found)] if len(ks) > 1 else [verdict_of(found[0])]
        write_file(page, html_page(sentences, problem.heading, found))
        console.note(f"{page} is written.")
    if stopped is not None:
        raise KeyboardInterrupt(stopped)
    return 0


def budgets(text: str, pencil: Pencil) -> list[Counts]:
    """The cardinalities that were typed, each one possible for the pencil.

    Examples
    --------
    >>> from dcgev_cvx import datasets
    >>> from dcgev_cvx.cli.compare_command import budgets
    >>> budgets("2:5", datasets.pitprops()), budgets("2+2,3+3", datasets.planted_cca().pencil)
    ([2, 3, 4, 5], [(2, 2), (3, 3)])
    """
    from ..budgets import Budget
    from ..comparison.rows import counts_of

    return [
        counts_of(Budget.of(pencil, k)) for k in console.cardinalities(text, "-k")
    ]  # one by one: a range may be long


def compared(pencil: Pencil, ks: list[Counts], args: argparse.Namespace, found: list[Comparison]) -> str | None:
    """Append one comparison per k; None, or what an interrupt left. With nothing finished the interrupt is raised."""
    from ..comparison import ComparisonInterrupted, compare
    from ..comparison.rows import counts_text

    methods = None if args.methods is None else [word.strip() for word in args.methods.split(",")]
    end = math.inf if args.time_limit is None else perf_counter() + args.time_limit
    for position, k in enumerate(ks):
        share = (end - perf_counter()) / (len(ks) - position)
        settings: Any = {"time_limit": max(0.05, share) if math.isfinite(share) else None, "force": args.force}
        settings["progress"] = partial(tell_method, k)
        try:
            with redirect_stdout(StringIO()):  # SCS prints when it is interrupted
                found.append(compare(pencil, k, methods, **settings))
        except ComparisonInterrupted as stop:
            found.append(stop.comparison)
            if len(ks) == 1:
                return "after the rows that are shown"
            return f"at k = {counts_text(k)}, after {position} of {len(ks)} cardinalities; the finished rows are shown"
        except KeyboardInterrupt:
            if not found:
                raise
            return f"after {position} of {len(ks)} cardinalities, which are shown"
        finally:
            console.overwrite("")
    return None


def tell_method(k: Counts, method: str) -> None:
    """The method that is running, on stderr."""
    from ..comparison.rows import counts_text

    console.overwrite(f"k = {counts_text(k)}: {method} …")


def print_comparisons(found: list[Comparison], heading: str, *, several: bool, details: bool) -> None:
    """The verdict in a sentence, then the tables of one k, or of several one row each, all tables with --details."""
    if several:
        console.headline(several_sentence(found))
    else:
        console.headline(verdict_of(found[0]))
    if found[0].pencil.lambda_max <= 0.0:
        console.show("λmax(A,B) ≤ 0: no direction has a positive value; the largest is the least negative.")
    console.show("", heading)
    for comparison in found if details or not several else []:
        endings = facts((row.method, row.status) for row in comparison.rows)
        console.show("", str(comparison), *(["", endings] if details else wrong(comparison)))
    if several:
        columns = ("k", "found", "by", "bound", "by", "gap %", "proved", "s")
        console.show("", table(columns, map(row_of_k, found), words=(2, 4, 6)))
        console.show("\nby: the first method that reaches the value, and how many others reach it too")
        missing = [line for comparison in found for line in wrong(comparison)] if not details else []
        console.show(*dict.fromkeys(missing))


def verdict_of(one: Comparison) -> str:
    """The verdict of one comparison in words."""
    from ..comparison.rows import counts_text
    from .answers import best_sentence

    sides = one.best_lower, one.best_upper
    return best_sentence(one.pencil, counts_text(one.k), one.best_support, one.best_lower, *sides)


def several_sentence(found: list[Comparison]) -> str:
    """How many of the optima are proved, and the largest gap that is left."""
    from ..comparison.rows import counts_text

    open_ones = [comparison for comparison in found if not comparison.gap.closed]
    if not open_ones:
        return f"The optimum is proved for all {len(found)} k."
    worst = max(open_ones, key=lambda comparison: comparison.gap.relative)
    proved = f"The optimum is proved for {len(found) - len(open_ones)} of {len(found)} k"
    return f"{proved}; the largest gap left is {worst.gap.relative:.2%}, at k = {counts_text(worst.k)}."


def wrong(comparison: Comparison) -> list[str]:
    """One line per reason for which methods failed, were skipped, or did not end as they should."""
    methods: dict[str, list[str]] = {}
    for row in comparison.rows:
        if not row.ok:
            methods.setdefault(row.status, []).append(row.method)
    lines = [f"{', '.join(dict.fromkeys(names))}: {status}" for status, names in methods.items()]
    return [textwrap.fill(line, 80, subsequent_indent="  ") for line in lines]


def row_of_k(comparison: Comparison) -> tuple[str, ...]:
    """The row of one k: the best value and the best bound, each with the methods that reach it."""
    from ..comparison.rows import counts_text

    gap = comparison.gap.relative
    return (
        counts_text(comparison.k),
        *reached(comparison, "lower", comparison.best_lower),
        *reached(comparison, "upper", comparison.best_upper),
        f"{100.0 * gap:.2f}" if math.isfinite(gap) else "-",
        "yes" if comparison.gap.closed else "no",
        f"{comparison.seconds:.1f}",
    )


def reached(comparison: Comparison, side: str, best: float) -> tuple[str, str]:
    """The best value of one side, and the methods that reach it to nine digits: the first, and how many others."""
    from ..comparison import METHODS

    rows = [row for row in comparison.rows if row.side == side and row.valid]
    titles = [row.method for row in rows if abs(row.value - best) <= 1e-9 * abs(best)]
    names = [name for name, method in METHODS.items() if method.side == side and method.title in titles]
    if not names:
        return "-", "-"
    others = f" +{len(names) - 1}" if len(names) > 1 else ""
    return f"{best:#.6g}", names[0].removesuffix("-bound") + others
