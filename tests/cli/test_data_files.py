"""Every kind of file gives the same matrix, and what cannot be read is explained in one line."""

import io
import os
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.io
import scipy.sparse

from dcgev_cvx.cli import problem as inputs
from dcgev_cvx.cli.csv_files import CsvOptions
from dcgev_cvx.cli.data_files import read_arrays, read_label_file
from dcgev_cvx.errors import InvalidParameter

A = np.array([[2.0, 0.5, 0.25], [0.5, 1.0, 0.125], [0.25, 0.125, 3.0]])
B = np.array([[1.0, 0.25, 0.0], [0.25, 2.0, 0.0], [0.0, 0.0, 1.5]])


def csv_text(matrix, names=None, rows=None, mark=","):
    lines = [mark.join(([""] if rows else []) + list(names))] if names else []
    for i, row in enumerate(matrix):
        lines.append(mark.join(([rows[i]] if rows else []) + [repr(float(v)) for v in row]))
    return "\n".join(lines) + "\n"


WRITERS = {
    "plain.npy": lambda path: np.save(path, A),
    "single.npy": lambda path: np.save(path, A.astype(np.float32)),
    "fortran.npy": lambda path: np.save(path, np.asfortranarray(A)),
    "only.npz": lambda path: np.savez(path, anything=A),
    "sparse.npz": lambda path: scipy.sparse.save_npz(path, scipy.sparse.csr_array(A)),
    "named.npz": lambda path: np.savez(path, A=A, names=np.array(["u", "v", "w"])),
    "bare.csv": lambda path: path.write_text(csv_text(A)),
    "header.csv": lambda path: path.write_text(csv_text(A, ["u", "v", "w"])),
    "labels.csv": lambda path: path.write_text(csv_text(A, ["u", "v", "w"], ["u", "v", "w"])),
    "index.csv": lambda path: path.write_text(csv_text(A, ["u", "v", "w"], ["0", "1", "2"])),
    "semicolon.csv": lambda path: path.write_text(csv_text(A, ["u", "v", "w"], mark=";")),
    "bom.csv": lambda path: path.write_text(csv_text(A, ["u", "v", "w"]), encoding="utf-8-sig"),
    "crlf.csv": lambda path: path.write_bytes(csv_text(A, ["u", "v", "w"]).replace("\n", "\r\n").encode()),
    "quoted.csv": lambda path: path.write_text('"u","v","w"\n' + csv_text(A)),
    "frame.csv": lambda path: path.write_text("0,1,2\n" + csv_text(A)),
    "tab.tsv": lambda path: path.write_text(csv_text(A, ["u", "v", "w"], mark="\t")),
    "dense.mtx": lambda path: scipy.io.mmwrite(path, A, precision=17),
    "coordinate.mtx": lambda path: scipy.io.mmwrite(path, scipy.sparse.coo_array(A), precision=17),
}


@pytest.mark.parametrize("name", WRITERS)
def test_every_kind_of_file_gives_the_same_matrix(tmp_path, name):
    path = tmp_path / name
    WRITERS[name](path)
    pencil = inputs.read_pencil(str(path), None, None, CsvOptions())
    assert np.array_equal(pencil.A, A)
    by_file = {"frame.csv": ("0", "1", "2")}
    unnamed = {
        "plain.npy",
        "single.npy",
        "fortran.npy",
        "only.npz",
        "sparse.npz",
        "bare.csv",
        "dense.mtx",
        "coordinate.mtx",
    }
    assert pencil.names == (None if name in unnamed else by_file.get(name, ("u", "v", "w")))


def sparse_npz(**changed):
    """The bytes of a file of scipy.sparse.save_npz for the identity, some parts of it changed."""
    parts = {"format": b"csr", "shape": (2, 2), "data": np.ones(2), "indices": [0, 1], "indptr": [0, 1, 2]}
    np.savez(file := io.BytesIO(), **{**parts, **changed})
    return file.getvalue()


MTX = b"%%MatrixMarket matrix coordinate "


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", b"1,2\n3\n", "line 2: 1 entries where the first line has 2"),
        ("a.csv", b'"u,v\n1,0\n0,1\n', "has a quotation mark that is opened and never closed"),
        ("a.csv", b"\xff\xfe\x00", "is not UTF-8 text (byte 1): save it as UTF-8"),
        ("a.csv", b",u,v\nv,1,0\nu,0,1\n", "and its rows have the same labels in another order"),
        ("a.csv", b"1.5,nan\nnan,1\n", "A has 2 entries that are NaN or infinite"),
        ("a.csv", b"1.5,2,4\n4,5,6\n", "holds 2×3 numbers; A must be square"),
        ("a.csv", b"1,2\n2,1\n", "the header is '1, 2' (--no-header if it is data)"),
        ("a.csv", b"1,3.5\n2,4\n", "A is not symmetric"),
        ("a.npy", b"not numpy", "it is not an array of numbers, or it holds pickled objects, which are never loaded"),
        ("a.npz", sparse_npz(indices=np.array([np.nan, 1.0])), "could not be read as .npz: "),
        ("a.npz", sparse_npz(indices=np.array([0, 10**6])), "could not be read as .npz: indices must be < 2"),
        (
            "a.npz",
            sparse_npz(format=b"dia", offsets=np.array([0, 5]), data=np.ones((2, 2))),
            "its diagonals [0, 5] lie outside of a (2, 2) matrix",
        ),
        ("a.npz", b"not a zip", "could not be read as .npz"),
        ("a.mtx", b"%%nonsense\n", "could not be read as .mtx"),
        ("a.mtx", MTX + b"real general\n2 2 2\n1 1 1.0\n", "announces 2 entries, but 1 lines follow: it is damaged"),
        ("a.mtx", MTX + b"real general\n2 2 1\n1 9 1.0\n", "Column index out of bounds"),
        ("a.mtx", MTX + b"real general\n0 0 0\n", "its sizes are '0 0 0'"),
        ("a.mtx", MTX + b"real symmetric\n2 3 1\n1 3 1\n", "a symmetric matrix cannot be 2×3"),
        ("a.mtx", MTX + b"integer general\n2 2 1\n1 1 1.5\n", "its entry '1 1 1.5' is not written as one of"),
        ("a.mtx", MTX + b"real general\n1 1 1\n1 1 1_0.0\n", "its entry '1 1 1_0.0' is not written as one of"),
        ("a.mtx", MTX + b"real general\n9999999 9999999 1\n1 1 1.0\n", "A as a dense matrix is 9999999×9999999"),
        ("a.mtx", MTX + b"complex general\n1 1 1\n1 1 1.0 2.0\n", "must be %%MatrixMarket matrix, then array"),
        ("noending", b"1", "has no ending; files are read by their ending"),
        ("a.txt", b"1", "ends in '.txt'; files are read by their ending: .npy, .npz, .csv, .tsv, .mtx"),
    ],
)
def test_unreadable_files_are_explained(run, tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    code, out, err = run("solve", tmp_path / name, "--rho", 1)
    assert (code, out) == (2, "")
    assert message in err


def test_pickled_arrays_are_not_opened(run, tmp_path):
    np.save(tmp_path / "a.npy", np.array([[SimpleNamespace()]], dtype=object), allow_pickle=True)
    code, _, err = run("solve", tmp_path / "a.npy", "--rho", 1)
    assert code == 2
    assert "could not be read as .npy" in err


def test_a_misspelt_file_gets_the_nearest(run, tmp_path):
    np.save(tmp_path / "covariance.npy", A)
    _, _, err = run("solve", tmp_path / "covarience.npy", "--rho", 1)
    assert "did you mean 'covariance.npy'?" in err


def test_a_pipe_is_not_waited_for(run, tmp_path):
    os.mkfifo(tmp_path / "a.csv")
    assert "is a folder, a pipe or a device; a file is needed" in run("solve", tmp_path / "a.csv", "--rho", 1)[2]


def test_names_of_other_files_are_not_listed(tmp_path):
    (tmp_path / "quite_another.csv").write_text("1\n")
    with pytest.raises(InvalidParameter, match=r"zzz.npy does not exist\.$"):
        inputs.read_pencil(str(tmp_path / "zzz.npy"), None, None, CsvOptions())


def test_one_number_written_in_two_ways_is_not_two_classes(tmp_path):
    (tmp_path / "y.csv").write_text("1\n1.0\n2\n2\n")
    with pytest.raises(InvalidParameter, match=r"line 2: the labels '1.0' and '1' are the same number"):
        read_label_file(str(tmp_path / "y.csv"), 4, CsvOptions())


def test_one_line_more_than_samples_is_a_header_of_labels(tmp_path):
    file = tmp_path / "y.csv"
    file.write_text("0\n0\n1\n0\n1\n")
    assert list(read_label_file(str(file), 4, CsvOptions())) == ["0", "1", "0", "1"]
    assert list(read_label_file(str(file), 5, CsvOptions())) == ["0", "0", "1", "0", "1"]
    assert list(read_label_file(str(file), 4, CsvOptions(header=True))) == ["0", "1", "0", "1"]
    assert len(read_label_file(str(file), 4, CsvOptions(header=False))) == 5
    file.write_text(",kind\na,0\nb,1\n")
    assert list(read_label_file(str(file), 2, CsvOptions()).index) == ["a", "b"]


def test_names_stored_as_bytes_are_text(tmp_path):
    np.savez(tmp_path / "a.npz", A=np.eye(2), names=np.array([b"u", b"v"]))
    assert list(read_arrays(str(tmp_path / "a.npz"))["names"]) == ["u", "v"]
