"""What the site adds to the text of a page: the equations cited, links to them, and links to the glossary.

The pages themselves stay plain Markdown. Code, mathematics, links and headings are left as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from api import home_of
from equations import anchor, cells_of, equations

DOCS = Path(__file__).parent.parent
PLAIN = ("equation-index", "glossary", "reproduction", "benchmarks")
"""Pages that stay as they are: two that are linked to, and two that are made of printed tables."""

KEPT = re.compile(
    r"(\A---.*?^---$|^(?P<fence>```+|:::+).*?^(?P=fence)$|^#.*?$|\$\$.*?\$\$|\$[^$]*\$|!?\[[^\]]*\]\([^)]*\)"
    r"|\{[\w:]+\}`[^`]*`|`[^`]*`|<[^>]*>|\*[^*\n]+\*)",
    re.DOTALL | re.MULTILINE,
)
CITED = re.compile(r"`(Eq:[\w-]+)`|\(((?:[A-Z]+-)?[A-Z]+|\d{1,2})\)")


def with_links(docname: str, text: str) -> str:
    """The text of a page with everything that the site adds to it."""
    if docname == "equation-index":
        return "\n".join(map(index_row, text.splitlines())) + "\n"
    if docname in PLAIN:
        return text
    cited = equations_cited(text)
    return typeset_rho(glossary_links(label_links(text, cited))) + equation_section(cited, docname)


# ---------------------------------------------------------------------------------------------------- equations


def equations_cited(text: str) -> list[list[str]]:
    """The rows of the index that a page cites outside of its code, in the order of the paper."""
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)
    keys = {label or number for label, number in CITED.findall(prose)}
    return list({id(row): row for key, row in equations().items() if key in keys}.values())


def label_links(text: str, cited: list[list[str]]) -> str:
    """Turn every `Eq:label` outside of code blocks into a link to the equation at the end of the page."""
    known = {row[1]: anchor(row) for row in cited if row[1]}

    def linked(match: re.Match[str]) -> str:
        label = match[0]
        return f'<a class="equation" href="#{known[label]}"><code>{label[1:-1]}</code></a>' if label in known else label

    fences = re.compile(r"(^```.*?^```$)", re.DOTALL | re.MULTILINE)
    parts = fences.split(text)
    return "".join(part if i % 2 else re.sub(r"`Eq:[\w-]+`", linked, part) for i, part in enumerate(parts))


def equation_section(cited: list[list[str]], docname: str) -> str:
    """The equations that a page cites, typeset with their printed numbers, with their code."""
    if not cited:
        return ""
    up = "](" + "../" * docname.count("/")
    rows = "\n".join(f"| {numbered(row)} | {row[2]} | {with_home(row[3])} |" for row in cited).replace("](", up)
    return f"\n## Equations cited\n\n| no. | equation | code |\n|---|---|---|\n{rows}\n"


def numbered(row: list[str]) -> str:
    """The printed number, with the label below and an id to link to."""
    return f'<span id="{anchor(row)}"></span>{row[0]}' + (f"<br>{row[1]}" if row[1] else "")


def index_row(line: str) -> str:
    """A row of the equation index: code names are links, and label and test stand below number and code."""
    cells = cells_of(line)
    if len(cells) not in (3, 6):
        return line
    if set(cells[0]) == {"-"}:
        return "|---|---|---|---|" if len(cells) == 6 else "|---|---|"
    if len(cells) == 3:
        return f"| {cells[0]} | {with_home(cells[1])}<br>{cells[2]} |"
    return f"| {numbered(cells)} | {cells[2]} | {with_home(cells[3])}<br>{cells[4]} | {cells[5]} |"


def with_home(code: str) -> str:
    """Code names as references to where they are documented; a name without a page stays as it is."""
    named = re.compile(r"`([\w.]+)`")
    return named.sub(lambda m: f"{{py:obj}}`{m[1]} <{home_of(m[1])}>`" if home_of(m[1]) else m[0], code)


# ---------------------------------------------------------------------------------------------------- glossary


@cache
def terms() -> dict[str, str]:
    """Every spelling that is linked, in lower case, and the term of the glossary that it stands for."""
    text = (DOCS / "glossary.md").read_text(encoding="utf-8").split("```{glossary}", 1)[1].split("```", 1)[0]
    names = re.findall(r"^(\S.*)$", text, re.MULTILINE)
    return {spelling: name for name in names for spelling in (name.lower(), f"{name.lower()}s")}


def glossary_links(text: str) -> str:
    """Link the first occurrence of each term in the prose of a page to the glossary."""
    spellings = "|".join(map(re.escape, sorted(terms(), key=len, reverse=True)))
    pattern, seen = re.compile(rf"(?<![\w-])({spellings})(?![\w-])", re.IGNORECASE), set()

    def linked(match: re.Match[str]) -> str:
        name = terms()[match[0].lower()]
        if name in seen:
            return match[0]
        seen.add(name)
        return f"{{term}}`{match[0]} <{name}>`"

    return "".join(part if kept else pattern.sub(linked, part) for part, kept in split_prose(text))


def typeset_rho(text: str) -> str:
    """Let MathJax set ρ̃, because many fonts put the tilde beside the letter."""
    return "".join(part if kept else part.replace("ρ̃", r"$\tilde\rho$") for part, kept in split_prose(text))


def split_prose(text: str) -> Iterator[tuple[str, bool]]:
    """The parts of a page in order, each with whether it must be kept as it is."""
    place = 0
    for match in KEPT.finditer(text):
        yield text[place : match.start()], False
        yield match[0], True
        place = match.end()
    yield text[place:], False


# ---------------------------------------------------------------------------------------------------------- code


def overlaid_tildes(page: str) -> str:
    """The HTML of a page in which the tilde of ρ̃ lies above the letter in code too; site.css draws it."""
    mark = '<span class="tilde">ρ<span>\u0303</span></span>'
    return re.sub(r"<pre>.*?</pre>", lambda block: block[0].replace("ρ\u0303", mark), page, flags=re.DOTALL)
