"""Any d.c. program that a user writes in CVXPY, minimised by the same MM as the paper's (beyond the paper).

program           DCProgram: f, g and the certificate of u − v; its MM step, which tries every piece of v at a kink
running           a run from any start: growing penalties until the constraints hold, then the driver of `mm`
starts            many starts: the best result and the table of all
lower_bounds      how far from the optimum: chords over a box and Shor's SDP
surrogate         g(·, y): what is convex compiled once, the tangents added as rows of numbers
conic             conic problems of size one, and lower bounds that trust no solver
tangents, kinks   values and subgradients of convex expressions; nonlinear atoms and the pieces that meet at a kink
splitting         objectives and constraints taken apart into convex minus convex
cvxpy_method      problem.solve(method="dc")
cvxpy_internals   every undocumented part of CVXPY that is used, with its replacement
"""

from .lower_bounds import LowerBound
from .many_starts import DCResult, StartedRun
from .program import FEASIBLE, DCCertificate, DCProgram, TangentStep

__all__ = ["FEASIBLE", "DCCertificate", "DCProgram", "DCResult", "LowerBound", "StartedRun", "TangentStep"]
