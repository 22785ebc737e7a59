"""A printed per cent agrees within its tolerance."""

from dcgev_cvx.reproduction.findings import Verdict, percent_finding


def test_a_per_cent_agrees_within_its_tolerance():
    found = percent_finding("share", 87, 86.999, 0.5, digits=3)
    assert (found.paper, found.ours, found.verdict) == ("87 %", "86.999 %", Verdict.AGREE)
    assert percent_finding("share", 87, 86.0, 0.5).verdict is Verdict.DIFFERS
