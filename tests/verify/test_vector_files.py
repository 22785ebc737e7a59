"""Test vectors: JSON out and back without loss, and answers judged."""

from __future__ import annotations

import json
import tomllib
from functools import lru_cache
from xml.etree import ElementTree

import numpy as np
import package_solvers
import pytest
import wrong_solvers as catalogue

from dcgev_cvx import Pencil, cli, relaxations, solve
from dcgev_cvx.errors import DCGEVError, InvalidParameter
from dcgev_cvx.verify import vector_files as vectors
from dcgev_cvx.verify.levels import LEVELS, PROFILES, stored_question
from dcgev_cvx.verify.suite import hard_cases, suite
from dcgev_cvx.verify.vector_files import invalid_questions


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    where = tmp_path_factory.mktemp("vectors")
    vectors.export(where, "fda", largest=6)
    return where


def answers_of(folder, solver=catalogue.right_fda):
    return dict(known_answers(folder, solver))


@lru_cache
def known_answers(folder, solver):
    found = {}
    for content in vectors.read_vectors(folder):
        for vector in content["vectors"]:
            case = stored_question(content["level"], vector["id"], vector["input"])
            found[vector["id"]] = (
                None if vector["result"] == "invalid" else solver(*package_solvers.arguments_of(case)).tolist()
            )
    return found


def test_vectors_read_back_to_the_same_bits(folder):
    stored = {v["id"]: v for content in vectors.read_vectors(folder) for v in content["vectors"]}
    cases = [case for case in suite("fda", 0, "quick").cases if case.n <= 6]
    assert len(stored) == len(cases) + len(list(invalid_questions("fda")))
    for case in cases:
        name = vectors.vector_id("fda", {"input": {n: vectors.plain(case.data[n]) for n in LEVELS["fda"].arguments}})
        again = stored_question("fda", name, stored[name]["input"])
        for name in ("a", "B", "y", "nu", "eps"):
            assert np.array_equal(again.data[name], case.data[name])


def test_every_file_obeys_the_schema(folder):
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads((folder / "schema.json").read_text(encoding="utf-8"))
    for content in vectors.read_vectors(folder):
        jsonschema.validate(content, schema)


@pytest.mark.slow
def test_every_level_exports_and_its_groups_have_notes(tmp_path):
    for level in ("fda", "pca", "bound", "cardinality"):  # steps and runs are many, and the same code
        counts = vectors.export(tmp_path, level, effort="quick")
        assert sum(counts.values()) - counts["invalid"] == len(suite(level, 0, "quick").cases)
    verdicts = {content["level"]: content["verdict"] for content in vectors.read_vectors(tmp_path)}
    assert verdicts == {"fda": "exact", "pca": "certificate", "bound": "bound", "cardinality": "certificate"}


def test_right_answers_pass_and_one_wrong_digit_fails(folder, tmp_path, capsys):
    answers = answers_of(folder)
    path = tmp_path / "answers.json"
    about = {"schema_version": 2, "set": vectors.set_hash(vectors.read_vectors(folder))}
    path.write_text(json.dumps({**about, "answers": answers}), encoding="utf-8")
    assert cli.main(["vectors", "check", str(folder), str(path)]) == 0
    name = next(n for n, x in answers.items() if x and len(x) > 2 and np.count_nonzero(x) > 2)
    broken = {
        **answers,
        name: [x + (1e-3 * abs(x)) * (i == int(np.argmax(np.abs(answers[name])))) for i, x in enumerate(answers[name])],
    }
    path.write_text(json.dumps({**about, "answers": broken}), encoding="utf-8")
    capsys.readouterr()
    assert cli.main(["vectors", "check", str(folder), str(path), "--junit", str(tmp_path / "junit.xml")]) == 1
    junit = ElementTree.parse(tmp_path / "junit.xml").getroot()
    assert (junit.get("failures"), junit.get("errors")) == ("1", "0")
    assert junit.find("testcase/failure/..").get("name") == name
    out = capsys.readouterr().out
    assert name in out
    assert "1 failed, 0 blocked" in out


def test_a_missing_answer_is_blocked_and_a_bad_one_failed(folder):
    answers = answers_of(folder)
    names = sorted(answers)
    del answers[names[0]]
    answers[names[1]] = "none"
    status = {j.id: j for j in vectors.judge_answers(folder, answers)}
    assert status[names[0]].status == "blocked"
    assert status[names[1]].status == "failed"
    assert status[names[2]].status == "passed"


@pytest.mark.parametrize(
    ("level", "solver"),
    [
        ("step", package_solvers.qcqp_step),
        ("step", package_solvers.native_step),
        ("algorithm", package_solvers.algorithm_1),
        ("pca", package_solvers.algorithm_2),
        ("fda", package_solvers.fisher_step),
        ("cardinality", lambda A, B, k: solve(Pencil(A, B), k).x),
        ("bound", lambda A, B, k: relaxations.homogeneous_sdp(Pencil(A, B), k).upper_bound),
    ],
)
def test_our_own_solvers_refuse_what_has_no_answer(level, solver):
    for words, data in invalid_questions(level):
        with pytest.raises(DCGEVError):
            print(words, solver(*(data[name] for name in LEVELS[level].arguments)))


def test_a_number_where_there_is_no_answer_fails(folder):
    answers = answers_of(folder)
    names = [v["id"] for c in vectors.read_vectors(folder) if c["group"] == "invalid" for v in c["vectors"]]
    answers |= {names[0]: [0.0, 0.0, 0.0], names[1]: {"error": "y is too short"}}
    status = {j.id: j for j in vectors.judge_answers(folder, answers)}
    assert [status[name].status for name in names[:3]] == ["failed", "passed", "passed"]
    assert "B is 4 × 4" in status[names[0]].note


def test_vectors_of_a_profile_with_a_gap_are_judged_by_it(tmp_path):
    vectors.export(tmp_path, "step", tol="interior-point", largest=6)
    answers = answers_of(tmp_path, catalogue.right_step)
    assert {j.status for j in vectors.judge_answers(tmp_path, answers)} == {"passed"}


def test_files_that_are_none_are_named(folder, tmp_path):
    bad = tmp_path / "answers.json"
    bad.write_text("{", encoding="utf-8")
    with pytest.raises(InvalidParameter, match="is not JSON"):
        vectors.read_answers(bad)
    bad.write_text('{"schema_version": 2, "set": "0", "answers": {}}', encoding="utf-8")
    with pytest.raises(InvalidParameter, match="holds no answers"):
        vectors.read_answers(bad)
    with pytest.raises(InvalidParameter, match="cannot be read"):
        vectors.read_answers(tmp_path / "nothing.json")
    with pytest.raises(InvalidParameter, match="holds no vectors"):
        vectors.judge_answers(tmp_path, {"step-0001": [1.0]})
    with pytest.raises(InvalidParameter, match="have no vector"):
        vectors.judge_answers(folder, {"step-9999": [1.0]})
    with pytest.raises(InvalidParameter, match="not a folder"):
        vectors.judge_answers(tmp_path / "no", {})
    bad.write_text('{"schema_version": 2, "answers": {"fda-1": [1.0]}}', encoding="utf-8")
    with pytest.raises(InvalidParameter, match="must name the set"):
        vectors.read_answers(bad)
    with pytest.raises(InvalidParameter, match=r"answers are to the set 'abc', but .* holds the set"):
        vectors.judge_answers(folder, {}, "abc")


def test_a_vector_has_the_same_id_in_quick_and_full(folder):
    hard = {effort: list(hard_cases("step", 0, count)) for effort, count in (("quick", 1), ("full", 2))}
    names = {effort: {vectors.vector_id("step", vectors.case_record(c, PROFILES["standard"])) for c in cases}
             for effort, cases in hard.items()}  # fmt: skip
    assert names["quick"] < names["full"]
    index = json.loads((folder / "index.json").read_text(encoding="utf-8"))
    assert index["set"] == vectors.set_hash(vectors.read_vectors(folder))


def test_the_data_package_is_small_and_complete(tmp_path, monkeypatch):
    monkeypatch.setattr(vectors, "LEVELS", {"bound": LEVELS["bound"], "pca": LEVELS["pca"]})
    count, name = vectors.write_package(tmp_path)
    inner = tmp_path / "dcgev_vectors"
    assert count == sum(len(content["vectors"]) for content in vectors.read_vectors(inner))
    assert name in (tmp_path / "README.md").read_text(encoding="utf-8")
    assert (
        tomllib.loads((tmp_path / "pyproject.toml").read_text(encoding="utf-8"))["project"]["name"] == "dcgev-vectors"
    )
    assert sum(file.stat().st_size for file in tmp_path.rglob("*") if file.is_file()) < 2.5e6


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[" * 200000, "is not JSON"),
        ('\ufeff{"schema_version": 2, "set": "0", "answers": {}}', "holds no answers"),
    ],
)
def test_answers_that_are_odd_are_named(tmp_path, text, words):
    path = tmp_path / "answers.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidParameter, match=words):
        vectors.read_answers(path)


@pytest.mark.parametrize("change", [{"input": {}}, {"input": {"a": [[]], "B": 1}}, {"tolerance": None}])
def test_a_vector_file_that_was_changed_is_named(folder, tmp_path, change):
    content = json.loads((folder / "fda-cases.json").read_text(encoding="utf-8"))
    first = content["vectors"][0]
    (tmp_path / "fda-cases.json").write_text(json.dumps({**content, "vectors": [{**first, **change}]}), "utf-8")
    answers = {first["id"]: first["expected"]["x"]}
    with pytest.raises(InvalidParameter, match=r"\('cases'\) is not as it was exported"):
        vectors.judge_answers(tmp_path, answers)


def test_export_on_the_command_line_counts_what_it_wrote(tmp_path, capsys):
    assert cli.main(["vectors", "export", str(tmp_path / "v"), "--level", "bound"]) == 0
    out = capsys.readouterr().out
    count = len(suite("bound", 0, "quick").cases) + len(list(invalid_questions("bound")))
    assert f"{count} vectors written" in out
