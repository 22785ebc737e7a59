"""The program that a CVXPY solver on trial runs in: it builds a model, solves it, and sends back plain numbers.

    python -P -m dcgev_cvx.verify.solver_program

The first line names the solver and its options. Every other line holds a model, its data, and the data of a problem
that is solved just before, whose parameters then change to the new ones.
"""

import inspect
import json
import re
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from time import perf_counter
from typing import Any

from ..errors import InvalidParameter
from .function_program import loaded, speak
from .levels import as_array

LICENCE = re.compile(r"licen[cs]e|size.limit|too large for|restricted", re.IGNORECASE)
"""What solvers say that are not licensed, or not for a problem of this size."""


def replies(requests: Any) -> Iterator[dict[str, Any]]:
    """The reply to each line: a greeting, then one result for each request."""
    hello = json.loads(requests.readline())
    try:
        solver = solver_of(hello["solver"])
    except InvalidParameter as cause:
        yield {"invalid": str(cause)}
        return
    yield {"type": "hello", "version": version_of(hello.get("package"))}
    for line in requests:
        asked = json.loads(line)
        yield {"id": asked["id"], **result(asked, solver, hello["options"])}


def solver_of(name: str) -> Any:
    """A name as it is; an object of CVXPY's interface for custom solvers where the name is MODULE:OBJECT."""
    if ":" not in name:
        return name
    found = loaded(name)
    found = found() if inspect.isclass(found) else found
    if not callable(getattr(found, "solve_via_data", None)):
        raise InvalidParameter(
            f"{name} is no solver of CVXPY's interface: it must be a subclass of ConicSolver or QpSolver, or an "
            "instance of one, with a method solve_via_data."
        )
    return found


def version_of(package: str | None) -> str:
    """The version of the solver's package."""
    try:
        return version(package) if package else ""
    except PackageNotFoundError:
        return ""


def result(asked: dict[str, Any], solver: Any, options: dict[str, Any]) -> dict[str, Any]:
    """What the solver said, the values of variables and multipliers, and the seconds of the last solve."""
    from .. import models

    build = getattr(models, asked["model"])
    data, before = ({k: as_array(v) for k, v in (asked[name] or {}).items()} for name in ("data", "before"))
    problem = build(**(before or data))
    try:
        problem.get_problem_data(solver=solver)
    except Exception as cause:  # whatever CVXPY raises here, no solver has been called
        unlicensed = LICENCE.search(str(cause)) is not None
        return {"failure": "not licensed" if unlicensed else "not supported", "said": said(cause)}
    try:
        if before:
            problem.solve(solver=solver, **options)
            new = {parameter.name(): parameter.value for parameter in build(**data).parameters()}
            for parameter in problem.parameters():
                parameter.value = new[parameter.name()]
        begin = perf_counter()
        problem.solve(solver=solver, warm_start=bool(before), **options)
        seconds = perf_counter() - begin
    except Exception as cause:  # a solver may raise anything
        unlicensed = LICENCE.search(f"{type(cause).__name__} {cause}") is not None
        return {"failure": "not licensed" if unlicensed else "failed", "said": said(cause)}
    return {
        "status": str(problem.status),
        "seconds": seconds,
        "variables": {variable.name(): flat(variable.value) for variable in problem.variables()},
        "duals": [flat(constraint.dual_value) for constraint in problem.constraints],
    }


def said(cause: BaseException) -> str:
    """An exception in one line."""
    return f"{type(cause).__name__}: {' '.join(str(cause).split())[:200]}"


def flat(value: Any) -> Any:
    """The numbers in order of rows; a NaN becomes null; None for what is no array of numbers."""
    import numpy as np

    try:
        numbers = np.ravel(np.asarray(value, dtype=np.float64)).tolist()
    except (TypeError, ValueError):
        return None
    return [v if np.isfinite(v) else None for v in numbers]


if __name__ == "__main__":
    speak(replies)
