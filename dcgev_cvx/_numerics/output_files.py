"""Output files: checked before the work, written to a temporary file beside the target and renamed after it."""

import os
import shutil
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from ..errors import DataUnavailable, InvalidParameter


def output_file(option: str, name: Any) -> Path:
    """The path of a file that can be written, followed through links; what is there is not changed."""
    from .checks import as_path  # imports NumPy, and `dcgev --help` answers at once

    given = as_path(name, option)
    try:
        file = given.resolve()
        if file.exists() and not file.is_file():
            raise InvalidParameter(f"{option} {given} is a folder, a pipe or a device: give the name of a file.")
        if file.exists():
            file.open("ab").close()  # raises for a file that is read-only
        try_to_write(file.parent)
    except (OSError, RuntimeError) as cause:  # RuntimeError: links that lead in a circle
        why = getattr(cause, "strerror", cause)
        raise InvalidParameter(f"{option} {given}: cannot be written ({why}): choose another name.") from cause
    return file


def output_folder(option: str, name: Any) -> Path:
    """The path of a folder that can be written to, created where it does not exist."""
    from .checks import as_path

    folder = as_path(name, option)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        try_to_write(folder)
    except OSError as cause:
        raise InvalidParameter(
            f"{option} {folder}: this folder cannot be written to ({cause.strerror or cause}): choose another."
        ) from cause
    return folder


def try_to_write(folder: Path) -> None:
    """Write a few bytes to a file without a name: a full disk is noticed before the work."""
    with TemporaryFile(dir=folder) as trial:
        trial.write(b"0" * 4096)


def write_file(path: Path, content: str | bytes, *, durable: bool = True) -> None:
    """Write to a file beside, then rename: a kill leaves the old file or the new one; durable, a power cut too."""
    beside = path.with_name(f".dcgev-{os.getpid()}-{hash(path.name) & 0xFFFFFF:06x}")  # short, whatever the name
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with beside.open("wb") as handle:
            handle.write(content.encode() if isinstance(content, str) else content)
            if durable:
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
