"""What the API reference needs besides autosummary and numpydoc: a list of members, links, and escaped docstrings."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
import zlib
from pathlib import Path
from types import ModuleType

import dcgev_cvx

HIDDEN = ("__main__", "cli", "reproduction", "models")
"""Commands, and `models`, which has a page written by hand."""

XREF_ALIASES = {
    "bool": "bool",
    "array_like": ":term:`numpy:array_like`",
    "Generator": "numpy.random.Generator",
    "Axes": "matplotlib.axes.Axes",
}
XREF_IGNORE = {"optional", "default", "of", "or", "shape", "type", "n", "p", "m", "k"}

INVENTORIES = {
    "python": (
        "https://docs.python.org/3/",
        "int py:class library/functions.html",
        "float py:class library/functions.html",
        "bool py:class library/functions.html",
        "str py:class library/stdtypes.html",
        "tuple py:class library/stdtypes.html",
        "list py:class library/stdtypes.html",
        "dict py:class library/stdtypes.html",
        "callable py:function library/functions.html",
        "iterable std:term glossary.html#term-iterable",
        "sequence std:term glossary.html#term-sequence",
        "generator std:term glossary.html#term-generator",
        "None py:data library/constants.html",
        "True py:data library/constants.html",
        "False py:data library/constants.html",
        "ValueError py:exception library/exceptions.html",
        "collections.abc.Callable py:class library/collections.abc.html",
        "collections.abc.Sequence py:class library/collections.abc.html",
    ),
    "numpy": (
        "https://numpy.org/doc/stable/",
        "array_like std:term glossary.html#term-array_like",
        "arrays.scalars std:label reference/arrays.scalars.html#arrays-scalars",
        "numpy.ndarray py:class reference/generated/numpy.ndarray.html",
        "numpy.random.Generator py:class reference/random/generator.html",
    ),
    "scipy": (
        "https://docs.scipy.org/doc/scipy/",
        "scipy.linalg.eigh py:function reference/generated/scipy.linalg.eigh.html",
        "scipy.sparse.linalg.LinearOperator py:class reference/generated/scipy.sparse.linalg.LinearOperator.html",
    ),
    "cvxpy": (
        "https://www.cvxpy.org/",
        "cvxpy.Problem py:class api_reference/cvxpy.problems.html",
        "cvxpy.problems.problem.Problem py:class api_reference/cvxpy.problems.html#cvxpy.Problem",
        "cvxpy.Minimize py:class api_reference/cvxpy.problems.html",
        "cvxpy.Maximize py:class api_reference/cvxpy.problems.html",
    ),
    "sklearn": (
        "https://scikit-learn.org/stable/",
        "meta-estimator std:term glossary.html#term-meta-estimator",
        "metadata_routing std:label metadata_routing.html#metadata-routing",
        "sklearn.base.BaseEstimator py:class modules/generated/sklearn.base.BaseEstimator.html",
        "sklearn.model_selection.GridSearchCV py:class modules/generated/sklearn.model_selection.GridSearchCV.html",
        "sklearn.pipeline.Pipeline py:class modules/generated/sklearn.pipeline.Pipeline.html",
    ),
    "matplotlib": (
        "https://matplotlib.org/stable/",
        "matplotlib.axes.Axes py:class api/_as_gen/matplotlib.axes.Axes.html",
    ),
}
"""The objects of other projects that our pages link to; used where their full inventories cannot be downloaded."""


def intersphinx_mapping(folder: Path) -> dict[str, tuple[str, tuple[str | None, str]]]:
    """Each project's address, its own inventory, and a small local one for builds without a network."""
    folder.mkdir(parents=True, exist_ok=True)
    mapping: dict[str, tuple[str, tuple[str | None, str]]] = {}
    for project, (address, *objects) in INVENTORIES.items():
        head = f"# Sphinx inventory version 2\n# Project: {project}\n# Version: \n# zlib compressed objects follow\n"
        rows = "".join(
            f"{name} {role} 1 {page if '#' in page else f'{page}#$'} -\n"
            for name, role, page in map(str.split, objects)
        )
        (folder / f"{project}.inv").write_bytes(head.encode() + zlib.compress(rows.encode()))
        mapping[project] = (address, (None, str(folder / f"{project}.inv")))
    return mapping


def listing() -> dict[str, dict[str, list[str]]]:
    """For every module: the names documented on its page, the public names documented elsewhere, its submodules."""
    walked = [name for _, name, _ in pkgutil.walk_packages(dcgev_cvx.__path__, "dcgev_cvx.")]
    shown = [name for name in ("dcgev_cvx", *walked) if not hidden(name)]
    found: dict[str, dict[str, list[str]]] = {}
    for name in shown:
        module = importlib.import_module(name)
        homes = {member: home(module, member) for member in getattr(module, "__all__", public_names(module))}
        own = [member for member, place in homes.items() if place == f"{name}.{member}"]
        found[name] = {
            "own": own,
            "elsewhere": sorted({homes[member] for member in homes.keys() - own}),
            "modules": [other for other in shown if other.rpartition(".")[0] == name],
        }
    return found


def hidden(name: str) -> bool:
    """Whether a module or member has no page."""
    return any(part in HIDDEN or part.startswith("_") for part in name.split("."))


def home(module: ModuleType, name: str) -> str:
    """The full name under which a member is documented: where it is defined, unless that module has no page."""
    member = getattr(module, name)
    if inspect.isclass(member) or inspect.isfunction(member):
        place = f"{member.__module__}.{member.__qualname__}"
        if not hidden(place):
            return place
    return f"{module.__name__}.{name}"


def public_names(module: ModuleType) -> list[str]:
    """What a module without `__all__` defines under names without an underscore."""
    own = [name for name, member in vars(module).items() if getattr(member, "__module__", "") == module.__name__]
    return [name for name in own if not name.startswith("_")]


def with_links(index: str) -> str:
    """The equation index for the site: code names are links, and label and test stand below number and code."""
    return "\n".join(map(linked_row, index.splitlines())) + "\n"


def linked_row(line: str) -> str:
    """A row of a table of the index; any other line unchanged."""
    cells = [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("|") else []
    if len(cells) not in (3, 6):
        return line
    if set(cells[0]) == {"-"}:
        return "|---|---|---|---|" if len(cells) == 6 else "|---|---|"
    first = [f"{cells[0]}<br>{cells[1]}", cells[2]] if len(cells) == 6 else cells[:1]
    code, test, *page = cells[len(cells) // 2 :] if len(cells) == 6 else cells[1:]
    names = re.sub(r"`([\w.]+)`", link, code)
    return f"| {' | '.join([*first, f'{names}<br>{test}', *page])} |"


def link(match: re.Match[str]) -> str:
    """A reference to the place where a code name of the index is documented."""
    module, _, name = f"dcgev_cvx.{match[1]}".rpartition(".")
    try:
        target = home(importlib.import_module(module), name)
    except (ImportError, AttributeError):  # a method or a module
        target = f"{module}.{name}"
    return f"{{py:obj}}`{match[1]} <{target}>`"


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


def as_literal(block: str) -> str:
    """A table or formula that is aligned with spaces as a literal block; any other paragraph unchanged."""
    aligned = re.search(r"\S {3,}\S", block) and not re.search(r"^\s*(>>>|\.\. |[-*] )", block, re.MULTILINE)
    indented = re.sub("^", "    ", block, flags=re.MULTILINE)
    return f".. code-block:: text\n\n{indented}" if aligned else block


def escaped(line: str) -> str:
    """The line with bars, stars and final underscores that mean themselves; code and roles stay as they are."""
    parts = re.split(r"(:\w+:`[^`]*`|``[^`]*``|`[^`]*`)", line)
    return "".join(p if p.endswith("`") else re.sub(r"(?<!\\)([|*_](?!\w)|[|*])", r"\\\1", p) for p in parts)
