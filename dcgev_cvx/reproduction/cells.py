"""An experiment is a list of cells: pure functions of plain settings, each finished one on disk at once.

Layout: OUT/cells/NAME-HASH/KEY.json, one file a cell, where HASH is that of the settings. A file is written beside
its place, flushed and renamed, and carries a hash of question and answer: it is whole and belongs to its question,
or it is computed again. So a run can be stopped at any moment, and two runs with different settings cannot mix.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from ..errors import DataUnavailable, InvalidParameter

Settings: TypeAlias = Mapping[str, Any]
"""Plain numbers, strings and lists: what JSON can hold."""


@dataclass(frozen=True)
class Scratch:
    """A folder for the pieces of a long cell, found again after an interruption, and who is told how it goes on.

    For cells that take hours: their pieces are kept below the experiment's own folder.
    """

    folder: Path
    say: Callable[[str], None]


@dataclass(frozen=True)
class Cell:
    """work(**arguments) → JSON; the key names its file. A timed cell runs alone, whatever the number of workers.

    Parameters
    ----------
    key
        Its file's name: letters, digits, dashes; unique in the experiment.
    work, arguments
        A module-level function, so that workers can import it, and its keyword arguments in plain JSON types.
    timed
        Whether seconds are measured inside, so that nothing else may run at the same time.
    """

    key: str
    work: Callable[..., Any]
    arguments: Settings
    timed: bool = False
    scratch: bool = False
    """A long cell's work is also given a Scratch as `scratch`, in which it keeps its pieces; it must be timed."""

    def placed(self, scratch: Scratch) -> Cell:
        """The cell with its scratch bound to its work; key and arguments stay what they are."""
        return replace(self, work=partial(self.work, scratch=scratch)) if self.scratch else self

    def fingerprint(self, result: Any) -> str:
        """A hash of what was asked and what came out: a file that does not carry it is damaged.

        The arguments are part of it: a cell whose arguments changed is not served the old answer.
        """
        return digest({"key": self.key, "arguments": dict(self.arguments), "result": result})


@dataclass(frozen=True)
class Loaded:
    """What the disk knows of a cell: its result, or nothing; `damaged` when the file was there but wrong.

    Not found and damaged are different things to say to a user, and the same thing to do.
    """

    found: bool
    result: Any = None
    damaged: bool = False


@dataclass(frozen=True)
class Store:
    """The folder of one experiment at one choice of settings."""

    folder: Path

    @staticmethod
    def of(out: Path, name: str, settings: Settings) -> Store:
        """The store under OUT/cells, keyed by a hash of the settings; nothing is created yet."""
        return Store(out / "cells" / f"{name}-{digest(dict(settings))[:12]}")

    def prepare(self, settings: Settings) -> None:
        """Create the folder, and leave the settings in it for those who come with others.

        Raises InvalidParameter when OUT already holds the experiment with other settings, naming the differences.
        """
        refuse_others(self.folder, settings)
        write_atomically(self.folder / "settings.json", json.dumps(dict(settings), indent=2, sort_keys=True))

    def load(self, cell: Cell) -> Loaded:
        """The cell's result if its file is whole.

        Never raises: an unreadable, cut or altered file is damaged.
        """
        if self.path(cell).is_fifo():  # it would be waited for
            return Loaded(False, damaged=True)
        try:
            text = self.path(cell).read_text(encoding="utf-8")
        except FileNotFoundError:
            return Loaded(False)
        except (OSError, UnicodeDecodeError):
            return Loaded(False, damaged=True)
        try:
            content = json.loads(text)
            if content["check"] == cell.fingerprint(content["result"]):
                return Loaded(True, content["result"])
        except (ValueError, KeyError, TypeError):
            pass
        return Loaded(False, damaged=True)

    def save(self, cell: Cell, result: Any) -> None:
        """Write the result so that the file is either whole or not there, also when the power fails."""
        content = {"key": cell.key, "arguments": dict(cell.arguments), "result": result}
        content["check"] = cell.fingerprint(result)
        write_atomically(self.path(cell), json.dumps(content, indent=1))

    def path(self, cell: Cell) -> Path:
        """The cell's file."""
        return self.folder / f"{cell.key}.json"


def digest(content: Any) -> str:
    """The sha256 of the canonical JSON of plain content.

    Keys are sorted and blanks left out, so that equal content has an equal hash; floats are written so that they
    read back to the same bits.
    """
    return hashlib.sha256(json.dumps(content, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def write_atomically(path: Path, content: str | bytes) -> None:
    """Write beside, flush to the disk, then rename: a kill at any moment leaves the old file or the new one.

    The rename is atomic on one file system, hence the file beside. The folder is made if need be. Raises
    DataUnavailable when the disk is full.
    """
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with beside.open("wb") as handle:
            handle.write(content.encode() if isinstance(content, str) else content)
            handle.flush()
            os.fsync(handle.fileno())
        beside.replace(path)
    except OSError as cause:
        beside.unlink(missing_ok=True)
        raise DataUnavailable(
            f"{path} could not be written ({cause.strerror or cause}): finished cells are intact. "
            "Make room and run the same command again, it goes on from here."
        ) from cause


def refuse_others(folder: Path, settings: Settings) -> None:
    """An error with the differences when the same experiment lies beside with other settings."""
    name = folder.name.rpartition("-")[0]
    for other in sorted(folder.parent.glob(f"{name}-*/settings.json")):
        if other.parent == folder:
            continue
        try:
            theirs = json.loads(other.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            theirs = {}
        raise InvalidParameter(
            f"{folder.parent.parent} holds {name} from other settings: {differences(theirs, settings)}. "
            f"Results are not mixed: choose another --out, or delete {other.parent}."
        )


def differences(theirs: Settings, ours: Settings) -> str:
    """`name: there X, now Y` for every setting that differs."""
    keys = sorted({*theirs, *ours})
    return "; ".join(
        f"{key}: there {theirs.get(key, 'nothing')}, now {ours.get(key, 'nothing')}"
        for key in keys
        if theirs.get(key) != ours.get(key)
    )


def checked_folder(out: Path, option: str = "--out") -> Path:
    """The folder, created and tried with a small file before anything is computed.

    Raises InvalidParameter before hours of work rather than after them, and names the option to change.
    """
    try:
        out.mkdir(parents=True, exist_ok=True)
        trial = out / f".trial-{os.getpid()}"
        trial.write_text("", encoding="utf-8")
        trial.unlink()
    except OSError as cause:
        raise InvalidParameter(
            f"cannot write to {out} ({cause.strerror or cause}): choose another folder with {option}."
        ) from cause
    return out
