"""Exercise: prove an upper bound. Fill in and run; `teach.hint("bound")` helps."""

import numpy as np

from dcgev_cvx import teach

U = np.zeros((13, 13))  # proves λmax(A), which any k would get

print(teach.check("bound", U))
