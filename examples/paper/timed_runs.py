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
    "Time is the CPU time of one call at the parameter that was found, start included: the median of a few calls with "
    "one BLAS thread, in turn with the other methods, each after an untimed one (SPCA: a single call). GPower is plain "
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


def spca(pencil: Pencil, k: int):
    """SPCA as an elastic net on data, ridge λmax(A) (Eq:EN-SPCA): a run at a parameter, and the largest parameter."""
    correlation = np.sort(np.abs(pencil.A @ pencil.leading_vector))
    return partial(penalized, pencil, pencil.lambda_max), 2.0 * min(correlation[-1], 2.0 * correlation[-k])


def gpower(pencil: Pencil, k: int):
    """GPower ℓ0 on data (Eq:journee)."""
    return partial(ascend, pencil.A.C, tol=1e-4), gamma_max(pencil.A.C)


def dcpca(pencil: Pencil, k: int):
    """DC-PCA on data (ALG-S)."""
    C = pencil.A.C

    def run(rho: float) -> Run:
        found = dc_pca(pencil, rho=rho, x0=start(C), engine="native", accelerate=False, stop=STOP)
        return Run(np.array(found.x), found.n_iter, found.converged)

    return run, rho_max(pencil, start(C))


METHODS = {"SPCA": spca, "GPower": gpower, "DC-PCA": dcpca}


def compared(pencil: Pencil, k: int, slack: int, repeats: int) -> dict:
    """Every method at k ± slack, DC-PCA at the cardinality that GPower reached, to half a per cent.

    `raw` is the variance with the method's own loadings, `variance` that of the best on its support, in % of tr A.
    """
    answers, runs, total = {}, {}, float(np.sum(pencil.A_diagonal))
    for name, method in METHODS.items():
        if name == "DC-PCA":
            k, slack = answers["GPower"]["k"], answers["GPower"]["k"] // 200
        run, high = method(pencil, k)
        found, parameter = search_penalty(run, high, k, pencil.n, slack=slack)
        size = np.count_nonzero(found.x)
        best = best_loadings(pencil, found.x, int(size if abs(size - k) <= slack else k))
        raw = found.x * (best != 0.0)
        raw = pencil.A_quad(raw / np.linalg.norm(raw))
        shares = {"variance": 100.0 * pencil.A_quad(best) / total, "raw": 100.0 * raw / total}
        answers[name] = {"k": int(np.count_nonzero(best)), **shares, "steps": found.steps}
        runs[name] = partial(run, parameter)
    times = {"SPCA": [cpu_seconds(runs.pop("SPCA"))]}  # by far the slowest
    for _ in range(repeats):
        for name, run in runs.items():
            run()  # the method before leaves other data in the caches
            times.setdefault(name, []).append(cpu_seconds(run))
    return {name: {**answer, "seconds": median(times[name])} for name, answer in answers.items()}


def cpu_seconds(call: Callable[[], object]) -> float:
    """The CPU time of a call."""
    begin = process_time()
    call()
    return process_time() - begin


def gaussian_pencil(p: int, n: int, seed: list[int]) -> Pencil:
    """A = CᵀC, not formed, of a p × n matrix C of standard normals (Section 4.4.2)."""
    return Pencil(Gram(np.random.default_rng(seed).standard_normal((p, n))))
