"""`dcgev study`: what is typed, what is printed, what a folder holds, and what is refused before any work."""

import json
import sys

import numpy as np
import pytest

from dcgev_cvx.cli import main

QUICK = ["--methods", "greedy,no-sdp"]


def run(capsys, *words):
    code = main(["study", *map(str, words)])
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def test_a_family_in_a_table_and_a_folder(capsys, tmp_path):
    given = ("spiked", "--n", "8", "--signal", "1,2", "--seeds", "5:6", "-k", "2:3", *QUICK, "--out", tmp_path)
    code, out, err = run(capsys, *given)
    assert (code, err) == (0, f"dcgev: rows, table and pictures are written to {tmp_path}.\n")
    assert [line.split()[:3] for line in out.splitlines()[2:]] == [
        ["2", "greedy", "4"],
        ["2", "no-sdp", "4"],
        ["3", "greedy", "4"],
        ["3", "no-sdp", "4"],
    ]
    assert {path.name for path in tmp_path.iterdir()} >= {"study.json", "cells", "rows.csv", "table.csv", "gap.png"}
    assert len(list((tmp_path / "cells").iterdir())) == 8
    code, _, err = run(capsys, *given)
    assert code == 0
    assert err.startswith("dcgev: 8 of 8 results are saved already\n")
    code, _, err = run(capsys, "spiked", "-k", "2", *QUICK, "--out", tmp_path)
    assert code == 2
    assert "holds another study: ks there [2, 3], here [2]" in err


def test_files_folders_and_names_as_json(capsys, tmp_path):
    np.save(tmp_path / "a.npy", np.diag([3.0, 2.0, 1.0]))
    np.savetxt(tmp_path / "b.csv", np.diag([5.0, 2.0]), delimiter=",")
    code, out, _ = run(capsys, tmp_path, "pitprops", "-k", "1", "--methods", "greedy", "--json")
    rows = json.loads(out)["rows"]
    assert code == 0
    assert [(row["instance"], row["value"]) for row in rows] == [("a", 3.0), ("b", 5.0), ("pitprops", 1.0)]


def test_a_budget_for_each_view_and_a_failed_cell(capsys):
    code, out, _ = run(capsys, "cca", "--n", "6", "--set", "k0=1", "--seeds", "1", "-k", "1+1,9", "--methods", "solve")
    assert code == 1
    assert "1+1" in out
    assert "1 rows failed: InvalidParameter: k = 9 is out of range" in " ".join(out.split())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["spikd", "-k", "2"], "did you mean 'spiked'"),
        (["spiked", "-k", "2", "--methods", "slove"], "did you mean 'solve'"),
        (["spiked", "-k", "2", "--set", "rige=1"], "no parameter 'rige'"),
        (["spiked", "-k", "2", "--set", "samples"], "must read NAME=V,V"),
        (["spiked", "-k", "2", "--n", "many"], "must be a number"),
        (["spiked", "-k", "2", "--seeds", "a:b"], "--seeds 'a:b' must be"),
        (["spiked", "-k", "2:x"], "not a cardinality"),
        (["spiked", "-k", "2", "--jobs", "0"], "jobs"),
        (["spiked", "-k", "2", "--out", "/dev/null/x"], "cannot be written"),
    ],
)
def test_bad_input_is_one_line(capsys, words, said):
    code, _, err = run(capsys, *words)
    assert code == 2
    assert said in err
    assert err.count("\n") == 1


@pytest.mark.slow
def test_an_unreachable_scheduler_is_one_line(capsys):
    pytest.importorskip("distributed")
    code, _, err = run(capsys, "spiked", "-k", "2", "--dask", "tcp://127.0.0.1:9")
    assert code == 2
    assert "no Dask scheduler answers at 'tcp://127.0.0.1:9'" in err


def test_ctrl_c_says_how_far_it_came(capsys, monkeypatch, tmp_path):
    def interrupted(*args, **settings):
        raise KeyboardInterrupt

    monkeypatch.setattr(sys.modules["dcgev_cvx.comparison.study"], "compared_cell", interrupted)
    code, _, err = run(capsys, "spiked", "--n", "6", "--seeds", "2", "-k", "2", *QUICK, "--out", tmp_path)
    assert code == 130
    assert err == "dcgev: interrupted after 0 of 2 cells; a study with a folder continues from there.\n"
