"""A k-sparse vector, its value computed from the data, and how it was found (SGEV-P)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._numerics.checks import Vector, as_vector, frozen, is_whole, shown
from ._numerics.text_tables import count, printable
from .certificates import Certificate, length, value
from .errors import InvalidParameter
from .pencils import Pencil, expect_pencil


@dataclass(frozen=True)
class Solution:
    """A sparse vector with unit B norm and exact zeros, and its value computed from the data (SGEV-P).

    A Solution says what was attained, not that nothing better exists: for that see `exact.ExactSolution` or the bound
    of a `Relaxation`.

    Parameters
    ----------
    x : ndarray
        The vector.
    k : int
        The number of its nonzeros.
    support : tuple of int
        Their positions.
    value : float
        xᵀAx/xᵀBx.
    method : str
        How it was found.
    seconds : float
        How long that took.
    rho : float
        ρ̃ of the last d.c. program; NaN for other methods.
    eps : float
        ε of the last d.c. program; NaN for other methods.
    on_path : bool, optional
        Whether some ρ̃ on the path from the leading eigenvector gives k nonzeros; None if that was not computed.
    certificate : Certificate, optional
        The certificate of the last d.c. program.
    names : tuple of str, optional
        The names of the variables.

    Examples
    --------
    >>> from dcgev_cvx import datasets, solve
    >>> found = solve(datasets.pitprops(), 2, effort="quick")
    >>> found.support, found.k, round(found.value, 4)
    ((0, 1), 2, 1.954)
    """

    x: Vector
    k: int
    support: tuple[int, ...]
    value: float
    method: str
    seconds: float
    rho: float = math.nan
    eps: float = math.nan
    on_path: bool | None = None
    certificate: Certificate | None = None
    names: tuple[str, ...] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and lists for JSON; NaN becomes None, loadings are by name (x1, x2, … without names)."""
        return {
            "method": self.method,
            "k": self.k,
            "value": self.value,
            "support": list(self.support),
            "loadings": {self._name(i): float(self.x[i]) for i in self.support},
            "rho": None if math.isnan(self.rho) else self.rho,
            "eps": None if math.isnan(self.eps) else self.eps,
            "on_path": self.on_path,
            "stationarity": None if self.certificate is None else self.certificate.stationarity,
            "seconds": self.seconds,
        }

    def _name(self, i: int) -> str:
        return self.names[i] if self.names is not None else f"x{i + 1}"

    def __str__(self) -> str:
        loadings = ", ".join(f"{printable(self._name(i))} {self.x[i]:+.3f}" for i in self.support[:12])
        more = " …" if self.k > 12 else ""
        return f"{self.method}: value {self.value:.6g} with {count(self.k, 'nonzero')}: {loadings}{more}"


def solution_of(
    pencil: Pencil,
    x: Vector,
    method: str,
    seconds: float,
    *,
    rho: float = math.nan,
    eps: float = math.nan,
    on_path: bool | None = None,
    certificate: Certificate | None = None,
) -> Solution:
    """The Solution of any nonzero vector: scaled to unit B norm, its value computed from the data."""
    x = as_vector(x, expect_pencil(pencil).n, "x")
    norm = length(pencil, x)
    if norm == 0.0:
        raise InvalidParameter("x = 0 is not a direction: it has no value xᵀAx/xᵀBx.")
    x = frozen(x / norm)
    support = tuple(int(i) for i in np.flatnonzero(x))
    found = value(pencil, x)
    return Solution(x, len(support), support, found, method, seconds, rho, eps, on_path, certificate, pencil.names)


def checked_k(k: Any, n: int) -> int:
    """A cardinality, a whole number between 1 and n.

    >>> from dcgev_cvx.solutions import checked_k
    >>> checked_k(14, 13)
    Traceback (most recent call last):
    dcgev_cvx.errors.InvalidParameter: k = 14 is out of range: it must be a whole number between 1 and n = 13.
    """
    if not is_whole(k) or not 1 <= k <= n:
        raise InvalidParameter(f"k = {shown(k)} is out of range: it must be a whole number between 1 and n = {n}.")
    return int(k)
