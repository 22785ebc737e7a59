"""`dcgev solve`: a sparse generalized eigenvector, by its nonzeros or a penalty ρ̃.

With --rho: one run of Algorithm 1, with its certificate; the exit code is 1 if it did not converge. Loadings are
shown twice: as the run left them, shrunk by the penalty, and renormalized, the best on the same support.

With -k or --components: a search for vectors with given numbers of nonzeros, which chooses ρ̃ and ε itself.

Usage:

    dcgev solve pitprops --rho 4.84 --trace
    dcgev solve pitprops -k 6
    dcgev solve samples.csv --task pca --components 6,2,2 --json
    dcgev solve --A A.npy --B B.npy --rho 0.1 --engine native --json
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from .._numerics.text_tables import count, facts
from ..errors import InvalidParameter
from . import console, solve_for_k

if TYPE_CHECKING:
    from .._numerics.checks import Vector
    from ..mm import Iterate, MMResult
    from ..pencils import Pencil

SETTINGS = ("eps", "tau", "shift", "engine", "solver")
"""The options that are settings of `sparse_gev`, which has their defaults."""


def add(subparsers: Any) -> None:
    """Register the command and its options."""
    parser = console.add_command(subparsers, "solve", run, __doc__)
    console.add_problem(parser)
    goal = parser.add_argument_group("goal").add_mutually_exclusive_group(required=True)
    goal.add_argument("--rho", type=float, help="penalty ρ̃ on the number of nonzeros")
    goal.add_argument("-k", type=int, help="number of nonzeros")
    goal.add_argument("--components", metavar="K,K,…", help="several components: 6,2,2, or per view 5+5,3+3")
    method = parser.add_argument_group("settings of Algorithm 1 (with --rho)")
    method.add_argument("--eps", type=float, help="ε of the approximation ‖x‖_ε (default: machine precision)")
    method.add_argument("--tau", type=float, help="τ of the d.c. split (default: the smallest valid one)")
    method.add_argument("--shift", help="split with τ·xᵀx (identity, default) or τ·xᵀBx (metric)")
    method.add_argument("--engine", help="what takes the MM steps: cvxpy (default) or native")
    method.add_argument("--solver", help="CVXPY solver, see `dcgev solvers` (default: CLARABEL)")
    method.add_argument("--x0", help="start: numbers with commas (default: the leading eigenvector)")
    method.add_argument("--max-iter", type=int, metavar="L", help="most MM steps (default: 1000)")
    solve_for_k.add_settings(parser)
    output = parser.add_argument_group("output")
    output.add_argument("--trace", action="store_true", help="print one line per MM step (with --rho)")
    console.add_json(output)


def run(args: argparse.Namespace) -> int:
    """Solve, show, and return 1 if the run did not converge."""
    if args.rho is None:
        own = (*SETTINGS, "x0", "max_iter", "trace")
        console.refuse_given(args, own, "belongs to --rho: the search for k sets it itself")
        return solve_for_k.run(args)
    console.refuse_given(args, solve_for_k.SETTINGS, "belongs to -k and --components: --rho is one run")
    if args.engine == "native" and args.solver is not None:
        raise InvalidParameter(f"--solver {args.solver} has no meaning with --engine native, which needs none.")
    from ..algorithms import sparse_gev
    from ..mm import Stop
    from .problem import read_problem

    pencil = read_problem(args)
    result = sparse_gev(
        pencil,
        rho=args.rho,
        x0=None if args.x0 is None else console.numbers("--x0", args.x0),
        stop=Stop(**console.given(args, ["max_iter"])),
        callback=trace(pencil) if args.trace and not args.json else None,
        **console.given(args, SETTINGS),
    )
    if args.json:
        console.print_json("solve", record(result, history=args.trace))
    else:
        print_result(result, args.data or args.X or args.A)
    if not result.converged:
        remedy = REMEDIES.get(result.status.name)
        console.note(f"{result.status.value}{f'; {remedy}' if remedy else ''}.")
    return 0 if result.converged else 1


REMEDIES = {
    "OUT_OF_ITERATIONS": "raise --max-iter",
    "COLLAPSED": "lower --rho",
    "SOLVER_FAILED": "try another --solver (see `dcgev solvers`)",
    "STALLED": "try another --x0",
}
"""Status of a run → what to change."""


def trace(pencil: Pencil) -> Callable[[Iterate], None]:
    """A function that prints one line per iterate: f(x⁽ˡ⁺¹⁾) ≤ g(x⁽ˡ⁺¹⁾, x⁽ˡ⁾) ≤ f(x⁽ˡ⁾) can be read off."""
    last: Any = None
    print("   l         f(x)       g(x,y)      g-f    step  nnz        mu     KKT solver")

    def tell(now: Iterate) -> None:
        nonlocal last
        step, mu, kkt, solver = f"{'-':>7}", f"{'-':>9}", f"{'-':>7}", "start"
        if last is not None:
            step = f"{pencil.B_norm(now.x - last):>7.1e}"
            mu, kkt, solver = f"{now.mu:>9.4g}", f"{now.residual:>7.1e}", now.solver
        values = f"{now.l:>4} {now.f:>12.8g} {now.g:>12.8g} {now.g - now.f:>8.1e}"
        print(f"{values} {step} {(now.x != 0.0).sum():>4} {mu} {kkt} {solver}", flush=True)
        last = now.x

    return tell


def print_result(result: MMResult, name: str) -> None:
    """The program, the largest loadings, and what the data prove about them."""
    program: Any = result.program
    metric = "B = I" if program.pencil.B is None else "B dense"
    shift = f"τ = {program.tau:.6g} ({program.shift} shift)"
    console.show(f"{name}: n = {program.pencil.n}, {metric}, ρ̃ = {program.rho:g}, ε = {program.eps:.3g}, {shift}")
    better = renormalized(result)
    if result.support:
        console.show("", solve_for_k.loadings(program.pencil, {"x": result.x, "renormalized": better}))
    console.show("", facts(verdict(result, better)))


def renormalized(result: MMResult) -> Vector:
    """The best loadings on the support of the result; x = 0 has no others."""
    from ..certificates import renormalize

    return renormalize(result.program.pencil, result.x) if result.support else result.x


def verdict(result: MMResult, better: Vector) -> list[tuple[str, str]]:
    """Values, status, effort and certificate in words; f includes the penalty, xᵀAx/xᵀBx does not."""
    from ..certificates import value

    pencil, c = result.program.pencil, result.certificate
    lines = [("nonzeros", f"{len(result.support)} of {pencil.n}")]
    if result.support:
        best, top = value(pencil, better), pencil.lambda_max
        share = f", {best / top:.2%} of λmax(A,B) = {top:.6g}" if top > 0.0 else f"; λmax(A,B) = {top:.6g}"
        lines += [("xᵀAx / xᵀBx", f"{value(pencil, result.x):.6g}"), ("renormalized", f"{best:.6g}{share}")]
    steps, solvers = count(result.n_iter, "MM step"), ", ".join(result.solvers) or "no solver"
    measures = ("stationarity", "feasibility", "complementarity", "sandwich")
    return [
        *lines,
        ("status", result.status.value + (f": {result.message}" if result.message else "")),
        ("effort", f"{steps} by {solvers} in {sum(step.seconds for step in result.history):.2f} s"),
        ("f(x)", f"{result.f:.10g}"),
        ("certificate", ", ".join(f"{name} {console.tiny(getattr(c, name))}" for name in measures)),
    ]


def record(result: MMResult, *, history: bool) -> dict[str, Any]:
    """The result as plain data: x with all its zeros, and the nonzeros by name, as found and renormalized."""
    from ..certificates import value

    program: Any = result.program
    pencil, better, x = program.pencil, renormalized(result), result.x
    loadings = [{"index": i, "name": pencil.name(i), "x": x[i], "renormalized": better[i]} for i in result.support]
    made: dict[str, Any] = {
        "problem": {name: getattr(program, name) for name in ("rho", "rho_eps", "eps", "tau", "shift")}
        | {"n": pencil.n, "lambda_max": pencil.lambda_max},
        **{name: getattr(result, name) for name in ("converged", "message", "solvers", "f", "x")},
        "status": result.status.name,
        "sentence": result.status.value,
        "iterations": result.n_iter,
        "seconds": sum(step.seconds for step in result.history),
        "value": value(pencil, result.x) if result.support else math.nan,
        "renormalized_value": value(pencil, better) if result.support else math.nan,
        "loadings": loadings,
        "certificate": asdict(result.certificate),
    }
    return made | ({"history": [asdict(step) for step in result.history]} if history else {})
