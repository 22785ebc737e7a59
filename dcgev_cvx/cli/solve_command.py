"""`dcgev solve`: a sparse generalized eigenvector, by its nonzeros or a penalty ρ̃.

With -k or --components: a search for vectors with given numbers of nonzeros, which chooses ρ̃ and ε itself; 5+5 asks
for five nonzeros in each of two views.

With -k and --exact: branch and bound, which proves the optimum; --proof writes the proof to a file that others can
check (docs/proof-files.md). The exit code is 1 if a limit ended it before.

With --rho: one run of Algorithm 1, with its certificate; the exit code is 1 if it did not converge. Loadings are
shown twice: as the run left them, shrunk by the penalty, and renormalized, the best on the same support.

Usage:

    dcgev solve pitprops --rho 4.84 --trace
    dcgev solve pitprops -k 6
    dcgev solve pitprops -k 6 --exact --proof pitprops.proof
    dcgev solve samples.csv --task pca --components 6,2,2 --json
    dcgev solve --A A.npy --B B.npy --rho 0.1 --engine native --json
"""

import argparse
import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .._numerics.canvas import new_figure
from .._numerics.checks import Vector
from .._numerics.output_files import output_file, write_file
from .._numerics.text_tables import count, facts, table
from ..algorithms import sparse_gev
from ..budgets import Budget
from ..certificates import renormalize, value
from ..errors import InvalidParameter
from ..exact import ExactSolution, best_subset
from ..mm import Iterate, MMResult, Status, Stop
from ..pencils import Pencil
from ..search.components import Components, components
from ..search.explained_variance import is_variance
from ..search.fisher import fisher_solve
from ..search.solve import solve
from ..solutions import Solution, solution_of
from . import console
from .answers import class_scores, found_sentence, listed_names, loadings_table, separation, view_names
from .problem import NamedPencil, mean_difference, read_problem

DEFLATIONS = ("orthogonalized-hotelling", "hotelling", "projection", "schur")
RUN = ("eps", "tau", "shift", "engine", "solver", "x0")
"""The options that are settings of `sparse_gev`, which has their defaults."""
SEARCH = ("deflation", "effort", "random_state")
"""The options that are settings of `solve` and `components`, which have their defaults."""
OWN: Mapping[str, tuple[str, ...]] = {
    "--rho": (*RUN, "max_iter", "trace"),
    "-k and --components": SEARCH,
    "-k with --exact": ("time_limit", "proof"),
}
"""What is asked for, and the options that have a meaning for it alone."""


def add(subparsers: Any) -> None:
    """Register the command and its options."""
    parser = console.add_command(subparsers, "solve", run, __doc__)
    console.add_problem(parser)
    goal = parser.add_argument_group("goal").add_mutually_exclusive_group(required=True)
    goal.add_argument("--rho", type=float, help="penalty ρ̃ on the number of nonzeros")
    goal.add_argument("-k", type=console.cardinality, help="number of nonzeros, or per view 5+5")
    goal.add_argument("--components", metavar="K,K,…", help="several components: 6,2,2, or per view 5+5,3+3")
    method = parser.add_argument_group("settings of Algorithm 1 (with --rho)")
    method.add_argument("--eps", type=float, help="ε of the approximation ‖x‖_ε (default: machine precision)")
    method.add_argument("--tau", type=float, help="τ of the d.c. split (default: the smallest valid one)")
    method.add_argument("--shift", help="split with τ·xᵀx (identity, default) or τ·xᵀBx (metric)")
    method.add_argument("--engine", help="what takes the MM steps: cvxpy (default) or native")
    method.add_argument("--solver", help="CVXPY solver (default: CLARABEL; an unknown one lists them)")
    method.add_argument("--x0", type=console.numbers, help="start, with commas (default: the leading eigenvector)")
    method.add_argument("--max-iter", type=int, metavar="L", help="most MM steps (default: 1000)")
    search = parser.add_argument_group("settings of the search (with -k or --components)")
    rules = f"between components: {DEFLATIONS[0]} (default), {', '.join(DEFLATIONS[1:])}"
    search.add_argument("--deflation", choices=DEFLATIONS, metavar="RULE", help=rules)
    search.add_argument("--effort", choices=("quick", "normal", "high"), help="time to spend (default: normal)")
    search.add_argument("--random-state", type=int, metavar="SEED", help="seed of the random starts (default: 0)")
    proof = parser.add_argument_group("settings of the proof (with -k)")
    proof.add_argument("--exact", action="store_true", help="prove the optimum by branch and bound")
    proof.add_argument("--time-limit", type=float, metavar="S", help="seconds for the proof (default: none)")
    proof.add_argument("--proof", metavar="FILE", help="write the proof to a file")
    output = parser.add_argument_group("output")
    output.add_argument("--trace", action="store_true", help="print one line per MM step (with --rho)")
    output.add_argument("--out", metavar="FILE", help="also write the loadings to .csv, or everything to .json")
    console.add_plot(output)
    console.add_json(output)


@dataclass(frozen=True)
class Answer:
    """What was found: the document of --json, the vectors, a function that prints both, and the exit code."""

    data: Mapping[str, Any]
    vectors: Mapping[str, Vector]
    show: Callable[[], None]
    code: int = 0
    note: str = ""


def run(args: argparse.Namespace) -> int:
    """Solve, show, write, and return 1 if the run did not converge or the proof was not completed."""
    if args.exact and args.k is None:
        raise InvalidParameter("--exact proves the optimum for one k: give -k.")
    goal = "--rho" if args.rho is not None else "-k with --exact" if args.exact else "-k and --components"
    for other in OWN.keys() - {goal}:
        console.refuse_given(args, OWN[other], f"belongs to {other}")
    out, plot = console.result_file("--out", args.out), console.result_file("--plot", args.plot)
    proof = None if args.proof is None else output_file("--proof", args.proof)
    problem = read_problem(args)
    if args.rho is not None:
        answer = run_algorithm_1(problem, args)
    else:
        answer = run_exact(problem, args, proof) if args.exact else run_search(problem, args)
    if args.json:
        console.print_json("solve", answer.data)
    else:
        answer.show()
    if out is not None:
        write_answer(out, problem.pencil, answer)
    if plot is not None:
        draw_loadings(plot, problem.pencil, answer.vectors)
    if answer.note:
        console.note(answer.note)
    return answer.code


# --rho


def run_algorithm_1(problem: NamedPencil, args: argparse.Namespace) -> Answer:
    """One run of Algorithm 1 with its certificate."""
    if args.engine == "native" and args.solver is not None:
        raise InvalidParameter(f"--solver {args.solver} has no meaning with --engine native, which needs none.")
    settings, stop = console.given(args, RUN), Stop(**console.given(args, ["max_iter"]))
    callback = trace(problem.pencil) if args.trace and not args.json else None
    result = sparse_gev(problem.pencil, rho=args.rho, stop=stop, callback=callback, **settings)
    better = renormalize(problem.pencil, result.x) if result.support else result.x  # x = 0 has no others
    remedy = REMEDIES.get(result.status.name)
    return Answer(
        record(result, better, history=args.trace),
        {"x": result.x, "renormalized": better},
        lambda: print_result(problem, result, better),
        int(not result.converged),
        "" if result.converged else f"{result.status.value}{f'; {remedy}' if remedy else ''}.",
    )


REMEDIES = {
    "OUT_OF_ITERATIONS": "raise --max-iter",
    "COLLAPSED": "lower --rho",
    "SOLVER_FAILED": "try another --solver",
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


def print_result(problem: NamedPencil, result: MMResult, better: Vector) -> None:
    """How the run ended, the loadings, and what the data prove about them."""
    program: Any = result.program
    console.headline(run_sentence(result))
    if result.support:
        console.show("", loadings_table(problem.pencil, {"x": result.x, "renormalized": better}))
    settings = f"ρ̃ = {program.rho:g}, ε = {program.eps:.3g}, τ = {program.tau:.6g} ({program.shift} shift)"
    console.show("", problem.heading, facts([("settings", settings), *verdict(result, better)]))


def run_sentence(result: MMResult) -> str:
    """How the run ended and on which variables."""
    pencil = result.program.pencil
    order = sorted(result.support, key=lambda i: -abs(float(result.x[i])))
    variables = f": {listed_names([pencil.name(i) for i in order])}" if order else ""
    where = f"{len(order)} of {pencil.n} variables{variables}"
    if result.status is Status.COLLAPSED:
        return "Algorithm 1 collapses: at this ρ̃ the penalty outweighs A, and x = 0 is the best."
    if not result.converged:
        return f"Algorithm 1 did not converge ({result.status.value}). After {count(result.n_iter, 'step')}: {where}."
    return (
        f"Algorithm 1 ends after {count(result.n_iter, 'step')} at a stationary point with {where}. Another start may "
        "end elsewhere: stationary is not optimal."
    )


def verdict(result: MMResult, better: Vector) -> list[tuple[str, str]]:
    """Values, status, effort and certificate in words; f includes the penalty, xᵀAx/xᵀBx does not."""
    pencil, c = result.program.pencil, result.certificate
    lines: list[tuple[str, str]] = []
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


def record(result: MMResult, better: Vector, *, history: bool) -> dict[str, Any]:
    """The result as plain data: x with all its zeros, and the nonzeros by name, as found and renormalized."""
    program: Any = result.program
    pencil, x = program.pencil, result.x
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


def run_search(problem: NamedPencil, args: argparse.Namespace) -> Answer:
    """The best components that the search finds."""
    ks = [args.k] if args.k is not None else list(console.cardinalities(args.components, "--components"))
    return answer_of(problem, args, ks, search(problem.pencil, ks, args))


def run_exact(problem: NamedPencil, args: argparse.Namespace, file: Path | None) -> Answer:
    """Prove the optimum and write the proof; the exit code is 1 if a limit ended it before."""
    pencil = problem.pencil
    exact = best_subset(pencil, args.k, time_limit=args.time_limit)
    solution = solution_of(pencil, exact.x, method_of(exact), exact.seconds)
    found = Components(pencil, (solution,), solution.x[:, None], (solution.value,), DEFLATIONS[0])
    proof = {"status": exact.status.name, "sentence": exact.status.value, "upper_bound": exact.upper_bound}
    counts = {"nodes": exact.nodes, "supports": exact.supports, "screened": exact.screened}
    if file is not None:
        exact.proof.save(file, matrices=True)
        console.note(f"{file} is written.")
    return answer_of(problem, args, [args.k], found, code=int(not exact.optimal), exact=proof | counts)


def answer_of(
    problem: NamedPencil, args: argparse.Namespace, ks: list[Any], found: Components, *, code: int = 0, **more: Any
) -> Answer:
    """The components with their names x, or x1, x2, …"""
    pencil, single = problem.pencil, len(found.solutions) == 1
    titles = ["x"] if single else [f"x{j + 1}" for j in range(len(found.solutions))]
    vectors = dict(zip(titles, found.V.T, strict=True))
    described = {"n": pencil.n, "task": args.task, "lambda_max": pencil.lambda_max, "blocks": pencil.blocks}
    if problem.classes:
        more["class_scores"] = {title: class_scores(x, problem.classes) for title, x in vectors.items()}
    data = {"problem": described, **found.to_dict(), **more}
    return Answer(data, vectors, lambda: print_components(problem, found, ks, vectors), code)


def method_of(exact: ExactSolution) -> str:
    """What was done, in words; `answers.found_sentence` asks for its first ones."""
    if exact.optimal and exact.nodes == 0:
        return f"all {exact.supports:,} supports"
    bound = f"upper bound {exact.upper_bound:.8g}, gap {100.0 * exact.gap.relative:.2g} %"
    return f"{exact.status.value} ({count(exact.nodes, 'node')}; {bound})"


def write_answer(file: Path, pencil: Pencil, answer: Answer) -> None:
    """The loadings of all variables as .csv, or the document of --json."""
    if file.suffix.lower() == ".json":
        write_file(file, console.document("solve", answer.data) + "\n")
    else:
        views = view_names(pencil)
        rows = (
            (pencil.name(i), *([views[i]] if views else []), *(repr(float(x[i])) for x in answer.vectors.values()))
            for i in range(pencil.n)
        )
        console.write_csv(file, ("variable", *(["view"] if views else []), *answer.vectors), rows)
    console.note(f"{file} is written.")


def draw_loadings(file: Path, pencil: Pencil, vectors: Mapping[str, Vector]) -> None:
    """The picture of the loadings; of a run with --rho the renormalized ones."""
    from ..plotting import plot_loadings

    several = len(vectors) > 1 and "renormalized" not in vectors
    figure = new_figure((6.0, 4.8), layout="constrained")
    plot_loadings(pencil, vectors if several else list(vectors.values())[-1], figure.add_subplot())
    console.draw(figure, file)


def search(pencil: Pencil, ks: list[Any], args: argparse.Namespace) -> Components:
    """The components; a single k is also looked for on the ρ̃ path."""
    given = console.given(args, SEARCH)
    if len(ks) > 1 or not isinstance(ks[0], int):
        return components(pencil, ks, callback=lambda found: console.tell(str(found)), **given)
    deflation = given.pop("deflation", DEFLATIONS[0])
    a = mean_difference(pencil)
    solution = solve(pencil, ks[0], **given) if a is None else fisher_solve(a, pencil.B, ks[0], names=pencil.names)
    return Components(pencil, (solution,), solution.x[:, None], (solution.value,), deflation)


def print_components(problem: NamedPencil, found: Components, ks: list[Any], vectors: Mapping[str, Vector]) -> None:
    """What was found in a sentence, the loadings, then the figures; several components stand side by side."""
    several, k = len(vectors) > 1, str(Budget.of(found.pencil, ks[0]))
    first, *more = components_sentence(found) if several else [found_sentence(found.pencil, found.solutions[0], k)]
    if problem.classes:
        more += [separation(x, problem.classes, title if several else "") for title, x in vectors.items()]
    console.headline(first)
    console.show(*map(console.wrapped, more), "", loadings_table(found.pencil, vectors), "", problem.heading)
    if not several:
        console.show(facts(component_verdict(found)))
        return
    rows = [
        (str(j), str(s.k), f"{s.value:.6g}", f"{inner:.6g}", residual(s), f"{s.seconds:.2f}")
        for j, (s, inner) in enumerate(zip(found.solutions, found.deflated_values, strict=True), 1)
    ]
    columns = ("component", "nonzeros", "xᵀAx/xᵀBx", "in deflated A", "stationarity", "seconds")
    console.show(table(columns, rows), "", facts([("deflation", found.deflation), *shares(found)]))


def components_sentence(found: Components) -> list[str]:
    """What the components explain together, where A is a variance, and what each is made of."""
    names = [found.pencil.name(i) for i in range(found.pencil.n)]
    parts = [f"{j}: {listed_names([names[i] for i in s.support])}" for j, s in enumerate(found.solutions, 1)]
    together = f"{len(found.solutions)} components"
    if is_variance(found.pencil) and found.pencil.B is None:
        together += f" explain {found.projector_trace()[-1]:.1%} of the variance"
    return [f"{together}.", *parts]


def residual(solution: Solution) -> str:
    """The stationarity of the program behind a component, if there is one."""
    return "-" if solution.certificate is None else console.tiny(solution.certificate.stationarity)


def component_verdict(found: Components) -> list[tuple[str, str]]:
    """What is known of a single component, in words."""
    (solution,), top = found.solutions, found.pencil.lambda_max
    share = f", {solution.value / top:.2%} of λmax(A,B)" if top > 0.0 else ""
    lines = [
        ("xᵀAx / xᵀBx", f"{solution.value:.6g}{share}"),
        *(("explained", line) for _, line in shares(found)[:1]),
        ("method", solution.method),
    ]
    if solution.certificate is not None:
        words = f"{residual(solution)} at ρ̃ = {solution.rho:.4g} (0: a stationary point)"
        lines.append(("KKT residual", words))
    if solution.on_path is False:
        lines.append(("Algorithm 1", "no ρ̃ tried gives this k from the leading eigenvector"))
    return [*lines, ("seconds", f"{solution.seconds:.2f}")]


def shares(found: Components) -> list[tuple[str, str]]:
    """Three measures of explained variance, where A is a variance; none for CCA."""
    if not is_variance(found.pencil):
        return []
    total = "tr(A)" if found.pencil.B is None else "tr(B⁻¹A)"
    values = {"projector trace": found.projector_trace, "adjusted": found.adjusted, "plain sum": found.plain_sum}
    return [(name, f"{value()[-1]:.2%} of {total}") for name, value in values.items()]
