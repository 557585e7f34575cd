"""Overflow, division by zero and invalid operations: a traced program warns and raises where the plain one does.

Programs catch `FloatingPointError` and warnings, so they are part of what a program computes. The cases are drawn from
numpy's ufuncs with opcodes, at numbers where they leave the reals, as elements, arrays of several layouts, and sums.
"""

from __future__ import annotations

import itertools
import operator
import runpy
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy

import tapeengine as te
import tapeengine.numpy as np
from tapeengine._core.arrays import reports
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
    for p in (None, -2, numpy.inf, "fro"):
        yield f"cond {p}", lambda np, x, p=p: np.linalg.cond(np.stack([np.outer(x[:2], x[:2]), np.diag(x[:2])]), p)
    for k in (2, 6, 7):
        yield f"interp {k}", lambda np, x, k=k: np.interp([0.5, 3.0], np.stack([x[2], x[9], x[k]]), x[5:8])
        yield f"interp between {k}", lambda np, x, k=k: np.interp(x[:1], [0.0, 1.0], np.stack([-x[k], x[k]]))


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


SWEPT: dict[str, Callable[[Any], Any]] = {
    "sqrt": lambda x: np.sqrt(x),
    "log": lambda x: np.log(x),
    "reciprocal": lambda x: 1.0 / x,
    "power": lambda x: x**0.5,
    "cbrt": lambda x: x ** (1 / 3),
    "norm": lambda x: np.linalg.norm(x * 0.0),
    "prod": lambda x: np.prod(x),
    "outer": lambda x: np.outer(np.sqrt(x), np.log(x)),
    "parts": lambda x: np.concatenate([np.sqrt(x)[[0, 0, 1]], x[1:] / x[:-1]]),
    "element": lambda x: np.sqrt(x[0]) * x[1],
    "selected": lambda x: np.where(np.abs(x) > 0, np.sqrt(x), 0),
    "single": lambda x: np.sqrt(np.astype(x, np.complex64)),
}


def sweeps(f: Callable[[Any], Any], x: Any) -> Iterator[Callable[[], Any]]:
    """The sweeps of a program and of its derivative, which has run before."""
    with numpy.errstate(all="ignore"):
        value, back = te.vjp(f, x)
        one = numpy.ones_like(value)
        gradient, twice = te.vjp(lambda x: te.vjp(f, x)[1](one)[0], x)
        slopes = te.linearize(f, x)[1]
    yield lambda: back(one)
    yield lambda: slopes(x)
    yield lambda: twice(numpy.ones_like(gradient))
    yield lambda: te.jvp(lambda t: slopes(t), (x,), (x,))
    if one.dtype.kind == x.dtype.kind == "f":
        yield from (slopes.matrix, slopes.T.matrix)


def test_a_sweep_reports_nothing() -> None:
    values = numpy.array([0.0, 1.0, 4.0, numpy.inf, 1e-30])
    for f, dtype, mode in itertools.product(SWEPT.values(), ("f4", "f8", "c8", "c16"), ("raise", "warn")):
        for sweep in sweeps(f, values.astype(dtype)):
            with numpy.errstate(all=mode), warnings.catch_warnings():  # type: ignore[call-overload]
                warnings.simplefilter("error")
                sweep()
    assert te.vjp(lambda x: x * 2.0, values[:3])[0].tolist() == [0.0, 2.0, 8.0]  # flags that a sweep leaves are not its


def test_later_runs_raise_what_the_first_raised() -> None:
    def program(x: Any) -> Any:
        try:
            return np.log(x) * x
        except FloatingPointError:
            return x * x

    x = numpy.array([0.0, 4.0])
    for f in (te.checkpoint(program), lambda x: te.iterate(program, 2, x), lambda x: te.fork(lambda: program(x))[0]):
        for mode in ("raise", "warn", "ignore"):
            with numpy.errstate(all=mode), warnings.catch_warnings():  # type: ignore[arg-type]
                warnings.simplefilter("ignore")
                (value, back), plain = te.vjp(f, x), f(x)
            for later in ("raise", "warn"):
                with numpy.errstate(all=later), warnings.catch_warnings():  # type: ignore[arg-type]
                    warnings.simplefilter("error")
                    (found,) = back(numpy.ones(2))
            numpy.testing.assert_array_equal(value, plain)
            assert found[1] == te.grad(lambda x, f=f, mode=mode: under(mode, f, x)[1])(x)[1]


def under(mode: Any, f: Callable[[Any], Any], x: Any) -> Any:
    with numpy.errstate(all=mode), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return f(x)


def test_every_ufunc() -> None:
    assert disagreements(ufuncs_of_floats(), RAISE, WARN) == []


def test_reports_are_set_where_numpy_has_no_variable(monkeypatch: Any) -> None:
    for name in ("another", "_extobj_contextvar"):
        monkeypatch.delattr(numpy._core.umath, name, raising=False)
        found = runpy.run_path(reports.__file__)
        with numpy.errstate(all="raise"):
            before = found["set_reports"](found["QUIET"])
            assert set(numpy.geterr().values()) == {"ignore"}
            found["reset_reports"](before)
            assert set(numpy.geterr().values()) == {"raise"}
