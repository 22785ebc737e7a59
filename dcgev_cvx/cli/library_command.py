"""`dcgev library`: problems with certified optima, to score a solver on, or to close.

`list` shows the instances and what is known of them. `run` calls a solver, MODULE:FUNCTION or FILE.py:FUNCTION, as
function(pencil, k) on each and compares the value of the support that it returns with the record. `prove` searches an
instance again by branch and bound. `check` verifies better supports and proofs before they become records.

Usage:

    dcgev library list --status open
    dcgev library run dcgev_cvx:solve --family ties
    dcgev library run my_solver.py:solve --names pitprops-k6 --save new.json
    dcgev library run --published --page published-tables.md
    dcgev library prove noise-100-50-k10 --time-limit 600 --proof noise.proof
    dcgev library check better.json
"""

import argparse
import json
import platform
import sys
from contextlib import redirect_stdout
from dataclasses import asdict, replace
from datetime import date
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from .. import __version__, datasets
from .._numerics.checks import shown
from .._numerics.output_files import output_file, write_file
from .._numerics.text_tables import count, table
from ..budgets import Budget
from ..certificates import on_support, value
from ..datasets.instance_library import (
    Library,
    LibraryInstance,
    Record,
    ScoreRow,
    gap_text,
    instance_id,
    merged,
    read_records,
    records_text,
    support_of,
    verdict_on,
)
from ..datasets.published_results import published_names, published_page
from ..errors import DataUnavailable, InvalidParameter, MissingPackage
from ..exact import ExactSolution, best_subset
from ..pencils import Pencil
from . import console

SECONDS = 60.0
"""The time limit of a proof of a published instance."""


def add(subparsers: Any) -> None:
    """Register the command, its four actions and their options."""
    parser = console.add_command(subparsers, "library", run, __doc__)
    parser.add_argument("action", choices=("list", "run", "prove", "check"), help="what to do")
    parser.add_argument("target", metavar="TARGET", nargs="?", help="the solver, the instance, or the file to check")
    group = parser.add_argument_group("which instances (list, run, prove)")
    group.add_argument("--family", help="pca, cca, fda, indefinite, ill-conditioned or ties")
    group.add_argument("--status", choices=("closed", "open"), help="only these")
    group.add_argument("--names", help="names with commas")
    group.add_argument("--offline", action="store_true", help="only those that need no download")
    group = parser.add_argument_group("run, prove and check")
    group.add_argument("--published", action="store_true", help="prove the instances of published tables (run)")
    group.add_argument("--page", metavar="FILE", help="write the published tables beside ours (run --published)")
    group.add_argument("--save", metavar="FILE", help="write supports that are better than any known (run)")
    group.add_argument("--time-limit", type=float, help="seconds for each proof (prove: none, run --published: 60)")
    group.add_argument("--proof", metavar="FILE", help="write the proof (prove, one instance)")
    group.add_argument("--records", metavar="FILE", help="the records to read and to bring up to date (prove, check)")
    group.add_argument("--by", default="dcgev_cvx", help="the name that goes into new records (prove, check)")
    console.add_json(group)


def run(args: argparse.Namespace) -> int:
    """Do the action that was asked for."""
    library = datasets.library()
    chosen = library.only(
        family=args.family,
        status=args.status,
        names=None if args.names is None else args.names.split(","),
        offline=args.offline,
    )
    if args.action == "list":
        return list_instances(chosen, args)
    if args.action == "check":
        return check_submission(library, args)
    if args.action == "prove":
        return prove(chosen if args.target is None else Library([library[args.target]]), args)
    return published(library, args) if args.published else score_solver(chosen, args)


def list_instances(library: Library, args: argparse.Namespace) -> int:
    """What is known of each instance."""
    if args.json:
        records = [one.record.to_dict() for one in library if one.record is not None]
        console.print_json("library list", {"instances": records})
        return 0
    known = [one.record for one in library if one.record is not None]
    rows = [(one.name, str(one.n), f"{one.value:.6g}", gap_text(one.gap), one.family) for one in known]
    console.show(table(("instance", "n", "best value", "gap", "family"), rows, words=(0, 4)), "", str(library))
    absent = sorted({one.missing for one in library} - {""})
    if absent:
        console.show(console.wrapped(f"Not here yet: {', '.join(absent).replace('the file ', '')}."))
    return 0


def score_solver(library: Library, args: argparse.Namespace) -> int:
    """Run a solver on the instances; exit code 1 where an answer is invalid."""
    if args.target is None:
        raise InvalidParameter("run needs a solver, MODULE:FUNCTION or FILE.py:FUNCTION, such as dcgev_cvx:solve.")
    from ..verify.function_program import loaded

    solver, save = loaded(args.target), None if args.save is None else output_file("--save", args.save)

    def quiet(pencil: Pencil, k: Any) -> Any:
        with redirect_stdout(sys.stderr):  # stdout is for the table
            return solver(pencil, k)

    found = library.score(quiet, progress=lambda row: console.tell(f"{row.record.name}: {row.verdict}"))
    if save is not None and found.better:
        write_file(save, json.dumps(found.submission(), indent=1) + "\n")
        console.note(f"{count(len(found.better), 'better support')} written to {save}")
    if args.json:
        console.print_json("library run", {"rows": [row_of(row) for row in found.rows], "skipped": found.skipped})
    else:
        console.show(str(found))
    return int(any(row.verdict == "invalid" for row in found.rows))


def row_of(row: ScoreRow) -> dict[str, Any]:
    """A row for JSON."""
    known = {"name": row.record.name, "family": row.record.family, "n": row.record.n, "k": row.record.k}
    return {**known, **{name: part for name, part in asdict(row).items() if name != "record"}, "gap": row.gap}


def prove(library: Library, args: argparse.Namespace) -> int:
    """Search instances by branch and bound, one after the other; with --records the file is brought up to date."""
    if args.proof is not None and len(library) != 1:
        raise InvalidParameter(f"--proof writes the proof of one instance, but {len(library)} were chosen: name one.")
    proof = None if args.proof is None else output_file("--proof", args.proof)
    path = None if args.records is None else output_file("--records", args.records)
    known = {record.name: record for record in (read_records(path) if path is not None and path.exists() else [])}
    for one in library:
        try:
            found, result = searched(one, args.time_limit, args.by)
        except (DataUnavailable, MissingPackage) as reason:
            console.note(f"{one.name} was skipped: {reason}")
            continue
        best = merged(known[one.name], found) if one.name in known else found
        known[one.name] = best
        print(
            f"{one.name}: {found.status}, value {found.value:.10g}, bound {found.bound:.10g}, {found.seconds} s",
            flush=True,
        )
        if path is not None:
            write_file(path, records_text(known.values()))
        if proof is not None:
            result.proof.save(proof)
    return 0


def searched(one: LibraryInstance, time_limit: float | None, by: str) -> tuple[Record, ExactSolution]:
    """The record of a search, and its result."""
    pencil, source, begin = one.pencil, one.source, process_time()
    found = best_subset(pencil, one.k, time_limit=time_limit)
    seconds = process_time() - begin
    record = Record(
        id=instance_id(pencil, one.k),
        name=one.name,
        family=source.family,
        origin=source.origin,
        licence=source.licence,
        n=pencil.n,
        k=one.k,
        condition=1.0 if pencil.B is None else float(f"{np.linalg.cond(pencil.B):.2g}"),
        support=tuple(map(int, found.support)),
        value=float(found.value),
        bound=float(found.upper_bound),
        proof=f"branch and bound, {count(found.nodes, 'node')}",
        machine=cpu_model(),
        seconds=round(seconds, 2),
        date=date.today().isoformat(),
        by=by,
    )
    return record, found


def published(library: Library, args: argparse.Namespace) -> int:
    """Prove the instances of published tables and write them beside what was published."""
    page = None if args.page is None else output_file("--page", args.page)
    limit, found = SECONDS if args.time_limit is None else args.time_limit, list[Record]()
    for one in library.only(names=published_names()):
        try:
            found.append(searched(one, limit, args.by)[0])
        except (DataUnavailable, MissingPackage) as reason:
            console.note(f"{one.name} was skipped: {reason}")
            continue
        console.tell(f"{one.name}: {found[-1].status}")
    text = published_page(found, limit, f"dcgev_cvx {__version__}")
    if page is not None:
        write_file(page, text)
    if args.json:
        console.print_json("library run", {"published": [record.to_dict() for record in found]})
    else:
        print(text)
    return 0


def check_submission(library: Library, args: argparse.Namespace) -> int:
    """Compute the value of every submitted support, check every proof; exit code 1 where one does not hold."""
    if args.target is None:
        raise InvalidParameter('check needs a file such as [{"name": "noise-100-50-k10", "support": [1, 2, …]}].')
    path = None if args.records is None else output_file("--records", args.records)
    changed, wrong = list[Record](), 0
    for entry in submitted(Path(args.target)):
        try:
            one = library[entry.get("name")]
            record = improved_record(one, entry, Path(args.target).parent, args.by)
        except (InvalidParameter, DataUnavailable, MissingPackage) as reason:
            wrong += 1
            print(f"{shown(entry.get('name'))}: refused. {reason}")
            continue
        assert one.record is not None
        if record == one.record:
            print(f"{one.name}: nothing new, value {record.value:.12g} and bound {record.bound:.12g} are known")
            continue
        changed.append(record)
        print(
            f"{one.name}: value {one.record.value:.12g} → {record.value:.12g}, bound {one.record.bound:.12g} → "
            f"{record.bound:.12g}, {record.status}"
        )
    if path is not None and changed:
        records = {record.name: record for record in read_records(path if path.exists() else None)}
        write_file(path, records_text((records | {record.name: record for record in changed}).values()))
        print(f"{count(len(changed), 'record')} written to {path}")
    return int(wrong > 0)


def submitted(path: Path) -> list[dict[str, Any]]:
    """The entries of a submission: objects with a name, and a support or the file of a proof."""
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as cause:
        raise InvalidParameter(f"{path} cannot be read as JSON: {cause}") from cause
    if not isinstance(entries, list) or not all(isinstance(entry, dict) and "name" in entry for entry in entries):
        raise InvalidParameter(
            f'{path} must hold a list of objects such as {{"name": "paley-37-k6", "support": [0, 1]}}.'
        )
    return entries


def improved_record(one: LibraryInstance, entry: dict[str, Any], folder: Path, by: str) -> Record:
    """The record with what an entry adds to it; InvalidParameter where the entry does not hold."""
    record, pencil = one.record, one.pencil
    if record is None:
        raise InvalidParameter(f"{one.name} has no record yet: `dcgev library prove {one.name}` makes one.")
    news: dict[str, Any] = {"machine": cpu_model(), "date": date.today().isoformat(), "by": by, "seconds": 0.0}
    if "support" in entry:
        support = support_of(entry["support"], pencil, one.k)
        found = value(pencil, on_support(pencil, support))
        verdict, note = verdict_on(record, found)
        if verdict == "invalid":
            raise InvalidParameter(note)
        if verdict == "better than known":
            record = replace(record, support=tuple(support.tolist()), value=found, **news)
    if "proof" in entry:
        bound = bound_of(folder / str(entry["proof"]), pencil, one.k)
        if bound < record.bound:
            proof = f"proof file {entry['proof']}, checked"
            record = replace(record, bound=max(bound, record.value), proof=proof, **news)
    return record


def bound_of(path: Path, pencil: Pencil, k: Any) -> float:
    """The bound that a proof file proves for this pencil and k; InvalidParameter where it proves none."""
    from ..exact.check_proof import ProofFile

    budget, A, B = Budget.of(pencil, k), *pencil.dense()
    try:
        proof = ProofFile(str(path), {"A": A, "B": B}, False)
        proof.check()
    except Exception as reason:  # whatever cannot be read proves nothing
        raise InvalidParameter(f"{path}: {reason}") from reason
    if tuple(proof.counts) != budget.counts or not np.array_equal(proof.labels, budget.labels):
        raise InvalidParameter(f"{path} proves a bound for another k.")
    return float(proof.bound)


def cpu_model() -> str:
    """The processor's name where the system tells it, else its architecture."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    models = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.machine()
