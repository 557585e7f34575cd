"""Objects of other classes that hold traced arrays, or compute with them: numpy's protocols as in the plain program."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from foreign_operations import FUNCTIONS, OPERATORS, UFUNCS, VECTOR, XS, X

import tapeengine as te
import tapeengine.numpy as tnp
from tapeengine.errors import UnsupportedError

Y = VECTOR


class Holder:
    """A class that wraps an array, and that numpy converts."""

    def __init__(self, values: Any) -> None:
        self.values = values

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.values


class Own(Holder):
    """A class with its own ufuncs, which computes with the other operands, also if they are traced."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        inputs = tuple(x.values if isinstance(x, Own) else x for x in inputs)
        return Own(getattr(ufunc, method)(*inputs, **options))


class Mixed(np.lib.mixins.NDArrayOperatorsMixin, Own):
    """A class with operators that call ufuncs."""


class Wrapping(Holder):
    """A class of which numpy wraps results."""

    def __array_wrap__(self, values: Any, context: Any = None, scalar: bool = False) -> Any:
        return Wrapping(values)


def opened(result: Any) -> Any:
    """The numbers of a result as an array."""
    parts = result if isinstance(result, tuple) else (result,)
    return tnp.concatenate([tnp.ravel(tnp.asarray(x.values if isinstance(x, Own) else x)) * 1.0 for x in parts])


def outcome(program: Callable[[Any, Any], Any], x: Any, y: Any, wrap: Callable[[Any], Any]) -> Any:
    """The value and the cotangents of both operands, or the error of the plain program."""
    try:
        with np.errstate(all="ignore"):
            opened(program(x, wrap(y)))
    except Exception as error:
        return type(error)
    value, back = te.vjp(lambda x, y: opened(program(x, wrap(y))), x, y)
    return [np.asarray(part).tolist() for part in (value, *back(np.cos(np.arange(value.size))))]


#: Functions that call numpy's own, or read the object otherwise.
OTHERS = ("where=", "index by a mask", "solve", "insert", "solve the other")
#: Programs of a traced array and an object, which numpy converts; in-place operators are in `ASSIGNED`.
CONVERTED: dict[str, Callable[[Any, Any], Any]] = {
    **{op.__name__: op for op in OPERATORS},
    **{f.__name__: getattr(tnp, f.__name__) for f in UFUNCS},
    **{f"{f.__name__} reversed": lambda x, y, f=f: getattr(tnp, f.__name__)(y, x) for f in UFUNCS},
    **{name: f for name, f in FUNCTIONS.items() if name not in OTHERS},
    "exp alone": lambda x, y: tnp.exp(y) * x,
    "mean alone": lambda x, y: tnp.mean(y) * x,
    "sum alone": lambda x, y: tnp.sum(y) * x,
    "sort alone": lambda x, y: tnp.sort(y) * x,
    "concatenate alone": lambda x, y: tnp.concatenate([y, y]),
    "array of a list": lambda x, y: tnp.array([y, y]) @ x,
    "array": lambda x, y: tnp.array(y) * x,
    "full": lambda x, y: tnp.full(3, y) * x,
    "part": lambda x, y: tnp.linalg.norm(y) * x,
}


def iadd(x: Any, y: Any) -> Any:
    z = x * 1.0
    z += y
    return z


def stored(x: Any, y: Any, index: Any) -> Any:
    z = tnp.zeros(3)
    z[index] = y
    return z * x


ASSIGNED: dict[str, Callable[[Any, Any], Any]] = {
    "iadd": iadd,
    "imul": lambda x, y: operator.imul(x * 1.0, y),
    "store": lambda x, y: stored(x, y, slice(None)),
    "store by indices": lambda x, y: stored(x, y, [2, 0, 1]),
    "copyto": lambda x, y: (z := x * 1.0, tnp.copyto(z, y))[0] * x,
    "comparison": lambda x, y: x * (x < y) + x * (y <= x),
}


@pytest.mark.parametrize("cls", [Holder, Own], ids=lambda cls: cls.__name__)
@pytest.mark.parametrize("name", ASSIGNED)
def test_assignments(name: str, cls: Any) -> None:
    if cls is Own and name in ("iadd", "imul", "comparison"):
        pytest.skip("which are ufuncs")
    assert outcome(ASSIGNED[name], X, Y, cls) == outcome(ASSIGNED[name], X, Y, lambda y: y)


@pytest.mark.parametrize("name", CONVERTED)
def test_arrays_that_objects_hold(name: str) -> None:
    for x in (X, XS):
        assert outcome(CONVERTED[name], x, Y, Holder) == outcome(CONVERTED[name], x, Y, lambda y: y)


@pytest.mark.parametrize("cls", [Own, Mixed], ids=lambda cls: cls.__name__)
@pytest.mark.parametrize(
    "name", [*(op.__name__ for op in OPERATORS if op is not divmod), *(f.__name__ for f in UFUNCS)]
)
def test_ufuncs_of_the_operands_class(name: str, cls: Any) -> None:
    """The class gets the traced operand; the object may hold a plain array or a traced one."""
    program = getattr(operator, name, None) or getattr(np, name)
    for x in (X, XS):
        wanted = outcome(program, x, Y, lambda y: y)
        assert outcome(program, x, Y, cls) == wanted
        plain = cls(Y)
        if not isinstance(wanted, type):
            value, back = te.vjp(lambda x, plain=plain: opened(program(x, plain)), x)
            assert [value.tolist(), back(np.cos(np.arange(value.size)))[0].tolist()] == wanted[:2]


@pytest.mark.parametrize("method", ["outer", "reduce", "accumulate"])
def test_methods_of_ufuncs(method: str) -> None:
    program = {
        "outer": lambda x, y: np.multiply.outer(x, y),
        "reduce": lambda x, y: np.add.reduce(y) * x,
        "accumulate": lambda x, y: x * np.add.accumulate(y),
    }[method]
    assert outcome(program, X, Y, Mixed) == outcome(program, X, Y, lambda y: y)


def test_a_class_whose_results_numpy_wraps_is_refused() -> None:
    for program in (operator.mul, np.add, np.multiply.outer):
        with pytest.raises(UnsupportedError, match=r"Wrapping holds a traced array.*asarray"):
            te.grad(lambda x, p=program: np.sum(p(x * 1.0, Wrapping(x * 2.0)).values))(X)


def test_plain_numpy_says_what_to_write() -> None:
    with pytest.raises(ValueError, match="__array__") as found:
        te.grad(lambda x: np.sum(Holder(x)))(X)
    assert "tapeengine.numpy" in found.value.__notes__[0]


def test_the_class_refuses_what_it_does_not_know() -> None:
    class Plain:
        def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
            if not all(type(x) in (np.ndarray, Plain) for x in inputs):
                raise TypeError("plain arrays only")
            return Plain()

    with pytest.raises(UnsupportedError, match=r"Plain gives a .*Plain"):
        te.grad(lambda x: (x * Plain()) and 1.0)(X)
