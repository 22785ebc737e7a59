"""`dcgev vectors`: write test vectors as JSON, and judge a file of answers to them.

Usage:

    dcgev vectors export vectors --level step --quick
    dcgev vectors check vectors answers.json

A vector is a problem in JSON with its certified answer and the tolerance it is judged by; the JSON Schema is
written beside them. An answer file maps a vector's id to an answer. Vectors without an answer are "blocked", and
check's exit code is 0 only if all passed.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections import Counter
from typing import Any

from .verify import LEVEL_NAMES, tolerance

SHOWN = 20
"""Failures beyond this number are left to --json."""


def add(subparsers: Any) -> None:
    """Register `vectors export` and `vectors check`."""
    parser = subparsers.add_parser(
        "vectors",
        help="test vectors as JSON files: write them, judge answers to them",
        description="Test vectors with certified answers, for solvers in any language.",
        epilog="Examples: dcgev vectors export vectors --level step   dcgev vectors check vectors answers.json",
    )
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    export = actions.add_parser("export", help="write one file per group of vectors, and the JSON Schema")
    export.add_argument("folder", metavar="DIR")
    export.add_argument("--level", choices=(*LEVEL_NAMES, "all"), default="all", help="default: all levels")
    export.add_argument("--seed", type=int, default=0, help="the first seed (default: 0)")
    export.add_argument("--seeds", type=int, default=1, metavar="N", help="so many seeds (default: 1)")
    export.add_argument("--quick", action="store_true", help="the quick selection")
    export.add_argument("--tol", help="the tolerance written into the vectors (default: standard)")
    export.set_defaults(run=run_export)
    check = actions.add_parser("check", help="judge an answer file; exit code 1 unless every vector passes")
    check.add_argument("folder", metavar="DIR")
    check.add_argument("answers", metavar="ANSWERS.json")
    check.add_argument("--json", action="store_true", help="print JSON and nothing else")
    check.set_defaults(run=run_check)


def run_export(args: argparse.Namespace) -> int:
    """Write the vectors and say how many there are of what.

    Levels are written one after the other into the same folder, with the schema beside them.
    """
    from ..verify import vectors
    from .cardinality import made_folder

    folder = made_folder(args.folder, "DIR")
    levels = LEVEL_NAMES if args.level == "all" else (args.level,)
    total = 0
    for level in levels:
        say(f"{level}: choosing cases and certifying their answers …")
        counts = vectors.export(
            folder,
            level,
            seed=args.seed,
            seeds=args.seeds,
            effort="quick" if args.quick else "full",
            tol=tolerance(args.tol),
        )
        say("")
        total += sum(counts.values())
        for group, count in counts.items():
            print(f"  {level}-{group}.json: {count} vectors, catches {vectors.GROUPS[group][1]}")
    print(f"{total} vectors written to {folder}")
    return 0


def say(text: str) -> None:
    """What is being done, on a terminal only; overwritten by what comes next."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def run_check(args: argparse.Namespace) -> int:
    """Judge every vector; a vector without an answer is blocked and does not pass.

    Exit code 1 also when answers are missing: an implementation is not right by saying nothing.
    """
    from .._numerics.checks import as_path
    from ..verify import vectors

    answers = vectors.read_answers(as_path(args.answers, "ANSWERS.json"))
    verdicts = vectors.judge_answers(as_path(args.folder, "DIR"), answers)
    counts = Counter(verdict.status for verdict in verdicts)
    ok = counts["passed"] == len(verdicts)
    if args.json:
        rows = [
            {k: v if not isinstance(v, float) or math.isfinite(v) else None for k, v in vars(j).items()}
            for j in verdicts
        ]
        print(json.dumps({"command": "vectors check", "ok": ok, "counts": counts, "verdicts": rows}, indent=2))
    else:
        show(verdicts, counts, ok)
    return 0 if ok else 1


def show(verdicts: list[Any], counts: Counter[str], ok: bool) -> None:
    """The failures, then the count by group, then the verdict."""
    from . import tables

    failed = [verdict for verdict in verdicts if verdict.status == "failed"]
    rows = [(j.id, j.group, j.equation, tables.tiny(j.violation), tables.tiny(j.limit)) for j in failed[:SHOWN]]
    if rows:
        tables.show(tables.table(("vector", "group", "equation", "violation", "allowed"), rows, words=3))
    groups = Counter((j.group, j.status) for j in verdicts)
    names = sorted({group for group, _ in groups})
    table = [(name, *(str(groups[name, status]) for status in ("passed", "failed", "blocked"))) for name in names]
    tables.show(tables.table(("group", "passed", "failed", "blocked"), table))
    print(
        f"{'PASSED' if ok else 'FAILED'}: {len(verdicts)} vectors: {counts['passed']} passed, "
        f"{counts['failed']} failed, {counts['blocked']} blocked (no answer)"
    )
