"""The record of a comparison: one row a method, the best of both sides, tables and dictionaries."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

from .._numerics.checks import expect, listed, shown
from ..errors import InvalidParameter, SolverMissing
from ..pencils import Pencil
from ..relaxations.bounds import Gap

Side: TypeAlias = Literal["lower", "upper"]


@dataclass(frozen=True)
class Row:
    """What one method says of (SGEV-P) at k.

    A lower row is a vector with its value, an upper row a proved bound. valid is False for a vector with
    more than k nonzeros, for a bound that does not hold at this k, and for a method that failed.

    percent is 100·value/λmax(A, B), NaN where λmax ≤ 0; gap is relative, against the best of the other side;
    stationarity is the residual of the d.c. program behind a vector, NaN for methods without one; support holds
    names.
    """

    method: str
    side: Side
    value: float
    status: str
    valid: bool
    cardinality: int | None = None
    support: tuple[str, ...] = ()
    stationarity: float = math.nan
    iterations: int | None = None
    seconds: float = 0.0
    percent: float = math.nan
    gap: float = math.nan


@dataclass(frozen=True)
class Comparison:
    """All rows for one k. best_lower is attained, best_upper proved: the optimum lies between them.

    rows keep the order in which the methods played. `print` shows both tables, `to_frame` is for pandas, `to_dict`
    for JSON.
    """

    pencil: Pencil
    k: int
    rows: tuple[Row, ...]
    seconds: float

    @property
    def lower(self) -> tuple[Row, ...]:
        """The methods that found a vector."""
        return tuple(row for row in self.rows if row.side == "lower")

    @property
    def upper(self) -> tuple[Row, ...]:
        """The methods that proved a bound."""
        return tuple(row for row in self.rows if row.side == "upper")

    @property
    def best_lower(self) -> float:
        """The largest value attained with at most k nonzeros, −inf if there is none.

        Invalid rows do not count, however large their value: they answer another question.
        """
        return max((row.value for row in self.lower if row.valid), default=-math.inf)

    @property
    def best_upper(self) -> float:
        """The smallest valid bound, +inf if there is none."""
        return min((row.value for row in self.upper if row.valid), default=math.inf)

    @property
    def gap(self) -> Gap:
        """The interval that holds the optimum of (SGEV-P).

        Infinite when one side is empty.
        """
        return Gap(self.best_lower, self.best_upper)

    @property
    def verdict(self) -> str:
        """The interval in words.

        "proved" is said only when the interval is closed to 1e-9; an end that is missing is named, not printed.
        """
        found, bounded = math.isfinite(self.best_lower), math.isfinite(self.best_upper)
        if self.gap.closed:
            words = f"the optimum is {self.best_lower:.6g}, proved"
        elif found and bounded:
            words = f"the optimum lies in {self.gap}"
        elif found:
            words = f"the optimum is at least {self.best_lower:.6g}; no bound was proved"
        elif bounded:
            words = f"the optimum is at most {self.best_upper:.6g}; no vector was found"
        else:
            words = "nothing is known of the optimum: no method gave a number"
        return f"k = {self.k}: {words}"

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, strings and lists; NaN and infinities become None.

        "proved" is the closed gap; "rows" hold every field of Row by name.
        """
        return {
            "n": self.pencil.n,
            "k": self.k,
            "lambda_max": plain(self.pencil.lambda_max),
            "best_lower": plain(self.best_lower),
            "best_upper": plain(self.best_upper),
            "gap": plain(self.gap.relative),
            "proved": self.gap.closed,
            "seconds": self.seconds,
            "rows": [{name: plain(entry) for name, entry in asdict(row).items()} for row in self.rows],
        }

    def to_frame(self) -> Any:
        """The rows as a pandas DataFrame.

        One line a row with k in a column, so that the frames of several k can be concatenated. Raises SolverMissing
        without pandas.
        """
        try:
            import pandas as pd
        except ImportError as cause:
            raise SolverMissing("to_frame needs pandas: pip install pandas. to_dict needs nothing.") from cause
        return pd.DataFrame([asdict(row) | {"k": self.k} for row in self.rows])

    def plot(self, ax: Any = None) -> Any:
        """The interval picture on the given Axes (or new ones); returns the Axes.

        Lower values are drawn below, upper bounds above, and the optimum lies between; needs matplotlib.
        """
        from ..plotting import comparison_plot

        return comparison_plot([self], ax)

    def __str__(self) -> str:
        lines = [f"{self.verdict}   (n = {self.pencil.n}, {self.seconds:.1f} s)"]
        for title, rows in (("lower: vectors found", self.lower), ("upper: bounds proved", self.upper)):
            cells = [CELLS, *(cells_of(row) for row in rows)]
            widths = [max(len(line[j]) for line in cells) for j in range(len(CELLS) - 1)]
            lines.append(f"  {title}")
            lines += ["    " + aligned(line, widths) for line in cells]
        return "\n".join(lines)


def checked_comparisons(comparisons: Any) -> list[Comparison]:
    """Comparisons of one pencil, at least one: a page or a picture states n and λmax(A, B) once, for all of them."""
    found = [expect(given, Comparison, "each of comparisons", "see compare") for given in listed(comparisons)]
    if not found:
        raise InvalidParameter(f"comparisons = {shown(comparisons)} must list what compare returned.")
    facts = [(given.pencil.n, given.pencil.lambda_max) for given in found]
    other = next((fact for fact in facts if fact != facts[0]), None)
    if other is not None:
        first, second = (f"n = {n}, λmax(A,B) = {top:.6g}" for n, top in (facts[0], other))
        raise InvalidParameter(f"comparisons must be of one pencil, got {first} and {second}: one page for each.")
    return found


class Interrupted(KeyboardInterrupt):
    """Ctrl-C while `compare` was at work; `comparison` holds what was finished, so that nothing computed is lost.

    Examples
    --------
    >>> from dcgev_cvx import compare, datasets
    >>> from dcgev_cvx.comparison import Interrupted
    >>> try:
    ...     found = compare(datasets.pitprops(), 3, ["greedy", "no-sdp"])
    ... except Interrupted as stop:
    ...     found = stop.comparison
    >>> len(found.rows)
    2
    """

    def __init__(self, comparison: Comparison) -> None:
        super().__init__(f"at k = {comparison.k}: the rows that were finished are in the exception's comparison")
        self.comparison = comparison

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.comparison,)


CELLS = ("method", "value", "% λmax", "k", "gap %", "stationarity", "steps", "s", "status")


def cells_of(row: Row) -> tuple[str, ...]:
    """A row as text, empty where there is nothing to say.

    Columns are those of CELLS; numbers that are not finite become empty cells.
    """
    return (
        row.method,
        number(row.value, "{:.6f}" if 1e-3 <= abs(row.value) < 1e5 else "{:.6g}"),
        number(row.percent, "{:.2f}"),
        "" if row.cardinality is None else str(row.cardinality),
        number(100.0 * row.gap, "{:.2f}"),
        number(row.stationarity, "{:.0e}"),
        "" if row.iterations is None else str(row.iterations),
        f"{row.seconds:.2f}",
        row.status,
    )


def aligned(cells: Sequence[str], widths: Sequence[int]) -> str:
    """The method set left, numbers right, the status last and as long as it is."""
    first = cells[0].ljust(widths[0])
    numbers = [cell.rjust(width) for cell, width in zip(cells[1:-1], widths[1:], strict=True)]
    return "  ".join([first, *numbers, cells[-1]]).rstrip()


def number(value: float, form: str) -> str:
    """The number, or nothing when it is none."""
    return form.format(value) if math.isfinite(value) else ""


def plain(entry: Any) -> Any:
    """An entry for JSON.

    Tuples become lists, and NaN and infinities None, since JSON has neither.
    """
    if isinstance(entry, float) and not math.isfinite(entry):
        return None
    return list(entry) if isinstance(entry, tuple) else entry
