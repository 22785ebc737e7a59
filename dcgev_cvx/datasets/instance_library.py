"""The library of instances: problems with a proved optimum, and open ones with the gap that is left.

An instance is a pencil and a k, one number or one for each view. Its record in `library_records.json` holds the best
support known, its value, a proved upper bound, and who found them when. Records are closed where value and bound
agree to 1e-9. The pencils are made by recipes, come with scikit-learn, or are downloaded when they are first used.

>>> from dcgev_cvx import datasets
>>> library = datasets.library()
>>> instance = library["pitprops-k6"]
>>> instance.pencil.n, instance.record.status, round(instance.record.value, 4)
(13, 'closed', 3.771)
>>> library.only(names=["pitprops-k6"]).score(lambda pencil, k: range(k)).rows[0].verdict
'worse'
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import cache, lru_cache
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import Any, Literal, TypeAlias

import numpy as np

from .._numerics.checks import Index, is_whole, listed, one_of, shown
from ..budgets import Budget
from ..certificates import on_support, value
from ..errors import DataUnavailable, InvalidParameter, MissingPackage, nearest
from ..pencils import Pencil
from .fetched import cache_folder
from .library_sources import CountOrCounts, Source, pencil_sources

ScoredSolver: TypeAlias = Callable[[Pencil, CountOrCounts], Any]
"""What is scored: from a pencil and k to a support, a vector, or an object with a support or an x."""
ScoreVerdict: TypeAlias = Literal["optimal", "best known", "better than known", "worse", "invalid"]
CLOSED_GAP = 1e-9
"""Values that agree to this share are equal, and a record with such a gap is closed."""


@dataclass(frozen=True)
class Record:
    """What is known of an instance.

    Parameters
    ----------
    id : str
        The first 16 digits of the SHA-256 of A, B and k (`instance_id`).
    name : str
        The pencil and k, such as "pol-halves-k5+5".
    family : str
        "pca", "cca", "fda", "indefinite", "ill-conditioned" or "ties".
    origin : str
        Where the pencil comes from.
    licence : str
        Its licence; the record itself holds facts.
    n : int
        The number of variables.
    k : int or tuple of int
        The cardinality, or one for each view.
    condition : float
        The condition number of B to two digits, 1 for B = I.
    support : tuple of int
        The best support known, positions counted from 0.
    value : float
        Its value xᵀAx/xᵀBx.
    bound : float
        A proved upper bound.
    proof : str
        How the bound was proved, and with how many nodes; `dcgev library prove NAME` makes it again.
    machine : str
        On what it was proved.
    seconds : float
        For how long.
    date : str
        When, as year-month-day.
    by : str
        By whom.
    """

    id: str
    name: str
    family: str
    origin: str
    licence: str
    n: int
    k: CountOrCounts
    condition: float
    support: tuple[int, ...]
    value: float
    bound: float
    proof: str
    machine: str
    seconds: float
    date: str
    by: str

    @property
    def gap(self) -> float:
        """(bound − value)/|value|, the share that might still be gained."""
        return relative(self.bound - self.value, self.value)

    @property
    def status(self) -> Literal["closed", "open"]:
        """Is the value proved optimal?"""
        return "closed" if self.gap <= CLOSED_GAP else "open"

    def to_dict(self) -> dict[str, Any]:
        """The record as it stands in the JSON file, with its status."""
        return asdict(self) | {"status": self.status}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Record:
        """A record of the JSON file."""
        known = {field.name: data[field.name] for field in fields(cls)}
        known |= {name: tuple(part) for name, part in known.items() if isinstance(part, list)}
        return cls(**known)


@dataclass(frozen=True)
class LibraryInstance:
    """A pencil of the library and a k, with what is known of it."""

    source: Source
    k: CountOrCounts
    record: Record | None = None

    @property
    def name(self) -> str:
        """The name of the pencil and k."""
        return f"{self.source.name}-k{counted(self.k)}"

    @property
    def pencil(self) -> Pencil:
        """The pencil, made or read when it is first used; DataUnavailable or MissingPackage where it cannot be."""
        pencil = built_pencil(self.source.name)
        if self.record is not None and instance_id(pencil, self.k) != self.record.id:
            raise DataUnavailable(
                f"{self.name}: the matrices made here have other bits than those of the record {self.record.id}; "
                "please report this with the versions of Python and NumPy."
            )
        return pencil

    @property
    def missing(self) -> str:
        """What keeps the instance from being made without a network, "" for nothing."""
        return missing_of(self.source.needs)


class Library(Sequence[LibraryInstance]):
    """Instances by position or name, with what is known of each."""

    def __init__(self, instances: Iterable[LibraryInstance]) -> None:
        self.instances = tuple(instances)

    def __len__(self) -> int:
        return len(self.instances)

    def __iter__(self) -> Iterator[LibraryInstance]:
        return iter(self.instances)

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, str):
            names = {instance.name: instance for instance in self}
            if at not in names:
                close = nearest(at, names)
                hint = close if close.startswith("did") else "`dcgev library list` shows the names"
                raise InvalidParameter(f"instance = {shown(at)} is unknown; {hint}")
            return names[at]
        return Library(self.instances[at]) if isinstance(at, slice) else self.instances[at]

    def __repr__(self) -> str:
        return f"Library({len(self)} instances of {len({one.source.name for one in self})} pencils)"

    def __str__(self) -> str:
        known = [one.record for one in self if one.record is not None]
        closed = sum(record.status == "closed" for record in known)
        return f"{self!r}: {closed} closed, {len(known) - closed} open"

    def only(
        self,
        *,
        family: str | None = None,
        status: Literal["closed", "open"] | None = None,
        names: Iterable[str] | None = None,
        offline: bool = False,
    ) -> Library:
        """The instances of a family, a status or a list of names; with offline=True those that need no download."""
        if family is not None:
            one_of(family, "family", sorted({one.source.family for one in self}))
        if status is not None:
            one_of(status, "status", ("closed", "open"))
        chosen = self if names is None else [self[name] for name in names]
        return Library(
            one
            for one in chosen
            if (family is None or one.source.family == family)
            and (status is None or (one.record is not None and one.record.status == status))
            and not (offline and one.missing)
        )

    def score(self, solver: ScoredSolver, *, progress: Callable[[ScoreRow], object] | None = None) -> Score:
        """Run a solver on every instance and compare the value of its support, computed here, with the record.

        Parameters
        ----------
        solver : callable
            Called as solver(pencil, k), k an int or a tuple with one number for each view. It returns the positions of
            a support, a vector of length n, or an object that has `support` or `x`, such as a Solution.
        progress : callable, optional
            Called with every row as it is found.

        Returns
        -------
        Score
            A row for each instance; those whose matrices cannot be had are listed in `skipped`.
        """
        rows, skipped, unreachable = list[ScoreRow](), dict[str, str](), set[str]()
        for one in self:
            if one.record is None:
                continue
            try:
                if one.source.needs in unreachable:
                    raise DataUnavailable(f"{one.source.needs} could not be downloaded")
                pencil = one.pencil
            except (DataUnavailable, MissingPackage) as reason:
                skipped[one.name] = str(reason)
                unreachable.add(one.source.needs)
                continue
            rows.append(scored(one.record, pencil, solver))
            if progress is not None:
                progress(rows[-1])
        return Score(tuple(rows), skipped)


@dataclass(frozen=True)
class ScoreRow:
    """What a solver found for one instance.

    Parameters
    ----------
    record : Record
        What was known.
    support : tuple of int
        What the solver returned.
    value : float
        Its value, computed from the matrices; NaN for an answer that is invalid.
    seconds : float
        The time of the call.
    verdict : str
        "optimal" for the proved optimum, "best known", "better than known", "worse" or "invalid".
    note : str
        Why an answer is invalid, or what to do with one that is better.
    """

    record: Record
    support: tuple[int, ...]
    value: float
    seconds: float
    verdict: ScoreVerdict
    note: str = ""

    @property
    def gap(self) -> float:
        """How far the value is below the best known one, as a share of it; negative where it is better."""
        return relative(self.record.value - self.value, self.record.value)


@dataclass(frozen=True)
class Score:
    """How a solver did on the library."""

    rows: tuple[ScoreRow, ...]
    skipped: dict[str, str]

    @property
    def better(self) -> tuple[ScoreRow, ...]:
        """Supports that are better than any known."""
        return tuple(row for row in self.rows if row.verdict == "better than known")

    def summary(self) -> list[tuple[str, int, float, float, float, float]]:
        """For each family and for all: instances, share of best values, mean and worst gap, mean seconds."""
        families = sorted({row.record.family for row in self.rows})
        groups = [(family, [row for row in self.rows if row.record.family == family]) for family in families]
        return [(name, *summary_of(rows)) for name, rows in [*groups, ("all", list(self.rows))] if rows]

    def submission(self) -> list[dict[str, Any]]:
        """The supports that are better than any known, as `dcgev library check` reads them."""
        return [{"name": row.record.name, "support": list(row.support)} for row in self.better]

    def __str__(self) -> str:
        head = f"{'family':<16}{'instances':>10}{'best':>8}{'mean gap':>11}{'worst gap':>11}{'seconds':>9}"
        lines = [
            f"{name:<16}{count:>10}{100.0 * share:>6.0f} %{gap_text(mean):>11}{gap_text(worst):>11}{seconds:>9.2f}"
            for name, count, share, mean, worst, seconds in self.summary()
        ]
        told = [f"{row.record.name}: {row.verdict}, {row.note}" for row in self.rows if row.note]
        left = [f"{name} was skipped: {reason}" for name, reason in list(self.skipped.items())[:3]]
        more = [f"… and {len(self.skipped) - 3} more"] if len(self.skipped) > 3 else []
        return "\n".join([head, *lines, *told, *left, *more])


def library() -> Library:
    """The library of instances: problems with a proved optimum, and open ones.

    Returns
    -------
    Library
        Every instance with its record. No matrix is made or downloaded before it is used.

    Examples
    --------
    >>> from dcgev_cvx import datasets
    >>> library = datasets.library()
    >>> len(library) >= 150, len(library.only(status="open")) >= 20
    (True, True)
    """
    records = {record.name: record for record in read_records()}
    return Library(
        LibraryInstance(source, k, records.get(f"{source.name}-k{counted(k)}"))
        for source in catalogue().values()
        for k in source.ks
    )


def instance_id(pencil: Pencil, k: CountOrCounts) -> str:
    """The first 16 digits of the SHA-256 of n, k, A and B, as little-endian doubles row by row."""
    digest = hashlib.sha256(f"{pencil.n} {counted(k)}\n".encode())
    for matrix in (pencil.dense()[0], pencil.B):
        digest.update(b"" if matrix is None else np.ascontiguousarray(matrix, dtype="<f8").tobytes())
    return digest.hexdigest()[:16]


def counted(k: CountOrCounts) -> str:
    """k as text: "10" or "5+5"."""
    return "+".join(map(str, k)) if isinstance(k, tuple) else str(k)


def read_records(path: Path | None = None) -> list[Record]:
    """The records of a file, or those of the package."""
    text = (
        (files("dcgev_cvx.datasets") / "library_records.json").read_text(encoding="utf-8")
        if path is None
        else path.read_text(encoding="utf-8")
    )
    try:
        return [Record.from_dict(data) for data in json.loads(text)]
    except (ValueError, KeyError, TypeError) as cause:
        raise DataUnavailable(f"{path or 'library_records.json'} holds no records of the library: {cause!r}") from cause


def records_text(records: Iterable[Record]) -> str:
    """Records as JSON, one on a line, in the order of the catalogue."""
    order = {name: i for i, name in enumerate(catalogue())}
    ranked = sorted(records, key=lambda record: order.get(record.name.rpartition("-k")[0], len(order)))
    return "[\n" + ",\n".join(json.dumps(record.to_dict(), ensure_ascii=False) for record in ranked) + "\n]\n"


def merged(old: Record, new: Record) -> Record:
    """The better value and the better bound of two records of an instance; the rest is of the one that changed."""
    if new.value <= old.value * (1.0 + math.copysign(1e-12, old.value)) and new.bound >= old.bound:
        return old
    best = new if new.value > old.value else old
    return replace(new, support=best.support, value=best.value, bound=min(old.bound, new.bound))


@cache
def catalogue() -> dict[str, Source]:
    """The pencils by name."""
    return {source.name: source for source in pencil_sources()}


@lru_cache(maxsize=2)  # the largest take 32 MB
def built_pencil(name: str) -> Pencil:
    """A pencil of the catalogue."""
    return catalogue()[name].build()


def missing_of(needs: str) -> str:
    """What is not here of what a source needs: a package, or a file that is not in the cache."""
    suffix = needs.rpartition(".")[2]
    packages = {
        "scikit-learn": ["sklearn"],
        "jld": ["pooch", "h5py"],
        "rda": ["pooch", "rdata"],
        "RData": ["pooch", "rdata"],
    }
    for package in packages.get(suffix, ["pooch"] if needs else []):
        if find_spec(package) is None:
            return f"the package {package}"
    if not needs or needs == "scikit-learn" or (cache_folder() / needs).exists():
        return ""
    return f"the file {needs}"


def scored(record: Record, pencil: Pencil, solver: ScoredSolver) -> ScoreRow:
    """One call of a solver, judged."""
    begin = perf_counter()
    try:
        answer = solver(pencil, record.k)
    except Exception as problem:  # whatever a solver raises is its answer
        said = f"{type(problem).__name__}: {problem}".splitlines()[0]
        return ScoreRow(record, (), math.nan, perf_counter() - begin, "invalid", said)
    seconds = perf_counter() - begin
    try:
        support = support_of(answer, pencil, record.k)
    except InvalidParameter as reason:
        return ScoreRow(record, (), math.nan, seconds, "invalid", str(reason))
    found = value(pencil, on_support(pencil, support))
    verdict, note = verdict_on(record, found)
    return ScoreRow(record, tuple(support.tolist()), found, seconds, verdict, note)


def support_of(answer: Any, pencil: Pencil, k: CountOrCounts) -> Index:
    """The support of an answer, which must keep to the budget."""
    given = getattr(answer, "support", getattr(answer, "x", answer))
    entries = listed(given)
    if len(entries) == pencil.n and not all(map(is_whole, entries)):
        entries = np.flatnonzero(np.asarray(given, dtype=np.float64)).tolist()
    budget = Budget.of(pencil, k)
    inside = bool(entries) and all(is_whole(i) and 0 <= i < pencil.n for i in entries)
    if not inside or not budget.admits(entries):
        raise InvalidParameter(
            f"the answer {shown(given)} is no support: return at most {budget} different positions from 0 to "
            f"{pencil.n - 1}, or a vector of length {pencil.n} with at most so many nonzeros"
        )
    return np.sort(np.array(entries, dtype=np.intp))


def verdict_on(record: Record, found: float) -> tuple[ScoreVerdict, str]:
    """The verdict on a value, and what to do where it is better than any known."""
    room = CLOSED_GAP * max(abs(record.value), abs(found))
    if found > record.bound + room:
        return "invalid", f"{found:.12g} exceeds the proved bound {record.bound:.12g}: please report this, one is wrong"
    if found < record.value - room:
        return "worse", ""
    if record.status == "closed":
        return "optimal", ""
    if found <= record.value + room:
        return "best known", ""
    return "better than known", f"{found:.12g} after {record.value:.12g}: send the support, see docs/library.md"


def summary_of(rows: Sequence[ScoreRow]) -> tuple[int, float, float, float, float]:
    """Instances, share of best values, mean and worst gap of the valid answers, mean seconds."""
    best = sum(row.verdict in ("optimal", "best known", "better than known") for row in rows)
    gaps = [max(0.0, row.gap) for row in rows if row.verdict != "invalid"] or [math.nan]
    seconds = float(np.mean([row.seconds for row in rows]))
    return len(rows), best / len(rows), float(np.mean(gaps)), max(gaps), seconds


def relative(difference: float, size: float) -> float:
    """A difference as a share of a value; 0 where both are 0."""
    return difference / abs(size) if size != 0.0 else (0.0 if difference == 0.0 else math.inf)


def gap_text(share: float) -> str:
    """A share in per cent, "0" where it is within rounding."""
    return "–" if math.isnan(share) else "0" if share <= CLOSED_GAP else f"{100.0 * share:.2g} %"
