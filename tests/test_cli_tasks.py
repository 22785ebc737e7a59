"""`dcgev solve -k`, `--components`, `--task` and `dcgev path`, as a person and as a program meet them."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from dcgev_cvx import cca_pencil, components, datasets, fda_pencil, pca_pencil
from dcgev_cvx.cli import main
from dcgev_cvx.search import paths


@pytest.fixture(autouse=True)
def plain_terminal(monkeypatch):
    for name in ("COLUMNS", "FORCE_COLOR", "CLICOLOR_FORCE"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def files(tmp_path):
    """Samples with names, two views and labels, in the formats that the commands read."""
    rng = np.random.default_rng(0)
    z = rng.standard_normal((60, 1))
    X = rng.standard_normal((60, 6)) + z * [2, 2, 0, 0, 0, 0]
    Y = rng.standard_normal((60, 4)) + z * [0, 2, 0, 0]
    labels = np.where(z[:, 0] > 0, "high", "low")
    frame = pd.DataFrame(X, columns=["red", "green", "blue", "ash", "oak", "elm"])
    frame.to_csv(tmp_path / "X.csv", index=False)
    frame.assign(kind=labels).to_csv(tmp_path / "labelled.csv", index=False)
    np.save(tmp_path / "Y.npy", Y)
    (tmp_path / "labels.txt").write_text("\n".join(labels))
    (tmp_path / "labels.csv").write_text("kind\n" + "\n".join(labels))
    np.save(tmp_path / "labels.npy", (labels == "low").astype(int))
    return tmp_path, frame, Y, labels


def run(capsys, *argv):
    code = main([str(arg) for arg in argv])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def run_json(capsys, *argv):
    code, out, err = run(capsys, *argv, "--json")
    assert (code, err) == (0, "")
    return json.loads(out)


# --- solve


def test_solve_for_a_cardinality(capsys):
    code, out, err = run(capsys, "solve", "pitprops", "-k", 4)
    assert (code, err) == (0, "")
    assert "2.93748, 69.63% of λmax(A,B)" in out
    assert "22.60% of tr(A)" in out
    assert "no ρ̃ tried gives this k" in out
    assert max(len(line) for line in out.splitlines()) <= 80


def test_solve_for_several_components(capsys):
    code, out, err = run(capsys, "solve", "pitprops", "--components", "6,2,2,1,1,1")
    assert (code, err) == (0, "")
    assert "projector trace  77.05% of tr(A)" in out
    assert "plain sum        80.19% of tr(A)" in out
    assert "orthogonalized-hotelling" in out
    assert max(len(line) for line in out.splitlines()) <= 80


def test_json_is_the_library_s_answer(capsys):
    made = run_json(capsys, "solve", "pitprops", "--components", "3,2", "--deflation", "schur")
    found = components(datasets.pitprops(), [3, 2], deflation="schur")
    assert [part["value"] for part in made["components"]] == list(found.values)
    assert made["explained"]["projector_trace"] == found.projector_trace().tolist()
    assert made["deflation"] == "schur"


def test_pca_from_samples(capsys, files):
    folder, frame, _, _ = files
    made = run_json(capsys, "solve", folder / "X.csv", "--task", "pca", "-k", 2, "--scale")
    best = paths.solve(pca_pencil(frame, scale=True), 2)
    assert set(made["components"][0]["loadings"]) == {"red", "green"}
    assert made["components"][0]["value"] == pytest.approx(best.value)
    raw = run_json(capsys, "solve", "--X", folder / "X.csv", "--task", "pca", "-k", 2, "--no-center")
    assert raw["components"][0]["value"] == pytest.approx(paths.solve(pca_pencil(frame, center=False), 2).value)


def test_cca_from_two_files(capsys, files):
    folder, frame, Y, _ = files
    argv = ("solve", "--X", folder / "X.csv", "--Y", folder / "Y.npy", "--task", "cca", "--ridge", 0.1)
    made = run_json(capsys, *argv, "--components", "2+1,1+1")
    first, second = (part["loadings"] for part in made["components"])
    assert set(first) == {"red", "green", "y2"}
    assert len(second) == 2
    assert made["problem"]["blocks"] == [6, 4]
    assert "explained" not in made
    found = components(cca_pencil(frame, Y, ridge=0.1), [(2, 1), (1, 1)])
    assert [part["value"] for part in made["components"]] == pytest.approx(list(found.values))


@pytest.mark.parametrize("source", ["column", "labels.txt", "labels.csv", "labels.npy"])
def test_fda_from_labels(capsys, files, source):
    folder, frame, _, labels = files
    data, y = ("labelled.csv", "kind") if source == "column" else ("X.csv", folder / source)
    made = run_json(capsys, "solve", folder / data, "--task", "fda", "--y", y, "-k", 2)
    assert set(made["components"][0]["loadings"]) == {"red", "green"}
    best = paths.solve(fda_pencil(frame, labels), 2)
    assert made["components"][0]["value"] == pytest.approx(best.value)


def test_rho_works_on_samples_too(capsys, files):
    code, out, _ = run(capsys, "solve", files[0] / "X.csv", "--task", "pca", "--rho", 5.0)
    assert code == 0
    assert "red" in out


def test_components_are_kept_as_they_are_found_and_an_interrupt_loses_none(capsys, tmp_path, monkeypatch):
    solve, calls = paths.solve, []

    def interrupted(*args, **settings):
        calls.append(args)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return solve(*args, **settings)

    monkeypatch.setattr(paths, "solve", interrupted)
    folder = tmp_path / "kept"
    code, out, err = run(capsys, "solve", "pitprops", "--components", "6,2,2", "--out", folder)
    monkeypatch.setattr(paths, "solve", solve)
    assert (code, err) == (130, f"dcgev: interrupted after 2 of 3 components, kept in {folder}.\n")
    expected = components(datasets.pitprops(), [6, 2]).solutions
    assert out.splitlines() == [f"{j}. {solution}" for j, solution in enumerate(expected, 1)]
    kept = sorted(path.name for path in (tmp_path / "kept").iterdir())
    assert kept == ["component-1.json", "component-2.json"]
    assert json.loads((tmp_path / "kept" / "component-1.json").read_text())["k"] == 6
    monkeypatch.setattr(paths, "solve", interrupted)
    calls.clear()
    code, out, err = run(capsys, "solve", "pitprops", "--components", "6,2,2", "--json")
    assert (code, err) == (130, "dcgev: interrupted after 2 of 3 components.\n")
    made = json.loads(out)
    assert [component["k"] for component in made["components"]] == [6, 2]
    assert made["ended"] is False
    calls[:] = [None, None]
    assert run(capsys, "solve", "pitprops", "--components", "6,2,2") == (130, "", "dcgev: interrupted.\n")


# --- path


def test_path_shows_what_it_reaches_and_what_not(capsys):
    code, out, err = run(capsys, "path", "pitprops", "--points", 30)
    assert (code, err) == (0, "")
    missing = paths.path(datasets.pitprops(), points=30).missing
    assert 3 in missing
    assert f"no ρ̃ tried gives k = {', '.join(map(str, missing))}; `dcgev solve -k` does" in out
    assert "collapsed" in out
    assert max(len(line) for line in out.splitlines()) <= 80


def test_path_json_keeps_and_draws(capsys, tmp_path):
    made = run_json(
        capsys, "path", "pitprops", "--rho", "4.84,1,9", "--out", tmp_path, "--plot", tmp_path / "path.png"
    )
    assert [point["rho"] for point in made["points"]] == [9, 4.84, 1]
    lines = [json.loads(line) for line in (tmp_path / "path.jsonl").read_text().splitlines()]
    assert lines == made["points"]
    assert (tmp_path / "path.png").read_bytes().startswith(b"\x89PNG")
    code, _, _ = run(capsys, "path", "pitprops", "--rho", "4.84", "--plot", tmp_path / "path.svg")
    assert code == 0
    assert "<svg" in (tmp_path / "path.svg").read_text()


def test_path_from_samples(capsys, files):
    made = run_json(capsys, "path", files[0] / "X.csv", "--task", "pca", "--points", 12)
    assert {point["k"] for point in made["points"]} >= {0, 1, 2, 5}


def test_path_of_two_classes_runs_in_nu(capsys, files):
    """ν as far as one variable; the table and the JSON say ν, and so does the file."""
    where = ("path", files[0] / "labelled.csv", "--task", "fda", "--y", "kind")
    made = run_json(capsys, *where, "--out", files[0] / "kept")
    assert made["points"][0]["k"] == 1
    nus = [point["nu"] for point in made["points"]]
    assert nus == sorted(nus, reverse=True)
    lines = [json.loads(line) for line in (files[0] / "kept" / "path.jsonl").read_text().splitlines()]
    assert lines == made["points"][::-1]
    _, frame, _, labels = files
    dense = fda_pencil(frame, labels).lambda_max
    assert all(0.0 < point["value"] <= dense * (1 + 1e-9) for point in made["points"])
    code, out, _ = run(capsys, *where, "--nu", "0.001,0.1", "--plot", files[0] / "nu.png")
    assert code == 0
    assert "ν" in out.split()
    assert len(run_json(capsys, *where, "--points", 3)["points"]) == 3


def test_path_refuses_the_other_price(capsys, files):
    code, _, err = run(capsys, "path", files[0] / "labelled.csv", "--task", "fda", "--y", "kind", "--rho", "1")
    assert code == 2
    assert "the price in sparse FDA is ν, give --nu" in err
    code, _, err = run(capsys, "path", "pitprops", "--nu", "1")
    assert code == 2
    assert "--nu is the price in FDA of two classes" in err


def test_an_interrupted_path_leaves_its_points(capsys, tmp_path, monkeypatch):
    points = paths.path_points

    def interrupted(*args, **settings):
        for i, point in enumerate(points(*args, **settings)):
            if i == 3:
                raise KeyboardInterrupt
            yield point

    monkeypatch.setattr(paths, "path_points", interrupted)
    code, out, err = run(capsys, "path", "pitprops", "--out", tmp_path)
    assert (code, err) == (130, f"dcgev: interrupted after 3 of 40 points, kept in {tmp_path / 'path.jsonl'}.\n")
    assert sum(line.rstrip().endswith(("converged", "collapsed")) for line in out.splitlines()) == 3
    assert len((tmp_path / "path.jsonl").read_text().splitlines()) == 3
    code, out, err = run(capsys, "path", "pitprops", "--json")
    assert (code, err) == (130, "dcgev: interrupted after 3 of 40 points.\n")
    assert (len(json.loads(out)["points"]), json.loads(out)["ended"]) == (3, False)


# --- bad input: one line, exit code 2


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        ("solve pitprops -k 0", "k = 0 is out of range"),
        ("solve pitprops -k 14", "k = 14 is out of range"),
        ("solve pitprops --components 6,x", "must read like 6,2,2"),
        ("solve pitprops --components 2+2", "the pencil has none"),
        ("solve pitprops -k 3 --eps 0.1", "--eps belongs to --rho"),
        ("solve pitprops -k 3 --trace", "--trace belongs to --rho"),
        ("solve pitprops --rho 1 --out d", "--out keeps components"),
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
        ("solve X.csv --task fda --y short.csv -k 3", "rows of several entries"),
        ("solve X.csv --task cca --Y Y.npy --ridge -1 -k 3", "ridge = -1 is out of range"),
        ("solve pitprops -k 3 --out X.csv", "cannot be made a folder"),
        ("path pitprops --points 0", "--points 0 must be at least 1"),
        ("path pitprops --rho 1,x", "rho = 'x' is not a real number"),
        ("path pitprops --plot p.gif", "must end in .png, .pdf or .svg"),
        ("path pitprops --plot no/where.png", "does not exist"),
        ("path pitprops --plot folder.png", "--plot folder.png: cannot be written (Is a directory)"),
        ("path pitprops --rho 1 --points 3", "--rho and --points were both given"),
        ("solve pitprops -k 3 --out=", "--out is empty: give a folder"),
        ("solve pitprops -k 3 --solver CLARABEL", "--solver belongs to --rho"),
        ("solve pitprops -k 3 --max-iter 5", "--max-iter belongs to --rho"),
        ("solve pitprops --rho 1 --effort quick", "--effort belongs to -k and --components"),
        ("solve pitprops --rho 1 --random-state 0", "--random-state belongs to -k and --components"),
        ("solve pitprops --rho 1 --x0 a,b", "--x0 'a,b' must be numbers with commas, or a file"),
        ("solve latin.csv --task fda --y kind -k 1", "it is not UTF-8 text (byte 1); save it as UTF-8"),
        ("solve twice.csv --task fda --y kind -k 1", "twice.csv has 2 columns named 'kind'"),
        ("solve gap.csv --task fda --y kind -k 1", "gap.csv, line 3: the label in column 'kind' is missing"),
        ("solve nan.csv --task fda --y kind -k 1", "nan.csv, line 3: the label in column 'kind' is missing"),
        ("solve labelled.csv --task fda --y red -k 1", "labelled.csv, line 2, entry 7: 'high' is not a number"),
        ("solve X.csv --task fda --y holes.txt -k 1", "holes.txt, line 31: the label is missing"),
        ("solve X.csv --task fda --y nans.csv -k 1", "nans.csv, line 3: the label is missing"),
        ("solve flat.csv --task pca -k 1", "flat.csv has 1 entries that are NaN or infinite, in column(s) 'oak'"),
        ("solve still.csv --task pca --scale -k 1", "still.csv has constant column(s): 'oak'. They cannot be scaled"),
        ("path pitprops --plot=", "--plot = '' must be the path of a file or folder"),
        ("compare pitprops --html=", "--html = '' must be the path of a file or folder"),
        ("solve X.csv --task fda --y square.npy -k 1", "one row or one column is wanted"),
        ("path nowhere", "neither a bundled name nor a file"),
    ],
)
def test_bad_input_is_one_line_on_stderr(capsys, files, monkeypatch, argv, message):
    folder = files[0]
    (folder / "short.csv").write_text("a,b\n1,2\n3,5\n")
    (folder / "latin.csv").write_text("é,kind\n1,u\n", encoding="latin-1")
    (folder / "twice.csv").write_text("a,kind,kind\n1,u,v\n")
    (folder / "gap.csv").write_text("a,kind\n1,u\n2,\n3,v\n")
    (folder / "nan.csv").write_text("a,kind\n1,u\n2,nan\n3,v\n")
    (folder / "holes.txt").write_text("kind\n" + "high\n" * 29 + "\n" + "low\n" * 30)  # as many lines as samples
    (folder / "nans.csv").write_text("0\n1\nnan\n" + "1\n" * 57)
    (folder / "flat.csv").write_text("ash,oak\n1,2\n2,inf\n3,2\n")
    (folder / "still.csv").write_text("ash,oak\n1,2\n2,2\n3,2\n")
    (folder / "folder.png").mkdir()
    np.save(folder / "square.npy", np.eye(60))
    monkeypatch.chdir(folder)
    code, out, err = run(capsys, *argv.split())
    assert (code, out) == (2, "")
    assert err.startswith("dcgev: ")
    assert err.count("\n") == 1
    assert message in err
