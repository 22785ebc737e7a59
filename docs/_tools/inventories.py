"""Links to the documentation of other projects, also in builds without a network."""

from __future__ import annotations

import zlib
from pathlib import Path

INVENTORIES = {
    "python": (
        "https://docs.python.org/3/",
        "int py:class library/functions.html",
        "float py:class library/functions.html",
        "bool py:class library/functions.html",
        "str py:class library/stdtypes.html",
        "tuple py:class library/stdtypes.html",
        "list py:class library/stdtypes.html",
        "dict py:class library/stdtypes.html",
        "callable py:function library/functions.html",
        "iterable std:term glossary.html#term-iterable",
        "sequence std:term glossary.html#term-sequence",
        "generator std:term glossary.html#term-generator",
        "None py:data library/constants.html",
        "True py:data library/constants.html",
        "False py:data library/constants.html",
        "ValueError py:exception library/exceptions.html",
        "collections.abc.Callable py:class library/collections.abc.html",
        "collections.abc.Sequence py:class library/collections.abc.html",
    ),
    "numpy": (
        "https://numpy.org/doc/stable/",
        "array_like std:term glossary.html#term-array_like",
        "arrays.scalars std:label reference/arrays.scalars.html#arrays-scalars",
        "numpy.ndarray py:class reference/generated/numpy.ndarray.html",
        "numpy.random.Generator py:class reference/random/generator.html",
    ),
    "scipy": (
        "https://docs.scipy.org/doc/scipy/",
        "scipy.linalg.eigh py:function reference/generated/scipy.linalg.eigh.html",
        "scipy.sparse.linalg.LinearOperator py:class reference/generated/scipy.sparse.linalg.LinearOperator.html",
    ),
    "cvxpy": (
        "https://www.cvxpy.org/",
        "cvxpy.Problem py:class api_reference/cvxpy.problems.html",
        "cvxpy.problems.problem.Problem py:class api_reference/cvxpy.problems.html#cvxpy.Problem",
        "cvxpy.Minimize py:class api_reference/cvxpy.problems.html",
        "cvxpy.Maximize py:class api_reference/cvxpy.problems.html",
    ),
    "sklearn": (
        "https://scikit-learn.org/stable/",
        "meta-estimator std:term glossary.html#term-meta-estimator",
        "metadata_routing std:label metadata_routing.html#metadata-routing",
        "sklearn.base.BaseEstimator py:class modules/generated/sklearn.base.BaseEstimator.html",
        "sklearn.model_selection.GridSearchCV py:class modules/generated/sklearn.model_selection.GridSearchCV.html",
        "sklearn.pipeline.Pipeline py:class modules/generated/sklearn.pipeline.Pipeline.html",
    ),
    "matplotlib": (
        "https://matplotlib.org/stable/",
        "matplotlib.axes.Axes py:class api/_as_gen/matplotlib.axes.Axes.html",
    ),
}
"""The objects of other projects that our pages link to; used where their full inventories cannot be downloaded."""


def intersphinx_mapping(folder: Path) -> dict[str, tuple[str, tuple[str | None, str]]]:
    """Each project's address, its own inventory, and a small local one for builds without a network."""
    folder.mkdir(parents=True, exist_ok=True)
    mapping: dict[str, tuple[str, tuple[str | None, str]]] = {}
    for project, (address, *objects) in INVENTORIES.items():
        head = f"# Sphinx inventory version 2\n# Project: {project}\n# Version: \n# zlib compressed objects follow\n"
        rows = "".join(
            f"{name} {role} 1 {page if '#' in page else f'{page}#$'} -\n"
            for name, role, page in map(str.split, objects)
        )
        (folder / f"{project}.inv").write_bytes(head.encode() + zlib.compress(rows.encode()))
        mapping[project] = (address, (None, str(folder / f"{project}.inv")))
    return mapping
