"""Figure 1: six components are compared by one measure."""

from dcgev_cvx.reproduction.figure1 import cumulative_finding
from dcgev_cvx.reproduction.findings import Verdict


def test_six_components_are_compared_by_one_measure():
    results = {f"components-{m}": {"projector": [0.1, share]} for m, share in (("DC-PCA", 0.77), ("SPCA", 0.80))}
    found = cumulative_finding("SPCA", results)
    assert (found.ours, found.verdict) == ("77.00 % with 13, SPCA 80.00 % with 18", Verdict.DIFFERS)
    results["components-SPCA"]["projector"][-1] = 0.7
    assert cumulative_finding("SPCA", results).verdict is Verdict.AGREE
