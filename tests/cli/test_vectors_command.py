"""`dcgev vectors` writes test vectors, judges answers, and refuses what it cannot read."""

import json

import pytest


@pytest.fixture
def asked(run, tmp_path):
    """A folder of vectors, and a file with one answer, which is wrong."""
    folder = tmp_path / "v"
    code, out, _ = run("vectors", "export", folder, "--level", "bound")
    assert code == 0
    assert f"vectors written to {folder}, set " in out
    first = json.loads(min(folder.glob("bound-*.json")).read_text(encoding="utf-8"))["vectors"][0]["id"]
    name = json.loads((folder / "index.json").read_text(encoding="utf-8"))["set"]
    content = {"schema_version": 2, "set": name, "answers": {first: -1e9}}
    (tmp_path / "answers.json").write_text(json.dumps(content), encoding="utf-8")
    return folder, tmp_path / "answers.json", first


def test_a_wrong_answer_fails_and_missing_ones_are_blocked(run, asked):
    folder, answers, first = asked
    code, out, _ = run("vectors", "check", folder, answers)
    assert code == 1
    assert first in out
    assert out.splitlines()[-1].startswith("FAILED: ")
    assert "0 passed, 1 failed" in out
    code, out, _ = run("vectors", "check", folder, answers, "--json")
    found = json.loads(out)
    assert (code, found["ok"]) == (1, False)
    assert found["counts"] == {"failed": 1, "blocked": len(found["verdicts"]) - 1}


@pytest.mark.parametrize("content", [None, "{", '{"schema_version": 2, "set": "0", "answers": {}}'])
def test_what_cannot_be_judged_is_one_line(run, tmp_path, content):
    if content is not None:
        (tmp_path / "answers.json").write_text(content, encoding="utf-8")
    code, _, err = run("vectors", "check", tmp_path, tmp_path / "answers.json")
    assert code == 2
    assert err.startswith("dcgev: ")
    assert err.count("\n") == 1
