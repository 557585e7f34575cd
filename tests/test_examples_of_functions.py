"""The examples of private functions: one file for each module, in its room's folder, run with the module's names."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

FILES = sorted(Path(__file__).parent.rglob("examples/*.txt"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_examples(path: Path) -> None:
    module = importlib.import_module(path.stem)
    found = doctest.testfile(
        str(path), module_relative=False, globs=dict(vars(module)), report=True, optionflags=doctest.ELLIPSIS
    )
    assert found.attempted and not found.failed
