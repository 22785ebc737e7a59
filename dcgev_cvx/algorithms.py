"""The paper's algorithms, line by line: Algorithm 1, Algorithm 2 and the sparse FDA iteration."""

from typing import Any, Literal

from ._numerics.checks import one_of
from .errors import InvalidParameter
from .mm import Callback, MMResult, StopRule, minimize
from .penalties import Penalty
from .pencils import Pencil
from .programs import MACHINE_EPS, Shift, SparseFDA, SparseGEV, smallest_tau
from .steps.closed import soft_threshold_step
from .steps.engines import Engine, accelerated, engine_step


def sparse_gev(
    A: Any,
    B: Any = None,
    *,
    rho: float,
    eps: float = MACHINE_EPS,
    tau: float | None = None,
    x0: Any = None,
    shift: Shift = "identity",
    penalty: Penalty | None = None,
    engine: Engine = "cvxpy",
    solver: Any = "CLARABEL",
    accelerate: bool | None = None,
    stop: StopRule | None = None,
    callback: Callback | None = None,
) -> MMResult:
    """The sparse generalized eigenvalue algorithm (Algorithm 1).

    1  Choose τ ≥ max(0, −λmin(A))
    2  Choose x⁽⁰⁾ ∈ {x : xᵀBx ≤ 1}
    3  Set ρ_ε = ρ̃ / log(1 + ε⁻¹)
    4  if τ = 0, repeat x⁽ˡ⁺¹⁾ = argmax xᵀAx⁽ˡ⁾ − ½ρ_ε‖W⁽ˡ⁾x‖₁ s.t. xᵀBx ≤ 1
    5  else, repeat x⁽ˡ⁺¹⁾ = argmin ‖x − (τ⁻¹A + I)x⁽ˡ⁾‖² + (ρ_ε/τ)‖W⁽ˡ⁾x‖₁ s.t. xᵀBx ≤ 1

    Parameters
    ----------
    A : array_like, Gram or Pencil
        A symmetric matrix: an array, a nested list, a pandas frame or a SciPy sparse matrix. A Gram stands for CᵀC.
        With a Pencil, B stays None; one Pencil passed to many calls is factored and compiled once.
    B : array_like, optional
        A positive definite matrix, the identity by default.
    rho : float
        The paper's ρ̃ ≥ 0, the price of one nonzero. At 0 this is the generalized power method.
    eps : float
        ε > 0 of ‖x‖_ε. At machine precision, the default, the penalty is nearly the cardinality and a zero stays
        zero; at 1 it is close to ‖x‖₁ and coordinates may come back.
    tau : float, optional
        The shift τ, by default the smallest valid one. It changes the steps, not the program.
    x0 : array_like, optional
        The start, in Ω; the leading eigenvector by default. At tiny ε the start decides where the run ends.
    shift : {"identity", "metric"}
        Split with τ‖x‖², as the paper does, or with τxᵀBx, which needs fewer iterations when B is far from the
        identity (beyond the paper).
    penalty : Penalty, optional
        Any concave penalty in the place of the paper's log: MCP(), SCAD(), LqPenalty(), … or your own.
    engine : {"cvxpy", "native"}
        Solve each step as a CVXPY problem, or take the same steps by coordinate descent, restricted to the support
        where zeros stay zero.
    solver : str or Backend
        A CVXPY solver, or a Backend with options and fallbacks; not used by "native".
    accelerate : bool, optional
        Extrapolate between the steps where that lowers f (`steps.accelerate`): fewer steps, the same certificate. By
        default only with engine="native".
    stop : Stop or callable, optional
        When to stop; `Stop()` by default.
    callback : callable, optional
        Called with each Iterate; the run stops when it returns True.

    Returns
    -------
    MMResult
        x, its status as a sentence, the history, and a certificate computed from the data.

    Examples
    --------
    >>> from dcgev_cvx import datasets, sparse_gev
    >>> result = sparse_gev(datasets.pitprops(), rho=4.84)
    >>> result.support
    (0, 1, 6, 7, 8, 9)
    >>> result.converged, result.certificate.passes()
    (True, True)
    """
    pencil = as_pencil(A, B)
    tau = smallest_tau(pencil, shift) if tau is None else tau  # 1  τ ≥ max(0, −λmin(A))
    program = SparseGEV(pencil, rho, eps, tau, shift, penalty)  # 3  ρ_ε = ρ̃ / log(1 + ε⁻¹)
    if shift == "metric":
        form = "MetricLassoStep"  # x = z/max(τ, ‖z‖_B) with z = argmin zᵀBz − 2zᵀ(A + τB)x⁽ˡ⁾ + ρ_ε‖W⁽ˡ⁾z‖₁
    elif program.tau == 0.0:
        form = "LinearStep"  # 4  x⁽ˡ⁺¹⁾ = argmax xᵀAx⁽ˡ⁾ − ½ρ_ε‖W⁽ˡ⁾x‖₁ s.t. xᵀBx ≤ 1
    else:
        form = "LassoStep"  # 5  x⁽ˡ⁺¹⁾ = argmin ‖x − (τ⁻¹A + I)x⁽ˡ⁾‖² + (ρ_ε/τ)‖W⁽ˡ⁾x‖₁ s.t. xᵀBx ≤ 1
    step = engine_step(form, pencil.n, engine=engine, solver=solver, accelerate=accelerate)
    # 2  from x⁽⁰⁾ ∈ {x : xᵀBx ≤ 1}, repeat x⁽ˡ⁺¹⁾ = step(program, x⁽ˡ⁾)
    return minimize(program, step, x0, stop=stop, callback=callback, shrink=engine == "native")


def dc_pca(
    A: Any,
    *,
    rho: float,
    eps: float = MACHINE_EPS,
    x0: Any = None,
    penalty: Penalty | None = None,
    engine: Engine | Literal["closed"] = "closed",
    solver: Any = "CLARABEL",
    accelerate: bool | None = None,
    stop: StopRule | None = None,
    callback: Callback | None = None,
) -> MMResult:
    """The sparse PCA algorithm DC-PCA (Algorithm 2).

    1  Choose x⁽⁰⁾ ∈ {x : xᵀx ≤ 1}
    2  Set ρ_ε = ρ̃ / log(1 + ε⁻¹)
    3  repeat xᵢ⁽ˡ⁺¹⁾ ∝ [|(Ax⁽ˡ⁾)ᵢ| − ½ρ_ε wᵢ⁽ˡ⁾]₊ sign (Ax⁽ˡ⁾)ᵢ

    The step is the argmin of the surrogate in closed form, so no solver is needed; engine="cvxpy"
    solves the same steps as problems, which is how the two check each other.

    Parameters
    ----------
    A : array_like, Gram or Pencil
        Positive semidefinite: a covariance matrix, or Gram(C) for data C (samples × variables), which is never
        multiplied out.
    rho : float
        The paper's ρ̃ ≥ 0, the price of one nonzero.
    eps : float
        ε > 0 of ‖x‖_ε, machine precision by default.
    x0 : array_like, optional
        The start, in the unit ball; the leading eigenvector by default.
    penalty : Penalty, optional
        Any concave penalty in the place of the paper's log: see `sparse_gev`.
    engine : {"closed", "cvxpy", "native"}
        Take the steps as printed, solve them as CVXPY problems, or drop what stays zero.
    solver : str or Backend
        The solver of engine="cvxpy".
    accelerate : bool, optional
        As in `sparse_gev`.
    stop : Stop or callable, optional
        When to stop; `Stop()` by default.
    callback : callable, optional
        Called with each Iterate; the run stops when it returns True.

    Returns
    -------
    MMResult
        As from `sparse_gev`.

    Examples
    --------
    >>> from dcgev_cvx import datasets, dc_pca
    >>> dc_pca(datasets.pitprops(), rho=4.84).n_iter == dc_pca(datasets.pitprops(), rho=4.84, engine="cvxpy").n_iter
    True
    """
    pencil = as_pencil(A, None)
    if pencil.B is not None:
        raise InvalidParameter("dc_pca is the case B = I: use sparse_gev for a pencil with another B.")
    program = SparseGEV(pencil, rho, eps, penalty=penalty)  # 2  ρ_ε = ρ̃ / log(1 + ε⁻¹)
    if program.tau > 0.0:
        raise InvalidParameter(
            f"dc_pca needs A ⪰ 0, but λmin(A) = {pencil.lambda_min_A:.3g}: use sparse_gev, which shifts A."
        )
    if one_of(engine, "engine", ("closed", "cvxpy", "native")) == "closed":
        step = accelerated(soft_threshold_step, accelerate)  # 3  xᵢ⁽ˡ⁺¹⁾ ∝ [|(Ax⁽ˡ⁾)ᵢ| − ½ρ_ε wᵢ⁽ˡ⁾]₊ sign (Ax⁽ˡ⁾)ᵢ
    else:
        step = engine_step("LinearStep", pencil.n, engine=engine, solver=solver, accelerate=accelerate)
    # 1  from x⁽⁰⁾ ∈ {x : xᵀx ≤ 1}, repeat x⁽ˡ⁺¹⁾ = step(program, x⁽ˡ⁾)
    return minimize(program, step, x0, stop=stop, callback=callback, shrink=engine == "native")


def sparse_fda(
    a: Any,
    B: Any,
    *,
    nu: float,
    eps: float = MACHINE_EPS,
    x0: Any = None,
    penalty: Penalty | None = None,
    engine: Engine = "cvxpy",
    solver: Any = "CLARABEL",
    accelerate: bool | None = None,
    stop: StopRule | None = None,
    callback: Callback | None = None,
) -> MMResult:
    """Sparse Fisher discriminant analysis as a sequence of QPs (Eq:fdaiterative).

    repeat x⁽ˡ⁺¹⁾ = argmin xᵀBx + ν_ε Σ |xᵢ|/(|xᵢ⁽ˡ⁾| + ε) s.t. aᵀx = 1

    With A = aaᵀ of rank one, (GEV-P) is min xᵀBx s.t. aᵀx = 1, a convex problem: only the penalty is majorised, and
    every step is a QP rather than a QCQP.

    Parameters
    ----------
    a : array_like
        The difference of the class means; `fda_vectors` makes a and B from data.
    B : array_like or Pencil
        The within-class scatter, positive definite.
    nu : float
        The paper's ν ≥ 0, the price of one nonzero.
    eps : float
        ε > 0 of ‖x‖_ε, machine precision by default.
    x0 : array_like, optional
        The start, with aᵀx = 1; by default B⁻¹a/(aᵀB⁻¹a), the dense Fisher direction.
    penalty : Penalty, optional
        Any concave penalty in the place of the paper's log: see `sparse_gev`.
    engine : {"cvxpy", "native"}
        Solve each step as a CVXPY problem, or take the same steps by coordinate descent.
    solver : str or Backend
        The solver of engine="cvxpy".
    accelerate : bool, optional
        As in `sparse_gev`.
    stop : Stop or callable, optional
        When to stop; `Stop()` by default.
    callback : callable, optional
        Called with each Iterate; the run stops when it returns True.

    Returns
    -------
    MMResult
        As from `sparse_gev`.

    Examples
    --------
    >>> from dcgev_cvx import datasets, fda_vectors, sparse_fda
    >>> X, y, planted = datasets.two_gaussians(12, 3, samples=200)
    >>> a, B = fda_vectors(X, y)
    >>> result = sparse_fda(a, B, nu=0.5)
    >>> result.converged, result.support == planted, round(float(a @ result.x), 12)
    (True, True, 1.0)
    """
    program = SparseFDA(a, B, nu, eps, penalty)  # ν_ε = ν / log(1 + ε⁻¹)
    # x⁽ˡ⁺¹⁾ = argmin xᵀBx + ν_ε Σ |xᵢ|/(|xᵢ⁽ˡ⁾| + ε) s.t. aᵀx = 1
    step = engine_step("FisherStep", program.pencil.n, engine=engine, solver=solver, accelerate=accelerate)
    # from x⁽⁰⁾ with aᵀx⁽⁰⁾ = 1, repeat x⁽ˡ⁺¹⁾ = step(program, x⁽ˡ⁾)
    return minimize(program, step, x0, stop=stop, callback=callback, shrink=engine == "native")


def as_pencil(A: Any, B: Any) -> Pencil:
    """The pencil itself, or one made of matrices."""
    if isinstance(A, Pencil):
        if B is not None:
            raise InvalidParameter("B was given twice: the first argument is a Pencil and has its own.")
        return A
    return Pencil(A, B)


def native_run(
    program: SparseGEV | SparseFDA, x0: Any = None, *, stop: StopRule | None = None, callback: Callback | None = None
) -> MMResult:
    """The run of engine="native" on a program."""
    step = engine_step("LinearStep", program.pencil.n, engine="native", solver=None, accelerate=None)
    return minimize(program, step, x0, stop=stop, callback=callback, shrink=True)
