"""`dcgev agreement`: every installed solver on the same MM step, every whole-program method on the same program.

Usage:

    dcgev agreement pitprops
    dcgev agreement --A A.npy --B B.npy --rho 0.1 --eps 0.01 --json

Who is asked: every installed CVXPY solver at its default accuracy and without our polish, the closed form where
there is one, the native engine, our own step, and, for the whole program, dccp and UNO if they are installed. The
reference is certified from the data. Distances are ‖x − x*‖_B; the three counts of nonzeros show how much a
solver's answer depends on where one calls a number zero. The exit code is 0 however far they disagree: this command
measures and does not judge.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from .solve import add_problem, print_json

if TYPE_CHECKING:
    from ..verify.agreement import Row


def add(subparsers: Any) -> None:
    """Register the command and its options."""
    parser = subparsers.add_parser(
        "agreement",
        help="how far the installed solvers agree on one program",
        description="One MM step from the leading eigenvector by every installed CVXPY solver (plain, at its default "
        "accuracy), the closed form, the native engine and our own step, against a certified reference; then the "
        "whole program by dccp and UNO where they are installed.",
        epilog="Example: dcgev agreement pitprops",
    )
    add_problem(parser)
    parser.add_argument("--rho", type=float, help="penalty ρ̃ (default: a tenth of λmax)")
    parser.add_argument("--eps", type=float, default=1e-2, help="ε (default: 0.01)")
    parser.add_argument("--json", action="store_true", help="print JSON and nothing else")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Ask everyone, print who is how far off.

    Without --rho a tenth of |λmax| is the price, at which some variables stay and some go.
    """
    from ..verify.agreement import agreement
    from .inputs import read_pencil

    name = args.data if args.data or args.A else "pitprops"
    pencil = read_pencil(name, args.A, args.B)
    rho = 0.1 * abs(pencil.lambda_max) if args.rho is None else args.rho
    rows, missing = agreement(pencil, rho, args.eps)
    if args.json:
        content = {
            "command": "agreement",
            "rho": rho,
            "eps": args.eps,
            "rows": [vars(r) for r in rows],
            "missing": missing,
        }
        print_json(content)
    else:
        show(rows, missing, f"{name or args.A}: n = {pencil.n}, ρ̃ = {rho:.4g}, ε = {args.eps:g}")
    return 0


def show(rows: list[Row], missing: list[str], title: str) -> None:
    """The table, and who could not take part."""
    from . import tables

    columns = ("who", "‖x − x*‖_B", "value", "KKT", "1e-3", "1e-6", "1e-9", "seconds")
    table = [
        (
            r.who,
            tables.tiny(r.distance),
            tables.tiny(r.excess),
            tables.tiny(r.kkt),
            *map(str, r.nonzeros),
            f"{r.seconds:.4f}",
        )
        for r in rows
        if not r.failure
    ]
    tables.show(tables.table(columns, table, title=title))
    tables.show(
        "  value: above the least, relative; KKT: proximal residual.\n"
        "  1e-3, 1e-6, 1e-9: nonzeros beyond that share of ‖x‖_B.\n"
        "  QCQPStep is our own step, polished; CVXPY's solvers are called plainly, at their default accuracy.\n"
        "  * the whole program from the same start, measured from Algorithm 1's limit; KKT is the stationarity there."
    )
    failures = [(r.who, r.failure) for r in rows if r.failure]
    if failures:
        tables.show("Could not take part:", tables.facts(failures))
    if missing:
        tables.show(f"  not installed: {', '.join(missing)}")
