"""Constants from outside of every class that a program takes: a change is noticed at the next derivative."""

from __future__ import annotations

import array
import collections
import types
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from chad.written_functions import run_in
from counted_calls import calls

import tapeengine as te
from tapeengine.chad.parse.names import constants


class Numbers(list[float]):
    pass


class Table(dict[str, float]):
    pass


class Meta(type):
    k = 1.0


class Owner(metaclass=Meta):
    pass


sequence: Any = [1.0]
table: Any = {"a": 1.0}


def first(y: float) -> float:
    return y * sequence[0]


def looked_up(y: float) -> float:
    return y * table["a"]


def present(y: float) -> float:
    return y * (5.0 if "b" in table else 1.0)


def of_class(y: float) -> float:
    return y * Owner.k


SEQUENCES = [
    *([1.0], array.array("d", [1.0]), np.array([1.0]), np.array([1.0, None], object), Numbers([1.0]), [[1.0]][0]),
    *(array.array("i", [1]), np.array([1], np.int32)),
]
TABLES = [
    *({"a": 1.0}, collections.OrderedDict(a=1.0), collections.defaultdict(float, a=1.0), collections.Counter(a=1)),
    Table(a=1.0),
]


@pytest.mark.parametrize("held", SEQUENCES, ids=lambda x: type(x).__name__)
def test_items(held: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "sequence", held)
    program = te.program(first)
    assert te.value_and_grad(program)(1.0) == (1.0, 1.0)
    held[0] = 5
    assert te.value_and_grad(program)(1.0) == (5.0, 5.0)


@pytest.mark.parametrize("held", TABLES, ids=lambda x: type(x).__name__)
def test_values_and_keys(held: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "table", held)
    programs = te.program(looked_up), te.program(present)
    assert [te.value_and_grad(p)(1.0) for p in programs] == [(1.0, 1.0)] * 2
    held["a"] = held["b"] = 5
    assert [te.value_and_grad(p)(1.0) for p in programs] == [(5.0, 5.0)] * 2


def test_attributes_of_a_class_of_classes(monkeypatch: pytest.MonkeyPatch) -> None:
    program = te.program(of_class)
    assert te.value_and_grad(program)(1.0) == (1.0, 1.0)
    monkeypatch.setattr(Meta, "k", 5.0)
    assert te.value_and_grad(program)(1.0) == (5.0, 5.0)


def lambdas(x: Any) -> Any: return (lambda y: y * y) if x is None else x * 3.0  # fmt: skip


def test_a_lambda_in_the_line_of_a_def() -> None:
    assert te.grad(te.program(lambdas(None)))(1.5) == 3.0


def filtered(x: te.Vec) -> te.Vec:
    out = []
    s = 0.0
    for v in x:
        s = 0.9 * s + te.math.tanh(v)
        out.append(s * v)
    return out


def test_functions_of_modules_are_compared_without_python_calls():
    program, x = te.program(filtered), np.ones(3)
    for _ in range(3):
        te.vjp(program, x)
    assert calls(lambda: te.vjp(program, x), ("call",)) == ["<lambda>", "vjp"]


@dataclass
class Tank:
    level: float
    events: list[float] = field(default_factory=list)

    def pour(self, x: float) -> int:
        self.level += x
        return len(self.events)


def poured(x: Any, kind: Any = print) -> Any:
    tank, other = Tank(x), Tank(level=2.0 * x)
    n = tank.pour(0.5) + other.pour(tank.level)
    return tank.level * other.level + n


def pours(x: Any) -> Any:
    return poured(x) * poured(0.5 * x)


@pytest.mark.parametrize("function", [poured, pours])
def test_defaults_and_methods_are_watched_by_identity(function: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What cannot change while it is the same object is not compared by its contents in each call."""
    program = te.program(function)
    h = 1e-6
    for _ in range(3):
        assert te.grad(program)(0.7) == pytest.approx((function(0.7 + h) - function(0.7 - h)) / (2 * h), rel=1e-6)
    compared: list[Any] = []
    frozen = constants.frozen
    monkeypatch.setattr(constants, "frozen", lambda value: compared.append(value) or frozen(value))
    te.grad(program)(0.7)
    assert compared == []
    monkeypatch.setattr(Tank, "pour", lambda self, x: 3)
    assert te.grad(program)(0.7) == pytest.approx((function(0.7 + h) - function(0.7 - h)) / (2 * h), rel=1e-6)


class Computing(type):
    @property
    def rate(cls) -> float:
        return settings["rate"]

    def __getattr__(cls, name: str) -> float:
        return settings[name]


class Reading:
    def __get__(self, instance: Any, owner: Any) -> float:
        return settings["rate"]


class Computed(metaclass=Computing):
    described = Reading()

    class Inner(metaclass=Computing):
        pass


settings = {"rate": 2.0, "gain": 2.0}
lazy: Any = types.ModuleType("lazy")
lazy.__getattr__ = settings.__getitem__
lazy.Computed = Computed
COMPUTED = ["Computed.rate", "Computed.gain", "Computed.described", "Computed.Inner.rate", "Computed.Inner.gain"]
COMPUTED += [f"lazy.{x}" for x in ("gain", *COMPUTED)]


@pytest.mark.parametrize("is_called", [False, True])
@pytest.mark.parametrize("is_whole", [False, True])
@pytest.mark.parametrize("text", COMPUTED)
def test_attributes_that_their_owner_computes(
    text: str, is_whole: bool, is_called: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No namespace shows that these have other values."""
    scope = dict(globals())
    run_in(scope, f"def inner(x):\n    return x * {text}\ndef outer(x):\n    return inner(x) * 1.0\n")
    function, value = scope["outer" if is_called else "inner"], (lambda x: int(x)) if is_whole else float
    program = te.program(function)
    for each in (2, 2, 3, 5, 2):
        monkeypatch.setitem(settings, "rate", value(each))
        monkeypatch.setitem(settings, "gain", value(each))
        assert te.value_and_grad(program)(1.5) == (1.5 * each, each) == (function(1.5), each)
