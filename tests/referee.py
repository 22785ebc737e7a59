"""The paper's formulas a second time, in plain NumPy and mpmath: what the package is compared with.

Nothing here is imported from the package. Arrays are the user's own A, B, y; B = None is the identity.
"""

from __future__ import annotations

import itertools
import math

import mpmath
import numpy as np


def long(a):
    return np.asarray(a, dtype=np.longdouble)


def metric(B, n):
    return np.eye(n) if B is None else np.asarray(B, dtype=float)


# ---- penalties and objectives, in 50 digits -------------------------------------------------------


def card_eps_exactly(x, eps):
    """Σ log(1 + |xᵢ|/ε) / log(1 + 1/ε) in 50 digits."""
    with mpmath.workdps(50):
        e = mpmath.mpf(float(eps))
        top = mpmath.fsum(mpmath.log1p(abs(mpmath.mpf(float(v))) / e) for v in x)
        return float(top / mpmath.log1p(1 / e))


def quad_exactly(A, x):
    """xᵀAx in 50 digits."""
    n = len(x)
    v = [mpmath.mpf(float(t)) for t in x]
    return mpmath.fsum(mpmath.mpf(float(A[i, j])) * v[i] * v[j] for i in range(n) for j in range(n))


def f_exactly(A, x, rho, eps):
    """f(x) = ρ_ε Σ log(ε + |xᵢ|) − xᵀAx in 50 digits."""
    with mpmath.workdps(50):
        e = mpmath.mpf(float(eps))
        rho_eps = mpmath.mpf(float(rho)) / mpmath.log1p(1 / e)
        logs = mpmath.fsum(mpmath.log(e + abs(mpmath.mpf(float(v)))) for v in x)
        return float(rho_eps * logs - quad_exactly(A, x))


def gap_exactly(A, H, x, y, rho, eps):
    """(x−y)ᵀ(A+H)(x−y) + ρ_ε Σ [(|xᵢ|−|yᵢ|)/(|yᵢ|+ε) − log((|xᵢ|+ε)/(|yᵢ|+ε))] in 50 digits; H = τI or τB."""
    with mpmath.workdps(50):
        e = mpmath.mpf(float(eps))
        rho_eps = mpmath.mpf(float(rho)) / mpmath.log1p(1 / e)
        d = [mpmath.mpf(float(a)) - mpmath.mpf(float(b)) for a, b in zip(x, y, strict=True)]
        n = range(len(d))
        square = mpmath.fsum(
            (mpmath.mpf(float(A[i, j])) + mpmath.mpf(float(H[i, j]))) * d[i] * d[j] for i in n for j in n
        )
        bends = []
        for a, b in zip(x, y, strict=True):
            u, v = abs(mpmath.mpf(float(a))), abs(mpmath.mpf(float(b)))
            bends.append((u - v) / (v + e) - mpmath.log((u + e) / (v + e)))
        return float(square + rho_eps * mpmath.fsum(bends))


# ---- the KKT system of one MM step ----------------------------------------------------------------


def slopes(y, rho, eps):
    """p = ρ_ε w(y), uncapped, in extended precision."""
    e = long(eps)
    scale = np.log1p(e) - np.log(e)
    return long(rho) / scale / (np.abs(long(y)) + e)


def step_kkt(A, B, y, x, *, rho, eps, tau=0.0, shift="identity"):
    """The KKT residual of x as the minimiser of g(·, y) over xᵀBx ≤ 1, in extended precision.

    Rows are divided by √Bᵢᵢ and by the norm of 2c in that scaling; violation of Ω and complementarity
    count too, the latter as a share of the multiplier.
    """
    n = len(x)
    A, B, y, x = long(A), long(metric(B, n)), long(y), long(x)
    H = long(tau) * (np.eye(n, dtype=np.longdouble) if shift == "identity" else B)
    root = np.sqrt(np.diag(B))
    c = A @ y + H @ y
    p = slopes(y, rho, eps)
    scale = 2 * np.sqrt(np.sum((c / root) ** 2))
    if scale == 0:
        return float(np.max(np.abs(x)) * np.max(root)) if float(rho) > 0 or tau > 0 else 0.0
    gradient, pull = 2 * (H @ x - c), 2 * (B @ x)
    bxx = x @ (B @ x)
    boundary = abs(1 - bxx) <= 1e-8
    mu = max(0.0, -(gradient @ x + p @ np.abs(x)) / (2 * bxx)) if bxx > 0 and boundary else long(0)
    r = gradient + mu * pull
    raw = np.where(x != 0, np.abs(r + p * np.sign(x)), np.maximum(0, np.abs(r) - p)) / root
    slackness = mu * abs(1 - bxx) / (mu + scale)
    return float(max(np.max(raw) / scale, slackness, max(0.0, bxx - 1)))


def step_kkt_50_digits(A, B, y, x, *, rho, eps, tau=0.0):
    """The largest KKT row (identity shift) on the boundary of Ω, each number in 50 digits."""
    with mpmath.workdps(50):
        n = len(x)
        B = metric(B, n)
        exact = lambda M: mpmath.matrix([[mpmath.mpf(float(v)) for v in row] for row in M])  # noqa: E731
        Am, Bm = exact(A), exact(B)
        xm, ym = (mpmath.matrix([mpmath.mpf(float(v)) for v in vector]) for vector in (x, y))
        t, e = mpmath.mpf(float(tau)), mpmath.mpf(float(eps))
        rho_eps = mpmath.mpf(float(rho)) / mpmath.log1p(1 / e)
        c = Am * ym + t * ym
        p = [rho_eps / (abs(v) + e) for v in ym]
        Bx = Bm * xm
        bxx = (xm.T * Bx)[0]
        inner = mpmath.fsum(2 * (t * xm[i] - c[i]) * xm[i] + p[i] * abs(xm[i]) for i in range(n))
        mu = max(mpmath.mpf(0), -inner / (2 * bxx))
        scale = 2 * mpmath.sqrt(mpmath.fsum(c[i] ** 2 / Bm[i, i] for i in range(n)))
        worst = mpmath.mpf(0)
        for i in range(n):
            r = 2 * (t * xm[i] - c[i]) + 2 * mu * Bx[i]
            row = abs(r + p[i] * mpmath.sign(xm[i])) if xm[i] != 0 else max(mpmath.mpf(0), abs(r) - p[i])
            worst = max(worst, row / mpmath.sqrt(Bm[i, i]) / scale)
        return float(worst)


def fisher_kkt(a, B, y, x, *, nu, eps):
    """The KKT residual of x as the minimiser of xᵀBx + pᵀ|x| s.t. aᵀx = 1, without units."""
    a, B, y, x = long(a), long(metric(B, len(x))), long(y), long(x)
    p = slopes(y, nu, eps)
    root = np.sqrt(np.diag(B))
    gradient = 2 * (B @ x)
    mu = (gradient @ x + p @ np.abs(x)) / (a @ x)
    r = gradient - mu * a
    raw = np.where(x != 0, np.abs(r + p * np.sign(x)), np.maximum(0, np.abs(r) - p)) / root
    scale = max(np.max(np.abs(gradient) / root), np.max(np.abs(mu * a) / root))
    return float(max(np.max(raw) / scale, abs(a @ x - 1)))


def stationarity(A, B, x, *, rho, eps):
    """Rows of −2Ax + 2μBx + ρ_ε w∘s = 0 at x itself: on the support its modulus, off it the excess over ρ_ε/ε."""
    n = len(x)
    A, B, x = long(A), long(metric(B, n)), long(x)
    p = slopes(x, rho, eps)
    bxx = x @ (B @ x)
    mu = max(0.0, (x @ (A @ x) - p @ np.abs(x) / 2) / bxx)
    r = -2 * (A @ x) + 2 * mu * (B @ x)
    raw = np.where(x != 0, np.abs(r + p * np.sign(x)), np.maximum(0, np.abs(r) - p)) / np.sqrt(np.diag(B))
    return float(np.max(raw) / np.max(np.abs(2 * (A @ x)) / np.sqrt(np.diag(B))))


# ---- solvers of their own -------------------------------------------------------------------------


def lasso_by_descent(M, c, p, x, sweeps=20_000):
    """argmin xᵀMx − 2cᵀx + pᵀ|x| by cyclic coordinate descent."""
    x = x.copy()
    diagonal = np.diag(M)
    Mx = M @ x
    for _ in range(sweeps):
        moved = 0.0
        for i in range(len(c)):
            pull = c[i] - Mx[i] + diagonal[i] * x[i]
            new = math.copysign(max(0.0, abs(pull) - 0.5 * p[i]), pull) / diagonal[i]
            if new != x[i]:
                Mx = Mx + M[:, i] * (new - x[i])
                moved = max(moved, abs(new - x[i]))
                x[i] = new
        if moved <= 1e-15 * (1e-300 + np.max(np.abs(x))):
            break
    return x


def step_by_bisection(A, B, y, *, rho, eps, tau=0.0, shift="identity"):
    """argmin g(·, y) over xᵀBx ≤ 1: bisection on μ, coordinate descent on xᵀ(H + μB)x − 2cᵀx + pᵀ|x| inside."""
    n = len(y)
    B = metric(B, n)
    H = tau * (np.eye(n) if shift == "identity" else B)
    c = A @ y + H @ y
    p = np.asarray(slopes(y, rho, eps), dtype=float)
    size = math.sqrt(max(0.0, c @ np.linalg.solve(B, c)))
    if size == 0.0 or np.all(2 * np.abs(c) <= p):
        return np.zeros(n)

    def at(mu, x):
        x = lasso_by_descent(H + mu * B, c, p, x)
        return x, float(x @ B @ x)

    x, low, high = np.zeros(n), 0.0, size
    if tau > 0.0:
        x, norm2 = at(0.0, x)
        if norm2 <= 1.0:
            return x
    for _ in range(100):
        mu = 0.5 * (low + high)
        x, norm2 = at(mu, x)
        low, high = (mu, high) if norm2 > 1.0 else (low, mu)
        if high - low <= 1e-15 * size:
            break
    return x / math.sqrt(x @ B @ x)


def fisher_by_bisection(a, B, y, *, nu, eps):
    """argmin xᵀBx + pᵀ|x| s.t. aᵀx = 1: bisection on the multiplier, coordinate descent inside."""
    p = np.asarray(slopes(y, nu, eps), dtype=float)
    x, low, high = np.zeros(len(y)), 0.0, 1.0
    while a @ lasso_by_descent(B, high * a, p, x) < 1.0:
        high *= 2.0
    for _ in range(100):
        middle = 0.5 * (low + high)
        x = lasso_by_descent(B, middle * a, p, x)
        low, high = (middle, high) if a @ x < 1.0 else (low, middle)
    return x / (a @ x)


def best_subset(A, B, k):
    """(value, support) of max xᵀAx/xᵀBx over every support of k variables, one eigh each."""
    n = A.shape[0]
    B = metric(B, n)
    best = (-math.inf, ())
    for support in itertools.combinations(range(n), k):
        rows = np.ix_(support, support)
        inverse = np.linalg.inv(np.linalg.cholesky(B[rows]))
        top = float(np.linalg.eigvalsh(inverse @ A[rows] @ inverse.T)[-1])
        best = max(best, (top, support))
    return best


# ---- pencils to try -------------------------------------------------------------------------------


def random_pencil(seed, n, *, cond=None, indefinite=False):
    """(A, B): a Wishart or a symmetric Gaussian A; B with the given condition number (None: the identity)."""
    rng = np.random.default_rng(seed)
    M = rng.standard_normal((n, n + 2))
    A = M[:, :n] + M[:, :n].T if indefinite else M @ M.T / n
    if cond is None:
        return A, None
    Q, _ = np.linalg.qr(rng.standard_normal((n, n)))
    B = (Q * np.geomspace(1.0 / cond, 1.0, n)) @ Q.T
    return A, 0.5 * (B + B.T)


def start(seed, B, n, zeros=0):
    """A random point of the sphere xᵀBx = 1 with some exact zeros."""
    rng = np.random.default_rng([seed, 7])
    x = rng.standard_normal(n)
    x[rng.choice(n, size=min(zeros, n - 1), replace=False)] = 0.0
    return x / math.sqrt(x @ metric(B, n) @ x)
