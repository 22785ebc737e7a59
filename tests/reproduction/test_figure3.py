"""Figure 3: which method is fastest at the largest n, and how times grow."""

from dcgev_cvx.reproduction.figure3 import scaling

from dcgev_cvx.reproduction.findings import Verdict


def test_the_largest_n_decides_and_growth_is_the_slope_between_the_ends():
    curves = {
        "SPCA": [(100, 1.0), (1000, 10.0)],
        "GPower": [(100, 2.0), (1000, 2.0)],
        "DC-PCA": [(100, 1.0), (1000, 9.0)],
    }
    found = scaling(curves)
    assert found.verdict is Verdict.AGREE
    assert "SPCA n^1.00, GPower n^0.00" in found.remark
    curves["DC-PCA"][-1] = (1000, 11.0)
    assert scaling(curves).verdict is Verdict.DIFFERS
