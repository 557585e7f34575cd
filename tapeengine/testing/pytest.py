"""A pytest plugin that runs `check_primitive` over every primitive of a distribution.

A plugin's whole contract test is two lines::

    def test_contract(primitive_contract):
        primitive_contract()

run by ``pytest -p tapeengine.testing.pytest``, with the distribution's name in its configuration::

    [tool.pytest.ini_options]
    addopts = ["-p", "tapeengine.testing.pytest"]
    tapeengine_distribution = "tapeengine-example"

or in ``--tapeengine-distribution``. A test that needs the primitive itself uses the fixture `tapeengine_primitive`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from ..plugins.discovery import PluginRecord
    from ..primitive import Primitive
    from .report import Report

__all__ = ["primitive_contract", "pytest_addoption", "pytest_generate_tests"]

_FIXTURE = "tapeengine_primitive"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the distribution and the seed."""
    group = parser.getgroup("tapeengine", "derivative rules")
    group.addoption("--tapeengine-distribution", default="", help="check the primitives of this distribution")
    group.addoption("--tapeengine-seed", type=int, default=0, help="the seed for samples")
    parser.addini("tapeengine_distribution", "the distribution whose primitives are checked", default="")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make one test for each primitive of the distribution."""
    if _FIXTURE in metafunc.fixturenames:
        found = _primitives(metafunc.config)
        metafunc.parametrize(_FIXTURE, found, ids=[primitive.name for primitive in found])


@pytest.fixture
def primitive_contract(request: pytest.FixtureRequest, tapeengine_primitive: Primitive) -> Callable[..., Report]:
    """Return `check_primitive` for one primitive; it takes the other parameters of `check_primitive`."""
    from .checker import check_primitive

    return partial(check_primitive, tapeengine_primitive, seed=request.config.getoption("--tapeengine-seed"))


def _primitives(config: pytest.Config) -> list[Primitive]:
    from ..plugins.discovery import load_plugins

    wanted: Any = config.getoption("--tapeengine-distribution") or config.getini("tapeengine_distribution")
    if not wanted:
        raise pytest.UsageError("set tapeengine_distribution, or pass --tapeengine-distribution NAME")
    records = load_plugins().records
    ours = [record for record in records if record.origin.distribution == wanted]
    if not ours:
        there = ", ".join(sorted({record.origin.distribution for record in records})) or "none"
        raise pytest.UsageError(f"no plugin of the distribution {wanted!r} is installed; there are plugins of: {there}")
    return [primitive for record in ours for primitive in _of(record)]


def _of(record: PluginRecord) -> tuple[Primitive, ...]:
    if record.contribution is None:
        raise pytest.UsageError(f"{record.origin} {'is disabled' if record.disabled else 'failed: ' + record.error}")
    return record.contribution.primitives
