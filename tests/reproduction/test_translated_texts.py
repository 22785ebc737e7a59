"""Manual pages without troff, and planted topics."""

import gzip

import numpy as np
import pytest

from dcgev_cvx import DataUnavailable
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
    corpus = manpages(tmp_path)
    assert corpus.n_documents == 12
    assert corpus.documents[0] == "man1/p0.1"
    assert {"directory", "list", "option", "quoted"} <= set(corpus.words[0])
    assert {"répertoire", "énumérer", "option"} <= set(corpus.words[1])
    assert not {"copyright", "aq", "ds", "bdirectory", "fp", "ie"} & set(corpus.words[0])


def test_without_manual_pages_the_packages_are_named(tmp_path):
    with pytest.raises(DataUnavailable, match="install manpages, manpages-dev, manpages-fr and manpages-fr-dev"):
        manpages(tmp_path)


def test_planted_translations_share_topics():
    corpus = planted_translations(200, 8, 10, 20, rng=1)
    assert corpus.E.shape == corpus.F.shape == (200, 100)
    assert (corpus.words[0][11], corpus.words[1][11], corpus.words[0][-1]) == ("t1-1", "s1-1", "t-19")
    topics = [np.asarray(bags[:, :10].sum(axis=1)).ravel() for bags in (corpus.E, corpus.F)]
    assert np.corrcoef(*topics)[0, 1] > 0.5
    noise = [np.asarray(bags[:, 80:].sum(axis=1)).ravel() for bags in (corpus.E, corpus.F)]
    assert abs(np.corrcoef(*noise)[0, 1]) < 0.3
