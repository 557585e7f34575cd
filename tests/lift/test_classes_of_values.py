"""What lifted code learns of a value's class is what the plain code does, for each kind of traced value."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tapeengine as te

#: Traced values: `x` is a number of Python, `a` a vector, `b` one in single precision, `c` a complex one.
VALUES = (
    *("x", "x + 1", "float(a[0])", "a.tolist()[0]", "a.item(1)", "math.sin(x)", "sum([x, x])", "x ** 2", "min(x, 9.0)"),
    *("a[0]", "a.sum()", "np.sin(a[0])", "a[0] * 2", "a[0] + x", "np.mean(a)", "np.float64(x)", "a @ a", "np.sin(x)"),
    *("a", "a[:1]", "a * 2", "np.array(x)", "a.reshape(2, 1)", "np.sin(a)", "np.array([x, x])", "a.astype(np.float32)"),
    *("b", "b[0]", "b.sum()", "b[0] * 2", "np.float32(x)", "a.astype(np.float32)[1]"),
    *(
        "c",
        "c[0]",
        "c.sum()",
        "complex(x, 1.0)",
        "c[0] * 2",
        "np.complex128(x)",
        "np.complex64(x)",
        "a[0] * 1j",
        "x * 1j",
    ),
    *("c.tolist()[0]", "c.astype(np.complex64)[0]", "c.real", "c[0].real", "complex(x, 1.0).imag", "abs(c[0])"),
)
CLASSES = (
    *("float", "int", "complex", "object", "str", "bool", "list", "type(None)"),
    *("np.floating", "np.generic", "np.number", "np.inexact", "np.complexfloating", "np.integer", "np.ndarray"),
    *("np.float64", "np.float32", "np.complex128", "np.complex64", "np.longdouble", "np.bool_", "np.int64"),
    *("numbers.Number", "numbers.Complex", "numbers.Real", "numbers.Rational", "numbers.Integral"),
    *("abc.Hashable", "abc.Iterable", "abc.Sized", "abc.Sequence", "abc.Container", "abc.Callable", "F", "A"),
    *("typing.Union[int, float]", "typing.Optional[np.ndarray]", "int | float", "np.floating | None", "int | None"),
    *("(int, (float, str))", "(np.ndarray, list)", "(int, np.number)", "typing.SupportsFloat", "typing.Hashable"),
)
#: Questions about a value `v` and a class `k` that is not a tuple or a union.
QUESTIONS = (
    "{k: 1}.get(type(v))",
    *("type(v) is k", "type(v) == k", "k is type(v)", "type(v) is not k", "type(v) != k", "type(v) in (str, k)"),
    "issubclass(type(v), k)",
)
#: Those that need the source.
OF_ATTRIBUTE = (
    *("v.__class__ is k", "v.__class__ == k", "k is not v.__class__", "v.__class__ in (k,)", "{k: 1}.get(v.__class__)"),
    *("v.__class__.__name__", "issubclass(v.__class__, k)", "type(v) is v.__class__"),
)
SOURCE = """
import collections.abc as abc, math, numbers, typing
import numpy as np
F, A = float, np.ndarray
def f(x, a, b, c):
    v = {value}
    answers = [type(v).__name__]
    for k in ({classes},):
        answers.append(isinstance(v, k))
        if isinstance(k, type):
            answers += [{questions}]
    match v:
        case float(): answers.append("float")
        case np.complex128() | np.complex64(): answers.append("complex")
        case np.float32(): answers.append("float32")
        case complex(): answers.append("Python's complex")
        case np.ndarray(): answers.append("ndarray")
    match v:
        case np.floating(): answers.append("floating")
        case np.complexfloating(): answers.append("complexfloating")
        case np.generic(): answers.append("generic")
    seen.append(answers)
    return v
"""


def answers(f: Any, transform: Any) -> Any:
    """What a function notes of the value that it returns."""
    seen = f.__globals__["seen"]
    seen.clear()
    arguments = (0.5, np.array([0.5, 2.0]), np.array([0.5, 2.0], np.float32), np.array([0.5 + 1j, 2.0]))
    transform(*arguments)
    return seen[-1]


def source_of(value: str, *questions: str) -> str:
    return SOURCE.format(value=value, classes=", ".join(CLASSES), questions=", ".join(questions))


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.filterwarnings("ignore")
def test_in_a_module(value: str, package: Any) -> None:
    package({"asked": source_of(value, *QUESTIONS, *OF_ATTRIBUTE) + "\nseen = []"})
    plain, lifted = __import__("asked").f, te.lift("asked").f
    expected = answers(plain, plain)
    assert answers(lifted, lifted) == expected
    assert answers(lifted, lambda *args: te.vjp(lifted, *args)) == expected


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.filterwarnings("ignore")
def test_in_a_namespace_that_cannot_be_imported(value: str) -> None:
    names: dict[str, Any] = {"__name__": "__main__", "seen": []}
    exec(source_of(value, *QUESTIONS), names)
    expected = answers(names["f"], names["f"])
    lifted = te.lift(names["f"])
    assert answers(names["f"], lambda *args: te.vjp(lifted, *args)) == expected


COMPARED = [
    float,
    complex,
    int,
    np.float64,
    np.complex128,
    np.float32,
    np.int64,
    np.ndarray,
    np.dtype(float),
    "float64",
    1.5,
]


@pytest.mark.parametrize("text", ["a == b", "b == a", "a != b", "b != a", "a in (b,)", "b in [a]"])
def test_classes_compare_with_dtypes_and_others_as_in_the_plain_program(text):
    def program(dtype):
        return [eval(text, {}, {"a": dtype, "b": b}) for b in (float, np.float64, np.float32, np.complex128, np.int64)]

    lifted = te.lift(program)
    for a in COMPARED:
        assert lifted(a) == program(a), a


@pytest.mark.parametrize("point", [2.0, np.float64(2.0), np.float32(2.0), 2.0 + 1j, np.complex64(2.0)], ids=repr)
def test_the_limits_of_a_number(point: Any) -> None:
    """`np.finfo(x)` of a number is that of its class."""
    seen: list[Any] = []
    program = te.lift(lambda x: (seen.append((np.finfo(x).eps, np.finfo(x).dtype, np.finfo(x).max)), x * x)[1])
    te.vjp(program, point)
    assert seen == [(np.finfo(point).eps, np.finfo(point).dtype, np.finfo(point).max)]
