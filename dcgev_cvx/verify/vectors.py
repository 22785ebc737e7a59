"""Test vectors for any language: questions with their certified answers as JSON, and the judging of answer files.

A file holds vectors of one level and one group; `input` are the arguments by name, `expected` what is known of the
answer, and `tolerance` what it is judged by, so that a judge in another language needs nothing else. Decimals read
back to the same bits.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from .._numerics.checks import as_whole, shown
from ..errors import InvalidParameter
from .equations import Asked, worst
from .families import LARGE_EPS, TINY_EPS
from .instances import LEVELS, Instance, Level, known_level, plain, question
from .measures import surrogate
from .reference import optimum, reference
from .refusals import refusals
from .session import first_line, number_of, vector_of
from .suite import Effort, questions
from .tolerances import Tolerances, tolerances

SCHEMA_VERSION = 1

GROUPS: Mapping[str, tuple[tuple[str, ...], str]] = MappingProxyType(
    {
        "interior-optimum": (("interior-optimum",), "x normalised although the constraint is slack"),
        "nearly-active": (("nearly-active",), "x normalised, or only scaled, near the boundary"),
        "near-ties": (("near-tie",), "small entries cut off, or dust kept"),
        "fixed-points": (("fixed-point",), "a step that drifts away from a limit"),
        "weights-at-zero": (("zero-weights", "tiny-weights"), "a weight of 0, or a clipped one, where y is 0"),
        "cancellation": (("cancelling",), "data or sums in single precision"),
        "small-entries": (("small-entries",), "entries below 1e-3 cut off"),
        "no-pull": (("no-pull",), "0/0 when nothing pulls x from the origin"),
        "no-objective": (("no-objective",), "A divided by its size; y taken for the answer"),
        "no-difference": (("zero-difference",), "variables with aᵢ = 0 left out"),
        "idle-variables": (("idle",), "variables without variance left out, or divided by it"),
        "one-variable": (("one-variable",), "n = 1 forgotten"),
        "collapse": (("rho-1.001", "rho-3", "collapse"), "0/0 where x = 0 is the answer"),
        "no-penalty": (("rho-0", "nu-0"), "a penalty left over at ρ̃ = 0; τ or B in the wrong place"),
        "better-starts": (("better-start",), "x0 ignored: the answer lies above it"),
        "slow-runs": (("slow",), "stopped early"),
        "tight": (("tight", "k-one", "k-all"), "a bound that trusts a solver or drops a term"),
        "decoys": (("decoy",), "a greedy value taken for a bound"),
        "ill-conditioned": (("cond-1e8", "cond-1e3"), "single precision, B inverted, a ridge added"),
        "tiny-eps": (TINY_EPS, "ε clipped, weights overflow, log(1 + 1/ε) forgotten"),
        "large-eps": (LARGE_EPS, "log(1/ε) for log(1 + 1/ε)"),
        "indefinite": (("indefinite", "negative", "pulled-down", "cca"), "τ missing, doubled or on one side only"),
        "dense-metric": (("dense", "levels", "small", "uneven"), "B taken for diagonal or for the identity"),
        "invalid": (("invalid",), "numbers returned where there is no answer"),
        "plain": ((), "factors of 2, the wrong logarithm, wrong signs"),
    }
)
"""Group → the flags that put a vector there (the first group that fits), and the mistake it catches."""


@dataclass(frozen=True)
class Judgement:
    """One vector's verdict: passed, failed, or blocked when there is no answer to judge.

    violation and limit are those of the equation that was missed by most (or came nearest to it).
    """

    id: str
    group: str
    status: str
    equation: str = ""
    violation: float = 0.0
    limit: float = 0.0
    note: str = ""


def export(
    folder: Path | str, level: str, *, seed: int = 0, seeds: int = 1, effort: Effort = "full", tol: Any = None
) -> dict[str, int]:
    """Write one file per group of vectors; returns how many vectors each holds.

    Returns the counts by group. Existing files of the same names are replaced; others in the folder stay.
    """
    about, profile, target = known_level(level), tolerances(tol), Path(folder)
    seeds = as_whole(seeds, "seeds")
    target.mkdir(parents=True, exist_ok=True)
    groups: dict[str, list[dict[str, Any]]] = {}
    count = 0
    for count, case in numbered(level, seed, seeds, effort, profile):
        groups.setdefault(group_of(case), []).append(vector_record(f"{level}-{count:04d}", case, profile))
    groups["invalid"] = [
        refusal_record(f"{level}-{index:04d}", words, data)
        for index, (words, data) in enumerate(refusals(level), start=count + 1)
    ]
    for name, vectors in groups.items():
        text = json.dumps(file_content(about, name, vectors), ensure_ascii=False, allow_nan=False)
        (target / f"{level}-{name}.json").write_text(text + "\n", encoding="utf-8")
    (target / "schema.json").write_text(schema_text(), encoding="utf-8")
    return {name: len(vectors) for name, vectors in sorted(groups.items())}


def file_content(about: Level, group: str, vectors: list[dict[str, Any]]) -> dict[str, Any]:
    """What a vector file holds."""
    return {
        "schema_version": SCHEMA_VERSION,
        "level": about.name,
        "group": group,
        "note": f"catches: {GROUPS[group][1]}",
        "verdict": about.verdict,
        "task": about.task,
        "arguments": list(about.arguments),
        "returns": about.returns,
        "vectors": vectors,
    }


def schema_text() -> str:
    """The JSON Schema of a vector file."""
    from importlib.resources import files

    return files("dcgev_cvx.verify").joinpath("schema.json").read_text(encoding="utf-8")


def numbered(
    level: str, seed: int, seeds: int, effort: Effort, profile: Tolerances
) -> Iterable[tuple[int, Instance]]:
    """The cases of several seeds, numbered through."""
    found = [case for s in range(seed, seed + seeds) for case in questions(level, s, effort) if profile.admits(case)]
    return enumerate(found, start=1)


def group_of(case: Instance) -> str:
    """The first group whose flags the case bears.

    Groups are tried in the order of GROUPS, special ones first; "plain" takes what is left.
    """
    return next(name for name, (flags, _) in GROUPS.items() if not flags or set(flags) & set(case.flags))


def vector_record(name: str, case: Instance, profile: Tolerances) -> dict[str, Any]:
    """A case with its answer, as plain data; "acceptable" where a tie leaves x open and the value decides.

    `expected` is empty for whole runs, which the conditions alone judge.
    """
    asked = Asked(profile)
    strict = case.level not in ("step", "fda") or reference(case).nondegenerate
    return {
        "id": name,
        "flags": list(case.flags),
        "comment": case.name,
        "result": "valid" if strict else "acceptable",
        "input": {key: plain(case.data[key]) for key in LEVELS[case.level].arguments},
        "expected": expected(case),
        "tolerance": tolerance_record(case, asked),
    }


def refusal_record(name: str, words: str, data: dict[str, Any]) -> dict[str, Any]:
    """A question that has no answer; the comment says why."""
    return {
        "id": name,
        "flags": ["invalid"],
        "comment": words,
        "result": "invalid",
        "input": {key: plain(value) for key, value in data.items()},
        "expected": {},
        "tolerance": {"accuracy": 0.0, "gap": 0.0},
    }


def tolerance_record(case: Instance, asked: Asked) -> dict[str, float]:
    """What an answer is judged by: the accuracy of x, the gap of the profile, and the relative value of a step."""
    steps = case.level in ("step", "fda")
    allowed = {"accuracy": asked.accuracy(case), "gap": asked.tol.gap}
    return {**allowed, "value": asked.value(case)} if steps else allowed


def expected(case: Instance) -> dict[str, Any]:
    """What is known: the certified minimiser, the optimum of (SGEV-P), or nothing beyond the conditions."""
    if case.level in ("step", "fda"):
        ref = reference(case)
        return {
            "x": plain(ref.x),
            "value": surrogate(case).value(ref.x),
            "mu": ref.mu,
            "kkt": ref.kkt,
            "agreement": ref.agreement,
        }
    if case.level in ("bound", "cardinality"):
        best = optimum(case)
        return {"optimum": best.value, "support": list(best.support), "lambda_max": best.lambda_max}
    return {}


def judge_answers(folder: Path | str, answers: Mapping[str, Any]) -> list[Judgement]:
    """Every vector of a folder against an answer file's content {id: x}.

    Raises InvalidParameter for a folder without vectors, for a file that is not as it was exported, or for answers to
    vectors that are not there: a typing error in an id would otherwise pass for a missing answer.
    """
    unknown = set(answers)
    verdicts: list[Judgement] = []
    for content in read_vectors(folder):
        try:
            found = [judge_one(content, vector, answers) for vector in content["vectors"]]
        except Exception as cause:  # a file that was changed may go wrong anywhere
            what = f"{type(cause).__name__}: {first_line(cause)}"
            raise InvalidParameter(
                f"a file of {folder} ({shown(content.get('group'))}) is not as it was exported: {what}"
            ) from cause
        unknown -= {verdict.id for verdict in found}
        verdicts += found
    if not verdicts:
        raise InvalidParameter(f"{folder} holds no vectors: write some with `dcgev vectors export`.")
    if unknown:
        raise InvalidParameter(f"{len(unknown)} answers have no vector, the first is {min(unknown)!r}.")
    return verdicts


def judge_one(content: Mapping[str, Any], vector: Mapping[str, Any], answers: Mapping[str, Any]) -> Judgement:
    """One answer by the equations of its level.

    By the equations of the level and not by comparison with `expected`: other right answers pass too.
    """
    name, group = vector["id"], content["group"]
    if name not in answers:
        return Judgement(name, group, "blocked", note="no answer was given")
    if vector["result"] == "invalid":
        return judged_refusal(name, group, answers[name], vector["comment"])
    case = instance_of(content["level"], vector)
    if content["returns"] == "bound":
        x, problem = number_of(answers[name])
    else:
        x, problem, _, _ = vector_of(answers[name], case.n)
    if x is None:
        return Judgement(name, group, "failed", "an answer", np.inf, 0.0, problem)
    allowed = vector["tolerance"]
    tol = Tolerances("vector", float(allowed["accuracy"]), "stored with the vector", gap=float(allowed["gap"]))
    miss = worst(case, x, Asked(tol))
    status = "passed" if miss.ratio <= 1.0 else "failed"
    return Judgement(name, group, status, miss.equation.name, miss.violation, miss.limit)


def judged_refusal(name: str, group: str, answer: Any, why: str) -> Judgement:
    """null or {"error": …} is the right answer to a question that has none."""
    refused = answer is None or (isinstance(answer, dict) and "error" in answer)
    return Judgement(name, group, "passed" if refused else "failed", "refusal", float(not refused), 0.0, why)


def instance_of(level: str, vector: Mapping[str, Any]) -> Instance:
    """The question of a stored vector.

    Lists become float64 arrays; whole numbers such as k stay what they are.
    """
    data = {k: np.array(v, dtype=np.float64) if isinstance(v, list) else v for k, v in vector["input"].items()}
    return question(level, vector["id"], tuple(vector["flags"]), data)


def read_vectors(folder: Path | str) -> list[dict[str, Any]]:
    """The vector files of a folder, their version checked."""
    where = Path(folder)
    if not where.is_dir():
        raise InvalidParameter(f"{folder} is not a folder of vectors.")
    return [
        checked_file(path)
        for path in sorted(where.glob("*.json"))
        if path.name not in ("schema.json", "answers.json")
    ]


def checked_file(path: Path) -> dict[str, Any]:
    """One vector file, or an error that names it."""
    content = read_json(path)
    if not isinstance(content, dict) or content.get("schema_version") != SCHEMA_VERSION:
        raise InvalidParameter(f"{path} is not a vector file of schema version {SCHEMA_VERSION}.")
    return content


def read_answers(path: Path | str) -> dict[str, Any]:
    """{id: answer} of an answer file {"schema_version": 1, "answers": {id: x or bound}}.

    Raises InvalidParameter when the file is no JSON, has another version, or holds no answers.
    """
    content = read_json(Path(path))
    if not isinstance(content, dict) or content.get("schema_version") != SCHEMA_VERSION:
        raise InvalidParameter(f'{path} must hold {{"schema_version": {SCHEMA_VERSION}, "answers": {{…}}}}.')
    answers = content.get("answers")
    if not isinstance(answers, dict) or not answers:
        raise InvalidParameter(f"{path} holds no answers: nothing can be judged.")
    return answers


def read_json(path: Path) -> Any:
    """The JSON in a file, or an error that names it."""
    try:
        return json.loads(path.read_text(encoding="utf-8-sig"), object_pairs_hook=once)
    except OSError as cause:
        raise InvalidParameter(f"{path} cannot be read: {cause.strerror or cause}") from cause
    except (ValueError, RecursionError) as cause:
        raise InvalidParameter(f"{path} is not JSON: {cause}") from cause


def once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object whose names occur once: of two answers to one question neither is the answer."""
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(name for name, count in Counter(name for name, _ in pairs).items() if count > 1)
        raise ValueError(f"{shown(twice)} occurs twice in one object")
    return found
