"""Figure 2: a curve that is too low at one cardinality differs."""

from dcgev_cvx.reproduction.figure2 import time_finding, variance_findings
from dcgev_cvx.reproduction.report import Verdict


def test_a_curve_that_is_too_low_at_one_cardinality_differs():
    theirs = [(2, 1.0), (5, 1.0)]
    shares = {"DC-PCA": [(2, 0.97), (5, 1.2)], "SPCA (own loadings)": theirs, "GPower": theirs, "GSPCA": theirs}
    found = variance_findings(shares)
    assert {finding.verdict for finding in found} == {Verdict.DIFFERS}
    assert found[1].ours == "smallest ratio 0.9700 (k = 2), mean 1.0850"
    assert found[1].remark == "below 0.98 at k = [2]"
    shares["DC-PCA"] = [(2, 0.99), (5, 1.0)]
    assert [finding.verdict for finding in variance_findings(shares)] == [Verdict.DIFFERS] + 2 * [Verdict.AGREE]


def test_time_must_grow_for_gspca_and_not_for_dc_pca():
    flat, rising = [(1, 1.0), (5, 1.1)], [(1, 1.0), (5, 9.0)]
    assert time_finding({"GSPCA": rising, "DC-PCA": flat}).verdict is Verdict.AGREE
    assert time_finding({"GSPCA": flat, "DC-PCA": rising}).verdict is Verdict.DIFFERS
