"""Twins of a main program's classes: registries hear of each class once, and every kind of class has a twin."""

from __future__ import annotations

import copy
from typing import Any

import pytest

import tapeengine as te

PROGRAM = """
import abc, dataclasses, math, typing

class Plugin:
    known = []
    def __init_subclass__(cls, **options): Plugin.known.append(cls)
class Sine(Plugin, kind="x"):
    def value(self, x): return math.sin(x)
seen = []
class Registry(type):
    def __new__(meta, name, bases, body):
        cls = super().__new__(meta, name, bases, body); seen.append(name); return cls
    def __init__(cls, name, bases, body): seen.append("i"+name)
class A(metaclass=Registry):
    def value(self, x): return math.cos(x)
class B(A):
    def value(self, x): return 2*super().value(x)
class AR(abc.ABCMeta):
    def __init__(cls, *a): super().__init__(*a); seen.append(cls.__name__)
class Base(abc.ABC, metaclass=AR):
    @abc.abstractmethod
    def value(self, x): ...
class Impl(Base):
    def value(self, x): return math.exp(x)
owners = []
class D:
    def __set_name__(self, owner, name): owners.append((owner.__name__, name)); self.name = name
    def __get__(self, obj, cls=None): return self if obj is None else obj.__dict__[self.name]
    def __set__(self, obj, v): obj.__dict__[self.name] = v
class HasD:
    a = D()
    def __init__(self, a): self.a = a
    def value(self, x): return self.a * math.sin(x)
class Options(typing.TypedDict):
    rate: float
class More(Options):
    scale: float
T = typing.TypeVar("T")
class G(typing.Generic[T]):
    def value(self, x): return math.tan(x)
class GI(G[float]): pass
class P(typing.Protocol):
    def value(self, x): ...
@dataclasses.dataclass
class Data:
    a: float
    def value(self, x): return self.a * math.sin(x)
class N(typing.NamedTuple):
    a: float
    def value(self, x): return self.a*math.sin(x)
def f(x):
    o: More = More(rate=2.0, scale=3.0)
    total = Sine().value(x) + B().value(x) + Impl().value(x) + HasD(2.0).value(x) + GI().value(x)
    return total + Data(3.0).value(x) * o["rate"] + N(4.0).value(x) + isinstance(Impl(), Base)


def in_registry(x):
    return sum(kind().value(x) for kind in Plugin.known)
"""


@pytest.fixture
def program() -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(PROGRAM, names)
    return names


def test_registries_hear_of_each_class_once(program: dict[str, Any]) -> None:
    """By `__init_subclass__`, a metaclass's `__new__` and `__init__`, and `__set_name__` of a descriptor."""
    heard = [copy.copy(program[name]) for name in ("seen", "owners")] + [list(program["Plugin"].known)]
    assert te.lift(program["f"])(0.7) == program["f"](0.7)
    assert heard == [program["seen"], program["owners"], program["Plugin"].known]
    assert te.lift(program["in_registry"])(0.7) == program["in_registry"](0.7) == program["Sine"]().value(0.7)


def test_every_kind_of_class_has_a_twin(program: dict[str, Any]) -> None:
    f, step = program["f"], 1e-6
    difference = (f(0.7 + step) - f(0.7 - step)) / (2 * step)
    assert te.grad(te.lift(f))(0.7) == pytest.approx(difference, rel=1e-8)


def test_a_class_of_the_original_that_is_found_in_data_is_no_twin(program: dict[str, Any]) -> None:
    with pytest.raises(te.errors.DroppedDerivativeError):
        te.grad(te.lift(program["in_registry"]))(0.7)
