"""Figure 2: a curve that is too low at one cardinality differs."""

from dcgev_cvx.reproduction.figure2 import lead, time_finding
from dcgev_cvx.reproduction.findings import Verdict


def test_a_curve_that_is_too_low_at_one_cardinality_differs():
    theirs = [(2, 1.0), (5, 1.0)]
    found = lead("DC-PCA against GPower", [(2, 0.97), (5, 1.2)], theirs, "similar", 0.98)
    assert found.verdict is Verdict.DIFFERS
    assert found.ours == "smallest ratio 0.9700 (k = 2), mean 1.0850"
    assert found.remark == "below 0.98 at k = [2]"
    assert lead("", [(2, 0.99), (5, 1.0)], theirs, "similar", 0.98).verdict is Verdict.AGREE
    ours = lead("", [(2, 0.99), (5, 1.0)], theirs)
    assert (ours.verdict, ours.paper) == (Verdict.FAILS, "(not in the paper)")


def test_time_must_grow_for_gspca_and_not_for_dc_pca():
    flat, rising = [(1, 1.0), (5, 1.1)], [(1, 1.0), (5, 9.0)]
    assert time_finding({"GSPCA": rising, "DC-PCA": flat}).verdict is Verdict.AGREE
    assert time_finding({"GSPCA": flat, "DC-PCA": rising}).verdict is Verdict.DIFFERS
