"""Functions of the package that a page shows: their code without the docstring, which the page says in words."""

from __future__ import annotations

import re
from importlib import import_module
from inspect import getsource
from operator import attrgetter
from pathlib import Path
from textwrap import dedent

LINES = re.DOTALL | re.MULTILINE
INCLUDE = re.compile(r"^```\{literalinclude\} \S*(dcgev_cvx/\S+)\n:pyobject: (\S+)\n.*?^```$", LINES)


def without_docstring(code: str) -> str:
    """The code of a function without its docstring."""
    return re.sub(r'^ *r?"""(?:.*?)"""\n', "", code, count=1, flags=LINES)


def with_included_code(text: str) -> str:
    """The text of a page in which every function that Sphinx would include is written out."""

    def code_of(match: re.Match[str]) -> str:
        module = import_module(".".join(Path(match[1]).with_suffix("").parts))
        return f"```python\n{without_docstring(dedent(getsource(attrgetter(match[2])(module))))}```"

    return INCLUDE.sub(code_of, text)
