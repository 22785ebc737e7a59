"""Run scripts as in Pyodide: only the packages that it has can be imported, and no process or thread starts.

python pyodide_stub.py LAB.py …
"""

import importlib.abc
import runpy
import subprocess
import sys
import threading
from importlib.metadata import packages_distributions, requires
from re import match

# what Pyodide's recipes have of the package's dependencies; SCS and OSQP are left out, since cvxpy-base needs neither
GIVEN = {
    "numpy",
    "scipy",
    "cvxpy",
    "clarabel",
    "lazy-loader",
    "matplotlib",
    "rich",
    "threadpoolctl",
    "marimo",
    "dcgev-cvx",
}
NEVER = {"numba", "llvmlite", "scs", "osqp", "ecos", "highspy"}  # cvxpy 1.9 itself imports qdldl, 1.8 does not


def closure(names):
    """The given distributions and all that they require, without extras."""
    seen, todo = set(), set(names)
    while todo:
        name = todo.pop()
        seen.add(name)
        try:
            lines = requires(name) or []
        except Exception:  # not installed on this platform
            continue
        found = {match(r"[\w.-]+", line)[0].lower().replace("_", "-") for line in lines if "extra ==" not in line}
        todo |= found - seen - NEVER
    return seen


class Only(importlib.abc.MetaPathFinder):
    """Refuses every installed package that is not in the list."""

    def __init__(self, allowed):
        self.owners = packages_distributions()
        self.allowed = allowed

    def find_spec(self, name, path=None, target=None):
        owners = {owner.lower().replace("_", "-") for owner in self.owners.get(name.partition(".")[0], ())}
        if owners and not owners & self.allowed:
            raise ModuleNotFoundError(f"No module named {name!r} (not in Pyodide)", name=name)


def forbidden(*args, **kwargs):
    raise RuntimeError("can't start new thread or process")


if __name__ == "__main__":
    sys.meta_path.insert(0, Only(closure(GIVEN) - NEVER))
    subprocess.Popen.__init__ = forbidden
    threading.Thread.start = forbidden
    for script in sys.argv[1:]:
        outputs, _ = runpy.run_path(script)["app"].run()
        print(script, sum(output is not None for output in outputs))
    print("loaded", sorted(NEVER & set(sys.modules)))
