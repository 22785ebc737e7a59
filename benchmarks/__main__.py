"""`python -m benchmarks [SECTION …] [--out DIR] [--repeats N]`.

Beside each measure stands the value on docs/benchmarks.md; FELL marks one that is worse by more than a fifth. Ratios
can be compared on any machine, seconds on the one that the page names.
"""

from __future__ import annotations

import argparse
import importlib
from pathlib import Path

from .report import STORED, Measure, Skipped, machine, page, show, store

SECTIONS = {
    "speed": "CVXPY overhead, small steps, the native engine, UNO, dccp",
    "scale": "large pencils and data: time against eigh and passes over the data",
    "dc": "d.c. programs written in CVXPY: descent, and dccp on its own problems",
    "quality": "solve(k) against exhaustive search and against peers",
    "few_samples": "the default ridge of DCCCA on new samples, against a small and a large one",
    "exact": "bounds as theorems, proofs of optimality",
    "ill_conditioned": "claims at cond(B) up to 1e14, checked in 60 digits",
    "mutation": "the verification kit: wrong solvers caught, right ones passed",
    "teaching": "the lab in a browser: first result, answer to a slider",
}
"""Section → what it measures; each is a module here with `run(repeats)` that yields measures."""


def main() -> int:
    """Run the sections asked for (all by default); exit code 1 when a target is missed."""
    args = arguments()
    about = machine()
    print(f"{about['cpu']}, {about['cores']} cores, {about['system']}, Python {about['python']}")
    print(", ".join(f"{name} {version}" for name, version in about["versions"].items()))
    missed = fallen = 0
    results: dict[str, list[Measure | Skipped]] = {}
    for section in args.sections or SECTIONS:
        measures = list(importlib.import_module(f".{section}", __package__).run(args.repeats))
        results[section] = measures
        fallen += show(section, measures, f"{section}: {SECTIONS[section]}")
        missed += sum(m.met is False for m in measures if isinstance(m, Measure))
        if args.out is not None:
            print(f"  written to {store(args.out, section, measures)}")
    if fallen:
        print(f"  {fallen} measures are worse than on {STORED.name} by more than a fifth (FELL)")
    if args.page is not None:
        command = " ".join(["python -m benchmarks", *args.sections])
        args.page.write_text(page(results, command), encoding="utf-8")
        print(f"  page written to {args.page}")
    return 1 if missed else 0


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Ratios, medians over repeats.")
    parser.add_argument("sections", nargs="*", metavar="SECTION", help=f"of: {', '.join(SECTIONS)} (default: all)")
    parser.add_argument("--out", type=Path, metavar="DIR", help="also write DIR/SECTION.json")
    parser.add_argument(
        "--page", type=Path, metavar="FILE", help="also write one Markdown page, e.g. docs/benchmarks.md"
    )
    parser.add_argument("--repeats", type=int, default=5, metavar="N", help="repeats per timing (default: 5)")
    args = parser.parse_args()
    unknown = [section for section in args.sections if section not in SECTIONS]
    if unknown:
        parser.error(f"unknown section {unknown[0]!r}; there are: {', '.join(SECTIONS)}")
    if args.repeats < 1:
        parser.error(f"--repeats {args.repeats} must be at least 1")
    return args


if __name__ == "__main__":
    raise SystemExit(main())
