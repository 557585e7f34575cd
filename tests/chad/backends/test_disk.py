"""Compiled code on disk: what is trusted, and what is ignored with a warning."""

import os
import subprocess
import sys
import warnings

import pytest

pytest.importorskip("llvmlite", reason="native code needs llvmlite")

from tapeengine.chad.backends.llvm import disk

PARTS = ("text", "version", "processor")

PROGRAM = """
import tapeengine as te
@te.program(backend="native")
def f(x: float, n: int) -> float:
    y = x
    for i in range(n):
        y = y * x + 1.0
    return y
value, back = te.vjp(f, 0.5, 20)
print(value, back(1.0))
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    path = tmp_path / "cache"
    monkeypatch.setenv("TAPEENGINE_CACHE", str(path))
    return path


def files(folder):
    return sorted(folder.iterdir())


def test_nothing_is_written_without_a_directory(monkeypatch):
    monkeypatch.delenv("TAPEENGINE_CACHE", raising=False)
    disk.write(PARTS, b"code")
    assert disk.read(PARTS) is None


def test_what_was_written_is_read(folder):
    disk.write(PARTS, b"code")
    assert disk.read(PARTS) == b"code"
    assert disk.read(("text", "version", "another processor")) is None
    assert [p.suffix for p in files(folder)] == [".o"]
    assert folder.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("content", [b"", b"something else", b"tapeengine native code 1\n" + b"0" * 40])
def test_damaged_and_foreign_files_are_ignored_with_a_warning(folder, content):
    disk.write(PARTS, b"code")
    files(folder)[0].write_bytes(content)
    with pytest.warns(RuntimeWarning, match="damaged"):
        assert disk.read(PARTS) is None


def test_a_file_under_another_name_is_ignored_with_a_warning(folder):
    disk.write(PARTS, b"code")
    (own,) = files(folder)
    disk.write((*PARTS, "other"), b"other code")
    (other,) = set(files(folder)) - {own}
    own.write_bytes(other.read_bytes())
    with pytest.warns(RuntimeWarning, match="damaged"):
        assert disk.read(PARTS) is None
    assert disk.read((*PARTS, "other")) == b"other code"


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="file modes are those of POSIX")
@pytest.mark.parametrize("which", ["file", "directory", "link"])
def test_what_others_may_have_written_is_never_used(folder, which):
    disk.write(PARTS, b"code")
    path = files(folder)[0]
    if which == "link":
        path.rename(folder / "other")
        path.symlink_to(folder / "other")
    else:
        (path if which == "file" else folder).chmod(0o777)
    with pytest.warns(RuntimeWarning, match="others may write to it|it is a link"):
        assert disk.read(PARTS) is None


def test_a_directory_that_cannot_be_made_is_a_warning(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TAPEENGINE_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.warns(RuntimeWarning, match="is ignored"):
        disk.write(PARTS, b"code")


def test_another_process_uses_the_code(folder, tmp_path):
    script = tmp_path / "program.py"
    script.write_text(PROGRAM)
    first = subprocess.run([sys.executable, script], check=True, capture_output=True, text=True)
    (made,) = files(folder)
    before = made.stat().st_mtime_ns
    second = subprocess.run([sys.executable, script], check=True, capture_output=True, text=True)
    assert first.stdout == second.stdout != ""
    assert first.stderr == second.stderr == ""
    assert made.stat().st_mtime_ns == before
    made.write_bytes(b"damaged")
    third = subprocess.run([sys.executable, script], check=True, capture_output=True, text=True)
    assert third.stdout == first.stdout
    assert "damaged" in third.stderr


def test_warnings_are_only_for_what_is_wrong(folder):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert disk.read(PARTS) is None
        disk.write(PARTS, b"code")
        assert disk.read(PARTS) == b"code"
