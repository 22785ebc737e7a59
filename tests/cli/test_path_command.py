"""`dcgev path`: what it reaches and what it draws."""

import json

from dcgev_cvx import datasets, fda_pencil, sparse_gev
from dcgev_cvx.errors import DataUnavailable
from dcgev_cvx.search import path as path_module


def test_path_shows_what_it_reaches_and_what_not(run):
    code, out, err = run("path", "pitprops", "--points", 30)
    assert (code, err) == (0, "")
    missing = path_module.path(datasets.pitprops(), points=30).missing
    assert 3 in missing
    assert f"no ρ̃ tried gives k = {', '.join(map(str, missing))}; `dcgev solve -k` finds such vectors" in out
    assert "collapsed" in out
    assert max(len(line) for line in out.splitlines()) <= 80


def test_path_json_and_pictures(run, tmp_path):
    _, out, err = run("path", "pitprops", "--rho", "4.84,1,9", "--json", "--plot", tmp_path / "path.png")
    assert err == f"dcgev: {tmp_path / 'path.png'} is drawn.\n"
    made = json.loads(out)
    assert [point["rho"] for point in made["points"]] == [9, 4.84, 1]
    assert (tmp_path / "path.png").read_bytes().startswith(b"\x89PNG")
    code, _, _ = run("path", "pitprops", "--rho", "4.84", "--plot", tmp_path / "path.svg")
    assert code == 0
    assert "<svg" in (tmp_path / "path.svg").read_text()


def test_path_from_samples(run_json, files):
    made = run_json("path", files[0] / "X.csv", "--task", "pca", "--points", 12)
    assert {point["k"] for point in made["points"]} >= {0, 1, 2, 5}


def test_path_of_two_classes_runs_in_nu(run, run_json, files):
    """ν as far as one variable; the table and the JSON say ν."""
    where = ("path", files[0] / "labelled.csv", "--task", "fda", "--y", "kind")
    made = run_json(*where)
    assert made["points"][0]["k"] == 1
    nus = [point["nu"] for point in made["points"]]
    assert nus == sorted(nus, reverse=True)
    _, frame, _, labels = files
    dense = fda_pencil(frame, labels).lambda_max
    assert all(0.0 < point["value"] <= dense * (1 + 1e-9) for point in made["points"])
    code, out, _ = run(*where, "--nu", "0.001,0.1", "--plot", files[0] / "nu.png")
    assert code == 0
    assert "ν" in out.split()
    assert len(run_json(*where, "--points", 3)["points"]) == 3


def test_path_refuses_the_other_price(run, files):
    code, _, err = run("path", files[0] / "labelled.csv", "--task", "fda", "--y", "kind", "--rho", "1")
    assert code == 2
    assert "the penalty of sparse FDA is ν, give --nu" in err
    code, _, err = run("path", "pitprops", "--nu", "1")
    assert code == 2
    assert "--nu is the penalty of FDA for two classes" in err


def test_an_interrupted_path_shows_its_points(run, monkeypatch):
    """Ctrl-C in the third run: two points are shown, and the exit code is that of an interrupt."""
    done = []

    def interrupted(*args, **kwargs):
        done.append(kwargs["rho"])
        if len(done) == 3:
            raise KeyboardInterrupt
        return sparse_gev(*args, **kwargs)

    monkeypatch.setattr(path_module, "sparse_gev", interrupted)
    code, out, err = run("path", "pitprops", "--rho", "9,4.84,1")
    assert code == 130
    assert "4.84" in out
    assert "after 2 points" in err


def test_what_is_no_number_is_named(run):
    code, _, err = run("path", "pitprops", "--rho", "1,x")
    assert code == 2
    assert "'1,x' must be numbers with commas between them, such as 1,4.84" in err


def test_a_full_disk_costs_the_picture_alone(run, tmp_path, monkeypatch):
    def fail(*_given):
        raise DataUnavailable("no space left")

    monkeypatch.setattr("dcgev_cvx.cli.console.write_file", fail)
    code, out, err = run("path", "pitprops", "--rho", "4.84", "--json", "--plot", tmp_path / "path.svg")
    assert (code, err) == (2, "dcgev: no space left\n")
    assert json.loads(out)["points"][0]["rho"] == 4.84
