"""Every example runs, is short, asks a question, answers it, and draws a picture."""

from __future__ import annotations

import ast
import runpy
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

FOLDER = Path(__file__).parent.parent / "examples"
EXAMPLES = [*sorted(FOLDER.glob("*.py")), *sorted(FOLDER.glob("verify_python/*.py"))]
STORIES = [path for path in EXAMPLES if path.parent == FOLDER and not path.stem.startswith(("dc_", "own_"))]
STORIES = [path for path in STORIES if not path.stem.endswith("_by_hand")]
"""The scripts on the paper's problem; those by hand and for other programs are shorter."""

SHOWS = {
    "choose_k": "the sparsest within one standard error: k = 6",
    "dc_boolean_least_squares": "noise 1.0: wrong bits 12 rounded, 0 by MM",
    "dc_circle_packing": "d-stationary, f has no direction of descent",
    "dc_clipped_regression": "from least absolute values: x = [0.984 0.813]",
    "dc_collision_avoidance": "least distance 0.8000",
    "dc_max_cut": "d.c. program: median",
    "dc_phase_retrieval": "converged",
    "dc_sparse_pca": "radius √4: variance 3.0172 of 13, 5 nonzeros, converged",
    "dc_two_way_partitioning": "best of all splits -66.322, of ours -66.322",
    "invalid_data": "columns 'weight' and 'twin' are the same up to scale",
    "own_clipped_regression": "x = [ 2.003 -0.988  0.493  0.004]",
    "own_group_penalty": "groups: [2 5]",
    "own_three_views": "9 nonzeros: x1, x2, x3, x21, x22, x23, x41, x42, x43",
    "pitprops_components": "orthogonalized-hotelling  projector trace 77.05%",
    "speigh": "of cases it supports",
    "sparse_cca_two_views": "ridge  2.0: 10 of 10 right",
    "sparse_fda_breast_cancer": "k =  3  accuracy 0.961",
    "wide_data": "50 nonzeros, 50 of 50 planted",
}
"""A line of each example's output, so that it is known to show what it promises."""


@pytest.mark.parametrize("path", STORIES, ids=lambda path: path.stem)
def test_the_example_is_short_and_tells_a_story(path):
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 80
    _, *blocks = text.split("\n# %%\n")
    assert "**Question.**" in ast.get_docstring(ast.parse(text))
    assert len(blocks) >= 3
    assert all(block.startswith("# ") for block in blocks)
    assert blocks[-1].startswith("# **Conclusion.**")


@pytest.mark.slow
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_example_runs(path, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(path), run_name="__main__")
    plt.close("all")
    out = capsys.readouterr().out
    assert SHOWS.get(path.stem, "\n") in out
    assert path not in STORIES or [file for file in tmp_path.iterdir() if file.suffix in (".png", ".gif")]


def test_nothing_is_promised_that_is_not_there():
    assert set(SHOWS) <= {path.stem for path in EXAMPLES}
