"""SPCA, GPower and DC-PCA at one cardinality: the parameter is searched, then one run at it is timed (Section 4.4).

The functions timed are those of the package. DC-PCA and GPower stop when their objective rises by less than 1e-4 of
the variance, as GPower's authors do, and DC-PCA's time includes its start.
"""

from collections.abc import Callable
from functools import partial
from statistics import median
from time import process_time

import numpy as np

from dcgev_cvx import Gram, Pencil, Stop, dc_pca, rho_max
from dcgev_cvx.rivals.gpower import ascend, gamma_max
from dcgev_cvx.rivals.sparse_pca import Run, best_loadings, longest_column, search_penalty
from dcgev_cvx.rivals.spca import penalized

HOW_TIMED = (
    "Time is the CPU time of one call from data at the parameter that was found, start included (SPCA's is the leading "
    "eigenvector): the median of a few calls with one BLAS thread, in turn with the other methods, each after an "
    "untimed one (SPCA: a single call). GPower is plain "
    "NumPy without any record of its steps, SPCA's regression scikit-learn's compiled one, DC-PCA the package's dc_pca "
    'with engine="native" and accelerate=False: the steps as printed, f, g, the multiplier and the KKT residual of '
    "each, and a certificate. GPower starts at the longest column; DC-PCA too if that explains a quarter of tr A, "
    "otherwise at the best vector of 1.3 p^⅓ power steps from it. Both stop when their objective rises by less than "
    "1e-4. DC-PCA's parameter is searched for the cardinality that GPower reached, within half a per cent; if it jumps "
    "over it, the largest loadings are kept."
)
STOP = Stop(step=0.0, decrease=1e-4, stationarity=1.0)


def start(C: np.ndarray) -> np.ndarray:
    """Cᵀz for the longest column z, or the best vector of the Krylov space of A = CᵀC from it (Rayleigh–Ritz)."""
    z, squares = longest_column(C)
    Z, scores = z[None], (z @ C)[None]
    steps = 0 if scores[0] @ scores[0] >= 0.25 * squares else round(1.3 * len(C) ** (1.0 / 3.0)) - 1
    for _ in range(steps):
        z = C @ scores[-1]
        z = z - (Z @ z) @ Z
        Z = np.vstack([Z, z / np.linalg.norm(z)])
        scores = np.vstack([scores, Z[-1] @ C])
    x = np.linalg.eigh(scores @ scores.T)[1][:, -1] @ scores
    return x / np.linalg.norm(x)


def spca(pencil: Pencil, penalty: float) -> Run:
    """SPCA as an elastic net on data, ridge λmax(A) (Eq:EN-SPCA)."""
    return penalized(pencil, pencil.lambda_max, penalty)


def gpower(pencil: Pencil, gamma: float) -> Run:
    """GPower ℓ0 on data (Eq:journee)."""
    return ascend(pencil.A.C, gamma, tol=1e-4)


def dcpca(pencil: Pencil, rho: float) -> Run:
    """DC-PCA on data (ALG-S)."""
    found = dc_pca(pencil, rho=rho, x0=start(pencil.A.C), engine="native", accelerate=False, stop=STOP)
    return Run(np.array(found.x), found.n_iter, found.converged)


def largest_penalty(pencil: Pencil, k: int) -> float:
    """A parameter of SPCA that leaves fewer than k loadings."""
    correlation = np.sort(np.abs(pencil.A @ pencil.leading_vector))
    return 2.0 * min(correlation[-1], 2.0 * correlation[-k])


METHODS = {"SPCA": spca, "GPower": gpower, "DC-PCA": dcpca}
LARGEST = {
    "SPCA": largest_penalty,
    "GPower": lambda pencil, _: gamma_max(pencil.A.C),
    "DC-PCA": lambda pencil, _: rho_max(pencil, start(pencil.A.C)),
}
"""The parameter at which nothing is left, where the search for k begins."""


def searched(name: str, pencil: Pencil, k: int, slack: int) -> tuple[Run, float]:
    """The run of a method with k ± slack nonzeros, and its parameter."""
    return search_penalty(partial(METHODS[name], pencil), LARGEST[name](pencil, k), k, pencil.n, slack=slack)


def compared(pencil: Pencil, k: int, slack: int, repeats: int) -> dict:
    """Every method at k ± slack, DC-PCA at the cardinality that GPower reached, to half a per cent.

    `raw` is the variance with the method's own loadings, `variance` that of the best on its support, in % of tr A.
    """
    answers, at, total = {}, {}, float(np.sum(pencil.A_diagonal))
    for name in METHODS:
        if name == "DC-PCA":
            k, slack = answers["GPower"]["k"], answers["GPower"]["k"] // 200
        found, at[name] = searched(name, pencil, k, slack)
        size = np.count_nonzero(found.x)
        best = best_loadings(pencil, found.x, int(size if abs(size - k) <= slack else k))
        raw = found.x * (best != 0.0)
        raw = pencil.A_quad(raw / np.linalg.norm(raw))
        shares = {"variance": 100.0 * pencil.A_quad(best) / total, "raw": 100.0 * raw / total}
        answers[name] = {"k": int(np.count_nonzero(best)), **shares, "steps": found.steps, "times": []}
    for turn in range(repeats):
        for name in METHODS if turn == 0 else ("GPower", "DC-PCA"):  # SPCA is by far the slowest
            if name != "SPCA":
                METHODS[name](pencil, at[name])  # the method before leaves other data in the caches
            answers[name]["times"].append(seconds_of(name, pencil, at[name]))
    return {name: {**answer, "seconds": median(answer.pop("times"))} for name, answer in answers.items()}


def seconds_of(name: str, pencil: Pencil, parameter: float) -> float:
    """The CPU time of a run from data, with nothing that was computed before."""
    fresh = Pencil(Gram(pencil.A.C))
    return cpu_seconds(lambda: METHODS[name](fresh, parameter))


def cpu_seconds(call: Callable[[], object]) -> float:
    """The CPU time of a call."""
    begin = process_time()
    call()
    return process_time() - begin


def gaussian_pencil(p: int, n: int, seed: list[int]) -> Pencil:
    """A = CᵀC, not formed, of a p × n matrix C of standard normals (Section 4.4.2)."""
    return Pencil(Gram(np.random.default_rng(seed).standard_normal((p, n))))
