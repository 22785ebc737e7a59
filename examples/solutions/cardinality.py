"""Solution: from ρ̃ to k."""

from dcgev_cvx import datasets, dc_pca, teach

pencil, low, high = datasets.pitprops(), 0.0, 10.0
rho = 5.0
while (found := len(dc_pca(pencil, rho=rho, eps=0.01).support)) != 5:  # bisection: more ρ̃, fewer nonzeros
    low, high = (rho, high) if found > 5 else (low, rho)
    rho = 0.5 * (low + high)

print(teach.check("cardinality", rho))
