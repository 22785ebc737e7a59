"""From the options of a command to a pencil: a bundled name, matrices in files, or a table of samples × variables.

no --task   DATA, or --A [--B]                      a bundled name, or the matrices themselves
pca         --X samples [--no-center] [--scale]     A = XᵀX/m, B = I
cca         --X view --Y view [--ridge r]           A = [0 Σxy; Σyx 0], B = [Σxx 0; 0 Σyy] + r·I
fda         --X samples --y labels [--ridge r]      A = between-class, B = within-class scatter + r·I
"""

import argparse
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from .. import datasets
from .._numerics.checks import Vector, as_path, check_order, column_names
from .._numerics.data_tables import class_means, in_row_order, read_labels, read_table
from ..builders import cca_pencil, fda_pencil, pca_pencil
from ..errors import InvalidParameter, nearest
from ..pencils import Gram, Pencil
from . import console
from .csv_files import CsvOptions
from .data_files import NamedArray, read_arrays, read_label_file, read_labelled, read_matrix

BUNDLED: Mapping[str, Callable[[], Pencil]] = {
    "pitprops": datasets.pitprops,
    "planted-pca": lambda: datasets.planted_pca().pencil,
    "planted-cca": lambda: datasets.planted_cca().pencil,
    "indefinite": datasets.indefinite,
}
"""The names that stand for a pencil."""

WIDE = 20.0
"""Standard deviations that differ by more than this factor are worth a note."""

USES: dict[str | None, str] = {None: "A B", "pca": "X scale no_center", "cca": "X Y ridge", "fda": "X y ridge scale"}
"""Task → the options that belong to it."""


@dataclass(frozen=True)
class NamedPencil:
    """A pencil under the name that was typed, and with --task fda the mean of each class."""

    name: str
    pencil: Pencil
    classes: Mapping[str, Vector] = field(default_factory=dict[str, Vector])

    @property
    def heading(self) -> str:
        """One line that says which problem it is."""
        metric = "B = I" if self.pencil.B is None else "B dense"
        return f"{self.name}: n = {self.pencil.n}, {metric}, λmax(A,B) = {self.pencil.lambda_max:.6g}"


def read_problem(args: argparse.Namespace, default: str | None = None) -> NamedPencil:
    """The problem that the options describe; a note on stderr says how its files were understood."""
    refuse_other_tasks(args)
    if args.data is args.A is args.X is None:
        args.data = default
    options = CsvOptions(args.header, args.index_column, tuple(args.drop), args.decimal)
    try:
        if args.task is None:
            problem = NamedPencil(str(args.data or args.A), read_pencil(args.data, args.A, args.B, options))
        else:
            problem = read_samples(args, options)
        for name in options.drop:
            if name not in options.dropped:
                raise InvalidParameter(f"--drop {name}: no .csv file that was read has such a column.")
        return problem
    finally:
        for line in options.notes:
            console.note(line)


def refuse_other_tasks(args: argparse.Namespace) -> None:
    """Raise for options that do not belong to the task."""
    uses = USES[args.task].split()
    for name in ("A", "B", "X", "Y", "y", "ridge", "scale", "no_center"):
        if getattr(args, name) and name not in uses:
            where = "without --task" if args.task is None else f"with --task {args.task}"
            given, *allowed = (f"--{each.replace('_', '-')}" for each in (name, *uses))
            raise InvalidParameter(f"{given} has no meaning {where}, which takes {', '.join(allowed)}.")
    for other in ("A", "X"):
        if args.data is not None and getattr(args, other) is not None:
            given = f"DATA ({args.data}) and --{other} ({getattr(args, other)})"
            raise InvalidParameter(f"{given} were both given: give one of them.")


def mean_difference(pencil: Pencil) -> Vector | None:
    """The vector a of a pencil (aaᵀ, B), which FDA makes of two classes; None for others."""
    return pencil.A_factor()[0] if pencil.B is not None and pencil.A_terms == 1 else None


# Matrices


def read_pencil(data: str | None, A: str | None, B: str | None, options: CsvOptions) -> Pencil:
    """The pencil of DATA, or of --A and --B; a --B beside DATA supplies the metric."""
    if data is None and A is None:
        known = ", ".join(BUNDLED)
        raise InvalidParameter(f"no problem was given: name a bundled one ({known}), a file, or --A FILE [--B FILE].")
    pencil = read_data(data, options) if data is not None else square(read_matrix(str(A), options), str(A))
    if B is None:
        return pencil
    if pencil.B is not None:
        raise InvalidParameter(f"the data have a B of their own: leave out --B {B}.")
    metric = read_matrix(B, options)
    check_order(pencil.names, column_names(metric), "the columns of A", f"those of {B}")
    return Pencil(pencil.A, metric, names=pencil.names or column_names(metric))


def read_data(data: str, options: CsvOptions) -> Pencil:
    """A bundled pencil by name, or the pencil in a file."""
    if data in BUNDLED:
        return BUNDLED[data]()
    path = as_path(data, "DATA")
    if not path.suffix and not path.exists():
        raise InvalidParameter(f"{data!r} is neither a bundled name nor a file; {nearest(data, BUNDLED)}")
    if path.suffix.lower() != ".npz":
        return square(read_matrix(data, options), data)
    arrays = read_arrays(data)
    names: Any = np.ravel(arrays["names"]) if "names" in arrays else None
    unused = [name for name in arrays if name not in ("A" if "A" in arrays else "C", "B", "names")]
    if unused:
        options.notes.append(f"{data}: {', '.join(unused)} left out; A (or C), B and names are read.")
    if "A" not in arrays:
        return Pencil(Gram(arrays["C"]), arrays.get("B"), names=names)
    return square(arrays["A"], data, arrays.get("B"), names)


def square(A: Any, name: str, B: Any = None, names: Any = None) -> Pencil:
    """Pencil(A, B), where A must be square."""
    shape = np.shape(A)
    if len(shape) == 2 and shape[0] != shape[1]:
        raise InvalidParameter(
            f"{name} holds {shape[0]}×{shape[1]} numbers; A must be square. If these are samples × variables, "
            "pass --task pca, or store the centred data as array C of an .npz file (A = CᵀC, never formed)."
        )
    return Pencil(A, B, names=names)


# Samples


def read_samples(args: argparse.Namespace, options: CsvOptions) -> NamedPencil:
    """--task pca, cca or fda; the labels of fda are a file, or else a column of the samples."""
    source = args.X if args.X is not None else args.data
    if source is None:
        raise InvalidParameter(f"--task {args.task} needs the samples: give DATA or --X FILE.")
    if args.task == "cca" and args.Y is None:
        raise InvalidParameter("--task cca needs the second view: --Y FILE.")
    if args.task == "fda":
        X, labels = labelled_samples(source, args.y, options)
        X = same_scale(X, args, options)
        pencil = fda_pencil(X, labels, ridge=args.ridge)
        table = read_table(X)
        read = read_labels(labels, table.m)
        return NamedPencil(source, pencil, dict(zip(map(str, read.classes), class_means(table, read), strict=True)))
    X = read_matrix(source, options)
    if args.task == "cca":
        second = matched(X, read_matrix(args.Y, options), args.Y, options)
        return NamedPencil(source, cca_pencil(X, second, ridge=args.ridge))
    return NamedPencil(source, pca_pencil(same_scale(X, args, options), center=not args.no_center, scale=args.scale))


def labelled_samples(source: str, labels: str | None, options: CsvOptions) -> tuple[Any, Any]:
    """The samples and their labels, which are a file or else a column of the samples."""
    if labels is None:
        raise InvalidParameter("--task fda needs the classes: --y COLUMN of the samples, or --y FILE.")
    if not (Path(labels).suffix and Path(labels).exists()):
        return read_labelled(source, labels, options)
    X = read_matrix(source, options)
    return X, matched(X, read_label_file(labels, X.shape[0], options), labels, options)


def same_scale(X: Any, args: argparse.Namespace, options: CsvOptions) -> Any:
    """With --scale the columns divided by their standard deviations; without, a note where these differ widely."""
    if hasattr(X, "tocsr") or not np.all(np.isfinite(X)):  # an entry that is not finite is reported later
        return X
    spread = np.std(np.asarray(X), axis=0)
    if args.scale and args.task == "fda":
        return NamedArray.of(
            np.asarray(X) / np.where(spread > 0.0, spread, 1.0), column_names(X), getattr(X, "index", None)
        )
    least, most = int(np.argmin(np.where(spread > 0.0, spread, np.inf))), int(np.argmax(spread))
    if not args.scale and spread[most] > WIDE * spread[least] > 0.0:
        names = column_names(X) or [f"column {i}" for i in range(len(spread))]
        ratio = f"{spread[most] / spread[least]:.0f}"
        words = f"{names[most]} varies {ratio} times as much as {names[least]}, and loadings depend on units"
        options.notes.append(f"{words}: --scale divides the columns by their standard deviations.")
    return X


def matched(first: Any, second: Any, name: str, options: CsvOptions) -> Any:
    """The second with its rows in the order of the first's names, if both have names; a note says so."""
    ordered = in_row_order(first, second, "the samples", name)
    if ordered is second:
        return second
    options.notes.append(f"{name}: rows are matched by their names, which are in another order.")
    return NamedArray.of(ordered, second.columns, first.index)
