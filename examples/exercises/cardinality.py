"""Exercise: from ρ̃ to k. Fill in and run; `teach.hint("cardinality")` helps."""

from dcgev_cvx import teach

rho = 1.0  # five nonzeros are wanted

print(teach.check("cardinality", rho))
