"""A traced complex number has the plain one's results of numpy's functions and numbers: class, bits, signs of zeros."""

from __future__ import annotations

import itertools
import operator
from typing import Any

import numpy
import pytest

import tapeengine as te

UNARY = """absolute angle arccos arccosh arcsin arcsinh arctan arctanh conjugate cos cosh exp exp2 expm1 imag log log10
log1p log2 negative real reciprocal sin sinh sqrt tan tanh""".split()
BINARY = (operator.add, operator.sub, operator.mul, operator.truediv, operator.pow, numpy.power, numpy.divide)
NUMBERS = (
    *(1.2 + 0.7j, -130.4 + 172.8j, 0.78 + 0.0j, -73.3 + 0.0j, 0.5j, 869.3 + 90.5j, -365.0 - 955.1j),
    *(-255.7 - 506.2j, 3.5 - 0.1j, 0.3 + 2.1j, 7.7 + 0.9j),
)
OTHERS = (2, 3, 0.5, 1.5 - 0.5j, numpy.int64(3), numpy.float64(-0.75), numpy.complex128(0.4 + 1.1j))


def outcome(f: Any, z: Any) -> Any:
    """What a program returns, or the class of what Python raises."""
    try:
        return f(z)
    except ArithmeticError as error:
        return type(error)


def same(x: Any, y: Any) -> bool:
    if isinstance(x, type):
        return x is y
    bits = numpy.asarray(x).tobytes() == numpy.asarray(y).tobytes()
    return type(x) is type(y) and (bits or bool(numpy.isnan(x) and numpy.isnan(y)))


def differing(f: Any) -> list[Any]:
    """The numbers for which the traced program returns something else than the plain one."""
    with numpy.errstate(all="ignore"):
        return [z for z in NUMBERS if not same(outcome(f, z), outcome(lambda z: te.vjp(f, z)[0], z))]


@pytest.mark.parametrize("name", UNARY)
def test_functions(name: str) -> None:
    assert differing(getattr(numpy, name)) == []


@pytest.mark.parametrize("by", BINARY, ids=lambda by: f"{by.__module__}.{by.__name__}")
@pytest.mark.parametrize("other", OTHERS, ids=repr)
def test_functions_of_two(by: Any, other: Any) -> None:
    def forwards(z: Any) -> Any:
        return by(z, other)

    def reflected(z: Any) -> Any:
        return by(other, z)

    for f in (forwards, reflected):
        if by is operator.mul and f is reflected and type(other) is numpy.complex128:
            continue  # numpy calls the ufunc, whose last bit may differ from that of its numbers
        assert differing(f) == []


CLASSES = (complex, numpy.complex128, numpy.complex64)


@pytest.mark.parametrize("by", BINARY, ids=lambda by: f"{by.__module__}.{by.__name__}")
def test_functions_of_two_traced_numbers(by: Any) -> None:
    wrong = []
    for one, other in itertools.product(CLASSES, CLASSES):
        for z, w in itertools.product(NUMBERS, NUMBERS):
            pair = one(z), other(w)
            with numpy.errstate(all="ignore"):
                expected, found = outcome(lambda p: by(*p), pair), outcome(lambda p: te.vjp(by, *p)[0], pair)
                wrong += [] if same(expected, found) else [(pair, expected, found)]
    assert not wrong, wrong


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("x", [numpy.array(1.7), numpy.array(1.7, numpy.float32), numpy.float64(1.7)], ids=repr)
def test_conversions_keep_the_class(x: Any, dtype: str) -> None:
    plain, value = x.astype(dtype), te.vjp(lambda x: x.astype(dtype), x)[0]
    assert type(value) is type(plain)
    assert value.dtype == plain.dtype


PARTS = (lambda v: v[0], lambda v: v.sum(), lambda v: numpy.sin(v[1]), lambda v: v[:1].reshape(()), lambda v: v[0] * 2)


@pytest.mark.filterwarnings("ignore:Casting complex")
@pytest.mark.parametrize("to", [int, bool, "i1", "u2", object, "U5", "S3"], ids=str)
def test_elements_as_what_has_no_derivative(to: Any) -> None:
    for part, dtype in itertools.product(PARTS, "fdFD"):
        v = numpy.array([1.5, 2.0], dtype)
        plain, value = part(v).astype(to), te.vjp(lambda v, part=part: part(v).astype(to), v)[0]
        assert (type(value), str(value)) == (type(plain), str(plain)), (part(v), to)
        te.vjp(lambda v, part=part: part(v.copy()).fill(3), v)  # numpy fills a copy of a number


@pytest.mark.parametrize("by", (operator.neg, operator.pos, abs, numpy.absolute), ids=lambda by: by.__name__)
@pytest.mark.parametrize("dtype", "DF")
def test_operators_of_elements(by: Any, dtype: str) -> None:
    parts = numpy.random.default_rng(5).normal(size=(300, 2)) * 10.0 ** numpy.arange(-7, 8).repeat(20)[:, None]
    z = (parts[:, 0] + 1j * parts[:, 1]).astype(dtype)
    for k in range(len(z)):
        for point, f in ((z, lambda z, k=k: by(z[k])), (z[k], by)):
            assert same(f(point), te.vjp(f, point)[0])
