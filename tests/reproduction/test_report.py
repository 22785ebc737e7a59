"""The report: escaping, counts, files that do not change without a reason."""

import json

import pytest

from dcgev_cvx.errors import DataUnavailable
from dcgev_cvx.reproduction.report import (
    Figure,
    Finding,
    Panel,
    Report,
    Section,
    Table,
    Verdict,
    agreement,
    markdown,
    percent_finding,
    write,
)


def small_report():
    section = Section(
        "set | up `x<1`",
        (Table("t", "T", ("a|b", "c"), ((1, "x<y"),)),),
        (Finding("n", "1 %", "2 %", Verdict.DIFFERS, "why"), Finding("m", "1", "1", agreement(True))),
        (
            Figure(
                "f",
                "F",
                (Panel("p", "x", "y", {"one": [(1.0, 2.0), (2.0, 3.0)], "none": []}, log_x=True, log_y=True),),
            ),
        ),
        name="s",
        title="A <title>",
        missing=("no data",),
    )
    return Report((section,), "dcgev reproduce s", {"python": "3"})


def test_report_escapes_and_counts():
    report = small_report()
    assert report.summary == "1 agree, 1 differ, 0 cannot be matched"
    text = markdown(report)
    assert "| a\\|b | c |\n| --- | --- |\n| 1 | x<y |\n" in text
    assert "Not computed: no data" in text
    differing = text.split("## Results that differ from the paper")[1].split("\n## ")[0]
    assert "| n | 1 % | 2 % | differs | why |" in differing
    assert "| m |" not in differing
    assert "figures/f.png" in text
    assert "figures/f.png" not in markdown(report, figures=False)


def test_the_same_numbers_give_the_same_files(tmp_path):
    first, second = tmp_path / "a", tmp_path / "b"
    for out in (first, second):
        write(small_report(), out)
    for path in first.rglob("*.*"):
        assert path.read_bytes() == (second / path.relative_to(first)).read_bytes(), path.name


def test_numbers_hold_what_the_report_says(tmp_path):
    write(small_report(), tmp_path)
    content = json.loads((tmp_path / "numbers.json").read_text())
    assert content["verdicts"] == {"agree": 1, "differs": 1, "cannot be matched": 0}
    (section,) = content["sections"]
    assert section["findings"][0]["verdict"] == "differs"
    assert section["figures"][0]["panels"][0]["curves"]["one"] == [[1.0, 2.0], [2.0, 3.0]]
    assert (tmp_path / "tables" / "t.csv").read_text() == "a|b,c\n1,x<y\n"
    assert (tmp_path / "figures" / "f.csv").read_text() == "panel,curve,x,y\np,one,1.0,2.0\np,one,2.0,3.0\n"


def test_a_full_disk_is_one_sentence_and_leaves_no_half_of_a_figure(tmp_path, full_disk_after):
    full_disk_after(4)  # report.md, numbers.json, the table and the figure's points
    with pytest.raises(DataUnavailable, match=r"f\.png could not be written \(No space left"):
        write(small_report(), tmp_path)
    assert [path.name for path in (tmp_path / "figures").iterdir()] == ["f.csv"]


def test_a_per_cent_agrees_within_its_tolerance():
    found = percent_finding("share", 87, 86.999, 0.5, digits=3)
    assert (found.paper, found.ours, found.verdict) == ("87 %", "86.999 %", Verdict.AGREE)
    assert percent_finding("share", 87, 86.0, 0.5).verdict is Verdict.DIFFERS
