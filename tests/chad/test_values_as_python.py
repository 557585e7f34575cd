"""Programs give what Python gives where there are NaNs, too few parts to unpack, classes as arguments, or odd calls."""

import enum
import functools
import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from chad.written_functions import function_of
from outcomes import shown

import tapeengine as te
from tapeengine.errors import TapeEngineError

NAN = float("nan")


def three(x: Any) -> Any:
    a, b, c = x
    return a + b * c


def in_pairs(x: Any) -> Any:
    (a, b), (c, d) = x
    return a * d - b * c


def with_rest(x: Any) -> Any:
    a, b, *rest = x
    return a * b + len(rest)


@pytest.mark.filterwarnings("ignore:.*runs without native code")
@pytest.mark.parametrize("backend", [None, "machine", "native"])
@pytest.mark.parametrize(
    "shape", [(0,), (1,), (2,), (3,), (4,), (0, 3), (1, 3), (2, 2), (2, 3), (3, 0), (3, 2), (4, 3)]
)
@pytest.mark.parametrize("program", [three, in_pairs, with_rest])
def test_parts_of_arrays_are_as_many_as_names(program: Callable[..., Any], shape: Any, backend: str | None) -> None:
    x = np.arange(1.0, 1.0 + np.prod(shape)).reshape(shape)
    try:
        wanted = program(x)
    except (TypeError, ValueError) as error:
        with pytest.raises((type(error), TapeEngineError)):
            te.vjp(te.program(program, backend=backend), x)
        return
    value, _ = te.vjp(te.program(program, backend=backend), x)
    assert np.array_equal(value, wanted)


ORDERED = (
    "np.median(x)",
    "np.median(x, axis=0)",
    "np.quantile(x, 0.3)",
    "np.percentile(x, 2)",
    "np.quantile(x, [0.1, 0.9])",
    "np.max(x)",
    "np.argmin(x)",
    "np.sort(x)",
    "np.argsort(x)",
    "np.ptp(x)",
    "np.unique(x)",
)


def written(expression: str) -> Any:
    """The function of an expression of x."""
    return function_of("x", [f"return {expression}"])


@pytest.mark.parametrize("backend", [None, "machine", "native"])
@pytest.mark.parametrize("numbers", [[1.0, NAN, 0.5], [NAN, 1.0], [0.5, 2.0, NAN, 1.0], [1.0, 3.0, 2.0]], ids=str)
@pytest.mark.parametrize("expression", ORDERED)
@pytest.mark.filterwarnings("ignore:.*runs without:RuntimeWarning")
def test_the_order_of_numbers_with_a_nan(expression: str, numbers: list[float], backend: str | None) -> None:
    f, x = written(expression), np.array(numbers)
    value, _ = te.vjp(te.program(f, backend=backend), x)
    assert np.array_equal(value, f(x), equal_nan=True)


def test_a_class_as_a_default() -> None:
    def doubled(x: Any, dtype: Any = np.float64) -> Any:
        return x * 2

    assert te.vjp(te.program(doubled), np.ones(2))[0].tolist() == [2.0, 2.0]


def of_class(x: Any) -> Any:
    return x if isinstance(x, (float, "no type")) else 0.0  # type: ignore[arg-type]


def test_a_text_for_a_class_that_python_does_not_reach() -> None:
    assert te.vjp(te.program(of_class), 1.5)[0] == of_class(1.5)
    for function in (of_class, te.program(of_class)):
        with pytest.raises(TypeError):
            te.vjp(function, "text")


def test_an_output_runs_as_on_dual_numbers() -> None:
    def to_array(x: Any, out: Any) -> Any:
        return np.isposinf(x, out)

    results = [np.ones(2), np.ones(2)]
    program = te.program(to_array)
    assert np.array_equal(te.vjp(program, np.array([1.0, np.inf]), results[0])[0], [0.0, 1.0])
    assert np.array_equal(to_array(np.array([1.0, np.inf]), results[1]), [0.0, 1.0])


def adding(h: Any) -> Any:
    def f(x: Any) -> Any:
        return h(x) + x

    return f


FUNCTIONS = {
    "twice": lambda x: 2.0 * x, "cubed": lambda x: x**3,
    "a part": lambda x: (lambda y: y * (y if y > 0 else -y))(x),
    "made": (lambda k: lambda x: k * x)(3.0),
    "lines": lambda x: (x *
                        3.0 + len("äß")),
    "a default": lambda x, k=None: x if k is None else k * x,
    "by name": lambda x, *, k=4.0: k * x,
    "nested": lambda x: max([x, 1.0], key=lambda y: -y * x),
    "default where it stands": lambda x: (lambda z, w=x * 2.0: z * w)(x) + sum(map(lambda v, k=x: v * k, [1.0, x])),
    "by name where it stands": lambda x: (lambda a, *, b: a - b)(x, b=2.0) + (lambda a, b: a - b * 2.0)(b=x, a=2.0),
    "a conditional": lambda x: x * 2.0 if x > 2.0 else x * 3.0,
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_lambda_among_others(name: str) -> None:
    for function in (FUNCTIONS[name], adding(FUNCTIONS[name])):
        expected = te.value_and_grad(function)(1.5)
        program = te.program(function, backend="machine")
        assert te.value_and_grad(program)(1.5) == expected
        assert program.derivative("reverse")


def test_a_parameter_by_name_of_a_lambda_gets_no_argument_by_position() -> None:
    def f(x: Any) -> Any:
        return (lambda a, *, b: a + b)(x, 2.0)

    with pytest.raises((TypeError, TapeEngineError)):
        te.vjp(te.program(f), 1.5)


class Colour(enum.Enum):
    RED = 1


#: Lines of a function of a list or an array x of three numbers, and a number n.
RARE = {
    "negative tolerance": ["return x[0] if math.isclose(x[0], 1.0, abs_tol=-1.0) else x[1]"],
    "counted from a number": ["return [k * v for k, v in enumerate(x, 3)]"],
    "counted from a variable": ["return sum([k * v for k, v in enumerate((x[0], x[1] * 2.0), n)])"],
    "counted items": ["return sum([k * v for k, v in enumerate((x[0], x[1] * 2.0), 2)])"],
    "counted in a loop": ["s = x[0]", "for k, v in enumerate((x[1], 3.0), start=5):", "    s = s * k - v", "return s"],
    "counted keys": ["d, s = dict(a=x[0], b=x[1]), n", "for k, c in enumerate(d, 2):", "    s -= k * d[c]", "return s"],
    "counted from two numbers": ["return sum([k * v for k, v in enumerate(x, 2, 3)])"],
    "counted in a loop from two numbers": ["for k, v in enumerate(x, 2, 3):", "    n = n + k * v", "return n"],
    "sum of seven": ["return np.sum([x[0] * 1e16, 1.0, 1.0, 1.0, 1.0, 1.0, n])"],
    "sum of eight": ["return np.sum([x[0] * 1e16, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, n])"],
    "range of four": ["return sum([x[0] * k for k in range(1, 2, 3, 4)])"],
    "by position only": ["def g(a, /, b=1.0):", "    return a * b", "return g(a=x[0])"],
    "conditions": ["return (x[0] > 0.0) + (x[1] > 0.0) + x[2]"],
    "conditions and a number": ["return [x[0], (x[1] > 0.0) * (2.0 > 1.0), abs(x[0] > 1.0)]"],
    "conditions of two kinds": ["return ((n > 0) + (x[1] > 0.0)) * 2.0"],
    "appended integer": ["y = list(x)", "y.append(n)", "return y"],
    "stored integer": ["y = list(x)", "y[0] = n", "return y, y"],
    "condition is not True": ["return x[0] if (x[1] > 0.0) is not True else x[1] * 2.0"],
    "number is not True": ["return x[0] if x[1] is not True else x[1] * 2.0"],
    "test that binds": ["k, s = 4, x[0]", "while (k := k - 1) > 0:", "    s *= 3", "else:", "    s += k", "return s"],
    "left test that binds": [
        "k, s = 4, x[0]", "while (k := k - 1) > 0:", "    s = s * x[1]", "    if k < 3:", "        break", "else:",
        "    s = s + 9.0", "return s * k",
    ],
    "chain that ends": [
        "ys = []", "def put(v):", "    ys.append(v)", "    return v", "c = put(x[0]) < put(x[1]) < put(x[2])",
        "return sum(ys) + len(ys) + c",
    ],
    "dict after items": ["d = dict(a=x[0], b=x[1], c=x[2], d=2.0)", "return {'a': 3.0, **d, 'e': 1.0}"],
    "dict before items": ["d = dict(a=x[0], b=x[1], c=x[2], d=2.0)", "return {**d, 'b': x[2] * 2.0}"],
    "joined dicts": ["d = dict(a=x[0], b=x[1], c=x[2], d=2.0)", "return d | {'z': x[0]}"],
    "number of a branch": ["k = 2 if x[0] > 0.0 else 0.5", "return x[0] if isinstance(k, int) else x[1]"],
    "condition of a branch": ["k = True if x[0] > 0.0 else 0.5", "return x[0] if isinstance(k, bool) else x[1]"],
    "number of a division": ["k = x[0] / 2", "return x[0] if isinstance(k, float) else x[1]"],
    "starred items": ["return (*x, 1.0)[n] * x[0]"],
    "digits": ["return round(x[0] * 1.115, 2)"],
    "integer among floats": ["return [1, x[0]]"],
    "larger integer": ["return [max(3, x[0]), 1 if x[1] > 0.0 else x[1]]"],
    "condition among floats": ["return [True, x[0]]"],
    "items of a change": ["t = (x[0], x[1], x[2], 1.0, 2.0)", "a, b, *c = t", "return [b, a, *c]"],
    "range beside a number": ["return range(3), x[0]"],
    "dicts with other keys": ["return {'a': x[0]} if x[1] > 0.0 else {'b': x[0]}"],
    "member": ["return Colour.RED, x[0]"],
    "text": ["return 'a' if x[0] > 0.0 else 'b', x[1]"],
    "tuple and list": ["return (x[0],) + [x[1]]"],
    "key of largest": ["return max(x, key=lambda v: -v * v) * 2.0"],
    "folded": ["return functools.reduce(lambda a, b: a * b + 1.0, x)"],
}  # fmt: skip


@pytest.mark.parametrize("kind", [list, np.array])
@pytest.mark.parametrize("name", RARE)
def test_rare_forms(name: str, kind: Any) -> None:
    outside = {"math": math, "functools": functools, "Colour": Colour}
    f, numbers = function_of("x, n", RARE[name], **outside), [1.5, 0.25, 2.0]
    results = shown(f, kind(numbers), 1), shown(lambda: te.vjp(te.program(f), kind(numbers), 1)[0])
    wanted, found = (re.sub(r"np\.float64\((.*?)\)", r"\1", each) for each in results)  # whose floats differs
    assert found == wanted
