"""SPCA of Zou, Hastie and Tibshirani: a principal component as an elastic net regression."""

from __future__ import annotations

import math
from collections.abc import Callable
from time import perf_counter

import numpy as np

from .._numerics.checks import Matrix, Vector, as_flag, as_number, as_whole
from ..certificates import Solution, renormalize
from ..errors import InvalidParameter
from ..pencils import Gram, Pencil
from .base import Run, finished, hushed, largest, linear_models, pca_problem, search, trimmed

Regression = Callable[[Vector, Vector], Vector]
"""β from α, given the last β to start from."""


def spca(
    pencil: Pencil,
    k: int,
    *,
    ridge: float = 1.0,
    renormalized: bool = False,
    tol: float = 1e-3,
    max_iter: int = 200,
) -> Solution:
    """SPCA: min ‖Cα − Cβ‖² + λ‖β‖² + λ₁‖β‖₁ over β, then α = CᵀCβ/‖CᵀCβ‖, in turn; x = β/‖β‖ (Eq:EN-SPCA).

    λ is `ridge`·λmax(A). From data (Gram) the regression is scikit-learn's coordinate descent and
    λ₁ is searched until k loadings are left; from a covariance it is its LARS path, left where
    k are active; ridge=inf is the authors' choice for n ≫ p, a soft threshold (Section 4.2).
    Starts at the leading eigenvector; stops when ‖β⁺/‖β⁺‖ − β/‖β‖‖ ≤ tol, the authors' rule.

    Parameters
    ----------
    ridge
        λ in units of λmax(A), > 0; inf for the limit in which the regression becomes a soft threshold.
    renormalized
        Off by default, as in `scotlass`.
    tol, max_iter
        The stop rule of the alternation; its authors use 1e-3.

    Why alternate: for fixed α the objective is an elastic net in β; for fixed β and ‖α‖ = 1 it is
    minimised by α ∝ CᵀCβ (a Procrustes rotation, here of one column).
    """
    work, k = pca_problem(pencil, k, "spca")
    as_flag(renormalized, "renormalized")
    tol, max_iter = as_number(tol, "tol", high=1.0), as_whole(max_iter, "max_iter")
    weight = checked_ridge(ridge) * (work.lambda_max or 1.0)
    begin = perf_counter()
    if isinstance(work.A, Gram) and math.isfinite(weight):
        top = 2.0 * float(np.max(np.abs(work.A @ work.leading_vector)))
        found = search(lambda lasso: penalized(work, weight, lasso, tol, max_iter), top, k, work.n)
        run, on_path = found.run, found.exact
    else:
        run = alternate(work, counted(work, weight, k), tol, max_iter)
        on_path = int(np.count_nonzero(run.x)) == k
    x = trimmed(run.x if run.x.any() else work.leading_vector, k)
    x = renormalize(work, x) if renormalized else x
    return finished(pencil, x, k, "spca", begin, converged=run.converged, on_path=on_path)


def penalized(pencil: Pencil, ridge: float, lasso: float, tol: float = 1e-3, max_iter: int = 200) -> Run:
    """SPCA at a fixed λ₁ from data: the unit whose time the paper's Table 2 reports.

    Raises InvalidParameter for a pencil that is not a Gram: the regression wants the data.
    """
    if not isinstance(pencil.A, Gram):
        raise InvalidParameter("penalized needs the data: Pencil(Gram(C)).")
    C = np.asfortranarray(pencil.A.C)
    return alternate(pencil, lambda alpha, beta: elastic_net(C, C @ alpha, ridge, lasso, beta), tol, max_iter)


def alternate(pencil: Pencil, regress: Regression, tol: float, max_iter: int) -> Run:
    """β from α by regression, α = Aβ/‖Aβ‖ (the SVD step for one component), in turn.

    Raises nothing when β = 0: such a Run has converged, at nothing.
    """
    alpha, beta, x = pencil.leading_vector, np.zeros(pencil.n), np.zeros(pencil.n)
    for step in range(1, max_iter + 1):
        beta = regress(alpha, beta)
        norm = float(np.linalg.norm(beta))
        if norm == 0.0:
            return Run(beta, step, True)
        before, x = x, beta / norm
        if float(np.linalg.norm(x - before)) <= tol:
            return Run(x, step, True)
        alpha = pencil.A @ x
        alpha = alpha / max(float(np.linalg.norm(alpha)), np.finfo(float).tiny)
    return Run(x, max_iter, False)


def elastic_net(C: Matrix, y: Vector, ridge: float, lasso: float, start: Vector) -> Vector:
    """argmin ‖y − Cβ‖² + ridge‖β‖² + lasso‖β‖₁ by coordinate descent; scikit-learn divides by 2·(rows of C).

    `start` is the last β: the alternation changes it little, and coordinate descent then takes a few sweeps.
    """
    rows = C.shape[0]
    first, second = lasso / (2.0 * rows), ridge / rows
    strength = first + second
    with hushed():
        path = linear_models().enet_path(
            C,
            y,
            l1_ratio=first / strength,
            alphas=[strength],
            coef_init=start,
            precompute=False,
            tol=1e-6,
            check_input=False,
            random_state=0,  # nothing is drawn by it, but None would move NumPy's global numbers
        )
    return np.asarray(path[1], dtype=np.float64)[:, 0]


def counted(pencil: Pencil, ridge: float, k: int) -> Regression:
    """The regression from a covariance that leaves k loadings: LARS on A + λI, or its limit λ = ∞.

    Cardinality and not λ₁ is the parameter here, so that no search is needed: the LARS path is left where k are
    active.
    """
    if math.isinf(ridge):
        return lambda alpha, _: soft(pencil.A @ alpha, k)
    A, _ = pencil.dense()
    gram = A + ridge * np.eye(pencil.n)
    return lambda alpha, _: lars(gram, A @ alpha, k)


def lars(gram: Matrix, correlation: Vector, k: int) -> Vector:
    """The last point with k nonzeros on the LARS path of min βᵀGβ − 2cᵀβ + λ₁‖β‖₁.

    On the path variables enter one at a time and may leave; if k never occurs, the last point is returned and the
    caller's `on_path` is False.
    """
    with hushed():
        # a variable may leave the path and come back: twice as many steps as variables are allowed
        coefficients: Matrix = linear_models().lars_path_gram(
            correlation, gram, n_samples=1, max_iter=2 * k + 20, method="lasso", return_path=True
        )[2]
    counts = np.count_nonzero(coefficients, axis=0)
    reached = np.flatnonzero(counts == k)
    return np.array(coefficients[:, reached[-1] if len(reached) else -1])


def soft(c: Vector, k: int) -> Vector:
    """[|cᵢ| − λ₁/2]₊ sign cᵢ with λ₁/2 the (k+1)-th largest |cᵢ|: SPCA as λ → ∞, up to scale.

    As λ → ∞, (1 + λ)β tends to the soft threshold of CᵀCα, the closed form of SPCA for n ≫ p.
    """
    size = np.abs(c)
    if k == len(c):
        return c
    level = float(np.sort(size)[-k - 1])
    kept = largest(size, k)
    out = np.zeros_like(c)
    out[kept] = np.sign(c[kept]) * (size[kept] - level)
    return out


def checked_ridge(ridge: float) -> float:
    """A positive number, inf included."""
    unlimited = isinstance(ridge, float) and ridge == math.inf  # pyright: ignore[reportUnnecessaryIsInstance]
    return math.inf if unlimited else as_number(ridge, "ridge", strict=True)
