"""numpy's functions on one traced number give the class, dtype and shape that they give for the plain number."""

import copy
import functools
from typing import Any

import numpy
import pytest

import tapeengine as te
import tapeengine.numpy as np
from tapeengine.errors import TapeEngineError

NUMBERS = (0.7, numpy.float64(0.7), 0.7 + 0.2j, numpy.complex128(0.7 + 0.2j))
#: Arbitrary values, addresses, and results whose class the engine cannot know: truth values, text, numbers as they are.
EXCEPTED = {"empty_like", "isreal", "array_repr", "array_str", "array2string", "trim_zeros"}
FUNCTIONS = {
    f"{getattr(f, '__module__', None) or 'numpy'}.{f.__name__}": f
    for f in te.Engine().rules.table
    if not isinstance(f, (tuple, type)) and (getattr(f, "__module__", None) or "numpy").startswith("numpy")
    if f.__name__ not in EXCEPTED
}


def seen(value: Any) -> Any:
    if isinstance(value, (tuple, list)):
        return type(value), [*map(seen, value)]
    return type(value), getattr(value, "dtype", None), numpy.asarray(value).tobytes(), numpy.shape(value)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("x", NUMBERS, ids=lambda x: type(x).__name__)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_class_of_a_result(name: str, x: Any) -> None:
    try:
        with numpy.errstate(all="ignore"):
            wanted = seen(FUNCTIONS[name](x))
    except Exception:
        return
    try:
        found = te.vjp(FUNCTIONS[name], x)[0]
    except TapeEngineError:
        return
    assert seen(found) == wanted


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", "efdbF")
@pytest.mark.parametrize("name", sorted(FUNCTIONS.keys() - {"numpy.array_split"}))  # into a million parts
def test_the_dtype_of_a_result_beside_a_plain_array(name: str, dtype: str) -> None:
    """numpy's numbers promote an array; only those of Python adapt to it."""
    f, primal = FUNCTIONS[name], numpy.array([1e6, 1.0])
    for program in (
        lambda x: f(x[0], numpy.ones(2, dtype)),
        lambda x: f(numpy.ones(2, dtype), x[0]),
        lambda x: f(numpy.ones(2, dtype), 0.5 * x[0] + 1e5),
    ):
        for x in (primal, (0.5,)):
            try:
                with numpy.errstate(all="ignore"):
                    wanted = seen(program(copy.copy(x)))
            except Exception:
                continue
            try:
                with numpy.errstate(all="ignore"):
                    found = te.vjp(program, x)[0]
            except TapeEngineError:
                continue
            assert seen(found) == wanted


#: Calls with these further arguments and options give numbers or arrays without axes.
FURTHER: tuple[Any, ...] = (
    *(((), {}), ((0,), {}), ((1,), {}), ((2.0,), {}), (((),), {}), ((None,), {}), ((1, 0), {})),
    *(
        (
            ((), {"axis": None}),
            ((), {"axis": ()}),
            ((), {"keepdims": True}),
            ((), {"dtype": float}),
            ((), {"copy": False}),
        )
    ),
    *((((), {"order": "F"}), (((),), {"order": "F"}), ((1,), {"out": None}))),
)
PRIMALS = {
    "float64": numpy.array([0.9, 0.3]),
    "float32": numpy.array([0.9, 0.3], "f"),
    "complex128": numpy.array([0.9 + 0.1j, 0.3]),
    "complex64": numpy.array([0.9, 0.3j], "F"),
    "Python's float": (0.9,),
}
#: The last bit of numpy's own result for a complex64 number differs from call to call.
UNSTABLE = {"numpy.square"}


def kind_of(result: Any) -> Any:
    return numpy.shape(result), getattr(result, "dtype", numpy.dtype(float)).kind


def changed(call: Any, x: Any) -> Any:
    """The value of a result before a change in place, which changes arrays and no numbers."""
    result = call(x)
    if kind_of(result) not in (((), "f"), ((), "c")) or type(result) in (int, bool):
        return None
    kept = result
    result += 1
    return kept


def outcome(call: Any, x: Any) -> Any:
    """The result, or the class of the error."""
    with numpy.errstate(all="ignore"):
        try:
            return seen(call(x))
        except Exception as error:
            return type(error)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("primal", PRIMALS)
@pytest.mark.parametrize("name", sorted(FUNCTIONS.keys() - UNSTABLE))
def test_a_result_is_a_number_or_an_array(name: str, primal: str) -> None:
    for args, options in FURTHER:

        def program(x: Any, args: Any = args, options: Any = options) -> Any:
            return FUNCTIONS[name](x[0], *args, **options)

        x = PRIMALS[primal]
        for call in (program, functools.partial(changed, program)):
            wanted, found = outcome(call, x), outcome(lambda x, call=call: te.vjp(call, x)[0], x)
            is_error = isinstance(found, type) and issubclass(found, TapeEngineError)
            assert is_error or isinstance(wanted, type) or found == wanted, (args, options)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("x", (*NUMBERS, numpy.array(0.7)), ids=lambda x: type(x).__name__)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_an_axis_of_a_number(name: str, x: Any) -> None:
    for option in ("axis", "axes"):
        for axis in (0, -1, 1, (), (0,), (0, 0), None, 1.5):
            errors: list[Any] = []
            for call in (FUNCTIONS[name], lambda x, **options: te.vjp(lambda x: FUNCTIONS[name](x, **options), x)[0]):
                try:
                    with numpy.errstate(all="ignore"):
                        call(x, **{option: axis})
                    errors.append(None)
                except Exception as error:
                    errors.append(type(error))
            plain, traced = errors
            is_refused = traced is not None and issubclass(traced, TapeEngineError)
            # traced numbers have the attributes of numpy's
            assert plain in (traced, AttributeError) or is_refused, (option, axis)


#: Second arguments of several dtypes, and sequences.
SECOND: tuple[Any, ...] = (
    *((), [0], [0.5], [1, 0], [0.25, 0.75], 0, 1, 0.5, True, 1j, [1j], [[1.0, 0.0], [0.0, 1.0]]),
    *(numpy.float32(0.5), numpy.float64(0.5), numpy.int8(1), numpy.array(0.5), numpy.array(1), numpy.array([1, 0])),
)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("primal", ("float32", "float64"))
@pytest.mark.parametrize("name", sorted(FUNCTIONS.keys() - {"numpy.astype"}))
def test_the_dtype_of_a_result_beside_a_number_or_a_sequence(name: str, primal: str) -> None:
    f, x = FUNCTIONS[name], PRIMALS[primal]
    for y in SECOND:
        for call in (
            lambda x, y=y: f(x, y),
            lambda x, y=y: f(x[0], y),
            lambda x, y=y: f(y, x),
            lambda x, y=y: f(y, x[0]),
        ):
            wanted = outcome(call, copy.copy(x))
            found = outcome(lambda x, call=call: te.vjp(call, x)[0], x)
            if isinstance(wanted, type) or (isinstance(found, type) and issubclass(found, TapeEngineError)):
                continue
            assert found[:2] + found[3:] == wanted[:2] + wanted[3:], y


@pytest.mark.parametrize("name", ("ceil", "floor", "trunc", "negative", "sign", "add"))
@pytest.mark.parametrize("x", (numpy.array([0.3, 1.7]), numpy.array(1.7), (1.7,)), ids=("vector", "array", "number"))
def test_ufuncs_of_objects(name: str, x: Any) -> None:
    """The elements have the classes of Python, and a result without axes is one of them."""

    def program(x: Any) -> Any:
        x = x[0] if isinstance(x, tuple) else x
        return getattr(numpy, name)(*(x,) * (1 + (name == "add")), dtype=object)

    wanted, found = program(x), te.value(te.vjp(program, x)[0])
    assert numpy.ndim(found) == numpy.ndim(wanted)
    assert numpy.array_equal(numpy.asarray(found, float), numpy.asarray(wanted, float))


@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize("given", (0, 1))
@pytest.mark.parametrize("name", ("modf", "frexp", "divmod"))
def test_one_output_of_two(name: str, given: int, order: str) -> None:
    """The place of one result says the shape and the order of both."""

    def call(n: Any, x: Any) -> Any:
        ufunc = getattr(numpy, name)
        dtype = int if name == "frexp" and given else float
        places: list[Any] = [None, None]
        places[given] = n.zeros((2, 3), dtype, order=order)
        return ufunc(*((x, 0.7) if name == "divmod" else (x,)), out=tuple(places))

    for x in (numpy.array([1.5, -2.5, 3.25]), numpy.arange(6.0).reshape(3, 2).T + 0.5):
        found, wanted = te.vjp(lambda x: call(np, x), x)[0], call(numpy, x)
        for one, other in zip(found, wanted, strict=True):
            assert seen(one) == seen(other)
            assert one.strides == other.strides


@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize("outputs", (1, 2))
def test_the_order_of_what_vectorize_joins(order: str, outputs: int) -> None:
    def call(n: Any, x: Any) -> Any:
        return n.vectorize((lambda v: v * v) if outputs == 1 else (lambda v: (v * v, v)))(x)

    for x in (numpy.arange(6.0).reshape(2, 3), numpy.arange(12.0).reshape(2, 3, 2), numpy.arange(3.0)):
        x = numpy.asarray(x, order=order)
        found, wanted = te.vjp(lambda x: call(np, x), x)[0], call(numpy, x)
        for one, other in zip(*((found, wanted) if outputs == 2 else ((found,), (wanted,))), strict=True):
            assert seen(one) == seen(other)
            assert one.strides == other.strides


@pytest.mark.parametrize("dtype", (float, complex, numpy.float32))
@pytest.mark.parametrize("axis", (None, 0, 1))
@pytest.mark.parametrize("name", ("mean", "var", "std", "nanmean", "nanvar"))
def test_the_bits_of_averages_of_some_elements(name: str, axis: Any, dtype: Any) -> None:
    generator = numpy.random.default_rng(4)
    for _ in range(20):
        z = generator.normal(size=(6, 22)).astype(numpy.float32 if dtype is numpy.float32 else float).view(dtype)
        where = generator.random(z.shape) < 0.7
        where[:, 0] = where[0] = True
        call = functools.partial(getattr(numpy, name), axis=axis, where=where)
        assert seen(te.vjp(call, z)[0]) == seen(call(z))


@pytest.mark.parametrize(
    "limits", [((0.0,), {}), ((), {"min": 0.0}), ((0.0,), {"max": 0.5}), ((None, 0.5), {}), ((), {})]
)
def test_the_method_clip_may_leave_out_a_limit(limits):
    args, options = limits
    x = np.array([-1.0, 0.25, 2.0])
    try:
        wanted = x.clip(*args, **options)
    except (TypeError, ValueError) as error:
        with pytest.raises(type(error)):
            te.vjp(lambda x: x.clip(*args, **options), x)
        return
    value, back = te.vjp(lambda x: x.clip(*args, **options), x)
    assert value.tolist() == wanted.tolist()
    inside = (wanted == x).astype(float)
    assert back(np.ones(3))[0].tolist() == inside.tolist()
