"""Write the tutorials and the exercises as Jupyter notebooks.

    python docs/_tools/notebooks.py [FOLDER]

A page in MyST becomes a notebook of its text and its code cells. Cells that use the tools of this site, such as the
moving picture, are left out: they work on the website only.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

from included_code import with_included_code
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, writes

DOCS = Path(__file__).parents[1]
DEFAULT = DOCS / "_build" / "notebooks"
TUTORIALS = ("moving-majoriser", "rho-to-k")
OWN_TOOLS = re.compile(rf"\b({'|'.join(path.stem for path in (DOCS / '_tools').glob('*.py'))})\.\w+\(")
FENCE = re.compile(r"^```\{code-cell\} python\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def from_page(text: str) -> Any:
    """The notebook of a page: its text, and its code cells without their options."""
    body = re.sub(r"\A---.*?^---$", "", text, flags=re.DOTALL | re.MULTILINE)
    cells: list[Any] = []
    for position, part in enumerate(FENCE.split(body)):
        code = re.sub(r"\A(?::.*\n)+\n?", "", part)
        if position % 2 and not OWN_TOOLS.search(code):
            cells.append(new_code_cell(code.strip()))
        elif position % 2:
            cells.append(new_markdown_cell("*(The website has a moving picture here.)*"))
        elif part.strip():
            cells.append(new_markdown_cell(plain(with_included_code(part.strip()))))
    return notebook(cells)


def plain(text: str) -> str:
    """Links to other pages as plain text, since they lead nowhere in a notebook."""
    return re.sub(r"\[([^\]]*)\]\((?!https?:)[^)]*\)", r"\1", text)


def of_exercises() -> Any:
    """One notebook with the task, the starter and the hints of every exercise."""
    from dcgev_cvx import teach

    intro = "# Exercises\n\nFill in each cell and run it. `teach.hint(name, 1)`, `2` and `3` give hints."
    cells: list[Any] = [new_markdown_cell(intro)]
    for name, exercise in teach.EXERCISES.items():
        starter = (DOCS.parent / "examples" / "exercises" / f"{name}.py").read_text(encoding="utf-8")
        code = starter.split('"""', 2)[2].strip()
        cells += [new_markdown_cell(f"## {exercise.title}\n\n{exercise.task}"), new_code_cell(code)]
        cells.append(new_code_cell(f'print(teach.hint("{name}", 1))'))
    return notebook(cells)


def notebook(cells: list[Any]) -> Any:
    """A notebook for Python, its cells numbered so that the file is the same each time."""
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"
    return new_notebook(cells=cells, metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}})


def build(folder: Path = DEFAULT) -> list[Path]:
    """Write every notebook; returns the files."""
    folder.mkdir(parents=True, exist_ok=True)
    pages = {name: from_page((DOCS / "tutorials" / f"{name}.md").read_text(encoding="utf-8")) for name in TUTORIALS}
    written: list[Path] = []
    for name, made in {**pages, "exercises": of_exercises()}.items():
        file = folder / f"{name}.ipynb"
        file.write_text(writes(made) + "\n", encoding="utf-8")
        written.append(file)
    return written


if __name__ == "__main__":
    for made in build(Path(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT):
        print(made)
