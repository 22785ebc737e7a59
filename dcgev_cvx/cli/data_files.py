"""Reading .npy, .npz, .csv and .mtx files: matrices with the names of their columns and rows, vectors, class labels.

The ending of a file decides how it is read. Pickled arrays, which could execute code, are never loaded.

.npy   one array
.npz   one array; or the arrays A (or C, meaning A = CᵀC), B and names; or a matrix of scipy.sparse.save_npz
.csv   numbers separated by comma, semicolon or tab; a header and a column of row names are recognised
.mtx   Matrix Market, dense or sparse
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
from scipy.sparse import coo_array, load_npz

from .._numerics.checks import MAX_BYTES, as_path, check_bytes, shown
from ..errors import DCGEVError, InvalidParameter, nearest
from .csv_files import MISSING, CsvOptions, CsvTable, is_number, is_unrepeated, read_csv, read_rows

SUFFIXES = (".npy", ".npz", ".csv", ".mtx")
MTX_HEADER = re.compile(
    r"%%matrixmarket\s+matrix\s+(array(?!\s+pattern)|coordinate)\s+(real|double|integer|pattern)\s+(general|symmetric)"
)


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


def read_table(name: str, options: CsvOptions) -> Any:
    """The matrix in a file: an array, one with names, or a sparse matrix."""
    readers: Mapping[str, Callable[[Path], Any]] = {
        ".npy": read_npy,
        ".npz": lambda path: only_array(path, npz_arrays(path)),
        ".csv": lambda path: named_numbers(read_csv(path, options)),
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


def read_vector(name: str, options: CsvOptions) -> Any:
    """The one row or column of a file."""
    matrix = read_table(name, options)
    if matrix.ndim != 1 and min(matrix.shape, default=0) != 1:
        raise InvalidParameter(f"{name} holds an array of shape {matrix.shape}; one row or one column is needed.")
    return np.asarray(matrix.toarray() if hasattr(matrix, "toarray") else matrix).reshape(-1)


def read_labels(name: str, m: int, options: CsvOptions) -> Any:
    """The m labels in a file of one column, or two with row names first.

    The first line is a header if it has no row name, or if there is one line more than samples.
    """
    path = existing(name)
    if path.suffix.lower() not in (".csv", ".txt"):
        return read_vector(name, options)
    lines, rows = guarded(lambda path: read_rows(path, options), path)
    corner = len(rows[0]) == 2 and not rows[0][0]
    head = corner or len(rows) == m + 1 if options.header is None else options.header
    *index, labels = zip(*rows[head:], strict=True)
    if options.header is None and head and not corner and rows[0][-1] in labels:
        raise InvalidParameter(
            f"{name} has {m + 1} lines for {m} samples, and the first, {rows[0][-1]!r}, may be a header or a label: "
            "pass --header or --no-header."
        )
    if len(index) > 1 or not all(map(is_unrepeated, index)):
        raise InvalidParameter(f"{name} must hold one column of labels, or two: row names that differ, and labels.")
    check_labels(labels, lines[head:], name)
    if index:
        options.notes.append(f"{name}: column 1 holds row names ({index[0][0]!r}, …).")
    return NamedArray.of(np.array(labels, dtype=object), None, index[0] if index else None)


def read_labelled(name: str, column: str, options: CsvOptions) -> tuple[Any, list[str]]:
    """The numbers of a .csv file and the labels in one of its named columns."""
    path = existing(name)
    if path.suffix.lower() != ".csv":
        raise InvalidParameter(f"--y {column}: no such file, and {name} has no named columns (only .csv has).")
    table: CsvTable = guarded(lambda path: read_csv(path, options, column), path)
    header = table.header or []
    if header.count(column) > 1:
        raise InvalidParameter(f"{name} has {header.count(column)} columns named {column!r}: rename all but one.")
    if column not in header:
        raise InvalidParameter(f"{name} has no column {column!r}; {nearest(column, header)}")
    labels = table.take(header.index(column))
    check_labels(labels, table.lines, name)
    return named_numbers(table), labels


def check_labels(labels: Sequence[str], lines: Sequence[int], name: str) -> None:
    """Raise for a label that is missing, and for a number that is written in two ways, such as 1 and 1.0."""
    spelt: dict[float, str] = {}
    for line, label in zip(lines, labels, strict=True):
        if label.lower() in MISSING:
            raise InvalidParameter(f"{name}, line {line}: the label {label!r} is missing: drop the sample.")
        if is_number(label) and spelt.setdefault(float(label), label) != label:
            both = f"the labels {label!r} and {spelt[float(label)]!r}"
            raise InvalidParameter(f"{name}, line {line}: {both} are the same number: write it in one way.")


# Files that are not there or cannot be read


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
        with np.errstate(all="ignore"):  # a damaged file is reported once, without NumPy's warnings
            return reader(path)
    except DCGEVError:
        raise
    except Exception as cause:  # zlib.error, RuntimeError, NotImplementedError, struct.error, SyntaxError, …
        reason = str(cause).strip().partition("\n")[0] or type(cause).__name__
        if "pickle" in reason or "magic string" in reason:
            reason = "it is not an array of numbers, or it holds pickled objects, which are never loaded."
        elif "unexpected end of data" in reason:
            reason = "it has a quotation mark that is opened and never closed."
        raise InvalidParameter(f"{path} could not be read as {path.suffix.lower()}: {reason}") from cause


# .npy and .npz


def read_npy(path: Path) -> Any:
    """The array of an .npy file that ends with it."""
    with path.open("rb") as handle:
        array = np.lib.format.read_array(handle, allow_pickle=False)
        if handle.read(1):
            raise ValueError(f"more bytes follow its array of shape {array.shape}: it is damaged, or holds several.")
    return array


def npz_arrays(path: Path) -> dict[str, Any]:
    """Every array of an .npz file; a matrix of scipy.sparse.save_npz counts as the array A."""
    with ZipFile(path) as archive:
        size = sum(member.file_size for member in archive.infolist())
        if not is_unrepeated([name.removesuffix(".npy") for name in archive.namelist()]):
            raise ValueError("two of its arrays have the same name.")
    if size > MAX_BYTES:
        raise InvalidParameter(f"{path} unpacks to {size:,} bytes (> {MAX_BYTES:,}). Save fewer or smaller arrays.")
    with path.open("rb") as handle, np.load(handle, allow_pickle=False) as archive:
        arrays = {name: archive[name] for name in archive.files}
    if "names" in arrays:
        arrays["names"] = arrays["names"].astype(str)  # bytes become text
    if "format" in arrays:
        matrix = load_npz(path)
        if hasattr(matrix, "check_format"):  # SciPy would write wherever the indices of a damaged file point
            matrix.check_format(full_check=True)
        return {"A": matrix}
    return arrays


def only_array(path: Path, arrays: Mapping[str, Any]) -> Any:
    """The single array of an .npz file."""
    if len(arrays) != 1:
        held = f"the arrays {', '.join(arrays)}" if arrays else "no arrays"
        raise InvalidParameter(f"{path} holds {held}: name one A (and B), or keep only one.")
    return next(iter(arrays.values()))


# .mtx: a damaged file can end the process inside SciPy's reader, so that its numbers are read here


def read_matrix_market(path: Path) -> Any:
    """The matrix of a Matrix Market file, an array or a sparse one; every entry is counted."""
    head, _, text = path.read_text("utf-8").partition("\n")
    words = MTX_HEADER.fullmatch(head.lower().strip())
    if words is None:
        raise ValueError(
            f"its first line {shown(head)} must be %%MatrixMarket matrix, then array or coordinate, real or integer "
            "or pattern, general or symmetric."
        )
    form, kind, symmetry = words.groups()
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("%")]
    if any("_" in line for line in lines):
        raise ValueError("it has an underscore between digits: write 1_000 as 1000.")
    sizes = [int(word) for word in lines[0].split()] if lines else []
    if len(sizes) != (3 if form == "coordinate" else 2) or min(sizes) < 0 or 0 in sizes[:2]:
        raise ValueError(f"its sizes are {sizes}: rows and columns (and entries) must be whole numbers above 0.")
    if symmetry == "symmetric" and sizes[0] != sizes[1]:
        raise ValueError(f"a symmetric matrix cannot be {sizes[0]}×{sizes[1]}.")
    symmetric, entries = symmetry == "symmetric", " ".join(lines[1:]).split()
    if form == "array":  # by columns; of a symmetric matrix the lower triangle
        check_bytes(sizes, "A", "Pass fewer rows or columns.")
        j, i = np.triu_indices(sizes[0]) if symmetric else divmod(np.arange(sizes[0] * sizes[1]), sizes[0])
        value = numbers(entries, len(i))
    else:
        table = numbers(entries, sizes[2] * (2 if kind == "pattern" else 3)).reshape(sizes[2], -1)
        places = table[:, :2]
        if np.any((places < 1) | (places > sizes[:2]) | (places % 1 != 0)):
            raise ValueError(f"an entry lies outside of its {sizes[0]}×{sizes[1]} numbers.")
        (i, j), value = places.T.astype(np.int64) - 1, table[:, 2] if kind != "pattern" else np.ones(len(table))
    if symmetric:
        if np.any(i < j) and np.any(i > j):
            raise ValueError("its first line says symmetric: it must have the entries of one triangle.")
        off = i != j
        i, j, value = np.append(i, j[off]), np.append(j, i[off]), np.append(value, value[off])
    matrix = coo_array((value, (i, j)), shape=(sizes[0], sizes[1]))  # entries given twice are added
    return matrix.toarray() if form == "array" else matrix


def numbers(entries: list[str], expected: int) -> Any:
    """The entries as floats, as many as the header says."""
    if len(entries) != expected:
        raise ValueError(f"its header announces {expected} numbers, but {len(entries)} follow: it is cut or damaged.")
    return np.array(entries, dtype=np.float64)
