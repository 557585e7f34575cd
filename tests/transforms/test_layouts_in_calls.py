"""Calls that are one record give their function the program's memory order, and return its classes."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapeengine as te
import tapeengine.numpy as tnp

Function = Callable[..., Any]


def of_vjp(f: Function) -> Function:
    made = te.custom_vjp(f)
    made.defvjp(lambda *args: (f(*args), args), lambda args, ct: te.vjp(f, *args)[1](ct))
    return made


def of_jvp(f: Function) -> Function:
    made = te.custom_jvp(f)
    made.defjvp(lambda primals, tangents: te.jvp(f, primals, tangents))
    return made


CALLS: dict[str, Callable[[Function], Function]] = {
    "checkpoint": te.checkpoint,
    "fork": lambda f: lambda x: te.fork(lambda: f(x))[0],
    "fork_map": lambda f: lambda x: te.fork_map(f, [x])[0],
    "iterate": lambda f: lambda x: te.iterate(lambda s: (s[0], f(s[0])), 2, (x, f(x)))[1],
    "custom_vjp": of_vjp,
    "custom_jvp": of_jvp,
    "twice": lambda f: te.checkpoint(te.checkpoint(f)),
}
LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "c": lambda x: x * 1.0,
    "fortran": lambda x: np.asfortranarray(x * 1.0),
    "transposed": lambda x: (x * 1.0).T.copy().T,
    "permuted": lambda x: np.moveaxis(x * 1.0, 0, 1),
    "part": lambda x: (x * 1.0).T[1:],
}
X = np.arange(1.0, 25.0).reshape(2, 3, 4)


def read_in_memory_order(x: Any) -> Any:
    flat = np.ravel(x, order="K")
    return np.sum(flat * np.arange(float(x.size)) ** 2) + x.strides.index(min(x.strides))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("call", CALLS)
def test_the_function_reads_arguments_and_captured_arrays_in_the_programs_order(call: str, layout: str) -> None:
    plain = LAYOUTS[layout](X)
    expected, slope = read_in_memory_order(plain), np.empty_like(plain)
    weights = np.arange(float(plain.size)) ** 2
    for k in range(plain.size):
        unit = np.zeros_like(plain)
        unit.flat[k] = 1.0
        slope.flat[k] = weights @ unit.ravel(order="K")
    f = CALLS[call](read_in_memory_order)
    value, back = te.vjp(f, plain)
    assert value == expected
    np.testing.assert_array_equal(back(1.0)[0], slope)
    assert te.jvp(f, (plain,), (plain,)) == (expected, np.sum(slope * plain))

    def captures(s: Any) -> Any:
        held = LAYOUTS[layout](X) * s
        return CALLS[call](lambda y: y * read_in_memory_order(held / held.reshape(-1)[0] * plain.reshape(-1)[0]))(s)

    if call != "iterate":
        value, gradient = te.value_and_grad(captures)(3.0)
        assert value == captures(3.0)
        assert type(value) is type(captures(3.0))
        assert gradient == pytest.approx(value / 3.0)


PROGRAMS: dict[str, Function] = {
    "element": lambda x: x[0],
    "made": lambda x: tnp.array(x)[0],
    "made_0d": lambda x: tnp.array(x)[0, ...],
    "sorted": lambda x: [y := tnp.array(x), y.sort(), y[0]][-1],
    "sum": lambda x: tnp.array(x).sum(),
    "several": lambda x: (tnp.array(x)[0], x[1], {"a": tnp.array(x)[1:]}),
}


def classes(value: Any) -> Any:
    if isinstance(value, tuple):
        return [classes(part) for part in value]
    if isinstance(value, dict):
        return {key: classes(part) for key, part in value.items()}
    return type(value), np.asarray(value).dtype, np.asarray(value).strides


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("call", [name for name in CALLS if name != "iterate"])
def test_results_have_the_classes_of_the_plain_program(call: str, program: str, dtype: Any) -> None:
    x, f = np.array([3, 1, 2], dtype), CALLS[call](PROGRAMS[program])
    expected = classes(PROGRAMS[program](x))
    assert classes(te.vjp(f, x)[0]) == expected
    assert [classes(part) for part in te.jvp(f, (x,), (x,))] == [expected, expected]
    assert classes(te.vjp(lambda x: te.vjp(f, x)[0], x)[0]) == expected
