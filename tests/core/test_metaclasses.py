"""Dataclasses of any metaclass are structures, as primals, results, states and captures."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar, runtime_checkable

import pytest

import tapeengine as te

T = TypeVar("T")


class Meta(type):
    pass


class Mount(ABC):
    @abstractmethod
    def size(self) -> float: ...


@runtime_checkable
class Sized(Protocol):
    x: float


@dataclass
class OfABC(Mount):
    x: float

    def size(self) -> float:
        return self.x


@dataclass
class OfProtocol(Sized):
    x: float


@dataclass
class OfGeneric(ABC, Generic[T]):
    x: T


@dataclass(slots=True)
class WithSlots(metaclass=Meta):
    x: float


@dataclass(frozen=True)
class IsFrozen(metaclass=Meta):
    x: float


CLASSES: list[Any] = [OfABC, OfProtocol, OfGeneric, WithSlots, IsFrozen]


@pytest.mark.parametrize("cls", CLASSES)
def test_a_dataclass_is_a_primal_a_result_and_a_tangent(cls: Any) -> None:
    p = cls(2.0)
    assert te.grad(lambda p: p.x**2)(p) == cls(4.0)
    assert te.vjp(cls, 2.0)[1](cls(3.0)) == (3.0,)
    assert te.jvp(lambda p: cls(p.x * p.x), (p,), (cls(1.0),)) == (cls(4.0), cls(4.0))
    assert te.hessian(lambda x: cls(x * x).x * x)(2.0) == 12.0


@pytest.mark.parametrize("cls", CLASSES)
@pytest.mark.parametrize(
    ("wrapped", "expected"),
    [
        (te.checkpoint, 2.0),
        (te.stage, 2.0),
        (lambda f: lambda x: te.iterate(f, 3, x), 8.0),
        (lambda f: lambda x: te.fork(lambda: f(x))[0], 2.0),
    ],
)
def test_a_dataclass_is_captured(cls: Any, wrapped: Callable[[Any], Any], expected: float) -> None:
    p = cls(2.0)
    f = wrapped(lambda x: x * p.x)
    assert [te.grad(f)(3.0) for _ in range(3)] == [expected] * 3


@pytest.mark.parametrize("cls", CLASSES)
def test_a_dataclass_is_an_argument_of_replays_and_programs(cls: Any) -> None:
    def square(q: Any) -> float:
        return q.x * q.x  # type: ignore[no-any-return]

    for f in (te.stage(square), te.program(square), te.checkpoint(square)):
        assert [te.grad(f)(cls(2.0)) for _ in range(3)] == [cls(4.0)] * 3
