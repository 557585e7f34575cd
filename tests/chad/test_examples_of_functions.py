"""The examples of private functions of the frontend: one file for each module, run with the module's names."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

FILES = sorted(Path(__file__).with_name("examples").glob("*.txt"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_examples(path: Path) -> None:
    module = importlib.import_module(path.stem)
    found = doctest.testfile(str(path), module_relative=False, globs=dict(vars(module)), report=True)
    assert found.attempted and not found.failed
