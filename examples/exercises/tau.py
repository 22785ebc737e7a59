"""Exercise: the smallest shift. Fill in and run; `teach.hint("tau")` helps."""

from dcgev_cvx import datasets, teach

pencil = datasets.indefinite(7)
tau = 0.0  # the smallest τ for which g majorises f

print(teach.check("tau", tau))
