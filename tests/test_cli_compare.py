"""`dcgev compare`: what is typed, what is printed, what is written and what is refused before any work."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from dcgev_cvx.cli import main
from dcgev_cvx.cli.compare import cardinalities
from dcgev_cvx.errors import InvalidParameter

QUICK = ["--methods", "solve,homogeneous,exact"]


def test_pit_props_without_arguments(capsys):
    assert main(["compare"]) == 0
    out = capsys.readouterr().out
    assert "pitprops: n = 13, B = I, λmax(A,B) = 4.21863" in out
    assert "k = 6: the optimum is 3.77096, proved" in out
    assert "best support: topdiam, length, ringbut, bowmax, bowdist, whorls" in out


def test_the_readme_shows_what_the_command_prints(capsys, monkeypatch):
    """Line by line, in a terminal of 80 columns; seconds and residuals are the machine's."""

    def lines(text):
        timeless = re.sub(r"\(\d+\.\d s\)|(?m: \d+\.\d\d$)", "", re.sub(r"\de-\d\d", "", text))
        return [" ".join(line.split()) for line in timeless.strip().splitlines()]

    monkeypatch.setattr("dcgev_cvx.comparison.general_solvers.find_spec", lambda package: None)  # a plain install
    assert main(["compare"]) == 0
    printed = capsys.readouterr().out
    assert max(map(len, printed.splitlines())) <= 80
    readme = Path(__file__).parents[1].joinpath("README.md").read_text(encoding="utf-8")
    assert lines(printed) == lines(readme.split("$ dcgev compare\n", 1)[1].split("```", 1)[0])


def test_a_range_with_json_plot_and_page(capsys, tmp_path):
    plot, page = tmp_path / "intervals.svg", tmp_path / "report.html"
    assert main(["compare", "pitprops", "-k", "2:4", *QUICK, "--json", "--plot", str(plot), "--html", str(page)]) == 0
    made = json.loads(capsys.readouterr().out)
    assert [run["k"] for run in made["comparisons"]] == [2, 3, 4]
    assert all(run["proved"] for run in made["comparisons"])
    assert plot.read_text(encoding="utf-8").lstrip().startswith("<?xml")
    assert "k = 4: the optimum is 2.93748, proved" in page.read_text(encoding="utf-8")


def test_cca_and_fda_from_data_files(capsys, tmp_path):
    rng = np.random.default_rng(0)
    z = rng.standard_normal((60, 1))
    X, Y = z + rng.standard_normal((60, 5)), z + rng.standard_normal((60, 4))
    np.savetxt(tmp_path / "x.csv", X, delimiter=",", header="a,b,c,d,e", comments="")
    np.savetxt(tmp_path / "y.csv", Y, delimiter=",", header="p,q,r,s", comments="")
    views = ["--task", "cca", "--X", str(tmp_path / "x.csv"), "--Y", str(tmp_path / "y.csv")]
    assert main(["compare", *views, "-k", "4", *QUICK]) == 0
    assert "B dense" in capsys.readouterr().out
    labels = tmp_path / "labels.csv"
    labels.write_text("\n".join("01"[int(v > 0)] for v in z[:, 0]), encoding="utf-8")
    assert main(["compare", str(tmp_path / "x.csv"), "--task", "fda", "--y", str(labels), "-k", "2", *QUICK]) == 0
    assert "the optimum is" in capsys.readouterr().out


def test_a_time_limit_reports_what_it_has(capsys):
    assert main(["compare", "--time-limit", "0.000001"]) == 0
    assert "not run: the time limit was reached" in " ".join(capsys.readouterr().out.split())


def test_ranges():
    assert cardinalities("6", 13) == [6]
    assert cardinalities("2:4", 13) == [2, 3, 4]
    assert cardinalities("2,5", 13) == [2, 5]
    for text, words in (("six", "not a cardinality"), ("4:2", "empty range"), ("2:14", "k = 14"), ("1:2:3", "not a")):
        with pytest.raises(InvalidParameter, match=words):
            cardinalities(text, 13)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["-k", "14"], "k = 14 is out of range"),
        (["--methods", "magic"], "method = 'magic' is unknown"),
        (["--plot", "picture.bmp"], "must end in .png"),
        (["--plot", "nowhere/picture.png"], "the folder nowhere does not exist"),
        (["--html", "nowhere/report.html"], "cannot be written (No such file or directory)"),
        (["--time-limit", "-3"], "out of range"),
    ],
)
def test_bad_input_is_one_line_before_any_work(capsys, monkeypatch, options, words):
    monkeypatch.setattr("dcgev_cvx.comparison.compare_methods.run", lambda *args: pytest.fail("work was done"))
    assert main(["compare", "pitprops", *options]) == 2
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1


def test_what_a_solver_prints_does_not_spoil_the_answer(capsys, monkeypatch):
    """SCS says "Failure:interrupted" on stdout when Ctrl-C stops it; the rows finished before are valid JSON."""

    def interrupted(*_args, **_settings):
        print("Failure:interrupted")
        raise KeyboardInterrupt

    monkeypatch.setattr("dcgev_cvx.relaxations.homogeneous_sdp", interrupted)
    assert main(["compare", "--methods", "greedy,homogeneous", "--json"]) == 130
    captured = capsys.readouterr()
    made = json.loads(captured.out)
    assert made["ended"] is False
    assert [row["valid"] for row in made["comparisons"][0]["rows"]] == [True, False]
    assert captured.err.startswith("Failure:interrupted\n")
