"""Learn what one MM step and the bounds of one problem look like
==============================================================

Left: the surrogate g(·, y) touches f at y, lies above it and is convex; its minimiser x lowers f. Right: pit props,
for each number k of nonzeros: the value that DC-PCA finds from the leading eigenvector (with twelve ρ̃, which give
every k but 4), the proved optimum, and two upper bounds.
"""

import matplotlib.pyplot as plt

from dcgev_cvx import Pencil, SparseGEV, datasets, dc_pca, exact, relaxations, renormalize
from dcgev_cvx.plotting import plot_majoriser, plot_tradeoff

figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 3.4), layout="constrained")
plot_majoriser(SparseGEV(Pencil([[1.0]]), rho=0.5, eps=0.1, tau=1.2), [0.42], ax=left)

pencil, ks = datasets.pitprops(), range(1, 14)
runs = [dc_pca(pencil, rho=rho) for rho in (39, 30, 12, 10, 7.5, 4, 1.2, 0.8, 0.67, 0.3, 0.1, 0)]
found = {len(run.support): pencil.A_quad(renormalize(pencil, run.x)) for run in runs}
optimum = {k: exact.best_subset(pencil, k).value for k in ks}
bound = {k: relaxations.homogeneous_sdp(pencil, k).upper_bound for k in ks}
printed = {k: relaxations.literal_sdp(pencil, k).upper_bound for k in ks}
for k in ks:
    attained = f"{found[k]:.4f}" if k in found else "      "
    print(f"k = {k:2d}: DC-PCA {attained} ≤ optimum {optimum[k]:.4f} ≤ bounds {bound[k]:.4f} ≤ {printed[k]:.4f}")
curves = {
    "optimum": optimum,
    "DC-PCA, renormalised": found,
    "bound: homogeneous SDP": bound,
    "bound: SDP of Section 3 as printed": printed,
}
plot_tradeoff({name: sorted(values.items()) for name, values in curves.items()}, ax=right)
figure.savefig("overview.png")
