"""Outputs are checked before the work, replaced whole, and nothing of the user's is lost."""

import os
import stat

import pytest

from dcgev_cvx._numerics import output_files
from dcgev_cvx._numerics.output_files import output_file, output_folder, write_file
from dcgev_cvx.errors import DataUnavailable, InvalidParameter


def test_a_file_is_replaced_whole_and_nothing_is_left_behind(tmp_path):
    write_file(tmp_path / "a", "one")
    (tmp_path / "a").chmod(0o640)
    write_file(tmp_path / "a", b"two")
    assert (tmp_path / "a").read_text() == "two"
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o640
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_a_full_disk_leaves_the_old_file(tmp_path, monkeypatch):
    (tmp_path / "a").write_text("old")

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(DataUnavailable, match=r"a could not be written \(No space left on device\)"):
        write_file(tmp_path / "a", "new")
    assert (tmp_path / "a").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "target").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "target" / "new.json")  # leads to nothing yet
    file = output_file("--out", str(tmp_path / "link"))
    assert (tmp_path / "link").is_symlink()
    write_file(file, "content")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target" / "new.json").read_text() == "content"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda path: path.mkdir(), "is a folder, a pipe or a device: give the name of a file"),
        (os.mkfifo, "is a folder, a pipe or a device: give the name of a file"),
        (lambda path: path.symlink_to(path), "cannot be written"),
        (lambda path: path.symlink_to("/dev/full"), "a pipe or a device"),
        (lambda path: path.symlink_to(path / "no" / "folder"), "cannot be written"),
    ],
)
def test_what_cannot_be_a_file_is_refused_and_kept(tmp_path, make, message):
    make(tmp_path / "x")
    before = (tmp_path / "x").lstat().st_mode
    with pytest.raises(InvalidParameter, match=message):
        output_file("--plot", str(tmp_path / "x"))
    assert (tmp_path / "x").lstat().st_mode == before
    assert len(list(tmp_path.iterdir())) == 1


def test_a_name_as_long_as_the_system_allows(tmp_path):
    file = output_file("--html", str(tmp_path / ("x" * 255)))
    write_file(file, "1")
    assert file.read_text() == "1"


def test_folders(tmp_path, monkeypatch):
    assert output_folder("--out", tmp_path / "a" / "b").is_dir()
    assert list((tmp_path / "a" / "b").iterdir()) == []
    (tmp_path / "file").write_text("kept")
    with pytest.raises(InvalidParameter, match=r"this folder cannot be written to .*: choose another"):
        output_folder("--out", tmp_path / "file" / "below")
    assert (tmp_path / "file").read_text() == "kept"

    def full(file):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(output_files, "try_to_write", full)
    with pytest.raises(InvalidParameter, match="No space left on device"):
        output_folder("--out", tmp_path / "a")
