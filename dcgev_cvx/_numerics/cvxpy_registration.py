"""`problem.solve(method="dc")` is known to CVXPY as soon as both packages are imported, in either order.

CVXPY is not imported for this, and `dcgev_cvx.dc` only when the method is first called.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any


def solve_by_dc(problem: Any, *arguments: Any, **settings: Any) -> float:
    """See `dcgev_cvx.dc.cvxpy_method.solve_by_dc`."""
    return import_module("dcgev_cvx.dc.cvxpy_method").solve_by_dc(problem, *arguments, **settings)


class AfterCVXPY:
    """A finder that registers the method once CVXPY has been imported, and otherwise leaves imports alone."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """CVXPY's own spec, with the registration after its execution; None for all other modules."""
        if name != "cvxpy":
            return None
        sys.meta_path.remove(self)  # pyright: ignore[reportArgumentType]
        spec = PathFinder.find_spec(name, path, target)
        loader: Any = None if spec is None else spec.loader
        if loader is None:
            return spec
        execute = loader.exec_module

        def exec_module(module: ModuleType) -> None:
            execute(module)
            module.Problem.register_solve("dc", solve_by_dc)

        loader.exec_module = exec_module
        return spec


def register() -> None:
    """Register the method now, or as soon as CVXPY is imported."""
    if "cvxpy" in sys.modules and hasattr(sys.modules["cvxpy"], "Problem"):
        sys.modules["cvxpy"].Problem.register_solve("dc", solve_by_dc)
    else:
        sys.meta_path.insert(0, AfterCVXPY())  # pyright: ignore[reportArgumentType]
