"""The two cores on which the tests of the scalar core run."""

from collections.abc import Callable
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
