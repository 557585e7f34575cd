"""Engines that are started once for all tests on workers; the examples are importable there."""

import importlib.util
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any

import far_programs as far
import pytest

NEEDS = {"processes": None, "loky": "loky", "dask": "distributed", "ray": "ray", "mpi": "mpi4py"}
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def skip_without(name: str) -> None:
    """Skip a test whose engine is not installed."""
    module = NEEDS[name]
    if module is not None and importlib.util.find_spec(module) is None:
        pytest.skip(f"{name}: {module} is not installed (pip install 'tapeengine[{name}]')")


@pytest.fixture(scope="session")
def started() -> Iterator[Callable[[str], Any]]:
    """Give an engine with two workers by its name; the first test that asks for it starts it."""
    sys.path.append(str(EXAMPLES))  # workers get this path
    with ExitStack() as stack:

        @cache
        def one(name: str) -> Any:
            skip_without(name)
            return stack.enter_context(far.started(name))

        yield one
    sys.path.remove(str(EXAMPLES))
