"""`dcgev exercise`: copy the starter of an exercise into the current folder.

Fill in the copy and run it: it prints whether the answer is right and why. Without a name, list the exercises. A file
that exists is not overwritten.

Usage:

    dcgev exercise
    dcgev exercise threshold
"""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path
from typing import Any

from ..errors import InvalidParameter, nearest
from .console import add_command, scripts, summary


def add(subparsers: Any) -> None:
    """Register the command and its options."""
    parser = add_command(subparsers, "exercise", run, __doc__)
    parser.add_argument("name", metavar="NAME", nargs="?", help="which exercise (default: list them)")


def run(args: argparse.Namespace) -> int:
    """List the exercises, or copy the starter of one."""
    starters = scripts("exercises")
    if args.name is None:
        for name, file in starters.items():
            print(f"  dcgev exercise {name:12} {summary(file).partition('. ')[0].removeprefix('Exercise: ')}")
        return 0
    if args.name not in starters:
        raise InvalidParameter(f"there is no exercise {args.name!r}; {nearest(args.name, starters)}")
    copy = Path(f"{args.name}.py")
    if copy.exists():
        raise InvalidParameter(f"{copy} exists already: run `python {copy}`, or rename it to start again.")
    shutil.copyfile(starters[args.name], copy)
    print(f"{copy} is in the current folder: fill it in, then run `python {copy}`.")
    return 0
