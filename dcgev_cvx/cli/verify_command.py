"""`dcgev verify`: check a solver: which equation fails, on which smallest example.

The answers of the solver are judged by equations computed from the data; a failure comes with the equation and the
smallest example that shows it. A Python function is imported from the installed packages, the current folder, or a
file, and called in a process of its own; a program in any language is started once and asked in JSON lines. The exit
code is 0 if it passed, 1 if it failed or was too slow to be judged.

The levels: step (A, B, y, rho, eps, tau) → x with xᵀBx ≤ 1, where yᵀBy ≤ 1 and A + τI ⪰ 0; algorithm (A, B, rho, eps,
x0) → x with xᵀBx ≤ 1; pca (A, rho, eps, x0) → x with xᵀx ≤ 1, where A ⪰ 0; fda (a, B, y, nu, eps) → x with aᵀx = 1,
where aᵀy = 1; bound (A, B, k) → a number; cardinality (A, B, k) → x with xᵀBx = 1 and at most k nonzeros. Arrays are
float64.

Usage:

    dcgev verify my_module:my_step --level step
    dcgev verify impl.py:solve --level algorithm --full --seed 3
    dcgev verify --cmd "node impl.js" --level pca --junit report.xml
    dcgev verify impl.py:solve --level step --known-failures known.txt
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from .._numerics.output_files import output_file, output_folder, write_file
from .._numerics.text_tables import printable, table
from ..errors import InvalidParameter
from .console import add_command, add_json, overwrite, print_json, show, tell, tiny
from .scoreboard_command import show_findings, solving

if TYPE_CHECKING:
    from ..verify import Report

LEVEL_NAMES = ("step", "algorithm", "pca", "bound", "fda", "cardinality")


def add(subparsers: Any) -> None:
    """Register the command and its options."""
    parser = add_command(subparsers, "verify", run, __doc__)
    parser.add_argument("target", metavar="MODULE:FUNCTION", nargs="?", help="a Python function, or FILE.py:FUNCTION")
    parser.add_argument("--cmd", metavar="COMMAND", help="a program that speaks JSON lines, instead of a function")
    parser.add_argument("--solver", metavar="NAME", help="a solver of CVXPY by name, or MODULE:OBJECT, on every model")
    parser.add_argument("--level", choices=LEVEL_NAMES, help="what the function or program claims to compute")
    parser.add_argument("--full", action="store_true", help="all cases, not the quick selection")
    parser.add_argument("--seed", type=int, default=0, help="another draw of the random cases (default: 0)")
    parser.add_argument("--tol", help="standard (default), interior-point, closed, or a number")
    parser.add_argument("--time-limit", type=float, default=10.0, metavar="S", help="seconds per call (default: 10)")
    parser.add_argument("--junit", metavar="FILE", help="also write the contract checks as JUnit XML")
    parser.add_argument("--include", metavar="CHECK", nargs="+", default=[], help="only these checks, by name")
    parser.add_argument("--exclude", metavar="CHECK", nargs="+", default=[], help="all checks but these")
    parser.add_argument("--known-failures", metavar="FILE", help="lines 'CHECK: reason' of checks that may fail")
    parser.add_argument("--details", action="store_true", help="show every check, the settings and the versions")
    group = parser.add_argument_group("with --solver")
    group.add_argument("--option", metavar="KEY=VALUE", action="append", default=[], help="passed on; repeatable")
    group.add_argument("--report", metavar="DIR", help="write a script for every finding, and a summary")
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Check the solver, show the report, and return 1 if it failed."""
    if sum(what is not None for what in (args.target, args.cmd, args.solver)) != 1:
        raise InvalidParameter("give either MODULE:FUNCTION, --cmd COMMAND or --solver NAME.")
    if args.solver is not None:
        return run_solver(args)
    if args.level is None:
        raise InvalidParameter(f"--level says what the solver claims to compute: one of {', '.join(LEVEL_NAMES)}.")
    tests = None if args.junit is None else output_file("--junit", args.junit)
    report = checked(args)
    print(
        json.dumps(report.to_dict(), ensure_ascii=False, indent=2, allow_nan=False)
        if args.json
        else report.text(details=args.details)
    )
    if tests is not None:
        write_file(tests, report.to_junit())
    return 0 if report.ok else 1


def checked(args: argparse.Namespace) -> Report:
    """The report on a function, or on a program that is started for it."""
    from ..verify.protocol import FunctionProcess, ProcessSolver

    if not args.json:
        tell(f"running {args.target or args.cmd}")
    start: Any = FunctionProcess if args.target else ProcessSolver
    with start(args.target or args.cmd, args.level, time_limit=args.time_limit) as solver:
        report = check(args, solver)
        if not report.ok and solver.stderr:
            print(f"the program's stderr:\n{printable(solver.stderr)}", file=sys.stderr)
        return report


def check(args: argparse.Namespace, solver: Any) -> Report:
    """verify.check with the options of the command."""
    from .. import verify

    def progress(name: str, calls: int) -> None:
        if not args.json:
            overwrite(f"{calls:>5} calls, {name}")

    settings: Any = {name: getattr(args, name) for name in ("seed", "time_limit", "include", "exclude")}
    settings |= {"effort": "full" if args.full else "quick", "tol": tolerance(args.tol)}
    return verify.check(solver, args.level, progress=progress, expected=known_failures(args.known_failures), **settings)


def known_failures(path: str | None) -> dict[str, str]:
    """Reasons by the name of the check, from lines 'CHECK: reason'; empty lines and lines with # are skipped."""
    found = dict[str, str]()
    try:
        text = "" if path is None else Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as cause:
        raise InvalidParameter(f"--known-failures {path} cannot be read: {cause}") from cause
    for number, line in enumerate(map(str.strip, text.splitlines()), start=1):
        name, _, reason = (part.strip() for part in line.partition(":"))
        if line and not line.startswith("#"):
            if not name or not reason or name in found:
                fault = "occurs twice" if name in found else "must be 'CHECK: reason'"
                raise InvalidParameter(f"{path}, line {number}: {line!r} {fault}.")
            found[name] = reason
    return found


def tolerance(text: str | None) -> Any:
    """A number, or the name of a profile."""
    try:
        return None if text is None else float(text)
    except ValueError:
        return text


# A solver of CVXPY


def run_solver(args: argparse.Namespace) -> int:
    """Try a solver on every model: its table, the findings, and the scripts; 1 if an answer is wrong or missing."""
    from ..verify.scoreboard import markdown, run_scoreboard
    from ..verify.solver_trial import TOLERANCE, known_solver

    name, tol = known_solver(args.solver), TOLERANCE if args.tol is None else tolerance(args.tol)
    if not isinstance(tol, float) or not 0.0 < tol < 0.1:
        raise InvalidParameter(f"--tol {args.tol} must be a number below 0.1 here: what the solver claims.")
    folder = None if args.report is None else output_folder("--report", args.report)
    with TemporaryDirectory() as spare:
        found = run_scoreboard(
            [name],
            seed=args.seed,
            tol=tol,
            options=options(args.option),
            time_limit=args.time_limit,
            scripts=folder or Path(spare),
            progress=None if args.json else solving,
        )
    if not sum(cell["asked"] + cell["not licensed"] for cell in found["cells"]):
        raise InvalidParameter(
            f"{name} supports none of the models: it takes no quadratic, conic or semidefinite program."
        )
    if folder is not None:
        write_file(folder / "SUMMARY.md", markdown(found))
        write_file(folder / "scoreboard.json", json.dumps(found, ensure_ascii=False, indent=1, allow_nan=False) + "\n")
    if args.json:
        print_json("verify", {key: value for key, value in found.items() if key != "command"})
    else:
        show_solver(name, found)
        if folder is not None:
            show(f"Scripts and summary: {folder}")
    return 1 if found["findings"] else 0


def show_solver(name: str, found: dict[str, Any]) -> None:
    """The verdict, the findings, and the table by model."""
    asked, right = (sum(cell[key] for cell in found["cells"]) for key in ("asked", "right"))
    if not asked:
        said = sum(cell["not licensed"] for cell in found["cells"])
        show(f"NOT LICENSED: {name} refused {said} problems for want of a licence.")
        return
    words = {key: sum(cell[key] for cell in found["cells"]) for key in ("wrong", "duals wrong", "inaccurate", "failed",
             "crashed", "timed out", "not licensed", "not asked")}  # fmt: skip
    bad = ", ".join(f"{count} {key}" for key, count in words.items() if count)
    verdict = "FAILED" if found["findings"] else "PASSED"
    show(f"{verdict}: {name} {found['versions'][name]}: {right} of {asked} answers right{f'; {bad}' if bad else ''}")
    show_findings(found)
    heads = ("model", "problems", "right", "wrong", "inaccurate", "failed", "worst error")
    rows = [
        (c["model"], str(c["asked"]), str(c["right"]), str(c["wrong"] + c["duals wrong"]), str(c["inaccurate"]),
         str(c["failed"] + c["crashed"] + c["timed out"]), tiny(c["worst error"])) for c in found["cells"] if c["asked"]
    ]  # fmt: skip
    show("", table(heads, rows))


def options(words: list[str]) -> dict[str, Any]:
    """KEY=VALUE as an option of the solver: a number, true or false where it is one, otherwise text."""
    found = dict[str, Any]()
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or not key.isidentifier():
            raise InvalidParameter(f"--option {word!r} must be KEY=VALUE, such as eps_abs=1e-9.")
        try:
            found[key] = json.loads(value)
        except ValueError:
            found[key] = value
    return found
