"""Solution: one step of DC-PCA in closed form."""

import numpy as np

from dcgev_cvx import teach


def step(A, y, rho, eps):
    """xᵢ ∝ [|(Ay)ᵢ| − ½ρ_ε/(|yᵢ| + ε)]₊ sign (Ay)ᵢ; x = 0 when nothing is left (ALG-S)."""
    c = A @ y
    rho_eps = rho / np.log1p(1 / eps)
    z = np.sign(c) * np.maximum(0.0, np.abs(c) - 0.5 * rho_eps / (np.abs(y) + eps))
    norm = np.linalg.norm(z)
    return z / norm if norm > 0 else z


print(teach.check("threshold", step))
