"""Operands in lower precision, which numpy converts: derivatives are those with the converted operands."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy_calls import calls

import tapeengine as te
import tapeengine.numpy as tnp

CALLS = [call for call in calls() if len(call.primals) > 1]
NARROW = {"f": np.float32, "e": np.float16, "F": np.complex64}


def parts_of(value: Any) -> list[Any]:
    return [part for item in value for part in parts_of(item)] if isinstance(value, (tuple, list)) else [value]


def derivatives(program: Callable[..., Any], x: Any) -> list[Any]:
    """A tangent, a cotangent, and the rows of the Jacobian of all numbers of a program's value."""

    def numbers(x: Any) -> Any:
        return tnp.concatenate([tnp.ravel(part) for part in parts_of(program(x))])

    value, back = te.vjp(numbers, x)
    found = [te.jvp(numbers, (x,), (np.ones_like(x)[()],))[1], back(np.ones_like(value))[0]]
    found += [te.jvp(te.grad(lambda x: tnp.real(tnp.sum(numbers(x) ** 2))), (x,), (np.ones_like(x)[()],))[1]]
    return (
        found
        if np.iscomplexobj(x) or np.iscomplexobj(value)
        else [*found, te.jacrev(numbers)(x), te.jacfwd(numbers)(x)]
    )


def compare(program: Callable[[Any, Any], Any], x: Any, narrow: Any) -> bool:
    """Compare the derivatives in `x` beside a narrow constant and a wide one; False where the values differ."""
    wide = narrow.astype(complex if narrow.dtype.kind == "c" else float)
    with np.errstate(all="ignore"):
        try:
            values = [[np.asarray(part) for part in parts_of(program(x, c))] for c in (narrow, wide)]
        except (TypeError, ValueError, np.linalg.LinAlgError):
            return False
        if any(a.dtype != b.dtype or not np.array_equal(a, b, equal_nan=True) for a, b in zip(*values, strict=True)):
            return False
        try:
            expected = derivatives(lambda x: program(x, wide), x)
        except (te.errors.TapeEngineError, TypeError, ValueError):  # at complex numbers, of discrete values, ...
            return False
        for ours, theirs in zip(derivatives(lambda x: program(x, narrow), x), expected, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-13, atol=1e-13 * np.max(np.abs(theirs), initial=0.0))
    return True


@pytest.mark.parametrize("kind", NARROW)
@pytest.mark.parametrize("call", CALLS, ids=[call.name for call in CALLS])
@pytest.mark.filterwarnings("ignore")
def test_calls_of_numpy(call: Any, kind: str) -> None:
    for position, primal in enumerate(call.primals):
        for constant in range(len(call.primals)):
            if constant == position or np.asarray(call.primals[constant]).dtype.kind != "f":
                continue

            def program(x: Any, c: Any, position: int = position, constant: int = constant) -> Any:
                given = {position: x, constant: c}
                return call.program(tnp, *[given.get(k, p) for k, p in enumerate(call.primals)])

            compare(program, np.asarray(primal)[()] * 1.0, np.asarray(call.primals[constant]).astype(NARROW[kind])[()])


OPERATORS = (
    *(operator.add, operator.sub, operator.mul, operator.truediv, operator.pow, operator.mod, operator.floordiv),
    *(np.multiply, np.divide, np.power, np.float_power, np.dot, np.inner, np.hypot, np.arctan2, np.maximum, np.fmod),
    *(np.logaddexp, np.copysign, np.outer, np.kron, np.vdot, np.add.outer, np.multiply.outer),
)
#: Points of a program as numbers of numpy, and one in which they are elements, sums and arrays without axes.
POINTS: dict[str, Callable[[Any], Any]] = {
    "element": lambda x: x[0],
    "sum": lambda x: tnp.sum(x),
    "no axes": lambda x: tnp.sum(x, keepdims=True).reshape(()),
    "vector": lambda x: x,
}


@pytest.mark.parametrize("kind", NARROW)
@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize("apply", OPERATORS, ids=lambda f: getattr(f, "__name__", str(f)))
@pytest.mark.filterwarnings("ignore")
def test_operators(apply: Any, point: str, kind: str) -> None:
    x, c = np.array([1.3, 0.4]), NARROW[kind](0.1)
    for constant in (c, np.array(c), np.array([c, 3 * c])):
        for turned in (False, True):

            def program(x: Any, c: Any, turned: bool = turned) -> Any:
                return apply(c, POINTS[point](x)) if turned else apply(POINTS[point](x), c)

            compare(program, x, constant)


@pytest.mark.parametrize("kind", NARROW)
@pytest.mark.parametrize("apply", OPERATORS, ids=lambda f: getattr(f, "__name__", str(f)))
@pytest.mark.filterwarnings("ignore")
def test_numbers_of_python(apply: Any, kind: str) -> None:
    for constant in (NARROW[kind](0.1), np.array(NARROW[kind](0.1)), np.array([0.1, 0.3]).astype(NARROW[kind])):
        compare(lambda x, c: apply(x, c), 1.3, constant)
        compare(lambda x, c: apply(c, x), 1.3, constant)


def test_that_they_are_compared() -> None:
    x, c = np.array([1.3, 0.4]), np.float32(0.1)
    for apply in (operator.mul, operator.truediv, operator.pow, np.dot, np.hypot):
        assert compare(lambda x, c, f=apply: f(x[0], c), x, c) and compare(lambda x, c, f=apply: f(c, x[1]), x, c)
        assert compare(lambda x, c, f=apply: f(x, c), x, np.array([c, 2 * c]))


@pytest.mark.parametrize("dtype", [np.float32, np.complex64])
def test_traced_operands_in_lower_precision(dtype: Any) -> None:
    """Both operands are traced: the rules of the wide one use the converted narrow one."""
    narrow, wide = np.array([0.1, 0.7]).astype(dtype), np.array([1.3, 0.4])
    for f in (lambda a, b: a / b, lambda a, b: b / a, lambda a, b: a * b, lambda a, b: a**b, lambda a, b: a[0] * b[0]):
        found = te.vjp(lambda a, b, f=f: tnp.sum(tnp.real(f(a, b))), wide, narrow)[1](1.0)
        expected = te.vjp(
            lambda a, b, f=f: tnp.sum(tnp.real(f(a, b))),
            wide,
            narrow.astype(wide.dtype if dtype == np.float32 else complex),
        )[1](1.0)
        np.testing.assert_allclose(found[0], expected[0], rtol=1e-14)
        assert found[1].dtype == dtype
        np.testing.assert_allclose(found[1], expected[1], rtol=1e-6)


def test_in_a_staged_program() -> None:
    c = np.array([0.1, 0.7], np.float32)
    staged = te.stage(lambda x: tnp.sum(x / c) * x[0] * c[1] + x[1] * np.float16(0.1))
    for x in (np.array([1.3, 0.4]), np.array([1.1, 0.3]), np.array([0.7, 2.0])):
        wide = te.grad(lambda x: tnp.sum(x / c.astype(float)) * x[0] * float(c[1]) + x[1] * float(np.float16(0.1)))
        np.testing.assert_allclose(te.grad(staged)(x), wide(x), rtol=1e-14)
