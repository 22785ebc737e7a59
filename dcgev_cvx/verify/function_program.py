"""The program that a Python function on trial runs in: it speaks the protocol of `verify.protocol` for the function.

    python -P -m dcgev_cvx.verify.function_program MODULE:FUNCTION

The function cannot reach the protocol by printing: the file descriptors 0 and 1 lead nowhere while it runs. Its answer
goes to the judge as a list of numbers, whatever object it was.
"""

import importlib
import importlib.util
import json
import operator
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

from ..errors import InvalidParameter
from .answers import FunctionCaller, as_record
from .levels import stored_question

FOREVER = 1e6
"""The judge ends this process when a call takes too long."""


def main(target: str) -> None:
    """Answer requests until the input ends."""
    speak(lambda requests: replies(requests, target))


def speak(answer: Callable[[Any], Iterator[dict[str, Any]]]) -> None:
    """Write each message as a line; from now on printing, by Python or not, reaches nobody."""
    requests, answers = os.fdopen(os.dup(0), encoding="utf-8"), os.fdopen(os.dup(1), "w", encoding="utf-8")
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    os.dup2(nowhere, 1)
    write, dump = answers.write, json.dumps  # the function may replace what it finds in modules
    for message in answer(requests):
        write(dump(message) + "\n")
        answers.flush()


def replies(requests: Any, target: str) -> Iterator[dict[str, Any]]:
    """The reply to each line: a greeting, then one answer for each request."""
    level = json.loads(requests.readline())["level"]
    try:
        caller = FunctionCaller(loaded(target), FOREVER, level)
    except InvalidParameter as cause:
        yield {"invalid": str(cause)}
        return
    yield {"type": "hello", "protocol": 1, "passed": list(caller.passed)}
    for line in requests:
        asked = json.loads(line)
        case = stored_question(level, "", asked, (f"layout={asked['layout']}",))
        answer = caller.respond(case, reuse=asked["reuse"])
        yield {"id": asked["id"], **as_record(answer)}


def loaded(target: str) -> Any:
    """The function named by MODULE:FUNCTION or FILE.py:FUNCTION; dots reach into classes and instances."""
    module, _, name = target.rpartition(":")
    if not module or not name:
        raise InvalidParameter(f"{target!r} does not name a function: write MODULE:FUNCTION or FILE.py:FUNCTION.")
    if "" not in sys.path:
        sys.path.append("")  # at the end: a file in the current folder does not replace an installed package
    try:
        with redirect_stdout(sys.stderr):
            found = from_file(Path(module)) if module.endswith(".py") else importlib.import_module(module)
    except (Exception, SystemExit) as cause:  # whatever the user's module does on import is the user's to read
        raise InvalidParameter(f"{module} could not be imported: {type(cause).__name__}: {cause}") from cause
    try:
        return operator.attrgetter(name)(found)
    except AttributeError as cause:
        raise InvalidParameter(f"{module} has no {name!r}.") from cause


def from_file(path: Path) -> Any:
    """A module loaded from its file."""
    spec: Any = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    main(sys.argv[1])
