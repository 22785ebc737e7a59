"""Values, optimum and bounds of one problem
=========================================

**Question.** A method finds a vector with k nonzeros. How far is it from the best one?

A vector shows that a value can be attained. A relaxation proves that no vector has a larger value. If both
numbers agree, the vector is optimal.
"""

import matplotlib.pyplot as plt

from dcgev_cvx import datasets, dc_pca, exact, relaxations, renormalize
from dcgev_cvx.plotting import plot_tradeoff

# %%
# DC-PCA (Algorithm 2) on the pit props data, with twelve penalties from the leading eigenvector. Each run finds
# its own number of nonzeros. The loadings are renormalised on their support.
pencil, ks = datasets.pitprops(), range(1, 14)
runs = [dc_pca(pencil, rho=rho) for rho in (39, 30, 12, 10, 7.5, 4, 1.2, 0.8, 0.67, 0.3, 0.1, 0)]
found = {len(run.support): pencil.A_quad(renormalize(pencil, run.x)) for run in runs}

# %%
# The optimum by branch and bound, and two upper bounds. The bounds are proved from the data: the solver's dual
# variable only makes them tight.
optimum = {k: exact.best_subset(pencil, k).value for k in ks}
bound = {k: relaxations.homogeneous_sdp(pencil, k).upper_bound for k in ks}
printed = {k: relaxations.literal_sdp(pencil, k).upper_bound for k in ks}
for k in ks:
    attained = f"{found[k]:.4f}" if k in found else "      "
    print(f"k = {k:2d}: DC-PCA {attained} ≤ optimum {optimum[k]:.4f} ≤ bounds {bound[k]:.4f} ≤ {printed[k]:.4f}")

# %%
# All four curves:
curves = {
    "optimum": optimum,
    "DC-PCA, renormalised": found,
    "bound: homogeneous SDP": bound,
    "bound: SDP of Section 3 as printed": printed,
}
figure, ax = plt.subplots(figsize=(6.4, 4.0), layout="constrained")
plot_tradeoff({name: sorted(values.items()) for name, values in curves.items()}, ax=ax)
figure.savefig("overview.png")
assert set(ks) - set(found) == {4}

# %%
# **Conclusion.** On these data DC-PCA finds the optimum for every k that it reaches. From this start no penalty
# tried gives k = 4. As printed, the SDP of Section 3 returns the largest eigenvalue for every k; the homogeneous
# SDP is close to the optimum.
