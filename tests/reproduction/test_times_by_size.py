"""Figure 3 and Table 2: which method is fastest at the largest n, how times grow, and rows by size."""

from dcgev_cvx.reproduction.report import Verdict
from dcgev_cvx.reproduction.times_by_size import PAPER_SECONDS, TABLE2, growth_finding, table2_section, tasks


def test_the_largest_n_decides_and_growth_is_the_slope_between_the_ends():
    curves = {
        "SPCA": [(100, 1.0), (300, 2.0), (1000, 10.0)],
        "GPower": [(100, 2.0), (300, 1.0), (1000, 2.0)],
        "DC-PCA": [(100, 1.0), (300, 3.0), (1000, 9.0)],
    }
    found = growth_finding(curves)
    assert found.verdict is Verdict.AGREE
    assert "SPCA n^1.00, GPower n^0.00" in found.remark
    curves["DC-PCA"][-1] = (1000, 11.0)
    assert growth_finding(curves).verdict is Verdict.DIFFERS


def test_each_size_is_compared_with_the_papers_seconds():
    answer = {"k": 5, "variance": 1.0, "raw": 1.0, "seconds": 1.0, "steps": 3}
    result = dict.fromkeys(("SPCA", "GPower", "DC-PCA"), answer)
    settings = {**TABLE2.full, "seed": 0}
    made = table2_section(settings, {task.key: result for task in tasks(settings)})
    assert len(made.findings) == 2 * len(PAPER_SECONDS)
    assert made.findings[0].what == "Table 2, 100×1000: time of DC-PCA / time of GPower at a fixed parameter"
    assert made.findings[0].paper == "1.26 (0.034 s / 0.027 s)"
    assert made.findings[1].paper == "3.97 (0.135 s / 0.034 s)"
    assert {finding.verdict.value for finding in made.findings[::2]} == {"agree"}
    assert {finding.verdict.value for finding in made.findings[1::2]} == {"differs"}


def test_every_instance_has_its_own_seed():
    made = tasks({"sizes": [[20, 40]], "instances": 3, "repeats": 1, "seed": 7})
    assert [task.arguments["seed"] for task in made] == [[7, 20, 40, i] for i in range(3)]
    assert all(task.timed for task in made)
