"""The kit on trial: how many of the deliberately wrong solvers it catches, how many right ones it accuses."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

from dcgev_cvx import verify

from .report import Measure, at_least, at_most

RIGHT_SEEDS = 20
"""Seeds on which the right solvers are tried; the slow ones through CVXPY get a quarter of them."""


def run(repeats: int) -> Iterator[Measure]:
    """Wrong solvers at both efforts, right ones over the seeds; every miss is printed by name."""
    catalogue = solvers()
    for effort, share in (("quick", 95.0), ("full", 100.0)):
        yield from caught(catalogue.WRONG, effort, share)
    yield from passed(catalogue.RIGHT)


def solvers() -> Any:
    """The catalogue of the tests."""
    folder = str(Path(__file__).parents[1] / "tests")
    if folder not in sys.path:
        sys.path.insert(0, folder)
    import wrong_solvers  # pyright: ignore[reportMissingImports]

    return wrong_solvers


def caught(entries: Any, effort: Any, share: float) -> Iterator[Measure]:
    """The share of wrong solvers that fail, and the longest trial."""
    missed: list[str] = []
    longest, slowest, levels = 0.0, "", Counter[str]()
    for entry in entries:
        begin = perf_counter()
        report = verify.check(entry.make(), entry.level, effort=effort)
        seconds = perf_counter() - begin
        levels[entry.level] += 1
        if report.ok:
            missed.append(f"{entry.level}: {entry.name}")
        if seconds > longest:
            longest, slowest = seconds, f"{entry.level}: {entry.name}"
        print(f"  {effort:<5} {entry.level:<11} {entry.name:<50} {first_failure(report)}", flush=True)
    total = len(entries)
    detail = ", ".join(f"{level} {count}" for level, count in levels.items())
    detail += f"; missed: {'; '.join(missed)}" if missed else "; none missed"
    yield at_least(f"wrong solvers caught, {effort}", 100.0 * (total - len(missed)) / total, "%", share, detail)
    yield Measure(f"longest trial, {effort}", longest, "s", detail=slowest)


def first_failure(report: verify.Report) -> str:
    """The verdict on one solver in a few words."""
    if report.ok:
        return "MISSED"
    names = [outcome.name for outcome in report.failed]
    return f"caught by {', '.join(names[:3])}{f' and {len(names) - 3} more' if len(names) > 3 else ''}"


def passed(entries: Any) -> Iterator[Measure]:
    """The number of right solvers accused over the seeds."""
    accused: list[str] = []
    trials = 0
    for entry in entries:
        slow = "CVXPY" in entry.name or entry.level == "algorithm"
        seeds = RIGHT_SEEDS // 4 if slow else RIGHT_SEEDS
        failures = [seed for seed in range(seeds) if not passes(entry, seed)]
        trials += seeds
        accused += [f"{entry.level}: {entry.name} (seed {seed})" for seed in failures]
        verdict = f"accused at seeds {failures}" if failures else f"passed for {seeds} seeds"
        print(f"  right {entry.level:<11} {entry.name:<50} {verdict}", flush=True)
    detail = f"{len(entries)} right solvers, {trials} trials" + (f"; {'; '.join(accused)}" if accused else "")
    yield at_most("right solvers accused", float(len(accused)), "", 0.0, detail)


def passes(entry: Any, seed: int) -> bool:
    """Does a right solver pass at a seed?"""
    return verify.check(entry.make(), entry.level, seed=seed, tol=entry.tol).ok
