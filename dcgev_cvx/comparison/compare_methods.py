"""`compare`: every method on one pencil and one k, under one time limit; one that fails is a row that says so."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from time import perf_counter
from types import MappingProxyType
from typing import Any

from .._numerics.checks import as_callback, as_flag, as_generator, as_number, listed, one_of
from .._numerics.deadline import Deadline
from ..budgets import Budget, Cardinality
from ..errors import DCGEVError, InvalidParameter
from ..pencils import Pencil
from ..relaxations.bounds import check_sdp_size
from . import methods as by
from .methods import Context
from .rows import Comparison, ComparisonInterrupted, ComparisonRow, Side, counts_of


@dataclass(frozen=True)
class Method:
    """A method of a comparison, and the conditions under which it runs.

    fill      fills an empty row: fill(context, row, *settings)
    early     runs first, being short, so that a time limit or an interrupt leaves rows on both sides
    package   must be installed
    needs     conditions on the problem: "A ⪰ 0", "B = I", "one k" (no budget per view)
    limit     the largest n without force: beyond, it takes minutes
    sdp       the size of an SDP is checked, before CVXPY is loaded
    rival     runs only when it is asked for by name
    shares    the property of Context that another method may have computed already
    """

    title: str
    side: Side
    fill: Callable[..., ComparisonRow]
    settings: tuple[str, ...] = ()
    early: bool = False
    package: str = ""
    needs: tuple[str, ...] = ()
    limit: float = math.inf
    sdp: bool = False
    shares: str = ""
    rival: bool = False


PSD, IDENTITY, ONE_K = "A ⪰ 0", "B = I", "one k"
RIVAL: Any = {"needs": (IDENTITY, PSD, ONE_K), "rival": True}
METHODS: Mapping[str, Method] = MappingProxyType(
    {
        "dc-pca": Method("DC-PCA (closed form)", "lower", by.dc_row, ("closed",), needs=(IDENTITY, PSD, ONE_K)),
        "dc-cvxpy": Method("DC (CVXPY)", "lower", by.dc_row, ("cvxpy",), needs=(ONE_K,), limit=300),
        "dc-native": Method("DC (native)", "lower", by.dc_row, ("native",), needs=(ONE_K,)),
        "solve": Method("solve", "lower", by.solve_row, early=True),
        "greedy": Method("greedy", "lower", by.greedy_row, early=True, needs=(ONE_K,)),
        "rounded": Method("homogeneous SDP, rounded", "lower", by.rounded_row, sdp=True, shares="homogeneous"),
        "dccp": Method("dccp", "lower", by.l1_ball_row, ("dccp",), needs=(PSD, ONE_K), package="dccp", limit=300),
        "uno": Method("CVXPY nlp (UNO)", "lower", by.l1_ball_row, ("UNO",), needs=(ONE_K,), package="unopy", limit=300),
        "spca": Method("SPCA", "lower", by.rival_row, ("spca",), **RIVAL),
        "gpower": Method("GPower", "lower", by.rival_row, ("gpower",), **RIVAL),
        "gspca": Method("GSPCA", "lower", by.rival_row, ("gspca",), **RIVAL),
        "gspca-forward": Method("GSPCA, forward pass", "lower", by.rival_row, ("gspca", "forward"), **RIVAL),
        "dspca": Method("DSPCA", "lower", by.rival_row, ("dspca",), **(RIVAL | {"limit": 50})),
        "scotlass": Method("SCoTLASS", "lower", by.rival_row, ("scotlass",), **RIVAL),
        "dc-trimmed": Method("DC-PCA, trimmed to k", "lower", by.rival_row, ("trimmed_dc_pca",), **RIVAL),
        "literal": Method("literal SDP (Section 3)", "upper", by.literal_row, sdp=True),
        "entrywise-paper": Method("entrywise SDP, paper (k²)", "upper", by.entrywise_row, ("paper",), sdp=True),
        "entrywise-valid": Method("entrywise SDP, valid (k/λmin)", "upper", by.entrywise_row, ("valid",), sdp=True),
        "homogeneous": Method("homogeneous SDP", "upper", by.homogeneous_row, sdp=True, shares="homogeneous"),
        "pairwise": Method("pairwise SDP", "upper", by.pairwise_row, sdp=True),
        "no-sdp": Method("no SDP", "upper", by.no_sdp_row, early=True),
        # last, so that the search may use all the time that the others left
        "exact": Method("exact (branch and bound)", "lower", by.exact_row, shares="exact"),
        "exact-bound": Method("exact (branch and bound)", "upper", by.exact_bound_row, shares="exact"),
    }
)
"""Every method by the name that `compare` takes."""


def compare(
    pencil: Pencil,
    k: Cardinality,
    methods: Iterable[str] | None = None,
    *,
    time_limit: float | None = None,
    random_state: int = 0,
    force: bool = False,
    progress: Callable[[str], object] | None = None,
) -> Comparison:
    """Run the d.c. algorithms, the relaxations and the exact search on one problem, side by side (SGEV-P).

    Parameters
    ----------
    pencil : Pencil
        The pencil (A, B).
    k : int or sequence of int
        The cardinality; for a pencil with views (`cca_pencil`) also one for each view, such as (5, 5).
    methods : iterable of str, optional
        Names from `comparison.METHODS`, by default all but the paper's rivals. "exact" includes its bound.
    time_limit : float, optional
        Seconds for all methods together, > 0. A method gets half of what is left; the exact search, which runs last,
        gets all of it. What has begun is not interrupted: the limit may be exceeded by one operation of the method
        that is running, such as one step of a relaxation's solver, one eigenvalue problem, or one call of `solve`.
    random_state : int
        Seed of `solve`'s random starts.
    force : bool
        Whether methods run that are refused by default because n is large.
    progress : callable, optional
        Called with the title of each method before it runs.

    Returns
    -------
    Comparison
        One row per method. By default methods that cannot run here (a package that is not installed, B = I or A ⪰ 0
        needed) have no row.

    Raises
    ------
    InvalidParameter
        For an unknown method, an empty list, and k or time_limit out of range.
    ComparisonInterrupted
        A KeyboardInterrupt whose `comparison` holds the rows that were finished, if there are any.

    Examples
    --------
    >>> from dcgev_cvx import compare, datasets
    >>> found = compare(datasets.pitprops(), 6, ("greedy", "homogeneous", "exact"))
    >>> [(row.side, row.method, round(row.value, 3)) for row in found.rows[:2]]
    [('lower', 'greedy', 3.771), ('upper', 'homogeneous SDP', 3.814)]
    >>> print(found.verdict)
    k = 6: the optimum is 3.77096, proved
    """
    begin = perf_counter()
    budget = Budget.of(pencil, k)
    chosen = checked_methods(methods)
    if time_limit is not None:
        as_number(time_limit, "time_limit", strict=True)
    as_generator(random_state)
    listener = as_callback(progress, "progress")
    deadline = Deadline.after(time_limit, "time_limit")
    context = Context(pencil, budget, deadline, random_state, as_flag(force, "force"))
    rows: dict[str, ComparisonRow] = {}

    def so_far() -> Comparison:
        found = [rows[name] for name in chosen]
        shown = [row for row in found if methods is not None or not row.status.startswith("skipped: needs")]
        return completed(pencil, budget, shown, perf_counter() - begin)

    try:
        for name in sorted(chosen, key=lambda name: not METHODS[name].early):
            if listener is not None:
                listener(METHODS[name].title)
            rows[name] = row_by(context, METHODS[name])
        return so_far()
    except KeyboardInterrupt as stop:
        if not rows:
            raise
        for name in [name for name in chosen if name not in rows]:
            title, side = METHODS[name].title, METHODS[name].side
            rows[name] = ComparisonRow(title, side, status="not finished: interrupted", seconds=0.0, ok=False)
        raise ComparisonInterrupted(so_far()) from stop


def checked_methods(methods: Iterable[str] | None) -> list[str]:
    """Known names in the order of METHODS, "exact" with its bound; by default all that are installed."""
    if methods is None:
        return [name for name, method in METHODS.items() if installed(method) and not method.rival]
    asked = [one_of(name, "method", METHODS) for name in ([methods] if isinstance(methods, str) else listed(methods))]
    if not asked:
        raise InvalidParameter(f"no method was given; known: {', '.join(METHODS)}.")
    wanted = {*asked, *(["exact-bound"] if "exact" in asked else [])}
    return [name for name in METHODS if name in wanted]


def installed(method: Method) -> bool:
    """Is the package that the method needs installed?"""
    return not method.package or find_spec(method.package) is not None


def row_by(context: Context, method: Method) -> ComparisonRow:
    """The method's row; errors of this package and reasons not to run are rows too."""
    row = ComparisonRow(method.title, method.side)
    begin = perf_counter()
    try:
        reason = None if method.shares in vars(context) else reason_to_skip(context, method)
        row = method.fill(context, row, *method.settings) if reason is None else replace(row, status=reason, ok=False)
    except DCGEVError as error:
        row = replace(row, status=f"failed: {error}", ok=False)
    return row if math.isfinite(row.seconds) else replace(row, seconds=perf_counter() - begin)


def reason_to_skip(context: Context, method: Method) -> str | None:
    """Why a method is not started, or None: time, packages, conditions on the problem, the size."""
    n = context.pencil.n
    if context.deadline.passed:
        return "not run: the time limit was reached"
    if not installed(method):
        return f"skipped: needs {method.package} (pip install {method.package})"
    met = {
        IDENTITY: lambda: context.pencil.B is None,
        PSD: lambda: context.psd,
        ONE_K: lambda: len(context.budget.counts) == 1,
    }
    if unmet := [condition for condition in method.needs if not met[condition]()]:
        return f"skipped: needs {' and '.join(unmet)}"
    if n > method.limit and not context.force:
        return f"skipped: n = {n} > {method.limit} would take minutes; force=True runs it"
    if method.sdp and not context.force:
        check_sdp_size(n)
    return None


def completed(pencil: Pencil, budget: Budget, rows: Sequence[ComparisonRow], seconds: float) -> Comparison:
    """The comparison, each row with its percentage of λmax(A, B) and its gap to the best of the other side.

    The gap is relative to the bound: for a vector, how far below the best bound it is; for a bound, how far above the
    best vector. It is NaN where a side is missing.
    """
    draft = Comparison(pencil, counts_of(budget), tuple(rows), seconds)
    top, best, bound = pencil.lambda_max, draft.best_lower, draft.best_upper

    def with_gap(row: ComparisonRow) -> ComparisonRow:
        percent = 100.0 * row.value / top if top > 0.0 else math.nan
        whole, other = (bound, bound) if row.side == "lower" else (row.value, best)
        part = abs(other - row.value)
        meaningful = row.valid and math.isfinite(bound) and math.isfinite(best)
        gap = 0.0 if part == 0.0 else part / abs(whole) if whole != 0.0 else math.nan
        return replace(row, percent=percent, gap=gap if meaningful else math.nan)

    return replace(draft, rows=tuple(map(with_gap, rows)))
