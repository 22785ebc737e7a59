"""Sparse PCA, CCA and FDA by d.c. programming: each MM step a CVXPY problem, each answer certified."""

import importlib
from typing import TYPE_CHECKING, Any

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

if TYPE_CHECKING:
    from .algorithms import dc_pca, sparse_fda, sparse_gev
    from .certificates import Certificate, Solution, certify, renormalize
    from .comparison import Comparison, compare
    from .dc import DCProgram
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

# in a form that type checkers read; the same modules in the same order
__all__ = ["dc_pca", "sparse_fda", "sparse_gev"]
__all__ += ["Certificate", "Solution", "certify", "renormalize"]
__all__ += ["Comparison", "compare"]
__all__ += ["DCProgram"]
__all__ += [
    "DCGEVError",
    "DataUnavailable",
    "Infeasible",
    "InvalidParameter",
    "InvalidPencil",
    "MissingPackage",
    "SolverFailed",
    "SolverMissing",
    "Unbounded",
]
__all__ += ["DCCCA", "DCFDA", "DCPCA"]
__all__ += ["Iterate", "MMResult", "Status", "Stop", "iterate", "minimize"]
__all__ += ["Gram", "Pencil", "cca_pencil", "fda_pencil", "fda_vectors", "pca_pencil"]
__all__ += ["ExponentialPenalty", "L1Penalty", "LogPenalty", "SparseFDA", "SparseGEV", "card", "card_eps"]
__all__ += ["Components", "components"]
__all__ += ["deflate"]
__all__ += ["FisherPath", "fisher_path", "fisher_solve", "least_squares_form"]
__all__ += ["Path", "path", "rho_max"]
__all__ += ["solve"]
__all__ += ["Backend"]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    if name in _HOMES:
        return getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)
    if name in _MODULES:
        return importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, *_MODULES, "__version__"])
