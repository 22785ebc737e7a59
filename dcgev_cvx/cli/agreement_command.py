"""`dcgev agreement`: how far the installed solvers agree on one program.

Solve one MM step from the leading eigenvector with every installed CVXPY solver at its default accuracy and without
our polish, the closed form where there is one, the native engine and our own step, and compare with a certified
reference. Then solve the whole program with dccp and UNO where they are installed. Without DATA: pit props. The exit
code is 0 however far the answers are apart.

Usage:

    dcgev agreement
    dcgev agreement --A A.npy --B B.npy --rho 0.1 --eps 0.01 --json
    dcgev agreement samples.csv --task pca
"""

import argparse
from typing import Any

from .._numerics.text_tables import facts, table
from .console import add_command, add_json, add_problem, print_json, show, tiny


def add(subparsers: Any) -> None:
    """Register the command and its options."""
    parser = add_command(subparsers, "agreement", run, __doc__)
    add_problem(parser)
    parser.add_argument("--rho", type=float, help="penalty ρ̃ (default: a tenth of |λmax|)")
    parser.add_argument("--eps", type=float, default=1e-2, help="ε (default: 0.01)")
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Ask every solver and print the distances."""
    from .problem import described, read_problem
    from .solver_agreement import agreement

    pencil = read_problem(args, default="pitprops")
    rho = 0.1 * abs(pencil.lambda_max) if args.rho is None else args.rho
    rows, missing = agreement(pencil, rho, args.eps)
    if args.json:
        content = {"rho": rho, "eps": args.eps, "rows": [vars(row) for row in rows], "missing": missing}
        print_json("agreement", content)
    else:
        print_rows(rows, missing, f"{described(args, pencil)}, ρ̃ = {rho:.4g}, ε = {args.eps:g}\n")
    return 0


def print_rows(rows: list[Any], missing: list[str], heading: str) -> None:
    """The table, what it means, and the solvers that failed or are not installed."""
    columns = ("solver", "‖x − x*‖_B", "value", "KKT", "1e-3", "1e-6", "1e-9", "seconds")
    solved = [(r, map(tiny, (r.distance, r.excess, r.kkt))) for r in rows if not r.failure]
    cells = [(r.who, *errors, *map(str, r.nonzeros), f"{r.seconds:.4f}") for r, errors in solved]
    show(
        heading,
        table(columns, cells),
        "\n  value: relative distance above the minimum; KKT: proximal residual.\n"
        "  1e-3, 1e-6, 1e-9: the number of entries above that share of ‖x‖_B.\n"
        "  QCQPStep is our own step, polished; other solvers have their default accuracy.\n"
        "  * the whole program, from the same start: distance to Algorithm 1's limit;\n"
        "    the KKT residual is the stationarity.",
    )
    failures = [(r.who, r.failure) for r in rows if r.failure]
    if failures:
        show("\nFailed:", facts(failures))
    if missing:
        show(f"\nNot installed: {', '.join(missing)}")
