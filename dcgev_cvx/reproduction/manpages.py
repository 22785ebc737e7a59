"""The manual pages of this system and their translations: real aligned documents that need no network."""

from __future__ import annotations

import gzip
import re
import unicodedata
import zlib
from pathlib import Path

from .._numerics.checks import as_path, expect
from ..errors import DataUnavailable, InvalidParameter
from .corpora import Corpus, corpus_from_texts

ROOT = "/usr/share/man"
WORDS = 30
"""A page with fewer words than this in either language is left out: it says where another page is."""
ACCENTS = {"'": "\u0301", "`": "\u0300", "^": "\u0302", ":": "\u0308", ",": "\u0327"}


def manpages(language: str = "fr", *, root: str | Path = ROOT, least: int = 3) -> Corpus:
    """English pages and their translations as installed, by section and name; redirections are skipped.

    On Debian and its kin the packages manpages, manpages-dev, manpages-fr and manpages-fr-dev hold
    them; other languages likewise.

    Parameters
    ----------
    language
        A code such as "fr" or "pt_BR"; the folder of that name below root holds the translations.
    root
        The folder that holds man1 … man9.
    least
        The fewest occurrences of a word that is kept.

    Raises
    ------
    InvalidParameter
        For what is not a language code.
    DataUnavailable
        When fewer than ten pages have a translation, with the packages to install.
    """
    pairs = page_pairs(as_path(root, "root"), expect(language, str, "language", "a code such as 'fr'"))
    texts: list[tuple[str, str, str]] = []
    for name, english, other in pairs:
        first, second = plain_text(read_page(english)), plain_text(read_page(other))
        if min(len(first.split()), len(second.split())) >= WORDS:
            texts.append((first, second, name))
    if len(texts) < 10:
        raise DataUnavailable(
            f"{root} has {len(texts)} page(s) with a translation into {language!r}: install manpages, manpages-dev, "
            f"manpages-{language} and manpages-{language}-dev (Debian: apt-get install), or pass another root."
        )
    english, other, names = zip(*texts, strict=True)
    source = f"manual pages in English and {language}"
    return corpus_from_texts(english, other, names, source, languages=("en", language), least=least)


def page_pairs(root: Path, language: str) -> list[tuple[str, Path, Path]]:
    """(section/name, page, translation) of every page that is there in both languages.

    Links are left out: the same page under another name would be its own translation twice.
    """
    if not re.fullmatch(r"[a-z]{2,3}(_[A-Z]{2})?", language):
        raise InvalidParameter(f"language = {language!r} must be a code such as 'fr' or 'pt_BR'.")
    found: list[tuple[str, Path, Path]] = []
    for section in sorted(root.glob("man[1-9]")):
        translated = root / language / section.name
        for page in sorted(section.glob("*")):
            other = translated / page.name
            if page.is_file() and other.is_file() and not page.is_symlink() and not other.is_symlink():
                found.append((f"{section.name}/{page.name.removesuffix('.gz')}", page, other))
    return found


def read_page(path: Path) -> str:
    """The source of a page; what cannot be read is an empty page, and so is a redirection (.so).

    Nothing in a page is executed: troff source is read as text.
    """
    try:
        raw = path.read_bytes()
        data = gzip.decompress(raw) if path.suffix == ".gz" else raw
    except (OSError, EOFError, zlib.error):
        return ""
    text = data.decode("utf-8", errors="replace")
    return "" if re.search(r"^\.so\s", text, flags=re.MULTILINE) else text


def plain_text(page: str) -> str:
    """The words of a page: comments, requests and escapes of troff taken out."""
    page = re.sub(r"^[.']\s*\\\".*$", "", page, flags=re.MULTILINE)
    page = re.sub(r"\\\".*$", "", page, flags=re.MULTILINE)
    # requests are written small and say how to set the page; macros, such as .SH and .B, have words for arguments
    page = re.sub(r"^[.'][ \t]*[a-z]{2}.*$", "", page, flags=re.MULTILINE)
    page = re.sub(r"^[.'][ \t]*[A-Za-z]*", "", page, flags=re.MULTILINE)
    page = re.sub(r"\\f(\[[^\]]*\]|\(..|.)", "", page)
    page = re.sub(r"\\[\[(]([:'`^,])([A-Za-z])\]?", accented, page)
    return re.sub(r"\\(\[[^\]]*\]|\(..|\*\[[^\]]*\]|\*\(..|.)", " ", page)


def accented(match: re.Match[str]) -> str:
    """The letter with its accent of an escape such as ('e or ['e]."""
    return unicodedata.normalize("NFC", match[2] + ACCENTS[match[1]])
