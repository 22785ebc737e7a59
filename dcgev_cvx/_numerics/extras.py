"""Packages that only some features need: imported when the feature is used, named in the error when missing."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ..errors import MissingPackage


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
    >>> require("json", "reproduce").dumps([1])
    '[1]'
    >>> require("absent", "reproduce")
    Traceback (most recent call last):
    dcgev_cvx.errors.MissingPackage: This feature needs the package absent: pip install 'dcgev-cvx[reproduce]'.
    """
    try:
        return import_module(package)
    except ImportError as cause:
        name = package.partition(".")[0]
        raise MissingPackage(
            f"This feature needs the package {name}: pip install 'dcgev-cvx[{extra}]'.", name=name
        ) from cause
