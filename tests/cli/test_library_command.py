"""`dcgev library`: list, run, prove and check by hand."""

import json
from dataclasses import replace

import pytest

from dcgev_cvx import InvalidParameter, datasets
from dcgev_cvx.cli import main
from dcgev_cvx.cli.library_command import bound_of, improved_record
from dcgev_cvx.datasets.instance_library import Library, read_records

SOLVER = "def solve(pencil, k):\n    print('noise')\n    return list(range(k))\n"


def test_list_shows_what_is_known(capsys):
    assert main(["library", "list", "--family", "ties", "--status", "closed"]) == 0
    out = capsys.readouterr().out
    assert "paley-13-k4" in out
    assert "pitprops" not in out
    assert "closed" in out


def test_run_scores_a_solver_in_a_file(tmp_path, capsys):
    (tmp_path / "mine.py").write_text(SOLVER, encoding="utf-8")
    target = f"{tmp_path / 'mine.py'}:solve"
    assert main(["library", "run", target, "--names", "pitprops-k6,paley-13-k4"]) == 0
    out = capsys.readouterr().out
    assert "noise" not in out
    assert "family" in out
    assert main(["library", "run", target, "--names", "pitprops-k6", "--json"]) == 0
    row = json.loads(capsys.readouterr().out)["rows"][0]
    assert (row["name"], row["verdict"], row["support"]) == ("pitprops-k6", "worse", [0, 1, 2, 3, 4, 5])


def test_an_invalid_answer_is_an_exit_code(tmp_path, capsys):
    (tmp_path / "mine.py").write_text("def solve(pencil, k):\n    return None\n", encoding="utf-8")
    assert main(["library", "run", f"{tmp_path / 'mine.py'}:solve", "--names", "pitprops-k6"]) == 1
    assert "is no support" in capsys.readouterr().out


def test_prove_writes_a_record_and_keeps_the_others(tmp_path, capsys):
    records = tmp_path / "records.json"
    for name in ("pitprops-k4", "paley-13-k4"):
        assert main(["library", "prove", name, "--records", str(records), "--by", "me"]) == 0
    found = {record.name: record for record in read_records(records)}
    assert set(found) == {"pitprops-k4", "paley-13-k4"}
    for record in found.values():
        known = datasets.library()[record.name].record
        assert (record.id, record.by, record.status) == (known.id, "me", "closed")
        assert record.value == pytest.approx(known.value, rel=1e-12)


def test_the_published_tables_become_a_page(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("dcgev_cvx.cli.library_command.published_names", lambda: ["pitprops-k4", "pitprops-k5"])
    page = tmp_path / "page.md"
    assert main(["library", "run", "--published", "--page", str(page)]) == 0
    text = page.read_text(encoding="utf-8")
    assert "proves 2 of 2 instances" in text
    assert "| pitprops-k4 | 13 | 4 | Table 2, mixed-integer SDP: optimal, 5 s" in text
    assert "| 2.9374789 | 0 |" in text


def test_check_accepts_what_holds_and_refuses_what_does_not(tmp_path, capsys):
    best = list(datasets.library()["pitprops-k6"].record.support)
    entries = [
        {"name": "pitprops-k6", "support": best},
        {"name": "pitprops-k6", "support": [0, 0, 1]},
        {"name": "nothing", "support": [1]},
    ]
    file = tmp_path / "submission.json"
    file.write_text(json.dumps(entries), encoding="utf-8")
    assert main(["library", "check", str(file)]) == 1
    out = capsys.readouterr().out
    assert "pitprops-k6: nothing new" in out
    assert out.count("refused.") == 2
    file.write_text(json.dumps(entries[:1]), encoding="utf-8")
    assert main(["library", "check", str(file)]) == 0


PROVED = ["pitprops-k6", "paley-13-k4", "views-8-8-k2+2", "symmetric-metric-16-k4", "singular-15-k3", "classes-20-k3"]


@pytest.mark.parametrize("name", PROVED)
def test_a_proof_that_was_made_again_proves_the_record(name, tmp_path):
    """Written by `prove`, read by the checker, which shares no code with the search."""
    one = datasets.library()[name]
    assert main(["library", "prove", name, "--proof", str(tmp_path / "proof")]) == 0
    assert one.record.value <= bound_of(tmp_path / "proof", one.pencil, one.k) <= one.record.bound * (1.0 + 1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("name", [one.name for one in datasets.library().only(status="closed")])
def test_the_proof_of_every_closed_record(name, tmp_path):
    one = datasets.library()[name]
    if one.missing:
        pytest.skip(f"{one.missing} is not here")
    test_a_proof_that_was_made_again_proves_the_record(name, tmp_path)


def test_a_proof_of_another_pencil_or_k_is_refused(tmp_path):
    assert main(["library", "prove", "pitprops-k6", "--proof", str(tmp_path / "proof")]) == 0
    library = datasets.library()
    for name in ("pitprops-k7", "paley-13-k4"):
        with pytest.raises(InvalidParameter, match="proof"):
            bound_of(tmp_path / "proof", library[name].pencil, library[name].k)
    text = (tmp_path / "proof").read_text(encoding="utf-8")
    (tmp_path / "proof").write_text(text.replace("3.77", "3.76", 1), encoding="utf-8")
    with pytest.raises(InvalidParameter, match="damaged"):
        bound_of(tmp_path / "proof", library["pitprops-k6"].pencil, 6)


def test_a_proof_improves_the_bound_of_an_open_record(tmp_path):
    one = datasets.library()["pitprops-k6"]
    opened = replace(one, record=replace(one.record, bound=4.0))
    assert main(["library", "prove", "pitprops-k6", "--proof", str(tmp_path / "proof")]) == 0
    found = improved_record(opened, {"name": one.name, "proof": "proof"}, tmp_path, "me")
    assert (found.status, found.by, found.proof) == ("closed", "me", "proof file proof, checked")


def test_a_better_support_becomes_a_record(tmp_path, capsys, monkeypatch):
    one = datasets.library()["pitprops-k6"]
    opened = replace(one, record=replace(one.record, value=3.0, support=(0, 1), bound=4.0))
    monkeypatch.setattr("dcgev_cvx.datasets.library", lambda: Library([opened]))
    file, records = tmp_path / "submission.json", tmp_path / "records.json"
    file.write_text(json.dumps([{"name": "pitprops-k6", "support": list(one.record.support)}]), encoding="utf-8")
    records.write_text("[]", encoding="utf-8")
    assert main(["library", "check", str(file), "--records", str(records), "--by", "me"]) == 0
    assert "value 3 → 3.77095955235" in capsys.readouterr().out
    [found] = read_records(records)
    assert (found.support, found.bound, found.by) == (one.record.support, 4.0, "me")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["run"], "run needs a solver"),
        (["check"], "check needs a file"),
        (["check", "absent.json"], "absent.json cannot be read as JSON"),
        (["prove", "pitprops-k99"], "did you mean"),
        (["prove", "--family", "ties", "--proof", "x"], "--proof writes the proof of one instance"),
        (["run", "nothing:at_all", "--names", "pitprops-k6"], "nothing could not be imported"),
        (["list", "--family", "spca"], "family = 'spca' is unknown"),
    ],
)
def test_wrong_options_raise_one_line(words, message, capsys):
    assert main(["library", *words]) == 2
    assert message in capsys.readouterr().err
