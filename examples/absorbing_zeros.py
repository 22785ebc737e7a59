"""Learn why the start decides at tiny ε
=====================================

A zero never comes back, and nearly every support is a limit.
"""

import numpy as np

from dcgev_cvx import datasets, dc_pca, renormalize
from dcgev_cvx.plotting import plot_loadings

pencil = datasets.pitprops()
limits = {}
for pair in ((0, 1), (2, 3), (6, 9), (11, 12)):
    start = np.zeros(pencil.n)
    start[list(pair)] = np.sqrt(0.5)
    result = dc_pca(pencil, rho=4.84, x0=start)
    value = pencil.A_quad(renormalize(pencil, result.x))
    names = ", ".join(pencil.name(i) for i in result.support)
    limits[names] = result.x
    print(f"{names:18} worth {value:.4f}; stationary: {result.certificate.passes()}")
plot_loadings(pencil, limits).figure.savefig("absorbing_zeros.png")
