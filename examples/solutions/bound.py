"""Solution: prove an upper bound."""

from dcgev_cvx import datasets, teach
from dcgev_cvx.relaxations import homogeneous_sdp

U = homogeneous_sdp(datasets.pitprops(), 3).U  # the solver proposes, the eigenvalue bound proves

print(teach.check("bound", U))
