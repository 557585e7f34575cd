"""The names that the reference lists are there; the site documents each of them."""

import pkgutil
import re
from pathlib import Path

import pytest

INDEX = Path(__file__).resolve().parents[2] / "docs" / "reference" / "index.md"
BLOCKS = re.findall(r"\.\. autosummary::\n(?:   :.*\n)*\n((?:   .*\n)+)", INDEX.read_text("utf-8"))
NAMES = [line.strip() for block in BLOCKS for line in block.splitlines()]


@pytest.mark.parametrize("name", NAMES)
def test_a_listed_name_is_there(name: str) -> None:
    assert pkgutil.resolve_name(name if name.startswith("tapeengine") else f"tapeengine.{name}") is not None


def test_names_are_read() -> None:
    assert len(NAMES) > 40
