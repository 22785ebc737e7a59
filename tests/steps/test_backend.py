"""The one door to CVXPY's solvers."""

import warnings

import cvxpy as cp
import numpy as np
import pytest

from dcgev_cvx import Backend, InvalidParameter, SolverFailed, SolverMissing
from dcgev_cvx.steps.backend import INSTALL, TIGHT, installed_solvers, known_solver


def tiny():
    x = cp.Variable(2)
    return x, cp.Problem(cp.Minimize(cp.sum_squares(x - np.array([1.0, 2.0]))), [x >= 1.5])


@pytest.mark.parametrize("solver", ["CLARABEL", "ECOS", "SCS", "OSQP", "clarabel", "Scs"])
def test_every_citizen_solves(solver):
    x, problem = tiny()
    solved = Backend(solver).solve(problem)
    assert x.value == pytest.approx([1.5, 2.0], abs=1e-6)
    assert solved.solver == solver.upper()
    assert solved.status == "optimal"
    assert solved.solver_seconds > 0.0
    assert solved.seconds > 0.0


@pytest.mark.parametrize(
    ("name", "hint"),
    [("CLARABLE", "did you mean 'CLARABEL'?"), ("ecoss", "did you mean 'ECOS'?"), ("qqqq", "known: ")],
)
def test_unknown_names_get_the_nearest(name, hint):
    with pytest.raises(InvalidParameter) as caught:
        Backend(name)
    assert f"solver {name!r} is unknown" in str(caught.value)
    assert hint in str(caught.value)
    with pytest.raises(InvalidParameter):
        Backend("SCS", fallback=(name,))


@pytest.mark.parametrize("name", [None, 3, b"SCS", ["SCS"], cp])
def test_a_solver_is_a_name(name):
    with pytest.raises(InvalidParameter, match="solver must be a name such as 'CLARABEL'"):
        known_solver(name)


def test_missing_solvers_say_how_to_install_them(monkeypatch):
    monkeypatch.setattr("dcgev_cvx.steps.backend.installed_solvers", lambda: ("CLARABEL", "SCS"))
    for name, package in INSTALL.items():
        if name not in ("CLARABEL", "SCS"):
            with pytest.raises(
                SolverMissing, match=rf"solver {name} is not installed: pip install {package}\. .*CLARABEL, SCS"
            ):
                Backend(name.lower())
    with pytest.raises(SolverMissing, match="pip install xpress"):
        Backend("XPRESS")


def test_core_solvers_are_installed():
    assert set(TIGHT) - {"ECOS"} <= set(installed_solvers())  # ECOS has no wheel for every Python


def test_fallbacks_are_a_tuple_of_names():
    assert Backend("scs", fallback="ecos").solvers == ("SCS", "ECOS")
    assert Backend("scs", fallback=("ecos", "Clarabel")).solvers == ("SCS", "ECOS", "CLARABEL")
    assert Backend("scs", fallback=["ecos"]).fallback == ("ECOS",)


def test_infeasible_and_unbounded_are_failures():
    x = cp.Variable()
    with pytest.raises(SolverFailed, match="CLARABEL ended with the status 'infeasible'"):
        Backend().solve(cp.Problem(cp.Minimize(x), [x >= 1, x <= 0]))
    with pytest.raises(SolverFailed, match="CLARABEL ended with the status 'unbounded'"):
        Backend().solve(cp.Problem(cp.Minimize(x)))


def test_foreign_exceptions_become_ours():
    x = cp.Variable(integer=True)
    with pytest.raises(SolverFailed, match="CLARABEL failed: ") as caught:
        Backend().solve(cp.Problem(cp.Minimize(x**2)))
    assert caught.value.__cause__ is not None
    y = cp.Variable(2)
    with pytest.raises(SolverFailed, match="OSQP failed: "):
        Backend("OSQP").solve(cp.Problem(cp.Minimize(cp.sum(y)), [cp.norm2(y) <= 1]))


def test_ctrl_c_is_not_swallowed(monkeypatch):
    def interrupt(*_args, **_kwargs):
        raise KeyboardInterrupt

    _, problem = tiny()
    monkeypatch.setattr(cp.Problem, "solve", interrupt)
    before = list(warnings.filters)
    with pytest.raises(KeyboardInterrupt):
        Backend().solve(problem)
    assert warnings.filters == before


def recorded(monkeypatch, fail_first=False):
    """Calls of problem.solve: their options, in order."""
    calls, genuine = [], cp.Problem.solve

    def solve(self, *args, **options):
        calls.append(options)
        if fail_first and len(calls) == 1:
            raise cp.error.SolverError("no luck")
        return genuine(self, *args, **options)

    monkeypatch.setattr(cp.Problem, "solve", solve)
    return calls


def test_options_of_the_user_are_used_as_they_are(monkeypatch):
    calls = recorded(monkeypatch)
    _, problem = tiny()
    Backend("SCS", {"eps_abs": 1e-3, "max_iters": 77}).solve(problem)
    assert calls == [{"solver": "SCS", "warm_start": False, "eps_abs": 1e-3, "max_iters": 77}]


def test_own_options_are_tight_then_the_solvers_defaults(monkeypatch):
    calls = recorded(monkeypatch, fail_first=True)
    _, problem = tiny()
    Backend("ECOS").solve(problem)
    plain = {"solver": "ECOS", "warm_start": False}
    assert calls == [{**plain, **TIGHT["ECOS"]}, plain]


def test_options_belong_to_the_first_solver_alone(monkeypatch):
    calls = recorded(monkeypatch)
    _, problem = tiny()
    Backend("SCS", {"max_iters": 77}, fallback=("ECOS",)).solve(problem, "ECOS")
    assert calls == [{"solver": "ECOS", "warm_start": False, **TIGHT["ECOS"]}]


def test_an_unknown_option_is_a_failure_that_names_the_solver():
    _, problem = tiny()
    with pytest.raises(SolverFailed, match="CLARABEL failed: "):
        Backend("CLARABEL", {"no_such_option": 1}).solve(problem)


def test_ctrl_c_inside_scs_is_passed_on(monkeypatch):
    """SCS catches SIGINT itself and returns a status, which CVXPY calls a failure: nobody would stop."""
    scs = pytest.importorskip("scs")
    inner = scs.solve

    def interrupted(*args, **settings):
        found = inner(*args, **settings)
        return found | {"info": found["info"] | {"status": "interrupted", "status_val": -5}}

    monkeypatch.setattr(scs, "solve", interrupted)
    x = cp.Variable(2)
    with pytest.raises(KeyboardInterrupt):
        Backend("SCS", fallback=("CLARABEL",)).solve(cp.Problem(cp.Minimize(cp.norm1(x)), [x >= 1]))
