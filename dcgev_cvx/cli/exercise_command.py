"""`dcgev exercise`: starters of the exercises, your progress, all of them as a notebook.

Fill in the copy and run it: it prints whether the answer is right and why. Without a name, list the exercises. A file
that exists is not overwritten. `progress` runs the files of the current folder and counts those that are right.
`export` writes a notebook with all exercises; with --otter also its tests in the format of otter-grader.

Usage:

    dcgev exercise
    dcgev exercise threshold
    dcgev exercise progress
    dcgev exercise export --otter --out homework
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from .._numerics.output_files import output_folder, write_file
from ..errors import InvalidParameter
from .console import add_command, chosen_script, refuse_given, scripts, show

LONGEST = 120.0
"""Seconds that `progress` gives one exercise."""


def add(subparsers: Any) -> None:
    """Register the command and its options."""
    parser = add_command(subparsers, "exercise", run, __doc__)
    parser.add_argument("name", metavar="NAME", nargs="?", help="an exercise, progress, or export (default: list them)")
    parser.add_argument("--otter", action="store_true", help="with export: also the tests for otter-grader")
    parser.add_argument("--out", metavar="DIR", help="with export: the folder (default: exercises)")


def run(args: argparse.Namespace) -> int:
    """List the exercises, copy the starter of one, count the right ones, or export them."""
    if args.name == "export":
        return export(args.out or "exercises", otter=args.otter)
    refuse_given(args, ("otter", "out"), "belongs to `dcgev exercise export`")
    if args.name == "progress":
        return progress()
    starter = chosen_script("exercise", "exercises", args.name)
    if starter is not None:
        copy = Path(starter.name)
        if copy.exists():
            raise InvalidParameter(f"{copy} exists already: run `python {copy}`, or rename it to start again.")
        write_file(copy, starter.read_bytes())
        print(f"{copy} is in the current folder: fill it in, then run `python {copy}`.")
    return 0


def progress() -> int:
    """Run what is there, say what each prints last, and count; the exit code is 0 when all are right."""
    from .._numerics.text_tables import table
    from ..teach import EXERCISES

    rows = [(name, EXERCISES[name].title, state(Path(f"{name}.py"))) for name in EXERCISES]
    solved = sum(row[2] == "right" for row in rows)
    show(f"{solved} of {len(rows)} solved", "", table(("exercise", "title", "state"), rows, words=(0, 1, 2)))
    return 0 if solved == len(rows) else 1


def state(file: Path) -> str:
    """right, not yet, or why its file says neither."""
    if not file.exists():
        return "not started"
    try:
        done = subprocess.run(
            [sys.executable, str(file)], capture_output=True, text=True, encoding="utf-8", timeout=LONGEST, check=False
        )
    except subprocess.TimeoutExpired:
        return f"no end after {LONGEST:g} s"
    last = (done.stdout.strip().splitlines() or [""])[-1].partition(":")[0]
    return last if last in ("right", "not yet") else "ends with an error"


def export(folder: str, *, otter: bool) -> int:
    """Write exercises.ipynb and, for otter-grader, one file of tests for each exercise."""
    from ..teach.notebook import exercise_notebook, otter_test

    out = output_folder("--out", folder)
    starters = {name: file.read_text(encoding="utf-8") for name, file in scripts("exercises").items()}
    notebook = exercise_notebook(starters, otter=otter)
    write_file(out / "exercises.ipynb", json.dumps(notebook, indent=1, ensure_ascii=False) + "\n")
    if otter:
        for name in starters:
            write_file(out / "tests" / f"{name}.py", otter_test(name))
        print(f"{out} has exercises.ipynb and its tests: `otter generate` there makes the autograder.")
    else:
        print(f"{out} has exercises.ipynb.")
    return 0
