"""Methods that ask for the class of a number, in programs that run on dual numbers.

Those of objects mean what they mean in Python; those of exceptions are refused.
"""

from __future__ import annotations

import functools
import numbers
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import tapeengine as te


class Base:
    """A class whose methods ask for classes."""

    rate = 1.5

    def __init__(self, k: Any) -> None:
        self.k = k

    def asks(self, x: Any) -> Any:
        """Ask for the class."""
        return x * self.k if isinstance(x, float) else x

    def types(self, x: Any) -> Any:
        """Compare the class."""
        return x * self.k if type(x) is float else x

    def matches(self, x: Any) -> Any:
        """Match the class."""
        match x:
            case float():
                return x * self.k
        return x

    def of_arrays(self, x: Any) -> Any:
        """Ask for an array."""
        return (np.ones(1) * x if isinstance(x, np.ndarray) else x) * self.k

    @property
    def own(self) -> Any:
        """Ask for the class of an attribute."""
        return self.k * 2.0 if isinstance(self.k, float) else 0.0

    @classmethod
    def of_class(cls, x: Any) -> Any:
        """Ask in a method of the class."""
        return x * cls.rate if isinstance(x, float) else x

    @staticmethod
    def static(x: Any) -> Any:
        """Ask in a function of the class."""
        return x * 1.25 if isinstance(x, float) else x

    def indirect(self, x: Any) -> Any:
        """Call another method."""
        return self.asks(x)

    def is_real(self, x: Any) -> Any:
        """Ask as the engine's documents say."""
        return x * self.k if isinstance(x, numbers.Real) else x

    def is_whole(self, x: Any) -> Any:
        """Ask for what no traced value is."""
        return x if isinstance(x, int) else x * self.k

    def is_own(self, x: Any) -> Any:
        """Ask for the class itself."""
        return x.k if isinstance(x, Base) else x * self.k

    def __add__(self, x: Any) -> Any:
        return x * self.k if isinstance(x, (int, numbers.Real)) else x.k + self.k


class Derived(Base):
    """A class that inherits the methods."""


class Plain:
    """A class with a method that asks, and another one."""

    def asks(self, x: Any) -> Any:
        """Ask for the class."""
        return x if isinstance(x, float) else 0.0

    def twice(self, x: Any) -> Any:
        """Ask for nothing."""
        return 2.0 * x


@dataclass
class Inner:
    """A record in another one."""

    x: float


@dataclass
class Outer:
    """A record whose method changes the inner one."""

    i: Inner

    def double(self) -> None:
        """Change the inner record."""
        self.i.x *= 2.0


MADE, KINDS = Derived(2.5), {Plain: 3.0}
USES = {
    "asks": lambda a, x: a.asks(x),
    "types": lambda a, x: a.types(x),
    "matches": lambda a, x: a.matches(x),
    "of_arrays": lambda a, x: a.of_arrays(x),
    "own": lambda a, x: a.own * x,
    "of_class": lambda a, x: a.of_class(x),
    "static": lambda a, x: a.static(x),
    "indirect": lambda a, x: a.indirect(x),
}
RIGHT = {
    "is_real": lambda a, x: a.is_real(x),
    "is_whole": lambda a, x: a.is_whole(x),
    "is_own": lambda a, x: a.is_own(x) + a.is_own(a),
    "operator": lambda a, x: (a + x) * (a + a),
}


def lacking(x: Any) -> int:
    """Do what the language lacks."""
    return len({x > 1.0, False})


def made_inside(x: Any, use: Any) -> Any:
    """Make the object in the program."""
    return use(Base(3.0), x) * lacking(x)


def made_before(x: Any, use: Any) -> Any:
    """Use an object of the module."""
    return use(MADE, x) * lacking(x)


def programs(use: Any) -> list[Any]:
    """Give the programs that use an object made inside, before, and in a function around."""
    held = Derived(1.5)
    return [
        te.program(lambda x: made_inside(x, use)),
        te.program(lambda x: made_before(x, use)),
        te.program(lambda x: use(held, x) * lacking(x)),
    ]


@pytest.mark.parametrize("use", USES | RIGHT)
def test_methods_that_ask_mean_the_same(use: str) -> None:
    for program in programs((USES | RIGHT)[use]):
        f, x = program.function, 2.0
        assert te.vjp(program, x)[0] == f(x)
        np.testing.assert_allclose(te.grad(program)(x), (f(x + 1e-6) - f(x - 1e-6)) / 2e-6, rtol=1e-6)


def test_methods_that_are_not_called_may_ask() -> None:
    program = te.program(lambda x: Plain().twice(x) * lacking(x) * KINDS[type(Plain())])
    assert te.value_and_grad(program)(2.0) == (24.0, 12.0)


def test_an_argument_of_a_class_that_asks() -> None:
    @dataclass
    class Data:
        k: float

        def asks(self, x: Any) -> Any:
            return x * self.k if isinstance(x, float) else x

    program = te.program(lambda x, d: d.asks(x) * lacking(x))
    value, back = te.vjp(program, 2.0, Data(3.0))
    assert (value, back(1.0)) == (12.0, (6.0, Data(4.0)))


def test_records_in_records_keep_their_classes() -> None:
    def program(x):  # type: ignore[no-untyped-def]
        o = Outer(Inner(x))
        o.double()
        return o

    value, back = te.vjp(te.program(program), 0.5)
    assert value == program(0.5)
    assert type(value.i) is Inner
    assert back(Outer(Inner(1.0))) == (2.0,)


@pytest.mark.parametrize("made", [te.program, te.lift], ids=["program", "lift"])
def test_implementations_that_come_later(made: Any) -> None:
    @functools.singledispatch
    def rate(x: Any) -> Any:
        return 2.0 * x

    class Holder:
        @functools.singledispatchmethod
        def rate(self, x: Any) -> Any:
            return 2.0 * x

    def program(x):  # type: ignore[no-untyped-def]
        return rate(x) * Holder().rate(-1) * lacking(x)

    derived = made(program)
    assert te.grad(derived)(2.0) == -8.0
    rate.register(float, lambda x: 3.0 * x)
    Holder.rate.register(int, lambda self, x: 5.0 * x)  # type: ignore[attr-defined]
    assert te.vjp(derived, 2.0)[0] == program(2.0)
    assert te.grad(derived)(2.0) == -30.0


class Asking(Exception):
    """An exception whose constructor asks."""

    def __init__(self, x: Any) -> None:
        self.x = x if isinstance(x, float) else 0.0 * x


class Inheriting(Asking):
    """An exception that inherits the constructor."""


@pytest.mark.parametrize("cls", [Asking, Inheriting])
def test_exceptions_that_ask_are_refused_where_python_handles_them(cls: type[Asking]) -> None:
    def raised(x):  # type: ignore[no-untyped-def]
        try:
            raise cls(x * x)
        except Asking as error:
            return error.x

    def raised_at_times(x):  # type: ignore[no-untyped-def]
        if x < 1.0:
            return x * x
        return raised(x)

    with pytest.raises(te.errors.UnsupportedError, match="asks whether"):
        te.grad(te.program(raised))(1.5)
    assert te.grad(te.program(raised_at_times))(0.5) == 1.0
    program = te.program(raised_at_times)
    transforms = (
        *(transform(program) for transform in (te.grad, te.hessian, te.jacfwd, te.jacobian)),
        *(te.grad(around) for around in (te.grad(program), te.checkpoint(program), lambda x: program(x) * x)),
        lambda x: te.hvp(program, (x,), (1.0,)),
    )
    for transform in transforms:
        with pytest.raises(te.errors.UnsupportedError, match="asks whether"):
            transform(1.5)
