"""`dcgev verify` on a function, a file and a program."""

from __future__ import annotations

import json
import sys

import pytest

from dcgev_cvx import cli
from dcgev_cvx.cli.verify_command import known_failures
from dcgev_cvx.errors import InvalidParameter


def test_a_function_in_a_file(tmp_path, capsys):
    path = tmp_path / "mine.py"
    path.write_text(
        "from scipy.linalg import eigh\ndef bound(A, B, k):\n    return eigh(A, B)[0][-1]\n", encoding="utf-8"
    )
    page = tmp_path / "report.xml"
    assert cli.main(["verify", f"{path}:bound", "--level", "bound", "--junit", str(page)]) == 0
    assert "PASSED: bound as bound (SGEV-P)" in capsys.readouterr().out
    assert page.read_text(encoding="utf-8").startswith("<?xml")
    path.write_text("def bound(A, B, k):\n    return 0.0\n", encoding="utf-8")
    assert cli.main(["verify", f"{path}:bound", "--level", "bound", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["counterexample"]["check"] == "validity"


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("nothing", "MODULE:FUNCTION"),
        ("no_such_module_here:f", "could not be imported"),
        ("math:nothing", "has no 'nothing'"),
        ("nowhere.py:f", "No such file"),
    ],
)
def test_targets_that_are_none(target, words, capsys):
    assert cli.main(["verify", target, "--level", "pca"]) == 2
    assert words in capsys.readouterr().err


RUDE = """
import sys
from scipy.linalg import eigh
print("loading")
def bound(A, B, k):
    sys.stderr = sys.stdout = None
    return eigh(A, B, eigvals_only=True)[-1]
"""


def test_a_rude_module_leaves_the_report_readable(tmp_path, capsys):
    path = tmp_path / "rude.py"
    path.write_text(RUDE, encoding="utf-8")
    before = sys.stderr
    assert cli.main(["verify", f"{path}:bound", "--level", "bound", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["ok"] is True
    assert sys.stderr is before


def test_a_function_that_keeps_the_interpreter_to_itself_is_ended(tmp_path, capsys):
    path = tmp_path / "busy.py"
    path.write_text("import re\ndef bound(A, B, k):\n    return re.match('(a+)+$', 40 * 'a' + 'b')\n", encoding="utf-8")
    assert cli.main(["verify", f"{path}:bound", "--level", "bound", "--time-limit", "1"]) == 1
    assert "no answer within 1 s" in capsys.readouterr().out


def test_either_a_function_or_a_command(capsys):
    assert cli.main(["verify", "--level", "pca"]) == 2
    assert "either" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("# ours\n\nvalidity\n", "line 3: 'validity' must be 'CHECK: reason'"),
        ("validity: soon\nvalidity: later\n", "line 2: 'validity: later' occurs twice"),
    ],
)
def test_a_file_of_known_failures_with_errors_names_the_line(tmp_path, text, words):
    path = tmp_path / "known.txt"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidParameter, match=words):
        known_failures(str(path))


def test_a_file_of_known_failures_is_read(tmp_path):
    path = tmp_path / "known.txt"
    path.write_text("# ours\nvalidity: not yet: 2027\n", encoding="utf-8")
    assert known_failures(str(path)) == {"validity": "not yet: 2027"}
    with pytest.raises(InvalidParameter, match="cannot be read"):
        known_failures(str(tmp_path / "none.txt"))
