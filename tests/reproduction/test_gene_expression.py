"""Downloaded data: a cache filled by hand, a damaged file, no network, and what the records hold."""

import hashlib
import re
import sys

import numpy as np
import pytest
import rdata

from dcgev_cvx.errors import DataUnavailable, DCGEVError, MissingPackage
from dcgev_cvx.reproduction import gene_expression
from dcgev_cvx.reproduction.gene_expression import colon, leukemia


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("DCGEV_DATA", str(tmp_path))
    return tmp_path


def pin(monkeypatch, name, path):
    """Let the registry expect the hash of a small file made here."""
    source = gene_expression.SOURCES[name]
    made = gene_expression.Source(**{**source.__dict__, "sha256": hashlib.sha256(path.read_bytes()).hexdigest()})
    monkeypatch.setattr(gene_expression, "SOURCES", {**gene_expression.SOURCES, name: made})
    return made


@pytest.fixture
def small_colon(cache, monkeypatch):
    path = cache / "Colon.rda"
    content = {
        "X": np.arange(6.0).reshape(2, 3),
        "Y": np.array([1.0, 2.0]),
        "gene.names": np.array(["a", "b", "c"], dtype=str),
    }
    rdata.write_rda(path, {"Colon": content})
    pin(monkeypatch, "colon", path)
    return path


def test_pinned_sources_are_exact_versions():
    for source in gene_expression.SOURCES.values():
        assert re.fullmatch(r"https://raw\.githubusercontent\.com/[\w-]+/\w+/[0-9a-f]{40}/data/[\w.]+", source.url)
        assert source.url.endswith(source.file)
        assert len(source.sha256) == 64


def test_a_cache_filled_by_hand_is_read_without_a_network(small_colon, monkeypatch):
    monkeypatch.setattr(gene_expression, "download", lambda *_: pytest.fail("nothing should be fetched"))
    data = colon()
    np.testing.assert_array_equal(data.X, np.arange(6.0).reshape(2, 3))
    assert data.y == ("normal", "tumor")
    assert data.names == ("a", "b", "c")
    assert data.source.endswith("data/Colon.rda")
    assert "GPL" in data.licence
    assert not data.X.flags.writeable


def test_leukemia_takes_its_gene_names_from_the_file(cache, monkeypatch):
    import xarray

    path = cache / "golub.RData"
    path.write_bytes(b"stand-in")
    pin(monkeypatch, "leukemia", path)
    table = xarray.DataArray(np.ones((2, 2)), coords={"dim_0": ["1", "2"], "dim_1": ["AFFX", "Z78285"]})
    monkeypatch.setattr(rdata, "read_rda", lambda *_, **__: {"golub": {"x": table, "y": ["ALL", "AML"]}})
    data = leukemia()
    assert data.names == ("AFFX", "Z78285")
    assert data.y == ("ALL", "AML")
    assert "MIT" in data.licence


def test_a_damaged_file_is_refused_with_both_hashes_and_a_remedy(small_colon):
    small_colon.write_bytes(small_colon.read_bytes()[:-3])
    found = hashlib.sha256(small_colon.read_bytes()).hexdigest()
    with pytest.raises(DataUnavailable, match="Delete it") as caught:
        colon()
    text = str(caught.value)
    assert found in text
    assert gene_expression.SOURCES["colon"].sha256 in text
    assert str(small_colon) in text
    assert small_colon.exists()


def test_offline_without_a_cache_says_which_file_to_put_where(cache, monkeypatch):
    import pooch

    def offline(*_, **__):
        raise ConnectionError("no route to host")

    monkeypatch.setattr(pooch, "retrieve", offline)
    with pytest.raises(DataUnavailable, match=r"Colon\.rda is not in the cache") as caught:
        colon()
    text = str(caught.value)
    assert str(cache / "Colon.rda") in text
    assert gene_expression.SOURCES["colon"].url in text
    assert "DCGEV_DATA" in text
    assert isinstance(caught.value, (DCGEVError, OSError))


def test_a_missing_file_is_fetched_from_the_pinned_address(cache, monkeypatch, tmp_path):
    import pooch

    calls = []

    def retrieve(url, known_hash, fname, path):
        calls.append((url, known_hash))
        rdata.write_rda(
            path / fname, {"Colon": {"X": np.ones((1, 1)), "Y": np.ones(1), "gene.names": np.array(["g"], dtype=str)}}
        )

    monkeypatch.setattr(pooch, "retrieve", retrieve)
    assert colon().names == ("g",)
    source = gene_expression.SOURCES["colon"]
    assert calls == [(source.url, f"sha256:{source.sha256}")]


def test_a_file_that_is_no_r_file(cache, monkeypatch):
    path = cache / "Colon.rda"
    path.write_bytes(b"not R")
    pin(monkeypatch, "colon", path)
    with pytest.raises(DataUnavailable, match="cannot be read as an R file"):
        colon()


def test_a_folder_in_place_of_the_file(cache):
    (cache / "Colon.rda").mkdir()
    with pytest.raises(DataUnavailable, match="cannot be read"):
        colon()


def test_the_platforms_cache_is_used_without_the_variable(monkeypatch, tmp_path):
    import pooch

    monkeypatch.delenv("DCGEV_DATA", raising=False)
    monkeypatch.setattr(pooch, "os_cache", lambda name: tmp_path / name)
    monkeypatch.setattr(gene_expression, "download", lambda source, path: path)
    assert gene_expression.located(gene_expression.SOURCES["colon"]) == tmp_path / "dcgev_cvx" / "Colon.rda"


@pytest.mark.parametrize("package", ["pooch", "rdata"])
def test_a_missing_package_is_named_with_its_extra(monkeypatch, package):
    monkeypatch.delenv("DCGEV_DATA", raising=False)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingPackage, match=rf"{package}: pip install 'dcgev-cvx\[reproduce\]'"):
        colon()
