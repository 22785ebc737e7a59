"""The pit props correlations of Jeffers (1967), 13 variables on 180 props of Corsican pine."""

from __future__ import annotations

import csv
from importlib.resources import files

import numpy as np

from ..pencils import Pencil


def pitprops() -> Pencil:
    """The benchmark of sparse PCA: a 13 × 13 correlation matrix with the variables' names."""
    with (files("dcgev_cvx.datasets") / "pitprops.csv").open(encoding="utf-8") as handle:
        header, *rows = csv.reader(handle)
    A = np.array([[float(entry) for entry in row[1:]] for row in rows])
    return Pencil(A, names=tuple(header[1:]))
