"""Tables, JSON and progress, as a person and as a program meet them."""

import numpy as np

from dcgev_cvx.cli import console


def test_tables_fit_eighty_columns_and_carry_no_colour(run):
    for argv in (["solve", "pitprops", "--rho", "4.84", "--trace"], ["compare", "-k", "2:3"]):
        _, out, _ = run(*argv)
        assert "\x1b" not in out
        assert max(len(line) for line in out.splitlines()) <= 80
        assert all(line == line.rstrip() for line in out.splitlines())


def test_a_narrow_terminal_cuts_no_number(run, monkeypatch):
    code, wide, _ = run("path", "pitprops", "--rho", "3,2")
    table = wide.partition("\n\n")[2]
    for columns in ("20", "wide"):
        monkeypatch.setenv("COLUMNS", columns)
        narrow = run("path", "pitprops", "--rho", "3,2")
        assert narrow[0] == code
        assert narrow[1].partition("\n\n")[2] == table
    monkeypatch.setenv("COLUMNS", "20")
    assert "3.77096" in run("solve", "pitprops", "--rho", 4.84)[1]


def test_a_terminal_without_width_loses_no_line(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "0")
    assert run("solve", "pitprops", "-k", 2)[1].startswith("The best 2 of 13 variables: ")


def test_long_and_hostile_names_are_shown_whole_and_harmless(run, tmp_path):
    names = ["a" * 90, "[red]not markup[/red]", "\x1b[31mred"]
    path = tmp_path / "named.npz"
    np.savez(path, A=np.diag([3.0, 2.5, 2.0]) + 1.0, names=np.array(names))
    code, out, _ = run("solve", path, "--rho", 0, "--max-iter", 2000)
    assert code == 0
    assert "".join(out.split()).count("a" * 20) >= 1
    assert out.count("a" * 90) == 1  # in the sentence; the table folds it
    assert "[red]not markup[/red]" in out
    assert "\x1b" not in out


def test_json_has_no_nan():
    assert console.finite({"a": [1.0, float("inf")], "b": float("nan"), "c": "x"}) == {
        "a": [1.0, None],
        "b": None,
        "c": "x",
    }


def test_tiny_numbers():
    assert (console.tiny(0.0), console.tiny(2.345e-9)) == ("0", "2.3e-09")


def test_a_terminal_has_bold_and_colour_unless_it_asks_for_none(run, monkeypatch):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    colored = run("solve", "pitprops", "-k", 2)[1]
    assert colored.startswith("\x1b[1mThe best 2 of 13 variables")
    assert "\x1b[33m█" in colored
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in run("solve", "pitprops", "-k", 2)[1]
