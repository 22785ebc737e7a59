"""Any d.c. program that a user writes in CVXPY, minimised by the same MM as the paper's (beyond the paper).

program    DCProgram: f, g and the certificate of u − v; its MM step
phase_one  a run from any start: growing penalties until the constraints hold, then the driver of `mm`
surrogate  g(·, y) as one CVXPY problem, compiled once
tangents   values and subgradients of convex expressions
splitting  objectives and constraints taken apart into convex minus convex
"""

from .program import FEASIBLE, DCCertificate, DCProgram, TangentStep

__all__ = ["FEASIBLE", "DCCertificate", "DCProgram", "TangentStep"]
