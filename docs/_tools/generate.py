"""Pages made at build time: API from the package, gallery from examples/, tags from the equation index."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import dcgev_cvx

DOCS = Path(__file__).parents[1]
EXAMPLES = DOCS.parent / "examples"
HIDDEN = ("cli", "__main__", "experiments", "kernels", "judges", "suspects")
NOTEBOOK = (
    "---\nfile_format: mystnb\nkernelspec:\n  name: python3\n"
    "language_info:\n  name: python\n  pygments_lexer: ipython3\n---\n\n"
)


def modules() -> Iterator[str]:
    """Every module of the package that a reader may want, without the package's name."""
    for found in pkgutil.walk_packages(dcgev_cvx.__path__, "dcgev_cvx."):
        name = found.name.removeprefix("dcgev_cvx.")
        if not any(part in HIDDEN for part in name.split(".")):
            yield name


def published() -> dict[str, str]:
    """Every public name and the full name under which it is documented; constants have no page of their own."""
    names = {name: home_of(getattr(dcgev_cvx, name)) for name in dcgev_cvx.__all__}
    for module in dcgev_cvx._MODULES:
        found = importlib.import_module(f"dcgev_cvx.{module}")
        names |= {f"{module}.{name}": home_of(getattr(found, name)) for name in getattr(found, "__all__", ())}
    return {name: home for name, home in names.items() if home}


def home_of(thing: object) -> str:
    """Module and name under which a class or function was defined; empty for anything else."""
    named = inspect.isclass(thing) or inspect.isfunction(thing)
    return f"{thing.__module__}.{thing.__qualname__}" if named else ""  # type: ignore[attr-defined]


def write(path: Path, text: str) -> None:
    """Write if changed, so that a second build has less to do."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def api(folder: Path) -> None:
    """One page a module, and a page that lists the public names."""
    shutil.rmtree(folder, ignore_errors=True)
    homes: dict[str, list[str]] = {}
    for name, home in dcgev_cvx._HOMES.items():
        homes.setdefault(home, []).append(name)
    for module in modules():
        write(folder / f"{module}.md", module_page(module))
    rows = [
        f"| {', '.join(f'`{n}`' for n in sorted(names))} | [{home}]({home}.md) |"
        for home, names in sorted(homes.items())
    ]
    rows += [f"| `{module}` | [{module}]({module}.md) |" for module in dcgev_cvx._MODULES]
    table = "| from dcgev_cvx import … | documented in |\n|---|---|\n" + "\n".join(rows)
    tree = "\n".join(sorted(modules()))
    write(folder / "index.md", f"# The package\n\n{table}\n\n```{{toctree}}\n:hidden:\n\n{tree}\n```\n")


def module_page(module: str) -> str:
    """The page of a module: its own members by autodoc, links to what it publishes from elsewhere."""
    found = importlib.import_module(f"dcgev_cvx.{module}")
    public = getattr(found, "__all__", None)
    options = [":members:", ":undoc-members:", ":member-order: bysource"]
    links: list[str] = []
    if public is not None:
        homes = {name: home_of(getattr(found, name)) for name in public}
        own = [name for name, home in homes.items() if home in ("", f"dcgev_cvx.{module}.{name}")]
        links = [f"* :py:obj:`{name} <{home}>`" for name, home in homes.items() if name not in own]
        options = [f":members: {', '.join(own)}", *options[1:]] if own else []
    lines = "\n".join(f"   {option}" for option in options)
    body = f".. automodule:: dcgev_cvx.{module}\n{lines}\n\n" + "\n".join(links)
    return f"# {module}\n\n```{{eval-rst}}\n{body}\n```\n"


def gallery(folder: Path) -> None:
    """One executed page for each script in examples/ that teaches something; tools are left out."""
    shutil.rmtree(folder, ignore_errors=True)
    titles = []
    for script in sorted(EXAMPLES.glob("*.py")):
        source = script.read_text(encoding="utf-8")
        lesson = (ast.get_docstring(ast.parse(source)) or script.stem).splitlines()[0]
        if not lesson.startswith("Learn "):
            continue
        code = source.split('"""', 2)[2].strip()
        title = script.stem.replace("_", " ").capitalize()
        cell = "{code-cell} python" if "sys.argv" not in source else "python"  # a page has no command line
        text = f"{NOTEBOOK}# {title}\n\n{lesson}\n\n```{cell}\n{code}\n```\n"
        write(folder / f"{script.stem}.md", text)
        titles.append((script.stem, lesson))
    rows = "\n".join(f"- [{stem.replace('_', ' ')}]({stem}.md): {lesson}" for stem, lesson in titles)
    tree = "\n".join(stem for stem, _ in titles)
    write(
        folder / "index.md",
        f"# Gallery\n\nThe scripts in `examples`.\n\n{rows}\n\n```{{toctree}}\n:hidden:\n\n{tree}\n```\n",
    )


def tags(path: Path) -> None:
    """For every tag of the paper the pages that show it."""
    index = (DOCS / "equation-index.md").read_text(encoding="utf-8")
    cells = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in index.splitlines()]
    found = [row for row in cells if len(row) == 4 and row[0] not in ("equation", "---")]
    aliases = {row[0]: row[2].removeprefix("see ") for row in found if row[2].startswith("see ")}
    pages = [p for shelf in ("tutorials", "explanation", "how-to", ".") for p in sorted((DOCS / shelf).glob("*.md"))]
    texts = {
        page: page.read_text(encoding="utf-8") for page in pages if page.name not in ("equation-index.md", "index.md")
    }
    lines = [f"| {row[0]} | {row[1].replace('](', '](../')} | {shown_in(row[0], aliases, texts)} |" for row in found]
    head = (
        "# Where each equation is shown\n\n"
        "The [equation index](../equation-index.md) leads to code and tests; this table leads to pages.\n\n"
    )
    write(path, head + "| equation | says | pages |\n|---|---|---|\n" + "\n".join(lines) + "\n")


def shown_in(tag: str, aliases: dict[str, str], texts: dict[Path, str]) -> str:
    """Links to the pages that name a tag, or the tag under which it is implemented."""
    for name in (tag, aliases.get(tag)):
        pattern = None if name is None else re.compile(rf"(?<![\w-]){re.escape(name)}(?![\w-])", re.IGNORECASE)
        hits = [page for page, text in texts.items() if pattern is not None and pattern.search(text)]
        if hits:
            return ", ".join(link(page) for page in hits[:4])
    return "[equation index](../equation-index.md)"


def link(page: Path) -> str:
    """A link from reference/ to a page, by its title."""
    title = next(line for line in page.read_text(encoding="utf-8").splitlines() if line.startswith("# "))
    return f"[{title.removeprefix('# ')}](../{page.relative_to(DOCS).as_posix()})"


def docstring_to_rst(lines: list[str]) -> list[str]:
    """Our docstrings are plain words and formulas: bars, stars and underscores mean themselves."""
    out: list[str] = []
    for paragraph in inspect.cleandoc("\n".join(lines)).split("\n\n"):
        out += [*block(paragraph.splitlines()), ""]
    return out


def block(lines: list[str]) -> list[str]:
    """A heading with what follows it, a session, a table or formula as it stands, or words."""
    if len(lines) > 1 and set(lines[1]) == {"-"}:
        return [f".. rubric:: {lines[0]}", "", *under_heading(lines[2:])]
    if any(line.lstrip().startswith(">>>") for line in lines):
        return lines
    if re.search(r"\S {2,}\S|^ {2,}\S", "\n".join(lines), re.MULTILINE):
        return ["::", "", *(f"    {line}" for line in lines)]
    return [escaped(line) for line in lines]


def under_heading(lines: list[str]) -> list[str]:
    """A session as it stands, terms with their descriptions as such a list, each set off from the next."""
    if any(line.startswith(">>>") for line in lines):
        return lines
    if any(re.match(r"[\w, ]+ : ", line) for line in lines):
        return [f"  {escaped(line.strip())}" if line.startswith(" ") else f"* {escaped(line)}" for line in lines]
    out: list[str] = []
    for i, line in enumerate(lines):
        described = i + 1 < len(lines) and lines[i + 1].startswith(" ")
        starts = not line.startswith(" ") and (described or (i > 0 and lines[i - 1].startswith(" ")))
        out += ["", escaped(line)] if starts else [escaped(line)]
    return out


def escaped(line: str) -> str:
    """Words between backticks become literals, everything else is taken literally."""
    parts = re.split(r"(`[^`]+`)", line)
    return "".join(f"`{part}`" if part.startswith("`") else re.sub(r"([\\|*_`])", r"\\\1", part) for part in parts)


def unshelved() -> list[str]:
    """The pages of docs/ that no shelf names: the how-to shelf takes them, so that none is out of reach."""
    shelves = "".join(page.read_text(encoding="utf-8") for page in DOCS.glob("*/index.md"))
    flat = [page.stem for page in sorted(DOCS.glob("*.md")) if page.stem != "index"]
    return [stem for stem in flat if not re.search(rf"^\.\./{re.escape(stem)}$", shelves, re.MULTILINE)]


def generate() -> None:
    """Everything that is made at build time."""
    api(DOCS / "api")
    gallery(DOCS / "gallery")
    tags(DOCS / "reference" / "tags.md")
