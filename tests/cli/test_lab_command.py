"""`dcgev lab` lists the apps, builds the command of the server, and names what is missing."""

import subprocess
from pathlib import Path

from dcgev_cvx.cli import lab_command as lab
from dcgev_cvx.cli import main

FOLDER = Path(__file__).parents[2] / "examples" / "lab"


def test_the_apps_are_listed_and_a_misspelt_one_gets_the_nearest(capsys):
    assert main(["lab"]) == 0
    listed = capsys.readouterr().out
    assert all(f"dcgev lab {name}" in listed for name in ("step", "playground"))
    assert main(["lab", "stp"]) == 2
    assert "did you mean 'step'?" in capsys.readouterr().err


def test_the_server_edits_a_copy_and_never_over_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    started = []
    monkeypatch.setattr(lab, "replaced_by", lambda words: started.append(words) or 0)
    monkeypatch.setattr(lab, "find_spec", lambda name: True)
    argv = ["lab", "step", "--edit", "--port", "4711", "--headless"]
    assert main(argv) == 0
    assert started[0][1:6] == ["-P", "-m", "marimo", "edit", "step.py"]
    assert started[0][6:] == ["--token", "--port", "4711", "--headless"]
    (tmp_path / "step.py").write_text("mine", encoding="utf-8")
    assert main(argv) == 0
    assert (tmp_path / "step.py").read_text(encoding="utf-8") == "mine"
    assert main(["lab", "step"]) == 0
    word, script, token = started[2][4:]
    assert (word, token) == ("run", "--token")
    assert Path(script).read_bytes() == (FOLDER / "step.py").read_bytes()


def test_a_file_marimo_of_the_current_folder_is_not_run(tmp_path, monkeypatch):
    (tmp_path / "marimo.py").write_text("raise SystemExit('the wrong marimo')", encoding="utf-8")
    started = []
    monkeypatch.setattr(lab, "replaced_by", lambda words: started.append(words) or 0)
    monkeypatch.setattr(lab, "find_spec", lambda name: True)
    assert main(["lab", "step"]) == 0
    version = [*started[0][: started[0].index("marimo") + 1], "--version"]
    done = subprocess.run(version, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert "the wrong marimo" not in done.stdout + done.stderr


def test_without_marimo_the_remedy_is_named(monkeypatch, capsys):
    monkeypatch.setattr(lab, "find_spec", lambda name: None)
    assert main(["lab", "step"]) == 2
    assert "pip install 'dcgev-cvx[lab]'" in capsys.readouterr().err
