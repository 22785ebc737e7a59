"""The timed methods reach k and are timed in turn; verdicts ask for time and variance."""

import pytest

from dcgev_cvx.reproduction.findings import Verdict
from dcgev_cvx.reproduction.timing import (
    METHODS,
    brought_to,
    compared,
    gaussian_pencil,
    ratios_to,
    seconds_of,
    time_findings,
)


@pytest.mark.parametrize("method", METHODS)
def test_methods_reach_k_and_report_two_variances(method):
    pencil = gaussian_pencil(20, 50, [7])
    answer, run = brought_to(pencil, METHODS[method](pencil, 10), 10)
    assert answer["k"] == 10
    assert 0.0 < answer["raw"] <= answer["variance"] * (1.0 + 1e-12)
    assert run().steps == answer["steps"]
    assert brought_to(pencil, METHODS[method](pencil, 10), 10, 2)[0]["k"] in range(8, 13)


def test_methods_are_timed_in_turn_and_spca_once():
    turns = []
    seconds = seconds_of({name: lambda name=name: turns.append(name) for name in METHODS}, 3)
    others = ["GPower", "GPower", "DC-PCA", "DC-PCA"]  # the first of each pair is not timed
    assert turns == ["SPCA", *others * 3]
    assert list(seconds) == list(METHODS)


def test_dc_pca_is_compared_at_the_cardinality_of_gpower():
    found = compared(gaussian_pencil(20, 60, [2]), 12, 3, 1, with_spca=False)["methods"]
    assert list(found) == ["GPower", "DC-PCA"]
    assert len({answer["k"] for answer in found.values()}) == 1
    assert all(answer["seconds"] > 0.0 for answer in found.values())


def timed_result(gpower, dc_pca, variance=1.0, k=5):
    """A result with given seconds."""

    def answer(seconds, value):
        return {"k": k, "variance": value, "raw": value, "seconds": seconds, "steps": 3}

    methods = {"SPCA": answer(2.0, 0.9), "GPower": answer(gpower, 1.0), "DC-PCA": answer(dc_pca, variance)}
    return {"trace": 10.0, "methods": methods}


def test_verdicts_ask_for_time_and_variance():
    def verdicts(result, gpower, dc_pca):
        return tuple(finding.verdict for finding in time_findings("", [result], (2.0, gpower, dc_pca)))

    agree, differs = Verdict.AGREE, Verdict.DIFFERS
    assert verdicts(timed_result(1.0, 1.0), 1.0, 0.5) == (agree, agree)
    assert verdicts(timed_result(1.0, 1.2), 1.0, 0.5) == (differs, agree)
    assert verdicts(timed_result(1.0, 1.2), 1.0, 1.3) == (agree, agree)  # the paper's own ratio
    assert verdicts(timed_result(1.0, 0.5, variance=0.99), 1.0, 0.5) == (differs, agree)
    assert verdicts(timed_result(1.0, 0.5, variance=0.999), 1.0, 0.5) == (agree, agree)  # similar, not equal
    assert verdicts(timed_result(1.0, 3.0), 1.0, 0.5) == (differs, differs)


def test_times_can_be_means_over_all_cardinalities():
    """Trapezoids on k = 1, 2, 10: DC-PCA has (0.15·1 + 1.6·8)/9."""
    results = [timed_result(1.0, dc_pca, k=k) for k, dc_pca in ((10, 3.0), (1, 0.1), (2, 0.2))]
    measured, over_all = (time_findings("", results, (2.0, 1.0, 1.0), over_all_k=all_k)[0] for all_k in (False, True))
    assert measured.ours == "1.1 (1100 ms / 1000 ms)"
    assert over_all.ours == "1.44 (1439 ms / 1000 ms)"


def test_ratios_leave_out_results_without_the_rival():
    results = [timed_result(1.0, 1.0, variance=1.1), timed_result(1.0, 1.0, variance=1.2)]
    del results[0]["methods"]["SPCA"]
    assert ratios_to(results, "SPCA", "raw") == pytest.approx([1.2 / 0.9])
    assert ratios_to(results, "GPower") == [1.1, 1.2]
