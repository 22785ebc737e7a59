"""A disk that fills up, and a small corpus with its views and sparse components."""

import pytest

from dcgev_cvx._numerics import output_files
from dcgev_cvx.reproduction.corpora import planted_translations
from dcgev_cvx.reproduction.retrieval import kernel_views, sparse_cca


@pytest.fixture
def full_disk_after(monkeypatch):
    """Let the disk be full after a number of files; None frees it again."""
    real = output_files.os.fsync

    def fill(files):
        room = iter([True] * files + [False]) if files is not None else None

        def fsync(descriptor):
            if room is not None and not next(room):
                raise OSError(28, "No space left on device")
            real(descriptor)

        monkeypatch.setattr(output_files.os, "fsync", fsync)

    return fill


@pytest.fixture(scope="package")
def corpus():
    return planted_translations(documents=240, rng=0)


@pytest.fixture(scope="package")
def halves(corpus):
    return corpus.split(160, 80, seed=1)


@pytest.fixture(scope="package")
def views(halves):
    return kernel_views(halves[0])


@pytest.fixture(scope="package")
def components(views):
    return sparse_cca(*views, 8, zeros=0.85)
