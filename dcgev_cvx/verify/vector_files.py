"""Test vectors for any language: questions with their certified answers as JSON, and the judging of answer files.

A file holds vectors of one level and one family; `input` are the arguments by name, `expected` what is known of the
answer, and `tolerance` what it is judged by, so that a judge in another language needs nothing else. Decimals read
back to the same bits.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from .._numerics.checks import as_whole, shown
from ..errors import InvalidParameter
from .answers import first_line, form_of
from .equations import Limits, share, worst
from .levels import LEVELS, Instance, Level, Tolerances, known_level, optimum, plain, stored_question, tolerances
from .reference_answers import reference, surrogate
from .suite import Effort, suite

SCHEMA_VERSION = 2


@dataclass(frozen=True)
class Judgement:
    """One vector's verdict: passed, failed, or blocked when there is no answer to judge.

    violation and limit are those of the equation that was missed by most, or came nearest to it.
    """

    id: str
    group: str
    status: str
    equation: str = ""
    violation: float = 0.0
    limit: float = 0.0
    note: str = ""


def export(
    folder: Path | str,
    level: str,
    *,
    seed: int = 0,
    seeds: int = 1,
    effort: Effort = "quick",
    tol: Any = None,
    largest: int = 1000,
) -> dict[str, int]:
    """Write the vectors of a level with at most `largest` variables; returns their numbers by group.

    Files of the same name are replaced, and index.json, which holds the hash of the whole set, is written anew.
    """
    about, profile, target = known_level(level), tolerances(tol), Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    suites = [suite(level, s, effort, profile) for s in range(seed, seed + as_whole(seeds, "seeds"))]
    cases = [case for found in suites for case in found.cases if case.n <= largest]
    groups = {
        "cases": [case_record(case, profile) for case in cases],
        "invalid": [invalid_record(words, data) for words, data in invalid_questions(level)],
    }
    counts = dict[str, int]()
    for name, records in groups.items():
        vectors = {vector_id(level, record): record for record in records}
        write_json(target / f"{level}-{name}.json", file_content(about, name, vectors))
        counts[name] = len(vectors)
    schema = files("dcgev_cvx.verify").joinpath("schema.json").read_text(encoding="utf-8")
    (target / "schema.json").write_text(schema, encoding="utf-8")
    write_json(target / "index.json", {"schema_version": SCHEMA_VERSION, "set": set_hash(read_vectors(target))})
    return counts


def vector_id(level: str, record: Mapping[str, Any]) -> str:
    """The level and twelve digits that stand for the input, bit by bit."""
    return f"{level}-{sha256(json.dumps(record['input'], sort_keys=True).encode()).hexdigest()[:12]}"


def set_hash(contents: Sequence[Mapping[str, Any]]) -> str:
    """Twelve digits that stand for all vectors of a folder, in any order."""
    names = sorted(vector["id"] for content in contents for vector in content["vectors"])
    return sha256("\n".join(names).encode()).hexdigest()[:12]


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """One line of JSON, which has no NaN."""
    path.write_text(json.dumps(content, ensure_ascii=False, allow_nan=False) + "\n", encoding="utf-8")


PACKAGE = {
    "pyproject.toml": """[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"

[project]
name = "dcgev-vectors"
version = "{version}"
description = "Test vectors for solvers of the sparse generalized eigenvalue problem"
readme = "README.md"
license = "Apache-2.0"

[tool.setuptools.package-data]
dcgev_vectors = ["*.json"]
""",
    "dcgev_vectors/__init__.py": "",
    "README.md": """# dcgev-vectors

{count} problems of at most {largest} variables with certified answers, for solvers of the sparse generalized
eigenvalue problem in any language (set {set}). `schema.json` is the JSON Schema of the files. The package dcgev-cvx
judges answers: `dcgev vectors check dcgev_vectors ANSWERS.json`.
""",
}
"""The files of the data package beside its vectors."""


def write_package(folder: Path | str, *, largest: int = 14) -> tuple[int, str]:
    """Write the data package dcgev-vectors: quick vectors of all levels, small ones; (their number, set hash)."""
    target, inner = Path(folder), Path(folder) / "dcgev_vectors"
    count = sum(sum(export(inner, level, largest=largest).values()) for level in LEVELS)
    found = set_hash(read_vectors(inner))
    for name, text in PACKAGE.items():
        filled = text.format(count=count, largest=largest, set=found, version=f"{SCHEMA_VERSION}.0")
        (target / name).write_text(filled, encoding="utf-8")
    return count, found


def file_content(about: Level, group: str, vectors: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    """What a vector file holds."""
    head = {"schema_version": SCHEMA_VERSION, "level": about.name, "group": group}
    note = "questions that have no answer" if group == "invalid" else "every pair of levels of the case space"
    asked = {name: getattr(about, name) for name in ("verdict", "task", "arguments", "returns")}
    return {**head, "note": note, **asked, "vectors": [{"id": name, **record} for name, record in vectors.items()]}


def case_record(case: Instance, profile: Tolerances) -> dict[str, Any]:
    """A case with its answer, as plain data; "acceptable" where a tie leaves x open and the value decides."""
    limits, step = Limits(profile), case.level in ("step", "fda")
    allowed = {"accuracy": limits.accuracy(case), "gap": profile.gap}
    return {
        "flags": list(case.flags),
        "comment": case.name,
        "result": "valid" if not step or reference(case).nondegenerate else "acceptable",
        "input": {key: plain(case.data[key]) for key in LEVELS[case.level].arguments},
        "expected": expected(case),
        "tolerance": {**allowed, "value": limits.value(case)} if step else allowed,
    }


def invalid_record(words: str, data: dict[str, Any]) -> dict[str, Any]:
    """A question that has no answer; the comment says why."""
    given = {key: plain(value) for key, value in data.items()}
    record = {"flags": ["invalid"], "comment": words, "result": "invalid", "input": given}
    return {**record, "expected": {}, "tolerance": {"accuracy": 0.0, "gap": 0.0}}


def expected(case: Instance) -> dict[str, Any]:
    """What is known: the certified minimiser, the optimum of (SGEV-P), or nothing beyond the conditions of a run."""
    if case.level in ("step", "fda"):
        ref = reference(case)
        value = surrogate(case).value(ref.x)
        return {"x": plain(ref.x), "value": value, "mu": ref.mu, "kkt": ref.kkt, "agreement": ref.agreement}
    if case.level in ("bound", "cardinality"):
        best = optimum(case)
        return {"optimum": best.value, "support": list(best.support), "lambda_max": best.lambda_max}
    return {}


def invalid_questions(level: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """(what is wrong, the arguments) of questions that have no answer: a sound question with one argument spoilt.

    Whatever numbers come back are wrong; only refusing is right. `verify.check` does not ask them: a solver may leave
    the checking of its input to its caller.
    """
    y = np.array([0.6, 0.6, 0.5])
    sound: dict[str, Any] = {"A": np.diag([3.0, 2.0, 1.0]) + 0.5, "B": np.eye(3), "y": y, "x0": y}
    sound |= {"a": np.array([1.0, 0.5, 0.2]), "rho": 0.3, "nu": 0.3, "eps": 0.1, "tau": 0.0, "k": 2}
    spoilt: list[tuple[str, str, Any]] = [("B", "B is 4 × 4, the rest of size 3", np.eye(4))]
    if level == "pca":
        spoilt = [("A", "A is 4 × 4 and x0 has 3 entries", np.eye(4))]
    if level not in ("bound", "cardinality"):
        start = "x0" if level in ("algorithm", "pca") else "y"
        short = (start, f"{start} is one entry short", y[:2])
        spoilt += [short, ("eps", "ε is 0", 0.0), ("eps", "ε is negative", -0.1)]
    if level in ("step", "algorithm", "fda"):
        spoilt += [("B", "B is indefinite: the program is unbounded below", np.diag([1.0, 1.0, -1.0]))]
    if level == "fda":
        spoilt += [("a", "a = 0: no x satisfies aᵀx = 1", np.zeros(3))]
    if level == "cardinality":
        spoilt += [("B", "B = −I: no x has xᵀBx = 1", -np.eye(3))]
        spoilt += [("k", "k = 0 and a unit norm exclude each other", 0)]
    for name, words, value in spoilt:
        yield words, {key: value if key == name else sound[key] for key in LEVELS[level].arguments}


# Judging answers


def judge_answers(folder: Path | str, answers: Mapping[str, Any], answered: str | None = None) -> list[Judgement]:
    """Every vector of a folder against the answers {id: x} to the set with the hash `answered`.

    Raises InvalidParameter for a folder without vectors, for another set, for a file that is not as it was exported,
    or for answers to vectors that do not exist: a misspelt id would otherwise pass for a missing answer.
    """
    verdicts, contents = list[Judgement](), read_vectors(folder)
    if answered not in (None, set_hash(contents)):
        raise InvalidParameter(
            f"the answers are to the set {shown(answered)}, but {folder} holds the set {set_hash(contents)}: "
            "answer this set, or export the other one again."
        )
    for content in contents:
        try:
            verdicts += [judge_one(content, vector, answers) for vector in content["vectors"]]
        except Exception as cause:  # a file that was changed may go wrong anywhere
            what = f"is not as it was exported: {type(cause).__name__}: {first_line(cause)}"
            raise InvalidParameter(f"a file of {folder} ({shown(content.get('group'))}) {what}") from cause
    if not verdicts:
        raise InvalidParameter(f"{folder} holds no vectors: write some with `dcgev vectors export`.")
    if unknown := set(answers) - {verdict.id for verdict in verdicts}:
        raise InvalidParameter(f"{len(unknown)} answers have no vector, the first is {min(unknown)!r}.")
    return verdicts


def judge_one(content: Mapping[str, Any], vector: Mapping[str, Any], answers: Mapping[str, Any]) -> Judgement:
    """One answer by the equations of its level; `expected` is not used, since other right answers pass too."""
    name, group = vector["id"], content["group"]
    if name not in answers:
        return Judgement(name, group, "blocked", note="no answer was given")
    given = answers[name]
    if vector["result"] == "invalid":  # null or {"error": …} is the right answer to a question that has none
        refused = given is None or (isinstance(given, dict) and "error" in given)
        status = "passed" if refused else "failed"
        return Judgement(name, group, status, "refusal", float(not refused), 0.0, vector["comment"])
    case = stored_question(content["level"], name, vector["input"], tuple(vector["flags"]))
    answer = form_of(given, case)
    if answer.x is None:
        return Judgement(name, group, "failed", "valid answer", np.inf, 0.0, answer.problem)
    allowed = vector["tolerance"]
    tol = Tolerances("vector", float(allowed["accuracy"]), "stored with the vector", gap=float(allowed["gap"]))
    equation, violation, limit = worst(case, answer.x, Limits(tol))
    status = "passed" if share(violation, limit) <= 1.0 else "failed"
    return Judgement(name, group, status, equation, violation, limit)


def read_vectors(folder: Path | str) -> list[dict[str, Any]]:
    """The vector files of a folder, their version checked."""
    where = Path(folder)
    if not where.is_dir():
        raise InvalidParameter(f"{folder} is not a folder of vectors.")
    names = sorted(where.glob("*.json"))
    others = ("schema.json", "index.json", "answers.json")
    return [read_versioned(path, "vectors") for path in names if path.name not in others]


def read_answers(path: Path | str) -> tuple[dict[str, Any], str]:
    """({id: answer}, hash of the set) of an answer file {"schema_version": 2, "set": hash, "answers": {id: x}}."""
    content = read_versioned(Path(path), "set")
    answers = content.get("answers")
    if not isinstance(answers, dict) or not answers:
        raise InvalidParameter(f"{path} holds no answers: nothing can be judged.")
    if not isinstance(content.get("set"), str):
        raise InvalidParameter(f'{path} must name the set that it answers: "set": the hash in index.json.')
    return answers, content["set"]


def read_versioned(path: Path, field: str) -> dict[str, Any]:
    """The JSON object in a file of our schema version, or an error that names the file."""
    try:
        content = json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as cause:
        raise InvalidParameter(f"{path} cannot be read: {cause.strerror or cause}") from cause
    except (ValueError, RecursionError) as cause:
        raise InvalidParameter(f"{path} is not JSON: {cause}") from cause
    if not isinstance(content, dict) or content.get("schema_version") != SCHEMA_VERSION:
        raise InvalidParameter(f'{path} must hold {{"schema_version": {SCHEMA_VERSION}, "{field}": …}}: export again.')
    return content
