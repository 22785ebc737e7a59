from . import datasets, exact, models, plotting, relaxations, rivals, steps, teach, verify
from .algorithms import dc_pca, sparse_fda, sparse_gev
from .builders import cca_pencil, fda_pencil, fda_vectors, pca_pencil
from .certificates import Certificate, certify, renormalize
from .comparison import Comparison, Study, compare, family, study
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
from .penalties import MCP, SCAD, ExponentialPenalty, L1Penalty, LogPenalty, LqPenalty, card, card_eps
from .pencils import Gram, Pencil
from .programs import SparseFDA, SparseGEV
from .search.components import Components, components
from .search.deflation import deflate
from .search.fisher import FisherPath, fisher_path, fisher_solve, least_squares_form
from .search.path import Path, path, rho_max
from .search.solve import solve
from .solutions import Solution
from .steps.backend import Backend

__version__: str

__all__ = [
    "DCCCA",
    "DCFDA",
    "DCPCA",
    "MCP",
    "SCAD",
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
    "LqPenalty",
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
    "Study",
    "Unbounded",
    "card",
    "card_eps",
    "cca_pencil",
    "certify",
    "compare",
    "components",
    "datasets",
    "dc_pca",
    "deflate",
    "exact",
    "family",
    "fda_pencil",
    "fda_vectors",
    "fisher_path",
    "fisher_solve",
    "iterate",
    "least_squares_form",
    "minimize",
    "models",
    "path",
    "pca_pencil",
    "plotting",
    "relaxations",
    "renormalize",
    "rho_max",
    "rivals",
    "solve",
    "sparse_fda",
    "sparse_gev",
    "steps",
    "study",
    "teach",
    "verify",
]
