"""Your own program: a penalty on groups of variables
==================================================

min ρ̃ Σ_G log(ε + ‖x_G‖) − xᵀAx over ‖x‖ ≤ 1, A ⪰ 0: whole groups of variables enter or stay out. The tangent of the log
at ‖y_G‖ makes a step the soft threshold of a group's norm.
"""

# ruff: noqa: D101, D102, D103
import numpy as np

from dcgev_cvx import Certificate, Stop, minimize
from dcgev_cvx.plotting import plot_history
from dcgev_cvx.steps.accelerate import Accelerated


class GroupPCA:
    def __init__(self, A, groups, rho, eps=0.01):
        self.A, self.groups, self.rho, self.eps = A, groups, rho / np.log(1 + 1 / eps), eps

    def norms(self, x):  # ‖x_G‖ for each group that is present
        _, index = np.unique(self.groups, return_inverse=True)
        return np.sqrt(np.bincount(index, x * x)), index

    def start(self, x0=None):
        return np.linalg.eigh(self.A)[1][:, -1] if x0 is None else np.asarray(x0, dtype=float)

    def f(self, x):
        return self.rho * np.log(self.eps + self.norms(x)[0]).sum() - x @ self.A @ x

    def g(self, x, y):
        at = self.norms(y)[0]
        tangent = np.log(self.eps + at) + (self.norms(x)[0] - at) / (self.eps + at)
        return self.rho * tangent.sum() - (2 * x - y) @ self.A @ y

    def size(self, x):
        return self.rho * abs(np.log(self.eps + self.norms(x)[0])).sum() + x @ self.A @ x

    def certify(self, x, history=()):  # stationary: x is its own step
        return Certificate.of(self, history, stationarity=abs(step(self, x) - x).max(), feasibility=max(0, x @ x - 1))

    def project(self, x):  # optional: lets steps be extrapolated
        return x / max(1, np.linalg.norm(x))

    def restrict(self, support):  # optional, with zeros_stay: groups that stay zero leave
        part = GroupPCA(self.A[np.ix_(support, support)], self.groups[support], 0, self.eps)
        part.rho = self.rho
        return part

    def zeros_stay(self, y):
        norms, index = self.norms(y)
        return np.all((norms[index] > 0) == (y != 0)) and self.rho / self.eps > 2 * np.linalg.norm(self.A)


def step(program, y):
    c, (norms, index) = program.A @ y, program.norms(y)
    pull = np.sqrt(np.bincount(index, c * c))
    z = c * np.maximum(0, 1 - 0.5 * program.rho / (program.eps + norms) / np.maximum(pull, 1e-300))[index]
    return z / max(np.linalg.norm(z), 1e-300)


# %%
# Ten groups of four variables; a factor moves groups 2 and 5.
rng = np.random.default_rng(1)
groups = np.repeat(np.arange(10), 4)
X = rng.standard_normal((200, 40)) + rng.standard_normal((200, 1)) * np.isin(groups, (2, 5))
program = GroupPCA(X.T @ X / 200, groups, rho=1.5)
for name, result in {
    "plain": minimize(program, step, stop=Stop(stationarity=1e-8)),
    "extrapolated": minimize(program, Accelerated(step)),
    "shrinking": minimize(program, step, shrink=True),
}.items():
    print(f"{name}: {result}")
    print("  groups:", np.unique(groups[list(result.support)]))
plot_history(result).figure.savefig("own_group_penalty.png")
