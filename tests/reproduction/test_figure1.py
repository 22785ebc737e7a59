"""Figure 1: six components are compared by one measure, and one component with the proved optimum."""

import numpy as np
from numpy.testing import assert_allclose

from dcgev_cvx.reproduction.figure1 import cumulative_finding, curve_task, first_component_findings, path_finding
from dcgev_cvx.reproduction.report import Verdict


def test_six_components_are_compared_by_one_measure():
    found = cumulative_finding("SPCA", {"DC-PCA": 77.0, "SPCA": 80.0})
    assert (found.ours, found.verdict) == ("77.00 % with 13, SPCA 80.00 % with 18", Verdict.DIFFERS)
    assert cumulative_finding("SPCA", {"DC-PCA": 77.0, "SPCA": 70.0}).verdict is Verdict.AGREE


def test_the_first_component_must_be_near_the_optimum_and_above_spca():
    curves = {"DC-PCA": {2: 10.0, 3: 19.9}, "exact": {2: 10.0, 3: 20.0}, "SPCA": {2: 9.0, 3: 19.95}}
    optimum, spca = first_component_findings(curves)
    assert (optimum.verdict, optimum.remark) == (Verdict.AGREE, "not at k = [3]")
    assert (spca.verdict, spca.ours) == (Verdict.DIFFERS, "smallest ratio 0.9975")
    curves["DC-PCA"][2] = 9.8
    assert first_component_findings(curves)[0].verdict is Verdict.DIFFERS


def test_curves_are_shares_of_the_trace():
    exact, gspca = (np.array(curve_task(method, [1, 2])) for method in ("exact", "GSPCA"))
    assert_allclose(exact, [[1.0, 1.0 / 13.0], [2.0, 1.9540 / 13.0]], rtol=1e-4)
    assert_allclose(exact, gspca)


def test_cardinalities_along_rho():
    assert path_finding(list(range(13, 0, -1))).remark == ""
    found = path_finding([13, 13, 6, 5, 3, 2, 1])
    assert (found.ours, found.verdict) == ("6 of 13 reached on 7 values of ρ̃", Verdict.DIFFERS)
