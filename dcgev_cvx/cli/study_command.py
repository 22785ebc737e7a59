"""`dcgev study`: compare methods over many problems, in parallel and resumable.

Run methods on every instance at every k and print, per family and k: the share of optima found, the share of bounds
that are tight, the median and the worst gap, and the median time. PROBLEM is a family (spiked, cca, fda, conditioned,
gaussian, indefinite), library, a bundled name, a file with a matrix, or a folder of such files.

With --out every result is saved as soon as it is known: the same command continues a study that was stopped, and a
folder of another study is refused. In the end the folder holds rows.csv, table.csv and, where pandas, pyarrow and
Matplotlib are installed, rows.parquet and the pictures. Exit code 1 means that a cell could not be computed.

Usage:

    dcgev study spiked --n 20,40 --signal 0.5,1,2,4 -k 3,5 --out spiked-study
    dcgev study cca --set ridge=0.01,0.1 -k 3+3 --methods solve,exact --jobs 2
    dcgev study folder-of-matrices -k 2:6 --time-limit 60 --out results
    dcgev study library -k 5 --dask tcp://127.0.0.1:8786 --out library-study
"""

import argparse
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager, nullcontext
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import InvalidParameter, nearest
from . import console

if TYPE_CHECKING:
    from ..comparison import Study, StudyInstance


def add(subparsers: Any) -> None:
    """Register the command and its options."""
    parser = console.add_command(subparsers, "study", run, __doc__)
    option = parser.add_argument
    option("problems", nargs="+", metavar="PROBLEM", help="families, library, bundled names, files or folders")
    option("-k", required=True, metavar="K", help="6, a range 2:10, 2,4,6, or per view 5+5")
    option("--methods", metavar="M,M,…", help="names of methods of `dcgev compare` (an unknown one lists them)")
    family = parser.add_argument_group("families")
    family.add_argument("--n", metavar="N,N,…", help="numbers of variables (default 20)")
    family.add_argument("--signal", metavar="S,S,…", help="strengths of what is planted")
    family.add_argument("--set", action="append", default=[], metavar="NAME=V,V,…", help="any parameter of the family")
    family.add_argument("--seeds", default="10", metavar="N", help="their number, or a range 100:119 (default 10)")
    work = parser.add_argument_group("work")
    work.add_argument("--out", metavar="DIR", help="save every result here; continue what is there")
    work.add_argument("--jobs", type=int, default=1, metavar="N", help="processes, -1 for all cores (default 1)")
    work.add_argument("--dask", metavar="ADDRESS", help="compute on the workers of this Dask scheduler")
    work.add_argument("--backend", metavar="NAME", help="another joblib backend, such as ray")
    work.add_argument("--time-limit", type=float, metavar="S", help="seconds per instance and k")
    work.add_argument("--force", action="store_true", help="also run methods that are skipped because n is large")
    console.add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Run the study, write its files and print its table; 1 when a cell failed."""
    from ..comparison.study import STUDY_METHODS, study

    ks, instances = (
        list(console.cardinalities(args.k, "-k")),
        [each for name in args.problems for each in instances_by(name, args)],
    )
    methods = STUDY_METHODS if args.methods is None else [word.strip() for word in args.methods.split(",")]
    settings: Any = {name: getattr(args, name) for name in ("jobs", "dask", "backend", "time_limit", "force")}
    with study_progress() as progress:
        found = study(instances, ks, methods, folder=args.out, progress=progress, **settings)
    if args.out is not None:
        write_results(found, Path(args.out))
    if args.json:
        console.print_json("study", {"settings": found.settings, "table": found.table(), "rows": found.rows})
    else:
        console.show(str(found))
    return 1 if found.failed else 0


def instances_by(name: str, args: argparse.Namespace) -> "list[StudyInstance]":
    """The instances of one PROBLEM."""
    from ..comparison.families import FAMILIES, family, pencil_instance
    from .problem import BUNDLED, CsvOptions, read_data

    if name in FAMILIES:
        return family(name, seeds=seed_numbers(args.seeds), **family_values(args))
    if name == "library":
        return library_instances()
    path = Path(name)
    if name in BUNDLED or path.is_file():
        options = CsvOptions(None, None)
        return [pencil_instance(path.stem, read_data(name, options))]
    if not path.is_dir():
        hint = nearest(name, (*FAMILIES, "library", *BUNDLED))
        raise InvalidParameter(f"{name!r} is no family, bundled name, file or folder; {hint}")
    files = [file for file in sorted(path.iterdir()) if file.suffix.lower() in (".npy", ".npz", ".csv", ".mtx")]
    if not files:
        raise InvalidParameter(f"the folder {name} holds no .npy, .npz, .csv or .mtx file: name another.")
    group = path.resolve().name
    return [pencil_instance(file.stem, read_data(str(file), CsvOptions(None, None)), group) for file in files]


def library_instances() -> "list[StudyInstance]":
    """The pencils of the library of instances that can be made here, each once; a note tells how many cannot."""
    from .. import datasets
    from ..comparison.families import pencils_of

    every, here = pencils_of(datasets.library()), pencils_of(datasets.library().only(offline=True))
    if len(here) < len(every):
        console.note(f"{len(every) - len(here)} pencils of the library need a download or a package and are left out")
    return here


def family_values(args: argparse.Namespace) -> dict[str, list[Any]]:
    """The parameters of the families: --n, --signal and every --set."""
    pairs = [("n", args.n), ("signal", args.signal)]
    for text in args.set:
        name, equals, values = text.partition("=")
        if not equals:
            raise InvalidParameter(f"--set {text!r} must read NAME=V,V,…, such as ridge=0.01,0.1.")
        pairs.append((name.strip(), values))
    return {name: [plain_number(part) for part in text.split(",")] for name, text in pairs if text is not None}


def plain_number(text: str) -> int | float:
    """A whole number or a decimal."""
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        raise InvalidParameter(f"{text!r} must be a number, or numbers with commas between them.") from None


def seed_numbers(text: str) -> Any:
    """10 is a number of seeds, 100:119 and 3,5 are the seeds themselves."""
    try:
        if ":" in text:
            low, high = map(int, text.split(":"))
            return range(low, high + 1)
        return [int(part) for part in text.split(",")] if "," in text else int(text)
    except ValueError:
        raise InvalidParameter(f"--seeds {text!r} must be a number, a range 100:119, or 3,5.") from None


def write_results(found: "Study", folder: Path) -> None:
    """rows.csv and table.csv, and what the installed packages allow."""
    from .._numerics.canvas import new_figure
    from .._numerics.output_files import write_file
    from ..comparison.study_plots import PICTURES
    from ..comparison.study_tables import csv_of

    found.save(folder / "rows.csv")
    lines = found.table()
    write_file(folder / "table.csv", csv_of(list(lines[0]), lines))
    if find_spec("pandas") is not None and find_spec("pyarrow") is not None:
        found.save(folder / "rows.parquet")
    for kind in PICTURES if find_spec("matplotlib") is not None else ():
        figure = new_figure((7.5, 4.0), layout="constrained")
        try:
            found.plot(kind, figure.add_subplot())
        except InvalidParameter:  # no signal to draw over, or no optimum known
            continue
        write_file(folder / f"{kind}.png", console.image(figure, "png"))
    console.note(f"rows, table and pictures are written to {folder}.")


@contextmanager
def study_progress() -> Generator[Callable[[int, int, str], None]]:
    """A bar with the time left on a terminal; messages are lines on stderr."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    stderr = Console(stderr=True, markup=False, highlight=False)
    bar = Progress("cells", BarColumn(), MofNCompleteColumn(), "left", TimeRemainingColumn(), console=stderr)
    tasks: list[Any] = []

    def show(finished: int, total: int, message: str) -> None:
        if message:
            console.note(message)
        if not tasks:
            tasks.append(bar.add_task("", total=total, completed=finished))
        bar.update(tasks[0], completed=finished)

    with bar if sys.stderr.isatty() else nullcontext():
        yield show
