"""`reproduce`: names, bad settings, reports that join earlier results, and every experiment in small form."""

import json
import sys

import pytest

from dcgev_cvx.errors import InvalidParameter, MissingPackage
from dcgev_cvx.reproduction import EXPERIMENTS, named, reproduce
from dcgev_cvx.reproduction.experiments import PACKAGES, section_of

ENDS = ("png", "svg", "csv")


def test_names():
    assert named(["all"]) == named(list(EXPERIMENTS)[::-1]) == list(EXPERIMENTS)
    assert named(["table4", "figure4", "table1"]) == ["table1", "tables34"]
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
        ("corpus", 3),
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


@pytest.mark.parametrize("package", PACKAGES)
def test_a_missing_package_is_named_before_anything_is_computed(tmp_path, monkeypatch, package):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingPackage, match=rf"{package}: pip install 'dcgev-cvx\[reproduce\]'"):
        reproduce(["table1"], tmp_path / "out", effort="tiny")
    assert not (tmp_path / "out").exists()


def test_a_section_without_its_results_says_why():
    section = section_of("figure6", {}, {}, {"split-0": "no songs", "split-1": "no songs"})
    assert (section.title, section.findings, section.missing) == (EXPERIMENTS["figure6"].title, (), ("no songs",))
    with pytest.raises(LookupError):
        section_of("figure6", {}, {}, {})


@pytest.mark.slow
def test_everything_in_small_form_and_its_report(tmp_path):
    """The smallest run of every experiment: all sections, files and figures; the second run computes nothing."""
    report = reproduce(["all"], tmp_path, effort="tiny")
    assert [section.name for section in report.sections] == list(EXPERIMENTS)
    assert not any(section.missing for section in report.sections)
    assert all(section.findings for section in report.sections)
    figures = [
        f"figures/{name}.{end}" for name in ("figure1", "figure2", "figure3", "figure4", "figure6") for end in ENDS
    ]
    for name in ("report.md", "tables/table1_variance.csv", "tables/table5.csv", *figures):
        assert (tmp_path / name).stat().st_size > 100
    content = json.loads((tmp_path / "numbers.json").read_text())
    assert content["command"] == "dcgev reproduce all --tiny --seed 0"
    assert sum(content["verdicts"].values()) == len(report.findings)
    files = {path: path.stat().st_mtime_ns for path in tmp_path.glob("results/tiny-0/*/*.json")}
    assert files
    again = reproduce(["table1"], tmp_path, effort="tiny")
    assert set(again.findings) <= set(report.findings)
    assert files == {path: path.stat().st_mtime_ns for path in files}
