"""The suites of cases are built once for all workers and runs, and read from a temporary folder afterwards."""

from __future__ import annotations

import getpass
import os
import pickle
import tempfile
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

import numpy as np
import scipy

import dcgev_cvx.verify.suite as suites

try:
    import fcntl
except ImportError:  # Windows: workers may build the same suite twice
    fcntl = None

PACKAGE = Path(suites.__file__).parents[1]
SOURCES = [*sorted((PACKAGE / "verify").glob("*.py")), PACKAGE / "penalties.py"]
VERSION = sha256(b"".join(file.read_bytes() for file in SOURCES) + f"{np.__version__} {scipy.__version__}".encode())
FOLDER = Path(tempfile.gettempdir()) / f"dcgev-suites-{getpass.getuser()}-{VERSION.hexdigest()[:12]}"
build = suites.made_suite


@lru_cache(maxsize=64)
def stored_suite(*asked):
    """The suite from its file, or built and written; while one worker builds it the others wait."""
    FOLDER.mkdir(mode=0o700, exist_ok=True)
    file = FOLDER / sha256(repr(asked).encode()).hexdigest()[:16]
    with file.with_suffix(".lock").open("w") as lock:
        if fcntl is not None:
            fcntl.flock(lock, fcntl.LOCK_EX)
        if file.exists():
            return pickle.loads(file.read_bytes())
        found = build(*asked)
        part = file.with_suffix(f".{os.getpid()}")
        part.write_bytes(pickle.dumps(found))
        part.replace(file)
        return found


suites.made_suite = stored_suite
