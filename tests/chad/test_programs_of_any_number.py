"""A program of any number of arguments gives what the plain function gives on dual numbers."""

import math

import numpy as np
import pytest
from outcomes import outcome

import tapeengine as te
from tapeengine.errors import UnsupportedError


def squares(*xs):
    return sum(x * x for x in xs)


def mixed(x, *xs, k=2.0, **more):
    return x * k + sum(x * y for y in xs) + math.sin(more.get("w", 0.0))


def by_name(x, **options):
    return x * options.get("scale", 2.0)


CALLS = {
    squares: (((1.0, 2.0, 3.0), {}), ((), {}), ((np.array([1.0, 2.0]), 3.0), {})),
    mixed: (((1.0,), {}), ((1.0, 2.0), {"w": 0.5}), ((1.0, 2.0, 3.0), {"k": 3.0, "w": 0.5}), ((), {})),
    by_name: (((1.5,), {}), ((1.5,), {"scale": 3.0}), ((1.5, 2.0), {})),
}
TRANSFORMS = {
    "call": lambda f, args, named: f(*args, **named),
    "vjp": lambda f, args, named: te.vjp(f, *args, **named)[0],
    "cotangents": lambda f, args, named: te.vjp(f, *args, **named)[1](1.0),
    "grad": lambda f, args, named: te.grad(f, argnums=tuple(range(len(args))))(*args, **named),
    "jvp": lambda f, args, named: te.jvp(f, args, tuple(x * 0.0 + 1.0 for x in args)),
    "hessian": lambda f, args, named: te.hessian(f)(*args, **named),
    "jacobian": lambda f, args, named: te.jacobian(f)(*args, **named),
    "nested": lambda f, args, named: te.grad(lambda y: f(y, *args[1:], **named) * y)(args[0]),
}


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("function", CALLS)
def test_a_call(function, transform):
    of = TRANSFORMS[transform]
    for args, named in CALLS[function]:
        found, wanted = (outcome(lambda f=f, a=args, n=named: of(f, a, n)) for f in (te.program(function), function))
        if isinstance(wanted, Exception):
            assert (type(found), str(found)) == (type(wanted), str(wanted))
        else:
            assert repr(found) == repr(wanted)


def test_its_value():
    assert te.program(mixed).value(1.0, 2.0, k=3.0) == mixed(1.0, 2.0, k=3.0)


def test_a_program_that_calls_it():
    inner = te.program(squares)
    outer = te.program(lambda x: inner(x, 2.0) + x)
    assert te.vjp(outer, 3.0)[0] == 16.0
    assert te.grad(outer)(3.0) == 7.0


def test_it_has_no_derivative_as_text():
    with pytest.raises(UnsupportedError, match=r"parameter with \*"):
        te.program(squares).derivative()
    assert "runs on dual numbers" in te.program(squares).inspect()


def test_annotations_change_nothing():
    def f(*xs: float) -> float:
        return xs[0] * xs[1]

    assert te.grad(te.program(f))(2.0, 3.0) == 3.0
