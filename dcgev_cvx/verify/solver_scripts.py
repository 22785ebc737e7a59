"""A wrong answer as a script for the solver's author, with CVXPY and NumPy alone: the data, the proof, the verdict."""

import platform
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from .._numerics.text_tables import printable
from .counterexamples import matrix_as_code
from .levels import plain
from .model_cases import ModelCase
from .solver_trial import PACKAGES, Row, allowed

FINDINGS = ("wrong", "duals wrong", "failed", "crashed", "timed out")
"""Outcomes that get a script."""
SHRUNK, SEMIDEFINITE = "r, c = np.triu_indices(n, 1)", "X = cp.Variable((n, n), symmetric=True)"
MODULI = "2 * cp.sum(cp.abs(X[r, c]))"
BALL, SQUARE = "cp.quad_form(x, B, assume_PSD=True)", "cp.sum_squares(x)"
MODELS: Mapping[str, tuple[str, str]] = {
    "qcqp": ("x, t = cp.Variable(n), cp.Variable(n)",
             "cp.Minimize(tau * cp.sum_squares(x) - 2 * c @ x + p @ t), [{B} <= 1, -t <= x, x <= t]"),
    "lasso": ("x = cp.Variable(n)", "cp.Minimize(tau * cp.sum_squares(x) - 2 * c @ x + p @ cp.abs(x)), [{B} <= 1]"),
    "linear": ("x = cp.Variable(n)", "cp.Maximize(c @ x - 0.5 * p @ cp.abs(x)), [{B} <= 1]"),
    "metric_lasso": ("x = cp.Variable(n)", "cp.Minimize({B} - 2 * c @ x + p @ cp.abs(x)), []"),
    "fisher_step": ("x = cp.Variable(n)", "cp.Minimize({B} + p @ cp.abs(x)), [a @ x == 1]"),
    "fisher_l1": ("x = cp.Variable(n)", "cp.Minimize({B}), [a @ x == 1, cp.norm1(x) <= radius]"),
    "fisher_l1_penalized": ("x = cp.Variable(n)", "cp.Minimize({B} + nu * cp.norm1(x)), [a @ x == 1]"),
    "literal_sdp": (f"{SEMIDEFINITE}\nx = cp.Variable((n, 1))",
                    "cp.Maximize({A}), [cp.bmat([[X, x], [x.T, np.ones((1, 1))]]) >> 0, {tr} <= 1, "
                    "cp.sum(cp.abs(x)) <= radius]"),
    "literal_dual": ("r, t = cp.Variable((n, 1)), cp.Variable((1, 1))\n"
                     "beta, mu = cp.Variable(nonneg=True), cp.Variable(nonneg=True)",
                     "cp.Minimize(t[0, 0] + radius * beta + mu), "
                     "[cp.bmat([[mu * B - A, -r / 2], [-r.T / 2, t]]) >> 0, cp.abs(r) <= beta]"),
    "entrywise_sdp": (f"{SEMIDEFINITE}\n{SHRUNK}",
                      f"cp.Maximize({{A}}), [X >> 0, {{tr}} <= 1, {MODULI} + cp.trace(X) <= square]"),
    "homogeneous_sdp": (f"{SEMIDEFINITE}\n{SHRUNK}",
                        f"cp.Maximize({{A}}), [X >> 0, {{tr}} == 1, {MODULI} + cp.trace(X) <= k * cp.trace(X)]"),
    "pairwise_sdp": (f"{SEMIDEFINITE}\nY = cp.Variable((n, n), nonneg=True)\n{SHRUNK}\n"
                     "d = cp.reshape(cp.diag(X), (n,), order='F')",
                     "cp.Maximize({A}), [X >> 0, {tr} == 1, cp.SOC(Y[r, c] + Y[c, r], "
                     "cp.vstack([2 * X[r, c], Y[r, c] - Y[c, r]])), Y <= cp.outer(d, np.ones(n)), "
                     "cp.sum(Y, axis=1) - cp.reshape(cp.diag(Y), (n,), order='F') <= (k - 1) * d]"),
    "dspca": (f"{SEMIDEFINITE}\n{SHRUNK}",
              f"cp.Maximize({{A}} - rho * ({MODULI} + cp.trace(X))), [X >> 0, {{tr}} <= 1]"),
}  # fmt: skip
"""The variables, and the problem, of each model."""
CHECK = """
value = float(np.ravel(problem.objective.value)[0]) if problem.objective.value is not None else np.nan
errors = [max(0.0, {low} - value, value - {high}) / {size}]
for constraint in problem.constraints:
    violation = float(np.max(constraint.violation())) if np.isfinite(value) else np.inf
    errors.append(violation / (1 + max(float(np.max(np.abs(part.value))) for part in constraint.args)))
error = max(errors)
print(problem.status, "value", value, "error", error)
wrong = not problem.status.startswith("optimal") or (problem.status == "optimal" and not error <= {limit})
"""
NO_OPTIMUM = """
print(problem.status, "value", problem.value)
wrong = not problem.status.startswith(({status!r}, "infeasible_or_unbounded"))
"""


def script(case: ModelCase, row: Row, options: Mapping[str, Any], tol: float, versions: Mapping[str, str]) -> str:
    """The script: exit code 1 if the answer is wrong, an exception or a signal where the solver ends so, 0 if right."""
    expected = f"between {case.low:.12g} and {case.high:.12g}" if case.status == "optimal" else case.status
    head = [f"{row.solver}: {row.outcome} on {case.model}, {case.where}",
            "", f"expected  {expected}", f"because   {case.proof}", f"said      {printable(row.said)}",
            f"which is  {printable(row.what or row.outcome)}",
            f"versions  {', '.join(f'{name} {number}' for name, number in versions.items())}"]  # fmt: skip
    name = row.solver
    module, _, thing = name.rpartition(":")
    own = [f"from {module} import {thing} as solver", "solver = solver() if isinstance(solver, type) else solver"]
    solver = own if module else [f"solver = {name!r}"]
    given = "".join(f", {key}={value!r}" for key, value in options.items())
    first = case.data if case.after is None else case.after
    lines = ['"""' + "\n".join(head).replace("\\", "\\\\") + '\n"""', "", "import cvxpy as cp", "import numpy as np",
             "", *solver, *data_lines(case, first), *problem_lines(case)]  # fmt: skip
    if case.after is not None:
        squared = case.model == "entrywise_sdp"
        changes = (
            f"square.value = {code(case.data[key])}**2" if squared else f"{key}.value = {code(case.data[key])}"
            for key in parameters(case)
        )
        lines += [f"problem.solve(solver=solver{given})", *changes]
    lines.append(f"problem.solve(solver=solver, warm_start={case.after is not None}{given})")
    facts = {"low": case.low, "high": case.high, "size": case.size, "limit": allowed(case.n, tol)}
    check = CHECK.format(**facts) if case.status == "optimal" else NO_OPTIMUM.format(status=case.status)
    return "\n".join(
        [*lines, check.strip("\n"), 'print("WRONG" if wrong else "right")', "raise SystemExit(int(wrong))", ""]
    )


def parameters(case: ModelCase) -> tuple[str, ...]:
    """The arguments that are parameters of the model."""
    names = ("c", "p", "radius", "nu", "rho") if case.model != "homogeneous_sdp" else ("k",)
    return tuple(name for name in names if name in case.data)


def data_lines(case: ModelCase, data: Mapping[str, Any]) -> Iterable[str]:
    """The data as code, parameters as parameters."""
    yield f"n = {case.n}"
    for name, value in data.items():
        if name == "radius" and case.model == "entrywise_sdp":
            yield f"square = cp.Parameter(value={code(value)}**2, nonneg=True)"
        elif name in parameters(case):
            shape = f"{case.n}, " if np.ndim(value) else ""
            yield f"{name} = cp.Parameter({shape}value={code(value)}{'' if name == 'c' else ', nonneg=True'})"
        else:
            yield f"{name} = {f'np.eye({case.n})' if value is None else code(value)}"


def problem_lines(case: ModelCase) -> Iterable[str]:
    """The variables and the problem; the entrywise SDP has the square of the radius as its parameter."""
    variables, problem = MODELS[case.model]
    words = {"B": SQUARE if case.data.get("B", 0) is None else BALL, "A": "cp.sum(cp.multiply(A, X))",
             "tr": "cp.trace(X)" if case.data.get("B", 0) is None else "cp.sum(cp.multiply(B, X))"}  # fmt: skip
    text = problem.format(**words)
    if case.model in ("qcqp",) and not case.data["tau"]:
        text = text.replace("tau * cp.sum_squares(x) - 2", "-2")
    if case.n == 1:  # no pairs
        text = re.sub(r"cp\.SOC\(.*?\]\)\), ", "", text)
    yield variables
    yield f"problem = cp.Problem({text})"


def code(value: Any) -> str:
    """A number or an array as code."""
    return matrix_as_code(value) if isinstance(value, np.ndarray) else repr(plain(value))


def versions_of(solver: str) -> dict[str, str]:
    """The solver's, CVXPY's, NumPy's and Python's version, and the system."""
    packages = {name: PACKAGES[name] for name in (solver,) if name in PACKAGES} | {"CVXPY": "cvxpy", "NumPy": "numpy"}
    found = {name: version(package) for name, package in packages.items()}
    return found | {"Python": platform.python_version(), platform.system(): platform.machine()}


def smallest(found: Sequence[tuple[ModelCase, Row]]) -> list[tuple[ModelCase, Row]]:
    """Of the findings of each solver, model and outcome the one with the fewest variables, plain problems first."""
    best: dict[tuple[str, str, str], tuple[ModelCase, Row]] = {}
    for case, row in found:
        key = (row.solver, row.model, row.outcome)
        old = best.get(key)
        rank = (case.n, bool(case.variant))
        if row.outcome in FINDINGS and (old is None or rank < (old[0].n, bool(old[0].variant))):
            best[key] = case, row
    return list(best.values())


def write_scripts(
    folder: Path, found: Sequence[tuple[ModelCase, Row]], options: Mapping[str, Any], tol: float
) -> list[dict[str, str]]:
    """Write a script for the smallest case of each kind of finding and run it: is it confirmed by the script alone?"""
    made: list[dict[str, str]] = []
    for case, row in smallest(found):
        name = f"{row.solver.replace(':', '-').replace('.', '-')}_{row.model}_{row.outcome.replace(' ', '_')}.py"
        (folder / name).write_text(script(case, row, options, tol, versions_of(row.solver)), encoding="utf-8")
        verdict = "shown by the trial alone" if row.outcome == "duals wrong" else confirmed(folder / name)
        about = {"solver": row.solver, "model": row.model, "outcome": row.outcome, "problem": case.where}
        made.append({**about, "said": row.said, "what": row.what, "script": name, "alone": verdict})
    return made


def confirmed(file: Path, seconds: float = 60.0) -> str:
    """What a script in a process of its own shows: the same finding, or a right answer."""
    try:
        done = subprocess.run([sys.executable, file.name], cwd=file.parent, capture_output=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        return f"confirmed: no end within {seconds:g} s"
    if done.returncode == 0:
        return "not repeated by the script alone"
    ended = f"signal {-done.returncode}" if done.returncode < 0 else "exit code 1"
    return f"confirmed: {ended}"
