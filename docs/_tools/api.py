"""What the API reference needs besides autosummary and numpydoc: a list of members, links, and escaped docstrings."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from functools import cache
from types import ModuleType
from typing import Any

from equations import anchor, equations
from sphinx.pycode import ModuleAnalyzer

import dcgev_cvx

HIDDEN = ("__main__", "cli", "models")
"""Commands, and `models`, which has a page written by hand."""

XREF_ALIASES = {
    "bool": "bool",
    "array_like": ":term:`numpy:array_like`",
    "Generator": "numpy.random.Generator",
    "Axes": "matplotlib.axes.Axes",
}
XREF_IGNORE = {"optional", "default", "of", "or", "shape", "type", "n", "p", "m", "k"}


def listing() -> dict[str, dict[str, Any]]:
    """For every module: what its page documents, the public names documented elsewhere, and its submodules."""
    walked = [name for _, name, _ in pkgutil.walk_packages(dcgev_cvx.__path__, "dcgev_cvx.")]
    shown = [name for name in ("dcgev_cvx", *walked) if has_page(name)]
    found: dict[str, dict[str, Any]] = {}
    for name in shown:
        module = importlib.import_module(name)
        names = getattr(module, "__all__", public_names(module))
        homes = {member: home(module, member) for member in names if not inspect.ismodule(getattr(module, member))}
        here = [member for member, place in homes.items() if place == f"{name}.{member}"]
        constants = [member for member in here if not callable(getattr(module, member))]
        found[name] = {
            "own": [member for member in here if member not in constants],
            "constants": {member: constant_docs(module, member) for member in constants},
            "elsewhere": sorted({homes[member] for member in homes.keys() - here}),
            "modules": [other for other in shown if other.rpartition(".")[0] == name],
        }
    return found


@cache
def has_page(module: str) -> bool:
    """Whether a module has a page: it is public, and its package has no function of the same name."""
    if any(part in HIDDEN or part.startswith("_") for part in module.split(".")):
        return False
    package, _, name = module.rpartition(".")
    importlib.import_module(module)  # before it is looked up in a package that loads its modules lazily
    return not package or inspect.ismodule(getattr(importlib.import_module(package), name, None))


def home(module: ModuleType, name: str) -> str:
    """The full name under which a member is documented: where it is defined, or in the next package with a page."""
    member, place = getattr(module, name), module.__name__
    if (inspect.isclass(member) or inspect.isfunction(member)) and has_page(member.__module__):
        return f"{member.__module__}.{member.__qualname__}"
    if (inspect.isclass(member) or inspect.isfunction(member)) and member.__module__.startswith("dcgev_cvx."):
        place = member.__module__  # one home, wherever it is imported
    while not has_page(place) and place != "dcgev_cvx.models":
        place = place.rpartition(".")[0]
    return f"{place}.{name}"


def public_names(module: ModuleType) -> list[str]:
    """What a module without `__all__` defines under names without an underscore."""
    own = [name for name, member in vars(module).items() if getattr(member, "__module__", "") == module.__name__]
    return [name for name in own if not name.startswith("_")]


def constant_docs(module: ModuleType, name: str) -> str:
    """The docstring below a constant, in the module or in a submodule that it comes from."""
    for candidate in (module, *(member for member in vars(module).values() if inspect.ismodule(member))):
        if candidate.__name__.startswith(module.__name__):
            docs = ModuleAnalyzer.for_module(candidate.__name__).find_attr_docs().get(("", name), [])
            if docs:
                return escaped(" ".join(docs).strip())
    return ""


def home_of(name: str) -> str | None:
    """Where a name such as `steps.conic.QCQPStep` is documented; None for what has no page."""
    if name.startswith("_"):
        return None
    module, _, member = f"dcgev_cvx.{name}".rpartition(".")
    try:
        return home(importlib.import_module(module), member)
    except (ImportError, AttributeError):  # a method, or a module
        return f"{module}.{member}"


def plain_factory(
    app: object, what: str, name: str, obj: object, options: object, signature: str | None, returns: str | None
) -> tuple[str | None, str | None]:
    """The signature without `Any`, which says nothing, and with `...` for `<factory>`, which Sphinx cannot parse."""
    if signature is not None:
        signature = re.sub(
            r": ~?(?:typing\.)?Any(?: \| None)?(?=[,)]|( = ))( = )?", lambda m: "=" if m[1] else "", signature
        )
        signature = signature.replace("<factory>", "...")
    return signature, None if returns in ("Any", "typing.Any", "~typing.Any") else returns


def escape_docstring(app: object, what: str, name: str, obj: object, options: object, lines: list[str]) -> None:
    """Make a docstring that was written to be read in a terminal valid reStructuredText."""
    text = "\n".join(lines)
    head = re.split(r"\n(?=[^\n]+\n-{3,}\n)", text, maxsplit=1)[0]
    blocks = re.split(r"\n{2,}", head)
    lines[:] = [*("\n\n".join(map(as_literal, blocks)) + text[len(head) :]).splitlines(), ""]
    directive = None
    for i, line in enumerate(lines):
        indent = len(line) - len(line.lstrip())
        if directive is not None and line.strip() and indent <= directive:
            directive = None
        if re.match(r"\s*\.\. [\w-]+::", line):
            directive = indent
        if directive is None and not line.lstrip().startswith((">>>", "...")):
            lines[i] = escaped(line)
    if name.startswith("dcgev_cvx.models."):  # these pages are a folder deeper
        lines[:] = [line.replace("<../equation-index", "<../../equation-index") for line in lines]


def as_literal(block: str) -> str:
    """A table or formula that is aligned with spaces as a literal block; any other paragraph unchanged."""
    aligned = re.search(r"\S {3,}\S", block) and not re.search(r"^\s*(>>>|\.\. |[-*] )", block, re.MULTILINE)
    indented = re.sub("^", "    ", block, flags=re.MULTILINE)
    return f".. code-block:: text\n\n{indented}" if aligned else block


def escaped(line: str) -> str:
    """The line with bars, stars and final underscores that mean themselves; code and roles stay as they are."""
    parts = re.split(r"(:\w+:`[^`]*`|``[^`]*``|`[^`]*`)", line)
    return "".join(p if p.endswith("`") else plain(p) for p in parts)


def plain(words: str) -> str:
    """Escape what reStructuredText would read as markup, let MathJax set ρ̃, and link the labels of equations."""
    text = re.sub(r"(?<!\\)([|*_](?!\w)|[|*])", r"\\\1", words).replace("ρ̃", r"\ :math:`\tilde\rho`\ ")
    return re.sub(r"\bEq:[\w-]+", equation_link, text)


def equation_link(match: re.Match[str]) -> str:
    """The printed number and the label of an equation, as a link to the index (API pages are in folders)."""
    row = equations().get(match[0])
    number = "" if row is None or row[0] == "–" else f"{row[0]} "
    return f"`{number}{match[0]} <../equation-index.html#{anchor(row)}>`__" if row else match[0]
