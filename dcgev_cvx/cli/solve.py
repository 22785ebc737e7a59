"""`dcgev solve`: Algorithm 1 on one problem, with its audit, its certificate and the renormalized loadings.

Usage:

    dcgev solve pitprops --rho 4.84 --trace       one MM run at ρ̃, its steps printed as they are taken
    dcgev solve pitprops -k 6                     six nonzeros, whatever ρ̃ that takes
    dcgev solve s.csv --task pca --components 6,2,2 --out found
    dcgev solve --A A.npy --B B.npy --rho 0.1 --shift metric --engine native --json

With --rho the answer is a stationary point of one d.c. program, shown with its certificate; exit code 1 says that the
run did not converge, and stderr what to change. With -k or --components the search sets ρ̃ and ε itself, and the
settings of one run (--eps, --solver, --trace, …) are refused. Loadings are shown twice: as MM left them, shrunk by
the penalty, and renormalized, the best on the same support.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from typing import TYPE_CHECKING, Any

from ..errors import InvalidParameter
from . import cardinality, tasks

if TYPE_CHECKING:
    from ..mm import Iterate, MMResult
    from ..pencils import Pencil

SHOWN = 40
"""Loadings beyond the largest SHOWN are left to --json."""
DEFAULTS = {"shift": "identity", "engine": "cvxpy", "solver": "CLARABEL", "max_iter": 1000}
"""What --rho takes where nothing was said; the parser says None, so that -k can refuse what was."""


def add(subparsers: Any) -> None:
    """Register the command and its options."""
    parser = subparsers.add_parser(
        "solve",
        help="a sparse generalized eigenvector: k nonzeros, or a penalty ρ̃ (Algorithm 1)",
        description="A sparse generalized eigenvector by Algorithm 1, at a penalty ρ̃ or with k nonzeros: the answer, "
        "how it was reached and what the data prove about it.",
        epilog="Examples: dcgev solve pitprops --rho 4.84 --trace · dcgev solve pitprops -k 6 · "
        "dcgev solve samples.csv --task pca --components 6,2,2",
    )
    add_problem(parser)
    goal = parser.add_argument_group("goal").add_mutually_exclusive_group(required=True)
    goal.add_argument("--rho", type=float, help="penalty ρ̃ on the number of nonzeros")
    goal.add_argument("-k", type=int, help="number of nonzeros")
    goal.add_argument("--components", metavar="K,K,…", help="several components: 6,2,2, or per view 5+5,3+3")
    tasks.add_task(parser)
    add_method(parser)
    cardinality.add_cardinality(parser)
    output = parser.add_argument_group("output")
    output.add_argument("--trace", action="store_true", help="print the MM audit, one line per step")
    output.add_argument("--json", action="store_true", help="print JSON and nothing else")
    output.add_argument("--out", metavar="DIR", help="keep each component in DIR as soon as it is found")
    parser.set_defaults(run=run)


def add_problem(parser: argparse.ArgumentParser) -> None:
    """DATA, --A and --B: what every command that takes one pencil offers."""
    problem = parser.add_argument_group("problem")
    problem.add_argument(
        "data", metavar="DATA", nargs="?", help="bundled name (pitprops) or .npy .npz .csv .mtx file"
    )
    problem.add_argument("--A", metavar="FILE", help="symmetric matrix A, instead of DATA")
    problem.add_argument("--B", metavar="FILE", help="positive definite matrix B (default: the identity)")


def add_method(parser: argparse.ArgumentParser) -> None:
    """The settings of Algorithm 1."""
    method = parser.add_argument_group("method")
    method.add_argument("--eps", type=float, help="ε of the approximation ‖x‖_ε (default: machine precision)")
    method.add_argument("--tau", type=float, help="τ of the d.c. split (default: the smallest valid one)")
    method.add_argument("--shift", help="split with τ·xᵀx (identity, default) or τ·xᵀBx (metric)")
    method.add_argument("--engine", help="who takes the MM steps: cvxpy (default) or native")
    method.add_argument("--solver", help="CVXPY solver, see `dcgev solvers` (default: CLARABEL)")
    method.add_argument("--x0", help="start: a file, or numbers with commas (default: the leading eigenvector)")
    method.add_argument("--max-iter", type=int, metavar="L", help="most MM steps (default: 1000)")


def run(args: argparse.Namespace) -> int:
    """Solve, show, and say by the exit code whether the run converged; -k and --components have their own module.

    Exit code 0 for a converged run, 1 otherwise, with the status on stderr; the answer is printed in both cases,
    since a run that was stopped is feasible and below its start.
    """
    if args.rho is None:
        return cardinality.run(args)
    if args.out is not None:
        raise InvalidParameter("--out keeps components: give -k or --components with it; --rho prints --json.")
    cardinality.refuse_given(args, cardinality.DEFAULTS, "belongs to -k and --components: --rho is one run")
    if args.engine == "native" and args.solver is not None:
        raise InvalidParameter(f"--solver {args.solver} has no meaning with --engine native, which needs none.")
    given = cardinality.with_defaults(args, DEFAULTS)
    from ..algorithms import sparse_gev
    from ..mm import Stop
    from ..programs import MACHINE_EPS
    from .inputs import read_start

    pencil = tasks.problem(args)
    x0 = read_start(args.x0)
    stop = Stop(max_iter=given["max_iter"])
    result = sparse_gev(
        pencil,
        rho=args.rho,
        eps=MACHINE_EPS if args.eps is None else args.eps,
        tau=args.tau,
        x0=x0,
        shift=given["shift"],
        engine=given["engine"],
        solver=given["solver"],
        stop=stop,
        callback=Audit(pencil) if args.trace and not args.json else None,
    )
    if args.json:
        print_json(record(result, history=args.trace))
    else:
        show(result, args.data or args.A)
    return 0 if result.converged else report_end(result)


class Audit:
    """Prints l, f, g, the gap g − f, the step ‖x − y‖_B, nonzeros, μ, KKT residual and solver of each iterate.

    g(x, y) and f(x) in one line show the sandwich: the next f is at most this g, which is at most the last f.
    """

    HEADER = f"{'l':>4} {'f(x)':>12} {'g(x,y)':>12} {'g-f':>8} {'step':>7} {'nnz':>4} {'mu':>9} {'KKT':>7} solver"

    def __init__(self, pencil: Pencil) -> None:
        self.pencil = pencil
        self.last: Iterate | None = None

    def __call__(self, now: Iterate) -> None:
        """Print one line; never stops the run."""
        if self.last is None:
            print(self.HEADER)
        step = math.nan if self.last is None else self.pencil.B_norm(now.x - self.last.x)
        print(line(now, step), flush=True)
        self.last = now


def line(now: Iterate, step: float) -> str:
    """One line of the audit; the start has no step.

    Columns: step number, f, g, their gap, ‖x − y‖_B, nonzeros, μ, the step's KKT residual and who solved it.
    """
    nonzeros = int((now.x != 0.0).sum())
    start = f"{now.l:>4} {now.f:>12.8g} {now.g:>12.8g} {now.g - now.f:>8.1e}"
    if now.l == 0:
        return f"{start} {'-':>7} {nonzeros:>4} {'-':>9} {'-':>7} start"
    return f"{start} {step:>7.1e} {nonzeros:>4} {now.mu:>9.4g} {now.residual:>7.1e} {now.solver}"


def show(result: MMResult, name: str) -> None:
    """The problem, the loadings, the verdict.

    Three parts: which program, which loadings (the forty largest), and what the data prove about them.
    """
    from . import tables

    tables.show(heading(result, name))
    rows = loading_rows(result)
    if rows:
        tables.show(tables.table(("variable", "x", "renormalized"), rows[:SHOWN]))
    if len(rows) > SHOWN:
        tables.show(f"  the {SHOWN} largest of {len(rows)} nonzeros; --json lists all\n")
    tables.show(tables.facts(verdict(result)))


def heading(result: MMResult, name: str) -> str:
    """One line that says which program was solved.

    ε and τ are shown because their defaults are computed: machine precision, and the smallest valid shift.
    """
    program: Any = result.program
    metric = "B = I" if program.pencil.B is None else "B dense"
    return (
        f"{name}: n = {program.pencil.n}, {metric}, ρ̃ = {program.rho:g}, ε = {program.eps:.3g}, "
        f"τ = {program.tau:.6g} ({program.shift} shift)"
    )


def loading_rows(result: MMResult) -> list[tuple[str, str, str]]:
    """Name, loading and renormalized loading of the nonzeros, largest first."""
    if not result.support:
        return []
    better = renormalized(result)
    order = sorted(result.support, key=lambda i: -abs(better[i]))
    name = result.program.pencil.name
    return [(name(i), f"{result.x[i]:+.4f}", f"{better[i]:+.4f}") for i in order]


def renormalized(result: MMResult) -> Any:
    """The best loadings on the support of the result."""
    from ..certificates import renormalize

    return renormalize(result.program.pencil, result.x)


def verdict(result: MMResult) -> list[tuple[str, str]]:
    """Value, status, effort and certificate, in words.

    f is that of the d.c. program, penalty included; the values above it are xᵀAx/xᵀBx and free of ρ̃ and ε.
    """
    from .tables import tiny

    c = result.certificate
    seconds = sum(step.seconds for step in result.history)
    solvers = ", ".join(result.solvers) or "no solver"
    return [
        ("nonzeros", f"{len(result.support)} of {result.program.pencil.n}"),
        *values(result),
        ("status", result.status.value + (f": {result.message}" if result.message else "")),
        ("effort", f"{result.n_iter} MM step{'' if result.n_iter == 1 else 's'} by {solvers} in {seconds:.2f} s"),
        ("f(x)", f"{result.f:.10g}"),
        (
            "certificate",
            f"stationarity {tiny(c.stationarity)}, feasibility {tiny(c.feasibility)}, "
            f"complementarity {tiny(c.complementarity)}, sandwich {tiny(c.sandwich)}",
        ),
    ]


def values(result: MMResult) -> list[tuple[str, str]]:
    """xᵀAx/xᵀBx before and after renormalization, and as a share of λmax(A, B).

    A share of λmax is shown only where λmax > 0; elsewhere a percentage would mean nothing.
    """
    from ..certificates import value

    if not result.support:
        return []
    pencil = result.program.pencil
    best, top = value(pencil, renormalized(result)), pencil.lambda_max
    share = f", {best / top:.2%} of λmax(A,B) = {top:.6g}" if top > 0.0 else f"; λmax(A,B) = {top:.6g}"
    return [
        ("xᵀAx / xᵀBx", f"{value(pencil, result.x):.6g}"),
        ("renormalized", f"{best:.6g}{share}"),
    ]


def record(result: MMResult, *, history: bool) -> dict[str, Any]:
    """The result as plain data.

    `x` is the MM iterate with all its zeros; `loadings` lists the nonzeros with both values. Programs
    read these keys: renaming one breaks them.
    """
    from dataclasses import asdict

    from .. import __version__

    program: Any = result.program
    made: dict[str, Any] = {
        "command": "solve",
        "version": __version__,
        "problem": {name: getattr(program, name) for name in ("rho", "rho_eps", "eps", "tau", "shift")}
        | {"n": program.pencil.n, "lambda_max": program.pencil.lambda_max},
        "converged": result.converged,
        "status": result.status.name,
        "sentence": result.status.value,
        "message": result.message,
        "iterations": result.n_iter,
        "solvers": result.solvers,
        "seconds": sum(step.seconds for step in result.history),
        "f": result.f,
        "x": result.x.tolist(),
        **answer(result),
        "certificate": asdict(result.certificate),
    }
    if history:
        made["history"] = [asdict(step) for step in result.history]
    return made


def answer(result: MMResult) -> dict[str, Any]:
    """The value and the loadings, each nonzero with its place, name, loading and renormalized loading.

    Empty when the run collapsed: x = 0 has neither value nor loadings.
    """
    from ..certificates import value

    if not result.support:
        return {"value": None, "renormalized_value": None, "loadings": []}
    pencil, better = result.program.pencil, renormalized(result)
    return {
        "value": value(pencil, result.x),
        "renormalized_value": value(pencil, better),
        "loadings": [
            {"index": i, "name": pencil.name(i), "x": float(result.x[i]), "renormalized": float(better[i])}
            for i in result.support
        ],
    }


def finite(data: Any) -> Any:
    """The same data with arrays as lists and with NaN and infinities as None: JSON has no word for them.

    Recursive, so that histories are covered.

    Examples
    --------
    >>> from dcgev_cvx.cli.solve import finite
    >>> finite({"rho": float("nan"), "x": [1.0, float("inf")]})
    {'rho': None, 'x': [1.0, None]}
    """
    if isinstance(data, dict):
        return {str(key): finite(entry) for key, entry in data.items()}
    if isinstance(data, list):
        return [finite(entry) for entry in data]
    if hasattr(data, "tolist"):
        return finite(data.tolist())
    return None if isinstance(data, float) and not math.isfinite(data) else data


def print_json(data: dict[str, Any]) -> None:
    """One JSON document on stdout; letters that the stream has not are escaped, for `?` would be another name."""
    plain = not (sys.stdout.encoding or "").lower().startswith("utf")
    print(json.dumps(finite(data), ensure_ascii=plain, indent=2, allow_nan=False))


def report_end(result: MMResult) -> int:
    """The status sentence and what to do about it on stderr; exit code 1.

    The remedy is a suggestion from the status alone.
    """
    remedies = {
        "OUT_OF_ITERATIONS": "raise --max-iter",
        "COLLAPSED": "lower --rho",
        "SOLVER_FAILED": "try another --solver (see `dcgev solvers`)",
        "STALLED": "try another --x0",
    }
    remedy = remedies.get(result.status.name)
    print(f"dcgev: {result.status.value}{f'; {remedy}' if remedy else ''}.", file=sys.stderr)
    return 1
