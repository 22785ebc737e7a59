"""Sparse PCA, CCA and FDA by d.c. programming: each MM step a CVXPY problem, each answer certified.

The public names are listed in `__init__.pyi`. Each is imported when it is first used, so that this import is light.
"""

import lazy_loader

from ._numerics.cvxpy_registration import register

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

register()  # cp.Problem.solve(method="dc"), without importing CVXPY
del register
