"""The page that runs the whole method in the browser computes what the package computes."""

import re
import sys
from math import comb
from pathlib import Path

import numpy as np
import pytest
from browser import complaints, open_browser, outside_requests

from dcgev_cvx import Pencil, dc_pca, exact, relaxations, sparse_gev

DOCS = Path(__file__).parent.parent / "docs"
STATIC = DOCS / "_static"
SCRIPT = (STATIC / "sparse-eigen.js").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def browser():
    driver = open_browser()
    yield driver
    driver.quit()


@pytest.fixture
def run(browser):
    """What an expression of the page's script gives in Chromium for JSON data."""
    return lambda code, data: browser.execute_script(
        f"{SCRIPT}\nconst S = SparseEigen; const data = arguments[0];\nreturn ({code});", data
    )


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


def test_pit_props_with_four_nonzeros(run, pitprops):
    A = np.asarray(pitprops.A)
    check(A, 4, run("S.solve(data, 4)", A.tolist()))


def test_pit_props_for_every_k(run, pitprops):
    A = np.asarray(pitprops.A)
    answers = run("[...Array(13).keys()].map((i) => S.solve(data, i + 1))", A.tolist())
    for k, answer in enumerate(answers, 1):
        check(A, k, answer)


@pytest.mark.parametrize("seed", range(20))
def test_random_matrices(run, seed):
    A, k = random_matrix(seed)
    check(A, k, run("S.solve(data.A, data.k)", {"A": A.tolist(), "k": k}))


def test_the_run_at_a_given_rho_is_the_packages(run, pitprops):
    points = run("S.runAtRho(data, 4.84)", np.asarray(pitprops.A).tolist())
    history = dc_pca(pitprops, rho=4.84).history
    assert len(points) >= len(history) >= 100
    for mine, theirs in zip(points, history, strict=False):
        assert np.abs(np.array(mine["x"]) - theirs.x).max() <= 1e-9


def test_an_indefinite_matrix_is_shifted(run):
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
def test_a_pasted_matrix_that_does_not_fit_gets_a_sentence(run, text, words):
    assert words in run("S.readMatrix(data).problem", text)


def test_a_pasted_matrix_may_have_commas_semicolons_and_blank_lines(run):
    assert run("S.readMatrix(data).A", "2, 1;\n\n1; 3\n") == [[2.0, 1.0], [1.0, 3.0]]


@pytest.fixture
def page(browser, pitprops, tmp_path):
    """The part of the site's page that the scripts fill, alone in a file."""
    sys.path.insert(0, str(DOCS / "_tools"))
    moving = pytest.importorskip("moving")
    scripts = "".join(
        f'<script src="{(STATIC / name).as_uri()}"></script>' for name in ("sparse-eigen.js", "whole-method.js")
    )
    style = f'<link rel="stylesheet" href="{(STATIC / "whole-method.css").as_uri()}">'
    html = f'<!doctype html><meta charset="utf-8">{style}{moving.whole_method(pitprops, 6).data}{scripts}'
    (tmp_path / "page.html").write_text(html, encoding="utf-8")
    browser.get((tmp_path / "page.html").as_uri())
    return browser


def text_of(page, selector):
    return page.execute_script(f"return document.querySelector('{selector}').textContent")


def use_matrix(page, text):
    page.execute_script(
        "document.querySelector('textarea').value = arguments[0]; document.querySelector('details button').click()",
        text,
    )


def test_the_page_answers_in_words_and_asks_no_server(page):
    assert text_of(page, ".verdict").startswith("The best 6 of 13 variables: topdiam, length, ringbut")
    assert "57 nodes" in re.sub(r"\s+", " ", text_of(page, ".answer"))
    assert (complaints(page), outside_requests(page)) == ([], [])


def test_a_matrix_that_does_not_fit_gets_its_sentence_beside_the_field_and_the_answer_stays(page):
    before = text_of(page, ".verdict")
    use_matrix(page, "1 2\n3 4")
    assert "not symmetric" in text_of(page, "details .problem")
    assert text_of(page, ".verdict") == before
    use_matrix(page, "2 1\n1 3")
    assert text_of(page, "details .problem") == ""
    assert text_of(page, ".verdict").startswith("The best 2 of 2 variables: x1 and x2")


def test_no_word_of_the_pictures_leaves_its_picture(page):
    """On the interval the left-most mark is the d.c. vector's, whose name is long."""
    cut = page.execute_script(
        "return [...document.querySelectorAll('svg.interval text')].filter(text => {"
        " const box = text.getBBox(); return box.x < 0 || box.x + box.width > 720; }).map(t => t.textContent)"
    )
    assert cut == []
