"""An engine and its plugins: explicit and installed plugins, registration, and configuration."""

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest

import tapeengine as te
from tapeengine.errors import RegistryError
from tapeengine.plugins import hookimpl
from tapeengine.primitive.builders import elementwise
from tapeengine.structure import Container

CUBE = elementwise("test.cube", lambda x: x**3, lambda x: 3.0 * x**2)


class Interval:
    def __init__(self, low: Any, high: Any) -> None:
        self.low, self.high = low, high


class Plugin:
    @hookimpl
    def tapeengine_primitives(self) -> list[te.Primitive]:
        return [CUBE]

    @hookimpl
    def tapeengine_structures(self) -> dict[type, Container]:
        take = lambda interval: ([interval.low, interval.high], None)  # noqa: E731
        return {Interval: Container(take, lambda aux, ends: Interval(*ends), lambda aux: [".low", ".high"])}

    @hookimpl
    def tapeengine_configure(self, engine: te.Engine) -> None:
        engine.max_tape_bytes += 1


def test_an_engine_uses_exactly_the_plugins_it_is_given() -> None:
    engine = te.Engine(plugins=[Plugin()])
    assert list(engine.registry) == ["test.cube"]
    assert engine.registry["test.cube"] is CUBE
    assert engine.max_tape_bytes == 1
    assert len(te.Engine(plugins=[]).registry) == 0


def test_a_plugin_registers_container_classes_for_its_engine_only() -> None:
    interval = Interval(2.0, 5.0)
    value, backpropagator = te.Engine(plugins=[Plugin()]).vjp(lambda i: i.high * i.low, interval)
    [cotangent] = backpropagator(1.0)
    assert value == 10.0
    assert isinstance(cotangent, Interval)
    assert (cotangent.low, cotangent.high) == (5.0, 2.0)
    with pytest.raises(te.errors.StructureError):
        te.Engine(plugins=[]).vjp(lambda i: i.high * i.low, interval)


def test_a_missing_plugin_is_refused() -> None:
    with pytest.raises(RegistryError, match="no installed plugin 'nowhere'"):
        te.Engine(plugins=["nowhere"])


def test_no_hook_is_called_while_a_program_runs() -> None:
    calls = []

    class Counting:
        @hookimpl
        def tapeengine_primitives(self) -> list[te.Primitive]:
            calls.append("primitives")
            return [CUBE]

        @hookimpl
        def tapeengine_configure(self, engine: te.Engine) -> None:
            calls.append("configure")

    engine = te.Engine(plugins=[Counting()])
    assert calls == ["primitives", "configure"]
    assert engine.vjp(lambda x: x * x, 3.0)[1](1.0) == (6.0,)
    assert len(calls) == 2


@dataclass
class Compared(Plugin):
    """Equal by its fields, and so without a hash."""

    tag: int = 0


@pytest.mark.parametrize("plugin", [Compared(), SimpleNamespace(tapeengine_primitives=Plugin().tapeengine_primitives)])
def test_a_plugin_needs_no_hash(plugin: Any) -> None:
    assert list(te.Engine(plugins=[plugin]).registry) == ["test.cube"]


@pytest.mark.parametrize("given", ["core", Plugin(), SimpleNamespace()])
def test_one_plugin_is_given_in_a_list(given: Any) -> None:
    with pytest.raises(RegistryError, match=r"write plugins=\["):
        te.Engine(plugins=given)


@pytest.mark.parametrize("given", [SimpleNamespace(), {}, [], None, 3])
def test_what_is_no_plugin_is_told_so(given: Any) -> None:
    with pytest.raises(RegistryError, match="implements no hook"):
        te.Engine(plugins=[given])
