"""`dcgev solve -k` and `--components`: sparse vectors with given numbers of nonzeros, one or several.

One number is `solve(pencil, k)`, which also says whether a ρ̃ gives this k; several are `components`; 5+5 asks for
five nonzeros in each of two views. Two-class FDA uses `fisher_solve`.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .._numerics.text_tables import facts, table
from ..errors import InvalidParameter
from . import console

if TYPE_CHECKING:
    from .._numerics.checks import Vector
    from ..certificates import Solution
    from ..pencils import Pencil
    from ..search.components import Components

DEFLATIONS = ("orthogonalized-hotelling", "hotelling", "projection", "schur")
SETTINGS = ("deflation", "effort", "random_state")
"""The options of the search, which has their defaults."""


def add_settings(parser: argparse.ArgumentParser) -> None:
    """The settings of the search."""
    group = parser.add_argument_group("settings of the search (with -k or --components)")
    rules = f"between components: {DEFLATIONS[0]} (default), {', '.join(DEFLATIONS[1:])}"
    group.add_argument("--deflation", choices=DEFLATIONS, metavar="RULE", help=rules)
    group.add_argument("--effort", choices=("quick", "normal", "high"), help="time to spend (default: normal)")
    group.add_argument("--random-state", type=int, metavar="SEED", help="seed of the random starts (default: 0)")


def run(args: argparse.Namespace) -> int:
    """Find the components and show them."""
    from .problem import described, read_problem

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
    >>> from dcgev_cvx.cli.solve_for_k import cardinalities
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
    from ..pencils import Gram
    from ..search.components import Components, components
    from ..search.fisher import fisher_solve
    from ..search.solve import solve

    given = console.given(args, SETTINGS)
    if len(ks) > 1 or not isinstance(ks[0], int):
        return components(pencil, ks, callback=lambda found: console.tell(str(found)), **given)
    deflation = given.pop("deflation", DEFLATIONS[0])
    if pencil.B is not None and isinstance(pencil.A, Gram) and len(pencil.A.C) == 1:  # A = aaᵀ: two classes
        solution = fisher_solve(pencil.A.C[0], pencil.B, ks[0], names=pencil.names)
    else:
        solution = solve(pencil, ks[0], **given)
    return Components(pencil, (solution,), solution.x[:, None], (solution.value,), deflation)


def print_components(found: Components, heading: str) -> None:
    """A heading, then one component with its facts, or several side by side."""
    titles = ["x"] if len(found.solutions) == 1 else [f"x{j + 1}" for j in range(len(found.solutions))]
    console.show(heading, "", loadings(found.pencil, dict(zip(titles, found.V.T, strict=True))), "")
    if len(found.solutions) == 1:
        console.show(facts(verdict(found)))
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


def verdict(found: Components) -> list[tuple[str, str]]:
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
    from ..search.explained_variance import is_variance

    if not is_variance(found.pencil):
        return []
    total = "tr(A)" if found.pencil.B is None else "tr(B⁻¹A)"
    values = {"projector trace": found.projector_trace, "adjusted": found.adjusted, "plain sum": found.plain_sum}
    return [(name, f"{value()[-1]:.2%} of {total}") for name, value in values.items()]
