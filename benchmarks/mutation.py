"""How many deliberately wrong solvers the checks of `verify` detect, and how many right ones they reject.

python -m benchmarks mutation                       everything, on all cores
python -m benchmarks.mutation wrong quick step      one part: wrong or right, the effort, the levels
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from time import process_time
from typing import Any

from dcgev_cvx import verify

from .report import Measure, at_least, at_most, of_the_tests, show

RIGHT_SEEDS, SLOW_SEEDS = 20, 5
"""Seeds on which the right solvers are tried; those through CVXPY, and whole runs, get fewer."""
SHARES = {"quick": 95.0, "full": 100.0}
"""The share of wrong solvers that must be caught, by effort."""
LONGEST = {"quick": 20.0}
"""Seconds of CPU time that a trial may take, by effort; wall time would depend on the load of the machine."""


@dataclass(frozen=True)
class Verdict:
    """The result of one solver: the seeds at which it failed, the checks that failed first, CPU time.

    unjudged are the seeds at which no answer was wrong but a call did not return in time; a wrong solver is caught then
    too, since it does not pass.
    """

    level: str
    name: str
    failed: tuple[int, ...]
    trials: int
    checks: tuple[str, ...]
    seconds: float
    unjudged: tuple[int, ...] = ()

    @property
    def caught(self) -> str:
        """The first three checks that failed."""
        rest = len(self.checks) - 3
        return f"{', '.join(self.checks[:3])}{f' and {rest} more' if rest > 0 else ''}"


def run(repeats: int) -> Iterator[Measure]:
    """Wrong solvers at both efforts, right ones over the seeds; every miss is printed by name."""
    for effort in SHARES:
        yield from wrong_measures(effort, tuple(verify.LEVELS))
    yield from right_measures("quick", tuple(verify.LEVELS))


def solvers() -> Any:
    """The catalogue of the tests."""
    return of_the_tests("verify/wrong_solvers")


def trial(kind: str, index: int, effort: Any, seeds: Sequence[int]) -> Verdict:
    """One solver, given by its index in the catalogue, which can be passed to a worker process."""
    entry = getattr(solvers(), kind)[index]
    begin, failed, unjudged, checks = process_time(), list[int](), list[int](), tuple[str, ...]()
    for seed in seeds:
        report = verify.check(entry.make(), entry.level, seed=seed, effort=effort, tol=entry.tol)
        if not report.ok:
            (unjudged if kind == "RIGHT" and report.verdict == "not judged" else failed).append(seed)
            checks = checks or tuple(outcome.name for outcome in report.contract if not outcome.passed)
    used = process_time() - begin
    return Verdict(entry.level, entry.name, tuple(failed), len(seeds), checks, used, tuple(unjudged))


def trials(kind: str, effort: str, levels: Sequence[str]) -> Iterator[Verdict]:
    """Every solver of a kind at the levels, over all cores, in the order of the catalogue."""
    from joblib import Parallel, delayed

    entries = getattr(solvers(), kind)
    jobs = [
        delayed(trial)(kind, i, effort, range(seeds_of(e)) if kind == "RIGHT" else (0,))
        for i, e in enumerate(entries)
        if e.level in levels
    ]
    yield from Parallel(n_jobs=-1, return_as="generator")(jobs)  # pyright: ignore[reportReturnType]


def seeds_of(entry: Any) -> int:
    """On how many seeds a right solver is tried."""
    return SLOW_SEEDS if "CVXPY" in entry.name or entry.level == "algorithm" else RIGHT_SEEDS


def wrong_measures(effort: str, levels: Sequence[str]) -> Iterator[Measure]:
    """The share of wrong solvers that fail, and the longest trial."""
    found: list[Verdict] = []
    for verdict in trials("WRONG", effort, levels):
        outcome = f"caught by {verdict.caught}" if verdict.failed else "MISSED"
        print(f"  {effort:<5} {verdict.level:<11} {verdict.name:<50} {verdict.seconds:5.1f} s  {outcome}", flush=True)
        found.append(verdict)
    missed = [f"{v.level}: {v.name}" for v in found if not v.failed]
    detail = ", ".join(f"{level} {count}" for level, count in Counter(v.level for v in found).items())
    detail += f"; missed: {'; '.join(missed)}" if missed else "; none missed"
    share = 100.0 * (len(found) - len(missed)) / len(found)
    yield at_least(f"wrong solvers caught, {effort}", share, "%", SHARES[effort], detail)
    longest = max(found, key=lambda v: v.seconds)
    name, detail = f"longest trial, {effort}, CPU time", f"{longest.level}: {longest.name}"
    if effort in LONGEST:
        yield at_most(name, longest.seconds, "s", LONGEST[effort], detail)
    else:
        yield Measure(name, longest.seconds, "s", detail=detail)


def right_measures(effort: str, levels: Sequence[str]) -> Iterator[Measure]:
    """The number of right solvers accused over the seeds."""
    found: list[Verdict] = []
    for verdict in trials("RIGHT", effort, levels):
        accused = f"ACCUSED at seeds {list(verdict.failed)} by {verdict.caught}" if verdict.failed else "passed"
        accused += f", not judged at seeds {list(verdict.unjudged)}" if verdict.unjudged else ""
        print(f"  right {verdict.level:<11} {verdict.name:<50} {verdict.trials:>3} seeds  {accused}", flush=True)
        found.append(verdict)
    detail = f"{len(found)} right solvers, {sum(v.trials for v in found)} trials"
    detail += "".join(f"; {v.level}: {v.name} (seeds {list(v.failed)})" for v in found if v.failed)
    yield at_most("right solvers accused", float(sum(bool(v.failed) for v in found)), "", 0.0, detail)


def main() -> int:
    """Run one part of the section; the exit code is 1 if a target is missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mutation", description="One part of the section.")
    parser.add_argument("kind", choices=("wrong", "right"))
    parser.add_argument("effort", choices=tuple(SHARES), nargs="?", default="quick")
    parser.add_argument("levels", nargs="*", metavar="LEVEL", help=f"of: {', '.join(verify.LEVELS)} (default: all)")
    args = parser.parse_args()
    levels = tuple(args.levels) or tuple(verify.LEVELS)
    if unknown := set(levels) - set(verify.LEVELS):
        parser.error(f"unknown level {min(unknown)!r}")
    measures = list((right_measures if args.kind == "right" else wrong_measures)(args.effort, levels))
    show(f"mutation: {args.kind}, {args.effort}, {', '.join(levels)}", measures)
    return 1 if any(m.met is False for m in measures) else 0


if __name__ == "__main__":
    raise SystemExit(main())
