"""SPCA, GPower and DC-PCA at one cardinality: the parameter is searched, then one run at it is timed (Section 4.4).

The functions timed are those of the package. DC-PCA and GPower stop when their objective rises by less than 1e-4 of
the variance, as GPower's authors do, and DC-PCA's time includes its start.
"""

from functools import partial
from statistics import fmean, median
from time import process_time

import numpy as np
from report import Finding, agreement

from dcgev_cvx import Gram, Pencil, Stop, dc_pca, rho_max
from dcgev_cvx.rivals.gpower import ascend, gamma_max
from dcgev_cvx.rivals.sparse_pca import Run, best_loadings, longest_column, search_penalty
from dcgev_cvx.rivals.spca import penalized

HOW_TIMED = (
    "Time is the CPU time of one run at the parameter that was found, start included: the median of a few runs with "
    "one BLAS thread, in turn with the other methods, each after an untimed one (SPCA: a single run). GPower is plain "
    "NumPy, SPCA's regression scikit-learn's compiled one, DC-PCA the package's dc_pca with engine=\"native\" and "
    "accelerate=False: the steps as printed, without variables that stay zero. GPower starts at the longest column; "
    "DC-PCA too if that explains a quarter of tr A, otherwise at the best vector of 1.3 p^⅓ power steps from it. Both "
    "stop when their objective rises by less than 1e-4 of the variance. DC-PCA's parameter is searched for the "
    "cardinality that GPower reached, within half a per cent; if it jumps over it, the largest loadings are kept."
)
STOP = Stop(step=0.0, decrease=1e-4, stationarity=1.0)
SIMILAR = 0.995
"""A mean ratio of variances from here on counts as similar."""


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
    times: dict[str, list[float]] = {name: [] for name in runs}
    for turn in range(repeats):
        for name, run in runs.items():
            if name == "SPCA" and turn > 0:  # by far the slowest
                continue
            if name != "SPCA":
                run()  # the method before leaves other data in the caches
            begin = process_time()
            run()
            times[name].append(process_time() - begin)
    return {name: {**answer, "seconds": median(times[name])} for name, answer in answers.items()}


def explained(pencil: Pencil, k: int) -> dict:
    """Is it the start, the stopping rule or the product with A that makes DC-PCA slower than GPower at k nonzeros?"""
    C, found = pencil.A.C, {}
    for name in ("GPower", "DC-PCA"):
        run, high = METHODS[name](pencil, k)
        parameter = search_penalty(run, high, k, pencil.n, slack=max(1, k // 50))[1]
        found[name] = milliseconds(partial(run, parameter))
        found[f"{name} steps"] = run(parameter).steps
        if name == "GPower":
            z = C @ start(C)
            found["GPower steps from the start of DC-PCA"] = ascend(C, parameter, z / np.linalg.norm(z), 1e-4).steps
    x = start(C)
    return {"k": k, **found, "start": milliseconds(lambda: start(C)), "product": milliseconds(lambda: (C @ x) @ C)}


def milliseconds(call, repeats: int = 5) -> float:
    """The median CPU time of a call, after an untimed one."""
    times = []
    for _ in range(repeats + 1):
        begin = process_time()
        call()
        times.append(1e3 * (process_time() - begin))
    return median(times[1:])


def gaussian_pencil(p: int, n: int, seed: list[int]) -> Pencil:
    """A = CᵀC, not formed, of a p × n matrix C of standard normals (Section 4.4.2)."""
    return Pencil(Gram(np.random.default_rng(seed).standard_normal((p, n))))


def ratios_to(results: list, rival: str, what: str = "variance") -> list[float]:
    """The variance of DC-PCA divided by a rival's, result by result."""
    return [result["DC-PCA"]["variance"] / result[rival][what] for result in results]


def time_findings(label: str, results: list, paper: list[float], over_all_k: bool = False) -> list[Finding]:
    """DC-PCA's time against GPower's and SPCA's, given the paper's seconds of SPCA, GPower and DC-PCA.

    Seconds depend on the machine, ratios hardly do: the verdicts are on ratios. With `over_all_k` a time is the mean
    over all cardinalities between those measured (trapezoidal rule).
    """

    def mean_time(method: str) -> float:
        seconds, ks = ([result[method][what] for result in results] for what in ("seconds", "k"))
        order = np.argsort(ks)
        whole = np.trapezoid(np.array(seconds)[order], np.array(ks)[order]) / max(1, max(ks) - min(ks))
        return float(whole) if over_all_k else fmean(seconds)

    def seconds(times: tuple[float, float], unit: str) -> str:
        return f"{times[0] / times[1]:.3g} ({times[0]:.4g} {unit} / {times[1]:.4g} {unit})"

    ours = {method: 1e3 * mean_time(method) for method in METHODS}
    steps = [fmean(result[method]["steps"] for result in results) for method in ("DC-PCA", "GPower")]
    variances, ratio = ratios_to(results, "GPower"), ours["DC-PCA"] / ours["GPower"]
    holds = round(ratio, 2) <= max(1.0, round(paper[2] / paper[1], 2)) and fmean(variances) >= SIMILAR
    remark = (
        f"{steps[0]:.1f} steps, GPower {steps[1]:.1f}; ratio of variances at equal k: mean {fmean(variances):.4f}, "
    )
    remark += f"smallest {min(variances):.4f}; mean of {len(results)} runs"
    what = f"{label}: time of DC-PCA / time of GPower at a fixed parameter"
    first, second = (ours["DC-PCA"], ours["GPower"]), (ours["SPCA"], ours["DC-PCA"])
    note = "agreement means that DC-PCA is faster; the elastic net here is scikit-learn's"
    slower = f"{label}: time of SPCA / time of DC-PCA"
    return [
        Finding(what, seconds((paper[2], paper[1]), "s"), seconds(first, "ms"), agreement(holds), remark),
        Finding(
            slower, seconds((paper[0], paper[2]), "s"), seconds(second, "ms"), agreement(second[0] > second[1]), note
        ),
    ]
