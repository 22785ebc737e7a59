"""`compare`: every method on one pencil and one k, under one time limit; one that fails is a row that says so."""

import math
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from time import perf_counter
from types import MappingProxyType
from typing import Any

from .._numerics.checks import as_callback, as_flag, as_generator, as_number, listed, one_of
from ..errors import DCGEVError, InvalidParameter
from ..pencils import Pencil, expect_pencil
from ..relaxations.bounds import check_sdp_size
from ..solutions import checked_k
from . import methods as by
from .methods import Context
from .rows import Comparison, Interrupted, Row, Side


@dataclass(frozen=True)
class Method:
    """A method of a comparison, and the conditions under which it runs.

    run       fills an empty Row: run(context, row, *settings)
    early     runs first, being short, so that a time limit or an interrupt leaves rows on both sides
    package   must be installed
    needs     conditions on the pencil: "A ⪰ 0", "B = I"
    limit     the largest n without force: beyond, it takes minutes
    sdp       the size of an SDP is checked, before CVXPY is loaded
    shares    the property of Context that another method may have computed already
    cubic     seconds per n³, measured, of work that checks no clock
    """

    title: str
    side: Side
    run: Callable[..., Row]
    settings: tuple[str, ...] = ()
    early: bool = False
    package: str = ""
    needs: tuple[str, ...] = ()
    limit: float = math.inf
    sdp: bool = False
    shares: str = ""
    cubic: float = 0.0

    @property
    def loads(self) -> str:
        """The module that it imports when it first runs in a process, which checks no clock."""
        if "native" in self.settings:
            return "numba"
        return "cvxpy" if self.sdp or math.isfinite(self.limit) else ""


SDP: Any = {"sdp": True, "cubic": 4e-8}
METHODS: Mapping[str, Method] = MappingProxyType(
    {
        "dc-pca": Method("DC-PCA (closed form)", "lower", by.dc_run, ("closed",), needs=("B = I", "A ⪰ 0")),
        "dc-cvxpy": Method("DC (CVXPY)", "lower", by.dc_run, ("cvxpy",), limit=300),
        "dc-native": Method("DC (native)", "lower", by.dc_run, ("native",)),
        "solve": Method("solve", "lower", by.solve, early=True, cubic=1e-9),
        "greedy": Method("greedy", "lower", by.greedy, early=True),
        "rounded": Method("homogeneous SDP, rounded", "lower", by.rounded, **SDP),
        "dccp": Method(
            "dccp", "lower", by.on_l1_ball, ("dccp",), needs=("A ⪰ 0",), package="dccp", limit=300, cubic=6e-8
        ),
        "uno": Method("CVXPY nlp (UNO)", "lower", by.on_l1_ball, ("UNO",), package="unopy", limit=300, cubic=2e-8),
        "literal": Method("literal SDP (Section 3)", "upper", by.literal, **SDP),
        "entrywise-paper": Method("entrywise SDP, paper (k²)", "upper", by.entrywise, ("paper",), **SDP),
        "entrywise-valid": Method("entrywise SDP, valid (k/λmin)", "upper", by.entrywise, ("valid",), **SDP),
        "homogeneous": Method("homogeneous SDP", "upper", by.homogeneous, shares="homogeneous", **SDP),
        "pairwise": Method("pairwise SDP", "upper", by.pairwise, sdp=True),
        "no-sdp": Method("no SDP", "upper", by.no_sdp, early=True, cubic=2e-10),
        # last, so that the search may use all the time that the others left
        "exact": Method("exact (branch and bound)", "lower", by.exact, cubic=2e-10),
        "exact-bound": Method("exact (branch and bound)", "upper", by.exact_bound, shares="exact", cubic=2e-10),
    }
)
"""Every method by the name that `compare` takes."""

LOAD_SECONDS = 1.0
"""What importing CVXPY, or loading Numba's compiled functions, takes once in a process."""


def compare(
    pencil: Pencil,
    k: int,
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
    k : int
        The cardinality.
    methods : iterable of str, optional
        Names from `comparison.METHODS`, all by default. "exact" includes its bound.
    time_limit : float, optional
        Seconds for all methods together, > 0. A method gets half of what remains; the exact search, which runs last,
        gets all of it. Work that checks no clock and would take longer is not started.
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
    Interrupted
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
    k = checked_k(k, expect_pencil(pencil).n)
    chosen = checked_methods(methods)
    seconds = math.inf if time_limit is None else as_number(time_limit, "time_limit", strict=True)
    as_generator(random_state)
    listener = as_callback(progress, "progress")
    context = Context(pencil, k, begin + seconds, random_state, as_flag(force, "force"))
    rows: dict[str, Row] = {}

    def so_far() -> Comparison:
        found = [rows[name] for name in chosen]
        shown = [row for row in found if methods is not None or not row.status.startswith("skipped: needs")]
        return completed(pencil, k, shown, perf_counter() - begin)

    try:
        for name in sorted(chosen, key=lambda name: not METHODS[name].early):
            if listener is not None:
                listener(METHODS[name].title)
            rows[name] = run(context, METHODS[name])
        return so_far()
    except KeyboardInterrupt as stop:
        if not rows:
            raise
        for name in [name for name in chosen if name not in rows]:
            title, side = METHODS[name].title, METHODS[name].side
            rows[name] = Row(title, side, status="not finished: interrupted", seconds=0.0, ok=False)
        raise Interrupted(so_far()) from stop


def checked_methods(methods: Iterable[str] | None) -> list[str]:
    """Known names in the order of METHODS, "exact" with its bound; by default all that are installed."""
    if methods is None:
        return [name for name, method in METHODS.items() if installed(method)]
    asked = [one_of(name, "method", METHODS) for name in ([methods] if isinstance(methods, str) else listed(methods))]
    if not asked:
        raise InvalidParameter(f"no method was given; known: {', '.join(METHODS)}.")
    wanted = {*asked, *(["exact-bound"] if "exact" in asked else [])}
    return [name for name in METHODS if name in wanted]


def installed(method: Method) -> bool:
    """Is the package that the method needs installed?"""
    return not method.package or find_spec(method.package) is not None


def run(context: Context, method: Method) -> Row:
    """The method's row; errors of this package and reasons not to run are rows too."""
    row = Row(method.title, method.side)
    begin = perf_counter()
    try:
        reason = None if method.shares in vars(context) else reason_to_skip(context, method)
        row = method.run(context, row, *method.settings) if reason is None else replace(row, status=reason, ok=False)
    except DCGEVError as error:
        row = replace(row, status=f"failed: {error}", ok=False)
    return row if math.isfinite(row.seconds) else replace(row, seconds=perf_counter() - begin)


def reason_to_skip(context: Context, method: Method) -> str | None:
    """Why a method is not started, or None: time, packages, conditions on A and B, the size."""
    n, remaining = context.pencil.n, context.remaining
    if remaining < 0.0:
        return "not run: the time limit was reached"
    share = remaining if "exact" in method.title else 0.5 * remaining
    # with B = I `solve` forms no factor
    cubic = 0.0 if method.run is by.solve and context.pencil.B is None else method.cubic
    loading = method.loads not in ("", *sys.modules)
    seconds = cubic * n**3 + LOAD_SECONDS * loading
    if seconds > share:
        work = f"loading {method.loads}" if loading else f"n = {n}"
        return f"skipped: {work} takes about {seconds:.2g} s and {share:.2g} s remain for it; raise the time limit"
    if not installed(method):
        return f"skipped: needs {method.package} (pip install {method.package})"
    if ("B = I" in method.needs and context.pencil.B is not None) or ("A ⪰ 0" in method.needs and not context.psd):
        return f"skipped: needs {' and '.join(method.needs)}"
    if n > method.limit and not context.force:
        return f"skipped: n = {n} > {method.limit} would take minutes; force=True runs it"
    if method.sdp and not context.force:
        check_sdp_size(n)
    return None


def completed(pencil: Pencil, k: int, rows: Sequence[Row], seconds: float) -> Comparison:
    """The comparison, each row with its percentage of λmax(A, B) and its gap to the best of the other side.

    The gap is relative to the bound: for a vector, how far below the best bound it is; for a bound, how far above the
    best vector. It is NaN where a side is missing.
    """
    draft = Comparison(pencil, k, tuple(rows), seconds)
    top, best, bound = pencil.lambda_max, draft.best_lower, draft.best_upper

    def with_gap(row: Row) -> Row:
        percent = 100.0 * row.value / top if top > 0.0 else math.nan
        whole, other = (bound, bound) if row.side == "lower" else (row.value, best)
        part = abs(other - row.value)
        meaningful = row.valid and math.isfinite(bound) and math.isfinite(best)
        gap = 0.0 if part == 0.0 else part / abs(whole) if whole != 0.0 else math.nan
        return replace(row, percent=percent, gap=gap if meaningful else math.nan)

    return replace(draft, rows=tuple(map(with_gap, rows)))
