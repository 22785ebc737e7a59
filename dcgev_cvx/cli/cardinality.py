"""`dcgev solve DATA -k 6` and `--components 6,2,2`: sparse vectors of given cardinality, one or several.

One number is `solve(pencil, k)`, which also says whether some ρ̃ gives this k; several are `components` with the
deflation that was chosen; 5+5 asks for five nonzeros in each of two views. For two-class FDA the exact exchanges of
`fisher_solve` are used. Each component is in --out before the next is sought.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..certificates import Solution
    from ..pencils import Pencil
    from ..search.deflation import Components

DEFLATIONS = ("orthogonalized-hotelling", "hotelling", "projection", "schur")
DEFAULTS = {"deflation": DEFLATIONS[0], "effort": "normal", "random_state": 0}
"""What a search takes where nothing was said; the parser says None, so that --rho can refuse what was."""


def add_cardinality(parser: argparse.ArgumentParser) -> None:
    """The settings of the search for k."""
    group = parser.add_argument_group("search for -k and --components")
    group.add_argument("--deflation", choices=DEFLATIONS, help=f"between components (default: {DEFLATIONS[0]})")
    group.add_argument("--effort", choices=("quick", "normal", "high"), help="time for quality (default: normal)")
    group.add_argument("--random-state", type=int, metavar="SEED", help="of the random starts (default: 0)")


def run(args: argparse.Namespace) -> int:
    """Find the components, show them as they come, keep them in --out.

    Exit code 0: a search for k always ends with k nonzeros, and what it cannot promise, optimality, is not claimed.
    """
    from .solve import finite, print_json
    from .tasks import problem

    refuse_method(args)
    vars(args).update(with_defaults(args, DEFAULTS))
    pencil = problem(args)
    ks = [args.k] if args.k is not None else cardinalities(args.components)
    keeper = Keeper(args.out, len(ks))
    try:
        found = search(pencil, ks, args, keeper)
    except KeyboardInterrupt:
        if keeper.found:
            raise KeyboardInterrupt(keeper.so_far(args)) from None
        raise
    made = finite(record(pencil, found, args))
    keeper.keep("components.json", made)
    if args.json:
        print_json(made)
    else:
        show(pencil, found, args)
    return 0


def refuse_method(args: argparse.Namespace) -> None:
    """The settings of one run at a given ρ̃ say nothing to a search over many.

    Raises InvalidParameter that names the option: silently ignoring it would make a user believe in it.
    """
    from ..errors import InvalidParameter
    from .solve import DEFAULTS as METHOD

    refuse_given(args, ("eps", "tau", "x0", *METHOD), "belongs to --rho: the search for k sets it itself")
    if args.trace:
        raise InvalidParameter("--trace belongs to --rho: it prints the MM steps of one run.")


def refuse_given(args: argparse.Namespace, names: Iterable[str], why: str) -> None:
    """An option that was given and would be ignored."""
    from ..errors import InvalidParameter

    for name in names:
        if getattr(args, name) is not None:
            raise InvalidParameter(f"--{name.replace('_', '-')} {why}.")


def with_defaults(args: argparse.Namespace, defaults: Mapping[str, Any]) -> dict[str, Any]:
    """The options as they were given, or as they are when nothing was said."""
    given = {name: getattr(args, name) for name in defaults}
    return {name: defaults[name] if value is None else value for name, value in given.items()}


def cardinalities(text: str) -> list[int | tuple[int, ...]]:
    """`6,2,2` or, one number per view, `5+5,3+3`.

    Examples
    --------
    >>> from dcgev_cvx.cli.cardinality import cardinalities
    >>> cardinalities("6,2,2"), cardinalities("5+5,3+3")
    ([6, 2, 2], [(5, 5), (3, 3)])
    """
    from .._numerics.checks import shown
    from ..errors import InvalidParameter

    try:
        entries = [tuple(int(k) for k in entry.split("+")) for entry in text.split(",")]
    except ValueError:
        raise InvalidParameter(f"--components {shown(text)} must read like 6,2,2 or, per view, 5+5,3+3.") from None
    return [entry[0] if len(entry) == 1 else entry for entry in entries]


def search(pencil: Pencil, ks: list[Any], args: argparse.Namespace, keeper: Keeper) -> Components:
    """The components; the first of one alone also learns whether it lies on the ρ̃ path.

    A single k is told whether some ρ̃ gives it, which several components are not asked: their pencils are deflated.
    """
    from ..search.deflation import Components, components
    from ..search.paths import solve

    if len(ks) > 1 or not isinstance(ks[0], int):
        return components(
            pencil,
            ks,
            deflation=args.deflation,
            effort=args.effort,
            random_state=args.random_state,
            callback=keeper,
        )
    solution = fisher(pencil, ks[0]) or solve(pencil, ks[0], effort=args.effort, random_state=args.random_state)
    keeper(solution)
    return Components(pencil, (solution,), solution.x[:, None], (solution.value,), args.deflation)


def fisher(pencil: Pencil, k: int) -> Solution | None:
    """Two-class FDA has its own exact exchanges: A = aaᵀ with B.

    Recognised by its shape: A = aaᵀ, a Gram matrix of one row, with a B.
    """
    from ..pencils import Gram
    from ..search.fisher import fisher_solve

    if pencil.B is None or not isinstance(pencil.A, Gram) or pencil.A.C.shape[0] != 1:
        return None
    return fisher_solve(pencil.A.C[0], pencil.B, k, names=pencil.names)


class Keeper:
    """Writes what was found to a folder at once, so that an interrupt loses nothing; tells a person at a terminal.

    Files are component-1.json, component-2.json, … and, at the end, components.json with the whole record.
    """

    def __init__(self, folder: str | None, total: int) -> None:
        self.folder = None if folder is None else made_folder(folder)
        self.total = total
        self.found: list[Solution] = []

    def __call__(self, solution: Solution) -> None:
        """Keep one component."""
        from .solve import finite

        self.found.append(solution)
        self.keep(f"component-{len(self.found)}.json", finite(solution.to_dict() | {"x": solution.x.tolist()}))
        if self.total > 1:
            progress(f"component {len(self.found)} of {self.total}: value {solution.value:.6g}")

    def so_far(self, args: argparse.Namespace) -> str:
        """Print the components that an interrupted search has found, and say how many and where they are."""
        from .. import __version__
        from . import tables
        from .solve import print_json

        if args.json:
            made = {"command": "solve", "version": __version__, "deflation": args.deflation, "ended": False}
            made["components"] = [solution.to_dict() for solution in self.found]
            print_json(made)
        else:
            tables.show(*(f"{j}. {solution}" for j, solution in enumerate(self.found, 1)))
        where = "" if self.folder is None else f", kept in {self.folder}"
        return f"after {len(self.found)} of {self.total} components{where}"

    def keep(self, name: str, data: Any) -> None:
        """Write one file of the folder, if there is one."""
        if self.folder is not None:
            (self.folder / name).write_text(json.dumps(data, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")


def made_folder(name: str, option: str = "--out") -> Path:
    """The folder, made if need be; one that cannot be written to is refused before the work."""
    from .._numerics.checks import as_path
    from ..errors import InvalidParameter

    if not name:
        raise InvalidParameter(f"{option} is empty: give a folder, or . for this one.")
    try:
        as_path(name, option).mkdir(parents=True, exist_ok=True)
    except OSError as cause:
        raise InvalidParameter(f"{option} {name} cannot be made a folder: {cause.strerror}.") from cause
    if not os.access(name, os.W_OK | os.X_OK):
        raise InvalidParameter(f"{option} {name} cannot be written to: choose another folder.")
    return Path(name)


def progress(line: str) -> None:
    """One line on stderr when a person is looking."""
    if sys.stderr.isatty():
        print(line, file=sys.stderr, flush=True)


def record(pencil: Pencil, found: Components, args: argparse.Namespace) -> dict[str, Any]:
    """The answer as plain data."""
    from .. import __version__

    return {
        "command": "solve",
        "version": __version__,
        "problem": {"n": pencil.n, "task": args.task, "lambda_max": pencil.lambda_max, "blocks": pencil.blocks},
        **found.to_dict(),
    }


def show(pencil: Pencil, found: Components, args: argparse.Namespace) -> None:
    """A heading, then one component with its facts, or several side by side."""
    from . import tables

    metric = "B = I" if pencil.B is None else "B dense"
    tables.show(f"{args.data or args.X or args.A}: n = {pencil.n}, {metric}, λmax(A,B) = {pencil.lambda_max:.6g}")
    tables.show(loadings(pencil, found))
    if len(found.solutions) == 1:
        tables.show(tables.facts(facts(found)))
    else:
        tables.show(summary(found))
        tables.show(tables.facts([("deflation", found.deflation), *shares(found)]))


def loadings(pencil: Pencil, found: Components) -> Any:
    """One row per variable that a component uses, one column per component, in the order of the components.

    Variables appear in the order in which components use them, each once.
    """
    from . import tables
    from .solve import SHOWN

    ranked = [sorted(s.support, key=lambda i, x=s.x: -abs(x[i])) for s in found.solutions]
    order = list(dict.fromkeys(i for support in ranked for i in support))
    rows = [(pencil.name(i), *(f"{s.x[i]:+.3f}" if s.x[i] else "" for s in found.solutions)) for i in order[:SHOWN]]
    if len(order) > SHOWN:
        rows.append((f"and {len(order) - SHOWN} more; --json lists all", *("" for _ in found.solutions)))
    columns = ("x",) if len(found.solutions) == 1 else tuple(f"x{j + 1}" for j in range(len(found.solutions)))
    return tables.table(("variable", *columns), rows)


def summary(found: Components) -> Any:
    """Nonzeros, value and stationarity of each component."""
    from . import tables

    rows = [
        (str(j + 1), str(s.k), f"{s.value:.6g}", f"{inner:.6g}", residual(s), f"{s.seconds:.2f}")
        for j, (s, inner) in enumerate(zip(found.solutions, found.deflated_values, strict=True))
    ]
    return tables.table(("component", "nonzeros", "xᵀAx/xᵀBx", "in deflated A", "stationarity", "seconds"), rows)


def residual(solution: Solution) -> str:
    """The stationarity of the program behind a component, if there is one."""
    from .tables import tiny

    return "-" if solution.certificate is None else tiny(solution.certificate.stationarity)


def facts(found: Components) -> list[tuple[str, str]]:
    """Nonzeros, value, share, path, program and certificate of a single component.

    "on the ρ̃ path" answers a question that the paper leaves open: not every k is reached by some ρ̃.
    """
    (solution,), top = found.solutions, found.pencil.lambda_max
    share = f", {solution.value / top:.2%} of λmax(A,B)" if top > 0.0 else ""
    lines = [("nonzeros", f"{solution.k} of {found.pencil.n}"), ("xᵀAx / xᵀBx", f"{solution.value:.6g}{share}")]
    lines += [("explained", line) for _, line in shares(found)[:1]]
    if solution.on_path is not None:
        verdict = "some ρ̃ gives this k" if solution.on_path else "no ρ̃ tried gives this k"
        lines.append(("on the ρ̃ path", verdict))
    if solution.certificate is not None:
        lines.append(("certificate", f"stationarity {residual(solution)} at ρ̃ = {solution.rho:.4g}"))
    return [*lines, ("seconds", f"{solution.seconds:.2f}")]


def shares(found: Components) -> list[tuple[str, str]]:
    """The three shares of explained variance by name, where A is a variance.

    Empty for CCA, whose A is no variance.
    """
    from ..search.explained import is_variance

    if not is_variance(found.pencil):
        return []
    measures: dict[str, Callable[[], Any]] = {
        "projector trace": found.projector_trace,
        "adjusted": found.adjusted,
        "plain sum": found.plain_sum,
    }
    total = "tr(A)" if found.pencil.B is None else "tr(B⁻¹A)"
    return [(name, f"{measure()[-1]:.2%} of {total}") for name, measure in measures.items()]
