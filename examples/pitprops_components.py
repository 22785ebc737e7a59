"""Learn how several sparse components are found by deflation
==========================================================

And why "explained variance" needs a name.
"""

from dcgev_cvx import components, datasets
from dcgev_cvx.plotting import plot_loadings

pencil = datasets.pitprops()
cardinalities = [6, 2, 2, 1, 1, 1]

for deflation in ("orthogonalized-hotelling", "hotelling", "projection", "schur"):
    found = components(pencil, cardinalities, deflation=deflation)
    print(f"{deflation:25s} projector trace {found.projector_trace()[-1]:.2%}", end="")
    print(f"  adjusted {found.adjusted()[-1]:.2%}  plain sum {found.plain_sum()[-1]:.2%}")

found = components(pencil, cardinalities)
print("\nthe paper's deflation, component by component:")
for solution in found.solutions:
    print("  ", ", ".join(f"{pencil.name(i)} {solution.x[i]:+.2f}" for i in solution.support))
three = {f"component {i}": solution.x for i, solution in enumerate(found.solutions[:3], 1)}
plot_loadings(pencil, three).figure.savefig("pitprops_components.png")
