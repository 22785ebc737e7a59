"""The page that runs the whole method in the browser computes what the package computes."""

import json
import shutil
import subprocess
from math import comb
from pathlib import Path

import numpy as np
import pytest

from dcgev_cvx import Pencil, dc_pca, exact, relaxations, sparse_gev

SCRIPT = Path(__file__).parent.parent / "docs" / "_static" / "sparse-eigen.js"


def run(code, data):
    """What an expression of the page's script gives for JSON data."""
    if shutil.which("node") is None:
        pytest.skip("NO NODE: the page's script cannot run here")
    text = f"const S = require({json.dumps(str(SCRIPT))}); const data = {json.dumps(data)};"
    done = subprocess.run(
        ["node", "-e", f"{text} console.log(JSON.stringify({code}))"], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def random_matrix(seed):
    """Positive semidefinite or indefinite, of any size that the page takes, in units from 1e-2 to 1e2."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 14))
    G = rng.standard_normal((n, n + 2))
    A = G @ G.T / n if seed % 3 else (G[:, :n] + G[:, :n].T) * 10.0 ** (seed % 5 - 2)
    return A, int(rng.integers(2, n))


def check(A, k, answer):
    """Vector and optimum to 1e-9; a valid bound within 1e-3 of the package's SDP; a tree that proves the optimum."""
    pencil = Pencil(A)
    scale = max(1.0, pencil.lambda_max)
    best = exact.best_subset(pencil, k)
    assert abs(answer["optimum"]["value"] - best.value) <= 1e-9 * scale
    x = np.array(answer["optimum"]["x"])
    assert abs(x @ A @ x - best.value) <= 1e-9 * scale
    assert answer["optimum"]["tried"] == comb(len(A), k)
    found = np.array(answer["found"]["x"])
    assert abs(answer["found"]["value"] - exact_value(A, answer["found"]["support"])) <= 1e-9 * scale
    assert abs(found @ A @ found - answer["found"]["value"]) <= 1e-9 * scale
    relaxed = relaxations.homogeneous_sdp(pencil, k).upper_bound
    assert best.value - 1e-12 * scale <= answer["bound"]["value"] <= relaxed + 1e-3 * scale
    assert answer["tree"]["complete"]
    assert answer["tree"]["proved"] <= best.value + 2e-9 * scale


def exact_value(A, support):
    return np.linalg.eigvalsh(A[np.ix_(support, support)])[-1]


def test_pit_props_with_four_nonzeros(pitprops):
    A = np.asarray(pitprops.A)
    check(A, 4, run("S.solve(data, 4)", A.tolist()))


@pytest.mark.slow
def test_pit_props_for_every_k(pitprops):
    A = np.asarray(pitprops.A)
    answers = run("[...Array(13).keys()].map((i) => S.solve(data, i + 1))", A.tolist())
    for k, answer in enumerate(answers, 1):
        check(A, k, answer)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_random_matrices(seed):
    A, k = random_matrix(seed)
    check(A, k, run("S.solve(data.A, data.k)", {"A": A.tolist(), "k": k}))


def test_the_run_at_a_given_rho_is_the_packages(pitprops):
    points = run("S.runAtRho(data, 4.84)", np.asarray(pitprops.A).tolist())
    history = dc_pca(pitprops, rho=4.84).history
    assert len(points) >= len(history) >= 100
    for mine, theirs in zip(points, history, strict=False):
        assert np.abs(np.array(mine["x"]) - theirs.x).max() <= 1e-9


def test_an_indefinite_matrix_is_shifted():
    A, _ = random_matrix(3)
    rho = 0.1 * float(np.abs(A).max())
    x = np.array(run("S.solve(data.A, 3, data.rho).points", {"A": A.tolist(), "rho": rho})[-1]["x"])
    theirs = sparse_gev(A, rho=rho, shift="metric", engine="native", accelerate=False).x
    assert np.abs(x * np.sign(x @ theirs) - theirs).max() <= 1e-6


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "The field is empty"),
        ("1 2\n3 4", "not symmetric: row 2, column 1 is 3, row 1, column 2 is 2"),
        ("1 0\n0 x", "Row 2 holds something that is not a finite number: 0 x"),
        ("1 0\n0 NaN", "Row 2 holds something that is not a finite number"),
        ("1 0\n0", "Row 2 has 1 numbers and there are 2 rows"),
        ("5", "at least two variables"),
        ("0 0\n0 0", "All entries are zero"),
        ("\n".join(" ".join("1" if i == j else "0" for j in range(14)) for i in range(14)), "14 columns; at most 13"),
    ],
)
def test_a_pasted_matrix_that_does_not_fit_gets_a_sentence(text, words):
    assert words in run("S.readMatrix(data).problem", text)


def test_a_pasted_matrix_may_have_commas_semicolons_and_blank_lines():
    assert run("S.readMatrix(data).A", "2, 1;\n\n1; 3\n") == [[2.0, 1.0], [1.0, 3.0]]
