"""The page of a comparison: names are escaped, nothing is loaded from elsewhere."""

from html.parser import HTMLParser

import numpy as np
import pytest

from dcgev_cvx import InvalidParameter, Pencil, compare
from dcgev_cvx.comparison import Comparison, Row, html_report
from dcgev_cvx.datasets import pitprops


class Names(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.text = [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)

    def handle_data(self, data):
        self.text.append(data)


def test_the_page_escapes_every_name_and_loads_nothing():
    evil = '<script>alert("x")</script>'
    pencil = Pencil(pitprops().A, names=[evil, "a&b", *(f"v{i}" for i in range(11))])
    page = html_report([compare(pencil, 13, ("solve", "no-sdp"))], title=evil, command=f"dcgev compare '{evil}'")
    seen = Names()
    seen.feed(page)
    assert "script" not in seen.tags
    assert "http" not in page
    assert any(evil in text for text in seen.text)
    assert "a&amp;b" in page
    assert page.count("data:image/png;base64,") == 1


def test_rows_without_a_number_are_grey_with_their_reason():
    rows = (Row("greedy", "lower", 1.0, "", True), Row("no SDP", "upper", status="failed: <no> memory", ok=False))
    page = html_report([Comparison(pitprops(), 3, rows, 0.0)])
    assert '<tr class="best"><td>greedy</td><td>1.00000</td>' in page
    assert '<tr class="invalid"><td>no SDP</td><td class="words">failed: &lt;no&gt; memory</td></tr>' in page


def test_a_pencil_without_positive_values_is_explained():
    assert "λmax(A,B) ≤ 0" in html_report([compare(Pencil(-np.eye(2)), 1, ["greedy"])])


def test_the_texts_of_a_page_are_text(six):
    for name in ("title", "command"):
        with pytest.raises(InvalidParameter, match=f"{name} must be a str, got list"):
            html_report([six], **{name: ["dcgev"]})
