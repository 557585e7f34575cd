"""The two cores on which the tests of the scalar core run."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pytest

import tapeengine
import tapeengine.math
from tapeengine import reference


class Core(NamedTuple):
    """One implementation of the scalar core. Duals of two cores never mix."""

    name: str
    vjp: Callable[..., Any]
    Dual: type
    math: ModuleType

    def grad(self, program: Callable[..., Any]) -> Callable[..., Any]:
        """The cotangent of the first primal."""
        return lambda *primals: self.vjp(program, *primals)[1](1.0)[0]


COMPILED = Core("compiled", tapeengine.vjp, tapeengine.Dual, tapeengine.math)
REFERENCE = Core("reference", reference.vjp, reference.Dual, reference.math)


@pytest.fixture(params=[COMPILED, REFERENCE], ids=["compiled", "reference"], scope="session")
def core(request: pytest.FixtureRequest) -> Core:
    return request.param


@pytest.fixture(scope="session")
def cores() -> tuple[Core, Core]:
    """Both cores, for tests of equal bits."""
    return COMPILED, REFERENCE


def output_of(script: str, folder: Path) -> list[str]:
    """The words that a script prints in a separate process, which starts in an empty folder."""
    command = [sys.executable, "-c", script]
    run = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, cwd=folder)
    assert run.returncode == 0, run.stderr
    return run.stdout.split()
