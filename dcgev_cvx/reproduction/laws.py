"""The consolidated laws of Canada in English and French, from their public XML to an aligned corpus."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path

from .._numerics.checks import as_path, as_whole
from ..errors import DataUnavailable
from .corpora import Corpus, corpus_from_texts

FOLDERS = {"eng/acts": "fra/lois", "eng/regulations": "fra/reglements"}
NAMES = (("SOR-", "DORS-"), ("SI-", "TR-"), ("C.R.C.,_c._", "C.R.C.,_ch._"))
LEAST_WORDS = 100
"""Shorter documents say little more than that they exist."""


def laws_of_canada(folder: str | Path, *, least_words: int = LEAST_WORDS) -> Corpus:
    """Every statute and regulation that a copy of github.com/justicecanada/laws-lois-xml has in both languages.

    The XML is under the Open Government Licence – Canada. Documents are paired by their numbers:
    SOR is DORS, SI is TR and "c." is "ch." in French.
    """
    least_words = as_whole(least_words, "least_words", low=0, high=10**9)
    read = (
        (name, text_of(english), text_of(french)) for name, english, french in law_pairs(as_path(folder, "folder"))
    )
    kept = [entry for entry in read if min(len(text.split()) for text in entry[1:]) >= least_words]
    if not kept:
        raise DataUnavailable(
            f"{folder} holds no document of {least_words} words in both languages: it must be a copy of "
            "github.com/justicecanada/laws-lois-xml, with the folders eng and fra."
        )
    names, english, french = zip(*kept, strict=True)
    return corpus_from_texts(english, french, names, "consolidated laws of Canada")


def law_pairs(root: Path) -> Iterator[tuple[str, Path, Path]]:
    """(name, English file, French file) of every document that is there in both languages."""
    for folder, other in FOLDERS.items():
        for path in sorted((root / folder).glob("*.xml")):
            partner = root / other / french_name(path.name)
            if path.is_file() and partner.is_file():
                yield f"{folder}/{path.name}", path, partner


def french_name(name: str) -> str:
    """The name of the French version of an English file."""
    for english, french in NAMES:
        if name.startswith(english):
            return french + name.removeprefix(english)
    return name


def text_of(path: Path) -> str:
    """All the text of a document; one that is not XML is an error, for it is damaged."""
    try:
        return " ".join(" ".join(ET.parse(path).getroot().itertext()).split())
    except (ET.ParseError, OSError) as cause:
        raise DataUnavailable(f"{path} cannot be read as XML: {cause}") from cause
