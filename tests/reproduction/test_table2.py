"""Table 2: one block of rows per size that has results."""

from dcgev_cvx.reproduction.table2 import PAPER_SECONDS, section


def test_sizes_without_results_are_left_out():
    answer = {"k": 5, "variance": 1.0, "raw": 1.0, "seconds": 1.0, "total": 1.0, "steps": 3, "runs": 2, "passes": 4.0}
    methods = dict.fromkeys(("SPCA", "GPower", "DC-PCA", "d.c. one-shot"), answer)
    sizes = [list(size) for size in PAPER_SECONDS]
    made = section({"sizes": sizes}, {"100x1000-000": {"trace": 10.0, "methods": methods}})
    assert [row[0] for row in made.tables[0].rows] == ["100×1000"] * 4
    assert [row[2] for row in made.tables[0].rows] == ["0.135", "0.027", "0.034", ""]
    assert [finding.verdict.value for finding in made.findings] == ["agree", "holds", "differs"]
