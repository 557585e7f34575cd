"""numpy's functions on one traced number give the class, dtype and shape that they give for the plain number."""

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


@pytest.mark.parametrize("z", NUMBERS, ids=lambda x: type(x).__name__)
def test_nested_derivatives_are_numbers(z: Any) -> None:
    def program(z: Any) -> Any:
        return (z * z * z).real

    gradient = te.grad(program)
    second = {complex: 6 * z, float: (6 * z).real}[complex if numpy.iscomplexobj(z) else float]
    for value, tangent in (te.jvp(gradient, (z,), (z * 0 + 1,)), te.vjp(lambda z: te.jvp(gradient, (z,), (z,)), z)[0]):
        assert type(value) is type(tangent) is type(z)
        assert value == gradient(z)
    assert abs(te.jvp(gradient, (z,), (z * 0 + 1,))[1] - second) < 1e-14


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
