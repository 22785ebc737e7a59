"""Output files: checked before the work, written to a temporary file beside the target and renamed after it."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any

from ..errors import DataUnavailable, InvalidParameter


def output_file(option: str, name: Any) -> Path:
    """The path of a file that can be written, followed through links; what is there is not changed."""
    given = path_of(option, name)
    try:
        file = given.resolve()
        if file.is_dir():
            raise InvalidParameter(f"{option} {given} is a folder: give the name of a file.")
        if file.exists() and not file.is_file():
            raise InvalidParameter(f"{option} {given} is a pipe or a device: give the name of a file.")
        if file.exists() and not os.access(file, os.W_OK):
            raise InvalidParameter(f"{option} {given}: cannot be written (it is read-only): choose another name.")
        try_to_write(file)
    except (OSError, RuntimeError) as cause:  # RuntimeError: links that lead in a circle
        raise InvalidParameter(
            f"{option} {given}: cannot be written ({getattr(cause, 'strerror', cause)})."
        ) from cause
    return file


def output_folder(option: str, name: Any) -> Path:
    """The path of a folder that can be written to, created where it does not exist."""
    folder = path_of(option, name)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        try_to_write(folder / "trial")
    except OSError as cause:
        raise InvalidParameter(
            f"{option} {folder}: this folder cannot be written to ({cause.strerror or cause}): choose another."
        ) from cause
    return folder


def path_of(option: str, name: Any) -> Path:
    """The path, if it is one; NumPy is imported here, so that `dcgev --help` answers at once."""
    from .checks import as_path

    return as_path(name, option)


def try_to_write(file: Path) -> None:
    """Write a few bytes beside the file and delete them: a full disk is noticed before the work."""
    beside = temporary(file)
    try:
        beside.write_bytes(b"0" * 4096)
    finally:
        with suppress(OSError):
            beside.unlink(missing_ok=True)


def write_file(path: Path, content: str | bytes) -> None:
    """Write to a file beside, flush it to disk, then rename: a kill leaves the old file or the new one."""
    beside = temporary(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with beside.open("wb") as handle:
            handle.write(content.encode() if isinstance(content, str) else content)
            handle.flush()
            os.fsync(handle.fileno())
        if path.exists():
            shutil.copymode(path, beside)
        beside.replace(path)
    except OSError as cause:
        with suppress(OSError):
            beside.unlink(missing_ok=True)
        raise DataUnavailable(
            f"{path} could not be written ({cause.strerror or cause}); finished results are intact. "
            "Free some space and run the same command again."
        ) from cause


def temporary(file: Path) -> Path:
    """A hidden name in the same folder, short whatever the name of the file."""
    return file.with_name(f".dcgev-{os.getpid()}-{hash(file.name) & 0xFFFFFF:06x}")
