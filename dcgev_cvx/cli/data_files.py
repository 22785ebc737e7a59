"""Reading .npy, .npz, .csv, .tsv and .mtx files: matrices with the names of their columns and rows, and class labels.

The ending of a file decides how it is read. Pickled arrays, which could execute code, are never loaded.

.npy         one array
.npz         one array; or the arrays A (or C, meaning A = CᵀC), B and names; or a matrix of scipy.sparse.save_npz
.csv, .tsv   numbers; a header and a column of row names are recognised (`csv_files`)
.mtx         Matrix Market, dense or sparse
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from scipy.io import mmread
from scipy.sparse import load_npz

from .._numerics.checks import as_path, shown
from ..errors import DCGEVError, InvalidParameter, nearest
from .csv_files import MISSING, CsvOptions, CsvTable, number_in, read_csv, read_rows

SUFFIXES = (".npy", ".npz", ".csv", ".tsv", ".mtx")
MTX_ENTRY = {
    "real": r"[+-]?[\d.]+(e[+-]?\d+)?",
    "double": r"[+-]?[\d.]+(e[+-]?\d+)?",
    "integer": r"[+-]?\d+",
    "pattern": "",
}
"""How an entry of a Matrix Market file of each kind is written."""


class NamedArray(np.ndarray[Any, Any]):
    """An array with the names of its columns and rows, which are read like those of a pandas frame."""

    columns: Sequence[str] | None = None
    index: Sequence[str] | None = None

    @classmethod
    def of(cls, array: Any, columns: Sequence[str] | None, index: Sequence[str] | None = None) -> NamedArray:
        """The array under these names."""
        named = np.asarray(array).view(cls)
        named.columns, named.index = columns, index
        return named


def read_matrix(name: str, options: CsvOptions) -> Any:
    """The matrix in a file: an array, one with names, or a sparse matrix."""
    readers: Mapping[str, Callable[[Path], Any]] = {
        ".npy": lambda path: np.load(path, allow_pickle=False),
        ".npz": lambda path: only_array(path, npz_arrays(path)),
        ".csv": lambda path: named_numbers(read_csv(path, options)),
        ".tsv": lambda path: named_numbers(read_csv(path, options)),
        ".mtx": read_matrix_market,
    }
    path = existing(name)
    suffix = path.suffix.lower()
    if suffix not in readers:
        ending = f"ends in {suffix!r}" if suffix else "has no ending"
        raise InvalidParameter(
            f"{name} {ending}; files are read by their ending: {', '.join(SUFFIXES)}. Save a spreadsheet as .csv."
        )
    return guarded(readers[suffix], path)


def named_numbers(table: CsvTable) -> NamedArray:
    """The numbers of a .csv file under their names."""
    return NamedArray.of(table.numbers(), table.header, table.index)


def read_arrays(name: str) -> dict[str, Any]:
    """The arrays of an .npz file; a single one, unless it is called B, counts as A."""
    path = existing(name)
    arrays = guarded(npz_arrays, path)
    if "A" in arrays or "C" in arrays:
        return arrays
    if "B" in arrays:
        raise InvalidParameter(f"{path} holds B and no A: add the array A, or C with A = CᵀC.")
    return {"A": only_array(path, arrays)}


def read_label_file(name: str, m: int, options: CsvOptions) -> Any:
    """The m labels in a file of one column, or two with row names first; a header is one line more than samples."""
    path = existing(name)
    if path.suffix.lower() not in (".csv", ".tsv", ".txt"):
        matrix = read_matrix(name, options)
        if matrix.ndim != 1 and 1 not in matrix.shape:
            raise InvalidParameter(f"{name} holds an array of shape {matrix.shape}; one row or one column is needed.")
        return np.ravel(matrix)
    lines, rows = guarded(read_rows, path)
    gap = next((line for line, after in pairwise(lines) if after != line + 1), None)
    if gap is not None:
        raise InvalidParameter(f"{name}, line {gap + 1} is empty: delete it, or fill the gap.")
    head = len(rows) == m + 1 if options.header is None else options.header
    *index, labels = zip(*rows[head:], strict=True)
    if len(index) > 1:
        raise InvalidParameter(f"{name} must hold one column of labels, or two: row names, and labels.")
    check_labels(labels, lines[head:], name)
    return NamedArray.of(np.array(labels, dtype=object), None, index[0] if index else None)


def read_labelled(name: str, column: str, options: CsvOptions) -> tuple[Any, list[str]]:
    """The numbers of a .csv file and the labels in one of its columns."""
    path = existing(name)
    if path.suffix.lower() not in (".csv", ".tsv"):
        raise InvalidParameter(f"--y {column}: no such file, and {name} has no named columns (only .csv has).")
    table: CsvTable = guarded(lambda path: read_csv(path, options, column), path)
    labels = table.take(table.position(column, "--y"))
    check_labels(labels, table.lines, name)
    return named_numbers(table), labels


def check_labels(labels: Sequence[str], lines: Sequence[int], name: str) -> None:
    """Raise for a label that is missing, and for a number that is written in two ways, such as 1 and 1.0."""
    spelt: dict[float, str] = {}
    for line, label in zip(lines, labels, strict=True):
        value = number_in(label)
        if label.lower() in MISSING:
            raise InvalidParameter(f"{name}, line {line}: the label {label!r} is missing: drop the sample.")
        if value is not None and spelt.setdefault(value, label) != label:
            both = f"the labels {label!r} and {spelt[value]!r}"
            raise InvalidParameter(f"{name}, line {line}: {both} are the same number: write it in one way.")


def existing(name: str) -> Path:
    """The path of a file that exists; a misspelt name is answered with the nearest file in that folder."""
    path = as_path(name, "the name of a file")
    if path.is_file():
        return path
    if path.exists():
        raise InvalidParameter(f"{name} is a folder, a pipe or a device; a file is needed ({', '.join(SUFFIXES)}).")
    others = path.parent.iterdir() if path.parent.is_dir() else []
    hint = nearest(path.name, [other.name for other in others if other.suffix.lower() in SUFFIXES])
    raise InvalidParameter(f"{name} does not exist{f'; {hint}' if hint.startswith('did') else '.'}")


def guarded(reader: Callable[[Path], Any], path: Path) -> Any:
    """What the reader returns; whatever a damaged file makes a library raise becomes one sentence."""
    try:
        return reader(path)
    except DCGEVError:
        raise
    except Exception as cause:
        reason = str(cause).strip().partition("\n")[0] or type(cause).__name__
        if "pickle" in reason:
            reason = "it is not an array of numbers, or it holds pickled objects, which are never loaded."
        elif "unexpected end of data" in reason:
            reason = "it has a quotation mark that is opened and never closed."
        raise InvalidParameter(f"{path} could not be read as {path.suffix.lower()}: {reason}") from cause


def npz_arrays(path: Path) -> dict[str, Any]:
    """Every array of an .npz file; a matrix of scipy.sparse.save_npz counts as the array A."""
    with np.load(path, allow_pickle=False) as archive:
        arrays = {name: archive[name] for name in archive.files}
    if "names" in arrays:
        arrays["names"] = arrays["names"].astype(str)  # bytes become text
    if "format" not in arrays:
        return arrays
    matrix = load_npz(path)
    if hasattr(matrix, "check_format"):  # SciPy would write wherever the indices of a damaged file point
        matrix.check_format(full_check=True)
    offsets = np.ravel(arrays.get("offsets", []))
    if np.any((offsets <= -matrix.shape[0]) | (offsets >= matrix.shape[1])):
        raise ValueError(f"its diagonals {shown(offsets.tolist())} lie outside of a {matrix.shape} matrix.")
    return {"A": matrix}


def only_array(path: Path, arrays: Mapping[str, Any]) -> Any:
    """The single array of an .npz file."""
    if len(arrays) != 1:
        held = f"the arrays {', '.join(arrays)}" if arrays else "no arrays"
        raise InvalidParameter(f"{path} holds {held}: name one A (and B), or keep only one.")
    return next(iter(arrays.values()))


def read_matrix_market(path: Path) -> Any:
    """The matrix of a Matrix Market file, once its lines are as many and as written as its header announces.

    SciPy's reader takes 1.5 for 1 in a matrix of integers, and does not look at the entries of a pattern.
    """
    head, *rest = path.read_text("utf-8").lower().split("\n")
    words = head.split()
    if len(words) != 5 or words[3] not in MTX_ENTRY or words[4] not in ("general", "symmetric"):
        raise ValueError(
            f"its first line {shown(head)} must be %%MatrixMarket matrix, then array or coordinate, real or integer "
            "or pattern, general or symmetric."
        )
    sizes, *entries = [line.strip() for line in rest if line.strip() and not line.lstrip().startswith("%")] or [""]
    form = words[2]
    if not re.fullmatch(r"[1-9]\d*\s+[1-9]\d*" + (r"\s+\d+" if form == "coordinate" else ""), sizes):
        raise ValueError(f"its sizes are {shown(sizes)}: rows and columns (and entries) must be whole numbers above 0.")
    rows, columns, *count = map(int, sizes.split())
    if words[4] == "symmetric" and rows != columns:
        raise ValueError(f"a symmetric matrix cannot be {rows}×{columns}.")
    full = rows * (rows + 1) // 2 if words[4] == "symmetric" else rows * columns
    expected = count[0] if count else full
    if len(entries) != expected:
        raise ValueError(f"its header announces {expected} entries, but {len(entries)} lines follow: it is damaged.")
    place = r"\d+\s+\d+\s*" if form == "coordinate" else ""
    bad = next((line for line in entries if not re.fullmatch(place + MTX_ENTRY[words[3]], line)), None)
    if bad is not None:
        raise ValueError(f"its entry {shown(bad)} is not written as one of {words[2]} {words[3]}.")
    return mmread(path, spmatrix=False)
