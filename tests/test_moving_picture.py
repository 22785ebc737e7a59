"""The scripts of the site's moving pictures: the same f, g and argmin as the package, and correct level lines."""

import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from dcgev_cvx import Pencil, SparseGEV, iterate
from dcgev_cvx.steps.closed import soft_threshold_step

STATIC = Path(__file__).parent.parent / "docs" / "_static"
LINE, PLANE = [[1.0]], [[2.0, 0.8], [0.8, 1.2]]
RHOS, EPSILONS = (0.0, 0.5, 4.0), (1e-3, 0.1, 1.0, 7.0)


def run(script, data):
    """What a script for Node.js writes, given JSON data; the scripts of the site are loaded by `require`."""
    if shutil.which("node") is None:
        pytest.skip("NO NODE: the browser test of tests/test_site.py compares the same functions")
    loaded = "".join(f"const {name} = require({json.dumps(str(STATIC / file))});\n" for name, file in SCRIPTS.items())
    script = f"{loaded}const data = {json.dumps(data)};\n{script}"
    done = subprocess.run(["node", "-e", script], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


SCRIPTS = {"MM": "mm.js", "Contours": "contours.js"}
COMPUTE = """
data.map(({A, rho, eps, tau, points}) => {
  const p = MM.program(A, rho, eps, tau);
  return points.map((y) => ({f: p.f(y), argmin: p.argmin(y), g: points.map((x) => p.g(x, y))}));
})
"""


def cases():
    """Programs in one and two variables, with points of the unit ball that include 0 and the boundary."""
    rng = np.random.default_rng(0)
    for A, taus in ((LINE, (0.0, 3.0)), (PLANE, (0.0, 4.0)), ([[1.0, 0.7], [0.7, -2.0]], (3.0,))):
        points = rng.uniform(-1, 1, (12, len(A)))
        points = points / np.maximum(1.0, np.linalg.norm(points, axis=1))[:, None]
        points = np.vstack([points, np.eye(len(A)), np.zeros(len(A))])
        for tau in taus:
            for rho in RHOS:
                for eps in EPSILONS:
                    yield {"A": A, "rho": rho, "eps": eps, "tau": tau, "points": points.tolist()}


def test_the_script_computes_f_g_and_the_minimiser_of_the_package():
    given = list(cases())
    compare(given, run(f"console.log(JSON.stringify({COMPUTE}))", given))


def compare(given, found):
    """Compare the script's f, g and argmin with the package's."""
    for case, answers in zip(given, found, strict=True):
        program = SparseGEV(Pencil(np.array(case["A"])), case["rho"], case["eps"], case["tau"])
        points = np.array(case["points"])
        for y, answer in zip(points, answers, strict=True):
            assert abs(answer["f"] - program.f(y)) <= 1e-12
            np.testing.assert_allclose(answer["g"], [program.g(x, y) for x in points], rtol=1e-12, atol=1e-12)
            assert np.abs(answer["argmin"] - soft_threshold_step(program, y).x).max() <= 1e-12


def test_the_script_takes_the_steps_of_the_package():
    program = SparseGEV(Pencil(np.array(PLANE)), rho=0.6, eps=0.1, tau=4.0)
    script = "console.log(JSON.stringify(MM.program(data, 0.6, 0.1, 4).iterates([0.3, 0.35], 25)))"
    run_here = [
        point.x for point, _ in zip(iterate(program, soft_threshold_step, [0.3, 0.35]), range(26), strict=False)
    ]
    assert np.abs(np.array(run(script, PLANE)) - run_here).max() <= 1e-12


def test_level_lines_of_a_circle_are_closed_and_round():
    script = """
    const grid = Contours.sample(([a, b]) => a * a + b * b, 1, 81);
    console.log(JSON.stringify(Contours.lines(grid, 0.5)));
    """
    (line,) = run(script, None)
    assert line[0] == line[-1]
    assert np.abs(np.linalg.norm(line, axis=1) - np.sqrt(0.5)).max() < 1e-3


def test_levels_are_round_numbers_within_the_values():
    levels = run("console.log(JSON.stringify(Contours.roundLevels(data, 8, [0, 1])))", [-1.03, 0.2, 2.4])
    assert levels == pytest.approx([-1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0])
