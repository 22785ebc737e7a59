"""The experiments by name, and `reproduce`, which runs some of them and writes the report."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from .._numerics.checks import as_path, as_whole, listed, one_of
from .._numerics.extras import require
from .._numerics.output_files import output_folder
from ..errors import DataUnavailable, InvalidParameter
from . import figure1, figure2, figure6, table1, table5, tables34, times_by_size
from .report import Experiment, Report, Section, versions, write
from .running import Progress, Settings, checked_jobs, run, silent

EXPERIMENTS: Mapping[str, Experiment] = MappingProxyType(
    {
        "table1": table1.EXPERIMENT,
        "figure1": figure1.EXPERIMENT,
        "figure2": figure2.EXPERIMENT,
        "figure3": times_by_size.FIGURE3,
        "table2": times_by_size.TABLE2,
        "tables34": tables34.EXPERIMENT,
        "table5": table5.EXPERIMENT,
        "figure6": figure6.EXPERIMENT,
    }
)
"""Every experiment, in the order of the report."""

PACKAGES = ("joblib", "matplotlib", "pooch", "rdata", "sklearn", "stop_words")
"""What the extra `reproduce` installs."""


def reproduce(
    names: Sequence[str] = ("all",),
    out: Path | str = "reproduction",
    *,
    effort: Literal["tiny", "quick", "full"] = "quick",
    seed: int = 0,
    corpus: str | None = None,
    jobs: int = 1,
    progress: Progress = silent,
) -> Report:
    """Run experiments into a folder and write the report there.

    Results that are on disk already are read, not computed: those of each effort and seed have their own folder.

    Parameters
    ----------
    names : sequence of str
        "table1", "figure1", "figure2", "figure3", "table2", "tables34", "table5", "figure6", or "all".
    out : path
        The folder of the results; created if it does not exist.
    effort : {"tiny", "quick", "full"}
        Seconds, minutes, or the paper's sizes.
    seed : int
        Seed of the random matrices.
    corpus : str, optional
        The documents of table5: "planted", or an .npz file that `Corpus.save` wrote.
    jobs : int
        Number of processes, -1 for all cores.
    progress : callable
        Called as progress(experiment, finished, total, message).

    Returns
    -------
    Report
        The report, which is also written to the folder.

    Raises
    ------
    InvalidParameter
        For an unknown name or effort, or a folder that cannot be written.
    MissingPackage
        When a package of the extra `reproduce` is missing.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from dcgev_cvx.reproduction import reproduce
    >>> with TemporaryDirectory() as folder:
    ...     report = reproduce(["table1"], folder, effort="tiny")
    >>> report.findings[0].ours
    '86.999 %'
    """
    for package in PACKAGES:
        if find_spec(package) is None:
            require(package, "reproduce")  # raises: better before the work than after it
    chosen = named(names)
    one_of(effort, "effort", ("tiny", "quick", "full"))
    seed = as_whole(seed, "seed", low=0, high=10**18)
    jobs = checked_jobs(jobs, lambda line: progress(chosen[0], 0, 0, line))
    settings: dict[str, Settings] = {name: {**getattr(EXPERIMENTS[name], effort), "seed": seed} for name in chosen}
    if corpus is not None:
        if "table5" not in chosen:
            raise InvalidParameter(f"corpus is not used by {', '.join(chosen)}: leave it out.")
        if corpus != "planted" and not as_path(corpus, "corpus").exists():
            raise DataUnavailable(f"corpus {corpus} does not exist; planted needs no file.")
        settings["table5"] = {**settings["table5"], "corpus": corpus}
    folder = output_folder("--out", out)
    sections: list[Section] = []
    for name in chosen:
        tasks, results = EXPERIMENTS[name].tasks(settings[name]), folder / "results" / f"{effort}-{seed}" / name
        found = run(name, tasks, results, jobs=jobs, progress=progress)
        sections.append(section_of(name, settings[name], *found))
    what = "all" if len(chosen) == len(EXPERIMENTS) else " ".join(chosen)
    option = "" if corpus is None else f" --corpus {Path(corpus).name}"
    report = Report(sections, f"dcgev reproduce {what} --{effort} --seed {seed}{option}", versions())
    write(report, folder)
    return report


def named(names: Sequence[str]) -> list[str]:
    """The experiments of a list of names, each once, in the order of the report; "all" is every one.

    Examples
    --------
    >>> from dcgev_cvx.reproduction.experiments import named
    >>> named(["table4", "table1", "table3"])
    ['table1', 'tables34']
    """
    other_names: dict[str, str] = dict.fromkeys(("table3", "table4", "figure4"), "tables34")
    asked = [one_of(name, "experiment", (*EXPERIMENTS, *other_names, "all")) for name in listed(names)]
    if not asked:
        raise InvalidParameter(f"no experiment was named: choose from {', '.join(EXPERIMENTS)}, or all.")
    wanted = {other_names.get(name, name) for name in asked}
    return [name for name in EXPERIMENTS if name in wanted or "all" in wanted]


def section_of(name: str, settings: Settings, results: Mapping[str, Any], failures: Mapping[str, str]) -> Section:
    """The section of an experiment, or an empty one with the reasons when results that it needs are missing."""
    experiment, missing = EXPERIMENTS[name], tuple(dict.fromkeys(failures.values()))
    try:
        section = experiment.section(settings, results)
    except (LookupError, ArithmeticError, ValueError):
        if not missing:  # then it is a bug
            raise
        section = Section("")
    return replace(section, name=name, title=experiment.title, missing=missing)
