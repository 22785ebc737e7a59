"""Sparse PCA, CCA and FDA by d.c. programming: each MM step a CVXPY problem, each answer certified."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .algorithms import dc_pca, sparse_fda, sparse_gev
    from .certificates import Certificate, Solution, certify, renormalize
    from .comparison import Comparison, compare
    from .dc import DCProgram
    from .errors import (
        DataUnavailable,
        DCGEVError,
        Infeasible,
        InvalidParameter,
        InvalidPencil,
        MissingPackage,
        SolverFailed,
        SolverMissing,
        Unbounded,
    )
    from .estimators import DCCCA, DCFDA, DCPCA
    from .mm import Iterate, MMResult, Status, Stop, iterate, minimize
    from .penalties import ExponentialPenalty, L1Penalty, LogPenalty, card, card_eps
    from .pencils import Gram, Pencil, cca_pencil, fda_pencil, fda_vectors, pca_pencil
    from .programs import SparseFDA, SparseGEV
    from .search.components import Components, components
    from .search.deflation import deflate
    from .search.fisher import FisherPath, fisher_path, fisher_solve, least_squares_form
    from .search.path import Path, path, rho_max
    from .search.solve import solve
    from .steps.backend import Backend

__version__ = "0.1.0"

# the public names of each module; nothing is imported until it is used, so that `import dcgev_cvx` stays light
_NAMES = {
    "algorithms": ("dc_pca", "sparse_fda", "sparse_gev"),
    "certificates": ("Certificate", "Solution", "certify", "renormalize"),
    "comparison": ("Comparison", "compare"),
    "dc": ("DCProgram",),
    "errors": (
        "DCGEVError",
        "DataUnavailable",
        "Infeasible",
        "InvalidParameter",
        "InvalidPencil",
        "MissingPackage",
        "SolverFailed",
        "SolverMissing",
        "Unbounded",
    ),
    "estimators": ("DCCCA", "DCFDA", "DCPCA"),
    "mm": ("Iterate", "MMResult", "Status", "Stop", "iterate", "minimize"),
    "pencils": ("Gram", "Pencil", "cca_pencil", "fda_pencil", "fda_vectors", "pca_pencil"),
    "penalties": ("ExponentialPenalty", "L1Penalty", "LogPenalty", "card", "card_eps"),
    "programs": ("SparseFDA", "SparseGEV"),
    "search.components": ("Components", "components"),
    "search.deflation": ("deflate",),
    "search.fisher": ("FisherPath", "fisher_path", "fisher_solve", "least_squares_form"),
    "search.path": ("Path", "path", "rho_max"),
    "search.solve": ("solve",),
    "steps.backend": ("Backend",),
}
_HOMES = {name: module for module, names in _NAMES.items() for name in names}
_MODULES = ("datasets", "exact", "models", "plotting", "relaxations", "rivals", "steps", "teach", "verify")

__all__ = [
    "DCCCA",
    "DCFDA",
    "DCPCA",
    "Backend",
    "Certificate",
    "Comparison",
    "Components",
    "DCGEVError",
    "DCProgram",
    "DataUnavailable",
    "ExponentialPenalty",
    "FisherPath",
    "Gram",
    "Infeasible",
    "InvalidParameter",
    "InvalidPencil",
    "Iterate",
    "L1Penalty",
    "LogPenalty",
    "MMResult",
    "MissingPackage",
    "Path",
    "Pencil",
    "Solution",
    "SolverFailed",
    "SolverMissing",
    "SparseFDA",
    "SparseGEV",
    "Status",
    "Stop",
    "Unbounded",
    "card",
    "card_eps",
    "cca_pencil",
    "certify",
    "compare",
    "components",
    "dc_pca",
    "deflate",
    "fda_pencil",
    "fda_vectors",
    "fisher_path",
    "fisher_solve",
    "iterate",
    "least_squares_form",
    "minimize",
    "path",
    "pca_pencil",
    "renormalize",
    "rho_max",
    "solve",
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
