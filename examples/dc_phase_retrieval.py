"""Learn to recover a signal from magnitudes alone
===============================================

Which complex signal z has the magnitudes ``|aᵢᴴz| = bᵢ``, when their phases are lost?

The misfit ``Σ |sᵢ − bᵢ|`` with ``sᵢ = |aᵢᴴz|`` is a difference of convex functions,
``|s − b| = 2 max(s, b) − (s + b)``, and ``|aᵢᴴz|`` is a norm of two real numbers.
"""

import cvxpy as cp
import matplotlib.pyplot as plt
import numpy as np

from dcgev_cvx import DCProgram
from dcgev_cvx.comparison.other_solvers import reached_by_others
from dcgev_cvx.plotting import plot_sandwich

rng = np.random.default_rng(3)
n, m = 16, 96
time = np.linspace(0, 1, n)
z = np.exp(2j * np.pi * time**2) * (1 + np.cos(2 * np.pi * time))
a = rng.standard_normal((m, n)) + 1j * rng.standard_normal((m, n))
b = np.abs(a @ z)

# %%
# In real numbers x = (Re z, Im z), and aᵢᴴz has the parts Re @ x and Im @ x.
x = cp.Variable(2 * n, name="x")
real, imaginary = np.hstack([a.real, -a.imag]) @ x, np.hstack([a.imag, a.real]) @ x
s = cp.norm(cp.vstack([real, imaginary]), axis=0)
u, v = 2 * cp.sum(cp.maximum(s, b)), cp.sum(s) + b.sum()

# %%
# The start is the leading eigenvector of Σ bᵢ² aᵢaᵢᴴ, the usual spectral guess.
guess = np.linalg.eigh((a.conj().T * b**2) @ a)[1][:, -1] * np.linalg.norm(b) / np.sqrt(2 * m)
start = np.r_[guess.real, guess.imag]
x.value = start
result = DCProgram(u, v).minimize()
found = result.x[:n] + 1j * result.x[n:]
found *= np.exp(-1j * np.angle(np.vdot(z, found)))  # a common phase cannot be known
print(result)
bound = DCProgram(u, v, [cp.abs(x) <= 3]).lower_bound()
print(f"bound {bound.value:.6g} by {bound.method} (0 bounds a sum of moduli as well); f lies {result.f:.1e} above 0")
print(f"relative error: {np.linalg.norm(found - z) / np.linalg.norm(z):.1e}")

# %%
# Other tools take the magnitudes as constraints, ``|aᵢᴴz| = bᵢ``:
x.value = start
for name, reached in reached_by_others(cp.Problem(cp.Minimize(0), [s == b])).items():
    print(f"{name}: {reached}")

# %%
# The misfit is zero, which no signal can improve: here the end of the run is a global minimum, and the data show it.
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
left.plot(time, z.real, "k-", time, z.imag, "k--", time, found.real, "o", time, found.imag, "s", fillstyle="none")
left.legend(["Re z", "Im z", "Re, recovered", "Im, recovered"])
left.set(xlabel="time")
plot_sandwich(result, right)
figure.savefig("dc_phase_retrieval.png")
