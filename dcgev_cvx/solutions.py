"""What every finder of a k-sparse vector returns: the vector, its value and where it came from (SGEV-P).

Whatever found x, `solution_of` scales it to unit B norm and computes its value from the data, so that the
Solutions of different methods can be compared without trusting any of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._numerics.checks import Vector, as_vector, frozen, is_whole, shown
from .certificates import Certificate
from .errors import InvalidParameter
from .pencils import Pencil, expect_pencil
from .postprocess import value


@dataclass(frozen=True)
class Solution:
    """A sparse vector with unit B norm and exact zeros; value = xᵀAx/xᵀBx from the data.

    rho and eps name the last program of a d.c. run (NaN for other methods), certificate is its
    referee's verdict, on_path says whether k lies on the ρ̃ path (None when not asked), method
    who found it, passes how many products with A that took (0 when not counted).

    A Solution says what was attained, never that nothing better exists: for that see
    `dcgev_cvx.exact.ExactSolution` or the bound of a `Relaxation`.

    Examples
    --------
    >>> from dcgev_cvx import datasets, solve
    >>> found = solve(datasets.pitprops(), 2, effort="quick")
    >>> found.support, found.k, round(found.value, 4)
    ((0, 1), 2, 1.954)
    >>> print(found)
    solve: value 1.954 with 2 nonzeros: topdiam +0.707, length +0.707
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
    passes: int = 0
    names: tuple[str, ...] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and lists, for JSON.

        NaN becomes None, since JSON has no NaN; loadings are by name (x1, x2, … without names), positions from 0.
        """
        loadings = {self._name(i): float(self.x[i]) for i in self.support}
        return {
            "method": self.method,
            "k": self.k,
            "value": self.value,
            "support": list(self.support),
            "loadings": loadings,
            "rho": None if math.isnan(self.rho) else self.rho,
            "eps": None if math.isnan(self.eps) else self.eps,
            "on_path": self.on_path,
            "stationarity": None if self.certificate is None else self.certificate.stationarity,
            "seconds": self.seconds,
        }

    def _name(self, i: int) -> str:
        return self.names[i] if self.names is not None else f"x{i + 1}"

    def __str__(self) -> str:
        loadings = ", ".join(f"{self._name(i)} {self.x[i]:+.3f}" for i in self.support[:12])
        more = " …" if self.k > 12 else ""
        return f"{self.method}: value {self.value:.6g} with {self.k} nonzeros: {loadings}{more}"


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
    passes: int = 0,
) -> Solution:
    """The record of a vector, scaled to unit B norm and judged by the data.

    Parameters
    ----------
    x
        Any nonzero vector of length n; it is copied, scaled and frozen.
    method
        The label by which tables call it.
    rho, eps, certificate
        Of the last d.c. program, where there was one.
    on_path
        Whether some ρ̃ gives k nonzeros, None when that was not asked.

    Raises
    ------
    InvalidParameter
        For x = 0, a wrong length, or entries that are not finite.
    """
    x = as_vector(x, expect_pencil(pencil).n, "x")
    norm = pencil.B_norm(x)
    if norm == 0.0:
        raise InvalidParameter("x = 0 is not a direction: it has no value xᵀAx/xᵀBx.")
    x = frozen(x / norm)
    support = tuple(int(i) for i in np.flatnonzero(x))
    return Solution(
        x=x,
        k=len(support),
        support=support,
        value=value(pencil, x),
        method=method,
        seconds=seconds,
        rho=rho,
        eps=eps,
        on_path=on_path,
        certificate=certificate,
        passes=passes,
        names=pencil.names,
    )


def checked_k(k: Any, n: int) -> int:
    """A whole number between 1 and n.

    Raises InvalidParameter for True, 2.0, "3" and everything outside 1 … n: a cardinality that had to be guessed
    would be a silent mistake.

    Examples
    --------
    >>> from dcgev_cvx.solutions import checked_k
    >>> checked_k(3, 13)
    3
    >>> checked_k(14, 13)
    Traceback (most recent call last):
    dcgev_cvx.errors.InvalidParameter: k = 14 is out of range: a cardinality lies between 1 and n = 13.
    """
    if not is_whole(k):
        raise InvalidParameter(f"k = {shown(k)} must be a whole number between 1 and n = {n}.")
    if not 1 <= k <= n:
        raise InvalidParameter(f"k = {shown(k)} is out of range: a cardinality lies between 1 and n = {n}.")
    return int(k)
