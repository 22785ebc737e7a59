"""The ten d.c. test problems of Joki, Bagirov, Karmitsa and Mäkelä (2017), their starts and optima.

K. Joki et al., A proximal bundle method for nonsmooth DC optimization utilizing nonconvex cutting planes, Journal of
Global Optimization 68 (2017), Appendix.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cvxpy as cp
import numpy as np

from dcgev_cvx import DCProgram


def jb01(x: Any) -> tuple[Any, Any]:
    """A maximum of a quartic, a quadratic and an exponential."""
    a = cp.square(x[0]) - 2 * x[0] + cp.square(x[1]) - 4 * x[1] + 4
    b = 2 * cp.square(x[0]) - 5 * x[0] + cp.square(x[1]) - 2 * x[1] + 4
    c = cp.square(x[0]) + 2 * cp.square(x[1]) - 4 * x[1] + 1
    top = cp.maximum(x[0] ** 4 + cp.square(x[1]), cp.square(2 - x[0]) + cp.square(2 - x[1]), 2 * cp.exp(x[1] - x[0]))
    return top + a + b + c, cp.maximum(a + b, b + c, a + c)


def jb02(x: Any) -> tuple[Any, Any]:
    """A curved valley of absolute values."""
    return cp.abs(x[0] - 1) + 200 * cp.pos(cp.abs(x[0]) - x[1]), 100 * (cp.abs(x[0]) - x[1])


def jb03(x: Any) -> tuple[Any, Any]:
    """Two such valleys, coupled."""
    u = cp.abs(x[0] - 1) + 200 * cp.pos(cp.abs(x[0]) - x[1]) + 180 * cp.pos(cp.abs(x[2]) - x[3]) + cp.abs(x[2] - 1)
    u += 10.1 * (cp.abs(x[1] - 1) + cp.abs(x[3] - 1)) + 4.95 * cp.abs(x[1] + x[3] - 2)
    return u, 100 * (cp.abs(x[0]) - x[1]) + 90 * (cp.abs(x[2]) - x[3]) + 4.95 * cp.abs(x[1] - x[3])


def jb04(x: Any) -> tuple[Any, Any]:
    """n·max|xᵢ| − Σ|xᵢ|."""
    return x.size * cp.norm_inf(x), cp.norm1(x)


def jb05(x: Any) -> tuple[Any, Any]:
    """The same for the values of a polynomial at twenty places."""
    values = np.vander(0.05 * np.arange(1, 21), x.size, increasing=True) @ (x - 1.0 / x.size)
    return 20 * cp.norm_inf(values), cp.norm1(values)


def jb06(x: Any) -> tuple[Any, Any]:
    """A quadratic less absolute values."""
    return x[1] + 0.1 * cp.sum_squares(x) + 10 * cp.pos(-x[1]), cp.norm1(x)


def jb07(x: Any) -> tuple[Any, Any]:
    """The curved valley with a maximum of quadratics."""
    q = cp.sum_squares(x)
    top = cp.maximum(q + cp.abs(x[1]), x[0] + q + cp.abs(x[1]) - 0.5, cp.abs(x[0] - x[1]) + cp.abs(x[1]) - 1, x[0] + q)
    u = cp.abs(x[0] - 1) + 200 * cp.pos(cp.abs(x[0]) - x[1]) + 10 * top
    return u, 100 * (cp.abs(x[0]) - x[1]) + 10 * (q + cp.abs(x[1]))


def jb08(x: Any) -> tuple[Any, Any]:
    """A penalised quadratic in three variables."""
    u = 9 - 8 * x[0] - 6 * x[1] - 4 * x[2] + 2 * cp.norm1(x) + 4 * cp.square(x[0]) + 2 * cp.sum_squares(x[1:])
    u += 10 * cp.maximum(0, x[0] + x[1] + 2 * x[2] - 3, -x[0], -x[1], -x[2])
    return u, cp.abs(x[0] - x[1]) + cp.abs(x[0] - x[2])


def jb09(x: Any) -> tuple[Any, Any]:
    """Clustering: squared distances to the nearer of two centres."""
    points = [(2, 0), (2, 1), (3, 0), (0, 2), (1, 2)]
    u = cp.square(x[0]) + cp.square(x[0] - 1) + 2 * cp.square(x[0] - 2) + cp.square(x[0] - 3) + 2 * cp.square(x[1])
    u += cp.square(x[1] - 1) + 2 * cp.square(x[1] - 2) + cp.square(x[2]) + cp.square(x[2] - 1) + 2 * cp.square(x[2] - 2)
    u += cp.square(x[2] - 3) + 2 * cp.square(x[3]) + cp.square(x[3] - 1) + 2 * cp.square(x[3] - 2)
    far = [[cp.square(x[i] - a) + cp.square(x[i + 1] - b) for i in (0, 2)] for a, b in points]
    return u, sum(cp.maximum(*pair) for pair in far)


def jb10(x: Any) -> tuple[Any, Any]:
    """A quadratic less a total variation."""
    return cp.sum_squares(x), cp.norm1(cp.diff(x))


JOKI: dict[str, tuple[Callable[[Any], tuple[Any, Any]], list[float], float]] = {
    "JB01": (jb01, [2, 2], 2.0),
    "JB02": (jb02, [-1.2, 1], 0.0),
    "JB03": (jb03, [1, 3, 3, 1], 0.0),
    "JB04": (jb04, [1, 2, 3, 4, 5, -6, -7, -8, -9, -10], 0.0),
    "JB05": (jb05, [0, 0, 0, 0, 0], 0.0),
    "JB06": (jb06, [10, 1], -2.5),
    "JB07": (jb07, [-2, 1], 0.5),
    "JB08": (jb08, [0.5, 0.5, 0.5], 3.5),
    "JB09": (jb09, [4, 2, 4, 2], 11 / 6),
    "JB10": (jb10, [0.1, 0.2, 0.3, 0.4], -2.5),
}
"""The problem, the published start and the minimum."""


def joki(name: str, start: Any = None) -> DCProgram:
    """One of the problems, at its published start or another one."""
    make, published, _ = JOKI[name]
    x = cp.Variable(len(published), name="x", value=published if start is None else start)
    return DCProgram(*make(x))
