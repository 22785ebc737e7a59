"""The command line `dcgev`: one module per command, each with `add(subparsers)` and `run(args) -> int`.

Results go to stdout, progress and errors to stderr, so that output can be piped. With --json stdout holds one JSON
document and nothing else, in which numbers that are not finite are null. Options that do not go together raise an
error. Only the module of the command that runs is imported, so that `dcgev --help` answers at once.

Exit codes: 0 done, 1 the run ended without convergence or a check failed, 2 invalid input, 130 interrupted, 141 the
reader of a pipe is gone, 143 ended by SIGTERM.
"""

import argparse
import os
import re
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

from .. import __version__
from .._numerics.extras import check_cvxpy
from .._numerics.text_tables import printable
from ..errors import DCGEVError, InvalidParameter, nearest
from .console import summary

COMMANDS = ("compare", "study", "solve", "path", "library", "verify", "scoreboard", "vectors", "lab", "exercise")
"""The commands in the order of the help text; COMMAND is in the module COMMAND_command."""


TOP_OPTIONS = ("--help", "--version", "-h")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; an error is one line on stderr, a bug is a traceback.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments after the program's name; those of the process by default.

    Returns
    -------
    int
        The exit code.

    Examples
    --------
    >>> from dcgev_cvx.cli import main
    >>> main(["--version"])  # doctest: +ELLIPSIS
    dcgev ...
    0
    """
    for name in ("stdout", "stderr"):
        prepare_stream(name)
    try:
        args = parsed(list(sys.argv[1:] if argv is None else argv))
        check_cvxpy()
        code = int(args.run(args))
        sys.stdout.flush()
    except SystemExit as ended:  # argparse: --help, or a wrong option that it has reported
        return ended.code if isinstance(ended.code, int) else 2
    except DCGEVError as error:
        return complain(str(error), 2)
    except KeyboardInterrupt as stop:  # a command that kept something says so in the exception
        return complain(" ".join(["interrupted", *map(str, stop.args)]) + ".", 130)
    except BrokenPipeError:  # `dcgev … | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except OSError as error:  # a full disk, a name too long, a folder without permission
        return complain(f"{error.filename or 'file'}: {error.strerror or error}.", 2)
    except ModuleNotFoundError as error:  # an installation that is not whole
        return complain(f"the package {error.name} is not installed: pip install {error.name}.", 2)
    except MemoryError as error:
        return complain(f"not enough memory: {error}. Try a smaller problem.", 2)
    return code


def parsed(words: list[str]) -> argparse.Namespace:
    """The options of the command line; without any, the help is printed."""
    if words and not words[0].startswith("-") and words[0] not in COMMANDS:
        raise InvalidParameter(f"there is no command {words[0]!r}; {nearest(words[0], COMMANDS)}")
    words = words or ["--help"]
    if words[0].startswith("-") and words[0] not in TOP_OPTIONS:
        hint = nearest(words[0], TOP_OPTIONS)
        hint = hint if hint.startswith("did") else f"a command comes first, as in `dcgev compare {words[0]} …`."
        raise InvalidParameter(f"dcgev has no option {words[0]!r}: {hint}")
    args, unknown = parser(words[0]).parse_known_args(words)
    if unknown:
        given = unknown[0].partition("=")[0]
        known = re.findall(r"(?<=\s)--?[a-zA-Z][\w-]*", args.options())
        hint = nearest(given, known) if given.startswith("-") else ""
        hint = hint if hint.startswith("did") else f"see `dcgev {words[0]} --help`."
        raise InvalidParameter(f"{given!r} is no argument of `dcgev {words[0]}`: {hint}")
    return args


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line, as all errors of the command are."""

    def error(self, message: str) -> NoReturn:
        """Print the message and where to read on, and exit with code 2."""
        for name, words in (("float", "a number, such as 4.84"), ("int", "a whole number, such as 100")):
            message = re.sub(f"invalid {name} value: (.*)", rf"\1 must be {words}", message)
        complain(f"{message.rstrip('.')}. See `{self.prog} --help`.", 2)
        raise SystemExit(2)


def parser(command: str) -> argparse.ArgumentParser:
    """The parser of `dcgev` and of one command; of the others, the module's first line is shown."""
    modules = {name: Path(__file__).with_name(f"{name}_command.py") for name in COMMANDS}
    lines = [f"  {name:11}{summary(file).rstrip('.').partition(': ')[2]}\n" for name, file in modules.items()]
    top = Parser(
        prog="dcgev",
        usage="dcgev COMMAND [options]",
        description="Sparse PCA, CCA and FDA by d.c. programming: each step is a CVXPY problem,\n"
        "each answer is certified.\n\ncommands:\n" + "".join(lines),
        epilog="`dcgev COMMAND --help` explains a command; `dcgev compare` is a first example.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action="version", version=f"dcgev {__version__}", help="print the version and exit")
    subparsers: Any = top.add_subparsers(prog="dcgev", metavar="COMMAND", help=argparse.SUPPRESS, required=True)
    if command in COMMANDS:
        import_module(f"{__name__}.{command}_command").add(subparsers)
    return top


def complain(sentence: str, code: int) -> int:
    """One line on stderr, whatever line breaks the message has, and the exit code."""
    with suppress(OSError):  # a full disk behind stderr: the exit code is still right
        print(f"dcgev: {printable(' '.join(sentence.split()))}", file=sys.stderr, flush=True)
    return code


def prepare_stream(name: str) -> None:
    """A stream that the shell closed (`>&-`) goes to the null device; letters that it cannot write become `?`."""
    if getattr(sys, name) is None:
        setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 - until the process ends
    reconfigure = getattr(getattr(sys, name), "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="replace")
