"""With a tiny ε the start decides
===============================

**Question.** MM converges to a stationary point. Does it matter where it starts?

With ε = machine precision, as in the paper, the slope of the penalty at 0 is about 1e15. So an entry that is
zero stays zero for the rest of the run.
"""

import numpy as np

from dcgev_cvx import datasets, dc_pca, renormalize
from dcgev_cvx.plotting import plot_loadings

# %%
# The pit props data have thirteen variables. We start Algorithm 2 at four different pairs of variables. The
# penalty and ε are the same in all four runs.
pencil = datasets.pitprops()
limits = {}
for pair in ((0, 1), (2, 3), (6, 9), (11, 12)):
    start = np.zeros(pencil.n)
    start[list(pair)] = np.sqrt(0.5)
    result = dc_pca(pencil, rho=4.84, x0=start)
    value = pencil.A_quad(renormalize(pencil, result.x))
    names = ", ".join(pencil.name(i) for i in result.support)
    limits[names] = result.x
    print(f"{names:18} xᵀAx = {value:.4f}; the certificate passes: {result.certificate.passes()}")

# %%
# Each run ends on the pair on which it started:
plot_loadings(pencil, limits).figure.savefig("absorbing_zeros.png")
assert len(limits) == 4

# %%
# **Conclusion.** All four limits are stationary points, and their values differ. A certificate that passes does
# not mean that the point is optimal. To depend less on the start, begin with a large ε and decrease it, as
# ``solve`` does.
