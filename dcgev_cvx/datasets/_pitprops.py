"""The pit props correlations of Jeffers (1967), 13 variables on 180 props of Corsican pine."""

from __future__ import annotations

import csv
from importlib.resources import files

import numpy as np

from ..pencils import Pencil


def pitprops() -> Pencil:
    """The benchmark of sparse PCA: a 13 × 13 correlation matrix with the variables' names.

    Only the correlations were published, not the 180 samples, so A is what there is: unit diagonal, tr A = 13, λmax
    = 4.2186. Its optimum is known for every k (`exact.best_subset`), which is why the examples of this package use
    it.

    Examples
    --------
    >>> from dcgev_cvx import datasets
    >>> pencil = datasets.pitprops()
    >>> pencil.n, pencil.names[:3], round(pencil.lambda_max, 4)
    (13, ('topdiam', 'length', 'moist'), 4.2186)
    """
    with (files("dcgev_cvx.datasets") / "pitprops.csv").open(encoding="utf-8") as handle:
        header, *rows = csv.reader(handle)
    A = np.array([[float(entry) for entry in row[1:]] for row in rows])
    return Pencil(A, names=tuple(header[1:]))
