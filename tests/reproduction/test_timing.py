"""Verdicts on times: they ask for time and variance, and weigh cardinalities as the paper does."""

from dcgev_cvx.reproduction.findings import Verdict
from dcgev_cvx.reproduction.tables34 import spread
from dcgev_cvx.reproduction.timing import findings, time_rows


def timed_result(gpower, dc_pca, one_shot=0.5, variance=1.0, k=5):
    """A result with given seconds."""

    def answer(seconds, value):
        numbers = {"k": k, "variance": value, "raw": value, "seconds": seconds, "total": seconds}
        return {**numbers, "steps": 3, "runs": 2, "passes": 4.0}

    methods = {"SPCA": answer(2.0, 0.9), "GPower": answer(gpower, 1.0), "DC-PCA": answer(dc_pca, variance)}
    return {"trace": 10.0, "methods": {**methods, "d.c. one-shot": answer(one_shot, variance)}}


def test_verdicts_ask_for_time_and_variance():
    def verdicts(result, gpower, dc_pca):
        return tuple(finding.verdict for finding in findings("", [result], (2.0, gpower, dc_pca)))

    agree, differs, holds, fails = Verdict.AGREE, Verdict.DIFFERS, Verdict.HOLDS, Verdict.FAILS
    assert verdicts(timed_result(1.0, 1.0), 1.0, 0.5) == (agree, holds, agree)
    assert verdicts(timed_result(1.0, 1.2), 1.0, 0.5) == (differs, holds, agree)
    assert verdicts(timed_result(1.0, 1.2), 1.0, 1.3) == (agree, holds, agree)  # the paper's own ratio
    assert verdicts(timed_result(1.0, 0.5, variance=0.99), 1.0, 0.5) == (differs, fails, agree)
    assert verdicts(timed_result(1.0, 0.5, variance=0.999), 1.0, 0.5) == (agree, fails, agree)  # similar, not equal
    assert verdicts(timed_result(1.0, 3.0, one_shot=1.1), 1.0, 0.5) == (differs, fails, differs)


def test_times_are_weighted_by_the_cardinalities_that_they_represent():
    """k = 1, 2, 10 represent 1, 2–5 and half of 6, the rest: 1, 4.5 and 4.5 of ten."""
    results = [timed_result(1.0, dc_pca, k=k) for k, dc_pca in ((10, 3.0), (1, 0.1), (2, 0.2))]
    assert spread(results) == [4.5, 1.0, 4.5]
    found = findings("", results, (2.0, 1.0, 1.0), spread(results))[0]
    assert found.ours.startswith("1.45 ")
    assert found.verdict is Verdict.DIFFERS
    assert "1.10 with equal weights, where half of the cardinalities are below k = 2" in found.remark


def test_rows_name_the_papers_times_where_there_are_some():
    rows = time_rows("data", [timed_result(1.0, 0.5)], (2.0, 1.0, 0.5))
    assert [row[1:4] for row in rows] == [
        ("SPCA", "2.000", "2.00000"),
        ("GPower", "1.000", "1.00000"),
        ("DC-PCA", "0.500", "0.50000"),
        ("d.c. one-shot", "", "0.50000"),
    ]
    assert rows[0][-1] == "9.000%"
