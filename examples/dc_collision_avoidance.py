"""Learn to steer two vehicles past each other
===========================================

Two vehicles change sides with the least fuel. How do they keep their distance?

Dynamics, ends and limits of the forces are linear and the fuel is convex. Only the distance ‖p(t) − q(t)‖ ≥ d is a
lower bound on a convex function.
"""

import cvxpy as cp
import matplotlib.pyplot as plt
import numpy as np

from dcgev_cvx import DCProgram
from dcgev_cvx.comparison.other_solvers import reached_by_others
from dcgev_cvx.plotting import plot_sandwich

steps, distance = 40, 0.8
ends = [[(0.0, 0.0), (3.0, 2.0)], [(3.0, 0.3), (0.0, 1.8)]]
positions = [cp.Variable((steps + 1, 2), name=name) for name in "pq"]
fuel, motion = 0, []
for position, (begin, end) in zip(positions, ends, strict=True):
    velocity = cp.diff(position, axis=0)
    force = cp.diff(velocity, axis=0)
    fuel += cp.sum_squares(100 * force)
    motion += [position[0] == begin, position[-1] == end, velocity[0] == 0, velocity[-1] == 0]
p, q = positions
apart = cp.norm(p - q, axis=1) >= distance

# %%
# Without the last constraint the problem is convex. Its solution is the start: the vehicles collide half way.
convex = cp.Problem(cp.Minimize(fuel), motion)
convex.solve(solver="CLARABEL")
start = [position.value.copy() for position in positions]
print(f"fuel {convex.value:.3f}, least distance {np.linalg.norm(start[0] - start[1], axis=1).min():.3f}")

# %%
# Phase one turns the paths away from each other, and then the fuel falls while the distance is kept.
problem = cp.Problem(cp.Minimize(fuel), [*motion, apart])
result = DCProgram.from_problem(problem).minimize()
print(f"fuel {result.f:.3f}, least distance {np.linalg.norm(p.value - q.value, axis=1).min():.6f}")
print(result.status.value, "|", result.message, "|", result.certificate)
print(f"bound {result.bound.value:.6g} by {result.bound.method}; f lies at most {result.gap:.1%} above")
paths = [position.value.copy() for position in positions]

# %%
# The other tools from the same start:
for position, value in zip(positions, start, strict=True):
    position.value = value
for name, reached in reached_by_others(problem).items():
    print(f"{name}: {reached}")

# %%
# Safety has a price in fuel. The paths are stationary; passing on the other side is another stationary point.
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
for dashed, path in zip(start, paths, strict=True):
    left.plot(*dashed.T, ":", color="0.5")
    left.plot(*path.T, "o-", markersize=3)
left.set(aspect="equal", title="dotted: distance ignored")
plot_sandwich(result, right)
figure.savefig("dc_collision_avoidance.png")
