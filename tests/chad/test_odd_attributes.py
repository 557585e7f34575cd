"""Objects that answer for attributes in their own way, as constants, defaults and arguments of programs."""

from typing import Any
from unittest.mock import MagicMock

import pytest
from chad.written_functions import run_in

import tapeengine as te
from tapeengine.errors import TapeEngineError


class Settings(dict):  # type: ignore[type-arg]
    """The commonest class of configurations."""

    __getattr__ = dict.__getitem__
    __setattr__ = dict.__setitem__  # type: ignore[assignment]


class Refusing:
    """An object that raises an error of its own for what it lacks."""

    def __init__(self) -> None:
        self.v = 2.0

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(f"no {name}")


class Answering:
    """An object that has every attribute."""

    def __init__(self) -> None:
        self.v = 2.0

    def __getattr__(self, name: str) -> Any:
        return 1.0


TEXT = """
def constant(x):
    return x * x * c.v

def default(x, o=c):
    return x * x * o.v

def argument(x, o):
    return x * x * o.v
"""


@pytest.mark.parametrize("of", [Settings, Refusing, Answering])
@pytest.mark.parametrize("name", ["constant", "default", "argument"])
def test_the_derivative_is_right_or_refused(name: str, of: type) -> None:
    c = of(v=2.0) if of is Settings else of()
    scope: dict[str, Any] = {"__name__": "written_odd_attributes", "c": c}
    run_in(scope, TEXT)
    args = (1.5, c) if name == "argument" else (1.5,)
    assert scope[name](*args) == 4.5
    try:
        found = te.grad(te.program(scope[name]))(*args)
    except TapeEngineError:
        assert of is not Settings or name != "constant"
        return
    assert found == 6.0


class Anything:
    """An object that stands for all others, as mocks and stubs of absent modules do."""

    def __call__(self, *args: Any) -> Any:
        return args[0] if args else self

    def __getattr__(self, name: str) -> Any:
        return self


def first(x: float) -> float:
    return x


OF_ANYTHING = """
@marked(c(c))
def decorated(x):
    return abs(x) * x

def called(x):
    return c(x) * x

def method(x):
    return c.abs(x) * x

def not_reached(x):
    return c.signature(x, c) if x > 5.0 else x * x

def passed(x):
    return inner(x, c)

def inner(x, o):
    return x * x

def decorated_inside(x):
    return decorated(x)
"""


@pytest.mark.parametrize("made", [Anything, lambda: MagicMock(side_effect=lambda x, *_: x, abs=first)])
@pytest.mark.parametrize("name", ["decorated", "called", "method", "not_reached", "passed", "decorated_inside"])
def test_objects_that_stand_for_others(name: str, made: Any) -> None:
    scope: dict[str, Any] = {"__name__": "written_odd_attributes", "c": made(), "marked": lambda *_: lambda f: f}
    run_in(scope, OF_ANYTHING)
    assert scope[name](1.5) == 2.25
    for engine in (te, te.Engine()):
        assert engine.grad(te.program(scope[name]))(1.5) == 3.0
