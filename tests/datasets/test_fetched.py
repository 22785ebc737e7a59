"""Downloaded data: a cache filled by hand, a damaged file, no network, a missing package."""

import hashlib
import re
import sys
from pathlib import Path

import numpy as np
import pytest
import rdata

from dcgev_cvx.datasets import colon, fetched, leukemia
from dcgev_cvx.errors import DataUnavailable, DCGEVError, MissingPackage


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("DCGEV_DATA", str(tmp_path))
    return tmp_path


def pin(monkeypatch, path):
    """Let the registry expect the hash of a small file made here."""
    url, _ = fetched.SOURCES[path.name]
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    monkeypatch.setattr(fetched, "SOURCES", {**fetched.SOURCES, path.name: (url, sha256)})


@pytest.fixture
def offline(monkeypatch):
    """No download succeeds."""

    def refuse(self, url, *_):
        raise ConnectionError("no route to host")

    monkeypatch.setattr("pooch.HTTPDownloader.__call__", refuse)


@pytest.fixture
def small_colon(cache, monkeypatch):
    path = cache / "Colon.rda"
    content = {
        "X": np.arange(6.0).reshape(2, 3),
        "Y": np.array([1.0, 2.0]),
        "gene.names": np.array(["a", "b", "c"], dtype=str),
    }
    rdata.write_rda(path, {"Colon": content})
    pin(monkeypatch, path)
    return path


def test_pinned_sources_are_exact_versions():
    for file, (url, sha256) in fetched.SOURCES.items():
        assert re.fullmatch(r"https://raw\.githubusercontent\.com/[\w-]+/\w+/[0-9a-f]{40}/data/[\w.]+", url)
        assert url.endswith(f"/{file}")
        assert len(sha256) == 64


@pytest.mark.usefixtures("small_colon", "offline")
def test_a_cache_filled_by_hand_is_read_without_a_network():
    np.testing.assert_array_equal(colon(), np.arange(6.0).reshape(2, 3))


def test_leukemia_is_the_table_x(cache, monkeypatch):
    path = cache / "golub.RData"
    path.write_bytes(b"stand-in")
    pin(monkeypatch, path)
    monkeypatch.setattr(rdata, "read_rda", lambda *_, **__: {"golub": {"x": [[1, 2], [3, 4]], "y": ["ALL", "AML"]}})
    assert leukemia().tolist() == [[1.0, 2.0], [3.0, 4.0]]


@pytest.mark.usefixtures("offline")
def test_a_damaged_file_is_refused_with_its_hash_and_a_remedy(small_colon):
    content = small_colon.read_bytes()[:-3]
    small_colon.write_bytes(content)
    with pytest.raises(DataUnavailable, match=r"Colon\.rda is damaged and could not be downloaded") as caught:
        colon()
    assert fetched.SOURCES["Colon.rda"][1] in str(caught.value)
    assert small_colon.read_bytes() == content  # it may be the user's only copy


@pytest.mark.usefixtures("offline")
def test_offline_without_a_cache_says_which_file_to_put_where(cache):
    with pytest.raises(DataUnavailable, match=r"Colon\.rda is missing and could not be downloaded") as caught:
        colon()
    text = str(caught.value)
    assert str(cache / "Colon.rda") in text
    assert fetched.SOURCES["Colon.rda"][0] in text
    assert "DCGEV_DATA" in text
    assert isinstance(caught.value, (DCGEVError, OSError))


def test_a_missing_file_is_fetched_from_the_pinned_address(small_colon, monkeypatch):
    content, calls = small_colon.read_bytes(), []
    small_colon.unlink()

    def retrieve(self, url, output, _):
        calls.append(url)
        Path(output).write_bytes(content)

    monkeypatch.setattr("pooch.HTTPDownloader.__call__", retrieve)
    assert colon().shape == (2, 3)
    assert calls == [fetched.SOURCES["Colon.rda"][0]]
    assert small_colon.read_bytes() == content


def test_a_file_that_is_no_r_file(cache, monkeypatch):
    path = cache / "Colon.rda"
    path.write_bytes(b"not R")
    pin(monkeypatch, path)
    with pytest.raises(DataUnavailable, match="cannot be read as an R file"):
        colon()


def test_the_platforms_cache_is_used_without_the_variable(small_colon, monkeypatch):
    monkeypatch.delenv("DCGEV_DATA")
    monkeypatch.setattr("pooch.os_cache", lambda name: small_colon.parent)
    assert colon().shape == (2, 3)


@pytest.mark.parametrize("package", ["pooch", "rdata"])
def test_a_missing_package_is_named_with_its_extra(monkeypatch, package):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingPackage, match=rf"{package}: pip install 'dcgev-cvx\[data\]'"):
        colon()
