"""Objects whose ``__getattr__`` raises more than AttributeError, as dicts with attributes do: under every transform.

They are models that are differentiated, arguments, and what programs read from outside. A transform gives what it
gives for a plain object; `te.program` takes functions alone.
"""

import functools

import numpy as np
import pytest

import tapeengine as te
from tapeengine.errors import UnsupportedError


class AttrDict(dict):
    __getattr__ = dict.__getitem__


class Model(AttrDict):
    def __call__(self, x):
        return self.k * x


class Strict:
    k = 2.0

    def __getattr__(self, name):
        raise RuntimeError(name)

    def __call__(self, x):
        return self.k * x


SETTINGS, STRICT = AttrDict(k=2.0), Strict()


def from_outside(x):
    return SETTINGS.k * x


def of_strict(x):
    return STRICT.k * x


def of_argument(c, x):
    return c.k * x


FUNCTIONS = {
    "model": Model(k=2.0),
    "strict model": STRICT,
    "method": Model(k=2.0).__call__,
    "outside": from_outside,
    "strict outside": of_strict,
    "partial": functools.partial(of_argument, SETTINGS),
    "strict partial": functools.partial(of_argument, STRICT),
}
TRANSFORMS = {
    "vjp": lambda f, x: te.vjp(f, x)[0] * te.vjp(f, x)[1](1.0)[0],
    "grad": lambda f, x: f(x) * te.grad(f)(x),
    "hessian": lambda f, x: f(x) * te.grad(f)(x) + te.hessian(f)(x),
    "stage": lambda f, x: f(x) * te.grad(te.stage(f))(x),
    "checkpoint": lambda f, x: f(x) * te.grad(te.checkpoint(f))(x),
    "lift": lambda f, x: f(x) * te.grad(te.lift(f))(x),
    "program": lambda f, x: f(x) * te.grad(te.program(f))(x),
    "vmap": lambda f, x: te.vmap(f)(np.array([x]))[0] * te.grad(f)(x),
    "fork_map": lambda f, x: te.fork_map(f, [x])[0] * te.grad(lambda x: te.fork_map(f, [x])[0])(x),
    "iterate": lambda f, x: te.iterate(f, 1, x) * te.grad(lambda x: te.iterate(f, 1, x))(x),
}


#: What `te.program` takes: the text of a function.
WRITTEN = ("outside", "strict outside")


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name, transform):
    if transform == "program" and name not in WRITTEN:
        with pytest.raises(UnsupportedError, match="takes a function that is written as a def"):
            TRANSFORMS[transform](FUNCTIONS[name], 1.5)
    else:
        assert TRANSFORMS[transform](FUNCTIONS[name], 1.5) == 6.0


@pytest.mark.parametrize("transform", [name for name in TRANSFORMS if name != "program"])
@pytest.mark.parametrize("given", [SETTINGS, STRICT, [SETTINGS]], ids=["dict", "strict", "list"])
def test_arguments(given, transform):
    def f(c, x):
        return (c[0] if isinstance(c, list) else c).k * x

    assert te.grad(lambda x: TRANSFORMS[transform](functools.partial(f, given), x))(1.5) == 4.0
    assert (
        te.grad(f, 1)(given, 1.5) == te.grad(te.program(f), 1)(given, 1.5) == te.grad(te.stage(f), 1)(given, 1.5) == 2.0
    )
    assert te.vmap(f, in_axes=(None, 0))(given, np.array([1.5]))[0] == 3.0


def test_dicts_of_other_classes_are_arguments_of_programs():
    @te.program
    def f(c, x):
        return c, c.k * x

    value, gradient = te.vjp(f, SETTINGS, 1.5)
    assert type(value[0]) is AttrDict
    assert value[1] == 3.0
    assert gradient((AttrDict(k=0.0), 1.0))[1] == 2.0


def test_views_of_memory_are_arguments_that_all_lanes_share():
    assert np.array_equal(
        te.vmap(lambda x, m: x * m[0], in_axes=(0, None))(np.array([1.5]), memoryview(b"ab")), [145.5]
    )


class Interval(tuple[float, float]):
    """A tuple of a class that is made of other arguments than its items."""

    width: float

    def __new__(cls, middle: float, width: float) -> "Interval":
        made = super().__new__(cls, (middle - width, middle + width))
        made.width = width
        return made


def test_tuples_that_are_made_of_other_arguments() -> None:
    def program(x: float) -> float:
        held = Interval(x, 0.5 * x)
        return te.checkpoint(lambda y: (held[0] + held[1]) * held.width * y)(x)  # type: ignore[no-any-return]

    assert te.value_and_grad(program)(2.0) == pytest.approx((8.0, 12.0), rel=1e-14)
    assert te.hessian(program)(2.0) == pytest.approx(12.0, rel=1e-14)
