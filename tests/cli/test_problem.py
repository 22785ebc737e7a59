"""From options to a pencil: bundled names, matrices, and tables of samples."""

import json

import numpy as np
import pytest

from dcgev_cvx import cca_pencil, components, fda_pencil, pca_pencil, solve
from dcgev_cvx.cli import problem as inputs
from dcgev_cvx.cli.csv_files import CsvOptions
from dcgev_cvx.errors import InvalidParameter, InvalidPencil

A = np.array([[2.0, 0.5, 0.25], [0.5, 1.0, 0.125], [0.25, 0.125, 3.0]])
B = np.array([[1.0, 0.25, 0.0], [0.25, 2.0, 0.0], [0.0, 0.0, 1.5]])


def csv_text(matrix, names):
    rows = [",".join(map(repr, map(float, row))) for row in matrix]
    return "\n".join([",".join(names), *rows]) + "\n"


def test_A_and_B_from_two_files(run, tmp_path):
    a, b = tmp_path / "a.csv", tmp_path / "b.npy"
    a.write_text(csv_text(A, ["u", "v", "w"]))
    np.save(b, B)
    code, out, _ = run("solve", "--A", a, "--B", b, "--rho", 0.1, "--json")
    assert code == 0
    assert json.loads(out)["problem"]["lambda_max"] == pytest.approx(
        float(max(np.linalg.eigvals(np.linalg.solve(B, A)).real))
    )


def test_pencil_and_factor_in_one_npz(tmp_path):
    np.savez(tmp_path / "p.npz", A=A, B=B)
    pencil = inputs.read_pencil(str(tmp_path / "p.npz"), None, None, CsvOptions())
    assert np.array_equal(pencil.A, A)
    assert np.array_equal(pencil.B, B)
    C = np.arange(6.0).reshape(2, 3)
    np.savez(tmp_path / "c.npz", C=C)
    assert np.allclose(inputs.read_pencil(str(tmp_path / "c.npz"), None, None, CsvOptions()).dense()[0], C.T @ C)


@pytest.mark.parametrize("name", sorted(inputs.BUNDLED))
def test_every_bundled_name_is_a_pencil(name):
    assert inputs.read_pencil(name, None, None, CsvOptions()).n >= 2


def test_names_of_A_and_B_must_agree(tmp_path):
    a, b = tmp_path / "a.csv", tmp_path / "b.csv"
    a.write_text(csv_text(A, ["u", "v", "w"]))
    b.write_text(csv_text(B, ["u", "w", "v"]))
    with pytest.raises(InvalidPencil, match="have the same labels in another order"):
        inputs.read_pencil(None, str(a), str(b), CsvOptions())


def test_names_of_A_and_B_that_repeat_or_differ(tmp_path):
    a, b = tmp_path / "a.csv", tmp_path / "b.csv"
    a.write_text(csv_text(A, ["u", "u", "w"]))
    b.write_text(csv_text(B, ["u", "u", "w"]))
    assert inputs.read_pencil(None, str(a), str(b), CsvOptions()).names == ("u", "u.1", "w")
    b.write_text(csv_text(B, ["p", "q", "r"]))
    with pytest.raises(InvalidPencil, match=r"have different labels \('p'\): give both the same"):
        inputs.read_pencil(None, str(a), str(b), CsvOptions())


def test_arrays_that_are_left_out_are_told(tmp_path):
    np.savez(tmp_path / "p.npz", A=A, b=B)
    options = CsvOptions()
    assert inputs.read_pencil(str(tmp_path / "p.npz"), None, None, options).B is None
    assert options.notes == [f"{tmp_path / 'p.npz'}: b left out; A (or C), B and names are read."]


def test_a_second_B_is_refused(tmp_path):
    np.savez(tmp_path / "p.npz", A=A, B=B)
    np.save(tmp_path / "b.npy", B)
    with pytest.raises(InvalidParameter, match="have a B of their own"):
        inputs.read_pencil(str(tmp_path / "p.npz"), None, str(tmp_path / "b.npy"), CsvOptions())


@pytest.mark.parametrize(
    ("arrays", "text"),
    [
        ({"one": A, "two": B}, "holds the arrays one, two: name one A"),
        ({"B": B}, "holds B and no A: add the array A"),
        ({}, "holds no arrays: name one A"),
    ],
)
def test_arrays_without_an_A_are_refused(tmp_path, arrays, text):
    np.savez(tmp_path / "p.npz", **arrays)
    with pytest.raises(InvalidParameter, match=text):
        inputs.read_pencil(str(tmp_path / "p.npz"), None, None, CsvOptions())


@pytest.mark.parametrize("given", [[""], ["--A", ""], ["pitprops", "--B", ""]])
def test_an_empty_name_is_no_folder(run, given):
    code, _, err = run("solve", "--rho", 1, *given)
    assert code == 2
    assert "''" in err


def test_pca_from_samples(run_json, files):
    folder, frame, _, _ = files
    made = run_json("solve", folder / "X.csv", "--task", "pca", "-k", 2, "--scale")
    best = solve(pca_pencil(frame, scale=True), 2)
    assert set(made["components"][0]["loadings"]) == {"red", "green"}
    assert made["components"][0]["value"] == pytest.approx(best.value)
    raw = run_json("solve", "--X", folder / "X.csv", "--task", "pca", "-k", 2, "--no-center")
    assert raw["components"][0]["value"] == pytest.approx(solve(pca_pencil(frame, center=False), 2).value)


def test_cca_from_two_files(run_json, files):
    folder, frame, Y, _ = files
    argv = ("solve", "--X", folder / "X.csv", "--Y", folder / "Y.npy", "--task", "cca", "--ridge", 0.1)
    made = run_json(*argv, "--components", "2+1,1+1")
    first, second = (part["loadings"] for part in made["components"])
    assert set(first) == {"red", "green", "y2"}
    assert len(second) == 2
    assert made["problem"]["blocks"] == [6, 4]
    assert "explained" not in made
    found = components(cca_pencil(frame, Y, ridge=0.1), [(2, 1), (1, 1)])
    assert [part["value"] for part in made["components"]] == pytest.approx(list(found.values))


@pytest.mark.parametrize("source", ["column", "labels.txt", "labels.csv", "labels.npy"])
def test_fda_from_labels(run_json, files, source):
    folder, frame, _, labels = files
    data, y = ("labelled.csv", "kind") if source == "column" else ("X.csv", folder / source)
    made = run_json("solve", folder / data, "--task", "fda", "--y", y, "-k", 2)
    assert set(made["components"][0]["loadings"]) == {"red", "green"}
    best = solve(fda_pencil(frame, labels), 2)
    assert made["components"][0]["value"] == pytest.approx(best.value)


def test_rho_works_on_samples_too(run, files):
    code, out, _ = run("solve", files[0] / "X.csv", "--task", "pca", "--rho", 5.0)
    assert code == 0
    assert "red" in out


# --- bad input: one line, exit code 2


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        ("solve pitprops -k 0", "k = 0 is out of range"),
        ("solve pitprops -k 14", "k = 14 is out of range"),
        ("solve pitprops --components 6,x", "--components '6,x' is not a cardinality"),
        ("solve pitprops --components 2+2", "the pencil has none"),
        ("solve pitprops -k 3 --eps 0.1", "--eps belongs to --rho"),
        ("solve pitprops -k 3 --trace", "--trace belongs to --rho"),
        ("solve -k 3 --task pca", "needs the samples"),
        ("solve X.csv -k 3", "pass --task pca"),
        ("solve X.csv --X X.csv --task pca -k 3", "were both given"),
        ("solve X.csv --task pca -k 3 --ridge 1", "--ridge has no meaning with --task pca"),
        ("solve pitprops -k 3 --scale", "--scale has no meaning without --task"),
        ("solve X.csv --task pca -k 3 --B X.csv", "--B has no meaning with --task pca"),
        ("solve X.csv --task cca -k 3", "needs the second view"),
        ("solve X.csv --task cca --Y short.csv -k 3", "X has 60 rows but Y has 2"),
        ("solve X.csv --task fda -k 3", "needs the classes"),
        ("solve X.csv --task fda --y kimd -k 3", "no column 'kimd'"),
        ("solve labelled.csv --task fda --y kimd -k 3", "did you mean 'kind'?"),
        ("solve labelled.csv --task pca -k 3", "'high' is not a number"),
        ("solve Y.npy --task fda --y kind -k 3", "has no named columns"),
        ("solve X.csv --task fda --y short.csv -k 3", "X has 60 rows but y has 3 labels"),
        ("solve X.csv --task cca --Y Y.npy --ridge -1 -k 3", "ridge = -1 is out of range"),
        ("path pitprops --points 0", "--points = 0 must be a whole number of at least 1"),
        ("path pitprops --rho 1,x", "argument --rho: '1,x' must be numbers with commas"),
        ("path pitprops --plot p.gif", "must end in .png, .pdf or .svg"),
        ("path pitprops --plot no/where.png", "cannot be written (No such file or directory)"),
        (
            "path pitprops --plot folder.png",
            "--plot folder.png is a folder, a pipe or a device",
        ),
        ("path pitprops --rho 1 --points 3", "--points were both given"),
        ("solve pitprops -k 3 --solver CLARABEL", "--solver belongs to --rho"),
        ("solve pitprops -k 3 --max-iter 5", "--max-iter belongs to --rho"),
        ("solve pitprops --rho 1 --effort quick", "--effort belongs to -k and --components"),
        ("solve pitprops --rho 1 --random-state 0", "--random-state belongs to -k and --components"),
        ("solve pitprops --rho 1 --x0 a,b", "argument --x0: 'a,b' must be numbers with commas"),
        ("solve latin.csv --task fda --y kind -k 1", "latin.csv is not UTF-8 text (byte 1)"),
        ("solve twice.csv --task fda --y kind -k 1", "twice.csv has 2 columns named 'kind'"),
        ("solve gap.csv --task fda --y kind -k 1", "gap.csv, line 3: the label '' is missing"),
        ("solve nan.csv --task fda --y kind -k 1", "nan.csv, line 3: the label 'nan' is missing"),
        ("solve labelled.csv --task fda --y red -k 1", "labelled.csv, line 2, column 'kind': 'high' is not a number"),
        ("solve X.csv --task fda --y holes.txt -k 1", "holes.txt, line 31 is empty: delete it, or fill the gap"),
        ("solve X.csv --task fda --y nans.csv -k 1", "nans.csv, line 3: the label 'nan' is missing"),
        ("solve flat.csv --task pca -k 1", "X has 1 entries that are NaN or infinite, in column(s) 'oak'"),
        ("solve still.csv --task pca --scale -k 1", "X has constant column(s): 'oak'. They cannot be scaled"),
        ("path pitprops --plot=", "--plot = '' must be the path of a file or folder"),
        ("solve X.csv --task fda --y square.npy -k 1", "one row or one column is needed"),
        ("path nowhere", "neither a bundled name nor a file"),
    ],
)
def test_bad_input_is_one_line_on_stderr(run, files, monkeypatch, argv, message):
    folder = files[0]
    (folder / "short.csv").write_text("a,b\n1,2\n3,5\n")
    (folder / "latin.csv").write_text("é,kind\n1,u\n", encoding="latin-1")
    (folder / "twice.csv").write_text("a,kind,kind\n1,u,v\n")
    (folder / "gap.csv").write_text("a,kind\n1.5,u\n2,\n0.5,v\n")
    (folder / "nan.csv").write_text("a,kind\n1.5,u\n2,nan\n0.5,v\n")
    (folder / "holes.txt").write_text("kind\n" + "high\n" * 29 + "\n" + "low\n" * 30)  # as many lines as samples
    (folder / "nans.csv").write_text("0\n1\nnan\n" + "1\n" * 57)
    (folder / "flat.csv").write_text("ash,oak\n1,2\n3,inf\n2.5,2\n")
    (folder / "still.csv").write_text("ash,oak\n1,2\n3,2\n2.5,2\n")
    (folder / "folder.png").mkdir()
    np.save(folder / "square.npy", np.eye(60))
    monkeypatch.chdir(folder)
    code, out, err = run(*argv.split())
    assert (code, out) == (2, "")
    assert err.startswith("dcgev: ")
    assert err.count("\n") == 1
    assert message in err
