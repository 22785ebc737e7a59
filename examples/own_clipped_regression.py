"""Your own program: robust regression with a clipped loss
========================================================

f(x) = Σ min((aᵢᵀx − bᵢ)², 1) + λ‖x‖². t ↦ min(t, 1) is concave: its tangent at y counts a row with a small residual as
it is and any other as 1, so that a step is least squares on the rows that y explains. NumPy alone.
"""

# ruff: noqa: D101, D102, D103
import numpy as np

from dcgev_cvx import Certificate, minimize
from dcgev_cvx.plotting import plot_sandwich
from dcgev_cvx.steps.accelerate import Accelerated


class ClippedRegression:
    def __init__(self, A, b, lam=1e-3):
        self.A, self.b, self.lam = A, b, lam

    def near(self, y):
        return (self.A @ y - self.b) ** 2 < 1.0

    def start(self, x0=None):
        return np.linalg.lstsq(self.A, self.b)[0] if x0 is None else np.asarray(x0, dtype=float)

    def f(self, x):
        return np.minimum((self.A @ x - self.b) ** 2, 1.0).sum() + self.lam * x @ x

    def g(self, x, y):
        return np.where(self.near(y), (self.A @ x - self.b) ** 2, 1.0).sum() + self.lam * x @ x

    size = f  # all terms are positive

    def certify(self, x, history=()):
        A, r = self.A[self.near(x)], (self.A @ x - self.b)[self.near(x)]
        gradient = 2 * A.T @ r + 2 * self.lam * x
        return Certificate.of(
            self, history, stationarity=np.abs(gradient).max() / (1 + np.abs(self.A.T @ self.b).max())
        )

    def project(self, x):  # optional: lets steps be extrapolated
        return x


def step(program, y):
    A, b = program.A[program.near(y)], program.b[program.near(y)]
    return np.linalg.solve(A.T @ A + program.lam * np.eye(A.shape[1]), A.T @ b)


rng = np.random.default_rng(0)
A, truth = rng.standard_normal((60, 4)), np.array([2.0, -1.0, 0.5, 0.0])
b = A @ truth + 0.1 * rng.standard_normal(60) + np.where(rng.random(60) < 0.3, 4 * rng.standard_normal(60), 0)
result = minimize(ClippedRegression(A, b), Accelerated(step))
print(result, "\nx =", result.x.round(3), " least squares:", ClippedRegression(A, b).start().round(3))
plot_sandwich(result).figure.savefig("own_clipped_regression.png")
