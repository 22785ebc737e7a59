"""SPCA of Zou, Hastie and Tibshirani (2006): principal components as elastic net regressions."""

from collections.abc import Callable, Sequence
from time import perf_counter

import numpy as np

from .._numerics.checks import Matrix, Vector, as_flag, as_number, as_numbers
from .._numerics.extras import require
from .._numerics.selection import keep_largest
from .._numerics.threads import quiet
from ..certificates import renormalize
from ..errors import InvalidParameter
from ..pencils import Pencil
from ..solutions import Solution
from .sparse_pca import Run, finished, pca_problem, search_penalty

Regression = Callable[[Vector, Vector], Vector]
"""β from α, given the last β to start from."""

TOL, ROUNDS = 1e-3, 200
"""Stop when β/‖β‖ moves by no more than TOL, as its authors do, or after so many alternations."""


def spca(pencil: Pencil, k: int, *, ridge: float = 1.0, renormalized: bool = False) -> Solution:
    """Minimise ‖Cα − Cβ‖² + λ‖β‖² + λ₁‖β‖₁ over β, then set α = CᵀCβ/‖CᵀCβ‖, in turn; x = β/‖β‖ (Eq:EN-SPCA).

    For fixed α the objective is an elastic net in β; for fixed β and ‖α‖ = 1 it is minimised by α ∝ CᵀCβ. From data
    (Gram) the regression is scikit-learn's coordinate descent and λ₁ is searched until k loadings are left; from a
    covariance it is its LARS path, left where k are active. Starts at the leading eigenvector.

    Parameters
    ----------
    pencil : Pencil
        B = I and A ⪰ 0.
    k : int
        The cardinality.
    ridge : float
        λ in units of λmax(A), > 0. As it grows, the regression tends to a soft threshold of Aα (Section 4.2).
    renormalized : bool
        Whether to return the best loadings on the support instead of the method's own, which the penalty shrinks.

    Returns
    -------
    Solution
        The loadings on the support that was found.

    Examples
    --------
    >>> from dcgev_cvx import datasets, rivals
    >>> rivals.spca(datasets.pitprops(), 3).support
    (0, 1, 8)
    """
    work, k = pca_problem(pencil, k, "spca")
    as_flag(renormalized, "renormalized")
    weight = as_number(ridge, "ridge", strict=True) * (work.lambda_max or 1.0)
    begin = perf_counter()
    if work.A_terms:
        top = 2.0 * float(np.max(np.abs(work.A_dot(work.leading_vector))))
        run, _ = search_penalty(lambda lasso: penalized(work, weight, lasso), top, k, work.n)
    else:
        gram = work.dense()[0] + weight * np.eye(work.n)
        run = alternate(work, lambda alpha, _: lars(gram, work.A_dot(alpha), k))
    x = keep_largest(run.x if run.x.any() else work.leading_vector, k)
    x = renormalize(work, x) if renormalized else x
    return finished(pencil, x, k, "spca", begin, run)


def spca_components(pencil: Pencil, lassos: Sequence[float], *, ridge: float = 1e-6) -> Matrix:
    """Minimise Σⱼ ‖Cαⱼ − Cβⱼ‖² + λ‖βⱼ‖² + λ₁ⱼ‖βⱼ‖₁ over β, and over α with αᵀα = I, in turn (Eq:EN-SPCA).

    For fixed α each βⱼ is an elastic net, for fixed β the best α is UVᵀ with Aβ = UDVᵀ (Procrustes). Starts at the
    leading eigenvectors. Its authors ran it so on the pit props; unlike one component after another, α stays
    orthonormal, which keeps it near the ordinary components.

    Parameters
    ----------
    pencil : Pencil
        B = I and A ⪰ 0.
    lassos : sequence of float
        λ₁ⱼ ≥ 0, one per component and at most n: larger ones leave fewer loadings.
    ridge : float
        λ > 0; next to nothing where there are more samples than variables, as its authors advise.

    Returns
    -------
    ndarray
        n × len(lassos), unit columns; a column is 0 where its penalty outweighs everything.

    Examples
    --------
    >>> from dcgev_cvx import datasets, rivals
    >>> V = rivals.spca_components(datasets.pitprops(), (0.06, 0.16, 0.1, 0.5, 0.5, 0.5))
    >>> (V != 0).sum(axis=0)
    array([7, 4, 4, 1, 1, 1])
    """
    penalties = as_numbers(lassos, "lassos")
    if len(penalties) > pca_problem(pencil, 1, "spca")[0].n:
        raise InvalidParameter(
            f"lassos has {len(penalties)} penalties: 1 to n = {pencil.n} components can be asked for."
        )
    weight = as_number(ridge, "ridge", strict=True)
    C = np.asfortranarray(pencil.A_factor())
    alpha = np.linalg.svd(C, full_matrices=True)[2][: len(penalties)].T
    beta = np.zeros((pencil.n, len(penalties)))
    x = beta
    for _ in range(ROUNDS):
        for j, lasso in enumerate(penalties):
            beta[:, j] = elastic_net(C, C @ alpha[:, j], weight, lasso, beta[:, j].copy())
        norms = np.linalg.norm(beta, axis=0)
        before, x = x, beta / np.where(norms > 0.0, norms, 1.0)
        if float(np.max(np.abs(x - before))) <= TOL:
            break
        U, _, Vt = np.linalg.svd(C.T @ (C @ beta), full_matrices=False)
        alpha = U @ Vt
    return x


def penalized(pencil: Pencil, ridge: float, lasso: float) -> Run:
    """SPCA at a fixed λ₁ from data: the unit whose time the paper's Table 2 reports."""
    C = np.asfortranarray(pencil.A_factor())
    return alternate(pencil, lambda alpha, beta: elastic_net(C, C @ alpha, ridge, lasso, beta))


def alternate(pencil: Pencil, regress: Regression) -> Run:
    """β from α by regression, α = Aβ/‖Aβ‖ (the SVD step for one component), in turn; β = 0 is a regular end."""
    alpha, beta, x = pencil.leading_vector, np.zeros(pencil.n), np.zeros(pencil.n)
    for step in range(1, ROUNDS + 1):
        beta = regress(alpha, beta)
        norm = float(np.linalg.norm(beta))
        if norm == 0.0:
            return Run(beta, step, True)
        before, x = x, beta / norm
        if float(np.linalg.norm(x - before)) <= TOL:
            return Run(x, step, True)
        alpha = pencil.A_dot(x)
        alpha = alpha / max(float(np.linalg.norm(alpha)), np.finfo(float).tiny)
    return Run(x, ROUNDS, False)


def elastic_net(C: Matrix, y: Vector, ridge: float, lasso: float, start: Vector) -> Vector:
    """argmin ‖y − Cβ‖² + ridge‖β‖² + lasso‖β‖₁ by coordinate descent; scikit-learn divides by 2·(rows of C)."""
    first, second = lasso / (2.0 * len(C)), ridge / len(C)
    settings = {"l1_ratio": first / (first + second), "alphas": [first + second], "coef_init": start, "tol": 1e-6}
    with quiet:
        # nothing is drawn by random_state, but None would move NumPy's global numbers
        path = require("sklearn.linear_model", "estimators").enet_path(
            C, y, precompute=False, check_input=False, random_state=0, **settings
        )
    return np.asarray(path[1], dtype=np.float64)[:, 0]


def lars(gram: Matrix, correlation: Vector, k: int) -> Vector:
    """The last point with k nonzeros on the LARS path of min βᵀGβ − 2cᵀβ + λ₁‖β‖₁, or the path's last point."""
    # a variable may leave the path and come back: twice as many steps as variables are allowed
    steps = 2 * k + 20
    path = require("sklearn.linear_model", "estimators").lars_path_gram
    with quiet:
        coefficients: Matrix = path(correlation, gram, n_samples=1, max_iter=steps, method="lasso")[2]
    reached = np.flatnonzero(np.count_nonzero(coefficients, axis=0) == k)
    return np.array(coefficients[:, reached[-1] if len(reached) else -1])
