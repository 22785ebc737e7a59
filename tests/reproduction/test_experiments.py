"""`reproduce`: names, bad settings, reports that join earlier results, and every experiment in small form."""

import json
import sys

import pytest

from dcgev_cvx.errors import InvalidParameter, MissingPackage
from dcgev_cvx.reproduction import EXPERIMENTS, named, reproduce


def test_names():
    assert [e.name for e in named(["all"])] == list(EXPERIMENTS)
    assert [e.name for e in named(["table4", "figure4", "table1"])] == ["tables34", "table1"]
    with pytest.raises(InvalidParameter, match=r"'tabel1' is unknown; did you mean 'table1'"):
        named(["tabel1"])
    with pytest.raises(InvalidParameter, match="no experiment was named"):
        named([])


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("names", 3),
        ("names", "table1"),
        ("out", None),
        ("seed", 0.5),
        ("seed", -1),
        ("effort", "slow"),
        ("jobs", 0),
        ("data", {"corpus": 3}),
        ("data", {"songs": "planted"}),
    ],
)
def test_bad_settings_raise_before_anything_is_computed(tmp_path, name, wrong):
    good = {"names": ["table5"], "out": tmp_path / "out", "effort": "tiny"}
    with pytest.raises(InvalidParameter):
        reproduce(**{**good, name: wrong})
    assert not (tmp_path / "out" / "results").exists()


def test_an_unwritable_folder_raises_before_anything_is_computed(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InvalidParameter, match="this folder cannot be written to"):
        reproduce(["table1"], tmp_path / "file", effort="tiny")


def test_without_matplotlib_nothing_is_computed(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingPackage, match=r"matplotlib: pip install 'dcgev-cvx\[reproduce\]'"):
        reproduce(["table1"], tmp_path / "out", effort="tiny")
    assert not (tmp_path / "out").exists()


def test_complete_experiments_join_a_later_report(tmp_path):
    reproduce(["table1"], tmp_path, effort="tiny")
    report = reproduce(["figure3"], tmp_path, effort="tiny")
    assert [section.name for section in report.sections] == ["table1", "figure3"]
    assert report.command == "dcgev reproduce table1 figure3 --tiny --seed 0"


def test_everything_in_small_form_and_its_report(tmp_path):
    """The smallest run of every experiment: all sections, files and figures; the second run computes nothing."""
    report = reproduce(["all"], tmp_path, effort="tiny")
    assert [section.name for section in report.sections] == list(EXPERIMENTS)
    assert not any(section.missing for section in report.sections)
    for name in ("report.md", "report.html", "numbers.json", "tables/table1_loadings.csv", "tables/table4_times.csv"):
        assert (tmp_path / name).stat().st_size > 100
    for figure in ("figure1", "figure2", "figure3", "figure4", "table5", "figure6"):
        for ending in ("png", "svg", "csv"):
            assert (tmp_path / "figures" / f"{figure}.{ending}").stat().st_size > 100
    content = json.loads((tmp_path / "numbers.json").read_text())
    assert content["command"] == "dcgev reproduce all --tiny --seed 0"
    assert sum(content["verdicts"].values()) == len(report.findings)
    files = {path: path.stat().st_mtime_ns for path in tmp_path.glob("results/*/*.json") if path.stem != "settings"}
    assert files
    again = reproduce(["all"], tmp_path, effort="tiny")
    assert again.findings == report.findings
    assert files == {path: path.stat().st_mtime_ns for path in files}
