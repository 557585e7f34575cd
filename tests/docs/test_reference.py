"""The names that the reference lists are there; the site documents each of them."""

import pkgutil
import re
from pathlib import Path
from types import ModuleType

import pytest

import tapeengine as te
import tapeengine.testing

INDEX = Path(__file__).resolve().parents[2] / "docs" / "reference" / "index.md"
BLOCKS = re.findall(r"\.\. autosummary::\n(?:   :.*\n)*\n((?:   .*\n)+)", INDEX.read_text("utf-8"))
NAMES = [line.strip() for block in BLOCKS for line in block.splitlines()]


@pytest.mark.parametrize("name", NAMES)
def test_a_listed_name_is_there(name: str) -> None:
    assert pkgutil.resolve_name(name if name.startswith("tapeengine") else f"tapeengine.{name}") is not None


@pytest.mark.parametrize("module", [te, tapeengine.testing])
def test_a_public_name_is_listed(module: ModuleType) -> None:
    """Errors are listed by their module; `Vec` is an annotation, which the page of typed programs explains."""
    listed = {name.rpartition(".")[2] for name in NAMES} | {"ProgramError", "Vec", "__version__"}
    assert set(module.__all__) - listed == set()
    assert ".. automodule:: tapeengine.errors\n   :members:" in INDEX.read_text("utf-8")


def test_names_are_read() -> None:
    assert len(NAMES) > 40
