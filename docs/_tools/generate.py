"""What is made at build time: API from the package, scripts for the gallery, links of the equation index."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import get_args

import dcgev_cvx

DOCS = Path(__file__).parents[1]
EXAMPLES = DOCS.parent / "examples"
HIDDEN = ("cli", "__main__", "experiments", "kernels", "judges", "suspects")


def modules() -> Iterator[str]:
    """Every module of the package that a reader may want, without the package's name."""
    for found in pkgutil.walk_packages(dcgev_cvx.__path__, "dcgev_cvx."):
        name = found.name.removeprefix("dcgev_cvx.")
        if not any(part in HIDDEN for part in name.split(".")):
            yield name


def published() -> dict[str, str]:
    """Every public name and the full name under which it is documented."""
    names = {name: home_of(getattr(dcgev_cvx, name)) or f"dcgev_cvx.{name}" for name in dcgev_cvx.__all__}
    for module in dcgev_cvx._MODULES:
        found = importlib.import_module(f"dcgev_cvx.{module}")
        for name in getattr(found, "__all__", ()):
            full = f"{module}.{name}"
            names[full] = home_of(getattr(found, name)) or f"dcgev_cvx.{full}"
    return names


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
    """One page a module, and a page that leads to every public name; a sidebar of a hundred modules helps nobody."""
    for stale in {page.stem for page in folder.glob("*.md")} - {"index", *modules()}:
        (folder / f"{stale}.md").unlink()
    for module in modules():
        write(folder / f"{module}.md", module_page(module))
    names = {name: home_of(getattr(dcgev_cvx, name)) for name in dcgev_cvx._HOMES}
    homes: dict[str, list[str]] = {}
    for name, home in dcgev_cvx._HOMES.items():
        homes.setdefault(home, []).append(reference(name, names[name] or f"dcgev_cvx.{home}.{name}"))
    rows = [f"| {', '.join(sorted(found))} | [{home}]({home}.md) |" for home, found in sorted(homes.items())]
    rows += [f"| [`{module}`]({module}.md) | {summary(module)} |" for module in dcgev_cvx._MODULES]
    table = "| from dcgev_cvx import … | documented in |\n|---|---|\n" + "\n".join(rows)
    every = "\n".join(f"- [{module}]({module}.md): {summary(module)}" for module in sorted(modules()))
    write(folder / "index.md", f"# The package\n\n{table}\n\n## Every module\n\n{every}\n")


def reference(name: str, home: str) -> str:
    """A link to the place where a name is documented."""
    return f"{{py:obj}}`{name} <{home}>`"


def summary(module: str) -> str:
    """The first line of a module's docstring, as Markdown that means itself."""
    line = (inspect.getdoc(importlib.import_module(f"dcgev_cvx.{module}")) or "").split("\n")[0]
    return re.sub(r"([\\`*_\[\]<>|$])", r"\\\1", line)


def module_page(module: str) -> str:
    """The page of a module: its own members by autodoc, links to what it publishes from elsewhere."""
    found = importlib.import_module(f"dcgev_cvx.{module}")
    public = getattr(found, "__all__", None)
    options = [":members:", ":undoc-members:", ":member-order: bysource"]
    links: list[str] = []
    if public is not None:
        homes = {name: home_of(getattr(found, name)) for name in public}
        words = {name: said_of(found, name) for name, home in homes.items() if not home}
        own = [name for name, home in homes.items() if home == f"dcgev_cvx.{module}.{name}"]
        links = [f"* :py:obj:`{name} <{home}>`" for name, home in homes.items() if home and name not in own]
        links += [
            f"\n.. py:data:: {name}\n   :module: dcgev_cvx.{module}\n\n   {text}" for name, text in words.items()
        ]
        options = [f":members: {', '.join(own)}", *options[1:]] if own else []
    lines = "\n".join(f"   {option}" for option in options)
    body = f".. automodule:: dcgev_cvx.{module}\n{lines}\n\n" + "\n".join(links)
    return f"---\norphan: true\n---\n\n# {module}\n\n```{{eval-rst}}\n{body}\n```\n"


def said_of(module: ModuleType, name: str) -> str:
    """The docstring below a constant, in the module or in one beside it; without one its values or keys."""
    for file in (Path(str(module.__file__)), *sorted(Path(str(module.__file__)).parent.glob("*.py"))):
        body = ast.parse(file.read_text(encoding="utf-8")).body
        for assigned, after in pairwise(body):
            targets = assigned.targets if isinstance(assigned, ast.Assign) else [getattr(assigned, "target", None)]
            if name in [getattr(target, "id", "") for target in targets] and isinstance(after, ast.Expr):
                return " ".join(docstring_to_rst(str(ast.literal_eval(after.value)).splitlines()))
    value = getattr(module, name)
    kind = "A table with the keys" if isinstance(value, Mapping) else "One of"
    return f"{kind} {', '.join(f'``{key}``' for key in get_args(value) or value)}."


def scripts(folder: Path) -> None:
    """Copies of the scripts in examples/, where sphinx-gallery runs them: what they save stays out of the sources."""
    for script in EXAMPLES.glob("*.py"):
        write(folder / script.name, script.read_text(encoding="utf-8"))
    words = "The scripts in ``examples``, with what each prints and draws."
    write(folder / "GALLERY_HEADER.rst", f"Gallery\n=======\n\n{words}\n")


def house_mark(path: Path) -> None:
    """The picture of a page that draws none: f of one variable and its majoriser."""
    from dcgev_cvx.plotting import plot_majoriser

    program = dcgev_cvx.SparseGEV(dcgev_cvx.Pencil([[1.0]]), rho=0.5, eps=0.1, tau=3.0)
    figure = plot_majoriser(program, [0.42]).figure
    figure.savefig(path)
    figure.clear()


def equation_index(text: str) -> str:
    """The equation index with links: from each equation to its code, its test and the pages that show it."""
    rows = [cells(line) for line in text.splitlines()]
    aliases = {row[0]: row[2].removeprefix("see ") for row in rows if len(row) == 4 and row[2].startswith("see ")}
    texts = {page: page.read_text(encoding="utf-8") for page in shelved()}
    return "\n".join(linked(line, aliases, texts) for line in text.splitlines()) + "\n"


def cells(line: str) -> list[str]:
    """The cells of a table row; none for any other line."""
    return [cell.strip() for cell in line.strip().strip("|").split("|")] if line.startswith("|") else []


def shelved() -> Iterator[Path]:
    """The pages written by hand, but for the lists."""
    for folder in (DOCS / "tutorials", DOCS / "explanation", DOCS / "how-to", DOCS):
        yield from (page for page in sorted(folder.glob("*.md")) if page.stem not in ("equation-index", "index"))


def target(name: str) -> str:
    """The full name under which something is documented, given as module, function, class or member."""
    parts = name.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            found: object = importlib.import_module(".".join(["dcgev_cvx", *parts[:cut]]))
        except ModuleNotFoundError:
            continue
        for part in parts[cut:]:
            found = inspect.getattr_static(found, part)
        return home_of(found) or f"dcgev_cvx.{name}"
    raise LookupError(f"{name} is not in dcgev_cvx")


def linked(line: str, aliases: dict[str, str], texts: dict[Path, str]) -> str:
    """One line of the index: code and test under each other, code as links, pages in the last column."""
    row = cells(line)
    if len(row) < 3:
        return line
    *words, code, test = row
    if code in ("code", "---"):
        merged, shown = ("code and test", "shown in") if code == "code" else ("---", "---")
    else:
        code = re.sub(r"`([\w.]+)`", lambda found: reference(found[1], target(found[1])), code)
        merged = f"{code} <br> {test}" if test else code
        shown = shown_in(row[0], aliases, texts) if len(row) == 4 else ""
    return f"| {' | '.join([*words, merged, *([shown] if len(row) == 4 else [])])} |"


def shown_in(tag: str, aliases: dict[str, str], texts: dict[Path, str]) -> str:
    """Links to the pages that name a tag, or the tag under which it is implemented."""
    for name in (tag, aliases.get(tag)):
        pattern = None if name is None else re.compile(rf"(?<![\w-]){re.escape(name)}(?![\w-])", re.IGNORECASE)
        hits = [page for page, text in texts.items() if pattern is not None and pattern.search(text)]
        if hits:
            return ", ".join(link(page) for page in hits[:3])
    return ""


def link(page: Path) -> str:
    """A link from docs/ to a page, by its title."""
    title = next(line for line in page.read_text(encoding="utf-8").splitlines() if line.startswith("# "))
    return f"[{title.removeprefix('# ')}]({page.relative_to(DOCS).as_posix()})"


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
    scripts(DOCS / "_build" / "examples")
    house_mark(DOCS / "_build" / "examples" / "mark.png")
