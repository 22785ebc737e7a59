"""A CVXPY problem that is compiled once for many solves, its parameters standing in the linear cost alone.

CVXPY's standard form of such a problem is min ½xᵀPx + q(θ)ᵀx over fixed cones, with q affine in the parameters θ.
P, A and b are kept and q is multiplied out, which gives the same data bit for bit. Where CVXPY's internals are not
as expected, in an older or newer version, every solve is CVXPY's own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cvxpy as cp
import numpy as np
from scipy.sparse import coo_array, issparse

from .._numerics.checks import Vector

READS_ONLY = ("CLARABEL", "SCS", "OSQP")
"""Solvers that copy their data before they scale it; ECOS scales in place and back, which may lose a bit."""


class LinearCostProblem(cp.Problem):
    """The same problem, for many solves: after the first, only the cost vector is computed anew.

    CVXPY multiplies out every matrix at each solve, which at n = 13 takes longer than the solver does.
    """

    def __init__(self, problem: cp.Problem) -> None:
        self._kept: dict[str, StandardForm] = {}
        super().__init__(problem.objective, problem.constraints)
        self._own = tuple(self.parameters())  # a walk through the whole expression, made once

    def get_problem_data(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, solver: Any, *args: Any, **kwargs: Any
    ) -> tuple[dict[str, Any], Any, Any]:
        """(data, chain, inverse data), as cp.Problem.get_problem_data returns them."""
        key = repr((solver, args, kwargs))
        if key not in self._kept:
            data, chain, inverse = super().get_problem_data(solver, *args, **kwargs)
            form = self._understood(data, chain, inverse)
            if form is not None:
                self._kept[key] = form
            return data, chain, inverse
        form = self._kept[key]
        return form.at(self._parameter_vector(form.data["param_prob"])), form.chain, form.inverse

    def _understood(self, data: dict[str, Any], chain: Any, inverse: Any) -> StandardForm | None:
        """The standard form, if its cost is the map that we take it for; None leaves the solves to CVXPY."""
        compiled: Any = data.get("param_prob")
        cost = "c" if "c" in data else "q"
        try:
            fixed = (compiled.A, compiled.P, *(getattr(compiled, name, None) for name in ("lb_tensor", "ub_tensor")))
            ours = set(compiled.param_id_to_col) - {-1} == {parameter.id for parameter in self._own}
            if not ours or not all(constant(tensor) for tensor in fixed):
                return None
            # the map is trusted only after it gave CVXPY's own cost vector, bit for bit
            expected = cost_of(compiled.q, self._parameter_vector(compiled))
            if not np.array_equal(expected, data[cost]):
                return None
            return StandardForm(ready_for(chain.solver.name(), data, expected.size), chain, inverse, cost, compiled.q)
        except (AttributeError, KeyError, TypeError, ValueError, IndexError):
            return None

    def _parameter_vector(self, compiled: Any) -> Vector:
        """The parameters' values in the order of the compiled problem, and the 1 of its constant part."""
        vector = np.zeros(compiled.q.shape[1])
        vector[-1] = 1.0
        for parameter in self._own:
            begin = compiled.param_id_to_col[parameter.id]
            vector[begin : begin + parameter.size] = parameter.value
        return vector


@dataclass(frozen=True)
class StandardForm:
    """What CVXPY made of the problem for one solver.

    cost is the key of the cost vector in the data, "c" or "q" by solver interface; slopes is the sparse matrix that
    maps (θ, 1) to (q, constant).
    """

    data: dict[str, Any]
    chain: Any
    inverse: Any
    cost: str
    slopes: Any

    def at(self, parameters: Vector) -> dict[str, Any]:
        """The solver's data with the cost of these parameters; arrays are copied where a solver may write."""
        kept = self.data if self.chain.solver.name() in READS_ONLY else {k: own_copy(v) for k, v in self.data.items()}
        return kept | {self.cost: cost_of(self.slopes, parameters)}


def constant(tensor: Any) -> bool:
    """Is a part of the compiled problem free of parameters? Their columns come first, the constant's last."""
    return tensor is None or tensor.tocsc()[:, :-1].count_nonzero() == 0


def cost_of(slopes: Any, parameters: Vector) -> Vector:
    """The cost vector; the last row of the map is the objective's constant."""
    return np.asarray(slopes @ parameters).reshape(-1)[:-1]


def ready_for(solver: str, data: dict[str, Any], size: int) -> dict[str, Any]:
    """The data to keep, P as triplets for CLARABEL: the form from which CVXPY takes its triangle at each solve."""
    if solver != "CLARABEL":
        return dict(data)
    return dict(data) | {"P": coo_array(data.get("P", (size, size)))}


def own_copy(entry: Any) -> Any:
    """A copy of an array or sparse matrix; anything else as it is."""
    return entry.copy() if isinstance(entry, np.ndarray) or issparse(entry) else entry
