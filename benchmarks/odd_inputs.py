"""Files and frames as people have them, with known truth: right answer, or one line of error; never silently wrong.

Every trial writes samples or a matrix in a random layout (separators, headers, row names, encodings, gaps, damage),
runs `dcgev solve` on it and compares λmax(A, B) with that of the arrays it was made from. Damage that no reader could
detect, such as another digit, has no truth: such trials only look for crashes.

python -m benchmarks odd_inputs          2,000 trials of seed 1
python -m benchmarks.odd_inputs 7 500    seed and number; prints every wrong answer
"""

from __future__ import annotations

import gzip
import io
import json
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.io
import scipy.sparse

from dcgev_cvx import DCGEVError, Pencil, cca_pencil, fda_pencil, pca_pencil
from dcgev_cvx.cli import main as command

from .report import Measure, at_most

SEED, TRIALS = 1, 2000
RIDGE = 0.5


@dataclass
class Trial:
    """The arguments of a command, the λmax that is right (None if nobody can tell), and what was made."""

    argv: list[str]
    truth: float | None
    made: list[str] = field(default_factory=list)


def run(repeats: int) -> Iterator[Measure]:
    yield from measures(SEED, TRIALS)


def measures(seed: int, trials: int) -> Iterator[Measure]:
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for i in range(trials):
            rng = np.random.default_rng([seed, i])
            kind = rng.choice(["csv", "csv", "csv", "binary", "frame"])
            outcome, story = {"csv": csv_trial, "binary": binary_trial, "frame": frame_trial}[kind](rng, Path(folder))
            counts[outcome] += 1
            if outcome in ("wrong", "crashed"):
                print(f"  {outcome}: trial {i}: {story}", flush=True)
    detail = f"{counts['right']} right, {counts['refused']} refused, {counts['unknown']} without a truth; seed {seed}"
    yield at_most(f"silently wrong in {trials} odd files and frames", float(counts["wrong"]), "", 0.0, detail)
    yield at_most("crashes and tracebacks", float(counts["crashed"]), "", 0.0)
    yield Measure("refused", 100.0 * counts["refused"] / trials, "%")


def outcome_of(trial: Trial, keep: Path | None = None) -> tuple[str, str]:
    """Run the command and judge it: right, refused (exit code 2 and one line), wrong, crashed, or without truth."""
    out, err = io.StringIO(), io.StringIO()
    try:
        with redirect_stdout(out), redirect_stderr(err), warnings.catch_warnings():
            warnings.simplefilter("error")
            code = command(["solve", *trial.argv, "-k", "1", "--effort", "quick", "--json"])
    except BaseException as error:
        return "crashed", f"{type(error).__name__}: {error}; {trial.made}"
    story = f"{trial.made} {err.getvalue()[:200]}"
    if code == 2:
        clean = out.getvalue() == "" and err.getvalue().count("\n") == 1 and "Traceback" not in err.getvalue()
        return ("refused" if clean else "crashed"), story
    found = json.loads(out.getvalue())["problem"]["lambda_max"]
    if trial.truth is None:
        return "unknown", story
    good = abs(found - trial.truth) <= 1e-6 * abs(trial.truth)
    return ("right" if good else "wrong"), f"λmax {found} for {trial.truth}; {story}"


# .csv


def csv_trial(rng: np.random.Generator, folder: Path) -> tuple[str, str]:
    task = str(rng.choice(["matrix", "pca", "cca", "fda", "column"]))
    m, n = int(rng.integers(4, 30)), int(rng.integers(1, 8))
    z = rng.standard_normal((m, 1))
    style = str(rng.choice(["short", "long", "science", "whole", "mixed"]))
    X, Y = (shaped(rng.standard_normal((m, w)) + z, style) for w in (n, 3))
    if task == "matrix":
        S = np.cov(rng.standard_normal((3 * n + 2, n)), rowvar=False).reshape(n, n)
        X = shaped(S, "long" if style in ("mixed", "science") else style) + np.eye(n)
        return outcome_of(*written(rng, folder, X, X, style))
    sheet = Layout.random(rng, m, n)
    if task == "pca":
        truth = lambda_max(lambda: pca_pencil(X))
        trial = Trial([str(sheet.write(folder / "X.csv", X, style)), "--task", "pca"], truth, sheet.made)
    elif task == "cca":
        other = Layout.random(rng, m, 3)
        if {sheet.index, other.index} <= {"range", "shuffled"}:
            other.index_labels = list(sheet.index_labels)  # the same rows have the same numbers
        order = rng.permutation(m) if sheet.index_labels == other.index_labels and sheet.labels else np.arange(m)
        other.index_labels = [other.index_labels[i] for i in order] if other.index_labels else []
        truth = lambda_max(lambda: cca_pencil(X, Y, ridge=RIDGE))
        files = [str(sheet.write(folder / "X.csv", X, style)), str(other.write(folder / "Y.csv", Y[order], style))]
        argv = ["--task", "cca", "--X", files[0], "--Y", files[1], "--ridge", str(RIDGE)]
        trial = Trial(argv, truth, [*sheet.made, *other.made])
        sheet.broken |= other.broken
    else:
        y = np.where(z[:, 0] > np.median(z), rng.choice(["high", "1", "a b"]), rng.choice(["low", "0"]))
        truth = lambda_max(lambda: fda_pencil(X, y, ridge=RIDGE))
        if task == "column":
            sheet.names, sheet.header = sheet.names or [f"v{j}" for j in range(n)], "text"
            sheet.extra = [("kind", list(map(str, y)))]
            argv = [str(sheet.write(folder / "X.csv", X, style)), "--y", "kind"]
        else:
            argv = [str(sheet.write(folder / "X.csv", X, style)), "--y", str(label_file(rng, folder, sheet, y))]
        trial = Trial([*argv, "--task", "fda", "--ridge", str(RIDGE)], truth, sheet.made)
    if sheet.broken:
        trial.truth = None
    return outcome_of(trial)


def written(rng: np.random.Generator, folder: Path, A: Any, truth: Any, style: str) -> tuple[Trial]:
    """A symmetric matrix, often with its names in the first column too."""
    sheet = Layout.random(rng, len(A), len(A))
    if sheet.names and rng.random() < 0.5:
        sheet.index, sheet.index_labels = "text", list(sheet.names)
    path = sheet.write(folder / "A.csv", A, style)
    value = None if sheet.broken else lambda_max(lambda: Pencil(truth))
    return (Trial([str(path)], value, sheet.made),)


def label_file(rng: np.random.Generator, folder: Path, sheet: Layout, y: Any) -> Path:
    """The labels in a file of their own, with or without a header and row names, sometimes in another order."""
    series = pd.Series(y, name="kind")
    kind = rng.choice(["plain", "header", "index", "matched"])
    if kind in ("index", "matched") and sheet.labels:
        series.index = pd.Index(sheet.index_labels)
        series = series.iloc[rng.permutation(len(series))] if kind == "matched" else series
    path = folder / "labels.csv"
    series.to_csv(path, index=kind in ("index", "matched"), header=kind != "plain")
    sheet.made.append(f"labels {kind}")
    return path


def lambda_max(build: Callable[[], Pencil]) -> float | None:
    """λmax of the pencil of the arrays themselves; None where they have none."""
    try:
        return build().lambda_max
    except DCGEVError:
        return None


def shaped(X: Any, style: str) -> Any:
    """Numbers that the style writes without loss."""
    return np.round(10 * X) if style == "whole" else np.round(X, 0 if style == "none" else 3)


@dataclass
class Layout:
    """A random way to write a table."""

    header: str
    names: list[str]
    index: str
    index_labels: list[str]
    separator: str
    settings: dict[str, Any]
    extra: list[tuple[str, list[str]]] = field(default_factory=list)
    made: list[str] = field(default_factory=list)
    broken: bool = False

    @property
    def labels(self) -> bool:
        """Does the table have row labels that can be matched?"""
        return self.index in ("text", "shuffled", "dates") and not self.broken

    @staticmethod
    def random(rng: np.random.Generator, m: int, n: int) -> Layout:
        """A layout, most of it plain."""
        header = str(
            rng.choice(["none", "text", "text", "range", "years", "decades", "one", "twice", "odd", "ids", "waves"])
        )
        header = "text" if header == "waves" and n < 3 else header  # of two numbers nobody could tell
        index = str(
            rng.choice(
                [
                    "none",
                    "none",
                    "range",
                    "one",
                    "shuffled",
                    "text",
                    "named",
                    "dates",
                    "dates",
                    "text",
                    "shuffled",
                    "range",
                    "range",
                    "float",
                    "twice",
                ]
            )
        )
        settings = {
            "encoding": str(
                rng.choice(
                    ["utf-8"] * 24 + ["utf-8-sig", "utf-8-sig", "utf-16", "utf-16", "latin-1", "utf-16-le", "utf-32"]
                )
            ),
            "end": str(rng.choice(["\n", "\n", "\r\n", "\r"])),
            "quote": str(rng.choice(["none", "none", "all", "names"])),
            "trailing": str(rng.choice(["none"] * 6 + ["all", "body"])),
            "blank": bool(rng.random() < 0.1),
            "comment": str(rng.choice(["none"] * 8 + ["top", "middle", "header", "end"])),
            "decimal": str(rng.choice(["."] * 19 + [","])),
            "gap": str(rng.choice([""] * 60 + ["NA", "nan", "-", "empty", "#N/A"])),
            "corner": str(rng.choice(["", "", "Unnamed: 0", "missing"])),
            "text": str(rng.choice(["none"] * 40 + ["names", "date", "bool", "empty", "repeated"])),
            "damage": str(rng.choice(["none"] * 60 + ["cut", "flip", "nul", "gzip", "quote", "ragged", "thousands"])),
            "where": int(rng.integers(m)),
            "seed": int(rng.integers(2**31)),
        }
        made = Layout(
            header, names_of(rng, header, n), index, index_of(rng, index, m), str(rng.choice([*",,;\t"])), settings
        )
        made.made = [f"header {header}", f"index {index}", repr(made.separator)]
        made.made += [f"{k} {v!r}" for k, v in settings.items() if v not in ("none", "", False, ".", "\n", "utf-8")]
        return made

    def write(self, path: Path, X: Any, style: str) -> Path:
        """Write the table; `broken` says that the numbers in the file are not those of X any more."""
        s, rng = self.settings, np.random.default_rng(self.settings["seed"])
        cells = [[formatted(v, style, rng) for v in row] for row in X]
        if s["decimal"] == ",":
            self.separator = ";" if self.separator == "," else self.separator
            cells = [[cell.replace(".", ",") for cell in row] for row in cells]
        if s["gap"]:
            cells[s["where"] % len(cells)][0] = "" if s["gap"] == "empty" else s["gap"]
            self.broken = True
        head = list(self.names)
        for name, column in [*self.extra, *text_columns(s["text"], len(cells))]:
            head = [*head, name] if head else []
            cells = [[*row, cell] for row, cell in zip(cells, column, strict=True)]
        if self.index != "none":
            cells = [[label, *row] for label, row in zip(self.index_labels, cells, strict=True)]
            corner = "sample" if self.index == "named" else s["corner"]
            head = head if not head or corner == "missing" else [corner, *head]
        if s["damage"] == "ragged":
            cells[s["where"] % len(cells)].append("1")
            self.broken = True
        return self.encoded(path, self.joined(head, cells), rng)

    def joined(self, head: list[str], cells: list[list[str]]) -> str:
        """The text of the file."""
        s = self.settings
        rows = [[self.quoted(name, True) for name in head]] if head else []
        rows += [[self.quoted(cell, False) for cell in row] for row in cells]
        lines = [self.separator.join(row) for row in rows]
        if s["trailing"] != "none":
            lines = [line + self.separator * (s["trailing"] == "all" or i > 0) for i, line in enumerate(lines)]
        if s["comment"] == "header" and head:
            lines[0] = f"# {lines[0]}"
        elif s["comment"] in ("top", "middle", "end"):
            at = {"top": 0, "middle": len(lines) // 2, "end": len(lines)}[s["comment"]]
            lines.insert(at, "# a remark, with a comma")
        if s["blank"]:
            lines.insert(len(lines) // 2, "")
        return s["end"].join(lines) + s["end"]

    def quoted(self, cell: str, name: bool) -> str:
        """A cell in quotation marks, where it needs them or the layout has them."""
        must = self.separator in cell or '"' in cell or "\n" in cell
        if must or self.settings["quote"] == "all" or (name and self.settings["quote"] == "names"):
            return '"' + cell.replace('"', '""') + '"'
        return cell

    def encoded(self, path: Path, text: str, rng: np.random.Generator) -> Path:
        """Write the bytes, perhaps damaged."""
        s = self.settings
        data = text.encode(s["encoding"], errors="replace")
        if s["damage"] in ("cut", "flip", "nul"):
            self.broken = True
            at = int(rng.integers(len(data)))
            middle = {"cut": b"", "flip": bytes([data[at] ^ 1 << int(rng.integers(8))]), "nul": b"\0"}[s["damage"]]
            data = data[:at] + middle + (b"" if s["damage"] == "cut" else data[at + 1 :])
        if s["damage"] == "quote":
            data, self.broken = data + b'"', True
        if s["damage"] == "thousands":
            data, self.broken = data.replace(b"1.", b"1 001.", 1), True
        path.write_bytes(gzip.compress(data) if s["damage"] == "gzip" else data)
        return path


def names_of(rng: np.random.Generator, kind: str, n: int) -> list[str]:
    """The names of the columns."""
    odd = ["a b", "größe", "x,y", 'q"q', "Ω", "x;y", "\x1b[31mred", "tab\there", "1st", "new\nline", " pad ", "%"]
    return {
        "none": [],
        "text": [f"v{j}" for j in range(n)],
        "range": [str(j) for j in range(n)],
        "years": [str(2001 + j) for j in range(n)],
        "decades": [str(1950 + 10 * j) for j in range(n)],
        "one": [str(j + 1) for j in range(n)],
        "waves": [f"{1100 + 0.5 * j}" for j in range(n)],
        "twice": ["v"] * n,
        "odd": [str(name) for name in rng.permutation(odd)[:n]],
        "ids": [f"{g}" for g in rng.choice(9999, n, replace=False)]
        if rng.random() < 0.2
        else [f"g{j}" for j in range(n)],
    }[kind]


def index_of(rng: np.random.Generator, kind: str, m: int) -> list[str]:
    """The labels of the rows."""
    return {
        "none": [],
        "range": [str(i) for i in range(m)],
        "one": [str(i + 1) for i in range(m)],
        "shuffled": [str(i) for i in rng.permutation(m)],
        "text": [f"s{i}" for i in range(m)],
        "named": [f"s{i}" for i in range(m)],
        "dates": [str(day)[:10] for day in pd.date_range("2020-01-01", periods=m)],
        "float": [f"{0.5 * i}" for i in range(m)],
        "twice": [str(i // 2) for i in range(m)],
    }[kind]


def text_columns(kind: str, m: int) -> list[tuple[str, list[str]]]:
    """A column that is not a variable."""
    return {
        "none": [],
        "names": [("who", [f"p{i}" for i in range(m)])],
        "date": [("when", ["2020-01-01"] * m)],
        "bool": [("flag", ["True", "False"] * (m // 2) + ["True"] * (m % 2))],
        "empty": [("", [""] * m)],
        "repeated": [("group", ["a"] * m)],
    }[kind]


def formatted(value: float, style: str, rng: np.random.Generator) -> str:
    """A number as text, without loss."""
    if style == "whole" or (style == "mixed" and value == round(value)):
        return str(int(value))
    if style == "science":
        return f"{value:.6E}" if rng.random() < 0.5 else f" {value:+.8e} "
    return f"{value:.3f}" if style == "long" else repr(float(value))


# .npy, .npz, .mtx


def binary_trial(rng: np.random.Generator, folder: Path) -> tuple[str, str]:
    n = int(rng.integers(1, 7))
    S = rng.standard_normal((n, 2 * n))
    A = np.round(S @ S.T, 3) * (rng.random((n, n)) < 0.8)
    A = np.tril(A) + np.tril(A, -1).T + np.eye(n)
    kind = str(rng.choice(["a.npy", "a.npz", "s.npz", "d.mtx", "c.mtx", "l.mtx"]))
    path = folder / kind
    types = ["f8", ">f8", "f4", "i8"]
    dtype = str(rng.choice(types))
    A = np.round(A) if dtype == "i8" else A
    symmetry = str(rng.choice(["general", "symmetric"]))
    if kind == "a.npy":
        np.save(path, A.astype(dtype))
    elif kind == "a.npz":
        (np.savez if rng.random() < 0.5 else np.savez_compressed)(path, A=A.astype(dtype))
    elif kind == "s.npz":
        scipy.sparse.save_npz(path, scipy.sparse.csr_array(A))
    else:
        scipy.io.mmwrite(path, scipy.sparse.coo_array(A) if kind != "d.mtx" else A, precision=17, symmetry=symmetry)
    damage = str(rng.choice(["none", "none", "cut", "flip", "many", "sizes", "method", "encrypted", "empty"]))
    data = bytearray(path.read_bytes())
    truth = lambda_max(lambda: Pencil(A)) if dtype != "f4" else None
    if damage == "cut":
        text = kind.endswith("mtx")  # a number that loses its last digits is a number: cut before it
        data = data[: int(rng.integers(1, len(data.rstrip().rpartition(b"\n")[0]) + 1 if text else len(data)))]
        truth = truth if text else None
    elif damage in ("flip", "many"):
        for _ in range(1 if damage == "flip" else 20):
            data[int(rng.integers(len(data)))] ^= 1 << int(rng.integers(8))
        truth = None if not kind.endswith("npz") or damage == "many" else truth
    elif damage == "sizes" and kind.endswith("mtx"):
        lines = bytes(data).split(b"\n")
        at = next(i for i, line in enumerate(lines) if not line.startswith(b"%"))
        sizes = lines[at].split()
        sizes[int(rng.integers(len(sizes)))] = str(rng.choice([0, -1, 10**6, 10**12, 10**25, 2**31])).encode()
        lines[at], truth = b" ".join(sizes), None
        data = bytearray(b"\n".join(lines))
    elif damage in ("method", "encrypted") and kind.endswith("npz"):
        at = data.find(b"PK\x01\x02")
        data[at + 10 if damage == "method" else at + 8] ^= 0x63 if damage == "method" else 1
        if damage == "encrypted":
            data[6] ^= 1
        truth = None
    elif damage == "empty":
        data, truth = bytearray(), None
    path.write_bytes(bytes(data))
    return outcome_of(Trial([str(path)], truth, [kind, dtype, symmetry, f"damage {damage}"]))


# pandas


def frame_trial(rng: np.random.Generator, folder: Path) -> tuple[str, str]:
    m, n = int(rng.integers(4, 30)), int(rng.integers(2, 7))
    z = rng.standard_normal((m, 1))
    X, Y = np.round(rng.standard_normal((m, n)) + z, 2), np.round(rng.standard_normal((m, 2)) + z, 2)
    y = np.where(z[:, 0] > np.median(z), "high", "low")
    kind = str(
        rng.choice(["plain", "nullable", "gap", "sparse", "object", "text", "category", "levels", "twice", "date"])
    )
    index = str(rng.choice(["range", "text", "shuffled", "twice", "levels", "dates"]))
    task = str(rng.choice(["pca", "cca", "fda"]))
    frame = dressed(rng, pd.DataFrame(X), kind)
    labels: Any = {
        "range": range(m),
        "text": [f"s{i}" for i in range(m)],
        "shuffled": rng.permutation(m),
        "twice": [i // 2 for i in range(m)],
        "levels": pd.MultiIndex.from_product([["a"], range(m)]),
        "dates": pd.date_range("2020-01-01", periods=m),
    }[index]
    frame.index = pd.Index(labels) if index != "levels" else labels
    order = rng.permutation(m) if rng.random() < 0.5 else np.arange(m)
    second: Any = pd.DataFrame(Y, frame.index) if task == "cca" else pd.Series(y, frame.index)
    second = second.iloc[order]
    build = {"pca": lambda: pca_pencil(frame), "cca": lambda: cca_pencil(frame, second, ridge=RIDGE)}
    plain = {"pca": lambda: pca_pencil(X), "cca": lambda: cca_pencil(X, Y, ridge=RIDGE)}
    build["fda"], plain["fda"] = (
        (lambda: fda_pencil(frame, second, ridge=RIDGE)),
        (lambda: fda_pencil(X, y, ridge=RIDGE)),
    )
    story = f"{kind}, index {index}, {task}, reordered {bool(np.any(order != np.arange(m)))}"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = build[task]().lambda_max
    except DCGEVError as error:
        return "refused", f"{story}: {error}"
    except Exception as error:
        return "crashed", f"{story}: {type(error).__name__}: {error}"
    truth = lambda_max(plain[task])
    if kind in ("gap", "text", "date") or truth is None or abs(found - truth) > 1e-6 * truth:
        return "wrong", f"{story}: {found} for {truth}"
    return "right", story


def dressed(rng: np.random.Generator, frame: pd.DataFrame, kind: str) -> pd.DataFrame:
    """The same numbers in another type of frame, or with entries that are none."""
    if kind == "nullable":
        return frame.astype("Float64")
    if kind == "gap":
        return (
            frame.astype("Float64")
            .mask(rng.random(frame.shape) < 2.0 / frame.size * 3, pd.NA)
            .mask((np.arange(frame.size).reshape(frame.shape) == 0), pd.NA)
        )
    if kind == "sparse":
        return frame.astype(pd.SparseDtype("float64", 0.0))
    if kind == "object":
        return frame.astype(object)
    if kind == "text":
        return frame.astype(str)
    if kind == "category":
        return frame.astype("category")
    if kind == "levels":
        return frame.set_axis(pd.MultiIndex.from_product([["a"], frame.columns]), axis=1)
    if kind == "twice":
        return frame.set_axis(["v"] * frame.shape[1], axis=1)
    return frame.assign(when=pd.Timestamp("2020-01-01")) if kind == "date" else frame


def main() -> int:
    seed, trials = (int(word) for word in sys.argv[1:3]) if len(sys.argv) > 2 else (SEED, TRIALS)
    made = list(measures(seed, trials))
    for measure in made:
        print(measure)
    return 1 if any(measure.met is False for measure in made) else 0


if __name__ == "__main__":
    raise SystemExit(main())
