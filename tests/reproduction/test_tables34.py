"""Tables 3 and 4: the planted matrix, the cardinalities, and data that cannot be downloaded."""

from dcgev_cvx.reproduction.timed_methods import trace
from numpy.testing import assert_allclose

from dcgev_cvx import Gram, Pencil
from dcgev_cvx.errors import DataUnavailable
from dcgev_cvx.reproduction import gene_expression, tables34
from dcgev_cvx.reproduction.running import ResultFolder, run
from dcgev_cvx.reproduction.tables34 import cardinalities, planted


def test_planted_share_and_cardinalities():
    pencil = Pencil(Gram(planted(40, 200, 0.7, 1)))
    assert_allclose(pencil.lambda_max / trace(pencil), 0.7, atol=0.05)
    ks = cardinalities(2000, 30)
    assert (ks[0], ks[-1]) == (1, 2000)
    assert len(ks) == len(set(ks)) >= 25


def test_missing_data_is_reported_not_raised(tmp_path, monkeypatch):
    def offline(*_):
        raise DataUnavailable("offline")

    tables34.data.cache_clear()
    monkeypatch.setenv("DCGEV_DATA", str(tmp_path / "empty"))
    monkeypatch.setattr(gene_expression, "download", offline)
    settings = {"data": [["colon", 2000]], "points": 2, "spca_every": 1, "repeats": 1, "seed": 0}
    found = run("tables34", tables34.tasks(settings), ResultFolder(tmp_path))
    assert found.results == {}
    assert all("offline" in reason for reason in found.failures.values())
    assert tables34.section(settings, found.results).findings == ()
