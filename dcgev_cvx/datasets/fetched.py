"""Data that are downloaded when they are first used, from pinned addresses, and checked by their SHA-256.

Later calls read the cache, whose folder the environment variable DCGEV_DATA may name. The files are those of two R
packages: Colon.rda of plsgenomics (GPL, version 2 or later) and golub.RData of datamicroarray (MIT).
"""

import os
from pathlib import Path

import numpy as np

from .._numerics.checks import Matrix
from .._numerics.extras import require
from ..errors import DataUnavailable

SOURCES = {
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
"""The address of one version of each file, and its SHA-256."""


def colon() -> Matrix:
    """Expression values of Alon et al. (1999): 62 tissues × 2000 genes, raw.

    The paper's 44.96 % for the first principal component is that of standardised genes: pca_pencil(X, scale=True).

    Returns
    -------
    array of shape (62, 2000)
        The values, one row per tissue.

    Raises
    ------
    DataUnavailable
        When the file is not in the cache and cannot be downloaded; the message says where to put it.
    MissingPackage
        Without pooch, which downloads, or rdata, which reads the file.

    Examples
    --------
    >>> from dcgev_cvx import datasets
    >>> datasets.colon().shape  # doctest: +SKIP
    (62, 2000)
    """
    return r_table("Colon.rda", "Colon", "X")


def leukemia() -> Matrix:
    """Expression values of Golub et al. (1999): 72 patients × 7129 genes, raw, the training set's 38 last.

    The paper's 87.64 % is the share of the first component of raw, uncentred values over all 72 patients:
    pca_pencil(X, center=False).

    Returns
    -------
    array of shape (72, 7129)
        The values, one row per patient.

    Raises
    ------
    DataUnavailable
        When the file is not in the cache and cannot be downloaded; the message says where to put it.
    MissingPackage
        Without pooch, which downloads, or rdata, which reads the file.

    Examples
    --------
    >>> from dcgev_cvx import datasets
    >>> datasets.leukemia().shape  # doctest: +SKIP
    (72, 7129)
    """
    return r_table("golub.RData", "golub", "x")


def r_table(file: str, name: str, part: str) -> Matrix:
    """One table of an R object in a file."""
    rdata, path = require("rdata", "data"), fetched_file(file, *SOURCES[file])
    try:
        return np.array(rdata.read_rda(path, default_encoding="utf-8")[name][part], dtype=np.float64, order="C")
    except Exception as cause:  # the parser raises many kinds
        raise DataUnavailable(f"{path} cannot be read as an R file: {cause}") from cause


def fetched_file(file: str, url: str, sha256: str) -> Path:
    """The path of a file whose hash is right: from the cache, or downloaded into it."""
    pooch, folder = require("pooch", "data"), cache_folder()
    try:
        return Path(pooch.retrieve(url, known_hash=f"sha256:{sha256}", fname=file, path=folder))
    except Exception as cause:  # every transport has its own errors
        state = "is damaged" if (folder / file).exists() else "is missing"
        raise DataUnavailable(
            f"{folder / file} {state} and could not be downloaded ({type(cause).__name__}). Download {url} and put "
            f"it there, or set DCGEV_DATA to the folder that holds it; its sha256 must be {sha256}."
        ) from cause


def cache_folder() -> Path:
    """The folder of downloaded files: that of DCGEV_DATA, or the one that the system has for such files."""
    return Path(os.environ.get("DCGEV_DATA") or require("pooch", "data").os_cache("dcgev_cvx")).expanduser()
