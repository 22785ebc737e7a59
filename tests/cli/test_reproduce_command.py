"""`dcgev reproduce` as typed: exit codes, one-line errors, the page it writes."""

import json

import pytest

from dcgev_cvx.cli import main
from dcgev_cvx.reproduction import running


def test_table_1_from_the_command_line(tmp_path, capsys):
    out, page = tmp_path / "out", tmp_path / "docs" / "page.md"
    assert main(["reproduce", "table1", "--tiny", "--out", str(out), "--page", str(page)]) == 0
    printed = capsys.readouterr().out
    assert "agree    GSPCA, component 2: paper x3 0.71 x4 0.71, ours x3 0.71 x4 0.71" in printed
    assert "agree, 1 differ, 0 cannot be matched" in printed
    assert "77.05 %" in page.read_text()
    assert "figures/" not in page.read_text()
    assert [each["name"] for each in json.loads((out / "numbers.json").read_text())["sections"]] == ["table1"]


def test_second_run_says_what_is_kept(tmp_path, capsys):
    command = ["reproduce", "table1", "--tiny", "--out", str(tmp_path)]
    main(command)
    capsys.readouterr()
    assert main(command) == 0
    assert "table1: 6 of 6 results are on disk already." in capsys.readouterr().err


def test_an_interrupt_is_two_lines_and_finished_results_are_kept(tmp_path, capsys, monkeypatch):
    def impatient(*result):
        save(*result)
        raise KeyboardInterrupt

    save, command = running.save, ["reproduce", "table1", "--tiny", "--out", str(tmp_path)]
    with monkeypatch.context() as patch:
        patch.setattr(running, "save", impatient)
        assert main(command) == 130
    lines = capsys.readouterr().err.splitlines()
    assert lines == [
        "dcgev: finished results are saved: the same command continues from here.",
        "dcgev: interrupted.",
    ]
    assert main(command) == 0
    assert "table1: 1 of 6 results are on disk already." in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["tabel1"], "experiment = 'tabel1' is unknown; did you mean 'table1'?"),
        (["table1", "--jobs", "0"], "jobs (-1 for all cores) = 0 must be a whole number"),
        (["table1", "--seed", "-1"], "seed = -1 must be a whole number of at least 0"),
        (["table1", "--seed", "9" * 400], "must be a whole number of at least 0 and at most 10000"),
        (["table1", "--corpus", "planted"], "corpus is not used by table1"),
        (["table5", "--corpus", "none.npz"], "corpus none.npz does not exist; planted needs no file"),
        (["table5", "--corpus", ""], "corpus = '' must be the path of a file or folder"),
        (["table1", "--page", "/"], "--page / is a folder, a pipe or a device: give the name of a file"),
        (["table1", "--page", ""], "--page = '' must be the path of a file or folder"),
        (["table1", "--out", ""], "out = '' must be the path of a file or folder"),
    ],
)
def test_bad_input_is_one_line(tmp_path, capsys, arguments, text):
    assert main(["reproduce", "--tiny", "--out", str(tmp_path), *arguments]) == 2
    error = capsys.readouterr().err
    assert text in error
    assert error.count("\n") == 1


def test_an_unwritable_folder(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert main(["reproduce", "table1", "--tiny", "--out", str(tmp_path / "file")]) == 2
    assert "this folder cannot be written to" in capsys.readouterr().err


def test_an_unwritable_page_is_refused_before_anything_is_computed(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    page = tmp_path / "file" / "page.md"
    assert main(["reproduce", "table1", "--tiny", "--out", str(tmp_path / "out"), "--page", str(page)]) == 2
    assert "--page" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_another_seed_has_its_own_results(tmp_path, capsys):
    for seed in ("0", "5"):
        assert main(["reproduce", "table1", "--tiny", "--seed", seed, "--out", str(tmp_path)]) == 0
        assert "on disk" not in capsys.readouterr().err
    assert sorted(path.name for path in (tmp_path / "results").iterdir()) == ["tiny-0", "tiny-5"]


def test_missing_data_ends_with_1_and_a_reason(tmp_path, capsys, monkeypatch):
    from dcgev_cvx.errors import DataUnavailable
    from dcgev_cvx.reproduction import tables34

    def refused(*_):
        raise DataUnavailable("Colon.rda is not in the cache")

    tables34.data.cache_clear()
    monkeypatch.setenv("DCGEV_DATA", str(tmp_path / "empty"))
    monkeypatch.setattr(tables34, "located", refused)
    monkeypatch.setitem(tables34.EXPERIMENT.tiny, "data", [["colon", 2000]])
    assert main(["reproduce", "tables34", "--tiny", "--out", str(tmp_path)]) == 1
    assert "not computed  DataUnavailable: Colon.rda is not in the cache" in capsys.readouterr().out


def test_help_names_the_experiments(capsys):
    assert main(["reproduce", "--help"]) == 0
    assert "figure2" in capsys.readouterr().out
