"""Solution: stationary is not optimal."""

import numpy as np

from dcgev_cvx import datasets, dc_pca, teach

start = np.zeros(13)
start[[2, 3]] = np.sqrt(0.5)  # moisture and specific gravity; zeros are absorbing, so MM never leaves them
x = dc_pca(datasets.pitprops(), rho=4.84, x0=start).x

print(teach.check("stuck", x))
