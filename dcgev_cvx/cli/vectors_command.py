"""`dcgev vectors`: test vectors as JSON files: write them, judge answers to them.

A vector is a problem in JSON with its certified answer and the tolerance that an answer is judged by, for solvers in
any language; the JSON Schema is written beside them. An answer file maps the id of a vector to an answer.

Usage:

    dcgev vectors export DIR --level step
    dcgev vectors check DIR answers.json --junit report.xml
    dcgev vectors package dcgev-vectors
"""

import argparse
from collections import Counter
from typing import Any

from .._numerics.output_files import output_file, output_folder, write_file
from .._numerics.text_tables import table
from .console import SHOWN, add_command, add_json, overwrite, print_json, show, tiny
from .verify_command import LEVEL_NAMES, tolerance


def add(subparsers: Any) -> None:
    """Register `vectors export`, `vectors check` and `vectors package`."""
    parser = add_command(subparsers, "vectors", run_check, __doc__)
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    export = actions.add_parser("export", help="write one file per group of vectors, and the JSON Schema")
    export.add_argument("folder", metavar="DIR")
    export.add_argument("--level", choices=(*LEVEL_NAMES, "all"), default="all", help="default: all levels")
    export.add_argument("--seed", type=int, default=0, help="the first seed (default: 0)")
    export.add_argument("--seeds", type=int, default=1, metavar="N", help="number of seeds (default: 1)")
    export.add_argument("--full", action="store_true", help="all cases, not the quick selection")
    export.add_argument("--tol", help="the tolerance written into the vectors (default: standard)")
    export.set_defaults(run=run_export)
    check = actions.add_parser("check", help="judge an answer file; exit code 1 unless every vector passes")
    check.add_argument("folder", metavar="DIR")
    check.add_argument("answers", metavar="ANSWERS.json")
    check.add_argument("--junit", metavar="FILE", help="also write the verdicts as JUnit XML")
    add_json(check)
    package = actions.add_parser("package", help="write the data package dcgev-vectors, to install or to copy")
    package.add_argument("folder", metavar="DIR")
    package.set_defaults(run=run_package)


def run_export(args: argparse.Namespace) -> int:
    """Write the vectors of one level, or of all, into a folder."""
    from ..verify import vector_files as vectors

    folder = output_folder("DIR", args.folder)
    settings: Any = {"seed": args.seed, "seeds": args.seeds, "effort": "full" if args.full else "quick"}
    total = 0
    for level in LEVEL_NAMES if args.level == "all" else (args.level,):
        overwrite(f"{level}: choosing cases and certifying their answers …")
        counts = vectors.export(folder, level, tol=tolerance(args.tol), **settings)
        overwrite("")
        total += sum(counts.values())
        for group, count in counts.items():
            print(f"  {level}-{group}.json: {count} vectors")
    print(f"{total} vectors written to {folder}, set {vectors.set_hash(vectors.read_vectors(folder))}")
    return 0


def run_package(args: argparse.Namespace) -> int:
    """Write the small vectors of all levels as a Python package."""
    from ..verify import vector_files as vectors

    folder = output_folder("DIR", args.folder)
    overwrite("choosing cases and certifying their answers …")
    count, name = vectors.write_package(folder)
    overwrite("")
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    print(f"{count} vectors written to {folder} as the package dcgev-vectors, set {name}, {size / 1e6:.1f} MB")
    return 0


def run_check(args: argparse.Namespace) -> int:
    """Judge every vector; one without an answer is blocked, and the exit code is 0 only if all passed."""
    from .._numerics.checks import as_path
    from ..verify import vector_files as vectors
    from ..verify.solver_report import junit_xml

    page = None if args.junit is None else output_file("--junit", args.junit)
    answers, answered = vectors.read_answers(as_path(args.answers, "ANSWERS.json"))
    verdicts = vectors.judge_answers(as_path(args.folder, "DIR"), answers, answered)
    counts = Counter(verdict.status for verdict in verdicts)
    ok = counts["passed"] == len(verdicts)
    if page is not None:
        notes = [j.note or f"{j.equation}: {j.violation:.3g}, allowed {j.limit:.3g}" for j in verdicts]
        tests = [(j.id, j.status, note) for j, note in zip(verdicts, notes, strict=True)]
        write_file(page, junit_xml("test vectors", tests))
    if args.json:
        print_json("vectors check", {"ok": ok, "counts": dict(counts), "verdicts": [vars(j) for j in verdicts]})
    else:
        print_verdicts(verdicts, counts, ok)
    return 0 if ok else 1


def print_verdicts(verdicts: list[Any], counts: Counter[str], ok: bool) -> None:
    """The first failures, the counts by group, and the verdict."""
    failed = [verdict for verdict in verdicts if verdict.status == "failed"]
    rows = [(j.id, j.group, j.equation, tiny(j.violation), tiny(j.limit)) for j in failed[:SHOWN]]
    if rows:
        show(table(("vector", "group", "equation", "violation", "allowed"), rows, words=(0, 1, 2)), "")
    groups = Counter((j.group, j.status) for j in verdicts)
    names = sorted({group for group, _ in groups})
    lines = [(name, *(str(groups[name, status]) for status in ("passed", "failed", "blocked"))) for name in names]
    show(table(("group", "passed", "failed", "blocked"), lines))
    words = f"{counts['passed']} passed, {counts['failed']} failed, {counts['blocked']} blocked (no answer)"
    print(f"{'PASSED' if ok else 'FAILED'}: {len(verdicts)} vectors: {words}")
