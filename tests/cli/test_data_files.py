"""Every kind of file gives the same matrix, and what cannot be read is explained in one line."""

import io
import os
from types import SimpleNamespace
from zipfile import ZipFile

import numpy as np
import pytest
import scipy.io
import scipy.sparse

from dcgev_cvx.cli import problem as inputs
from dcgev_cvx.cli.csv_files import CsvOptions
from dcgev_cvx.cli.data_files import read_arrays, read_labels
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
    "tab.csv": lambda path: path.write_text(csv_text(A, ["u", "v", "w"], mark="\t")),
    "bom.csv": lambda path: path.write_text(csv_text(A, ["u", "v", "w"]), encoding="utf-8-sig"),
    "crlf.csv": lambda path: path.write_bytes(csv_text(A, ["u", "v", "w"]).replace("\n", "\r\n").encode()),
    "quoted.csv": lambda path: path.write_text('"u","v","w"\n' + csv_text(A)),
    "frame.csv": lambda path: path.write_text("0,1,2\n" + csv_text(A)),
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


def npy(numbers):
    """The bytes of an .npy file."""
    np.save(file := io.BytesIO(), np.array(numbers))
    return file.getvalue()


def sparse_npz(**changed):
    """The bytes of a file of scipy.sparse.save_npz for the identity, some parts of it changed."""
    parts = {"format": b"csr", "shape": (2, 2), "data": np.ones(2), "indices": [0, 1], "indptr": [0, 1, 2]}
    np.savez(file := io.BytesIO(), **{**parts, **changed})
    return file.getvalue()


MTX = b"%%MatrixMarket matrix coordinate "
HEADER = b"\x93NUMPY\x01\x00v\x00" + b"{'descr': '<f8', 'fortran_order': False, 'shape': (9999999, 9999999), }".ljust(
    117
)
HEADER += b"\n"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", b"", "is empty"),
        ("a.csv", b"u,v\n", "has a header and no numbers below it"),
        ("a.csv", b"1,2\n3\n", "line 2: 1 entries where the first line has 2"),
        ("a.csv", b"u,v\n1,0\n0,x\n", "line 3, column 'v': 'x' is not a number"),
        ("a.csv", b"u;v\n1,5;0\n0;1\n", "line 2, column 'u': '1,5' is not a number. Write decimals with a point"),
        ("a.csv", b" \n\n \t\n", "a.csv is empty"),
        ("a.csv", b'"u,v\n1,0\n0,1\n', "has a quotation mark that is opened and never closed"),
        ("a.csv", b",u,v\nu,1,0\nv,0,x\n", "line 3, column 'v': 'x' is not a number"),
        ("a.csv", b"\xff\xfe\x00", "is not UTF-8 text (byte 3): unpack it if it is compressed"),
        ("a.csv", b"\n\nu;v\n\n1;x\n0;1\n", "line 5, column 'v': 'x' is not a number"),
        ("a.csv", b"u,v\n1_0,0\n0,1\n", "line 2, column 'u': '1_0' is not a number"),
        ("a.csv", b"1 2\n2 1\n", "separate numbers by comma, semicolon or tab"),
        ("a.csv", b"u,v\n" + b"1" * 200_000 + b",0\n0,1\n", "field larger than field limit"),
        (
            "a.csv",
            b"NA,0\n0,1\n1,1\n",
            "line 1: 'NA, 0' may be a header or a row of numbers: name every column, or pass --header",
        ),
        ("a.csv", b"1,\n0,1\n1,1\n", "line 1: '1, ' may be a header or a row of numbers"),
        ("a.csv", b"r1,1,0\nr2,0,1\n", "line 1: 'r1, 1, 0' may be a header or a row of numbers"),
        ("a.csv", b",u,v\nv,1,0\nu,0,1\n", "and its rows have the same labels in another order"),
        ("a.csv", b"1,nan\nnan,1\n", "A has 2 entries that are NaN or infinite"),
        ("a.csv", b"1.5,2,4\n4,5,6\n", "holds 2×3 numbers; A must be square"),
        ("a.csv", b"1,3.5\n2,4\n", "A is not symmetric"),
        ("a.npy", b"not numpy", "it is not an array of numbers, or it holds pickled objects, which are never loaded"),
        ("a.npy", npy([[1.0, 0.0], [0.0, 1.0]]) + b"\0", "more bytes follow its array of shape (2, 2)"),
        ("a.npy", HEADER, "could not be read as .npy: Unable to allocate"),
        ("a.npz", sparse_npz(indices=np.array([np.nan, 1.0])), "could not be read as .npz: indices must be >= 0"),
        ("a.npz", b"not a zip", "could not be read as .npz"),
        ("a.mtx", b"%%nonsense\n", "could not be read as .mtx"),
        ("a.mtx", MTX + b"real general\n2 2 2\n1 1 1.0\n", "announces 6 numbers, but 3 follow: it is cut or damaged"),
        ("a.mtx", MTX + b"real general\n2 2 1\n1 9 1.0\n", "an entry lies outside of its 2×2 numbers"),
        ("a.mtx", MTX + b"real general\n0 0 0\n", "its sizes are [0, 0, 0]"),
        ("a.mtx", MTX + b"real symmetric\n2 2 3\n1 1 1\n1 2 1\n2 1 1\n", "it must have the entries of one triangle"),
        ("a.mtx", MTX + b"real general\n9999999 9999999 1\n1 1 1.0\n", "A as a dense matrix is 9999999×9999999"),
        (
            "a.mtx",
            MTX + b"complex general\n1 1 1\n1 1 1.0 2.0\n",
            "complex general' must be %%MatrixMarket matrix, then array or coordinate",
        ),
        ("a.mtx", MTX + b"real general\n1 1 1\n1 1 1_0.0\n", "it has an underscore between digits"),
        ("a.mtx", b"%%MatrixMarket matrix array pattern general\n1 1\n2\n", "array pattern general' must be"),
        ("noending", b"1", "has no ending; files are read by their ending"),
        ("a.txt", b"1", "ends in '.txt'; files are read by their ending: .npy, .npz, .csv, .mtx"),
    ],
)
def test_unreadable_files_are_explained(run, tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    code, out, err = run("solve", tmp_path / name, "--rho", 1)
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


def test_pickled_arrays_are_not_opened(run, tmp_path):
    np.save(tmp_path / "a.npy", np.array([[SimpleNamespace()]], dtype=object), allow_pickle=True)
    code, _, err = run("solve", tmp_path / "a.npy", "--rho", 1)
    assert code == 2
    assert "could not be read as .npy" in err


def test_a_misspelt_file_gets_the_nearest(run, tmp_path):
    np.save(tmp_path / "covariance.npy", A)
    _, _, err = run("solve", tmp_path / "covarience.npy", "--rho", 1)
    assert "did you mean 'covariance.npy'?" in err


@pytest.mark.parametrize("name", ["a.csv", "a.npy", "a.npz", "a.mtx"])
def test_a_pipe_is_not_waited_for(run, tmp_path, name):
    os.mkfifo(tmp_path / name)
    assert run("solve", tmp_path / name, "--rho", 1)[2].endswith(
        "a pipe or a device; a file is needed (.npy, .npz, .csv, .mtx).\n"
    )


def test_a_device_is_not_read_without_an_end(run, tmp_path):
    (tmp_path / "a.csv").symlink_to("/dev/zero")
    assert "a pipe or a device" in run("solve", tmp_path / "a.csv", "-k", 1)[2]


def test_indices_beyond_the_matrix_are_refused(run, tmp_path):
    np.savez(
        tmp_path / "a.npz",
        format=b"csr",
        shape=[2, 2],
        data=[1.0, 1.0],
        indices=[0, 10**6],  # SciPy would write there
        indptr=[0, 1, 2],
    )
    assert "could not be read as .npz: indices must be < 2" in run("solve", tmp_path / "a.npz", "-k", 1)[2]


def test_names_of_other_files_are_not_listed(tmp_path):
    (tmp_path / "quite_another.csv").write_text("1\n")
    with pytest.raises(InvalidParameter, match=r"zzz.npy does not exist\.$"):
        inputs.read_pencil(str(tmp_path / "zzz.npy"), None, None, CsvOptions())


def test_only_line_ends_end_lines(tmp_path):
    (tmp_path / "a.csv").write_text("u\u2028v,w\x0bz\r\n2,1\r\n1,2\r\n", encoding="utf-8", newline="")
    pencil = inputs.read_pencil(str(tmp_path / "a.csv"), None, None, CsvOptions())
    assert pencil.names == ("u\u2028v", "w\x0bz")


@pytest.mark.parametrize("name", ["A.npy", "A"])
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_arrays_of_one_name_are_refused(tmp_path, name):
    with ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("A.npy", npy(np.eye(2)))
        archive.writestr(name, npy(2.0 * np.eye(2)))
    with pytest.raises(InvalidParameter, match="two of its arrays have the same name"):
        read_arrays(str(tmp_path / "a.npz"))


def test_one_number_written_in_two_ways_is_not_two_classes(tmp_path):
    (tmp_path / "y.csv").write_text("1\n1.0\n2\n2\n")
    with pytest.raises(InvalidParameter, match=r"line 2: the labels '1.0' and '1' are the same number"):
        read_labels(str(tmp_path / "y.csv"), 4, CsvOptions())


def test_a_first_line_that_may_be_a_label_is_asked_for(tmp_path):
    file = tmp_path / "y.csv"
    file.write_text("0\n0\n1\n0\n1\n")
    with pytest.raises(InvalidParameter, match="5 lines for 4 samples, and the first, '0', may be a header or a label"):
        read_labels(str(file), 4, CsvOptions())
    assert list(read_labels(str(file), 4, CsvOptions(header=True))) == ["0", "1", "0", "1"]
    assert len(read_labels(str(file), 4, CsvOptions(header=False))) == 5


def test_a_first_line_without_a_row_name_is_a_header(tmp_path):
    file = tmp_path / "y.csv"
    file.write_text(",0\na,0\nb,1\nc,0\n")
    for m in (3, 4):  # a label is missing in the second case
        assert list(read_labels(str(file), m, CsvOptions())) == ["0", "1", "0"]


def test_names_stored_as_bytes_are_text(tmp_path):
    np.savez(tmp_path / "a.npz", A=np.eye(2), names=np.array([b"u", b"v"]))
    assert list(read_arrays(str(tmp_path / "a.npz"))["names"]) == ["u", "v"]
