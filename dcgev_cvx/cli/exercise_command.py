"""`dcgev exercise`: copy the starter of an exercise into the current folder.

Fill in the copy and run it: it prints whether the answer is right and why. Without a name, list the exercises. A file
that exists is not overwritten.

Usage:

    dcgev exercise
    dcgev exercise threshold
"""

import argparse
from pathlib import Path
from typing import Any

from .._numerics.output_files import write_file
from ..errors import InvalidParameter
from .console import add_command, chosen_script


def add(subparsers: Any) -> None:
    """Register the command and its options."""
    parser = add_command(subparsers, "exercise", run, __doc__)
    parser.add_argument("name", metavar="NAME", nargs="?", help="which exercise (default: list them)")


def run(args: argparse.Namespace) -> int:
    """List the exercises, or copy the starter of one."""
    starter = chosen_script("exercise", "exercises", args.name)
    if starter is not None:
        copy = Path(starter.name)
        if copy.exists():
            raise InvalidParameter(f"{copy} exists already: run `python {copy}`, or rename it to start again.")
        write_file(copy, starter.read_bytes())
        print(f"{copy} is in the current folder: fill it in, then run `python {copy}`.")
    return 0
