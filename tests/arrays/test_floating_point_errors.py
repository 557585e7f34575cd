"""Overflow, division by zero and invalid operations: a traced program warns and raises where the plain one does.

Programs catch `FloatingPointError` and warnings, so they are part of what a program computes. The cases are drawn from
numpy's ufuncs with opcodes, at numbers where they leave the reals, as elements, arrays of several layouts, and sums.
"""

from __future__ import annotations

import itertools
import operator
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy

import tapeengine as te
import tapeengine.numpy as np
from tapeengine._core.tape.table import OPS

NUMBERS = numpy.array([0.5, -2.0, 0.0, -0.0, 1e200, -1e308, 800.0, numpy.inf, numpy.nan, 1.0, -1.0])
UFUNCS = [getattr(numpy, name) for op in OPS for name in (op.ufuncs or "").split() if hasattr(numpy, name)]
OPERATORS = (operator.add, operator.sub, operator.mul, operator.truediv, operator.mod, operator.pow)
LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "array": lambda x: x,
    "large": lambda x: x.repeat(700),
    "strided": lambda x: x[::2],
    "matrix": lambda x: x.reshape(1, -1).T,
    "one": lambda x: x[2:3],
}


def outcome(program: Callable[[], Any]) -> Any:
    """What a program makes of its errors: their kinds without the names of numpy's loops, and its value."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            value: Any = numpy.asarray(program()).tolist()
        except (FloatingPointError, ZeroDivisionError) as error:
            value = kind(error)
    return repr(value), {kind(one.message) for one in caught}


def kind(error: Any) -> str:
    return str(error).partition(" encountered")[0]


def disagreements(calls: Iterator[tuple[str, Callable[[Any, Any], Any]]], *modes: dict[str, str]) -> list[str]:
    wrong = []
    for (label, call), mode, space in itertools.product(calls, modes, (numpy, np)):
        with numpy.errstate(**mode):
            expected = outcome(lambda call=call: call(numpy, NUMBERS.copy()))
            found = outcome(lambda call=call, space=space: te.vjp(lambda x: call(space, x), NUMBERS.copy())[0])
        if found != expected:
            wrong.append(f"{label} {mode} {space.__name__}: {found} for {expected}"[:400])
    return wrong


def ufuncs_of_floats() -> Iterator[tuple[str, Callable[[Any, Any], Any]]]:
    """numpy's ufuncs on all pairs of the numbers."""
    for name, ufunc in sorted(vars(numpy).items()):
        if isinstance(ufunc, numpy.ufunc) and ufunc.signature is None and ufunc.nin < 3:
            given = "d" * ufunc.nin
            if any(loop.startswith(f"{given}->") for loop in ufunc.types):
                yield name, lambda np, x, f=name, n=ufunc.nin: joined(getattr(np, f)(*(x[:, None], x)[:n]))


def joined(value: Any) -> Any:
    return np.stack(value) if isinstance(value, tuple) else value


RAISE = {"divide": "raise", "over": "raise", "invalid": "raise"}
WARN = {"divide": "warn", "over": "warn", "invalid": "warn"}
ONE_KIND = {"divide": "ignore", "over": "raise", "invalid": "warn"}


def of_arrays() -> Iterator[tuple[str, Callable[[Any, Any], Any]]]:
    for ufunc, (name, layout) in itertools.product(UFUNCS, LAYOUTS.items()):

        def call(np: Any, x: Any, ufunc: Any = ufunc, layout: Any = layout) -> Any:
            y = layout(x)
            return getattr(np, ufunc.__name__)(*[y, y[::-1]][: ufunc.nin])

        yield f"{ufunc.__name__} {name}", call


def of_elements() -> Iterator[tuple[str, Callable[[Any, Any], Any]]]:
    places = range(len(NUMBERS))
    for ufunc in UFUNCS:
        for i, j in itertools.product(places, places if ufunc.nin == 2 else [0]):

            def call(np: Any, x: Any, ufunc: Any = ufunc, i: int = i, j: int = j) -> Any:
                return getattr(np, ufunc.__name__)(*[x[i], x[j]][: ufunc.nin])

            yield f"{ufunc.__name__} {NUMBERS[i]} {NUMBERS[j]}", call
    for function, i, j in itertools.product(OPERATORS, places, places):
        yield f"{function.__name__} {i} {j}", lambda np, x, f=function, i=i, j=j: f(x[i], x[j])
        yield f"{function.__name__} {i} constant {j}", lambda np, x, f=function, i=i, j=j: f(x[i], float(NUMBERS[j]))
        yield f"{function.__name__} constant {i} {j}", lambda np, x, f=function, i=i, j=j: f(float(NUMBERS[i]), x[j])


def test_of_ufuncs_on_arrays() -> None:
    wrong = disagreements(of_arrays(), RAISE, WARN, ONE_KIND)
    assert not wrong, "\n".join(wrong)


def test_of_numbers() -> None:
    wrong = disagreements(of_elements(), RAISE, WARN)
    assert not wrong, "\n".join(wrong)


def of_functions() -> Iterator[tuple[str, Callable[[Any, Any], Any]]]:
    for name in ("sum", "mean", "prod", "cumsum", "cumprod"):
        yield name, lambda np, x, name=name: getattr(np, name)(x * x)
        yield f"{name} of rows", lambda np, x, name=name: getattr(np, name)(np.stack([x[:2], x[4:6]]) * 1e200, axis=0)
    yield "dot", lambda np, x: np.dot(x[4:6], x[4:6])
    yield "in place", lambda np, x: x.copy().__imul__(1e200)
    yield "reduce", lambda np, x: np.multiply.reduce(x[4:6])
    yield "dtype", lambda np, x: np.exp(x[4:5], dtype="f4")


def test_of_functions() -> None:
    wrong = disagreements(of_functions(), RAISE, WARN)
    assert not wrong, "\n".join(wrong)


def test_a_program_takes_another_way() -> None:
    def program(x: Any) -> Any:
        with numpy.errstate(all="raise"):
            try:
                return np.log(x).sum()
            except FloatingPointError:
                return (x * x).sum()

    assert te.grad(program)(numpy.array([2.0, -1.0])).tolist() == [4.0, -2.0]
    assert te.grad(program)(numpy.array([2.0, 4.0])).tolist() == [0.5, 0.25]


def test_a_sweep_reports_nothing() -> None:
    x = numpy.array([0.0, 1.0, 4.0])
    with numpy.errstate(all="raise"):
        for f in (
            lambda x: np.sqrt(x).sum(),
            lambda x: np.linalg.norm(x * 0.0),
            lambda x: np.prod(x),
            lambda x: x[0] ** 0.5,
        ):
            te.vjp(f, x)[1](1.0)
            te.jvp(f, (x,), (x,))
    _, back = te.vjp(lambda x: np.sqrt(x).sum(), x)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert back(1.0)[0].tolist() == [numpy.inf, 0.5, 0.25]
        assert te.vjp(lambda x: x * 2.0, x)[0].tolist() == [0.0, 2.0, 8.0]  # flags that a sweep leaves are not its


def test_every_ufunc() -> None:
    assert disagreements(ufuncs_of_floats(), RAISE, WARN) == []
