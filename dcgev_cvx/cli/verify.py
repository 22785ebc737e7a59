"""`dcgev verify`: put a solver on trial, a Python function or a program in any language.

Usage:

    dcgev verify my_module:my_step --level step
    dcgev verify impl.py:solve --level algorithm --full --seed 3
    dcgev verify --cmd "node impl.js" --level pca --html report.html

A function is imported from the current folder or the installed packages, or from a file; a program is started once
and asked in JSON lines. Either is run with the rights of the user, and nothing else of the user's is. Levels: step
(one MM step), algorithm (a whole run), pca, bound (an upper bound), fda, cardinality. Exit code 0 passed, 1 failed,
2 bad input.
"""

from __future__ import annotations

import argparse
import faulthandler
import importlib
import importlib.util
import json
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import InvalidParameter

if TYPE_CHECKING:
    from ..verify import Report

LEVEL_NAMES = ("step", "algorithm", "pca", "bound", "fda", "cardinality")


def add(subparsers: Any) -> None:
    """Register the command and its options."""
    parser = subparsers.add_parser(
        "verify",
        help="put a solver on trial: which equation fails, on which smallest example",
        description="Put a solver on trial. The module or program that you name is run, and nothing else; "
        "its answers are judged by equations computed from the data.",
        epilog="Examples: dcgev verify my_module:my_step --level step   "
        'dcgev verify --cmd "node impl.js" --level pca. Exit code 0 passed, 1 failed, 2 bad input.',
    )
    parser.add_argument(
        "target", metavar="MODULE:FUNCTION", nargs="?", help="a Python function, also FILE.py:FUNCTION"
    )
    parser.add_argument("--cmd", metavar="COMMAND", help="a program that speaks JSON lines, instead of a function")
    parser.add_argument("--level", required=True, choices=LEVEL_NAMES, help="what the solver claims to compute")
    parser.add_argument("--full", action="store_true", help="all cases, not the quick selection")
    parser.add_argument("--seed", type=int, default=0, help="another draw of the random cases (default: 0)")
    parser.add_argument("--tol", help="standard (default), interior-point, closed, or a number")
    parser.add_argument("--time-limit", type=float, default=10.0, metavar="S", help="seconds per call (default: 10)")
    parser.add_argument("--json", action="store_true", help="print JSON and nothing else")
    parser.add_argument("--html", metavar="FILE", help="also write the report as a page")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Try the solver, show the report, and say by the exit code whether it passed.

    Both or neither of MODULE:FUNCTION and --cmd is bad input. The page is written also when the solver fails, since
    that is when it is read; where it cannot be written, that is said before the trial.
    """
    from .._numerics.checks import as_path
    from .path import writable

    if (args.target is None) == (args.cmd is None):
        raise InvalidParameter("give either MODULE:FUNCTION or --cmd COMMAND.")
    page = None if args.html is None else as_path(args.html, "--html")
    if page is not None:
        writable("--html", page)
    report = judged(args)
    if page is not None:
        page.write_text(report.to_html(), encoding="utf-8")
    if args.json:
        print(json.dumps(report.to_dict(), ensure_ascii=False, indent=2, allow_nan=False))
    else:
        print(report)
    return 0 if report.ok else 1


def judged(args: argparse.Namespace) -> Report:
    """The report on a function, or on a program that is started for it.

    The program's last words on stderr are shown when it failed: they usually say why.
    """
    from ..verify import ProcessSolver

    say(args, f"running {args.target or args.cmd} and nothing else of yours")
    if args.target is not None:
        return trial(args, loaded(args.target))
    with ProcessSolver(args.cmd, args.level, time_limit=args.time_limit) as solver:
        report = trial(args, solver)
        if not report.ok and solver.stderr:
            print(f"the program's stderr:\n{solver.stderr}", file=sys.stderr)
        return report


def trial(args: argparse.Namespace, solver: Any) -> Report:
    """check() with the options of the command."""
    from ..verify import check

    with watchdog(2.0 * args.time_limit + 10.0):
        return check(
            solver,
            args.level,
            seed=args.seed,
            effort="full" if args.full else "quick",
            tol=tolerance(args.tol),
            time_limit=args.time_limit,
            progress=lambda name, calls: say(args, f"{calls:>5} calls, {name}"),
        )


@contextmanager
def watchdog(seconds: float) -> Generator[None]:
    """End the command with code 1, and the line where it stands, when no other thread has run for so long.

    A call that never returns is left behind in its thread, but not one that keeps the interpreter to itself, as a
    compiled solver or a regular expression may: nothing of ours would run again.
    """
    done = threading.Event()

    def wind() -> None:
        faulthandler.dump_traceback_later(seconds, exit=True, file=2)

    def beat() -> None:
        while not done.wait(1.0):
            wind()

    wind()
    thread = threading.Thread(target=beat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
        faulthandler.cancel_dump_traceback_later()


def tolerance(text: str | None) -> Any:
    """A profile's name or a number.

    What is not a number is taken for a profile's name, and checked where the names are known.
    """
    try:
        return None if text is None else float(text)
    except ValueError:
        return text


def say(args: argparse.Namespace, text: str) -> None:
    """Progress, on a terminal only.

    One line that is overwritten; the first, which says what is run, stays.
    """
    if sys.stderr.isatty() and not args.json:
        print(f"\r\033[K{text}", end="\n" if "nothing else" in text else "", file=sys.stderr, flush=True)


def loaded(target: str) -> Any:
    """The function named by MODULE:FUNCTION or FILE.py:FUNCTION.

    Dotted names reach into classes and instances: impl.py:Solver.step.
    """
    module, mark, name = target.rpartition(":")
    if not mark or not module or not name:
        raise InvalidParameter(f"{target!r} does not name a function: write MODULE:FUNCTION or FILE.py:FUNCTION.")
    found = imported(module)
    for part in name.split("."):
        if not hasattr(found, part):
            raise InvalidParameter(f"{module} has no {part!r}.")
        found = getattr(found, part)
    return found


def imported(module: str) -> Any:
    """The module, from the current folder or the installed packages, or from a file.

    Raises InvalidParameter with the type and text of whatever the module raised on import.
    """
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        with redirect_stdout(sys.stderr):  # stdout is the report's, which may be JSON
            return from_file(Path(module)) if module.endswith(".py") else importlib.import_module(module)
    except (Exception, SystemExit) as cause:  # whatever the user's module does on import is the user's to read
        raise InvalidParameter(f"{module} could not be imported: {type(cause).__name__}: {cause}") from cause


def from_file(path: Path) -> Any:
    """A module loaded from its file."""
    if not path.is_file():
        raise FileNotFoundError(f"{path} does not exist")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module
