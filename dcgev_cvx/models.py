"""The paper's convex problems in CVXPY: arrays in, `cp.Problem` out, in the paper's letters and units.

Each function writes one problem and does nothing else: no solver, no scaling, no caching. The package solves exactly
these functions, on data that `steps.scaling` has brought to size one; they also work on their own:

>>> import numpy as np
>>> from dcgev_cvx import models
>>> A, B, tau = np.array([[1.0, 0.5], [0.5, -1.0]]), np.eye(2), 1.2
>>> y, rho_eps, eps = np.array([0.8, 0.6]), 0.3, 0.1
>>> problem = models.lasso((A + tau * np.eye(2)) @ y, rho_eps / (abs(y) + eps), B, tau)
>>> print(problem)
minimize τ‖x‖² − 2cᵀx + pᵀ|x|
subject to xᵀBx ≤ 1
>>> _ = problem.solve(solver="CLARABEL")
>>> problem.var_dict["x"].value.round(3)
array([0.987, 0.159])

A, B     the pencil, A symmetric and B positive definite; B = None is the identity
τ        the shift of the d.c. split, at least max(0, −λmin(A))
c, p     the data of the MM step from y: c = (A + τI)y and p = ρ_ε w, wᵢ = 1/(|yᵢ| + ε)
a, ν     of sparse FDA: the difference of the class means, and the price of the penalty
radius   an ℓ1 budget, which the paper calls k; here k is a cardinality and nothing else
d        positive weights, 1 unless given: ‖x‖₁ becomes Σ dᵢ|xᵢ| when the variables change their units
labels   the number of each variable's group, 0, 1, …: the budget is then one number for each group, such as a view

c, p, radius, ν, ρ and the k of `homogeneous_sdp` are parameters of the problems. c and p stand in the linear cost
alone, so that the step is compiled once for a whole run.
"""

from typing import Any, Literal, TypeAlias, TypeVar

import cvxpy as cp
import numpy as np
from cvxpy.atoms.affine.add_expr import AddExpression
from cvxpy.atoms.affine.unary_operators import NegExpression
from numpy.typing import NDArray

__all__ = [
    "dspca",
    "entrywise_sdp",
    "entrywise_sdp_by_group",
    "fisher_l1",
    "fisher_l1_penalized",
    "fisher_step",
    "homogeneous_sdp",
    "homogeneous_sdp_by_group",
    "l1_ball",
    "lasso",
    "linear",
    "literal_dual",
    "literal_sdp",
    "log_penalized",
    "metric_lasso",
    "pairwise_sdp",
    "pairwise_sdp_by_group",
    "qcqp",
    "show",
]

Array: TypeAlias = Any  # whatever numpy.asarray takes
Labelled = TypeVar("Labelled", bound=Any)


# The MM step (Section 3.3, Appendix B)


def qcqp(
    c: Array, p: Array, B: Array | None = None, tau: float = 0.0, shift: Literal["identity", "metric"] = "identity"
) -> cp.Problem:
    r"""One MM step as a QCQP, (ALG) and Eq:qcqp-0; the paper's :math:`y \succeq |x|` is called t here.

    .. math:: \min_{x,\,t}\ \tau\|x\|^2 - 2c^T x + p^T t \quad\text{s.t.}\quad x^T B x \le 1,\ -t \preceq x \preceq t
    """
    x, t, c, p = variable("x", c), variable("t", c), parameter("c", c), parameter("p", p, nonneg=True)
    square = term("τ‖x‖²", tau * cp.sum_squares(x)) if shift == "identity" else term("τxᵀBx", tau * quad(x, B))
    cost = term("2cᵀx", 2 * (c @ x))
    objective = (square - cost if tau > 0 else -cost) + term("pᵀt", p @ t)
    return Model(cp.Minimize(objective), [ball(x, B), term("−t ⪯ x", -t <= x), term("x ⪯ t", x <= t)])


def lasso(c: Array, p: Array, B: Array | None = None, tau: float = 1.0) -> cp.Problem:
    r"""One MM step as a weighted LASSO in a ball, τ > 0 (Eq:weighted, Eq:weighted-nonzero-algo).

    .. math:: \min_x\ \tau\|x\|^2 - 2c^T x + p^T|x| \quad\text{s.t.}\quad x^T B x \le 1

    The paper prints the objective divided by τ, plus a constant:
    :math:`\|x - (\tau^{-1}A + I)y\|^2 + (\rho_\varepsilon/\tau)\|Wx\|_1`.
    """
    x, c, p = variable("x", c), parameter("c", c), parameter("p", p, nonneg=True)
    objective = term("τ‖x‖²", tau * cp.sum_squares(x)) - term("2cᵀx", 2 * (c @ x)) + term("pᵀ|x|", p @ cp.abs(x))
    return Model(cp.Minimize(objective), [ball(x, B)])


def linear(c: Array, p: Array, B: Array | None = None) -> cp.Problem:
    r"""One MM step at τ = 0: a linear objective with an ℓ1 penalty (Eq:weighted-algo).

    .. math:: \max_x\ c^T x - \tfrac12 p^T|x| \quad\text{s.t.}\quad x^T B x \le 1
    """
    x, c, p = variable("x", c), parameter("c", c), parameter("p", p, nonneg=True)
    objective = term("cᵀx", c @ x) - term("½pᵀ|x|", 0.5 * (p @ cp.abs(x)))
    return Model(cp.Maximize(objective), [ball(x, B)])


def metric_lasso(c: Array, p: Array, B: Array | None = None) -> cp.Problem:
    r"""The MM step of the split with :math:`\tau x^T B x`: x = z/max(τ, ‖z‖_B) (beyond the paper).

    .. math:: \min_z\ z^T B z - 2c^T z + p^T|z|
    """
    z, c, p = variable("z", c), parameter("c", c), parameter("p", p, nonneg=True)
    objective = term("zᵀBz", quad(z, B)) - term("2cᵀz", 2 * (c @ z)) + term("pᵀ|z|", p @ cp.abs(z))
    return Model(cp.Minimize(objective))


# Sparse Fisher discriminant analysis (Section 6)


def fisher_step(p: Array, a: Array, B: Array | None = None) -> cp.Problem:
    r"""One MM step of sparse FDA (Eq:fdaiterative).

    .. math:: \min_x\ x^T B x + p^T|x| \quad\text{s.t.}\quad a^T x = 1
    """
    x, p = variable("x", p), parameter("p", p, nonneg=True)
    objective = term("xᵀBx", quad(x, B)) + term("pᵀ|x|", p @ cp.abs(x))
    return Model(cp.Minimize(objective), [plane(x, a)])


def fisher_l1(a: Array, B: Array | None, radius: float) -> cp.Problem:
    r"""The ℓ1 relaxation of sparse FDA (Eq:sparsefda; the paper writes k for the radius).

    .. math:: \min_x\ x^T B x \quad\text{s.t.}\quad a^T x = 1,\ \|x\|_1 \le \text{radius}
    """
    x = variable("x", a)
    budget = term("‖x‖₁ ≤ radius", cp.norm1(x) <= parameter("radius", radius, nonneg=True))
    return Model(cp.Minimize(term("xᵀBx", quad(x, B))), [plane(x, a), budget])


def fisher_l1_penalized(a: Array, B: Array | None, nu: float) -> cp.Problem:
    r"""The penalized version of Eq:sparsefda.

    .. math:: \min_x\ x^T B x + \nu\|x\|_1 \quad\text{s.t.}\quad a^T x = 1
    """
    x, nu_ = variable("x", a), parameter("ν", nu, nonneg=True)
    return Model(cp.Minimize(term("xᵀBx", quad(x, B)) + term("ν‖x‖₁", nu_ * cp.norm1(x))), [plane(x, a)])


# The problem with an ℓ1 ball, and its semidefinite relaxations (Section 3, Appendix A)


def l1_ball(A: Array, B: Array | None, radius: float, d: Array | None = None) -> cp.Problem:
    r"""The ℓ1 approximation, which is not convex (Eq:approx; the paper writes k for the radius).

    .. math:: \max_x\ x^T A x \quad\text{s.t.}\quad x^T B x \le 1,\ \|x\|_1 \le \text{radius}

    dccp takes it where A ⪰ 0, CVXPY's nonlinear solvers (nlp=True) take it for every A; both find local solutions.
    With weights d, ‖x‖₁ is Σ dᵢ|xᵢ|.
    """
    x = variable("x", weights(A, d))
    budget = term("‖x‖₁ ≤ radius", weights(A, d) @ cp.abs(x) <= parameter("radius", radius, nonneg=True))
    return Model(cp.Maximize(term("xᵀAx", cp.quad_form(x, constant("A", A)))), [ball(x, B), budget])


def log_penalized(A: Array, B: Array | None, rho_eps: float, eps: float, tau: float = 0.0) -> cp.Problem:
    r"""The paper's d.c. program, which is not convex, for τ with A + τI ⪰ 0 (SGEV-A, Eq:tau-1).

    .. math:: \min_{x,\,t}\ \tau\|x\|^2 + \rho_\varepsilon \sum_i \log(\varepsilon + t_i) - x^T(A + \tau I)x
              \quad\text{s.t.}\quad x^T B x \le 1,\ -t \preceq x \preceq t

    dccp and CVXPY's nonlinear solvers (nlp=True) take it and find local solutions, at which t = |x|.
    """
    x, t = variable("x", A[0]), variable("t", A[0])
    lifted = constant("A + τI", np.asarray(A, dtype=np.float64) + tau * np.eye(len(A)))
    concave = term("ρ_ε Σ log(ε + tᵢ)", rho_eps * cp.sum(cp.log(eps + t))) - term(
        "xᵀ(A + τI)x", cp.quad_form(x, lifted, assume_PSD=True)
    )
    objective = term("τ‖x‖²", tau * cp.sum_squares(x)) + concave if tau > 0 else concave
    return Model(cp.Minimize(objective), [ball(x, B), term("−t ⪯ x", -t <= x), term("x ⪯ t", x <= t)])


def literal_sdp(A: Array, B: Array | None, radius: float, d: Array | None = None) -> cp.Problem:
    r"""The SDP of Section 3 as printed (Eq:Sparse-sdp-GEV; the paper writes k for the radius).

    .. math:: \max_{X,\,x}\ \operatorname{tr}(XA) \quad\text{s.t.}\quad
              \operatorname{tr}(XB) \le 1,\ \|x\|_1 \le \text{radius},\ X \succeq xx^T

    Its value is λmax(A, B) for every radius, since x = 0 is allowed. With weights d, ‖x‖₁ is Σ dᵢ|xᵢ|.
    """
    X, x = symmetric("X", A), cp.Variable((len(np.asarray(A)), 1), name="x")
    schur = term("X ⪰ xxᵀ", cp.bmat([[X, x], [x.T, np.ones((1, 1))]]) >> 0)
    budget = term("‖x‖₁ ≤ radius", weights(A, d) @ cp.abs(x[:, 0]) <= parameter("radius", radius, nonneg=True))
    return Model(cp.Maximize(term("tr(XA)", inner("A", A, X))), [schur, unit_trace(X, B), budget])


def literal_dual(A: Array, B: Array | None, radius: float, d: Array | None = None) -> cp.Problem:
    r"""The dual of that SDP (Eq:appendix-dual).

    .. math:: \min_{r,\,t,\,\beta \ge 0,\,\mu \ge 0}\ t + \beta\,\text{radius} + \mu \quad\text{s.t.}\quad
              \begin{pmatrix} \mu B - A & -r/2 \\ -r^T/2 & t \end{pmatrix} \succeq 0,\ |r| \preceq \beta
    """
    n = len(np.asarray(A))
    r, t = cp.Variable((n, 1), name="r"), cp.Variable((1, 1), name="t")
    beta, mu = cp.Variable(nonneg=True, name="β"), cp.Variable(nonneg=True, name="μ")
    corner = mu * constant("B", np.eye(n) if B is None else B) - constant("A", A)
    schur = term("[[μB − A, −r/2], [−rᵀ/2, t]] ⪰ 0", cp.bmat([[corner, -r / 2], [-r.T / 2, t]]) >> 0)
    box = term("|r| ⪯ β", cp.abs(r[:, 0]) <= beta * weights(A, d))
    price = term("β·radius", parameter("radius", radius, nonneg=True) * beta)
    return Model(cp.Minimize(term("t", t[0, 0]) + price + mu), [schur, box])


def entrywise_sdp(A: Array, B: Array | None, radius: float, d: Array | None = None) -> cp.Problem:
    r"""The paper's tractable form, with :math:`1^T|X|1 \le \text{radius}^2` in place of x (Section 3).

    .. math:: \max_X\ \operatorname{tr}(XA) \quad\text{s.t.}\quad
              \operatorname{tr}(XB) \le 1,\ 1^T|X|1 \le \text{radius}^2,\ X \succeq 0

    With weights d, 1ᵀ|X|1 is Σ dᵢdⱼ|Xᵢⱼ|.
    """
    X, d = symmetric("X", A), weights(A, d)
    budget = moduli(X, d) + diagonal(X, d) <= parameter("radius²", float(radius) ** 2, nonneg=True)
    constraints = [semidefinite(X), unit_trace(X, B), term("1ᵀ|X|1 ≤ radius²", budget)]
    return Model(cp.Maximize(term("tr(XA)", inner("A", A, X))), constraints)


def homogeneous_sdp(A: Array, B: Array | None, k: float, d: Array | None = None) -> cp.Problem:
    r"""A relaxation with a budget that scales with X, valid for every B and d > 0 (beyond the paper).

    .. math:: \max_X\ \operatorname{tr}(XA) \quad\text{s.t.}\quad \operatorname{tr}(XB) = 1,\
              \sum_{ij} d_i d_j |X_{ij}| \le k \sum_i d_i^2 X_{ii},\ X \succeq 0
    """
    X, d = symmetric("X", A), weights(A, d)
    spread = diagonal(X, d)
    budget = term("Σ dᵢdⱼ|Xᵢⱼ| ≤ k Σ dᵢ²Xᵢᵢ", moduli(X, d) + spread <= parameter("k", k, nonneg=True) * spread)
    constraints = [semidefinite(X), unit_trace(X, B, equal=True), budget]
    return Model(cp.Maximize(term("tr(XA)", inner("A", A, X))), constraints)


def pairwise_sdp(A: Array, B: Array | None, k: float) -> cp.Problem:
    r"""A tighter relaxation, valid for every B: :math:`X = xx^T` and :math:`Y_{ij} = x_i^2` for j in the support.

    .. math:: \max_{X,\,Y}\ \operatorname{tr}(XA) \quad\text{s.t.}\quad \operatorname{tr}(XB) = 1,\ X \succeq 0,\
              X_{ij}^2 \le Y_{ij}Y_{ji},\ 0 \le Y_{ij} \le X_{ii},\ \sum_{j \ne i} Y_{ij} \le (k-1)X_{ii}

    Beyond the paper. It implies the homogeneous relaxation for every d > 0.
    """
    X, Y = symmetric("X", A), cp.Variable(np.shape(A), nonneg=True, name="Y")
    x, others = diagonal_of(X), cp.sum(Y, axis=1) - diagonal_of(Y)
    below = term("Yᵢⱼ ≤ Xᵢᵢ", cp.outer(x, np.ones(len(A))) - Y >= 0)
    rows = [below, term("Σ Yᵢⱼ ≤ (k−1)Xᵢᵢ", others <= (k - 1) * x)]
    constraints = [semidefinite(X), unit_trace(X, B, equal=True), *pairs(X, Y), *rows]
    return Model(cp.Maximize(term("tr(XA)", inner("A", A, X))), constraints)


def entrywise_sdp_by_group(
    A: Array, B: Array | None, radius: Array, labels: Array, d: Array | None = None
) -> cp.Problem:
    r"""The entrywise relaxation with an ℓ1 budget for each group, :math:`\|x_g\|_1 \le r_g` (beyond the paper).

    .. math:: \max_X\ \operatorname{tr}(XA) \quad\text{s.t.}\quad \operatorname{tr}(XB) \le 1,\
              \sum_{i \in g,\, j \in h} |X_{ij}| \le r_g r_h \ \text{for all } g, h,\ X \succeq 0
    """
    X, d = symmetric("X", A), weights(A, d)
    g, h = np.triu_indices(len(radius))
    most = parameter("r_g·r_h", twice_off_diagonal(np.outer(radius, radius)), nonneg=True)
    budget = term("Σ |Xᵢⱼ| ≤ r_g·r_h, i ∈ g, j ∈ h", block_moduli(X, d, labels) <= most[g, h])
    return Model(cp.Maximize(term("tr(XA)", inner("A", A, X))), [semidefinite(X), unit_trace(X, B), budget])


def homogeneous_sdp_by_group(A: Array, B: Array | None, k: Array, labels: Array, d: Array | None = None) -> cp.Problem:
    r"""The homogeneous relaxation with a budget for each group, valid for every B and d > 0 (beyond the paper).

    .. math:: \max_{X,\,N}\ \operatorname{tr}(XA) \quad\text{s.t.}\quad \operatorname{tr}(XB) = 1,\
              \sum_{i \in g,\, j \in h} d_i d_j |X_{ij}| \le N_{gh},\ N_{gg} \le k_g \sum_{i \in g} d_i^2 X_{ii},\
              X \succeq 0,\ N \succeq 0

    For :math:`X = xx^T` take :math:`N = ss^T`, :math:`s_g = \sum_{i \in g} d_i |x_i|`. N may exceed the moduli, but
    :math:`N_{gh}^2 \le N_{gg} N_{hh}` bounds those between two groups by the budgets of both.
    """
    X, d, m = symmetric("X", A), weights(A, d), len(k)
    N, (g, h) = cp.Variable((m, m), symmetric=True, name="N"), np.triu_indices(m)
    spread = np.equal.outer(np.arange(m), np.asarray(labels)) * d**2 @ cp.diag(X)
    within = term(
        "Σ dᵢdⱼ|Xᵢⱼ| ≤ N_gh", block_moduli(X, d, labels) <= cp.multiply(twice_off_diagonal(np.ones((m, m))), N)[g, h]
    )
    budget = term("N_gg ≤ k_g Σ dᵢ²Xᵢᵢ", diagonal_of(N) <= cp.multiply(parameter("k", k, nonneg=True), spread))
    constraints = [semidefinite(X), unit_trace(X, B, equal=True), within, budget, term("N ⪰ 0", N >> 0)]
    return Model(cp.Maximize(term("tr(XA)", inner("A", A, X))), constraints)


def pairwise_sdp_by_group(A: Array, B: Array | None, k: Array, labels: Array) -> cp.Problem:
    r"""The pairwise relaxation with a budget for each group g (beyond the paper).

    .. math:: \max_{X,\,Y}\ \operatorname{tr}(XA) \quad\text{s.t.}\quad \operatorname{tr}(XB) = 1,\ X \succeq 0,\
              X_{ij}^2 \le Y_{ij}Y_{ji},\ 0 \le Y_{ij} \le X_{ii},\
              \sum_{j \in g,\, j \ne i} Y_{ij} \le (k_g - [i \in g])X_{ii}
    """
    X, Y = symmetric("X", A), cp.Variable(np.shape(A), nonneg=True, name="Y")
    inside = np.equal.outer(np.asarray(labels), np.arange(len(k))).astype(np.float64)  # [i ∈ g], n × m
    x = cp.outer(diagonal_of(X), np.ones(len(A)))
    others = cp.multiply(Y, 1.0 - np.eye(len(A))) @ inside
    rows = [
        term("Yᵢⱼ ≤ Xᵢᵢ", x - Y >= 0),
        term("Σ Yᵢⱼ ≤ (k_g − [i ∈ g])Xᵢᵢ, j ∈ g", others <= cp.multiply(np.asarray(k) - inside, x[:, : len(k)])),
    ]
    constraints = [semidefinite(X), unit_trace(X, B, equal=True), *pairs(X, Y), *rows]
    return Model(cp.Maximize(term("tr(XA)", inner("A", A, X))), constraints)


def dspca(A: Array, B: Array | None, rho: float, d: Array | None = None) -> cp.Problem:
    r"""DSPCA's penalised form (d'Aspremont et al. 2007; Section 4).

    .. math:: \max_X\ \operatorname{tr}(XA) - \rho\,1^T|X|1 \quad\text{s.t.}\quad
              \operatorname{tr}(XB) \le 1,\ X \succeq 0
    """
    X, d = symmetric("X", A), weights(A, d)
    charge = term("ρ1ᵀ|X|1", parameter("ρ", rho, nonneg=True) * (moduli(X, d) + diagonal(X, d)))
    return Model(cp.Maximize(term("tr(XA)", inner("A", A, X)) - charge), [semidefinite(X), unit_trace(X, B)])


# What the problems are written with


def variable(name: str, like: Array) -> cp.Variable:
    """A vector variable with as many entries as an array."""
    return cp.Variable(np.size(np.asarray(like)), name=name)


def symmetric(name: str, like: Array) -> cp.Variable:
    """A symmetric matrix variable of the size of a matrix."""
    return cp.Variable(np.shape(np.asarray(like)), symmetric=True, name=name)


def parameter(name: str, value: Array, *, nonneg: bool = False) -> cp.Parameter:
    """A parameter with its value."""
    array = np.asarray(value, dtype=np.float64)
    return cp.Parameter(array.shape, name=name, value=array, nonneg=nonneg)


def constant(name: str, value: Array) -> cp.Constant:
    """A constant under its letter."""
    return cp.Constant(np.asarray(value, dtype=np.float64), name=name)


def quad(x: cp.Variable, B: Array | None) -> cp.Expression:
    """xᵀBx; B is taken to be positive semidefinite, as CVXPY's own check by ARPACK may fail on such a matrix."""
    return cp.sum_squares(x) if B is None else cp.quad_form(x, constant("B", B), assume_PSD=True)


def ball(x: cp.Variable, B: Array | None) -> cp.Constraint:
    """xᵀBx ≤ 1."""
    return term("xᵀBx ≤ 1" if B is not None else "xᵀx ≤ 1", quad(x, B) <= 1)


def plane(x: cp.Variable, a: Array) -> cp.Constraint:
    """aᵀx = 1."""
    return term("aᵀx = 1", constant("a", a) @ x == 1)


def inner(name: str, A: Array, X: cp.Variable) -> Any:
    """tr(XA), written ΣAᵢⱼXᵢⱼ because CVXPY 1.8 has no trace of a 1×1 matrix."""
    return cp.sum(cp.multiply(constant(name, A), X))


def unit_trace(X: cp.Variable, B: Array | None, *, equal: bool = False) -> Any:
    """tr(XB) ≤ 1, or = 1."""
    product: Any = cp.sum(cp.diag(X)) if B is None else inner("B", B, X)
    return term("tr(XB) = 1", product == 1) if equal else term("tr(XB) ≤ 1", product <= 1)


def semidefinite(X: cp.Variable) -> cp.Constraint:
    """X ⪰ 0."""
    return term("X ⪰ 0", X >> 0)


def weights(A: Array, d: Array | None) -> NDArray[np.float64]:
    """The weights d of the moduli, 1 unless given."""
    return np.ones(len(np.asarray(A))) if d is None else np.asarray(d, dtype=np.float64)


def moduli(X: cp.Variable, d: NDArray[np.float64]) -> cp.Expression:
    """Σ_{i≠j} dᵢdⱼ|Xᵢⱼ|, the upper triangle counted twice: half the absolute values of cp.sum(cp.abs(X))."""
    if len(d) == 1:
        return cp.Constant(0.0)
    rows, columns = np.triu_indices(len(d), 1)
    return (2.0 * d[rows] * d[columns]) @ cp.abs(cp.vec(cp.upper_tri(X), order="F"))


def block_moduli(X: cp.Variable, d: NDArray[np.float64], labels: Array) -> cp.Expression:
    """Σ dᵢdⱼ|Xᵢⱼ| over i ∈ g and j ∈ h for all groups g ≤ h, those of two groups counted twice: (g, h) and (h, g)."""
    labels, m = np.asarray(labels), int(np.max(labels)) + 1
    count = m * (m + 1) // 2
    pair = np.zeros((m, m), dtype=np.intp)
    pair[np.triu_indices(m)] = np.arange(count)
    pair = np.maximum(pair, pair.T)[labels][:, labels]  # of every entry of X
    rows, columns = np.triu_indices(len(d), 1)
    upper = np.equal.outer(np.arange(count), pair[rows, columns]) * (2.0 * d[rows] * d[columns])
    own = np.equal.outer(np.arange(count), np.diagonal(pair)) * d**2
    return upper @ cp.abs(cp.vec(cp.upper_tri(X), order="F")) + own @ cp.diag(X) if len(d) > 1 else own @ diagonal_of(X)


def twice_off_diagonal(M: NDArray[np.float64]) -> NDArray[np.float64]:
    """The matrix with its entries off the diagonal doubled."""
    return 2.0 * M - np.diag(np.diagonal(M))


def diagonal_of(X: cp.Variable) -> cp.Expression:
    """The vector of the Xᵢᵢ, of a 1×1 matrix too."""
    return cp.reshape(cp.diag(X), (X.shape[0],), order="F")


def pairs(X: cp.Variable, Y: cp.Variable) -> list[cp.Constraint]:
    """Xᵢⱼ² ≤ YᵢⱼYⱼᵢ for i < j, as cones of three entries: |(2Xᵢⱼ, Yᵢⱼ − Yⱼᵢ)| ≤ Yᵢⱼ + Yⱼᵢ."""
    if X.shape == (1, 1):
        return []
    x, upper, lower = (cp.vec(cp.upper_tri(M), order="F") for M in (X, Y, Y.T))
    return [term("Xᵢⱼ² ≤ YᵢⱼYⱼᵢ", cp.SOC(upper + lower, cp.vstack([2 * x, upper - lower])))]


def diagonal(X: cp.Variable, d: NDArray[np.float64]) -> cp.Expression:
    """Σ dᵢ²Xᵢᵢ."""
    return (d * d) @ cp.diag(X)


# How the problems print


def term(text: str, expression: Labelled) -> Labelled:
    """The expression or constraint under its name in the paper, as a label where CVXPY has labels (from 1.8 on)."""
    expression.in_the_paper = text
    return expression.set_label(text) if hasattr(expression, "set_label") else expression


class Model(cp.Problem):
    """A `cp.Problem` that prints as the paper writes it."""

    def __str__(self) -> str:
        return show(self)


def show(problem: cp.Problem) -> str:
    """The problem in the paper's notation, from the names of its terms and constraints."""
    goal: Any = problem.objective
    head = f"{'minimize' if isinstance(goal, cp.Minimize) else 'maximize'} {written(goal.args[0])}"
    rows = [written(constraint) for constraint in problem.constraints]
    return "\nsubject to ".join([head, "\n           ".join(rows)]) if rows else head


def written(part: Any) -> str:
    """A term under its name in the paper, sums and differences of terms, and anything else as CVXPY prints it."""
    if hasattr(part, "in_the_paper"):
        return part.in_the_paper
    if isinstance(part, AddExpression):
        return " + ".join(map(written, part.args)).replace("+ −", "−")
    return f"− {written(part.args[0])}" if isinstance(part, NegExpression) else str(part)
