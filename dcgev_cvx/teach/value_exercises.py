"""The exercises whose answer is a number, a vector or a matrix."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from .._numerics.checks import Matrix, Vector, as_number, as_real, as_vector, shown
from ..certificates import certify, renormalize, value
from ..errors import DCGEVError, InvalidParameter
from ..pencils import Pencil
from ..programs import SparseGEV, smallest_tau
from .faults import Family, faults_of
from .guarded_calls import Unusable, checked, returned_number
from .verdicts import Verdict, failing_row, text


@cache
def pitprops() -> Pencil:
    """Pit props, once."""
    from ..datasets import pitprops as load

    return load()


# The smallest shift


@cache
def indefinite() -> tuple[Pencil, Vector]:
    """The pencil of the exercise and its eigenvalues; the largest in modulus is not the smallest one."""
    from ..datasets import indefinite as load

    pencil = load(7)
    return pencil, np.asarray(np.linalg.eigvalsh(pencil.dense()[0]), dtype=np.float64)


def shifts(wrong: str = "") -> float:
    """−λmin(A), or what is taken for it."""
    A, values = indefinite()[0].dense()[0], indefinite()[1]
    radii = np.abs(A).sum(axis=1) - np.abs(np.diag(A))
    candidates = {
        "": -values[0],
        "sign": values[0],
        "norm": np.abs(values).max(),
        "Frobenius": np.linalg.norm(A),
        "half": -0.5 * values[0],
        "twice": -2.0 * values[0],
        "diagonal": -np.diag(A).min(),
        "Gershgorin": -(np.diag(A) - radii).min(),
        "entry": -A.min(),
        "zero": 0.0,
    }
    return float(candidates[wrong])


def tau_row(answer: Any, i: int) -> float:
    """τ as a number."""
    return returned_number(answer, "τ")


def judge_tau(found: Vector) -> Verdict:
    """Four digits of −λmin(A)."""
    pencil, tau = indefinite()[0], float(found[0])
    least = smallest_tau(pencil, "identity")
    if abs(tau - least) <= 2e-4 * least:
        return Verdict(True, f"A + τI ⪰ 0 holds from τ = {least:.6g} on")
    if tau > least:
        return Verdict(False, f"τ = {tau:g} is large enough, and a smaller one is too: g could lie closer to f.")
    A, _ = pencil.dense()
    d = np.linalg.eigh(A)[1][:, 0]
    words = f"At ρ̃ = 0, g − f = (x − y)ᵀ(A + τI)(x − y) = {float(d @ A @ d) + tau:.4g} < 0 where x − y = {text(d)}"
    return Verdict(False, f"{words}: the surrogate cuts f.")


TAU = Family(shifts, tau_row, 1, faults_of("tau"), tol=2e-4)


# Stationary is not optimal


def read_stuck(answer: Any) -> Vector:
    """Thirteen numbers."""
    return checked(lambda: as_vector(answer, pitprops().n, "x"))


def judge_stuck(x: Vector) -> Verdict:
    """X on pit props at ρ̃ = 4.84: stationary, two nonzeros, and with a smaller value than the best two."""
    from ..exact import best_subset

    program = SparseGEV(pitprops(), 4.84)
    if not x.any():
        return Verdict(False, "x = 0 has no nonzeros: two are asked for.")
    if not certify(program, x).passes():
        if program.violation(x) > 1e-9:
            return Verdict(False, f"xᵀx = {x @ x:.6g} > 1: divide x by its length.")
        return Verdict(False, f"Not stationary. With y = x: {failing_row(program, x, x)} τ = {program.tau:g}.")
    if (count := int(np.count_nonzero(x))) != 2:
        return Verdict(False, f"Stationary, but with {count} nonzero{'' if count == 1 else 's'}: two are asked for.")
    found, best = value(program.pencil, renormalize(program.pencil, x)), best_subset(program.pencil, 2).value
    if found < best - 1e-3:
        return Verdict(True, f"stationary with value {found:.6g}; the best two variables have {best:.6g}")
    return Verdict(False, f"Stationary with value {found:.6g}, but these are the best two variables: take others.")


# A counterexample to Corollary 6


def read_corollary(answer: Any) -> tuple[Vector, Matrix, Vector]:
    """(eigenvalues, eigenvectors, x0) from (A, x0)."""
    if not isinstance(answer, (tuple, list)) or len(answer) != 2:
        raise Unusable(f"The answer must be a pair (A, x0), got {shown(answer)}.")
    try:
        values, vectors = np.linalg.eigh(Pencil(as_real(answer[0], "A", InvalidParameter)).dense()[0])
        return values, vectors, as_vector(answer[1], len(values), "x0")
    except DCGEVError as error:
        raise Unusable(str(error)) from None


def judge_corollary(found: tuple[Vector, Matrix, Vector]) -> Verdict:
    """The power method tends to the largest eigenvalue that x0 has a share in; is that below λmax(A)?"""
    values, vectors, x0 = found
    top = float(values[-1])
    if values[0] < -1e-12 * np.abs(values).max():
        return Verdict(False, f"A ⪰ 0 is asked for, and λmin(A) = {values[0]:.3g}.")
    if not x0.any():
        return Verdict(False, "x0 = 0 is excluded: find another start.")
    if values[0] >= top - 1e-3 * abs(top):
        return Verdict(False, f"All eigenvalues of A are {top:.6g}, so that every x0 ends at λmax. Take another A.")
    # eigenvectors and no run: from a share of 1e-12 a run stands still for long and stops, yet its limit is λmax
    shares = np.abs(vectors.T @ (x0 / np.abs(x0).max()))
    end = float(values[shares > 1e-13 * len(x0)].max())
    if end < top - 1e-3 * abs(top):
        return Verdict(True, f"it tends to xᵀAx = {end:.6g}, λmax = {top:.6g}")
    share = f"x0 has the component {shares[-1]:.2g} along the leading eigenvector, and the power method makes it grow"
    return Verdict(False, f"It tends to xᵀAx = {end:.6g} = λmax: {share}.")


# An upper bound from a matrix


def duals(wrong: str = "") -> Matrix:
    """The dual matrix of the homogeneous SDP at k = 3, or what is taken for it."""
    from ..relaxations import homogeneous_sdp

    A = pitprops().dense()[0]
    plain = {"zero": np.zeros_like(A), "minus A": -A, "A": A, "identity": np.eye(len(A))}
    if wrong in plain:
        return plain[wrong]
    U = np.asarray(homogeneous_sdp(pitprops(), 3).U)
    return {"": U, "minus": -U, "half": 0.5 * U, "double": 2.0 * U}[wrong]


def bound_row(answer: Any, i: int) -> Matrix:
    """A symmetric matrix of the right size."""
    n = pitprops().n
    U = checked(lambda: as_real(answer, "U", InvalidParameter))
    if U.shape != (n, n):
        raise Unusable(f"U has shape {U.shape}, and pit props has {n} variables: ({n}, {n}) is needed.")
    gap = float(np.abs(U - U.T).max())
    if gap > 1e-9 * (1.0 + float(np.abs(U).max())):
        raise Unusable(f"U is not symmetric: an entry and its mirror image differ by {gap:.3g}. Take (U + Uᵀ)/2.")
    return U


def judge_bound(found: Matrix) -> Verdict:
    """Does the bound close four fifths of the gap from λmax to the best value with three variables?"""
    from ..exact import best_subset
    from ..relaxations.bounds import homogeneous_bound

    pencil = pitprops()
    bound, best = homogeneous_bound(pencil, 3, found[0]), best_subset(pencil, 3).value
    target = best + 0.2 * (pencil.lambda_max - best)
    words = f"your U proves {bound:.5g}; the optimum is {best:.5g}, U = 0 proves {pencil.lambda_max:.5g}"
    if bound <= target:
        return Verdict(True, words)
    return Verdict(False, f"{words[0].upper()}{words[1:]}. A bound of at most {target:.5g} is asked for.")


BOUND = Family(duals, bound_row, 1, faults_of("bound"), tol=1e-3)


# From ρ̃ to k


def read_cardinality(answer: Any) -> float:
    """ρ̃ ≥ 0."""
    return checked(lambda: as_number(answer, "ρ̃"))


def judge_cardinality(rho: float) -> Verdict:
    """ρ̃ for five nonzeros on pit props at ε = 0.01; the default ε, which the pages use, needs another ρ̃."""
    from ..algorithms import dc_pca

    try:
        result = dc_pca(pitprops(), rho=rho, eps=0.01)
    except DCGEVError as error:
        raise Unusable(str(error)) from None
    count = len(result.support)
    words = f"Algorithm 2 at ρ̃ = {rho:g}, ε = 0.01 ends with {count} nonzeros"
    if count == 5 and result.converged:
        return Verdict(True, words)
    if count == 0:
        return Verdict(False, f"{words}: every entry costs more than it brings. Take a smaller ρ̃.")
    advice = "" if count == 5 else " Take a larger ρ̃." if count > 5 else " Take a smaller ρ̃."
    return Verdict(False, f"{words} ({result.status.value.split(':')[0]}).{advice}")
