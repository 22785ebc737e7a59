"""Tables 3 and 4: the planted matrix, the cardinalities, and data that cannot be downloaded."""

from numpy.testing import assert_allclose

from dcgev_cvx import Gram, Pencil
from dcgev_cvx.errors import DataUnavailable
from dcgev_cvx.reproduction import gene_expression, tables34
from dcgev_cvx.reproduction.running import ResultFolder, run
from dcgev_cvx.reproduction.tables34 import cardinalities, planted
from dcgev_cvx.reproduction.timing import trace


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
    monkeypatch.setattr(gene_expression, "located", offline)
    settings = {"data": [["colon", 2000]], "points": 2, "spca_every": 1, "repeats": 1, "seed": 0}
    results, failures = run("tables34", tables34.tasks(settings), ResultFolder(tmp_path))
    assert results == {}
    assert all("offline" in reason for reason in failures.values())
    assert tables34.section(settings, results).findings == ()


def test_shares_agree_to_the_printed_digits_and_planted_data_cannot_be_matched():
    colon = tables34.share_finding("colon", {"ours": 44.956, "raw": 81.54, "centred": 36.1})
    assert (colon.ours, colon.verdict.value) == ("44.956 %", "agree")
    assert colon.remark == "after standardising each gene; raw: 81.54 %, centred: 36.10 %"
    assert tables34.share_finding("leukemia", {"ours": 89.56}).verdict.value == "differs"
    assert tables34.share_finding("ramaswamy-shape", {"ours": 76.5}).verdict.value == "cannot be matched"


def test_figure_4_compares_variances_at_equal_cardinality():
    def point(k, ours, gpower, spca):
        methods = {"DC-PCA": ours, "GPower": gpower, "SPCA": spca}
        return {"trace": 10.0, "methods": {m: {"k": k, "variance": v, "raw": v} for m, v in methods.items()}}

    points = [point(3, 2.0, 2.0, 1.0), point(1, 1.0, 1.02, 1.0)]
    gpower, spca = tables34.variance_findings("colon", points)
    assert (gpower.ours, gpower.verdict.value) == ("mean 0.9902, smallest 0.9804", "differs")
    assert (spca.ours, spca.verdict.value) == ("mean 1.5000, smallest 1.0000", "agree")
    assert tables34.curve(points, "DC-PCA") == [(1, 10.0), (3, 20.0)]
