"""The gene expression data of Section 4.4.3, fetched once from pinned addresses and checked by their sha256.

Nothing is downloaded on import. The first call of `colon` or `leukemia` fetches one file; later ones
read the cache, whose folder DCGEV_DATA may name. A file is used only if its sha256 is the recorded one, so
that results refer to one version of the data for good.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from .._numerics.checks import Matrix, as_real, frozen
from ..errors import DataUnavailable, InvalidParameter

FOLDER_VARIABLE = "DCGEV_DATA"
"""The environment variable that names the cache folder."""


@dataclass(frozen=True)
class Source:
    """A file at one commit of a public repository, with its hash and the terms of the package that carries it.

    commit pins the version: a branch may move, a commit cannot.
    """

    file: str
    repository: str
    commit: str
    path: str
    sha256: str
    licence: str

    @property
    def url(self) -> str:
        """The address of exactly this version of the file.

        Pinned to the commit, so that the address cannot come to mean another file.
        """
        return f"https://raw.githubusercontent.com/{self.repository}/{self.commit}/{self.path}"


SOURCES: Mapping[str, Source] = MappingProxyType(
    {
        "colon": Source(
            file="Colon.rda",
            repository="cran/plsgenomics",
            commit="8c770daf139b94f6dd073529a53863d6db902a98",
            path="data/Colon.rda",
            sha256="c0138c39df533b6a122133ec4fe9f63cbced94e7462990262da33f2836cc2e06",
            licence="GPL (>= 2), the licence of the R package plsgenomics that carries the data",
        ),
        "leukemia": Source(
            file="golub.RData",
            repository="ramhiser/datamicroarray",
            commit="a95f6f68ed3debf48ee54f198435fa12aa655b16",
            path="data/golub.RData",
            sha256="594f5507597fb2352d210c803a88a218fbf6d1f2705372029e5738815216747b",
            licence="MIT, the licence of the R package datamicroarray that carries the data",
        ),
    }
)


@dataclass(frozen=True)
class Samples:
    """Samples × variables with a class per sample, the variables' names, where they come from and on what terms.

    X holds raw expression values, read-only; centring and scaling are left to `pca_pencil`, since the paper's
    figures depend on which is done.
    """

    X: Matrix
    y: tuple[str, ...]
    names: tuple[str, ...]
    source: str
    licence: str


def colon() -> Samples:
    """Alon et al. (1999): 62 tissues, 22 normal and 40 tumor, 2000 genes, raw expression values.

    The paper's 44.96 % for the first principal component is that of standardised genes: pca_pencil(X, scale=True).
    """
    source = SOURCES["colon"]
    data = read(source)["Colon"]
    y = tuple("tumor" if label == 2 else "normal" for label in np.asarray(data["Y"]))
    return samples(source, data["X"], y, data["gene.names"])


def leukemia() -> Samples:
    """Golub et al. (1999): 72 patients, 47 ALL and 25 AML, 7129 genes, raw expression values.

    The paper's 87.64 % is the share of the first component of raw, uncentred values over all 72 patients:
    pca_pencil(X, center=False).
    """
    source = SOURCES["leukemia"]
    data = read(source)["golub"]
    y = tuple(str(label) for label in data["y"])
    return samples(source, data["x"], y, data["x"].coords["dim_1"].values)


def samples(source: Source, X: Any, y: tuple[str, ...], names: Any) -> Samples:
    """The record, with X checked like any other matrix.

    Raises InvalidParameter if the file held anything but finite numbers, which the hash rules out.
    """
    matrix = frozen(as_real(np.asarray(X), source.file, InvalidParameter))
    return Samples(matrix, y, tuple(str(name) for name in names), source.url, source.licence)


def read(source: Source) -> dict[str, Any]:
    """The R objects of a file, by name.

    Raises DataUnavailable when the file cannot be parsed; the parser's own errors are many.
    """
    import rdata

    path = located(source)
    try:
        return dict(rdata.read_rda(path, default_encoding="utf-8"))
    except Exception as cause:
        raise DataUnavailable(f"{path} could not be read as an R file: {cause}") from cause


def cache_folder() -> Path:
    """DCGEV_DATA if it is set, else the platform's cache folder for this package.

    Read at each call, so that a test or a user may set the variable at any time. Raises DataUnavailable for the home
    of a user who has none.
    """
    import pooch

    folder = os.environ.get(FOLDER_VARIABLE) or pooch.os_cache("dcgev_cvx")
    try:
        return Path(folder).expanduser()
    except RuntimeError as cause:
        raise DataUnavailable(f"the home in {folder} is not known: set {FOLDER_VARIABLE} to a folder.") from cause


def located(source: Source) -> Path:
    """The path of a file whose hash is right: from the cache, or fetched into it.

    An existing file is verified at every use: it is read anyway.
    """
    path = cache_folder() / source.file
    if path.exists():
        return verified(path, source)
    return downloaded(source, path)


def verified(path: Path, source: Source) -> Path:
    """The path if its content has the recorded hash; a damaged file is never used and never replaced unasked.

    Raises DataUnavailable with both hashes, and leaves the file where it is: it may be somebody's only copy.
    """
    try:
        found = hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as cause:
        raise DataUnavailable(f"{path} cannot be read: {cause}") from cause
    if found != source.sha256:
        raise DataUnavailable(
            f"{path} is damaged or another version: its sha256 is {found}, expected {source.sha256}. "
            f"Delete it to have it fetched again from {source.url}."
        )
    return path


def downloaded(source: Source, path: Path) -> Path:
    """Fetch the file with pooch, which checks the hash; without a network say which file to put where.

    Raises DataUnavailable with the address and the path at which to put the file by hand.
    """
    import pooch

    try:
        pooch.retrieve(source.url, known_hash=f"sha256:{source.sha256}", fname=path.name, path=path.parent)
    except Exception as cause:  # every transport has errors of its own
        raise DataUnavailable(
            f"{source.file} is not in the cache and could not be fetched ({type(cause).__name__}). "
            f"Download {source.url} and put it at {path}, "
            f"or set {FOLDER_VARIABLE} to the folder that holds {source.file}."
        ) from cause
    return path
