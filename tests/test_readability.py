"""README and pages are plain English: short sentences, no phrase that the style guide replaces, a clear opening."""

import re
from pathlib import Path
from statistics import median

import pytest

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
MADE = {"_build", "api", "gallery", "slides"}
PAGES = [path for path in sorted(DOCS.rglob("*.md")) if not MADE & set(path.relative_to(DOCS).parts)]
PRINTED = {"benchmarks.md", "reproduction.md"}
"""Pages that a command writes."""

REPLACED = {
    r"at the door|\brefused?\b": "raises an error",
    r"the same bits|bits that": "bit-for-bit reproducible",
    r"read literally|says nothing": "as printed, … returns …",
    r"\bis none\b|\bare none\b": "must be …; got …",
    r"what is there": "what has finished is listed",
    r"how wide is it|this wide": "the gap in closed form",
    r"\bpromises?\b|and what not\b": "guarantees",
    r"as it comes": "without refinement",
    r"that nothing used": "unused",
    r"no axis can show": "values that cannot be plotted",
    r"\bis told\b|\bare told\b|\blets in\b|\bstands?\b(?! in the)": "a common technical word",
    r"\b(guests?|conduct|manners)\b": "no metaphor",
}
"""Phrases of the style guide's column "was", and what to write instead."""

CODE = re.compile(r"\A---.*?^---$|^(```+|:::+).*?^\1$|<[^>]*>", re.DOTALL | re.MULTILINE)
FORMULA = re.compile(r"\$\$.*?\$\$|\$[^$]*\$|`[^`]*`", re.DOTALL)


def prose(path):
    """The paragraphs and list items of a page: no code, tables, headings or formulas."""
    text = CODE.sub("\n\n", path.read_text(encoding="utf-8"))
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", FORMULA.sub(" X ", text))
    text = re.sub(r"^(\||#).*$", "", text, flags=re.MULTILINE)
    blocks = re.split(r"\n\s*\n|^\s*(?:[-*]|\d+\.)\s", text, flags=re.MULTILINE)
    return [" ".join(block.split()) for block in blocks if block and block.strip()]


def sentences(path):
    """The sentences of a page, without fragments of one or two words."""
    ends = re.compile(r"(?<!d\.c)(?<!s\.t)(?<!e\.g)(?<!al)(?<!vs)[.!?:](?:\*\*)?(?=\s+[A-Z`*(“\"]|$)")
    found = [one.strip() for block in prose(path) for one in ends.split(block)]
    return [one for one in found if len(one.split()) > 2]


@pytest.mark.parametrize("path", [ROOT / "README.md", *PAGES], ids=lambda path: path.name)
def test_the_median_sentence_has_at_most_twenty_words(path):
    lengths = [len(one.split()) for one in sentences(path)]
    assert median(lengths or [0]) <= 20


@pytest.mark.parametrize("path", [ROOT / "README.md", *PAGES], ids=lambda path: path.name)
def test_no_sentence_is_longer_than_fifty_words(path):
    assert [one for one in sentences(path) if len(one.split()) > 50] == []


@pytest.mark.parametrize("path", [ROOT / "README.md", *PAGES], ids=lambda path: path.name)
def test_no_phrase_that_the_style_guide_replaces(path):
    text = " ".join(prose(path))
    found = {match[0]: better for was, better in REPLACED.items() for match in re.finditer(was, text, re.IGNORECASE)}
    assert found == {}


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_a_page_opens_with_what_it_offers_and_what_it_requires(path):
    if path.name in PRINTED | {"index.md"}:
        pytest.skip("a list of pages, or written by a command")
    opening = " ".join(prose(path)[:3])
    assert re.search(r"\*\*You will (learn|find)\*\*", opening)
    assert re.search(r"\*\*You need( to know)?\*\*", opening)


def test_the_check_sees_long_sentences_and_replaced_phrases(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# A title\n\nBad input is refused at the door. " + "Word " * 60 + ".\n\n```\nis none\n```\n")
    assert max(len(one.split()) for one in sentences(page)) == 60
    assert re.search(r"at the door", " ".join(prose(page)))
    assert not re.search(r"is none", " ".join(prose(page)))
