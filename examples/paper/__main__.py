"""The paper's tables and figures on the public names of the package: published numbers, ours, and a verdict.

    python examples/paper                                  all of them, in minutes
    python examples/paper table1 figure1 --out results
    python examples/paper --full --jobs 2 --corpus laws.npz --page docs/reproduction.md

Each result is saved as soon as it is computed: the same command continues a run that was stopped. Results of another
effort, seed or commit have their own folder. The report (report.md, numbers.json, figures) is written into the folder
of --out. Exit code 1 means that a result could not be computed, not that a number differs.

The gene expression data are downloaded once into the folder DCGEV_DATA, or the platform's cache.
"""

import argparse
import sys
from dataclasses import replace
from importlib import import_module
from pathlib import Path

from findings import Section, Work
from report import Report, commit, made_by, markdown, put, write

from dcgev_cvx import DCGEVError
from dcgev_cvx.errors import nearest

NAMES = ("table1", "figure1", "figure2", "figure3_table2", "tables34", "table5", "figure6")


def main() -> int:
    """Run, write the report, print the verdicts; 1 when a result could not be computed, 2 for invalid input."""
    args = arguments()
    try:
        sections = [section_of(name, args) for name in args.names or NAMES]
    except DCGEVError as error:
        print(f"paper: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("paper: interrupted; finished results are saved: the same command continues from here.", file=sys.stderr)
        return 130
    corpus = [] if args.corpus is None else ["--corpus", Path(args.corpus).name]
    options = (f"--{args.effort}", f"--seed {args.seed}", f"--jobs {args.jobs}", *corpus)
    command = " ".join(["python examples/paper", *args.names, *options])
    report = Report(sections, command, made_by())
    write(report, args.out)
    if args.page is not None:
        put(args.page, markdown(report, figures=False))
    for section in sections:
        print(f"\n{section.title}")
        for finding in section.findings:
            print(f"  {finding.verdict.value:18} {finding.what}: paper {finding.paper}, ours {finding.ours}")
        for reason in section.missing:
            print(f"  {'not computed':18} {reason}")
    print(f"\n{report.summary}. Report: {args.out / 'report.md'}")
    return 1 if any(section.missing for section in sections) else 0


def section_of(name: str, args: argparse.Namespace) -> Section:
    """The section of one script, or an empty one with the reasons when results that it needs are missing."""
    script = import_module(name)
    results = f"{args.effort}-{args.seed}-{commit()}".replace(", ", "-").replace(" ", "-")
    work = Work(args.out / "results" / results, args.jobs, args.corpus, tell)
    try:
        section = script.section({**script.SETTINGS[args.effort], "seed": args.seed}, work)
    except (LookupError, ArithmeticError, TypeError, ValueError):
        if not work.missing:  # then it is a bug
            raise
        section = Section("")
    return replace(section, title=script.TITLE, missing=tuple(dict.fromkeys(work.missing)))


def tell(name: str, finished: int, total: int, message: str) -> None:
    """One line that is overwritten on a terminal; messages stay."""
    if message:
        print(f"paper: {name}: {message}", file=sys.stderr)
    if sys.stderr.isatty():
        print(f"\r\033[K{name}: {finished} of {total}", end="", file=sys.stderr, flush=True)


def arguments() -> argparse.Namespace:
    """The options; a wrong name is answered by the nearest."""
    parser = argparse.ArgumentParser(prog="python examples/paper", description=__doc__.partition("\n")[0])
    option = parser.add_argument
    option("names", nargs="*", metavar="NAME", help=f"{', '.join(NAMES)} (default: all)")
    efforts = {"tiny": "seconds: a test run", "quick": "minutes (the default)", "full": "the paper's sizes"}
    group = parser.add_mutually_exclusive_group()
    for effort, text in efforts.items():
        group.add_argument(f"--{effort}", dest="effort", action="store_const", const=effort, help=text)
    option("--jobs", type=int, default=1, metavar="N", help="worker processes, -1 for all cores (default 1)")
    option("--seed", type=int, default=0, metavar="S", help="seed of the random matrices (default 0)")
    option("--corpus", metavar="FILE", help="table5: an .npz of aligned bags of words")
    option("--out", type=Path, default=Path("paper-results"), metavar="DIR", help="folder of the results")
    option("--page", type=Path, metavar="FILE", help="write the report without figures to this Markdown file as well")
    parser.set_defaults(effort="quick")
    args = parser.parse_args()
    for name in args.names:
        if name not in NAMES:
            parser.error(f"there is no {name!r}; {nearest(name, NAMES)}")
    if args.corpus is not None and not Path(args.corpus).is_file():
        parser.error(f"--corpus {args.corpus} does not exist: give the .npz file of a corpus, or leave it out")
    for folder in [args.out] if args.page is None else [args.out, args.page.parent]:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as cause:
            parser.error(f"{folder} cannot be written ({cause.strerror}): choose another folder")
    return args


if __name__ == "__main__":
    raise SystemExit(main())
