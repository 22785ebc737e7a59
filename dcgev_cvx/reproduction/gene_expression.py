"""The gene expression data of Section 4.4.3, downloaded once from pinned addresses and checked by their sha256.

Nothing is downloaded on import. The first call of `colon` or `leukemia` downloads one file; later calls read the
cache, whose folder the environment variable DCGEV_DATA may name.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .._numerics.checks import Matrix, frozen
from .._numerics.extras import require
from ..errors import DataUnavailable


@dataclass(frozen=True)
class Source:
    """A file at one commit of a public repository, its hash, and the licence of the package that carries it."""

    path: str
    sha256: str
    licence: str

    @property
    def file(self) -> str:
        """The name of the file."""
        return self.path.rpartition("/")[2]

    @property
    def url(self) -> str:
        """The address of exactly this version of the file."""
        return f"https://raw.githubusercontent.com/{self.path}"


SOURCES: Mapping[str, Source] = {
    "colon": Source(
        path="cran/plsgenomics/8c770daf139b94f6dd073529a53863d6db902a98/data/Colon.rda",
        sha256="c0138c39df533b6a122133ec4fe9f63cbced94e7462990262da33f2836cc2e06",
        licence="GPL (>= 2), the licence of the R package plsgenomics that carries the data",
    ),
    "leukemia": Source(
        path="ramhiser/datamicroarray/a95f6f68ed3debf48ee54f198435fa12aa655b16/data/golub.RData",
        sha256="594f5507597fb2352d210c803a88a218fbf6d1f2705372029e5738815216747b",
        licence="MIT, the licence of the R package datamicroarray that carries the data",
    ),
}


@dataclass(frozen=True)
class Samples:
    """Raw expression values, samples × genes, with a class per sample, the genes' names, source and licence."""

    X: Matrix
    y: tuple[str, ...]
    names: tuple[str, ...]
    source: str
    licence: str


def colon() -> Samples:
    """Alon et al. (1999): 62 tissues, 22 normal and 40 tumor, 2000 genes.

    The paper's 44.96 % for the first principal component is that of standardised genes: pca_pencil(X, scale=True).
    """
    data = read(SOURCES["colon"])["Colon"]
    y = ["tumor" if label == 2 else "normal" for label in np.asarray(data["Y"])]
    return samples(SOURCES["colon"], data["X"], y, data["gene.names"])


def leukemia() -> Samples:
    """Golub et al. (1999): 72 patients, 47 ALL and 25 AML, 7129 genes.

    The paper's 87.64 % is the share of the first component of raw, uncentred values over all 72 patients:
    pca_pencil(X, center=False).
    """
    data = read(SOURCES["leukemia"])["golub"]
    return samples(SOURCES["leukemia"], data["x"], data["y"], data["x"].coords["dim_1"].values)


def samples(source: Source, X: Any, y: Any, names: Any) -> Samples:
    """The record, its matrix read-only."""
    matrix = frozen(np.array(X, dtype=np.float64, order="C"))
    return Samples(matrix, tuple(map(str, y)), tuple(map(str, names)), source.url, source.licence)


def read(source: Source) -> dict[str, Any]:
    """The R objects of a file, by name."""
    rdata, path = require("rdata", "reproduce"), located(source)
    try:
        return dict(rdata.read_rda(path, default_encoding="utf-8"))
    except Exception as cause:  # the parser raises many kinds
        raise DataUnavailable(f"{path} cannot be read as an R file: {cause}") from cause


def located(source: Source) -> Path:
    """The path of a file whose hash is right: from the cache, or downloaded into it.

    A damaged file is neither used nor replaced: it may be the user's only copy.
    """
    folder = os.environ.get("DCGEV_DATA") or require("pooch", "reproduce").os_cache("dcgev_cvx")
    path = Path(folder).expanduser() / source.file
    if not path.exists():
        return download(source, path)
    try:
        found = hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as cause:
        raise DataUnavailable(f"{path} cannot be read ({cause}): it must be the file {source.url}.") from cause
    if found != source.sha256:
        raise DataUnavailable(
            f"{path} is damaged or another version: its sha256 is {found}, expected {source.sha256}. "
            f"Delete it to download it again from {source.url}."
        )
    return path


def download(source: Source, path: Path) -> Path:
    """Download a file with pooch, which checks the hash; an error says where to put it by hand."""
    pooch = require("pooch", "reproduce")
    try:
        pooch.retrieve(source.url, known_hash=f"sha256:{source.sha256}", fname=path.name, path=path.parent)
    except Exception as cause:  # every transport has its own errors
        raise DataUnavailable(
            f"{source.file} is not in the cache and could not be downloaded ({type(cause).__name__}). "
            f"Download {source.url} and put it at {path}, or set DCGEV_DATA to the folder that holds {source.file}."
        ) from cause
    return path
