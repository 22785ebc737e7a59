"""Sparse PCA, CCA and FDA by d.c. programming: each MM step a CVXPY problem, each answer certified."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .algorithms import dc_pca, sparse_fda, sparse_gev
    from .certificates import Certificate, certify
    from .errors import (
        DataUnavailable,
        DCGEVError,
        Infeasible,
        InvalidParameter,
        InvalidPencil,
        SolverFailed,
        SolverMissing,
    )
    from .mm import Iterate, MMResult, Status, Stop, iterate, minimize
    from .penalties import ExponentialPenalty, L1Penalty, LogPenalty, card, card_eps
    from .pencils import Gram, Pencil
    from .postprocess import renormalize
    from .programs import SparseFDA, SparseGEV
    from .solutions import Solution
    from .solvers import Backend

__version__ = "0.1.0"

# name → module; nothing is imported until it is asked for, so that `import dcgev_cvx` stays light
_HOMES = {
    "dc_pca": "algorithms",
    "sparse_fda": "algorithms",
    "sparse_gev": "algorithms",
    "Certificate": "certificates",
    "certify": "certificates",
    "DCGEVError": "errors",
    "DataUnavailable": "errors",
    "Infeasible": "errors",
    "InvalidParameter": "errors",
    "InvalidPencil": "errors",
    "SolverFailed": "errors",
    "SolverMissing": "errors",
    "Iterate": "mm",
    "MMResult": "mm",
    "Status": "mm",
    "Stop": "mm",
    "iterate": "mm",
    "minimize": "mm",
    "Gram": "pencils",
    "Pencil": "pencils",
    "ExponentialPenalty": "penalties",
    "L1Penalty": "penalties",
    "LogPenalty": "penalties",
    "card": "penalties",
    "card_eps": "penalties",
    "renormalize": "postprocess",
    "SparseFDA": "programs",
    "SparseGEV": "programs",
    "Solution": "solutions",
    "Backend": "solvers",
}
_MODULES = ("datasets", "rivals", "steps")

__all__ = [
    "Backend",
    "Certificate",
    "DCGEVError",
    "DataUnavailable",
    "ExponentialPenalty",
    "Gram",
    "Infeasible",
    "InvalidParameter",
    "InvalidPencil",
    "Iterate",
    "L1Penalty",
    "LogPenalty",
    "MMResult",
    "Pencil",
    "Solution",
    "SolverFailed",
    "SolverMissing",
    "SparseFDA",
    "SparseGEV",
    "Status",
    "Stop",
    "card",
    "card_eps",
    "certify",
    "dc_pca",
    "iterate",
    "minimize",
    "renormalize",
    "sparse_fda",
    "sparse_gev",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    if name in _HOMES:
        return getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)
    if name in _MODULES:
        return importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, *_MODULES, "__version__"])
