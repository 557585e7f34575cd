"""Operators of traced numbers with operands that numpy's numbers read as arrays, and Python's floats do not."""

from __future__ import annotations

import array
import collections
import ctypes
import operator
import types
import weakref
from collections.abc import Callable
from typing import Any

import numpy
import pytest
from odd_objects import Sequence
from verdicts import verdict

import tapeengine as te
from tapeengine.errors import UnsupportedError

OPERATORS = (
    *(operator.add, operator.sub, operator.mul, operator.truediv, operator.pow, operator.mod, operator.floordiv),
    *(operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge),
)
X = numpy.array([1.3, 0.4, 2.2])
MEMORY = numpy.array([1.0, 2.0])
#: Numbers of numpy, and of Python, from a primal.
NUMBERS: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "element": (lambda x: x[0], X),
    "sum": (lambda x: x.sum(), X),
    "single element": (lambda x: x[0], X.astype(numpy.float32)),
    "complex element": (lambda x: (x * (1.0 + 0.5j))[0], X),
    "element and complex": (lambda x: x[0] * (1.0 + 0.5j), X),
    "power of elements": (lambda x: x[0] ** (1.0 + 0.5j), X),
    "complex and element": (lambda x: (1.0 + 0.5j) * x[0], X),
    "single complex element": (lambda x: (x * numpy.complex64(1.0 + 0.5j))[0], X.astype(numpy.float32)),
    "float": (lambda x: x, 1.3),
    "complex": (lambda x: x * (1.0 + 0.5j), 1.3),
    "array": (lambda x: x[1:], X),
}
OPERANDS: dict[str, Callable[[Any], Any]] = {
    "list": lambda x: [1.0, 2.0],
    "tuple": lambda x: (1.0, 2.0),
    "nested": lambda x: [[1.0, 2.0], [3.0, 4.0]],
    "traced": lambda x: [x, 2.0 * x],
    "truth values": lambda x: [True, True],
    "empty": lambda x: [],
    "range": lambda x: range(1, 3),
    "deque": lambda x: collections.deque([1.0, 2.0]),
    "array.array": lambda x: array.array("d", [1.0, 2.0]),
    "memoryview": lambda x: memoryview(numpy.array([1.0, 2.0])),
    "array of ctypes": lambda x: (ctypes.c_double * 2)(1.0, 2.0),
    "number of ctypes": lambda x: ctypes.c_double(2.0),
    "own sequence": lambda x: Sequence([1.0, 2.0]),
    "own memory": lambda x: types.SimpleNamespace(__array_interface__=MEMORY.__array_interface__),
    "text": lambda x: "text",
    "None": lambda x: None,
}


@pytest.mark.parametrize("operand", OPERANDS)
@pytest.mark.parametrize("number", NUMBERS)
def test_operators_are_those_of_the_plain_number(number: str, operand: str) -> None:
    make, primal = NUMBERS[number]
    wrong = []
    for op in OPERATORS:
        for reflected in (False, True):
            if reflected and operand == "memoryview" and op in (operator.eq, operator.ne):
                continue  # a memoryview compares memory, and a traced number has none
            if operand == "text" and op is operator.mod:
                continue  # formatting

            def program(x: Any, op: Any = op, reflected: bool = reflected) -> Any:
                left, right = make(x), OPERANDS[operand](make(x))
                return op(right, left) if reflected else op(left, right)

            found = verdict(program, primal)
            if not found.right or (found.word == "refused" and operand != "traced"):
                wrong.append((op.__name__, reflected, found))
    assert wrong == []


#: Functions of a traced array and a sequence.
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "multiply": numpy.multiply,
    "matmul": lambda x, s: numpy.matmul(s, x),
    "where": lambda x, s: numpy.where(X > 1.0, x, s),
    "concatenate": lambda x, s: numpy.concatenate((s, x)),
    "stack": lambda x, s: numpy.stack([x, s]),
    "solve": lambda x, s: numpy.linalg.solve(numpy.diag(x), s),
    "interp": lambda x, s: numpy.interp(x, s, s),
    "select": lambda x, s: numpy.select([X > 1.0], [x], s),
    "linspace": lambda x, s: numpy.linspace(x, s, 3),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_read_sequences_as_arrays(name: str) -> None:
    def curved(x: Any, s: Any) -> Any:
        return numpy.sum(numpy.sin(FUNCTIONS[name](x, s)))

    for transform in (te.value_and_grad, te.hessian, lambda f: lambda x: te.jvp(f, (x,), (x,))):
        wanted = transform(lambda x: curved(x, numpy.arange(1.0, 4.0)))(X)
        for sequence in (range(1, 4), Sequence([1.0, 2.0, 3.0]), collections.UserList([1, 2, 3])):
            found = transform(lambda x, sequence=sequence: curved(x, sequence))(X)
            for a, b in zip(wanted, found, strict=True):
                numpy.testing.assert_array_equal(a, b)


class Interval:
    """A number of another library, which no protocol of numpy announces."""

    def __init__(self, low: Any) -> None:
        self.low = low

    def _with(self, other: Any) -> Interval:
        return Interval(self.low + te.value(other))

    __add__ = __radd__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __pow__ = __rpow__ = __sub__ = _with
    __rsub__ = _with


@pytest.mark.parametrize("ufunc", [numpy.add, numpy.subtract, numpy.multiply, numpy.divide, numpy.power])
@pytest.mark.parametrize("number", ["element", "float"])
def test_a_result_of_another_class_is_refused(number: str, ufunc: Any) -> None:
    make, primal = NUMBERS[number]
    for called in (lambda x: ufunc(make(x), Interval(1.0)), lambda x: ufunc(Interval(1.0), make(x))):
        assert type(called(primal)) is Interval
        with pytest.raises(UnsupportedError, match=r"Interval, which cannot hold derivatives"):
            te.vjp(called, primal)


@pytest.mark.parametrize("of", [lambda d: d, lambda d: numpy.array([d, d])])
@pytest.mark.parametrize("number", ["element", "float", "array"])
def test_counts_of_time_are_discrete(number: str, of: Any) -> None:
    make, primal = (lambda x: x, X[:2]) if number == "array" else NUMBERS[number]
    span = of(numpy.timedelta64(7, "s"))
    for called in (lambda x: make(x) * span, lambda x: span * make(x), lambda x: span / make(x)):
        value, _ = te.vjp(called, primal)
        expected = called(primal)
        assert type(value) is type(expected) and value.dtype == expected.dtype and numpy.all(value == expected)


def test_a_number_of_python_has_no_tolist() -> None:
    found = []

    def program(x: Any) -> Any:
        found.extend(
            (hasattr(x, "tolist"), hasattr(x[0], "tolist")) if isinstance(x, te.Array) else [hasattr(x, "tolist")]
        )
        return x.tolist()[0] if isinstance(x, te.Array) else x

    assert te.vjp(program, X)[0] == 1.3 and te.vjp(program, 1.3)[0] == 1.3
    assert found == [True, True, False]
    te.vjp(lambda x: found.append(hasattr(x[0].tolist(), "tolist")) or x[0], X)
    assert found[-1] is False


def test_arrays_can_be_referred_to_weakly() -> None:
    def program(x: Any) -> Any:
        table = weakref.WeakValueDictionary({"x": x})
        return (weakref.ref(x)() * table["x"]).sum()

    assert te.grad(program)(X).tolist() == (2 * X).tolist()
    kept: list[Any] = []
    te.vjp(lambda x: kept.append(weakref.ref(x * 2.0)), X)
    assert kept[0]() is None
