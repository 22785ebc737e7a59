"""Every part of CVXPY that its documentation does not promise, in one place, with what is used where it is missing.

affine_map   CVXPY's compiler of affine expressions; without it, their gradients and values at 0
gradient     `Atom._grad`, CVXPY's gradient without its chain rule; without it, the public `grad`
AffAtom, AxisAtom, Elementwise   base classes of atoms: affine ones, reductions along an axis, entry-by-entry ones
offset       the constant of a compiled objective, which the solver's data leave out

`tests/dc/test_cvxpy_internals.py` runs both ways on each supported version.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import cvxpy as cp
import numpy as np
from cvxpy.atoms.affine.affine_atom import AffAtom
from cvxpy.atoms.axis_atom import AxisAtom
from cvxpy.atoms.elementwise.elementwise import Elementwise
from scipy import sparse

from .._numerics.checks import Vector

__all__ = ["AffAtom", "AxisAtom", "Elementwise", "affine_map", "gradient", "offset"]


def compiler() -> tuple[Any, Any, Any] | None:
    """CVXPY's compiler of affine expressions and what it needs; None in a version that has none of this name."""
    try:
        from cvxpy.cvxcore.python.canonInterface import get_problem_matrix
        from cvxpy.lin_ops.lin_op import CONSTANT_ID
        from cvxpy.reductions.eval_params import replace_params_with_consts
    except ImportError:
        return None
    return get_problem_matrix, CONSTANT_ID, replace_params_with_consts


def affine_map(expressions: Sequence[Any], variables: Sequence[cp.Variable]) -> tuple[Any, Vector]:
    """(M, b) with expressions = Mx + b for the stacked variables x."""
    *begins, n = np.cumsum([0, *(variable.size for variable in variables)]).tolist()
    if not expressions:
        return sparse.csr_array((0, n)), np.zeros(0)
    if not any(e.variables() for e in expressions):
        b = np.concatenate([flat(e.value) for e in expressions])
        return sparse.csr_array((len(b), n)), b
    found = compiler()
    if found is None:
        return public_affine_map(expressions, variables)
    get_problem_matrix, CONSTANT_ID, replace_params_with_consts = found
    columns = {variable.id: begin for variable, begin in zip(variables, begins, strict=True)}
    fixed: list[Any] = [replace_params_with_consts(e) if e.parameters() else e for e in expressions]
    m = sum(e.size for e in expressions)
    try:
        forms = [e.canonical_form[0] for e in fixed]
    except NotImplementedError:  # cumsum is affine, but has no such form
        return public_affine_map(expressions, variables)
    tensor = get_problem_matrix(forms, n, columns, {CONSTANT_ID: 1}, {CONSTANT_ID: 0}, m, None)
    both = sparse.csr_array(sparse.coo_array(tensor).reshape((m, n + 1), order="F"))
    return both[:, :n], both[:, [n]].toarray().ravel()


def public_affine_map(expressions: Sequence[Any], variables: Sequence[cp.Variable]) -> tuple[Any, Vector]:
    """The same map by CVXPY's documented interface, which takes longer."""
    kept = [variable.value for variable in variables]
    try:
        for variable in variables:
            variable.save_value(np.zeros(variable.shape))
        b = np.concatenate([flat(e.value) for e in expressions])
        blocks = [[as_sparse(e.grad.get(w, 0.0), w.size, e.size).T for w in variables] for e in expressions]
    finally:
        for variable, value in zip(variables, kept, strict=True):
            variable.save_value(value)
    return sparse.csr_array(sparse.block_array(blocks)), b


def gradient(atom: Any) -> dict[Any, Any]:
    """The slopes of an atom of variables, by variable."""
    if hasattr(atom, "_grad") and all(isinstance(argument, cp.Variable) for argument in atom.args):
        return dict(zip(atom.args, atom._grad([argument.value for argument in atom.args]), strict=True))
    return atom.grad


def offset(inverse_data: Any) -> float | None:
    """The constant of the objective that CVXPY keeps apart from the solver's data; None where it is not found."""
    try:
        return float(inverse_data[-1]["offset"])
    except (KeyError, TypeError, IndexError):
        return None


def flat(value: Any) -> Vector:
    """A value of CVXPY as a vector, column by column."""
    return np.ravel(dense_value(value), order="F")


def dense_value(value: Any) -> Any:
    """A value of CVXPY as an array."""
    return value.toarray() if sparse.issparse(value) else np.asarray(value, dtype=float)


def as_sparse(slope: Any, rows: int, columns: int) -> Any:
    """A slope of CVXPY, which is a number, an array or a sparse matrix, as a sparse matrix."""
    if sparse.issparse(slope):
        return sparse.csc_array(slope)
    return sparse.csc_array(np.broadcast_to(np.asarray(slope, dtype=float), (rows, columns)))
