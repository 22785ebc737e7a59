"""Put any solver on trial: check(solver, level) catches the wrong ones and passes the right ones.

A level is a signature, such as step(A, B, y, rho, eps, tau) → x, with the equations that its answers must satisfy.
`check` calls the solver on a few hundred small problems, evaluates the equations from the data, and reports which
one fails by how much, on the smallest example that it could find. No answer is compared with a solver's: the
references are certified in extended precision and by two methods.

    from dcgev_cvx import verify
    verify.check(my_step, "step").raise_if_failed()

What is asked of a right solver is the equation, not our way to it: any minimiser, any stationary point below the
start, any valid bound passes.
"""

from __future__ import annotations

from .instances import LEVELS, Instance, Level
from .parametrize import parametrize_with_checks
from .protocol import ProcessSolver
from .report import Report, VerificationFailed
from .runner import check
from .tolerances import PROFILES, Tolerances

__all__ = [
    "LEVELS",
    "PROFILES",
    "Instance",
    "Level",
    "ProcessSolver",
    "Report",
    "Tolerances",
    "VerificationFailed",
    "check",
    "parametrize_with_checks",
]
