"""`tapeengine.math` on zeros, infinities, NaN, the largest and the smallest numbers: the values and errors of `math`.

Each function runs on plain numbers, on dual numbers, and as a staged program that was recorded at one number and is
replayed at another.
"""

import itertools
import math
from collections.abc import Callable

import pytest
from outcomes import shown

import tapeengine as te
import tapeengine.math

EXTREMES = (0.0, -0.0, 1.5, -2.0, 3e307, -1e308, 1e-320, 1e-170, math.inf, -math.inf, math.nan)
MIXED = (*EXTREMES, 0, 1, -2, 3, True)

#: Functions with all arguments but one given, as functions of (module, x).
OF_ONE: dict[str, Callable] = {
    **{
        name: lambda module, x, name=name: getattr(module, name)(x)
        for name in (
            "exp expm1 exp2 log log1p log2 log10 sqrt cbrt sin tan sinh cosh tanh asin acosh atanh gamma lgamma erf "
            "fabs degrees radians ulp isfinite isinf isnan floor ceil trunc"
        ).split()
    },
    "ldexp up": lambda module, x: module.ldexp(x, 3),
    "ldexp far": lambda module, x: module.ldexp(x, 1030),
    "ldexp down": lambda module, x: module.ldexp(x, -1070),
    "frexp": lambda module, x: module.frexp(x)[0],
    "modf": lambda module, x: module.modf(x)[0],
    "fmod": lambda module, x: module.fmod(x, 0.75),
    "remainder": lambda module, x: module.remainder(x, 0.75),
    "pow": lambda module, x: module.pow(x, 3.0),
    "exponent": lambda module, x: module.pow(1.5, x),
    "dist": lambda module, x: module.dist([x, x], [1e-170, 0.0]),
    "hypot": lambda module, x: module.hypot(x, 1e-170, x),
    "prod": lambda module, x: module.prod([x, -2, x]),
    "fsum": lambda module, x: module.fsum([x, 1e308, x]),
    "atan2": lambda module, x: module.atan2(x, -0.0),
    "copysign": lambda module, x: module.copysign(1.5, x) * x,
    "nextafter": lambda module, x: module.nextafter(x, math.inf),
}

OF_TWO = ("atan2", "pow", "fmod", "remainder", "copysign", "hypot", "log", "nextafter")


@pytest.mark.parametrize("name", OF_ONE)
def test_plain_and_dual_numbers(name):
    f = OF_ONE[name]
    for x in MIXED:
        expected = shown(f, math, x)
        assert shown(f, tapeengine.math, x) == expected, x
        if type(x) is float:
            assert shown(lambda x: te.vjp(lambda x: f(tapeengine.math, x), x)[0], x) == expected, x


@pytest.mark.parametrize("name", OF_TWO)
def test_two_plain_numbers(name):
    for x, y in itertools.product(MIXED, repeat=2):
        assert shown(getattr(tapeengine.math, name), x, y) == shown(getattr(math, name), x, y), (x, y)


def test_products_keep_the_sign_of_zero():
    for numbers in itertools.product((0.0, -0.0, -2, 3, -1.5, 0), repeat=3):
        assert repr(tapeengine.math.prod(numbers)) == repr(math.prod(numbers)), numbers


@pytest.mark.parametrize("name", OF_ONE)
def test_replays(name):
    f = OF_ONE[name]
    for recorded in EXTREMES:
        staged = te.stage(lambda x: f(tapeengine.math, x) * 1e-3)
        for x in (recorded, recorded, *EXTREMES):
            assert shown(staged, x) == shown(lambda x: f(math, x) * 1e-3, x), (recorded, x)
