"""The report: escaping, counts, files that do not change without a reason."""

import pytest

from dcgev_cvx.errors import DataUnavailable
from dcgev_cvx.reproduction.findings import Figure, Finding, Panel, Section, Table, Verdict, agreement
from dcgev_cvx.reproduction.report_writer import Report, html_page, markdown, report_files, write


def small_report():
    section = Section(
        "s",
        "A <title>",
        "set | up `x<1`",
        (Table("t", "T", ("a|b", "c"), ((1, "x<y"),)),),
        (Finding("n", "1 %", "2 %", Verdict.DIFFERS, "why"), Finding("m", "1", "1", agreement(True))),
        (Figure("f", "F", (Panel("p", "x", "y", {"one": [(1.0, 2.0), (2.0, 3.0)], "none": []}, True, True),)),),
        ("no data",),
    )
    return Report((section,), "dcgev reproduce s", {"python": "3"})


def test_report_escapes_and_counts():
    report = small_report()
    assert report.summary == "1 agree, 1 differ, 0 cannot be matched; beyond the paper 0 hold, 0 fail"
    text, html = markdown(report), html_page(report)
    assert "| a\\|b | c |\n| --- | --- |\n| 1 | x<y |\n" in text
    assert "Not computed: no data" in text
    assert "A &lt;title&gt;" in html
    assert "set | up <code>x&lt;1</code>" in html
    assert '<td class="differs">differs</td>' in html
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


def test_a_full_disk_is_one_sentence_and_leaves_no_half_of_a_figure(tmp_path, full_disk_after):
    full_disk_after(3)  # report.md, report.html and the table
    with pytest.raises(DataUnavailable, match=r"f\.png could not be written \(No space left"):
        write(small_report(), tmp_path)
    assert not list((tmp_path / "figures").iterdir())


def test_an_unchanged_report_is_not_written_again(tmp_path):
    write(small_report(), tmp_path)
    paths = [tmp_path / name for name in (*report_files(small_report()), "numbers.json")]
    assert all(path.stat().st_size > 0 for path in paths)
    before = {path: path.stat().st_mtime_ns for path in paths}
    write(small_report(), tmp_path)
    assert {path: path.stat().st_mtime_ns for path in paths} == before
    (tmp_path / "figures" / "f.png").unlink()
    write(small_report(), tmp_path)
    assert (tmp_path / "figures" / "f.png").exists()
