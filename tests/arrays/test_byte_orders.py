"""Arrays in the other byte order or at unaligned addresses, and dtypes that cannot hold derivatives."""

from __future__ import annotations

import inspect
import os
import warnings
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy
import numpy_calls
import pytest
from namespaces import ARGUMENTS, DATA, LEFT_OUT, Case, functions_of, kinds_of, recipes
from verdicts import attempted, numbers_of, quiet, weights

import tapeengine as te
import tapeengine.numpy as np
from tapeengine.errors import TapeEngineError


def swapped(x: Any) -> Any:
    """The same values in the other byte order."""
    return x.astype(x.dtype.newbyteorder("S")) if isinstance(x, (numpy.ndarray, te.Array)) else x


def unaligned(x: Any) -> Any:
    """The same values at odd addresses, in rows of bytes."""
    if not isinstance(x, numpy.ndarray):
        return x
    found = numpy.zeros(x.shape, [("a", "u1"), ("b", x.dtype)])["b"]
    found[...] = x
    return found


def gradients(program: Any, primals: Any) -> Any:
    with quiet():
        value, back = te.vjp(lambda *x: numbers_of(program(np, *x)), *primals)
        return value, back(weights(value))


@pytest.mark.parametrize("call", numpy_calls.calls(), ids=lambda call: call.name)
def test_byte_orders_and_addresses_do_not_matter(call: Any) -> None:
    expected = gradients(call.program, call.primals)
    inside = gradients(lambda np, *x: call.program(np, *map(swapped, x)), call.primals)
    for found in (inside, *(gradients(call.program, list(map(form, call.primals))) for form in (swapped, unaligned))):
        for ours, theirs in zip(found[0], expected[0], strict=True):
            numpy.testing.assert_allclose(ours, theirs, rtol=1e-13, atol=1e-13)
        for ours, theirs in zip(found[1], expected[1], strict=True):
            numpy.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12)


X = numpy.array([1.0, 2.0, 3.0])
T = numpy.array([0.5, 0.25, 2.0])


@te.primitive
def doubled(x: Any) -> Any:
    return 2.0 * x


doubled.def_vjp(x=lambda ct, x: swapped(2.0 * ct))
doubled.def_jvp(x=lambda t, x: swapped(2.0 * t))

#: Ways to get an array of another dtype, which may have the other byte order; ufuncs refuse one in `dtype=`.
WAYS: dict[str, Any] = {
    "astype": lambda x, dtype: x.astype(dtype),
    "astype(copy=False)": lambda x, dtype: x.astype(dtype, copy=False),
    "numpy.astype": lambda x, dtype: numpy.astype(x, dtype),
    "asarray": lambda x, dtype: np.asarray(x, dtype=dtype),
    "array": lambda x, dtype: np.array(x, dtype=dtype),
    "array of a list": lambda x, dtype: np.array([x[0], x[1], x[2]], dtype=dtype),
    "concatenate": lambda x, dtype: numpy.concatenate([x[:1], x[1:]], dtype=dtype),
    "stack": lambda x, dtype: numpy.stack([x, x], dtype=dtype),
    "cumsum": lambda x, dtype: numpy.cumsum(x, dtype=dtype),
    "cumprod": lambda x, dtype: numpy.cumprod(x, dtype=dtype),
    "full": lambda x, dtype: np.full(3, x[1], dtype),
    "full_like": lambda x, dtype: numpy.full_like(x, x[1], dtype),
    "written": lambda x, dtype: written(np.zeros(3, dtype), x),
    "copyto": lambda x, dtype: numpy.copyto(made := np.zeros(3, dtype), x, casting="unsafe") or made,
    "where": lambda x, dtype: numpy.where([True, False, True], x, numpy.ones(3, dtype)),
    "a factor": lambda x, dtype: x * numpy.array([3, 2, 5], dtype),
    "a matrix": lambda x, dtype: numpy.arange(6).reshape(2, 3).astype(dtype) @ x,
    "einsum": lambda x, dtype: numpy.einsum("i,i->i", x, numpy.array([3, 2, 5], dtype)),
    "a rule": lambda x, dtype: doubled(x).astype(dtype),
}
#: What a program does with the array.
USES: dict[str, Any] = {
    "itself": lambda y: y,
    "square": lambda y: y * y,
    "view": lambda y: y[::-1],
    "function": lambda y: numpy.exp(-y),
    "back": lambda y: y.astype(complex),
}


def written(array: Any, x: Any) -> Any:
    array[...] = x
    return array


def derivatives(program: Any) -> Any:
    """The derivatives of a program by every transform, of first and second order."""

    def parts(x: Any) -> Any:
        y = numpy.ravel(program(x))
        return np.concatenate([y.real, y.imag])

    def total(x: Any) -> Any:
        return (parts(x) ** 2).sum()

    yield te.jvp(program, (X,), (T,))[1]
    yield te.jvp(parts, (X,), (T,))[1]
    yield te.linearize(parts, X)[1](T)
    yield te.jacfwd(parts)(X)
    yield te.jacrev(parts)(X)
    yield te.grad(total)(X)
    yield te.hessian(total)(X)
    yield te.hvp(total, (X,), (T,))
    yield te.jvp(te.grad(total), (X,), (T,))[1]
    yield te.jacfwd(te.jacfwd(parts))(X)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("char", "fdFD" if os.environ.get("TAPEENGINE_NIGHTLY") else "fD")
def test_derivatives_are_those_of_the_machines_byte_order(way: str, char: str) -> None:
    native = numpy.dtype(char)
    for use in USES.values():
        with quiet():
            found, wanted = (
                list(derivatives(lambda x, dtype=dtype, use=use: use(WAYS[way](x, dtype))))
                for dtype in (native.newbyteorder("S"), native)
            )
        for ours, theirs in zip(found, wanted, strict=True):
            numpy.testing.assert_allclose(ours, theirs, rtol=1e-6 if char in "fF" else 1e-14, atol=0)


def test_cotangents_and_tangents_of_another_byte_order() -> None:
    x, ct = numpy.array([0.4, 1.7, 0.8]), numpy.array([1.0, -2.0, 0.5])
    for form in (swapped, unaligned):
        assert numpy.array_equal(te.vjp(lambda x: x * x, x)[1](form(ct))[0], 2 * x * ct)
        assert numpy.array_equal(te.jvp(lambda x: x * x, (x,), (form(ct),))[1], 2 * x * ct)


def test_writes_to_an_array_of_another_byte_order() -> None:
    def program(x: Any) -> Any:
        y = np.zeros(3, ">f8")
        y[:2] = x[:2]
        y[2] = x[0] * x[1]
        y[0] += 1.0
        y *= 2.0
        return y.sum() * y[1]

    x = numpy.array([0.4, 1.7])
    value, (gradient,) = te.vjp(program, x)[0], te.vjp(program, x)[1](1.0)
    assert abs(value - 2.0 * 1.7 * (2.0 * (1.4 + 1.7 + 0.68))) < 1e-13
    total = 1.4 + 1.7 + 0.68
    numpy.testing.assert_allclose(gradient, [4 * 1.7 * 2.7, 4 * total + 4 * 1.7 * 1.4], rtol=1e-13)


def strange_dtypes() -> Iterator[Any]:
    yield numpy.dtype("f8,i4")
    try:
        import ml_dtypes
    except ImportError:
        return
    yield numpy.dtype(ml_dtypes.bfloat16)


def takes_dtype(function: Any) -> bool:
    if isinstance(function, numpy.ufunc):
        return True
    try:
        return "dtype" in inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False


def calls_with(dtype: Any) -> Iterator[tuple[str, Any, Any]]:
    """The calls that numpy answers with an array of a dtype, and the traced data."""
    for name, function in functions_of(numpy).items():
        if name in LEFT_OUT or name in ("zeros_like", "ones_like") or not takes_dtype(function):
            continue
        for args in recipes(function, ARGUMENTS.get(name)):
            case = Case(partial(getattr(np, name), dtype=dtype), args, 0, False)
            point = DATA[kinds_of(args)[0]]
            if getattr(attempted(case.program, point)[0], "dtype", None) == dtype:
                yield f"{name}{args}", case.program, point
    for form in ("astype", "__array__"):
        yield form, lambda x, form=form: getattr(x, form)(dtype), DATA["V"]


@pytest.mark.parametrize("dtype", strange_dtypes(), ids=str)
def test_dtypes_that_cannot_hold_derivatives_are_refused(dtype: Any) -> None:
    wrong = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for label, program, point in calls_with(dtype):
            try:
                te.vjp(lambda x, p=program: [p(x), x * 1.0][1], point)
                wrong.append(label)
            except TapeEngineError:
                pass
    assert not wrong


def test_whole_numbers_of_what_is_none() -> None:
    """As numpy's `full`, which casts in every case."""
    with quiet():
        for fill in (numpy.nan, numpy.inf, 2.7):
            for made in (lambda x: np.full(3, x, int), lambda x: np.full_like(numpy.zeros(3, int), x)):
                value = te.vjp(lambda x, made=made: [made(x), x * 1.0][0], fill)[0]
                assert numpy.array_equal(value, numpy.full(3, fill, int))
