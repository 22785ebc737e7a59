"""Put any solver on trial: check(solver, level) catches the wrong ones and passes the right ones."""

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
