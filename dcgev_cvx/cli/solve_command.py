"""`dcgev solve`: a sparse generalized eigenvector, by its nonzeros or a penalty ρ̃.

With --rho: one run of Algorithm 1, with its certificate; the exit code is 1 if it did not converge. Loadings are
shown twice: as the run left them, shrunk by the penalty, and renormalized, the best on the same support.

With -k or --components: a search for vectors with given numbers of nonzeros, which chooses ρ̃ and ε itself; 5+5 asks
for five nonzeros in each of two views.

Usage:

    dcgev solve pitprops --rho 4.84 --trace
    dcgev solve pitprops -k 6
    dcgev solve samples.csv --task pca --components 6,2,2 --json
    dcgev solve --A A.npy --B B.npy --rho 0.1 --engine native --json
"""

import argparse
import math
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from .._numerics.checks import Vector
from .._numerics.text_tables import count, facts, table
from ..algorithms import sparse_gev
from ..certificates import renormalize, value
from ..errors import InvalidParameter
from ..mm import Iterate, MMResult, Stop
from ..pencils import Pencil
from ..search.components import Components, components
from ..search.explained_variance import is_variance
from ..search.fisher import fisher_solve
from ..search.solve import solve
from ..solutions import Solution
from . import console
from .problem import described, mean_difference, read_problem

DEFLATIONS = ("orthogonalized-hotelling", "hotelling", "projection", "schur")
SETTINGS = ("eps", "tau", "shift", "engine", "solver")
"""The options that are settings of `sparse_gev`, which has their defaults."""
SEARCH_SETTINGS = ("deflation", "effort", "random_state")
"""The options that are settings of `solve` and `components`, which have their defaults."""


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
    method.add_argument("--x0", type=console.numbers, help="start, with commas (default: the leading eigenvector)")
    method.add_argument("--max-iter", type=int, metavar="L", help="most MM steps (default: 1000)")
    search = parser.add_argument_group("settings of the search (with -k or --components)")
    rules = f"between components: {DEFLATIONS[0]} (default), {', '.join(DEFLATIONS[1:])}"
    search.add_argument("--deflation", choices=DEFLATIONS, metavar="RULE", help=rules)
    search.add_argument("--effort", choices=("quick", "normal", "high"), help="time to spend (default: normal)")
    search.add_argument("--random-state", type=int, metavar="SEED", help="seed of the random starts (default: 0)")
    output = parser.add_argument_group("output")
    output.add_argument("--trace", action="store_true", help="print one line per MM step (with --rho)")
    console.add_json(output)


def run(args: argparse.Namespace) -> int:
    """Solve, show, and return 1 if the run did not converge."""
    if args.rho is None:
        own = (*SETTINGS, "x0", "max_iter", "trace")
        console.refuse_given(args, own, "belongs to --rho: the search for k sets it itself")
        return run_search(args)
    console.refuse_given(args, SEARCH_SETTINGS, "belongs to -k and --components: --rho is one run")
    return run_algorithm_1(args)


# --rho


def run_algorithm_1(args: argparse.Namespace) -> int:
    """One run of Algorithm 1 with its certificate."""
    if args.engine == "native" and args.solver is not None:
        raise InvalidParameter(f"--solver {args.solver} has no meaning with --engine native, which needs none.")
    pencil = read_problem(args)
    settings, stop = console.given(args, (*SETTINGS, "x0")), Stop(**console.given(args, ["max_iter"]))
    callback = trace(pencil) if args.trace and not args.json else None
    result = sparse_gev(pencil, rho=args.rho, stop=stop, callback=callback, **settings)
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
        console.show("", loadings(program.pencil, {"x": result.x, "renormalized": better}))
    console.show("", facts(verdict(result, better)))


def renormalized(result: MMResult) -> Vector:
    """The best loadings on the support of the result; x = 0 has no others."""
    return renormalize(result.program.pencil, result.x) if result.support else result.x


def verdict(result: MMResult, better: Vector) -> list[tuple[str, str]]:
    """Values, status, effort and certificate in words; f includes the penalty, xᵀAx/xᵀBx does not."""
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
    program: Any = result.program
    pencil, better, x = program.pencil, renormalized(result), result.x
    nonzeros = [{"index": i, "name": pencil.name(i), "x": x[i], "renormalized": better[i]} for i in result.support]
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
        "loadings": nonzeros,
        "certificate": asdict(result.certificate),
    }
    return made | ({"history": [asdict(step) for step in result.history]} if history else {})


# -k and --components


def run_search(args: argparse.Namespace) -> int:
    """Find the components and show them."""
    pencil = read_problem(args)
    found = search(pencil, [args.k] if args.k is not None else cardinalities(args.components), args)
    problem = {"n": pencil.n, "task": args.task, "lambda_max": pencil.lambda_max, "blocks": pencil.blocks}
    if args.json:
        console.print_json("solve", {"problem": problem, **found.to_dict()})
    else:
        print_components(found, described(args, pencil))
    return 0


def cardinalities(text: str) -> list[int | tuple[int, ...]]:
    """`6,2,2` or, one number per view, `5+5,3+3`.

    Examples
    --------
    >>> from dcgev_cvx.cli.solve_command import cardinalities
    >>> cardinalities("6,2,2"), cardinalities("5+5,3+3")
    ([6, 2, 2], [(5, 5), (3, 3)])
    """
    try:
        entries = [tuple(int(k) for k in entry.split("+")) for entry in text.split(",")]
    except ValueError:
        raise InvalidParameter(f"--components {text!r} must read like 6,2,2 or, per view, 5+5,3+3.") from None
    return [entry[0] if len(entry) == 1 else entry for entry in entries]


def search(pencil: Pencil, ks: list[Any], args: argparse.Namespace) -> Components:
    """The components; a single k is also looked for on the ρ̃ path."""
    given = console.given(args, SEARCH_SETTINGS)
    if len(ks) > 1 or not isinstance(ks[0], int):
        return components(pencil, ks, callback=lambda found: console.tell(str(found)), **given)
    deflation = given.pop("deflation", DEFLATIONS[0])
    a = mean_difference(pencil)
    solution = solve(pencil, ks[0], **given) if a is None else fisher_solve(a, pencil.B, ks[0], names=pencil.names)
    return Components(pencil, (solution,), solution.x[:, None], (solution.value,), deflation)


def print_components(found: Components, heading: str) -> None:
    """A heading, then one component with its facts, or several side by side."""
    titles = ["x"] if len(found.solutions) == 1 else [f"x{j + 1}" for j in range(len(found.solutions))]
    console.show(heading, "", loadings(found.pencil, dict(zip(titles, found.V.T, strict=True))), "")
    if len(found.solutions) == 1:
        console.show(facts(component_verdict(found)))
        return
    rows = [
        (str(j), str(s.k), f"{s.value:.6g}", f"{inner:.6g}", residual(s), f"{s.seconds:.2f}")
        for j, (s, inner) in enumerate(zip(found.solutions, found.deflated_values, strict=True), 1)
    ]
    columns = ("component", "nonzeros", "xᵀAx/xᵀBx", "in deflated A", "stationarity", "seconds")
    console.show(table(columns, rows), "", facts([("deflation", found.deflation), *shares(found)]))


def loadings(pencil: Pencil, vectors: Mapping[str, Vector]) -> Any:
    """One row per variable, in the order in which the vectors use them; one column per vector."""
    order = list(dict.fromkeys(int(i) for x in vectors.values() for i in (-abs(x)).argsort(kind="stable") if x[i]))
    shown = order[: console.SHOWN]
    rows = [(pencil.name(i), *(f"{x[i]:+.4f}" if x[i] else "" for x in vectors.values())) for i in shown]
    if len(order) > len(shown):
        rows.append((f"and {len(order) - len(shown)} more; --json lists all", *("" for _ in vectors)))
    return table(("variable", *vectors), rows)


def residual(solution: Solution) -> str:
    """The stationarity of the program behind a component, if there is one."""
    return "-" if solution.certificate is None else console.tiny(solution.certificate.stationarity)


def component_verdict(found: Components) -> list[tuple[str, str]]:
    """What is known of a single component, in words."""
    (solution,), top = found.solutions, found.pencil.lambda_max
    share = f", {solution.value / top:.2%} of λmax(A,B)" if top > 0.0 else ""
    lines = [
        ("nonzeros", f"{solution.k} of {found.pencil.n}"),
        ("xᵀAx / xᵀBx", f"{solution.value:.6g}{share}"),
        *(("explained", line) for _, line in shares(found)[:1]),
        ("method", solution.method),
    ]
    if solution.on_path is not None:
        answer = "some ρ̃ gives this k" if solution.on_path else "no ρ̃ tried gives this k"
        lines.append(("on the ρ̃ path", f"{answer} from the leading eigenvector"))
    if solution.certificate is not None:
        lines.append(("certificate", f"stationarity {residual(solution)} at ρ̃ = {solution.rho:.4g}"))
    return [*lines, ("seconds", f"{solution.seconds:.2f}")]


def shares(found: Components) -> list[tuple[str, str]]:
    """Three measures of explained variance, where A is a variance; none for CCA."""
    if not is_variance(found.pencil):
        return []
    total = "tr(A)" if found.pencil.B is None else "tr(B⁻¹A)"
    values = {"projector trace": found.projector_trace, "adjusted": found.adjusted, "plain sum": found.plain_sum}
    return [(name, f"{value()[-1]:.2%} of {total}") for name, value in values.items()]
