"""The exercises as a notebook, with tests in the format of otter-grader where it grades them."""

import re
from collections.abc import Mapping
from typing import Any

from .exercises import EXERCISES

CHECK = re.compile(r"^print\(teach\.check\(\"(\w+)\", (.*)\)\)$", re.MULTILINE)
"""The last line of a starter."""


def exercise_notebook(starters: Mapping[str, str], *, otter: bool) -> dict[str, Any]:
    """A notebook of format 4 with the task and the starter of every exercise; answers are kept in `answers`."""
    cells = [text_cell("# Exercises\n\nFill in each cell and run it. `teach.hint(name, 1)`, 2 and 3 help.")]
    cells.append(code_cell("from dcgev_cvx import teach\n\nanswers = {}" + (OTTER_START if otter else "")))
    for name, exercise in EXERCISES.items():
        cells.append(text_cell(f"## {exercise.title}\n\n{exercise.task}"))
        code = starters[name].split('"""\n', 1)[-1] if starters[name].startswith('"""') else starters[name]
        body = CHECK.sub(r'answers["\1"] = \2\nprint(teach.check("\1", answers["\1"]))', code).strip()
        cells.append(code_cell(body))
        if otter:
            cells.append(code_cell(f'grader.check("{name}")'))
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


OTTER_START = '\n\nimport otter\n\ngrader = otter.Notebook("exercises.ipynb")'


def otter_test(name: str) -> str:
    """The test of one exercise: `teach.check` of the answer, worth one point, with its sentence as the message.

    >>> from dcgev_cvx.teach.notebook import otter_test
    >>> otter_test("tau").splitlines()[0]
    'OK_FORMAT = True'
    """
    code = f">>> from dcgev_cvx import teach\n>>> verdict = teach.check({name!r}, answers.get({name!r}))\n"
    code += ">>> assert verdict, str(verdict)"
    suite = {"cases": [{"code": code, "hidden": False, "locked": False}], "scored": True, "setup": "", "teardown": ""}
    test = {"name": name, "points": 1, "suites": [{**suite, "type": "doctest"}]}
    return f"OK_FORMAT = True\n\ntest = {test!r}\n"


def text_cell(text: str) -> dict[str, Any]:
    """A cell of Markdown."""
    return {"cell_type": "markdown", "id": cell_id(text), "metadata": {}, "source": text}


def code_cell(code: str) -> dict[str, Any]:
    """A cell of code that has not run."""
    return {
        "cell_type": "code",
        "execution_count": None,
        "id": cell_id(code),
        "metadata": {},
        "outputs": [],
        "source": code,
    }


def cell_id(source: str) -> str:
    """An id that is the same in every export."""
    from hashlib import sha256

    return sha256(source.encode()).hexdigest()[:12]
