"""Plain arrays as outputs and targets: they hold what depends on no input, and anything else is refused."""

import operator
from collections.abc import Callable
from typing import Any

import numpy
import pytest

import tapeengine as te
import tapeengine.numpy as np
from tapeengine.errors import UnsupportedError

X = numpy.array([[0.3, -1.2, 2.6], [0.7, 1.9, -0.4]])
Y = numpy.array([[0.5, 0.4, -0.9], [1.3, 1.7, 0.6]])
UFUNCS = {name: f for name, f in sorted(vars(numpy).items()) if isinstance(f, numpy.ufunc) and f.signature is None}
UFUNCS = {name: f for name, f in UFUNCS.items() if any(set(t.split("->")[0]) == {"d"} for t in f.types)}
#: Results that are integers, booleans, or constant piece by piece.
DISCRETE = {
    *("ceil", "floor", "isfinite", "isinf", "isnan", "logical_not", "rint", "sign", "signbit", "spacing", "trunc"),
    *("equal", "floor_divide", "greater", "greater_equal", "heaviside", "less", "less_equal", "logical_and"),
    *("logical_or", "logical_xor", "not_equal"),
}
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "argmax": lambda x, out: np.argmax(x, axis=1, out=out),
    "argmin": lambda x, out: x.argmin(0, out),
    "any": lambda x, out: np.any(x > 0.5, axis=0, out=out),
    "all": lambda x, out: np.all(x, axis=0, out=out),
    "round": lambda x, out: np.round(x, 1, out=out),
    "around": lambda x, out: np.around(x, 1, out),
    "fix": lambda x, out: np.fix(x, out),
    "isposinf": lambda x, out: np.isposinf(x, out=out),
    "sum of a mask": lambda x, out: (x > 0.0).sum(axis=0, out=out),
    "reduced comparison": lambda x, out: np.logical_and.reduce(x, axis=1, out=out),
    "method round": lambda x, out: x.round(1, out),
}
SUBTRACTED = (
    operator.isub,
    lambda a, b: numpy.subtract(a, b, out=a),
    lambda a, b: numpy.subtract(a, b, a),
)


def arguments(ufunc: Any, x: Any) -> tuple[Any, ...]:
    return (x, Y)[: ufunc.nin]


def places(result: Any) -> Any:
    """Plain arrays of the forms of a result."""
    parts = result if isinstance(result, tuple) else (result,)
    found = tuple(numpy.full(part.shape, 7, part.dtype) for part in parts)
    return found if isinstance(result, tuple) else found[0]


def equal(a: Any, b: Any) -> bool:
    return all(numpy.array_equal(x, y, equal_nan=True) for x, y in zip(a, b, strict=True))


@pytest.mark.parametrize("name", UFUNCS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_ufuncs(name: str) -> None:
    ufunc = UFUNCS[name]
    wanted = ufunc(*arguments(ufunc, X))
    held = places(wanted)

    def program(x: Any) -> Any:
        ufunc(*arguments(ufunc, x), out=held)
        return x.sum()

    if name in DISCRETE:
        te.grad(program)(X)
        assert equal(*(x if isinstance(x, tuple) else (x,) for x in (held, wanted)))
    elif wanted[0].dtype.kind == "f" if isinstance(wanted, tuple) else wanted.dtype.kind == "f":
        with pytest.raises(UnsupportedError):
            te.grad(program)(X)


@pytest.mark.parametrize("name", sorted(DISCRETE))
def test_masked_outputs(name: str) -> None:
    ufunc, where = UFUNCS[name], X > 0.0
    wanted = places(ufunc(*arguments(ufunc, X)))
    held = wanted.copy()
    ufunc(*arguments(ufunc, X), out=wanted, where=where)
    te.grad(lambda x: (ufunc(*arguments(ufunc, x), out=held, where=x > 0.0), x.sum())[1])(X)
    assert numpy.array_equal(held, wanted)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name: str) -> None:
    function = FUNCTIONS[name]
    wanted = places(function(X, None))
    held = wanted.copy()
    function(X, wanted)
    te.grad(lambda x: (function(x, held), x.sum())[1])(X)
    assert held.dtype == wanted.dtype and numpy.array_equal(held, wanted)


def test_one_part_may_be_discrete() -> None:
    def fraction(x: Any) -> Any:
        part, whole = np.zeros_like(x), numpy.empty(X.shape)
        np.modf(x, out=(part, whole))
        return (part * whole).sum()

    assert numpy.array_equal(te.grad(fraction)(X), numpy.trunc(X))


def test_replays_see_what_plain_arrays_hold() -> None:
    def rounded(x: Any) -> Any:
        whole = numpy.empty(X.shape)
        np.floor(x, out=whole)
        return (x * whole).sum()

    staged = te.stage(rounded)
    for factor in (1.0, 1.0, 3.0, 1.0, -2.0):
        assert numpy.array_equal(te.grad(staged)(factor * X), numpy.floor(factor * X))


@pytest.mark.parametrize("subtracted", SUBTRACTED)
def test_constants_of_a_trace_go_into_plain_arrays(subtracted: Callable[[Any, Any], Any]) -> None:
    """The first run of a checkpointed function is such a program: its arguments are plain."""

    def program(x: Any) -> Any:
        plain, made = numpy.ones(3), np.full(3, 0.25)
        subtracted(plain, made)
        numpy.add.at(plain, [0, 0], made[0])
        numpy.copyto(plain, made, where=numpy.array([False, True, False]))
        return (x * plain).sum()

    assert numpy.array_equal(te.grad(program)(X[0]), [1.25, 0.25, 0.75])
    with pytest.raises(UnsupportedError, match="cannot hold traced values"):
        te.grad(lambda x: subtracted(numpy.ones(3), x).sum())(X[0])


@pytest.mark.parametrize("subtracted", SUBTRACTED)
def test_lists_of_traced_numbers_do_not_go_into_plain_arrays(subtracted: Callable[[Any, Any], Any]) -> None:
    """An in-place operator does not ask the elements of a list, so that the error is numpy's, with a note."""
    with pytest.raises((UnsupportedError, TypeError)) as found:
        te.grad(lambda x: subtracted(numpy.ones(3), list(x)).sum())(X[0])
    texts = [str(found.value), *getattr(found.value, "__notes__", ())]
    assert any("cannot hold traced values. Make the array" in text for text in texts)


def test_checkpointed_functions_change_their_own_arrays() -> None:
    def orthogonal(a: Any) -> Any:
        q = np.zeros_like(a)
        for j in range(a.shape[1]):
            v = a[:, j].copy()
            for i in range(j):
                v -= (q[:, i] @ a[:, j]) * q[:, i]
            q[:, j] = v / np.sqrt(v @ v)
        return (q * X[:, :2]).sum()

    a = X[:, :2] + numpy.eye(2)
    assert numpy.array_equal(te.grad(te.checkpoint(orthogonal))(a), te.grad(orthogonal)(a))


#: Methods of a plain array, whose output is traced.
METHODS: dict[str, Callable[..., Any]] = {
    name: lambda a, out, name=name: getattr(a, name)(axis=0, out=out)
    for name in ("sum", "prod", "max", "min", "mean", "var", "std", "cumsum", "cumprod", "argmax")
} | {
    "clip": lambda a, out: a.clip(0.1, 1.5, out=out),
    "round": lambda a, out: a.round(1, out=out),
    "dot": lambda a, out: a.dot(numpy.ones(3), out=out),
    "take": lambda a, out: a.take([0, 1], out=out),
    "compress": lambda a, out: a.compress([1, 0], axis=0, out=out),
    "trace": lambda a, out: a.trace(out=out),
}


@pytest.mark.parametrize("name", METHODS)
def test_methods_of_plain_arrays_write_to_traced_outputs_or_refuse(name: str) -> None:
    wanted = METHODS[name](X, None)

    def program(s: Any) -> Any:
        out = s * numpy.ones(wanted.shape)
        METHODS[name](X, out)
        return out

    try:
        found = te.vjp(program, 2.0)[0]
    except (UnsupportedError, TypeError):
        assert name not in ("sum", "prod", "max", "min", "clip")
    else:
        numpy.testing.assert_array_equal(found, wanted)


#: Results that are discrete, which are written to a traced output.
INTO_TRACED: dict[str, Callable[..., Any]] = {
    "method any": lambda a, out: a.any(axis=0, out=out),
    "method all": lambda a, out: a.all(axis=0, out=out),
    "add.reduce": lambda a, out: numpy.add.reduce(a.astype(int), axis=0, dtype=int, out=out),
    "multiply.reduce": lambda a, out: numpy.multiply.reduce(a.astype(int), dtype=int, out=out, initial=3),
    "logical_or.reduce": lambda a, out: numpy.logical_or.reduce(a, axis=0, dtype=bool, out=(out,)),
    "add.accumulate": lambda a, out: numpy.add.accumulate(a[0].astype(int), dtype=int, out=out),
    "maximum.reduceat": lambda a, out: numpy.maximum.reduceat(a.astype(int), [0, 1, 2], 1, int, out[None].repeat(2, 0)),
    "method prod": lambda a, out: a.astype(int).prod(axis=0, dtype=int, out=out),
    "sum": lambda a, out: numpy.sum(a.astype(int), axis=0, dtype=int, out=out),
    "floor": lambda a, out: numpy.floor(a[0], out=out),
    "greater": lambda a, out: numpy.greater(a[0], 0.5, out=out),
    "rint": lambda a, out: numpy.rint(a[0], out=out, where=a[1] > 0.5),
    "floor_divide": lambda a, out: numpy.floor_divide(a[0], 0.4, out=out),
}


@pytest.mark.parametrize("of_traced", [False, True])
@pytest.mark.parametrize("name", INTO_TRACED)
def test_discrete_results_are_written_to_traced_outputs(name: str, of_traced: bool) -> None:
    wanted = numpy.full(3, 2.25)
    INTO_TRACED[name](X, wanted)

    def program(s: Any) -> Any:
        out = s * numpy.ones(3)
        INTO_TRACED[name](X * (s / 2.25) if of_traced else X, out)
        return out

    value, backpropagator = te.vjp(program, 2.25)
    numpy.testing.assert_array_equal(value, wanted)
    assert backpropagator(numpy.ones(3)) == (float(numpy.sum(wanted == 2.25)),)


@pytest.mark.parametrize("low", [0.5, None])
def test_the_method_clip_of_plain_arrays_with_traced_limits(low: float | None) -> None:
    def ways(x: Any) -> Any:
        limits = x[0] if low is None else low, x[1:] ** 2
        return numpy.sum(X.clip(*limits) ** 3), numpy.sum(numpy.clip(X, *limits) ** 3)

    point = numpy.array([0.2, 0.6, 1.1, 0.8])
    for of in (te.jacobian(ways), te.hessian(lambda x: ways(x)[0] - ways(x)[1])):
        found = of(point)
        method, function = found if isinstance(found, tuple) else (found, 0.0 * found)
        numpy.testing.assert_allclose(method, function, atol=1e-14)
