"""Try any solver: `check(solver, level)` fails the wrong ones and passes the right ones.

A level is a signature, such as step(A, B, y, rho, eps, tau) → x, with the equations that its answers must satisfy.
`check` calls the solver on a few hundred small problems, evaluates the equations from the data, and reports which one
fails, by how much, on the smallest example that it could find. Reference answers come from two methods that are
independent of the package's own steps, and are certified in extended precision.

    from dcgev_cvx import verify
    verify.check(my_step, "step").raise_if_failed()

Any minimiser, any stationary point below the start and any valid bound passes, whatever method found it.

Reading order of the files: `levels` (what is asked); `pencil_cases`, `step_cases`, `run_cases` and `call_pairs` (the
questions) and `suite` (how they cover the case space of a level); `reference_answers` and `equations` (how answers
are judged); `trial`, `level_checks`, `mistakes`, `diagnosis`, `counterexamples` and `solver_report` (how a solver is
tried and its failures explained); `answers`, `protocol`, `function_program` and `vector_files` (other processes and
languages).

CVXPY's solvers by name: `model_cases` and `model_duals` (the models with known optima), `solver_trial` and
`solver_program` (both sides of a trial), `solver_scripts` (a finding as a script) and `scoreboard`.
"""

from .levels import LEVELS, PROFILES, Instance, Level, Tolerances
from .protocol import ProcessSolver
from .solver_report import Report, VerificationFailed, check, parametrize_with_checks

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
