"""The exercises whose answer is a number, a vector, a matrix or a tuple.

Of each: the verdict on an answer; of `tau` and `bound` also the right answer and wrong ones.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .._numerics.checks import Matrix, Vector, as_number, as_real, as_vector, shown
from .._numerics.text_tables import count
from ..algorithms import dc_pca
from ..certificates import certify, renormalize, value
from ..datasets import indefinite, pitprops
from ..errors import InvalidParameter
from ..exact import best_subset
from ..pencils import Pencil
from ..programs import SparseGEV, smallest_tau
from ..relaxations.bounds import homogeneous_bound
from ..steps.native import native_step
from .guarded_calls import Unusable, returned_number
from .verdicts import Verdict, failing_row, judge_step, text

# The smallest shift


def shifts(wrong: Mapping[str, Any]) -> float:
    """−λmin(A), or what is taken for it."""
    A, _ = indefinite(7).dense()
    values = np.linalg.eigvalsh(A)
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
    return float(candidates[wrong.get("wrong", "")])


def judge_tau(answer: Any) -> Verdict:
    """Four digits of −λmin(A)."""
    pencil, tau = indefinite(7), returned_number(answer, "τ")
    least = smallest_tau(pencil, "identity")
    if abs(tau - least) <= 2e-4 * least:
        return Verdict(True, f"A + τI ⪰ 0 holds from τ = {least:.6g} on")
    if tau > least:
        return Verdict(False, f"τ = {tau:g} is large enough, and a smaller one is too: g could lie closer to f.")
    A, _ = pencil.dense()
    d = np.linalg.eigh(A)[1][:, 0]
    words = f"At ρ̃ = 0, g − f = (x − y)ᵀ(A + τI)(x − y) = {float(d @ A @ d) + tau:.4g} < 0 where x − y = {text(d)}"
    return Verdict(False, f"{words}: the surrogate cuts f.")


# Stationary is not optimal


def judge_stuck(answer: Any) -> Verdict:
    """A vector on pit props at ρ̃ = 4.84: stationary, two nonzeros, and with a smaller value than the best two."""
    program = SparseGEV(pitprops(), 4.84)
    x = as_vector(answer, program.pencil.n, "x")
    if not x.any():
        return Verdict(False, "x = 0 has no nonzeros: two are asked for.")
    if not certify(program, x).passes():
        if program.violation(x) > 1e-9:
            return Verdict(False, f"xᵀx = {x @ x:.6g} > 1: divide x by its length.")
        return Verdict(False, f"Not stationary. With y = x: {failing_row(program, x, x)} τ = {program.tau:g}.")
    if (k := int(np.count_nonzero(x))) != 2:
        return Verdict(False, f"Stationary, but with {count(k, 'nonzero')}: two are asked for.")
    found, best = value(program.pencil, renormalize(program.pencil, x)), best_subset(program.pencil, 2).value
    if found < best - 1e-3:
        return Verdict(True, f"stationary with value {found:.6g}; the best two variables have {best:.6g}")
    return Verdict(False, f"Stationary with value {found:.6g}, but these are the best two variables: take others.")


# A counterexample to Corollary 6


def judge_corollary(answer: Any) -> Verdict:
    """The power method tends to the largest eigenvalue that x0 has a share in; is that below λmax(A)?"""
    if not isinstance(answer, (tuple, list)) or len(answer) != 2:
        raise Unusable(f"The answer must be a pair (A, x0), got {shown(answer)}.")
    values, vectors = np.linalg.eigh(Pencil(as_real(answer[0], "A", InvalidParameter)).dense()[0])
    x0, top = as_vector(answer[1], len(values), "x0"), float(values[-1])
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


def duals(wrong: Mapping[str, Any]) -> Matrix:
    """The dual matrix of the homogeneous SDP at k = 3, or what is taken for it."""
    from ..relaxations import homogeneous_sdp

    A, sdp = pitprops().dense()[0], homogeneous_sdp(pitprops(), 3)
    plain = {"zero": np.zeros_like(A), "A": A, "minus A": -A, "identity": np.eye(len(A))}
    return {"": sdp.U, "minus": -sdp.U, "X": sdp.X, **plain}[wrong.get("wrong", "")]


def judge_bound(answer: Any) -> Verdict:
    """Does the bound close four fifths of the gap from λmax to the best value with three variables?"""
    pencil, U = pitprops(), as_real(answer, "U", InvalidParameter)
    n = pencil.n
    if U.shape != (n, n):
        raise Unusable(f"U has shape {U.shape}, and pit props has {n} variables: ({n}, {n}) is needed.")
    gap = float(np.abs(U - U.T).max())
    if gap > 1e-9 * (1.0 + float(np.abs(U).max())):
        raise Unusable(f"U is not symmetric: an entry and its mirror image differ by {gap:.3g}. Take (U + Uᵀ)/2.")
    bound, best = homogeneous_bound(pencil, 3, U), best_subset(pencil, 3).value
    target = best + 0.2 * (pencil.lambda_max - best)
    words = f"your U proves {bound:.5g}; the optimum is {best:.5g}, U = 0 proves {pencil.lambda_max:.5g}"
    if bound <= target:
        return Verdict(True, words)
    return Verdict(False, f"{words[0].upper()}{words[1:]}. A bound of at most {target:.5g} is asked for.")


# From ρ̃ to k


def judge_cardinality(answer: Any) -> Verdict:
    """ρ̃ for five nonzeros on pit props at ε = 0.01; the default ε, which the pages use, needs another ρ̃."""
    rho = as_number(answer, "ρ̃")
    result = dc_pca(pitprops(), rho=rho, eps=0.01)
    k = len(result.support)
    words = f"Algorithm 2 at ρ̃ = {rho:g}, ε = 0.01 ends with {count(k, 'nonzero')}"
    if k == 5 and result.converged:
        return Verdict(True, words)
    if k == 0:
        return Verdict(False, f"{words}: every entry costs more than it brings. Take a smaller ρ̃.")
    advice = "" if k == 5 else " Take a larger ρ̃." if k > 5 else " Take a smaller ρ̃."
    return Verdict(False, f"{words} ({result.status.value.split(':')[0]}).{advice}")


# Three steps of (ALG), one of them wrong


def suspect_a(A: Any, B: Any, y: Any, rho: float, eps: float, tau: float) -> Vector:
    """One of three steps; at most one is wrong."""
    program = SparseGEV(Pencil(A, B), rho, eps, tau)
    return native_step(program, program.start(y)).x


def suspect_b(A: Any, B: Any, y: Any, rho: float, eps: float, tau: float) -> Vector:
    """One of three steps; at most one is wrong."""
    program = SparseGEV(Pencil(A, B), rho, eps, tau)
    c, p, diagonal = program.linear(y), program.slopes(y), program.pencil.B_diagonal
    z = np.sign(c) * np.maximum(0.0, np.abs(c) - 0.5 * p)
    low, high = 0.0, float(np.linalg.norm(z / np.sqrt(diagonal))) + 1.0
    for _ in range(200):
        mu = 0.5 * (low + high)
        inside = float(np.sum(diagonal * (z / (tau + mu * diagonal)) ** 2)) < 1.0
        low, high = (low, mu) if inside else (mu, high)
    return z / (tau + high * diagonal)


def suspect_c(A: Any, B: Any, y: Any, rho: float, eps: float, tau: float) -> Vector:
    """One of three steps; at most one is wrong."""
    from ..steps.conic import QCQPStep

    program = SparseGEV(Pencil(A, B), rho, eps, tau)
    return QCQPStep()(program, program.start(y)).x


SUSPECTS: Mapping[str, Callable[..., Vector]] = {"a": suspect_a, "b": suspect_b, "c": suspect_c}
"""Three steps (A, B, y, rho, eps, tau) → x for the exercise `suspect`."""


def judge_suspect(answer: Any) -> Verdict:
    """Is the suspect's answer to the student's problem (letter, A, B, y, rho, eps, tau) not the minimiser?"""
    if not isinstance(answer, (tuple, list)) or len(answer) != 7:
        raise Unusable(f"The answer must be (letter, A, B, y, rho, eps, tau), got {shown(answer)}.")
    letter, A, B, y, rho, eps, tau = answer
    if letter not in SUSPECTS:
        raise Unusable(f"The letter {shown(letter)} is not one of {', '.join(SUSPECTS)}.")
    program = SparseGEV(Pencil(A, B), rho, eps, tau)
    (A, B), y = program.pencil.dense(), program.start(y)
    x = SUSPECTS[letter](A, B, y, program.rho, program.eps, program.tau)
    verdict = judge_step(program, y, x, tol=1e-6)
    if not verdict:
        return Verdict(True, f"step {letter} is caught. {verdict.why}")
    diagonal = np.array_equal(B, np.diag(np.diag(B)))
    advice = "B is diagonal here: what else may it be?" if diagonal else "Try another problem, or another letter."
    return Verdict(False, f"Step {letter} is right here ({verdict.why}). {advice}")
