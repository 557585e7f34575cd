"""Random calls of numpy on traced values beside odd objects: numpy's value and its derivative, or an error.

`TAPEENGINE_NIGHTLY=1` makes 10,000 calls; `TAPEENGINE_CALLS=first:last` those of some seeds.
"""

from __future__ import annotations

import os
from typing import Any

import numpy
import pytest
from odd_objects import Case
from verdicts import Verdict, compared, equal, kinds, numbers_of, quiet, weights

import tapeengine as te
import tapeengine.numpy as np
from tapeengine.errors import TapeEngineError

NIGHTLY = os.environ.get("TAPEENGINE_NIGHTLY") == "1"
FIRST, LAST = map(int, os.environ.get("TAPEENGINE_CALLS", "0:10000" if NIGHTLY else "0:300").split(":"))
GROUP = 50
#: Where differences are too coarse, or a value is at a tie or a pole.
SINGULAR = ("f2", "f4", "-0.0]", "1.0, 1.0", "2 ** 70", "x * 0.0", "numpy.inf", "numpy.nan")
#: Python's own errors for operands, and the engine's for a write that numpy warns of.
PYTHONS = ("unsupported operand", "not supported between", "a broadcast view shows one element in several places")
#: numpy's functions that give other results for an array of objects than for an array of numbers (`docs/exact.md`).
OF_OBJECTS = ("numpy.real(", "numpy.imag(", "numpy.logical_or(", "numpy.logical_and(")
#: Errors that no call may raise, because they tell of a fault in the engine.
FAULTS = (SystemError, AssertionError, RecursionError, NameError, UnboundLocalError, MemoryError, KeyError)


@pytest.mark.parametrize("first", range(FIRST, LAST, GROUP))
def test_a_random_call_is_numpys_or_is_refused(first: int) -> None:
    wrong = {}
    for seed in range(first, min(first + GROUP, LAST)):
        case = Case(seed)
        found = judged(case)
        if not found.right:
            wrong[seed, case.primal, case.text] = found
    assert wrong == {}


def judged(case: Case) -> Verdict:
    """The verdict on a call; an error must be ours or the plain call's own."""
    plain, error = outcome(case.program(numpy), case.point())
    found: list[Any] = []
    try:
        with quiet():
            value, back = te.vjp(lambda x: observed(case.program(np)(x), found), case.point())
            gradient = back(weights(value))[0]
    except TapeEngineError as refusal:
        return Verdict("refused", str(refusal))
    except Exception as raised:
        return of_errors(raised, error)
    if error is not None:
        return of_leniency(case, error)
    return of_results(case, plain, found[0], value, gradient)


def outcome(program: Any, point: Any) -> tuple[Any, Exception | None]:
    """The plain result, or the error."""
    try:
        with quiet():
            return program(point), None
    except Exception as error:
        return None, error


def observed(result: Any, found: list[Any]) -> Any:
    found.append(described(result))
    return numbers_of(result)


def described(result: Any) -> Any:
    """The shape and dtype of each array of a result, and which parts are numbers."""
    if isinstance(result, (list, tuple)):
        return [described(part) for part in result]
    if isinstance(result, (te.Array, numpy.ndarray)) and result.dtype.kind in "fc" and kinds(result) == ["array"]:
        return result.shape, result.dtype.newbyteorder("=")
    return "objects" if isinstance(result, numpy.ndarray) and result.dtype == object else ""


def fits(found: Any, wanted: Any) -> bool:
    """Whether a result has the shapes and dtypes of the plain one.

    numpy makes arrays of objects of lists of dual numbers; an array without axes counts as a number.
    """
    if isinstance(wanted, list):
        return isinstance(found, list) and len(found) == len(wanted) and all(map(fits, found, wanted))
    return found == wanted or found == "objects" or wanted in ("", "objects") or (wanted[0] == () and not found)


def of_errors(raised: Exception, error: Exception | None) -> Verdict:
    """An error in the traced call: the plain call's own, or numpy's of a list, in which it finds no traced values."""
    explained = "numpy and pandas turn a list or Series" in str(getattr(raised, "__notes__", ""))
    explained |= any(word in str(raised) for word in PYTHONS)
    is_fault = isinstance(raised, FAULTS) and not isinstance(error, type(raised))
    word = "raised" if (error is not None or explained) and not is_fault else "raw"
    return Verdict(word, f"{type(raised).__name__}: {raised}")


def of_leniency(case: Case, error: Exception) -> Verdict:
    """A call that only the plain program refuses.

    Traced numbers have the attributes of numpy's numbers, and arrays of objects become arrays of numbers.
    """
    is_scalar = case.primal in ("1.3", "0.3 + 0.4j") and isinstance(error, AttributeError)
    has_objects = any(name in case.text for name in ("object", "HasArray", ".item(True)", "slice(0)", "dtype='>"))
    is_dtype = "construct a dtype" in str(error) or "as a data type" in str(error)  # numpy looks for an attribute dtype
    word = "refused" if is_scalar or has_objects or is_dtype else "lenient"
    return Verdict(word, f"{type(error).__name__}: {error}")


def of_results(case: Case, plain: Any, found: Any, value: Any, gradient: Any) -> Verdict:
    wanted = described(plain)
    if wanted == "objects":  # numpy's elements may be whole numbers
        return Verdict("discrete")
    if not equal(value, numbers_of(plain)) and "f2" not in case.text:  # the last bit of a half is large
        if found == "objects" and case.text.startswith(OF_OBJECTS):
            return Verdict("discrete")
        return Verdict("value", f"{value} for {numbers_of(plain)}")
    if not fits(found, wanted):
        return Verdict("value", f"{found} for {wanted}")
    point = case.point()
    is_double = isinstance(point, float) or (isinstance(point, numpy.ndarray) and point.dtype == float)
    has_no_slope = any(word in case.text + case.primal for word in SINGULAR)
    if not is_double or has_no_slope:
        return Verdict("discrete")
    return compared(case.program(numpy), point, gradient)


class Variable:
    """As a number with an uncertainty, which takes Python's numbers only."""

    def __mul__(self, other: Any) -> Any:
        return self if isinstance(other, (int, float)) else NotImplemented

    __rmul__ = __mul__


def test_numbers_with_uncertainties_are_refused() -> None:
    u = Variable()
    for program in (lambda x: u * x, lambda x: x * u * x):
        with pytest.raises(TypeError, match="unsupported operand") as raised:
            te.vjp(program, 2.0)
        assert "takes plain numbers only" in " ".join([str(raised.value), *getattr(raised.value, "__notes__", ())])
