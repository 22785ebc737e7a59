"""The record of a comparison as text, dictionary and data frame."""

import json

from dcgev_cvx import compare
from dcgev_cvx.comparison import Comparison, ComparisonRow
from dcgev_cvx.datasets import pitprops


def test_dictionaries_and_frames_hold_every_row(six):
    made = json.loads(json.dumps(six.to_dict(), allow_nan=False))
    assert made["proved"] is True
    assert made["k"] == 6
    assert len(made["rows"]) == len(six.rows)
    assert list(six.to_frame()["method"]) == [row.method for row in six.rows]
    json.dumps(compare(pitprops(), 6, time_limit=1e-6).to_dict(), allow_nan=False)


def test_the_text_is_two_tables_and_the_verdict_in_eighty_columns(six):
    lines = str(six).splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0].split() == ["vectors", "found", "value", "%", "λmax", "k", "gap", "%", "KKT", "steps", "s"]
    assert sum(line.startswith("exact (branch and bound)  ") for line in lines) == 2
    assert lines[-2].startswith("k = 6: the optimum is 3.77096, proved (")
    assert lines[-1] == "best support: topdiam, length, ringbut, bowmax, bowdist, whorls"


def test_large_numbers_fit_eighty_columns_too():
    row = ComparisonRow(
        "homogeneous SDP, rounded", "lower", -1.23456789e10, "", True, 100, (), 1e-10, 1000, 999.99, 99.9, 0.5
    )
    assert max(map(len, str(Comparison(pitprops(), 100, (row,), 0.0)).splitlines())) <= 80


def test_an_open_interval_in_words():
    rows = (
        ComparisonRow("a", "lower", 1.0, "", True),
        ComparisonRow("b", "upper", 2.0, "", True),
        ComparisonRow("c", "upper", 0.5, "", False),
    )
    found = Comparison(pitprops(), 3, rows, 0.0)
    assert found.verdict == "k = 3: the optimum lies in [1, 2], gap 50 %"
    below, above = (Comparison(pitprops(), 3, (row,), 0.0) for row in rows[:2])
    assert below.verdict == "k = 3: the optimum is at least 1; no bound was proved"
    assert above.verdict == "k = 3: the optimum is at most 2; no vector was found"
