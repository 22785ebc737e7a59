"""Two corpora of translated documents: the manual pages of this system, and planted topics."""

from __future__ import annotations

import gzip
import re
import unicodedata
import zlib
from pathlib import Path

import numpy as np

from .._numerics.checks import as_generator, as_path
from ..errors import DataUnavailable
from .corpora import Corpus, corpus_from_texts


def manpages(root: str | Path = "/usr/share/man") -> Corpus:
    """English manual pages and their French translations as installed below `root`, paired by section and name.

    On Debian and its relatives the packages manpages, manpages-dev, manpages-fr and manpages-fr-dev hold them.
    Redirections, links, and pages with fewer than 30 words in either language, are left out.
    """
    root = as_path(root, "root")
    texts: list[tuple[str, str, str]] = []
    for page in sorted(root.glob("man[1-9]/*")):
        name = page.relative_to(root)
        pair = (page, root / "fr" / name)
        if all(path.is_file() and not path.is_symlink() for path in pair):
            english, french = (plain_text(read_page(path)) for path in pair)
            if min(len(english.split()), len(french.split())) >= 30:
                texts.append((english, french, str(name).removesuffix(".gz")))
    if len(texts) < 10:
        raise DataUnavailable(
            f"{root} has {len(texts)} page(s) with a French translation: install manpages, manpages-dev, manpages-fr "
            "and manpages-fr-dev (Debian: apt-get install), or pass another root."
        )
    english, french, names = zip(*texts, strict=True)
    return corpus_from_texts(english, french, names, "manual pages in English and French")


def read_page(path: Path) -> str:
    """The troff source of a page; "" for a redirection (.so) and for a file that cannot be read."""
    try:
        raw = path.read_bytes()
        data = gzip.decompress(raw) if path.suffix == ".gz" else raw
    except (OSError, EOFError, zlib.error):
        return ""
    text = data.decode("utf-8", errors="replace")
    return "" if re.search(r"^\.so\s", text, flags=re.MULTILINE) else text


def plain_text(page: str) -> str:
    """The words of a page, without the comments, requests and escapes of troff."""
    page = re.sub(r"^[.']\s*\\\".*$", "", page, flags=re.MULTILINE)
    page = re.sub(r"\\\".*$", "", page, flags=re.MULTILINE)
    # requests are lower case and control the layout; macros, such as .SH and .B, have words for arguments
    page = re.sub(r"^[.'][ \t]*[a-z]{2}.*$", "", page, flags=re.MULTILINE)
    page = re.sub(r"^[.'][ \t]*[A-Za-z]*", "", page, flags=re.MULTILINE)
    page = re.sub(r"\\f(\[[^\]]*\]|\(..|.)", "", page)
    page = re.sub(r"\\[\[(]([:'`^,])([A-Za-z])\]?", accented, page)
    return re.sub(r"\\(\[[^\]]*\]|\(..|\*\[[^\]]*\]|\*\(..|.)", " ", page)


def accented(match: re.Match[str]) -> str:
    """The letter with the accent of an escape such as ('e or ['e]."""
    accents = {"'": "\u0301", "`": "\u0300", "^": "\u0302", ":": "\u0308", ",": "\u0327"}
    return unicodedata.normalize("NFC", match[2] + accents[match[1]])


def planted_translations(
    documents: int = 150, topics: int = 10, words: int = 12, noise: int = 60, *, rng: int = 0
) -> Corpus:
    """Documents about a few topics each; word j of topic t is "t3-5" in the first language, "s3-5" in the second.

    A word of a chosen topic occurs with probability ½, any other word with probability 0.05, in both languages
    independently: what the two versions of a document share is its topics.
    """
    from scipy.sparse import csr_matrix

    generator = as_generator(rng)
    about = generator.random((documents, topics)) < 0.3
    about[np.arange(documents), generator.integers(topics, size=documents)] = True
    chance = np.hstack([np.where(np.repeat(about, words, axis=1), 0.5, 0.05), np.full((documents, noise), 0.05)])
    E, F = (csr_matrix((generator.random(chance.shape) < chance).astype(np.float64)) for _ in range(2))
    plain = [f"{t}-{j}" for t in range(topics) for j in range(words)] + [f"-{j}" for j in range(noise)]
    names = (tuple(f"t{word}" for word in plain), tuple(f"s{word}" for word in plain))
    labels = tuple(f"document {i + 1}" for i in range(documents))
    return Corpus(E, F, names, labels, "planted translations")
