"""ARCHITECTURE.md and CONTRIBUTING.md name all rooms, and only existing files, folders and targets."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
GUIDES = ["ARCHITECTURE.md", "CONTRIBUTING.md"]
PATH = re.compile(r"[\w.]+(?:/[\w.]*)+|[\w.]+\.(?:py|pyx|md|json)")
#: Folders that commands make.
ENVIRONMENT = {".venv", "docs/_build/html"}


def quoted(text: str) -> list[str]:
    """The code in a page: in backticks, or indented by four."""
    return re.findall(r"`([^`\n]+)`", text) + re.findall(r"^    (.+)$", text, re.MULTILINE)


def paths_in(text: str) -> set[str]:
    return {name for code in quoted(text) for name in PATH.findall(code)} - ENVIRONMENT


@pytest.mark.parametrize("guide", GUIDES)
def test_the_files_that_a_guide_names_are_there(guide: str) -> None:
    names = paths_in((ROOT / guide).read_text())
    assert names and [name for name in sorted(names) if not (ROOT / name).exists()] == []


def test_the_targets_that_a_guide_names_are_there() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    code = [code for guide in GUIDES for code in quoted((ROOT / guide).read_text())]
    named = {name for text in code for name in re.findall(r"make ([a-z-]+)", text)}
    assert named and named <= targets


def test_the_page_of_rooms_names_all_of_them() -> None:
    folders = [path.parent for path in (ROOT / "tapeengine").glob("*/__init__.py")]
    rooms = [*folders, *(path.parent for path in (ROOT / "tapeengine" / "_core").glob("*/__init__.py"))]
    text = (ROOT / "ARCHITECTURE.md").read_text()
    missing = [str(room.relative_to(ROOT)) for room in rooms if f"{room.relative_to(ROOT).as_posix()}/" not in text]
    assert [name for name in missing if name != "tapeengine/gradbench"] == []


def test_a_missing_file_is_seen() -> None:
    assert paths_in("see `tapeengine/no_such.py` and `make install`") == {"tapeengine/no_such.py"}
