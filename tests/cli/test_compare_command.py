"""`dcgev compare`: what is typed, what is printed, what is written and what is refused before any work."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from dcgev_cvx import comparison, datasets
from dcgev_cvx.cli import main
from dcgev_cvx.cli.compare_command import budgets
from dcgev_cvx.errors import InvalidParameter

QUICK = ["--methods", "solve,homogeneous,exact"]


def test_pit_props_without_arguments(run):
    code, out, err = run("compare")
    assert (code, err) == (0, "")
    assert out.startswith("The best 6 of 13 variables: topdiam, length, ringbut, bowmax, bowdist and")
    assert "pitprops: n = 13, B = I, λmax(A,B) = 4.21863" in out
    assert "k = 6: the optimum is 3.77096, proved" in out
    assert out.endswith("best support: topdiam, length, ringbut, bowmax, bowdist, whorls\n")


def test_how_a_method_ended_comes_with_details_and_what_went_wrong_without(run):
    argv = ("compare", "-k", 4, "--methods", "dc-pca,dc-native,greedy,exact")
    brief, full = run(*argv)[1], run(*argv, "--details")[1]
    assert "forward selection; no proof" in full
    assert "forward selection; no proof" not in brief
    lines = brief.splitlines()
    assert max(map(len, lines)) <= 80
    note = " ".join(" ".join(lines[lines.index("best support: topdiam, length, bowdist, whorls") + 1 :]).split())
    assert note.startswith("DC-PCA (closed form), DC (native): no ρ̃ found gives k = 4; the nearest run (ρ̃ = ")
    assert note.endswith(") has 3 nonzeros")


def test_a_range_is_one_table_with_a_row_per_k(run):
    code, out, _ = run("compare", "-k", "3:5", "--methods", "dc-pca,solve,greedy,homogeneous,exact")
    assert code == 0
    lines = out.splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0] == "The optimum is proved for all 3 k."
    assert lines[4].split() == ["k", "found", "by", "bound", "by", "gap", "%", "proved", "s"]
    rows = [line.split()[:-1] for line in lines[6:9]]
    assert rows[0] == ["3", "2.47533", "dc-pca", "+3", "2.47533", "exact", "0.00", "yes"]
    assert rows[1] == ["4", "2.93748", "solve", "+2", "2.93748", "exact", "0.00", "yes"]
    assert "DC-PCA (closed form): no ρ̃ found gives k = 4" in out
    assert "best support" not in out


def test_a_range_with_details_has_every_table(run):
    _, out, _ = run("compare", "-k", "2,3", "--methods", "greedy,no-sdp", "--details")
    assert out.count("best support: ") == 2
    assert out.count("forward selection; no proof") == 2
    rows = [line.split()[:-1] for line in out.splitlines() if line.split()[1:3] == ["1.95400", "greedy"]]
    assert rows == [["2", "1.95400", "greedy", "1.95400", "no-sdp", "0.00", "yes"]]


def test_a_range_without_vectors_or_bounds_has_dashes(run):
    _, out, _ = run("compare", "-k", "2,3", "--methods", "greedy")
    assert [line.split()[3:7] for line in out.splitlines()[6:8]] == [["-", "-", "-", "no"]] * 2


def test_the_readme_shows_what_the_command_prints(capsys, monkeypatch):
    """Line by line, in a terminal of 80 columns; seconds and residuals are the machine's."""

    def lines(text):
        timeless = re.sub(r"\(\d+\.\d s\)|(?m: \d+\.\d\d$)", "", re.sub(r"\de-\d\d", "", text))
        return [" ".join(line.split()) for line in timeless.strip().splitlines()]

    monkeypatch.setattr("dcgev_cvx.comparison.compare_methods.find_spec", lambda package: None)  # a plain install
    assert main(["compare"]) == 0
    printed = capsys.readouterr().out
    assert max(map(len, printed.splitlines())) <= 80
    readme = Path(__file__).parents[2].joinpath("README.md").read_text(encoding="utf-8")
    assert lines(printed) == lines(readme.split("```text\n", 1)[1].split("```", 1)[0])


def test_a_range_with_json_and_plot(capsys, tmp_path):
    plot = tmp_path / "intervals.svg"
    assert main(["compare", "pitprops", "-k", "2:4", *QUICK, "--json", "--plot", str(plot)]) == 0
    made = json.loads(capsys.readouterr().out)
    assert [run["k"] for run in made["comparisons"]] == [2, 3, 4]
    assert all(run["proved"] for run in made["comparisons"])
    assert plot.read_text(encoding="utf-8").lstrip().startswith("<?xml")


def test_cca_and_fda_from_data_files(capsys, tmp_path):
    rng = np.random.default_rng(0)
    z = rng.standard_normal((60, 1))
    X, Y = z + rng.standard_normal((60, 5)), z + rng.standard_normal((60, 4))
    np.savetxt(tmp_path / "x.csv", X, delimiter=",", header="a,b,c,d,e", comments="")
    np.savetxt(tmp_path / "y.csv", Y, delimiter=",", header="p,q,r,s", comments="")
    views = ["--task", "cca", "--X", str(tmp_path / "x.csv"), "--Y", str(tmp_path / "y.csv")]
    assert main(["compare", *views, "-k", "2+2", *QUICK]) == 0
    assert "B dense" in capsys.readouterr().out
    labels = tmp_path / "labels.csv"
    labels.write_text("\n".join("01"[int(v > 0)] for v in z[:, 0]), encoding="utf-8")
    assert main(["compare", str(tmp_path / "x.csv"), "--task", "fda", "--y", str(labels), "-k", "2", *QUICK]) == 0
    assert "the optimum is" in capsys.readouterr().out


def test_a_time_limit_reports_what_it_has(capsys):
    assert main(["compare", "--time-limit", "0.000001"]) == 0
    assert "not run: the time limit was reached" in " ".join(capsys.readouterr().out.split())


def test_an_open_gap_is_said_first(capsys):
    assert main(["compare", "-k", "6", "--methods", "greedy,homogeneous"]) == 0
    words = " ".join(capsys.readouterr().out.split())
    assert words.startswith("6 of 13 variables: ")
    assert "No other 6 can be better by more than 1.13% (proved)." in words


def test_ranges():
    pencil = datasets.pitprops()
    assert budgets("6", pencil) == [6]
    assert budgets("2:4", pencil) == [2, 3, 4]
    assert budgets("2,5", pencil) == [2, 5]
    for text, words in (("six", "not a cardinality"), ("4:2", "empty range"), ("2:14", "k = 14"), ("1:2:3", "not a")):
        with pytest.raises(InvalidParameter, match=words):
            budgets(text, pencil)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["-k", "14"], "k = 14 is out of range"),
        (["--methods", "magic"], "method = 'magic' is unknown"),
        (["--plot", "picture.bmp"], "must end in .png"),
        (["--plot", "nowhere/picture.png"], "cannot be written (No such file or directory)"),
        (["--time-limit", "-3"], "out of range"),
    ],
)
def test_bad_input_is_one_line_before_any_work(capsys, monkeypatch, options, words):
    monkeypatch.setattr("dcgev_cvx.comparison.compare_methods.row_by", lambda *args: pytest.fail("work was done"))
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
    assert captured.err == "dcgev: interrupted after the rows that are shown.\n"


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_an_interrupted_comparison_reports_what_is_done(run, monkeypatch, tmp_path, form):
    compare = comparison.compare

    def interrupted(pencil, k, *args, **settings):
        if k == 4:
            raise KeyboardInterrupt
        return compare(pencil, k, *args, **settings)

    monkeypatch.setattr(comparison, "compare", interrupted)
    plot = tmp_path / "plot.png"
    argv = ["compare", "pitprops", "--methods", "solve", "--plot", plot, *form]
    code, out, err = run(*argv, "-k", "2:6")
    assert code == 130
    assert err.endswith("plot.png is drawn.\ndcgev: interrupted after 2 of 5 cardinalities, which are shown.\n")
    if form:
        made = json.loads(out)
        assert ([one["k"] for one in made["comparisons"]], made["ended"]) == ([2, 3], False)
    else:
        assert [line.split()[0] for line in out.splitlines() if "solve" in line] == ["2", "3"]
    assert plot.stat().st_size > 1000
    assert run(*argv, "-k", "4") == (130, "", "dcgev: interrupted.\n")


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_an_interrupt_inside_one_cardinality_reports_its_finished_rows(run, monkeypatch, tmp_path, form):
    def interrupt(*_args):
        raise KeyboardInterrupt

    monkeypatch.setattr("dcgev_cvx.comparison.methods.cheap_bound", interrupt)
    plot = tmp_path / "plot.png"
    code, out, err = run(
        "compare", "pitprops", "--methods", "greedy,no-sdp", "-k", "6,7", "--plot", plot, "--details", *form
    )
    words = "interrupted at k = 6, after 0 of 2 cardinalities; the finished rows are shown"
    assert code == 130
    assert err.endswith(f"dcgev: {words}.\n")
    if form:
        made = json.loads(out)
        assert made["ended"] is False
        assert [row["valid"] for row in made["comparisons"][0]["rows"]] == [True, False]
    else:
        assert "3.77096" in out
        assert "not finished: interrupted" in out
    assert plot.stat().st_size > 1000


def test_an_endless_range_ends_at_the_first_k_out_of_range(run):
    code, _, err = run("compare", "pitprops", "-k", f"2:{10**15}")
    assert (code, err) == (2, "dcgev: k = 14 is out of range: it must be a whole number between 1 and n = 13.\n")


def test_a_page_to_share_is_self_contained(run, tmp_path):
    page = tmp_path / "report.html"
    code, _, err = run("compare", "-k", "4", *QUICK, "--html", page)
    assert code == 0
    assert "report.html is written." in err
    text = page.read_text(encoding="utf-8")
    assert "<h1>The best 4 of 13 variables: topdiam, length, bowdist and whorls." in text
    assert "<svg" in text
    assert "sha256 of A: " in text
    assert not re.search(r'(src|href)="http', text)
    assert run("compare", "--html", tmp_path / "report.txt")[0] == 2
