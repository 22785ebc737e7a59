"""Exercise: stationary is not optimal. Fill in and run; `teach.hint("stuck")` helps."""

import numpy as np

from dcgev_cvx import datasets, dc_pca, teach

start = np.ones(13) / np.sqrt(13)  # which start leads to two nonzeros?
x = dc_pca(datasets.pitprops(), rho=4.84, x0=start).x

print(teach.check("stuck", x))
