"""The step of MSMBuilder's sparse eigensolver on trial: what it supports, and what the checks say about it.

MSMBuilder's `speigh` (McGibbon and Pande) is another public implementation of the method. Its step is written here
anew from its description: (ALG) is divided by τ, and ADMM alternates between soft thresholding and the projection
onto xᵀBx ≤ 1, at most 100 times. Division by τ makes τ = 0 unsupported, which is said by NotImplementedError.

Run: python examples/verify_python/speigh.py
"""

from __future__ import annotations

import numpy as np

from dcgev_cvx import verify


def soft_threshold(a, width):
    """Every entry nearer to 0 by its width, or 0."""
    return np.sign(a) * np.maximum(np.abs(a) - width, 0.0)


def projection(a, values, vectors):
    """The point of xᵀBx ≤ 1 nearest to a, from the eigenvalues and eigenvectors of B."""
    c = vectors.T @ a
    if values @ c**2 < 1.0:
        return a
    mu = 0.0
    for _ in range(100):
        grown = 1.0 + mu * values
        excess = values @ (c / grown) ** 2 - 1.0
        slope = 2.0 * (values**2) @ (c**2 / grown**3)
        mu += excess / slope
        if excess / slope < 1e-12:
            break
    return vectors @ (c / (1.0 + mu * values))


def speigh_step(A, B, y, rho, eps, tau, rounds=100):
    """min ½‖x − b‖² + Σ wᵢ|xᵢ| subject to xᵀBx ≤ 1, with b = Ay/τ + y and w = ρ_ε/(2τ(|y| + ε))."""
    if tau == 0.0:
        raise NotImplementedError("τ = 0")
    b = A @ y / tau + y
    w = rho / np.log1p(1.0 / eps) / (2.0 * tau * (np.abs(y) + eps))
    values, vectors = np.linalg.eigh(B)
    x, z, u, penalty = y, y, np.zeros_like(y), 16.0
    for _ in range(rounds):
        x = soft_threshold(b + penalty * (z - u), w) / (1.0 + penalty)
        before, z = z, projection(x + u, values, vectors)
        u = u + x - z
        primal, dual = np.linalg.norm(x - z), penalty * np.linalg.norm(z - before)
        if max(primal, dual) < 1e-8 * np.sqrt(len(x)):
            break
        if primal > 10.0 * dual and penalty < 1024.0:
            penalty, u = 2.0 * penalty, u / 2.0
        elif dual > 10.0 * primal and penalty > 1.0 / 1024.0:
            penalty, u = penalty / 2.0, u * 2.0
    return x


def main():
    """Print the verdict, where the step fails, and what it supports."""
    report = verify.check(speigh_step, "step", tol="interior-point")
    print(report.headline)
    print("\n".join(report.direction))
    return report


if __name__ == "__main__":
    main()
