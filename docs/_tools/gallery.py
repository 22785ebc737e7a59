"""The gallery in four groups: a folder of copies of examples/, from which sphinx-gallery makes the pages."""

from __future__ import annotations

import shutil
from pathlib import Path

EXAMPLES = Path(__file__).parents[2] / "examples"
GROUPS = {
    "sparse_pca": ("Sparse PCA", "Vectors with few nonzeros that explain much of the variance."),
    "cca_fda": ("Sparse CCA and FDA", "Two views of the same samples, and classes to tell apart."),
    "bounds": ("Steps, bounds and proofs", "What a step computes, and how good an answer is."),
    "other": ("Other d.c. programs", "Programs that you write in CVXPY, or for the MM driver yourself."),
}
"""Folder → its heading and what it holds, in the order of the page."""
MEMBERS = {
    "cca_fda": (
        "cross_language_retrieval",
        "make_laws_corpus",
        "own_three_views",
        "sparse_cca_two_views",
        "sparse_fda_breast_cancer",
        "sparse_fda_by_hand",
    ),
    "bounds": ("absorbing_zeros", "four_steps", "invalid_data", "moving_majoriser", "overview"),
}
"""Scripts that are not sparse PCA; those whose name begins with dc_ or own_ are other d.c. programs."""


def group_of(name: str) -> str:
    """The folder that a script belongs to."""
    for folder, names in MEMBERS.items():
        if name in names:
            return folder
    return "other" if name.startswith(("dc_", "own_")) and name != "dc_sparse_pca" else "sparse_pca"


def build(target: Path) -> None:
    """Copy the scripts into the folders of their groups, and write the headings."""
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    (target / "GALLERY_HEADER.rst").write_text(heading("Gallery", "Scripts that ask a question and answer it.", "="))
    for folder, (title, holds) in GROUPS.items():
        (target / folder).mkdir()
        (target / folder / "GALLERY_HEADER.rst").write_text(heading(title, holds, "-"))
    for script in sorted(EXAMPLES.glob("*.py")):
        shutil.copy2(script, target / group_of(script.stem))


def heading(title: str, text: str, line: str) -> str:
    """A heading in reStructuredText with a sentence."""
    return f"{title}\n{line * len(title)}\n\n{text}\n"
