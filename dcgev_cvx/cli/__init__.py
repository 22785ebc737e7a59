"""The command line `dcgev`: one module per command, each with `add(subparsers)` and `run(args) -> int`.

Exit codes: 0 done, 1 the run ended without convergence, 2 bad input, 130 interrupted. Commands
import NumPy, CVXPY and rich inside `run`, so that `dcgev --help` answers at once.

Usage:

    dcgev COMMAND [DATA] [options]        dcgev COMMAND --help        python -m dcgev_cvx COMMAND …

compare     every method on one problem, with a gap that trusts no solver
solve       one sparse vector, at a penalty ρ̃ or with k nonzeros, or several components
path        cardinality and value along ρ̃
reproduce   the paper's tables and figures, resumable
solvers     which CVXPY solvers are here and which steps each of them solves
verify      put a solver of yours on trial
vectors     test vectors for solvers in other languages, and the judge of their answers
agreement   how far the installed solvers agree on one step
lab         apps in the browser

Answers go to stdout, progress and complaints to stderr, so that output can be piped. With --json stdout holds one
JSON document and nothing else, in which numbers that are not finite are null. Options that have no meaning together
are refused rather than ignored.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from .. import __version__
from ..errors import DCGEVError
from . import agreement, compare, lab, path, reproduce, solve, solvers, vectors, verify

COMMANDS = (
    compare,
    solve,
    path,
    reproduce,
    solvers,
    verify,
    vectors,
    agreement,
    lab,
)
"""Every command, in the order of the help text."""

BAD_INPUT, PIPE_CLOSED, INTERRUPTED = 2, 141, 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; bad input is one line on stderr, never a traceback.

    Parameters
    ----------
    argv
        The arguments after the program's name; those of the process when None.

    Returns
    -------
    int
        0 done; 1 the run ended without convergence, or a verification failed; 2 bad input; 130 interrupted;
        141 the reader of a pipe went away. Bugs are not caught: they end in a traceback, which is what a bug
        report needs.
    """
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by the shell (`>&-`), which is no reason to fail
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 - until the process ends
        forgive(getattr(sys, name))
    try:
        given = sys.argv[1:] if argv is None else argv
        for word in given:
            if word.startswith("-") and word.endswith("=--"):  # argparse would make it an empty list
                return complain(f"{word[:-3]} needs a value, got '--'.", BAD_INPUT)
        args = parser().parse_args(given)
        code = int(args.run(args))
        sys.stdout.flush()
    except SystemExit as ended:  # argparse: --help, or a wrong option that it has already reported
        return ended.code if isinstance(ended.code, int) else BAD_INPUT
    except DCGEVError as error:
        return complain(str(error), BAD_INPUT)
    except KeyboardInterrupt as stop:  # a command that kept something says so in the exception
        return complain(" ".join(["interrupted", *map(str, stop.args)]) + ".", INTERRUPTED)
    except BrokenPipeError:  # `dcgev … | head`: the reader has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PIPE_CLOSED
    except OSError as error:  # a full disk, a name too long, a folder without permission
        return complain(f"{error.filename or 'file'}: {error.strerror or error}.", BAD_INPUT)
    except MemoryError as error:
        return complain(f"not enough memory: {error}. Ask for less.", BAD_INPUT)
    return code


def parser() -> argparse.ArgumentParser:
    """The parser of `dcgev` with every command of the registry.

    Commands are registered in the order of COMMANDS, and each names its own `run` by set_defaults.
    """
    top = argparse.ArgumentParser(
        prog="dcgev",
        description="Sparse PCA, CCA and FDA by d.c. programming: each step a CVXPY problem, each answer certified.",
        epilog="`dcgev COMMAND --help` explains a command.",
    )
    top.add_argument("--version", action="version", version=f"dcgev {__version__}")
    subparsers = top.add_subparsers(metavar="COMMAND", required=True)
    for command in COMMANDS:
        command.add(subparsers)
    return top


def complain(sentence: str, code: int) -> int:
    """One line on stderr, then the exit code.

    Line breaks inside a message become spaces, so that one error is one line for grep.
    """
    with suppress(OSError):  # a full disk behind stderr: the exit code is still right
        print(f"dcgev: {' '.join(sentence.split())}", file=sys.stderr, flush=True)
    return code


def forgive(stream: object) -> None:
    """Let a terminal without Greek letters show `?` instead of ending the command."""
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="replace")
