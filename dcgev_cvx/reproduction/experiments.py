"""The experiments by name, and `reproduce`, which runs some of them and reports on all that are complete."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from .. import __version__
from .._numerics.checks import as_path, as_whole, listed, one_of
from .._numerics.extras import require
from .._numerics.output_files import output_folder
from ..errors import DataUnavailable, InvalidParameter
from . import figure1, figure2, figure3, figure6, table1, table2, table5, tables34
from .findings import Effort, Experiment, Section
from .report_writer import Report, versions, write
from .running import Progress, ResultFolder, Results, Settings, checked_jobs, run, silent

MODULES = (table1, figure1, figure2, figure3, table2, tables34, table5, figure6)
EXPERIMENTS: Mapping[str, Experiment] = MappingProxyType({m.EXPERIMENT.name: m.EXPERIMENT for m in MODULES})
"""Every experiment, in the order of the report."""


def reproduce(
    names: Sequence[str] = ("all",),
    out: Path | str = "reproduction",
    *,
    effort: Effort = "quick",
    seed: int = 0,
    data: Settings | None = None,
    jobs: int = 1,
    dask: str | None = None,
    progress: Progress = silent,
) -> Report:
    """Run experiments into a folder and write the report on every experiment that is complete there.

    Results that are on disk already are read, not computed.

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
    data : mapping, optional
        The user's data: {"corpus": …} for table5, {"songs": …} for figure6.
    jobs : int
        Number of processes, -1 for all cores.
    dask : str, optional
        Address of a Dask scheduler to use instead.
    progress : callable
        Called as progress(experiment, finished, total, message).

    Returns
    -------
    Report
        The report, which is also written to the folder. Experiments that earlier runs completed there are part of it.

    Raises
    ------
    InvalidParameter
        For an unknown name or effort, a folder that cannot be written, or one with results of other settings.
    MissingPackage
        Without Matplotlib. Results that need another missing package are reported as not computed.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from dcgev_cvx.reproduction import reproduce
    >>> with TemporaryDirectory() as folder:
    ...     report = reproduce(["table1"], folder, effort="tiny")
    >>> report.findings[0].ours
    '86.999 %'
    """
    require("matplotlib", "reproduce")  # for the figures: better to fail before the work than after it
    chosen = named(names)
    seed = as_whole(seed, "seed", low=0, high=10**18)
    jobs = checked_jobs(jobs, lambda line: progress(chosen[0].name, 0, 0, line))
    check_data(data or {}, chosen)
    settings = {name: settings_of(each, effort, seed, data or {}) for name, each in EXPERIMENTS.items()}
    out = output_folder("--out", out)
    folders = {name: ResultFolder.of(out, name, settings[name]) for name in EXPERIMENTS}
    for experiment in chosen:
        folders[experiment.name].prepare(settings[experiment.name])
    sections: dict[str, Section] = {}
    for name, experiment in EXPERIMENTS.items():
        if experiment in chosen:
            tasks = experiment.tasks(settings[name])
            found = run(name, tasks, folders[name], jobs=jobs, dask=dask, progress=progress)
            sections[name] = section_of(experiment, settings[name], found)
        elif kept := complete(experiment, settings[name], folders[name]):
            sections[name] = kept
    command = f"dcgev reproduce {'all' if len(sections) == len(EXPERIMENTS) else ' '.join(sections)}"
    options = "".join(f" --{name} {value}" for name, value in (data or {}).items())
    report = Report(tuple(sections.values()), f"{command} --{effort} --seed {seed}{options}", versions())
    write(report, out)
    return report


def named(names: Sequence[str]) -> list[Experiment]:
    """The experiments of a list of names, each once; "all" is every one.

    Examples
    --------
    >>> from dcgev_cvx.reproduction.experiments import named
    >>> [experiment.name for experiment in named(["table4", "table1", "table3"])]
    ['tables34', 'table1']
    """
    other_names: dict[str, str] = dict.fromkeys(("table3", "table4", "figure4"), "tables34")
    found: dict[str, Experiment] = {}
    for name in listed(names):
        known = one_of(name, "experiment", (*EXPERIMENTS, *other_names, "all"))
        for real in EXPERIMENTS if known == "all" else (other_names.get(known, known),):
            found[real] = EXPERIMENTS[real]
    if not found:
        raise InvalidParameter(f"no experiment was named: choose from {', '.join(EXPERIMENTS)}, or all.")
    return list(found.values())


def settings_of(experiment: Experiment, effort: Effort, seed: int, data: Settings) -> Settings:
    """What identifies a run: the experiment's settings, the user's data, the seed and the package's version."""
    one_of(effort, "effort", experiment.settings)
    chosen = experiment.settings[effort]
    given = {name: value for name, value in data.items() if name in chosen}
    return {**chosen, **given, "effort": effort, "seed": seed, "version": __version__}


def check_data(data: Settings, chosen: Sequence[Experiment]) -> None:
    """Raise for data that no chosen experiment uses, and for files that do not exist."""
    for name, value in data.items():
        if not any(name in settings for experiment in chosen for settings in experiment.settings.values()):
            raise InvalidParameter(f"{name} is not used by {', '.join(e.name for e in chosen)}: leave it out.")
        if value not in ("manpages", "planted") and not as_path(value, name).exists():
            raise DataUnavailable(f"{name} {value} does not exist; manpages and planted need no file.")


def section_of(experiment: Experiment, settings: Settings, found: Results) -> Section:
    """The section of an experiment, or an empty one with the reasons when results that it needs are missing."""
    missing = tuple(dict.fromkeys(found.failures.values()))
    try:
        section = experiment.section(settings, found.results)
    except (LookupError, ArithmeticError, ValueError):
        if not missing:  # then it is a bug
            raise
        section = Section(experiment.name, experiment.name, "")
    return replace(section, missing=missing)


def complete(experiment: Experiment, settings: Settings, folder: ResultFolder) -> Section | None:
    """The section of an experiment whose results are all on disk."""
    saved = {task.key: folder.load(task.key, task.arguments) for task in experiment.tasks(settings)}
    if not all(entry.found for entry in saved.values()):
        return None
    return experiment.section(settings, {key: entry.result for key, entry in saved.items()})
