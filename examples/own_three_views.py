"""Your own program: sparse CCA of three views
===========================================

max xᵀAx − ρ̃‖x‖_ε with x = (x₁, x₂, x₃), A the correlations between the views, and a ball ‖xᵥ‖ ≤ 1 for each view.
With τ ≥ −λmin(A) a step falls into three closed forms, a soft threshold for each view.
"""

# ruff: noqa: D101, D102, D103
import numpy as np

from dcgev_cvx import Certificate, LogPenalty, minimize
from dcgev_cvx.certificates import kkt_rows
from dcgev_cvx.penalties import PricedPenalty
from dcgev_cvx.plotting import plot_history
from dcgev_cvx.steps.accelerate import Accelerated
from dcgev_cvx.steps.closed import soft_threshold


class ThreeViews:
    def __init__(self, A, views, price, tau=None):
        self.A, self.views, self.price = A, views, price
        self.tau = max(0.0, -np.linalg.eigvalsh(A)[0]) if tau is None else tau

    def per_view(self, terms):  # the sum over each view, repeated for its variables
        return np.bincount(self.views, terms, 3)[self.views]

    def start(self, x0=None):
        return self.project(3 * np.linalg.eigh(self.A)[1][:, -1]) if x0 is None else np.asarray(x0, dtype=float)

    def f(self, x):
        return self.price.value(x) - x @ self.A @ x

    def g(self, x, y):
        return self.tau * (x - y) @ (x - y) - (2 * x - y) @ self.A @ y + self.price.tangent(x, y)

    def size(self, x):
        return self.price.size(x) + abs(x @ self.A @ x) + self.tau * x @ x

    def certify(self, x, history=()):
        gradient, p = -2 * self.A @ x, self.price.slopes(x)
        mu = np.maximum(0, -self.per_view(gradient * x + p * abs(x)) / np.maximum(2 * self.per_view(x * x), 1e-300))
        residual = kkt_rows(gradient + 2 * mu * x, p, x).max() / max(abs(gradient).max(), 1e-300)
        outside = max(0.0, self.per_view(x * x).max() - 1)
        return Certificate.of(self, history, stationarity=residual, feasibility=outside)

    def project(self, x):  # optional: lets steps be extrapolated
        return x / np.maximum(1, np.sqrt(self.per_view(x * x)))

    def restrict(self, support):  # optional, with zeros_stay: variables that stay zero leave
        return ThreeViews(self.A[np.ix_(support, support)], self.views[support], self.price, self.tau)

    def zeros_stay(self, y):
        return self.price.slope_at_zero > 4 * (len(self.A) * abs(self.A).max() + self.tau)


def step(program, y):
    z = soft_threshold(program.A @ y + program.tau * y, 0.5 * program.price.slopes(y))
    return z / np.maximum(program.tau, np.sqrt(program.per_view(z * z)))


# %%
# Three views of twenty variables; the first three of each share a factor.
rng = np.random.default_rng(0)
X = rng.standard_normal((300, 60))
X[:, [0, 1, 2, 20, 21, 22, 40, 41, 42]] += rng.standard_normal((300, 1))
views = np.repeat(np.arange(3), 20)
A = np.corrcoef(X.T) * (views[:, None] != views)
program = ThreeViews(A, views, PricedPenalty(LogPenalty(), 0.8, 1e-8, "rho", 60))
for name, result in {
    "plain": minimize(program, step),
    "extrapolated": minimize(program, Accelerated(step)),
    "shrinking": minimize(program, step, shrink=True),
}.items():
    print(f"{name}: {result}")
plot_history(result).figure.savefig("own_three_views.png")
