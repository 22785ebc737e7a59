"""The benchmarks print and store what they measure; the numbers themselves are no business of a test."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
sys.path.append(str(ROOT))  # benchmarks are not installed; appended, so that the installed package is the one tested

from benchmarks import report  # noqa: E402
from benchmarks.__main__ import SECTIONS, main  # noqa: E402


def test_targets():
    assert report.at_most("a", 1.0, "s", 2.0).met
    assert not report.at_most("a", 3.0, "s", 2.0).met
    assert report.at_least("a", 3.0, "×", 2.0).met
    missed = report.at_least("a", 1.0, "×", 2.0)
    assert (missed.target, missed.verdict) == ("≥ 2", "MISSED")
    assert report.Measure("a", 1.0, "s").verdict == ""


def test_functions_take_turns_after_a_warm_up():
    calls = []
    medians = report.taking_turns([lambda: calls.append("a"), lambda: calls.append("b")], 3)
    assert len(medians) == 2
    assert calls == ["a", "b"] * 4


def test_the_machine_is_described_without_its_name():
    import platform

    about = report.machine()
    assert about["cores"] >= 1
    assert "cvxpy" in about["versions"]
    assert platform.node() not in json.dumps(about) or not platform.node()


def test_what_fell_by_more_than_a_fifth_is_marked(fake, monkeypatch, capsys, tmp_path):
    page = tmp_path / "benchmarks.md"
    page.write_text(report.page({"speed": [report.at_most("good", 0.4, "s", 1.0)]}, "command"), encoding="utf-8")
    monkeypatch.setattr(report, "STORED", page)
    monkeypatch.setattr(report.stored_values, "__defaults__", (page,))
    assert report.stored_values() == {("speed", "good"): 0.4}
    monkeypatch.setattr(sys, "argv", ["benchmarks", "speed"])
    main()
    line = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("good"))
    assert line.split()[-2:] == ["0.4", "FELL"]
    assert not report.fell(report.at_most("a", 1.19, "s", 2.0), 1.0)
    assert report.fell(report.at_least("a", 7.9, "×", 5.0), 10.0)
    assert not report.fell(report.at_least("a", 12.0, "×", 5.0), 10.0)
    assert report.fell(report.Measure("a", 13.0, "passes"), 10.0)
    assert not report.fell(report.Measure("a", 13.0, "×"), 10.0)  # nobody knows which way is better


@pytest.fixture
def fake(monkeypatch):
    def run(repeats):
        yield report.at_most("good", 0.5, "s", 1.0, "detail of good")
        yield report.at_least("bad", float(repeats), "×", 10.0)
        yield report.Skipped("a peer", "pip install it")

    monkeypatch.setattr("benchmarks.speed.run", run)


def test_a_run_prints_stores_and_tells_of_a_missed_target(fake, monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(sys, "argv", ["benchmarks", "speed", "--repeats", "3", "--out", str(tmp_path / "new")])
    assert main() == 1
    out = capsys.readouterr().out
    for words in ("good", "detail of good", "≤ 1", "met", "MISSED", "skipped: a peer (pip install it)", "cores"):
        assert words in out
    stored = json.loads((tmp_path / "new" / "speed.json").read_text(encoding="utf-8"))
    assert [m["what"] for m in stored["measures"]] == ["good", "bad"]
    assert stored["measures"][1]["value"] == 3.0
    assert stored["skipped"][0]["remedy"] == "pip install it"
    assert stored["machine"]["versions"]


@pytest.mark.parametrize(
    ("argv", "message"), [(["sped"], "unknown section 'sped'"), (["--repeats", "0"], "at least 1")]
)
def test_bad_arguments(monkeypatch, capsys, argv, message):
    monkeypatch.setattr(sys, "argv", ["benchmarks", *argv])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("section", sorted(SECTIONS))
def test_every_section_has_a_runner(section):
    import importlib

    assert callable(importlib.import_module(f"benchmarks.{section}").run)


def test_python_m_benchmarks_answers():
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", "--help"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0
    assert "speed" in done.stdout
