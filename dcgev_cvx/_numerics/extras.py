"""Packages that are missing or too old: the error holds the command that installs them."""

import logging
import random
import re
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from ..errors import MissingPackage

OLDEST_CVXPY = "1.7"
"""The oldest version that passes the tests, as in pyproject.toml."""
LARGE = 200
"""From this many variables on, engine="native" takes several times as long without numba as with it."""


def require(package: str, extra: str) -> Any:
    """Import a module of an optional package.

    Parameters
    ----------
    package : str
        The module to import, such as "joblib" or "sklearn.linear_model".
    extra : str
        The optional dependency group of dcgev-cvx that installs it.

    Returns
    -------
    module
        The imported module.

    Raises
    ------
    MissingPackage
        When the package is not installed; the message holds the command that installs it.

    Examples
    --------
    >>> from dcgev_cvx._numerics.extras import require
    >>> require("json", "study").dumps([1])
    '[1]'
    >>> require("absent", "study")
    Traceback (most recent call last):
    dcgev_cvx.errors.MissingPackage: This feature needs the package absent: pip install 'dcgev-cvx[study]'.
    """
    state = random.getstate()
    try:
        return import_module(package)
    except ImportError as cause:
        name = package.partition(".")[0]
        raise MissingPackage(
            f"This feature needs the package {name}: pip install 'dcgev-cvx[{extra}]'.", name=name
        ) from cause
    finally:
        random.setstate(state)  # importing scikit-learn draws one of Python's global random numbers


def check_cvxpy() -> None:
    """Check that the installed CVXPY is recent enough, from its metadata: importing it takes a second.

    Raises
    ------
    MissingPackage
        When it is older; the message holds the command that upgrades it.

    Examples
    --------
    >>> from dcgev_cvx._numerics.extras import check_cvxpy
    >>> check_cvxpy()
    """
    from importlib.metadata import PackageNotFoundError, version

    try:
        installed = version("cvxpy")
    except PackageNotFoundError:  # installed as cvxpy-base
        return
    numbers, needed = ([int(n) for n in re.findall(r"\d+", text)[:2]] for text in (installed, OLDEST_CVXPY))
    if numbers < needed:
        raise MissingPackage(
            f"dcgev-cvx needs cvxpy {OLDEST_CVXPY} or newer, got {installed}: pip install 'cvxpy>={OLDEST_CVXPY}'.",
            name="cvxpy",
        )


@cache
def expect_numba(large: bool) -> None:
    """Log once per process that numba is missing, where a large problem would be solved faster with it."""
    if large and find_spec("numba") is None:
        logging.getLogger("dcgev_cvx").warning(
            "dcgev_cvx: numba is not installed; large problems are solved faster with it: "
            "pip install 'dcgev-cvx[fast]'."
        )
