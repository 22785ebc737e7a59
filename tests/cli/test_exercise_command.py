"""`dcgev exercise` lists the exercises and copies a starter, never over a file."""

import subprocess
import sys

from dcgev_cvx import teach
from dcgev_cvx.cli import console


def test_the_list_has_every_exercise(run):
    code, out, _ = run("exercise")
    assert code == 0
    assert [line.split()[2] for line in out.splitlines()] == sorted(teach.EXERCISES)


def test_a_starter_is_copied_and_runs(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, _ = run("exercise", "tau")
    assert (code, out) == (0, "tau.py is in the current folder: fill it in, then run `python tau.py`.\n")
    done = subprocess.run([sys.executable, "tau.py"], capture_output=True, text=True, encoding="utf-8", check=True)
    assert done.stdout.startswith("not yet: ")


def test_a_file_is_not_overwritten(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tau.py").write_text("mine", encoding="utf-8")
    code, _, err = run("exercise", "tau")
    assert code == 2
    assert "tau.py exists already" in err
    assert (tmp_path / "tau.py").read_text(encoding="utf-8") == "mine"


def test_an_unknown_name_is_an_error_with_the_nearest_one(run):
    code, _, err = run("exercise", "tresh")
    assert (code, err) == (2, "dcgev: there is no exercise 'tresh'; did you mean 'threshold'?\n")


def test_a_package_without_its_scripts_says_what_to_do(run, tmp_path, monkeypatch):
    monkeypatch.setattr(console, "__file__", str(tmp_path / "dcgev_cvx" / "cli" / "console.py"))
    for command in ("exercise", "lab"):
        code, _, err = run(command)
        assert code == 2
        assert "was not found: install the package from its wheel, or work in a clone." in err
