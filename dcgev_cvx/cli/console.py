"""What the commands share: options, text, JSON, progress, and the check that files can be written.

NumPy and rich are imported where they are used, so that `dcgev --help` answers at once.
"""

import argparse
import csv
import json
import os
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterable, Mapping
from importlib.util import find_spec
from io import BytesIO, StringIO
from itertools import chain
from pathlib import Path
from typing import Any

from .._numerics.output_files import output_file, write_file
from .._numerics.text_tables import as_text, printable
from ..errors import DataUnavailable, InvalidParameter, MissingPackage, nearest

SHOWN = 40
"""Loadings or failures beyond this number are left to --json."""

CSV_RULES = """\
Columns are separated by a tab or semicolon if the first line has one, else by
commas. The first line is the header if a cell of it is text, or if it
counts 0, 1, 2, … or 1, 2, 3, … The first column holds row names if it is text
or has no name. Every other cell must be a number."""

# Options


def add_command(
    subparsers: Any, name: str, run: Callable[[argparse.Namespace], int], doc: str | None
) -> argparse.ArgumentParser:
    """A parser whose help is the docstring of the command's module: a description, and examples."""
    text, _, examples = (doc or "").partition("Usage:\n\n")
    paragraphs = text.strip().split("\n\n")
    parser: argparse.ArgumentParser = subparsers.add_parser(
        name,
        description="\n\n".join(textwrap.fill(" ".join(part.split()), 79) for part in paragraphs[1:]),
        epilog="examples:\n" + textwrap.indent(textwrap.dedent(examples), "  ") if examples else None,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=run, options=parser.format_help)
    return parser


def add_problem(parser: argparse.ArgumentParser) -> None:
    """DATA, --A and --B, and the options for data tables: the problem that a command works on."""
    group = parser.add_argument_group("problem")
    group.add_argument(
        "data", metavar="DATA", nargs="?", help="a bundled name, or a file: .npy, .npz, .csv, .tsv, .mtx"
    )
    group.add_argument("--A", metavar="FILE", help="symmetric matrix A, instead of DATA")
    group.add_argument("--B", metavar="FILE", help="positive definite matrix B (default: the identity)")
    group = parser.add_argument_group("problem from a table of samples × variables")
    group.add_argument("--task", choices=("pca", "cca", "fda"), help="DATA holds samples, of which A and B are made")
    group.add_argument("--X", "--data", dest="X", metavar="FILE", help="the samples, instead of DATA")
    group.add_argument("--Y", metavar="FILE", help="the second view (cca)")
    group.add_argument("--y", metavar="LABELS", help="the classes (fda): a column name of the samples, or a file")
    group.add_argument("--ridge", type=float, default=0.0, help="added to the diagonal of B (cca, fda; default: 0)")
    group.add_argument("--no-center", action="store_true", help="do not subtract the means of the columns (pca)")
    group.add_argument("--scale", action="store_true", help="divide columns by their standard deviation (pca, fda)")
    group = parser.add_argument_group(".csv files", CSV_RULES)
    flag = argparse.BooleanOptionalAction
    group.add_argument("--header", action=flag, help="the first line holds names, or numbers")
    group.add_argument("--index-column", metavar="COLUMN", help="row names: a column by name or number, or none")
    group.add_argument("--drop", metavar="COLUMN", action="append", default=[], help="leave a column out; repeatable")
    group.add_argument("--decimal", choices=(".", ","), default=".", help="the decimal mark (default: a point)")


def add_json(group: Any) -> None:
    """The option --json."""
    group.add_argument("--json", action="store_true", help="print one JSON document and nothing else")


def add_plot(group: Any) -> None:
    """The option --plot."""
    group.add_argument("--plot", metavar="FILE", help="draw a picture to .png, .pdf or .svg (needs Matplotlib)")


def given(args: argparse.Namespace, names: Iterable[str]) -> dict[str, Any]:
    """Those of the options that were given."""
    values = {name: getattr(args, name) for name in names}
    return {name: value for name, value in values.items() if value is not None and value is not False}


def refuse_given(args: argparse.Namespace, names: Iterable[str], why: str) -> None:
    """Raise for an option that was given and would be ignored."""
    for name in given(args, names):
        raise InvalidParameter(f"--{name.replace('_', '-')} {why}.")


def numbers(text: str) -> list[float]:
    """The type of an option that takes numbers with commas."""
    try:
        return [float(cell) for cell in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} must be numbers with commas between them, such as 1,4.84") from None


def cardinality(text: str) -> int | tuple[int, ...]:
    """The type of -k: a number of nonzeros, or one for each view.

    Examples
    --------
    >>> from dcgev_cvx.cli.console import cardinality
    >>> cardinality("4"), cardinality("5+5")
    (4, (5, 5))
    """
    try:
        counts = tuple(int(part) for part in text.split("+"))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} must be a whole number such as 4, or per view 5+5") from None
    return counts[0] if len(counts) == 1 else counts


def cardinalities(text: str, option: str) -> Iterable[int | tuple[int, ...]]:
    """The numbers of a list with commas: 6 → 6, 2:4 → 2, 3, 4, and per view 5+5 → (5, 5).

    Examples
    --------
    >>> from dcgev_cvx.cli.console import cardinalities
    >>> list(cardinalities("2:4,8", "-k")), list(cardinalities("2+2,3+3", "-k"))
    ([2, 3, 4, 8], [(2, 2), (3, 3)])
    """
    parts: list[Iterable[int | tuple[int, ...]]] = []
    for part in text.split(","):
        try:
            low, colon, high = part.partition(":")
            parts.append(range(int(low), int(high) + 1) if colon else [cardinality(part)])
        except (ValueError, argparse.ArgumentTypeError):
            raise InvalidParameter(
                f"{option} {text!r} is not a cardinality: write 6, a range 2:10, 2,4,6, or per view 5+5."
            ) from None
        if not parts[-1]:
            raise InvalidParameter(f"{option} {text} is an empty range: the first number must not exceed the second.")
    return chain(*parts)


# Text


def show(*parts: Any) -> None:
    """Print text and tables to stdout, as wide as the terminal, or 80 columns in a pipe."""
    print(as_text(*parts, width=shutil.get_terminal_size().columns, color=colored()))


def colored() -> bool:
    """Whether stdout is a terminal that may be sent colours (https://no-color.org)."""
    return sys.stdout.isatty() and "NO_COLOR" not in os.environ


def headline(sentence: str) -> None:
    """Print the sentence that answers the command, bold on a terminal."""
    text = printable(wrapped(sentence))
    print(f"\033[1m{text}\033[0m" if colored() else text)


def wrapped(sentence: str) -> str:
    """A sentence in lines as wide as the terminal, 60 to 100 letters; a long name is not broken."""
    width = min(100, max(60, shutil.get_terminal_size().columns))
    return textwrap.fill(sentence, width, break_long_words=False, break_on_hyphens=False)


def tiny(value: float) -> str:
    """A residual with two digits, 0 when it is exactly that."""
    return "0" if value == 0.0 else f"{value:.1e}"


# JSON


def finite(data: Any) -> Any:
    """The same data for JSON: arrays as lists, NaN and infinities as None.

    Examples
    --------
    >>> from dcgev_cvx.cli.console import finite
    >>> finite({"rho": float("nan"), "x": [1.0, float("inf")]})
    {'rho': None, 'x': [1.0, None]}
    """
    text = json.dumps(data, default=lambda array: array.tolist())
    return json.loads(text, parse_constant=lambda name: None)


def document(command: str, data: Mapping[str, Any], *, ended: bool = True) -> str:
    """A JSON document with the command and the version; "ended" is false after an interrupt.

    All but ASCII is escaped, since it may steer a terminal, or stdout may not be able to write it.
    """
    from .. import __version__

    made = {"command": command, "version": __version__, **data, **({} if ended else {"ended": False})}
    return json.dumps(finite(made), indent=2, allow_nan=False)


def print_json(command: str, data: Mapping[str, Any], *, ended: bool = True) -> None:
    """One JSON document on stdout."""
    print(document(command, data, ended=ended))


WRITTEN = {"--out": (".csv", ".json"), "--plot": (".png", ".pdf", ".svg"), "--html": (".html", ".htm")}
"""Options that name a file to write, and the endings it may have."""


def result_file(option: str, name: str | None) -> Path | None:
    """The path that such an option gives, which can be written; pictures need Matplotlib."""
    if name is None:
        return None
    file, endings = output_file(option, name), WRITTEN[option]
    if file.suffix.lower() not in endings:
        raise InvalidParameter(f"{option} {name}: the name must end in {', '.join(endings[:-1])} or {endings[-1]}.")
    if option != "--out" and find_spec("matplotlib") is None:
        raise MissingPackage(f"{option} needs the package matplotlib: pip install 'dcgev-cvx[plot]'.")
    return file


def write_csv(file: Path, header: Iterable[str], rows: Iterable[Iterable[Any]]) -> None:
    """Write a table, whole or not at all."""
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    write_file(file, text.getvalue())


# Lines on stderr: notes always, progress when a person is looking


def note(line: str) -> None:
    """Print a line that a person or a log should have, without letters that steer a terminal."""
    print(f"dcgev: {printable(line)}", file=sys.stderr, flush=True)


def tell(line: str) -> None:
    """Print a line."""
    if sys.stderr.isatty():
        print(printable(line), file=sys.stderr, flush=True)


def overwrite(line: str) -> None:
    """Print a line that the next one overwrites; "" takes it away."""
    if sys.stderr.isatty():
        print(f"\r\033[K{printable(line)}", end="", file=sys.stderr, flush=True)


# Pictures


def draw(figure: Any, file: Path) -> None:
    """Write a figure to its file, whole or not at all."""
    write_file(file, image(figure, file.suffix[1:].lower()))
    note(f"{file} is drawn.")


def image(figure: Any, ending: str) -> bytes:
    """The content of a file with the figure."""
    content = BytesIO()
    figure.savefig(content, format=ending, dpi=150)
    return content.getvalue()


# Scripts that come with the package


def scripts(kind: str) -> dict[str, Path]:
    """The scripts of `lab` or `exercises` by name, inside an installed package or beside it in a clone."""
    package = Path(__file__).parents[1]
    for folder in (package / kind, package.parent / "examples" / kind):
        if folder.is_dir():
            return {file.stem: file for file in sorted(folder.glob("*.py"))}
    raise DataUnavailable(f"the folder {kind} was not found: install the package from its wheel, or work in a clone.")


def summary(file: Path) -> str:
    """The first line of a script's docstring."""
    return file.read_text(encoding="utf-8").split('"""')[1].splitlines()[0]


def chosen_script(command: str, kind: str, name: str | None) -> Path | None:
    """The script of that name; without a name, list the scripts and return None."""
    found = scripts(kind)
    if name is None:
        for known, file in found.items():
            print(f"  dcgev {command} {known:12} {summary(file).partition('. ')[0].removeprefix('Exercise: ')}")
        return None
    if name not in found:
        raise InvalidParameter(f"there is no {command} {name!r}; {nearest(name, found)}")
    return found[name]
