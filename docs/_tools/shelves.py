"""The index pages: a sentence for every page of a list, taken from the page itself.

A list of pages (toctree) with a caption or without one becomes a heading and a list of links, each with what the page
says after "You will learn" or "You will find"; the toctree itself stays, hidden, for the navigation.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

DOCS = Path(__file__).parent.parent
TOCTREE = re.compile(r"^```\{toctree\}\n((?::[^\n]*\n)*)\n?(.*?)^```$", re.DOTALL | re.MULTILINE)
SAYS = re.compile(r"\*\*You will (?:learn|find|see)\*\*\s+(.*?(?<!d\.c)[.!?])(?=\s|$)", re.DOTALL)
MADE = {
    "../gallery/index": "scripts that ask a question and answer it with code and a picture.",
    "api": "every public name, with its parameters and an example.",
    "../published-tables": "the values of published tables, beside the optima that are proved here.",
    "../reproduction": "every published number of the paper, the number computed here, and a verdict.",
    "../benchmarks": "speed ratios against other packages, measured in one run.",
}
"""Pages that Sphinx or a command writes, and what they hold."""


def with_sentences(docname: str, text: str) -> str:
    """The text of an index page with a sentence for each page that it lists."""
    return TOCTREE.sub(lambda block: listed(docname, block), text) if docname.endswith("/index") else text


def listed(docname: str, block: re.Match[str]) -> str:
    """One toctree as a heading and links with sentences; a hidden one stays as it is."""
    options, names = block[1], block[2].split()
    if ":hidden:" in options:
        return block[0]
    caption = re.search(r":caption: (.*)", options)
    heading = f"## {caption[1]}\n\n" if caption else ""
    rows = "\n".join(row(docname, name) for name in names)
    return f"{heading}{rows}\n\n```{{toctree}}\n:hidden:\n{options}\n{block[2]}```"


def row(docname: str, name: str) -> str:
    """A link to a page and what it says of itself."""
    page = Path(os.path.normpath(DOCS / Path(docname).parent / f"{name}.md"))
    if not page.exists():  # made by Sphinx
        title = "API" if name == "api" else "Gallery"
        return f"- **[{title}]({name}.rst)**: {MADE[name]}"
    text = page.read_text(encoding="utf-8")
    title, said = re.search(r"^# (.*)$", text, re.MULTILINE), SAYS.search(text)
    sentence = MADE[name] if said is None else " ".join(said[1].split())
    return f"- **[{title[1] if title else name}]({name}.md)**: {sentence}"
