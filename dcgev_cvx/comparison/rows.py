"""The result of a comparison: one row per method, the best of both sides, text, dictionaries and data frames."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

from .._numerics.extras import require
from .._numerics.text_tables import as_text, table
from ..budgets import Budget
from ..pencils import Pencil
from ..relaxations.bounds import Gap

Side: TypeAlias = Literal["lower", "upper"]
Counts: TypeAlias = int | tuple[int, ...]
"""A cardinality, or one for each view of the pencil."""


def counts_of(budget: Budget) -> Counts:
    """The numbers that the user gave for a budget."""
    return budget.counts[0] if len(budget.counts) == 1 else budget.counts


def counts_total(k: Counts) -> int:
    """The nonzeros in all views together."""
    return k if isinstance(k, int) else sum(k)


def counts_text(k: Counts) -> str:
    """As it is written on the command line: 6, or 5+5 for two views."""
    return str(k) if isinstance(k, int) else "+".join(map(str, k))


@dataclass(frozen=True)
class ComparisonRow:
    """What one method says of (SGEV-P) at k: a vector with its value (lower), or a proved bound (upper).

    Attributes
    ----------
    method, side : str
        The method's title, and "lower" or "upper".
    value : float
        xᵀAx/xᵀBx of the vector, or the bound; NaN without either.
    status : str
        How the method ended, in words.
    valid : bool
        False for a vector with more than k nonzeros, a bound that does not hold at this k, and a method that gave
        no number.
    ok : bool
        False where something went wrong; status then says what.
    cardinality, support
        The number of nonzeros of the vector and the names of its variables.
    stationarity, iterations
        The KKT residual of the d.c. program behind a vector, and the number of MM steps.
    seconds : float
        The time that the method took.
    percent : float
        100·value/λmax(A, B); NaN where λmax ≤ 0.
    gap : float
        The relative distance to the best of the other side.
    """

    method: str
    side: Side
    value: float = math.nan
    status: str = ""
    valid: bool = False
    cardinality: int | None = None
    support: tuple[str, ...] = ()
    stationarity: float = math.nan
    iterations: int | None = None
    seconds: float = math.nan
    percent: float = math.nan
    gap: float = math.nan
    ok: bool = True

    def cells(self) -> dict[str, str]:
        """The columns of the table by their titles: a value that does not count is in brackets."""
        value = finite_text(self.value, "#.6g")
        return {
            "method": self.method,
            "value": value if self.valid or not value else f"({value})",
            "% λmax": finite_text(self.percent, ".2f"),
            "k": "" if self.cardinality is None else str(self.cardinality),
            "gap %": finite_text(100.0 * self.gap, ".2f"),
            "KKT": "0" if self.stationarity == 0.0 else finite_text(self.stationarity, ".0e"),
            "steps": "" if self.iterations is None else str(self.iterations),
            "s": finite_text(self.seconds, ".2f"),
        }


@dataclass(frozen=True)
class Comparison:
    """All rows for one k; the optimum lies between best_lower, which is attained, and best_upper, which is proved.

    Parameters
    ----------
    pencil : Pencil
        The pencil (A, B).
    k : int or tuple of int
        The cardinality, or one for each view.
    rows : tuple of ComparisonRow
        One row per method, in the order of `METHODS`.
    seconds : float
        The time of all methods together.

    Examples
    --------
    >>> from dcgev_cvx import compare, datasets
    >>> found = compare(datasets.pitprops(), 3, ["greedy", "no-sdp"])
    >>> round(found.best_lower, 4), round(found.best_upper, 4), found.gap.closed
    (2.4753, 2.602, False)
    """

    pencil: Pencil
    k: Counts
    rows: tuple[ComparisonRow, ...]
    seconds: float

    @property
    def lower(self) -> tuple[ComparisonRow, ...]:
        """The methods that look for a vector."""
        return tuple(row for row in self.rows if row.side == "lower")

    @property
    def upper(self) -> tuple[ComparisonRow, ...]:
        """The methods that look for a bound."""
        return tuple(row for row in self.rows if row.side == "upper")

    @property
    def best_lower(self) -> float:
        """The largest value attained with at most k nonzeros, −inf if there is none."""
        return max((row.value for row in self.lower if row.valid), default=-math.inf)

    @property
    def best_upper(self) -> float:
        """The smallest valid bound, +inf if there is none."""
        return min((row.value for row in self.upper if row.valid), default=math.inf)

    @property
    def gap(self) -> Gap:
        """The interval that holds the optimum of (SGEV-P); infinite when one side is empty."""
        return Gap(self.best_lower, self.best_upper)

    @property
    def verdict(self) -> str:
        """The interval in words; "proved" is said only when it is closed to 1e-9."""
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
        return f"k = {counts_text(self.k)}: {words}"

    @property
    def best_support(self) -> tuple[str, ...]:
        """The variables of the best vector, by name."""
        return next((row.support for row in self.lower if row.valid and row.value == self.best_lower), ())

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, strings and lists, for JSON; NaN and infinities become None."""
        return {
            "n": self.pencil.n,
            "k": json_entry(self.k),
            "lambda_max": json_entry(self.pencil.lambda_max),
            "best_lower": json_entry(self.best_lower),
            "best_upper": json_entry(self.best_upper),
            "gap": json_entry(self.gap.relative),
            "proved": self.gap.closed,
            "seconds": self.seconds,
            "rows": [{name: json_entry(entry) for name, entry in asdict(row).items()} for row in self.rows],
        }

    def to_frame(self) -> Any:
        """The rows as a pandas DataFrame with k in a column, so that several frames can be concatenated."""
        return require("pandas", "pandas").DataFrame(
            [asdict(row) | {"k": counts_text(self.k) if isinstance(self.k, tuple) else self.k} for row in self.rows]
        )

    def plot(self, ax: Any = None) -> Any:
        """Draw the values found, the bounds and the interval between them; returns the Matplotlib Axes."""
        from .interval_plot import comparison_plot

        return comparison_plot([self], ax)

    def __str__(self) -> str:
        found = side_table("vectors found", self.lower, ("value", "% λmax", "k", "gap %", "KKT", "steps", "s"))
        proved = side_table("bounds proved", self.upper, ("value", "% λmax", "gap %", "s"))
        support = [f"best support: {', '.join(self.best_support)}"] if self.best_support else []
        return as_text(found, "", proved, f"\n{self.verdict} ({self.seconds:.1f} s)", *support)


def side_table(title: str, rows: Sequence[ComparisonRow], columns: Sequence[str]) -> Any:
    """The table of one side."""
    cells = [row.cells() for row in rows]
    return table((title, *columns), [(row["method"], *(row[name] for name in columns)) for row in cells])


class ComparisonInterrupted(KeyboardInterrupt):
    """Ctrl-C while `compare` was at work; `comparison` holds the rows that were finished.

    Examples
    --------
    >>> from dcgev_cvx import compare, datasets
    >>> from dcgev_cvx.comparison import ComparisonInterrupted
    >>> try:
    ...     found = compare(datasets.pitprops(), 3, ["greedy", "no-sdp"])
    ... except ComparisonInterrupted as stop:
    ...     found = stop.comparison
    >>> len(found.rows)
    2
    """

    def __init__(self, comparison: Comparison) -> None:
        super().__init__(
            f"at k = {counts_text(comparison.k)}: the rows that were finished are in the exception's comparison"
        )
        self.comparison = comparison

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.comparison,)


def finite_text(value: float, form: str) -> str:
    """The number as text, or nothing where it is not finite."""
    return format(value, form) if math.isfinite(value) else ""


def json_entry(entry: Any) -> Any:
    """An entry for JSON, which has neither tuples nor NaN and infinities."""
    if isinstance(entry, float) and not math.isfinite(entry):
        return None
    return list(entry) if isinstance(entry, tuple) else entry
