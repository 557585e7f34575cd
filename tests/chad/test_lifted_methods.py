"""Classes in programs that run on dual numbers: their methods mean what they mean to plain numbers.

`LACKS` makes each program one that the language does not take. The reference is the plain program: its value, its
class, and differences of it.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from typing import Any

import numpy as np
import pytest

import tapeengine as te

LACKS = len


class Base:
    """A class whose methods tell numbers by their class, or use functions of plain numbers."""

    rate = 1.5

    def __init__(self, k: float) -> None:
        self.k = k if isinstance(k, float) else -k

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

    def computes(self, x: Any) -> Any:
        """Use a function of plain numbers."""
        return math.hypot(x, self.k)

    def makes(self, x: Any) -> Any:
        """Make an array."""
        a = np.zeros(2)
        a[1] = x * self.k
        return a.sum()

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

    def __add__(self, x: Any) -> Any:
        return x + self.k if isinstance(x, float) else 0.0


class Derived(Base):
    """A class that inherits all but one method."""

    def asks(self, x: Any) -> Any:
        """Use the inherited method."""
        return 2.0 * super().asks(x)


@dataclasses.dataclass
class Data:
    """A dataclass, which can be an argument and a result."""

    k: float

    def asks(self, x: Any) -> Any:
        """Ask for the class."""
        return x * self.k if isinstance(x, float) else x


MADE, DATA = Derived(2.5), Data(1.75)
USES = {
    "asks": lambda a, x: a.asks(x),
    "types": lambda a, x: a.types(x),
    "matches": lambda a, x: a.matches(x),
    "computes": lambda a, x: a.computes(x),
    "makes": lambda a, x: a.makes(x),
    "own": lambda a, x: a.own * x,
    "of_class": lambda a, x: a.of_class(x),
    "static": lambda a, x: a.static(x),
    "operator": lambda a, x: a + x,
}


def lacking(x: Any) -> int:
    """Do what the language lacks."""
    return LACKS({x > 1.0, False})


def made_inside(x: Any, use: Any) -> Any:
    """Make the object in the program."""
    return use(Base(3.0), x) * lacking(x)


def made_of_it(x: Any, use: Any) -> Any:
    """Make the object of the number."""
    return use(Derived(x), x) * lacking(x)


def made_before(x: Any, use: Any) -> Any:
    """Use an object of the module."""
    return use(MADE, x) * lacking(x)


def differences(f: Any, x: float) -> float:
    """Give the derivative by differences."""
    return float((f(x + 1e-6) - f(x - 1e-6)) / 2e-6)


def derivatives(program: Any, x: float) -> list[Any]:
    """Give the derivative by each transform."""
    return [
        te.grad(program)(x),
        te.vjp(program, x)[1](1.0)[0],
        te.jvp(program, (x,), (1.0,))[1],
        te.grad(lambda y: program(y) * 1.0)(x),
        te.jacobian(program)(x),
    ]


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("of", [made_inside, made_of_it, made_before])
def test_methods_mean_what_they_mean_to_plain_numbers(of: Any, use: str) -> None:
    method = USES[use]

    def program(x):  # type: ignore[no-untyped-def]
        return of(x, method)

    x = 2.0
    typed = te.program(program)
    assert te.vjp(typed, x)[0] == program(x)
    assert te.jvp(typed, (x,), (1.0,))[0] == program(x)
    np.testing.assert_allclose(derivatives(typed, x), differences(program, x), rtol=1e-6)


def of_data(x, d):  # type: ignore[no-untyped-def]
    """Take an object, use another one of the module, and give one."""
    return {"d": Data(d.asks(x) * DATA.asks(x)), "n": lacking(x)}


def test_objects_are_arguments_and_results() -> None:
    value, back = te.vjp(te.program(of_data), 2.0, Data(3.0))
    assert value == of_data(2.0, Data(3.0))
    assert type(value["d"]) is Data
    assert back({"d": Data(1.0), "n": None}) == (21.0, Data(7.0))


@te.program
def typed(x: float) -> float:
    """Have annotations, and objects that the language does not follow."""
    memo = {}
    memo[x > 1.0, lacking(x)] = Base(3.0).asks(x)
    return sum(memo.values())


def test_programs_with_annotations() -> None:
    assert te.vjp(typed, 2.0)[0] == typed(2.0) == 6.0
    assert te.grad(lambda x: typed(x) * 1.0)(2.0) == te.grad(typed)(2.0) == 3.0


def test_an_object_around_a_function_is_refused() -> None:
    held, plain = Base(3.0), te.program(lambda x: x * lacking(x))

    def program(x):  # type: ignore[no-untyped-def]
        return held.asks(x) * lacking(x)

    with pytest.raises(te.errors.UnsupportedError, match=r"held, a variable around .*program, holds an object of Base"):
        te.vjp(te.program(program), 2.0)
    assert te.grad(plain)(2.0) == 2.0


def test_lifted_functions_use_objects_of_their_module() -> None:
    scope: dict[str, Any] = {"__name__": "__main__"}
    text = """
class A:
    def __init__(self, k): self.k = k
    def asks(self, x): return x * self.k if isinstance(x, float) else x
class S:
    __slots__ = ("k",)
    def put(self, k): self.k = k
a, s = A(2.5), S()
def f(x, b):
    s.put(3.0)
    a.seen = True
    return a.asks(x) * (b is a), a
"""
    exec(text, scope)
    value, same = te.lift(scope["f"])(2.0, scope["a"])
    assert (value, same is scope["a"], scope["a"].seen, scope["s"].k) == (5.0, True, True, 3.0)
    assert te.grad(lambda x: te.lift(scope["f"])(x, scope["a"])[0])(2.0) == 2.5


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
        return rate(x) * Holder().rate(x) * lacking(x)

    derived = made(program)
    assert te.grad(derived)(2.0) == 32.0
    rate.register(float, lambda x: 3.0 * x)
    Holder.rate.register(float, lambda self, x: 5.0 * x)  # type: ignore[attr-defined]
    assert te.vjp(derived, 2.0)[0] == program(2.0)
    assert te.grad(derived)(2.0) == 120.0
