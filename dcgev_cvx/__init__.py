"""Sparse PCA, CCA and FDA by d.c. programming: each MM step a CVXPY problem, each answer certified."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .algorithms import dc_pca, sparse_fda, sparse_gev
    from .certificates import Certificate, Solution, certify, renormalize
    from .comparison import Comparison, compare
    from .errors import (
        DataUnavailable,
        DCGEVError,
        Infeasible,
        InvalidParameter,
        InvalidPencil,
        MissingPackage,
        SolverFailed,
        SolverMissing,
    )
    from .estimators import DCCCA, DCFDA, DCPCA
    from .mm import Iterate, MMResult, Status, Stop, iterate, minimize
    from .pencils import Gram, Pencil, cca_pencil, fda_pencil, fda_vectors, pca_pencil
    from .programs import ExponentialPenalty, L1Penalty, LogPenalty, SparseFDA, SparseGEV, card, card_eps
    from .search.deflation import Components, components, deflate
    from .search.fisher import FisherPath, fisher_path, fisher_solve, least_squares_form
    from .search.paths import Path, path, rho_max, solve
    from .steps.backend import Backend

__version__ = "0.1.0"

# name → module; nothing is imported until it is asked for, so that `import dcgev_cvx` stays light
_HOMES = {
    "dc_pca": "algorithms",
    "sparse_fda": "algorithms",
    "sparse_gev": "algorithms",
    "Certificate": "certificates",
    "certify": "certificates",
    "Comparison": "comparison",
    "compare": "comparison",
    "DCGEVError": "errors",
    "DataUnavailable": "errors",
    "Infeasible": "errors",
    "InvalidParameter": "errors",
    "InvalidPencil": "errors",
    "MissingPackage": "errors",
    "SolverFailed": "errors",
    "SolverMissing": "errors",
    "Iterate": "mm",
    "MMResult": "mm",
    "Status": "mm",
    "Stop": "mm",
    "iterate": "mm",
    "minimize": "mm",
    "Path": "search.paths",
    "path": "search.paths",
    "rho_max": "search.paths",
    "solve": "search.paths",
    "Gram": "pencils",
    "Pencil": "pencils",
    "ExponentialPenalty": "programs",
    "L1Penalty": "programs",
    "LogPenalty": "programs",
    "card": "programs",
    "card_eps": "programs",
    "renormalize": "certificates",
    "SparseFDA": "programs",
    "SparseGEV": "programs",
    "Solution": "certificates",
    "Backend": "steps.backend",
    "cca_pencil": "pencils",
    "fda_pencil": "pencils",
    "fda_vectors": "pencils",
    "pca_pencil": "pencils",
    "Components": "search.deflation",
    "components": "search.deflation",
    "deflate": "search.deflation",
    "DCCCA": "estimators",
    "DCFDA": "estimators",
    "DCPCA": "estimators",
    "FisherPath": "search.fisher",
    "fisher_path": "search.fisher",
    "fisher_solve": "search.fisher",
    "least_squares_form": "search.fisher",
}
_MODULES = (
    "datasets",
    "exact",
    "models",
    "plotting",
    "relaxations",
    "rivals",
    "steps",
    "teach",
    "verify",
)

__all__ = [
    "DCCCA",
    "DCFDA",
    "DCPCA",
    "Backend",
    "Certificate",
    "Comparison",
    "Components",
    "DCGEVError",
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
