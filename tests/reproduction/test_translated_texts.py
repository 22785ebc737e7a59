"""Manual pages without troff, and planted topics."""

import gzip

import numpy as np
import pytest

from dcgev_cvx import DataUnavailable, InvalidParameter
from dcgev_cvx.reproduction.translated_texts import manpages, planted_translations

PAGE = r""".\" Copyright, not a word of the page
.TH LS 1 "date"
.ie \n(.g .ds Aq \(aq
.SH NAME
ls \- list \fBdirectory\fP contents \(aqquoted\(aq
.B option
"""
SEITE = PAGE.replace("list", "\\('enum\\('erer").replace("directory", "r\\['e]pertoire")


def pages(root, count=12):
    filler = " ".join(f"{'filler'} {letter * 3}" for letter in "abcdefghijklmnopqrst")
    for folder, text in (("man1", PAGE), ("fr/man1", SEITE)):
        (root / folder).mkdir(parents=True)
        for i in range(count):
            data = f"{text}{filler} page\n".encode()
            (root / folder / f"p{i}.1.gz").write_bytes(gzip.compress(data))
        (root / folder / "link.1.gz").write_bytes(gzip.compress(b".so man1/p0.1\n"))
        (root / folder / "broken.1.gz").write_bytes(b"\x1f\x8b broken")
    (root / "man1" / "alone.1").write_text(PAGE, encoding="utf-8")


def test_manual_pages_without_troff_redirections_and_lonely_pages(tmp_path):
    pages(tmp_path)
    corpus = manpages("fr", root=tmp_path)
    assert corpus.n_documents == 12
    assert corpus.documents[0] == "man1/p0.1"
    assert {"directory", "list", "option", "quoted"} <= set(corpus.words[0])
    assert {"répertoire", "énumérer", "option"} <= set(corpus.words[1])
    assert not {"copyright", "aq", "ds", "bdirectory", "fp", "ie"} & set(corpus.words[0])


def test_without_manual_pages_the_packages_are_named(tmp_path):
    with pytest.raises(DataUnavailable, match="install manpages, manpages-dev, manpages-fr and manpages-fr-dev"):
        manpages("fr", root=tmp_path)
    with pytest.raises(InvalidParameter, match="must be a code such as 'fr'"):
        manpages("../..", root=tmp_path)


def test_planted_translations_share_topics_and_take_small_integers():
    one, two = (planted_translations(kind(40), kind(20), kind(10), kind(5)) for kind in (int, np.uint8))
    assert one.words == two.words
    assert (one.E != two.E).nnz == 0
    with pytest.raises(InvalidParameter, match="topics = 1 must be a whole number of at least 2"):
        planted_translations(topics=1)
