"""Operations of traced numbers with numpy's numbers of every type: type and value are those of the plain program.

numpy converts Python's numbers to the precision of its own, and widens its own to the larger of two. All operators and
ufuncs of two operands are tried on both sides with each type, on numbers of each kind.
"""

from __future__ import annotations

import itertools
import operator
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from number_kinds import NUMBERS

import tapeengine as te
from tapeengine.errors import TapeEngineError

TYPES = (
    *(np.float16, np.float32, np.float64, np.longdouble, np.complex64, np.complex128),
    *(np.int8, np.int32, np.int64, np.uint64, np.bool_, float, int, complex),
)
ARRAYS = [np.array(2, "f4"), np.ones(2, "f4"), np.array([2.0, 0.5]), np.ones(2, "c8"), np.arange(2)]
OTHERS = [*(kind(2) for kind in TYPES), np.float32(1.3), np.float64(1.3), complex(1.3), *ARRAYS]
OPERATORS = (
    *(operator.add, operator.sub, operator.mul, operator.truediv, operator.pow),
    *(operator.floordiv, operator.mod, operator.lt, operator.ge, operator.eq, operator.ne),
    *(np.add, np.multiply, np.divide, np.power, np.arctan2, np.hypot, np.maximum, np.fmin, np.logaddexp, np.greater),
    lambda x, y: np.where(np.array([True, False]), x, y),
)


def outcome(program: Callable[[Any], Any], x: Any) -> Any:
    """The type and the bits of a value, or the type of the error."""
    try:
        value = np.asarray(te.value(program(x)))
    except TapeEngineError:
        return "refused"
    except Exception as error:
        return type(error).__name__
    return value.dtype.name, value.shape, repr(value.tolist())


def power_of(other: Any, number: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda x: np.power(other, number(x))


@pytest.mark.parametrize("kind", NUMBERS)
def test_type_and_value_are_numpys(kind: str) -> None:
    number, primal = NUMBERS[kind]
    wrong = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for apply, other, side in itertools.product(OPERATORS, OTHERS, (0, 1)):

            def program(x: Any, apply: Any = apply, other: Any = other, side: int = side) -> Any:
                return apply(number(x), other) if side == 0 else apply(other, number(x))

            # numpy's numbers leave the power of a foreign object to the ufunc
            is_ufunc = apply is operator.pow and side == 1 and isinstance(other, np.generic)
            expected = outcome(program, primal) if not is_ufunc else outcome(power_of(other, number), primal)
            found = [None]

            def traced(x: Any, program: Any = program, found: Any = found) -> Any:
                found[0] = outcome(program, x)
                return 0.0

            te.vjp(traced, primal)
            if found[0] not in (expected, "refused"):
                wrong.append(f"{getattr(apply, '__name__', apply)} {other!r} {side}: {found[0]} for {expected}")
    assert not wrong, f"{len(wrong)}\n" + "\n".join(wrong[:40])


@pytest.mark.parametrize("kind", [kind for kind in NUMBERS if "complex" not in kind and "absolute" not in kind])
def test_derivatives_in_other_precisions(kind: str) -> None:
    number, primal = NUMBERS[kind]
    wrong = []
    for apply, other, side in itertools.product(OPERATORS[:5], OTHERS[:6], (0, 1)):

        def program(x: Any, apply: Any = apply, other: Any = other, side: int = side) -> Any:
            value = apply(number(x), other) if side == 0 else apply(other, number(x))
            return value.real + 0.0

        def double(x: float, apply: Any = apply, other: Any = other, side: int = side) -> float:
            found = float(number(primal + x * np.ones_like(primal) if np.ndim(primal) else primal + x))
            y = float(other.real)
            return float(apply(found, y) if side == 0 else apply(y, found))

        try:
            found = float(np.sum(te.grad(program)(primal)))
        except TapeEngineError:
            continue
        h = 1e-3 if np.asarray(primal).dtype == np.float32 else 1e-5
        expected = (double(h) - double(-h)) / (2 * h)
        if not abs(found - expected) < 4e-3 * (1 + abs(expected)):
            wrong.append(f"{apply} {other!r} {side}: {found} for {expected}")
    assert not wrong, "\n".join(wrong[:40])
