"""`dcgev lab`: apps in the browser: step through MM, break a solver, and others.

Start an app in the browser, on this machine and for you alone; without a name, list them. Needs marimo
(pip install 'dcgev-cvx[lab]'). Ctrl-C ends it.

Usage:

    dcgev lab
    dcgev lab step
    dcgev lab step --headless --port 2718
"""

import argparse
import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ..errors import MissingPackage
from .console import add_command, chosen_script


def add(subparsers: Any) -> None:
    """Register the command and its options."""
    parser = add_command(subparsers, "lab", run, __doc__)
    parser.add_argument("name", metavar="NAME", nargs="?", help="which app (default: list them)")
    parser.add_argument("--port", type=int, help="port of the local server (default: a free one)")
    parser.add_argument("--headless", action="store_true", help="print the address and open no browser")
    parser.add_argument("--edit", action="store_true", help="open a copy of the app's code as a notebook")


def run(args: argparse.Namespace) -> int:
    """List the apps, or run one until it is ended."""
    app = chosen_script("lab", "lab", args.name)
    if app is None:
        return 0
    if find_spec("marimo") is None:
        raise MissingPackage("dcgev lab needs the package marimo: pip install 'dcgev-cvx[lab]'.")
    # -P: a file marimo.py of the current folder is not run; --token: for you alone
    words = [sys.executable, "-P", "-m", "marimo", "edit" if args.edit else "run", str(app), "--token"]
    if args.edit:  # in a copy, so that changes do not touch the package
        words[5] = app.name
        if not Path(app.name).exists():
            shutil.copyfile(app, app.name)
    if args.port is not None:
        words += ["--port", str(args.port)]
    return replaced_by([*words, "--headless"] if args.headless else words)


def replaced_by(words: list[str]) -> int:
    """Become the server, so that a signal to this process ends it; where that cannot be, wait for it."""
    sys.stdout.flush()
    if os.name == "posix":
        os.execv(words[0], words)
    return subprocess.call(words)
