"""Learn to put what was found beside what is proved
=================================================

A vector attains its value, a bound is proved from the data: both for every k.
"""

from dcgev_cvx import datasets, exact, solve
from dcgev_cvx.plotting import plot_tradeoff
from dcgev_cvx.relaxations import homogeneous_sdp
from dcgev_cvx.relaxations.bounds import homogeneous_bound

pencil = datasets.pitprops()
curves = {"found": [], "optimum": [], "proved": []}
for k in range(1, 8):
    found = solve(pencil, k, check_path=False).value
    bound = homogeneous_bound(pencil, k, homogeneous_sdp(pencil, k).U)  # one eigenvalue: no solver is trusted
    best = exact.best_subset(pencil, k).value
    for name, value in zip(curves, (found, best, bound), strict=True):
        curves[name].append((k, value))
    print(f"k = {k}: found {found:.5f} ≤ optimum {best:.5f} ≤ proved {bound:.5f} ≤ λmax {pencil.lambda_max:.5f}")
plot_tradeoff(curves, top=pencil.lambda_max).figure.savefig("attained_and_proved.png")
