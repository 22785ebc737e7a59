"""The experiments by name, and one call that runs some of them and reports on all that are complete."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from .. import __version__
from .._numerics.checks import as_path, as_whole, expect, listed, one_of, shown
from ..errors import DataUnavailable, InvalidParameter
from . import figure1, figure2, figure3, table1, table2, tables34
from . import retrieval_study as retrieval
from . import vocabulary_study as vocabulary
from .base import Effort, Experiment, Section
from .cells import Cell, Settings, Store, checked_folder
from .report import Report, versions, write
from .runner import Crew, Results, Watch, run

EXPERIMENTS: Mapping[str, Experiment] = MappingProxyType(
    {
        module.EXPERIMENT.name: module.EXPERIMENT
        for module in (table1, figure1, figure2, figure3, table2, tables34, retrieval, vocabulary)
    }
)
GENERATED = ("manpages", "planted")
"""What stands for data without being a file."""
ALIASES: Mapping[str, str] = MappingProxyType({"table3": "tables34", "table4": "tables34", "figure4": "tables34"})


def named(names: Sequence[str]) -> list[Experiment]:
    """The experiments of a list of names, each once; "all" is every one. Unknown names get the nearest.

    Tables 3 and 4 and Figure 4 are one experiment, under any of their names.

    Examples
    --------
    >>> from dcgev_cvx.reproduction.registry import named
    >>> [experiment.name for experiment in named(["table4", "table1", "table3"])]
    ['tables34', 'table1']
    """
    found: dict[str, Experiment] = {}
    for name in listed(names):
        known = one_of(name, "experiment", (*EXPERIMENTS, *ALIASES, "all"))
        for real in EXPERIMENTS if known == "all" else (ALIASES.get(known, known),):
            found[real] = EXPERIMENTS[real]
    if not found:
        raise InvalidParameter(f"no experiment was named: choose from {', '.join(EXPERIMENTS)}, or all.")
    return list(found.values())


def settings_of(experiment: Experiment, effort: Effort, seed: int, data: Settings | None = None) -> Settings:
    """What identifies a run: the experiment's own settings, the user's data, the seed and this package's version.

    The package's version is part of it, since another version may give other numbers.
    """
    one_of(effort, "effort", experiment.settings)
    own = experiment.settings[effort]
    given = {name: value for name, value in (data or {}).items() if name in own}
    return {**own, **given, "effort": effort, "seed": seed, "version": __version__}


def reproduce(
    names: Sequence[str] = ("all",),
    out: Path | str = "reproduction",
    *,
    effort: Effort = "quick",
    seed: int = 0,
    data: Settings | None = None,
    crew: Crew | None = None,
    watch: Watch | None = None,
) -> Report:
    """Run experiments into a folder and write the report on every experiment that is complete there.

    data names the user's own: {"corpus": …} for table5, {"songs": …} for figure6.

    Cells that are on disk already are read, not computed. A folder that holds the same
    experiment from other settings is refused before anything is computed.

    Parameters
    ----------
    names
        Experiments, aliases or "all".
    out
        Created if need be; tried for writing first.
    effort
        "tiny", "quick" or "full".
    seed
        Of the random matrices, ≥ 0.
    crew, watch
        As in `runner.run`.

    Returns
    -------
    Report
        Also written to the folder. Experiments that are complete there from earlier runs are part of it.

    Raises
    ------
    InvalidParameter
        For unknown names or efforts, a folder that cannot be written, or one with results of other settings.
    """
    chosen = named(names)
    seed = as_whole(seed, "seed", low=0, high=10**18)
    refuse_strays(data, chosen)
    expect(Crew() if crew is None else crew, Crew, "crew", "see experiments.runner.Crew")
    if watch is not None and not all(callable(getattr(watch, name, None)) for name in ("begun", "done", "said")):
        raise InvalidParameter(f"watch = {shown(watch)} must have the functions begun, done and said, or be None.")
    folder = checked_folder(as_path(out, "out"))
    for experiment in chosen:
        settings = settings_of(experiment, effort, seed, data)
        Store.of(folder, experiment.name, settings).prepare(settings)
    sections = {e.name: run_section(e, settings_of(e, effort, seed, data), folder, crew, watch) for e in chosen}
    for experiment in EXPERIMENTS.values():
        if experiment.name not in sections:
            kept = complete(experiment, settings_of(experiment, effort, seed, data), folder)
            if kept is not None:
                sections[experiment.name] = kept
    ordered = tuple(sections[name] for name in EXPERIMENTS if name in sections)
    command = f"dcgev reproduce {'all' if len(ordered) == len(EXPERIMENTS) else ' '.join(s.name for s in ordered)}"
    options = "".join(f" --{name} {value}" for name, value in (data or {}).items())
    report = Report(ordered, f"{command} --{effort} --seed {seed}{options}", versions())
    write(report, folder)
    return report


def refuse_strays(data: Settings | None, chosen: Sequence[Experiment]) -> None:
    """Data that no chosen experiment uses, or that are not there, are a mistake to hear of before the work."""
    given = {} if data is None else expect(data, Mapping, "data", "such as {'corpus': 'corpus.npz'}")
    for name, value in given.items():
        if not any(name in settings for experiment in chosen for settings in experiment.settings.values()):
            raise InvalidParameter(f"{name} has no meaning with {', '.join(e.name for e in chosen)}.")
        if value not in GENERATED and not as_path(value, name).exists():
            raise DataUnavailable(f"{name} {value} does not exist; {' and '.join(GENERATED)} need no file.")


def run_section(
    experiment: Experiment, settings: Settings, folder: Path, crew: Crew | None, watch: Watch | None
) -> Section:
    """Run one experiment and say what its results come to, also when some are missing."""
    results = run(experiment, settings, folder, crew, watch)
    return section_of(experiment, settings, results)


def section_of(experiment: Experiment, settings: Settings, results: Results) -> Section:
    """The section, or an empty one with the reasons when cells that it needs are missing.

    Where results are missing and the section cannot be made without them, an empty one says why; without missing
    results an exception is a bug and is raised.
    """
    missing = tuple(dict.fromkeys(results.failures.values()))
    try:
        section = experiment.section(settings, results.cells)
    except (LookupError, ArithmeticError, ValueError):
        if not missing:
            raise
        section = Section(experiment.name, experiment.title, "")
    return replace(section, missing=missing)


def complete(experiment: Experiment, settings: Settings, folder: Path) -> Section | None:
    """The section of an experiment whose cells are all on disk."""
    store = Store.of(folder, experiment.name, settings)
    cells: list[Cell] = experiment.cells(settings)
    loaded = {cell.key: store.load(cell) for cell in cells}
    if not all(entry.found for entry in loaded.values()):
        return None
    return experiment.section(settings, {key: entry.result for key, entry in loaded.items()})
