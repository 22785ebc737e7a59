"""The suites of cases are built once for all workers and runs, and read from a temporary folder afterwards."""

from __future__ import annotations

import os
import pickle
import tempfile
import time
from contextlib import suppress
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

import numpy as np
import scipy

import dcgev_cvx.verify.suite as suites

PACKAGE = Path(suites.__file__).parents[1]
SOURCES = [*sorted((PACKAGE / "verify").glob("*.py")), PACKAGE / "programs.py"]
VERSION = sha256(b"".join(file.read_bytes() for file in SOURCES) + f"{np.__version__} {scipy.__version__}".encode())
FOLDER = Path(tempfile.gettempdir()) / f"dcgev-suites-{os.getuid()}-{VERSION.hexdigest()[:12]}"
build = suites.made_suite


@lru_cache(maxsize=64)
def stored_suite(*asked):
    """The suite from its file, or built and written; while one worker builds it the others wait."""
    FOLDER.mkdir(mode=0o700, exist_ok=True)
    file = FOLDER / sha256(repr(asked).encode()).hexdigest()[:16]
    lock = file.with_suffix(".lock")
    for _ in range(600):
        if file.exists():
            return pickle.loads(file.read_bytes())
        with suppress(FileExistsError):
            lock.touch(exist_ok=False)
            break
        time.sleep(0.2)
    found = build(*asked)
    part = file.with_suffix(f".{os.getpid()}")
    part.write_bytes(pickle.dumps(found))
    part.replace(file)
    lock.unlink(missing_ok=True)
    return found


suites.made_suite = stored_suite
