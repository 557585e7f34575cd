"""Fields that code of their class reads or sets: each is read once, as Python reads it, or refused."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

import tapeengine as te
from tapeengine.errors import TapeEngineError


def doubled(self: Any, name: str) -> Any:
    """Read a field otherwise than it is stored."""
    value = object.__getattribute__(self, name)
    return 2.0 * value if name == "a" else value


class Doubling:
    """A descriptor of data."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = f"_{name}"

    def __get__(self, record: Any, owner: Any = None) -> float:
        return 3.0 if record is None else 2.0 * record.__dict__[self.name]

    def __set__(self, record: Any, value: float) -> None:
        record.__dict__[self.name] = value


@dataclasses.dataclass
class Setting:
    a: float

    def __setattr__(self, name: str, value: float) -> None:
        object.__setattr__(self, name, 2.0 * value)


@dataclasses.dataclass
class Reading:
    a: float

    __getattribute__ = doubled


@dataclasses.dataclass(frozen=True)
class Fixed:
    """The same, of which a backpropagator keeps no copy."""

    a: float

    __getattribute__ = doubled


@dataclasses.dataclass
class Described:
    a: float = Doubling()  # type: ignore[assignment]


@dataclasses.dataclass(slots=True)
class Slots:
    a: float


@dataclasses.dataclass(frozen=True)
class Frozen:
    a: float


class Same:
    """A descriptor of data that gives what it has got."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, record: Any, owner: Any = None) -> Any:
        return self if record is None else record.__dict__[self.name]

    def __set__(self, record: Any, value: float) -> None:
        record.__dict__[self.name] = value


class Watched:
    a: float = Same()  # type: ignore[assignment]

    def __init__(self, a: float) -> None:
        self.a = a


class Item(NamedTuple):
    a: float


class Computed(Item):
    a = property(lambda self: 2.0 * self[0])  # type: ignore[assignment]


class Cached(Item):
    a = functools.cached_property(lambda self: 2.0 * self[0])  # type: ignore[assignment]


class Registered(Reading):
    """A class that reads by code, of which the engine takes the attributes that are stored."""


class Inside(Described):
    """The same with a descriptor."""


@dataclasses.dataclass(slots=True)
class InSlots:
    a: float

    __getattribute__ = doubled


REGISTERED = [Registered, Inside, InSlots, Watched]
for each in REGISTERED:
    te.register_container(each)
CLASSES = [Setting, Reading, Fixed, Described, Slots, Frozen, Item, Computed, Cached, *REGISTERED]


def stored(r: Any) -> float:
    """The number that a record stores, and its cotangent holds in the same place."""
    if isinstance(r, tuple):
        return r[0]  # type: ignore[no-any-return]
    if isinstance(r, InSlots | Slots):
        return object.__getattribute__(r, "a")  # type: ignore[no-any-return]
    return next(iter(r.__dict__.values()))  # type: ignore[no-any-return]


def holding(cls: Any, x: float) -> Any:
    """A record that stores a number."""
    scale = 2.0 if cls is Setting else 1.0
    return cls(x / scale)


def made_and_read(cls: Any) -> Callable[[float], float]:
    def f(x: float) -> float:
        return cls(x).a * 1.5  # type: ignore[no-any-return]

    return f


def read(r: Any) -> float:
    return r.a * 1.5  # type: ignore[no-any-return]


def read_in_list(rs: Any) -> float:
    return rs[0].a * rs[1].a  # type: ignore[no-any-return]


def read_beside_array(r: Any, xs: Any) -> float:
    return r.a * xs[0]  # type: ignore[no-any-return]


def annotated(cls: Any) -> Callable[[Any], float]:
    def f(r: cls) -> float:
        return r.a * 1.5 if isinstance(r, cls) else 0.0  # the name, by which the text finds the class

    return f


def unchanged(f: Any) -> Any:
    return f


@pytest.mark.parametrize("wrapped", [unchanged, te.program])
@pytest.mark.parametrize("cls", CLASSES)
def test_attributes_of_new_records_are_read_as_python_reads_them_or_refused(cls: Any, wrapped: Any) -> None:
    f = made_and_read(cls)
    try:
        value, back = te.vjp(wrapped(f), 0.7)
    except TapeEngineError:
        assert cls not in (Slots, Frozen, Item)
        return
    assert value == f(0.7)
    assert back(1.0)[0] == pytest.approx((f(0.8) - f(0.6)) / 0.2)


@pytest.mark.parametrize("wrapped", [unchanged, te.program])
@pytest.mark.parametrize("cls", CLASSES)
@pytest.mark.parametrize("f", [read, read_in_list, read_beside_array, annotated], ids=lambda f: f.__name__)
def test_attributes_of_arguments_are_read_once_or_refused(f: Any, cls: Any, wrapped: Any) -> None:
    """The cotangent is that of what the record stores."""
    function = annotated(cls) if f is annotated else f

    def given(x: float) -> tuple[Any, ...]:
        record = holding(cls, x)
        return {read_in_list: ([record, holding(cls, 2.0)],), read_beside_array: (record, [3.0])}.get(f, (record,))

    try:
        value, back = te.vjp(wrapped(function), *given(0.7))
        found = back(1.0)[0]
    except TapeEngineError:
        assert cls in (Reading, Fixed, Described) or (wrapped is te.program and cls in (Computed, Cached, *REGISTERED))
        return
    assert value == function(*given(0.7))
    slope = (function(*given(0.8)) - function(*given(0.6))) / 0.2
    assert stored(found[0] if f is read_in_list else found) == pytest.approx(slope)
