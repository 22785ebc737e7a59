"""`dcgev lab` lists the apps, builds the command of the server, and names what is missing."""

from pathlib import Path
from types import SimpleNamespace

from dcgev_cvx.cli import lab_command as lab
from dcgev_cvx.cli import main

FOLDER = Path(__file__).parents[2] / "examples" / "lab"


def test_the_command_lists_refuses_and_builds(capsys, tmp_path, monkeypatch):
    assert main(["lab"]) == 0
    listed = capsys.readouterr().out
    assert all(f"dcgev lab {name}" in listed for name in ("step", "playground"))
    assert main(["lab", "stp"]) == 2
    assert "did you mean 'step'?" in capsys.readouterr().err
    monkeypatch.chdir(tmp_path)
    args = SimpleNamespace(edit=True, port=4711, headless=True)
    words = lab.command(args, FOLDER / "step.py")
    assert words[1:5] == ["-m", "marimo", "edit", "step.py"]
    assert words[5:] == ["--token", "--port", "4711", "--headless"]
    (tmp_path / "step.py").write_text("mine", encoding="utf-8")
    lab.command(args, FOLDER / "step.py")
    assert (tmp_path / "step.py").read_text(encoding="utf-8") == "mine"


def test_without_marimo_the_remedy_is_named(monkeypatch, capsys):
    monkeypatch.setattr(lab, "find_spec", lambda name: None)
    assert main(["lab", "step"]) == 2
    assert "pip install 'dcgev-cvx[lab]'" in capsys.readouterr().err


def test_a_port_that_is_none_is_refused(run):
    code, _, err = run("lab", "step", "--port", "70000")
    assert code == 2
    assert "--port = 70000" in err
