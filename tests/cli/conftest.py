"""What the tests of the command line share: a plain terminal, commands that are run, and files of samples."""

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from dcgev_cvx.cli import main


@pytest.fixture(autouse=True)
def plain_terminal(monkeypatch):
    for name in ("COLUMNS", "FORCE_COLOR", "CLICOLOR_FORCE"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def run(capsys):
    """(exit code, stdout, stderr) of one command."""

    def call(*argv):
        code = main([str(arg) for arg in argv])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


@pytest.fixture
def run_json(run):
    """The JSON document that a command prints."""

    def call(*argv):
        code, out, err = run(*argv, "--json")
        assert (code, err) == (0, "")
        return json.loads(out)

    return call


@pytest.fixture
def in_a_new_process():
    """One command in a Python of its own."""

    def call(*argv, **settings):
        return subprocess.run(
            [sys.executable, *argv],
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=120,
            check=False,
            **settings,
        )

    return call


@pytest.fixture
def files(tmp_path):
    """Samples with names, two views and labels, in the formats that the commands read."""
    rng = np.random.default_rng(0)
    z = rng.standard_normal((60, 1))
    X = rng.standard_normal((60, 6)) + z * [2, 2, 0, 0, 0, 0]
    Y = rng.standard_normal((60, 4)) + z * [0, 2, 0, 0]
    labels = np.where(z[:, 0] > 0, "high", "low")
    frame = pd.DataFrame(X, columns=["red", "green", "blue", "ash", "oak", "elm"])
    frame.to_csv(tmp_path / "X.csv", index=False)
    frame.assign(kind=labels).to_csv(tmp_path / "labelled.csv", index=False)
    np.save(tmp_path / "Y.npy", Y)
    (tmp_path / "labels.txt").write_text("\n".join(labels))
    (tmp_path / "labels.csv").write_text("kind\n" + "\n".join(labels))
    np.save(tmp_path / "labels.npy", (labels == "low").astype(int))
    return tmp_path, frame, Y, labels
