"""The gene expression data of Section 4.4.3, downloaded once from pinned addresses and checked by their sha256.

Nothing is downloaded on import. The first call of `colon` or `leukemia` downloads one file; later calls read the
cache, whose folder the environment variable DCGEV_DATA may name. The files are those of two R packages: Colon.rda of
plsgenomics (GPL, version 2 or later) and golub.RData of datamicroarray (MIT).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from .._numerics.checks import Matrix, frozen
from .._numerics.extras import require
from ..errors import DataUnavailable

SOURCES: Mapping[str, tuple[str, str]] = {
    "Colon.rda": (
        "https://raw.githubusercontent.com/cran/plsgenomics/8c770daf139b94f6dd073529a53863d6db902a98/data/Colon.rda",
        "c0138c39df533b6a122133ec4fe9f63cbced94e7462990262da33f2836cc2e06",
    ),
    "golub.RData": (
        "https://raw.githubusercontent.com/ramhiser/datamicroarray/a95f6f68ed3debf48ee54f198435fa12aa655b16/data/"
        "golub.RData",
        "594f5507597fb2352d210c803a88a218fbf6d1f2705372029e5738815216747b",
    ),
}
"""The address of one version of each file, and its sha256."""


def colon() -> Matrix:
    """Alon et al. (1999): raw expression values of 62 tissues × 2000 genes.

    The paper's 44.96 % for the first principal component is that of standardised genes: pca_pencil(X, scale=True).
    """
    return as_matrix(read("Colon.rda")["Colon"]["X"])


def leukemia() -> Matrix:
    """Golub et al. (1999): raw expression values of 72 patients × 7129 genes, the training set's 38 last.

    The paper's 87.64 % is the share of the first component of raw, uncentred values over all 72 patients:
    pca_pencil(X, center=False).
    """
    return as_matrix(read("golub.RData")["golub"]["x"])


def as_matrix(X: Any) -> Matrix:
    """A read-only matrix of an R table."""
    return frozen(np.array(X, dtype=np.float64, order="C"))


def read(file: str) -> dict[str, Any]:
    """The R objects of a file, by name."""
    rdata, path = require("rdata", "reproduce"), located(file)
    try:
        return dict(rdata.read_rda(path, default_encoding="utf-8"))
    except Exception as cause:  # the parser raises many kinds
        raise DataUnavailable(f"{path} cannot be read as an R file: {cause}") from cause


def located(file: str) -> Path:
    """The path of a file whose hash is right: from the cache, or downloaded into it."""
    pooch = require("pooch", "reproduce")
    folder = Path(os.environ.get("DCGEV_DATA") or pooch.os_cache("dcgev_cvx")).expanduser()
    url, sha256 = SOURCES[file]
    try:
        return Path(pooch.retrieve(url, known_hash=f"sha256:{sha256}", fname=file, path=folder))
    except Exception as cause:  # every transport has its own errors
        state = "is damaged" if (folder / file).exists() else "is missing"
        raise DataUnavailable(
            f"{folder / file} {state} and could not be downloaded ({type(cause).__name__}). Download {url} and put "
            f"it there, or set DCGEV_DATA to the folder that holds it; its sha256 must be {sha256}."
        ) from cause
