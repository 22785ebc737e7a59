"""The players of a comparison, and `compare`, which lets them play and never lets one stop the others.

A player is a function from a Game to a Row. Lower players return vectors, which are valued anew from the data;
upper players return bounds that are theorems whatever their solver did. So the interval between the best of
both sides holds the optimum even if most of the players misbehave.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from time import perf_counter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from .._numerics.checks import Vector, as_flag, as_generator, as_listener, as_number, listed, one_of
from .._numerics.limits import refuse_large_sdp
from ..certificates import Solution, checked_k, renormalize, solution_of, value
from ..errors import DCGEVError, InvalidParameter
from ..pencils import Pencil, expect_pencil
from ..programs import smallest_tau
from ..relaxations.bounds import cheap_bound
from .game import Game
from .guests import GUESTS, LIMIT, absent, by_dccp, by_uno
from .rows import Comparison, Interrupted, Row

if TYPE_CHECKING:
    from ..relaxations import Relaxation

CVXPY_LIMIT = 300
"""Beyond this n the MM run through CVXPY takes minutes: it is left out unless it is asked for by name."""


def mm_row(game: Game, method: str, engine: str) -> Row:
    """A d.c. run at the ρ̃ that leaves k nonzeros; its loadings renormalized, its residual from the referee.

    The value is that of the best loadings on the support, the stationarity that of x before it was renormalised:
    renormalising leaves the d.c. program's stationary point on purpose.
    """
    begin = perf_counter()
    rho, result = game.run(engine)
    seconds = perf_counter() - begin
    # the only caller that stops it is the clock
    stopped = result.status.name == "STOPPED"
    ended = "stopped by the time limit" if stopped else result.status.value
    words = f"ρ̃ = {rho:.4g}: {ended}"
    # nothing was found, or not yet: renormalising many variables would take longer still
    if not result.support or (stopped and len(result.support) > game.k):
        return failed(method, "lower", words, seconds)
    if len(result.support) != game.k:
        words = f"no ρ̃ found gives {game.k} nonzeros; the nearest has {len(result.support)}. {words}"
    found = solution_of(game.pencil, renormalize(game.pencil, result.x), method, seconds)
    row = lower_row(game, found, words)
    return replace(row, stationarity=result.certificate.stationarity, iterations=result.n_iter)


def dc_pca_row(game: Game) -> Row:
    """Algorithm 2: B = I and A ⪰ 0."""
    if game.pencil.B is not None or smallest_tau(game.pencil, "identity") > 0.0:
        return failed("DC-PCA (closed form)", "lower", "left out: needs B = I and A ⪰ 0", 0.0)
    return mm_row(game, "DC-PCA (closed form)", "closed")


def dc_cvxpy_row(game: Game) -> Row:
    """Algorithm 1 with every step a CVXPY problem."""
    if game.pencil.n > CVXPY_LIMIT and not game.force:
        words = f"left out: n = {game.pencil.n} > {CVXPY_LIMIT} would take minutes; force=True runs it"
        return failed("DC (CVXPY)", "lower", words, 0.0)
    return mm_row(game, "DC (CVXPY)", "cvxpy")


def solve_row(game: Game) -> Row:
    """solve(pencil, k): one-shot cardinality, several starts, swaps.

    check_path=False: whether k lies on the ρ̃ path is the business of the d.c. rows.
    """
    from ..search.paths import solve

    found = solve(game.pencil, game.k, random_state=game.random_state, check_path=False)
    row = lower_row(game, found, "best support found by one-shot MM and swaps; no proof")
    certificate = found.certificate
    return row if certificate is None else replace(row, stationarity=certificate.stationarity)


def greedy_row(game: Game) -> Row:
    """Forward selection, then the best vector on the support.

    The baseline that everything else should beat.
    """
    from ..search.paths import greedy

    begin = perf_counter()
    x: Vector = renormalize(game.pencil, greedy(game.pencil, game.k))
    found = solution_of(game.pencil, x, "greedy", perf_counter() - begin)
    return lower_row(game, found, "forward selection; no proof")


def guest_row(game: Game, name: str) -> Row:
    """dccp or UNO on the ℓ1 ball, its k largest entries, renormalized; left out when not installed.

    What is not installed, or needs A ⪰ 0 and has it not, appears in the comparison only if it was asked for by name;
    what is left out for its size always does, with the reason.
    """
    title = METHODS[name][0]
    reason = absent(name)
    if reason is None and name == "dccp" and smallest_tau(game.pencil, "identity") > 0.0:
        reason = "left out: needs A ⪰ 0"
    if reason is None and game.pencil.n > LIMIT and not game.force:
        reason = f"left out: n = {game.pencil.n} > {LIMIT}; force=True runs it"
    if reason is not None:
        return failed(title, "lower", reason, 0.0)
    begin = perf_counter()
    raw = {"dccp": by_dccp, "uno": by_uno}[name](game.pencil, game.k)
    score = np.abs(raw) * np.sqrt(game.pencil.B_diagonal)
    kept = np.argsort(-score, kind="stable")[: game.k]
    x = renormalize(game.pencil, np.where(np.isin(np.arange(game.pencil.n), kept), raw, 0.0))
    found = solution_of(game.pencil, x, title, perf_counter() - begin)
    return lower_row(game, found, "on the ℓ1 ball of radius √(k/λmin(B)), k largest entries, renormalized; no proof")


def rounded_row(game: Game) -> Row:
    """The homogeneous SDP's vector.

    Its value with the same SDP's bound gives the gap that the relaxation alone proves.
    """
    relaxed = game.homogeneous
    words = f"{relaxed.rank_in_words}; leading eigenvector, k largest entries, renormalized"
    return lower_row(game, relaxed.rounded, words)


def exact_lower_row(game: Game) -> Row:
    """The incumbent of branch and bound."""
    exact = game.exact
    found = solution_of(game.pencil, np.asarray(exact.x), "exact (branch and bound)", exact.seconds)
    words = f"{exact.status.value} ({exact.nodes} nodes, {exact.supports} supports)"
    return lower_row(game, found, words)


def exact_upper_row(game: Game) -> Row:
    """The bound of branch and bound.

    Valid also when the search was stopped: then it is the largest bound of an open node.
    """
    exact = game.exact
    return Row(
        "exact (branch and bound)", "upper", exact.upper_bound, exact.status.value, True, seconds=exact.seconds
    )


def literal_row(game: Game) -> Row:
    """The SDP of Section 3 as printed.

    Here to be seen: its bound is λmax(A, B) for every k.
    """
    from ..relaxations import literal_sdp

    relaxed = literal_sdp(game.pencil, float(game.k), time_limit=game.left, force=game.force)
    always = "λmax(A,B)" if game.pencil.lambda_max >= 0.0 else "0, as λmax(A,B) < 0 and X = 0 is allowed"
    return upper_row(game, "literal SDP (Section 3)", relaxed, f"valid, and always {always}: it ignores k")


def paper_row(game: Game) -> Row:
    """The entrywise SDP with the paper's budget k².

    For B = I the bound is valid, and loose from small k on, as ‖x‖₁² ≤ k where k² is allowed.
    """
    from ..relaxations import entrywise_sdp, radius_for

    relaxed = entrywise_sdp(
        game.pencil, radius_for(game.pencil, game.k, "paper"), k=game.k, time_limit=game.left, force=game.force
    )
    words = "valid here, k·λmin(B) ≥ 1"
    if relaxed.valid_k < game.k:
        words = "not a valid bound: k·λmin(B) < 1, so ‖x‖₁ ≤ k can cut off the optimum"
    return upper_row(game, "entrywise SDP, paper (k²)", relaxed, words)


def valid_row(game: Game) -> Row:
    """The entrywise SDP with the budget k/λmin(B).

    For B = I radius² = k; for an ill-conditioned B the radius is so large that the bound is λmax(A, B).
    """
    from ..relaxations import entrywise_sdp, radius_for

    radius = radius_for(game.pencil, game.k, "valid")
    relaxed = entrywise_sdp(game.pencil, radius, k=game.k, time_limit=game.left, force=game.force)
    return upper_row(game, "entrywise SDP, valid (k/λmin)", relaxed, f"valid, radius² = {radius * radius:.4g}")


def homogeneous_row(game: Game) -> Row:
    """The homogeneous SDP."""
    return upper_row(
        game, "homogeneous SDP", game.homogeneous, f"valid for every B; {game.homogeneous.rank_in_words}"
    )


def cheap_row(game: Game) -> Row:
    """λmax(A, B) and row sums."""
    begin = perf_counter()
    bound = cheap_bound(game.pencil, game.k)
    words = "valid: the better of λmax(A,B) and k-row sums"
    return Row("no SDP", "upper", bound, words, math.isfinite(bound), seconds=perf_counter() - begin)


METHODS: Mapping[str, tuple[str, str, Callable[[Game], Row]]] = MappingProxyType(
    {
        "dc-pca": ("DC-PCA (closed form)", "lower", dc_pca_row),
        "dc-cvxpy": ("DC (CVXPY)", "lower", dc_cvxpy_row),
        "dc-native": ("DC (native)", "lower", lambda game: mm_row(game, "DC (native)", "native")),
        "solve": ("solve", "lower", solve_row),
        "greedy": ("greedy", "lower", greedy_row),
        "rounded": ("homogeneous SDP, rounded", "lower", rounded_row),
        "dccp": ("dccp", "lower", lambda game: guest_row(game, "dccp")),
        "uno": ("CVXPY nlp (UNO)", "lower", lambda game: guest_row(game, "uno")),
        "literal": ("literal SDP (Section 3)", "upper", literal_row),
        "entrywise-paper": ("entrywise SDP, paper (k²)", "upper", paper_row),
        "entrywise-valid": ("entrywise SDP, valid (k/λmin)", "upper", valid_row),
        "homogeneous": ("homogeneous SDP", "upper", homogeneous_row),
        "no-sdp": ("no SDP", "upper", cheap_row),
        # last, so that the search may use all the time that the others left
        "exact": ("exact (branch and bound)", "lower", exact_lower_row),
        "exact-bound": ("exact (branch and bound)", "upper", exact_upper_row),
    }
)
"""Name → (title, side, player). `exact` asks for its bound too."""

SHARED = {"homogeneous": "homogeneous", "exact-bound": "exact"}
"""Method → what another has computed for it in its own turn: such a row costs no time and is never too late."""

SDPS = ("rounded", "literal", "entrywise-paper", "entrywise-valid", "homogeneous")
"""They are refused for their size alone."""

FIRST = ("greedy", "no-sdp", "solve")
"""They play before the others, being short: what a time limit or an interrupt leaves has both sides."""

UNTIMED = {"no-sdp": 2e-10, "solve": 1e-9, "exact": 2e-10, "exact-bound": 2e-10}
"""Method → seconds per n³, measured, of work that looks at no clock: eigenvalues, row sums, swaps with a dense B."""

UNTIMED_FROM = 1000
"""Up to this n that work is short enough to be begun under any time limit."""


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
    """The d.c. solution, the relaxations and the exact optimum of one problem side by side (SGEV-P).

    methods are names of `METHODS` (all by default). A method that fails, is refused or finds no time left is a
    row that says so. progress is told each method's name before it plays.

    Parameters
    ----------
    pencil, k
        The problem.
    methods
        Names, in any order. The short ones play first and the exact search last; rows are in the order of METHODS.
    time_limit
        Seconds for all together, > 0. A method gets half of what is left, the exact search, which is the last, all
        of it. What looks at no clock and would take longer than its share is not begun.
    random_state
        Of `solve`'s random starts.
    force
        Run what is refused for its size.
    progress
        Called with a method's title.

    Returns
    -------
    Comparison
        One row a method; by default those that cannot play (not installed, B = I or A ⪰ 0 needed) are no rows.
        Errors of this package become rows; others, which would be bugs, are raised.

    Raises
    ------
    InvalidParameter
        For an unknown method (with the nearest name), an empty list, k or time_limit out of range.
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
    listener = as_listener(progress, "progress")
    game = Game(pencil, k, begin + seconds, random_state, as_flag(force, "force"))
    rows: dict[str, Row] = {}

    def so_far() -> Comparison:
        found = [rows[name] for name in chosen]
        # who cannot play at all (not installed, wrong kind of pencil) is no row, unless it was asked for by name
        shown = [row for row in found if methods is not None or not row.status.startswith("left out: needs")]
        return finished(pencil, k, shown, perf_counter() - begin)

    try:
        for name in sorted(chosen, key=lambda name: name not in FIRST):
            if listener is not None:
                listener(METHODS[name][0])
            rows[name] = play(game, name)
        return so_far()
    except KeyboardInterrupt as stop:
        if not rows:
            raise
        rows |= {name: unfinished(game, name) for name in chosen if name not in rows}
        raise Interrupted(so_far()) from stop


def unfinished(game: Game, name: str) -> Row:
    """The row of a method that Ctrl-C came before; a bound that the exact search has reported stays a theorem."""
    row = failed(*METHODS[name][:2], "not finished: interrupted", 0.0)
    if name != "exact-bound" or not game.reports:
        return row
    last = game.reports[-1]
    bound = math.nextafter(last.bound, math.inf)  # reports are in the user's units, a product of two numbers
    words = f"interrupted: what the search had proved after {last.nodes} nodes"
    return replace(row, value=bound, status=words, valid=True, seconds=last.seconds)


def checked_methods(methods: Iterable[str] | None) -> tuple[str, ...]:
    """Known names, `exact` with its bound, in the order of METHODS; all by default, of the guests those installed."""
    if methods is None:
        return tuple(name for name in METHODS if name not in GUESTS or absent(name) is None)
    asked = [one_of(name, "method", METHODS) for name in ([methods] if isinstance(methods, str) else listed(methods))]
    if not asked:
        raise InvalidParameter(f"no method was given; known: {', '.join(METHODS)}.")
    wanted = {*asked, *(["exact-bound"] if "exact" in asked else [])}
    return tuple(name for name in METHODS if name in wanted)


def play(game: Game, name: str) -> Row:
    """The method's row; its failure, or the clock's word that it came too late, is a row too.

    Foreign exceptions are not caught: they would be bugs, and a row is no place to hide one.
    """
    title, side, player = METHODS[name]
    late = None if SHARED.get(name) in vars(game) else too_late(game, name)
    if late is not None:
        return failed(title, side, late, 0.0)
    begin = perf_counter()
    try:
        if name in SDPS and not game.force:
            refuse_large_sdp(game.pencil.n)  # before CVXPY is loaded and λmin(B) computed, which take seconds
        return player(game)
    except DCGEVError as error:
        return failed(title, side, f"failed: {error}", perf_counter() - begin)


def too_late(game: Game, name: str) -> str | None:
    """Why a method is not begun, or None: the time is over, or its share too short for one without a clock."""
    if game.rest < 0.0:
        return "not run: the time limit was reached"
    n, part = game.pencil.n, game.rest if name.startswith("exact") else 0.5 * game.rest
    unclocked = n > UNTIMED_FROM and (name != "solve" or game.pencil.B is not None)
    seconds = UNTIMED.get(name, 0.0) * n**3 if unclocked else 0.0
    if seconds <= part:
        return None
    return f"left out: n = {n} takes about {seconds:.2g} s and {part:.2g} s are left for it; raise the time limit"


def failed(method: str, side: Any, words: str, seconds: float) -> Row:
    """The row of a method that gave no number."""
    return Row(method, side, math.nan, words, False, seconds=seconds)


def lower_row(game: Game, found: Solution, words: str) -> Row:
    """A vector's row; more than k nonzeros make it no lower value.

    A vector with more than k nonzeros proves nothing about k and is shown as invalid; one with fewer is valid.
    """
    valid = found.k <= game.k
    return Row(
        method=found.method,
        side="lower",
        value=value(game.pencil, np.asarray(found.x)),
        status=words if valid else f"has {found.k} nonzeros, more than {game.k}: no lower value. {words}",
        valid=valid,
        cardinality=found.k,
        support=tuple(game.pencil.name(i) for i in found.support),
        seconds=found.seconds,
    )


def upper_row(game: Game, method: str, relaxed: Relaxation, words: str) -> Row:
    """A relaxation's row: the proved bound, never the solver's value.

    A relaxation that bounds another k only (`valid_k` < k) is shown as invalid.
    """
    valid = relaxed.valid_k >= game.k
    words = f"{words}; {relaxed.solver}: {relaxed.status}, worst DIMACS error {relaxed.dimacs.worst:.0e}"
    return Row(method, "upper", relaxed.upper_bound, words, valid, seconds=relaxed.seconds)


def finished(pencil: Pencil, k: int, rows: Sequence[Row], seconds: float) -> Comparison:
    """The comparison with each row's percentage of λmax(A, B) and its gap to the best of the other side.

    gap is relative to the bound: for a lower row, how far it may be from the optimum at most; for an upper row, how
    far it is above the best vector. NaN where a side is missing.
    """
    draft = Comparison(pencil, k, tuple(rows), seconds)
    top, best, upper = pencil.lambda_max, draft.best_lower, draft.best_upper

    def completed(row: Row) -> Row:
        percent = 100.0 * row.value / top if top > 0.0 else math.nan
        whole = upper if row.side == "lower" else row.value
        part = abs(upper - row.value) if row.side == "lower" else abs(row.value - best)
        meaningful = row.valid and math.isfinite(upper) and math.isfinite(best)
        gap = 0.0 if part == 0.0 else part / abs(whole) if whole != 0.0 else math.nan
        return replace(row, percent=percent, gap=gap if meaningful else math.nan)

    return Comparison(pencil, k, tuple(completed(row) for row in rows), seconds)
