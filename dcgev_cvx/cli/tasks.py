"""From data files to a pencil: --task pca, cca or fda with --X, --Y and --y, shared by `solve -k` and `path`.

pca   --X samples [--no-center] [--scale]        A = XᵀX/m, B = I
cca   --X view --Y view [--ridge r]              A = [0 Σxy; Σyx 0], B = [Σxx 0; 0 Σyy] + r·I
fda   --X samples --y column or file [--ridge r] A = between-class, B = within-class scatter + r·I

Without --task DATA is a matrix A, or a file that holds a pencil. Names come from the header of a .csv file.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..pencils import Pencil

TASKS = ("pca", "cca", "fda")


def add_task(parser: argparse.ArgumentParser) -> None:
    """The options that say what the data are."""
    group = parser.add_argument_group("problem from samples × variables")
    group.add_argument(
        "--task", choices=TASKS, help="DATA holds samples, not a matrix A: build this pencil from them"
    )
    group.add_argument("--X", "--data", dest="X", metavar="FILE", help="the samples, instead of DATA")
    group.add_argument("--Y", metavar="FILE", help="the second view (cca)")
    group.add_argument("--y", metavar="LABELS", help="the classes (fda): a column of X's header, or a file")
    group.add_argument("--ridge", type=float, default=0.0, help="added to the diagonal of B (cca, fda; default: 0)")
    group.add_argument("--no-center", action="store_true", help="keep the columns' means (pca)")
    group.add_argument("--scale", action="store_true", help="divide columns by their standard deviation (pca)")


def problem(args: argparse.Namespace) -> Pencil:
    """The pencil that the arguments describe, from matrices or from samples.

    Raises InvalidParameter when the samples, the second view or the labels are missing, or when an option does not
    belong to the task.
    """
    from ..errors import InvalidParameter
    from .inputs import read_pencil

    refuse_strays(args)
    if args.task is None:
        return read_pencil(args.data, args.A, args.B)
    source = args.X if args.X is not None else args.data
    if source is None:
        raise InvalidParameter(f"--task {args.task} needs the samples: give DATA or --X FILE.")
    return {"pca": pca, "cca": cca, "fda": fda}[args.task](args, source)


def refuse_strays(args: argparse.Namespace) -> None:
    """An option that the task does not use is a mistake, not a detail.

    Which options a task takes is listed in the message.
    """
    from ..errors import InvalidParameter

    uses = {
        None: ("A", "B"),
        "pca": ("X", "scale", "no_center"),
        "cca": ("X", "Y", "ridge"),
        "fda": ("X", "y", "ridge"),
    }
    for name in ("A", "B", "X", "Y", "y", "ridge", "scale", "no_center"):
        if getattr(args, name) and name not in uses[args.task]:
            option = "--" + name.replace("_", "-")
            where = "without --task" if args.task is None else f"with --task {args.task}"
            raise InvalidParameter(f"{option} has no meaning {where}; there it takes {options(uses[args.task])}.")
    if args.data is not None and args.X is not None:
        raise InvalidParameter(f"DATA ({args.data}) and --X ({args.X}) were both given: give one of them.")


def options(names: tuple[str, ...]) -> str:
    """The names as options."""
    return ", ".join("--" + name.replace("_", "-") for name in names)


def pca(args: argparse.Namespace, source: str) -> Pencil:
    """--task pca."""
    from ..pencils import pca_pencil

    X, names = samples(source)
    if args.scale:
        refuse_constant(X, names, source)
    return renamed(pca_pencil(X, center=not args.no_center, scale=args.scale), names)


def refuse_constant(X: Any, names: tuple[str, ...] | None, source: str) -> None:
    """Constant columns by the names of the file's header: they have no unit variance."""
    from .._numerics.tables import Table
    from ..errors import InvalidParameter

    table = Table(X, names, source)
    flat = [] if X.ndim != 2 or not X.size else [j for j, size in enumerate(table.spread()[1]) if size == 0.0]
    if flat:
        raise InvalidParameter(
            f"{source} has constant column(s): {table.list_of(flat)}. They cannot be scaled to unit variance: drop "
            "them, or leave out --scale."
        )


def cca(args: argparse.Namespace, source: str) -> Pencil:
    """--task cca.

    Names of both views are kept; x1, x2, … and y1, y2, … stand in for a view without a header.
    """
    from ..errors import InvalidParameter
    from ..pencils import cca_pencil

    if args.Y is None:
        raise InvalidParameter("--task cca needs the second view: --Y FILE.")
    (X, x_names), (Y, y_names) = samples(source), samples(args.Y)
    pencil = cca_pencil(X, Y, ridge=args.ridge)
    p = X.shape[1]
    own = pencil.names or ()
    return renamed(pencil, (*(x_names or own[:p]), *(y_names or own[p:])))


def fda(args: argparse.Namespace, source: str) -> Pencil:
    """--task fda: the labels are a column of the samples' header, or a file.

    A --y that is an existing file with an ending is read as one; otherwise it must be a column of the samples'
    header, and that column is taken out of the samples.
    """
    from ..errors import InvalidParameter
    from ..pencils import fda_pencil

    if args.y is None:
        raise InvalidParameter("--task fda needs the classes: --y COLUMN of the samples, or --y FILE.")
    if Path(args.y).suffix and Path(args.y).exists():
        X, names = samples(source)
        labels = label_file(args.y, X.shape[0])
    else:
        X, names, labels = labelled(source, args.y)
    return renamed(fda_pencil(X, labels, ridge=args.ridge), names)


def samples(source: str) -> tuple[Any, tuple[str, ...] | None]:
    """The numbers and the columns' names of a file; gaps are told by those names."""
    from .._numerics.tables import as_table
    from .inputs import read_table

    table = read_table(source)
    return as_table(table.matrix, source, table.names), table.names


def renamed(pencil: Pencil, names: tuple[str, ...] | None) -> Pencil:
    """The pencil with the names of the file's header."""
    from dataclasses import replace

    return pencil if names is None else replace(pencil, names=names)


def labelled(source: str, column: str) -> tuple[Any, tuple[str, ...], list[str]]:
    """A .csv file's numbers, their names and the labels in one named column.

    Raises InvalidParameter for a column that is not there, with the nearest name, or twice, for rows of another
    length, and for a label that is missing.
    """
    from ..errors import InvalidParameter, nearest
    from .inputs import csv_lines, existing, guarded, parsed

    path = existing(source)
    if path.suffix.lower() != ".csv":
        raise InvalidParameter(f"--y {column}: no such file, and {source} has no named columns (only .csv has).")
    first, *body = guarded(csv_lines, path)
    header: list[str] = first.cells
    if column not in header:
        raise InvalidParameter(f"{source} has no column {column!r}; {nearest(column, header)}")
    if header.count(column) > 1:
        raise InvalidParameter(f"{source} has {header.count(column)} columns named {column!r}: rename all but one.")
    j = header.index(column)
    numbers = parsed(path, body, [i for i in range(len(header)) if i != j], len(header))
    for line in body:
        if is_absent(line.cells[j]):
            raise InvalidParameter(f"{path}, line {line.number}: the label in column {column!r} is missing.")
    return numbers, (*header[:j], *header[j + 1 :]), [line.cells[j] for line in body]


def is_absent(label: str) -> bool:
    """Is a label empty, or the number NaN, which stands for what is missing?"""
    from .inputs import number_in

    value = number_in(label)
    return not label or value != value


def label_file(name: str, m: int) -> list[Any]:
    """The labels in a file of one column: text or numbers, a header allowed in .csv.

    One line more than samples is taken for a header. A blank line between labels is a missing one.
    """
    from ..errors import InvalidParameter
    from .inputs import csv_lines, existing, guarded, read_vector

    path = existing(name)
    if path.suffix.lower() not in (".csv", ".txt"):
        return read_vector(name).tolist()
    lines = guarded(csv_lines, path)
    if any(len(line.cells) != 1 for line in lines):
        raise InvalidParameter(f"{name} has rows of several entries; labels are one column.")
    for i, line in enumerate(lines):
        if line.number != lines[0].number + i or is_absent(line.cells[0]):
            raise InvalidParameter(f"{name}, line {lines[0].number + i}: the label is missing.")
    labels = [line.cells[0] for line in lines]
    return labels[1:] if len(labels) == m + 1 else labels
