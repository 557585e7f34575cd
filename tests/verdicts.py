"""Verdicts on a program with traced values, from the plain program alone: its value, and differences of it."""

from __future__ import annotations

import contextlib
import io
import itertools
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy

import tapeengine as te
import tapeengine.numpy
from tapeengine._core.scalars.complex import ComplexDual
from tapeengine.errors import TapeEngineError

STEP = 1e-6
#: Acceptable outcomes: the derivative, no dependence, an error of ours, the plain program's own error.
RIGHT = {"traced", "discrete", "refused", "raised"}


class Verdict(NamedTuple):
    """A word for the outcome, and an explanation."""

    word: str
    detail: str = ""

    @property
    def right(self) -> bool:
        return self.word in RIGHT


def verdict(program: Callable[..., Any], point: Any) -> Verdict:
    """Judge one program of one primal, a float, an array or a list of floats.

    `traced` and `discrete` are right results; `refused` is an error of ours, `raised` the plain program's error.
    Defects are `dropped` (a derivative that is not the differences'), `value`, `raw` and `lenient` (no error where the
    plain program raises one).
    """
    plain, error = attempted(program, point)
    found: list[Any] = []

    def traced(x: Any) -> Any:
        result = program(x)
        found.append(kinds(result))
        return result

    try:
        with quiet():
            value, backpropagator = te.vjp(lambda x: numbers_of(traced(x)), point)
            gradient = backpropagator(weights(value))[0]
    except TapeEngineError as refusal:
        return Verdict("refused", f"{type(refusal).__name__}: {refusal}")
    except Exception as raised:
        return Verdict(
            "raised" if error is not None else "raw", f"{type(raised).__name__} in {place(raised)}: {raised}"
        )
    if error is not None:
        return Verdict("lenient", f"{type(error).__name__}: {error}")
    if not equal(value, numbers_of(plain)):
        return Verdict("value", f"{value} for {numbers_of(plain)}")
    if len(found[-1]) == len(kinds(plain)) and ("array", "number") in zip(found[-1], kinds(plain), strict=True):
        return Verdict("value", "an array of shape (), which += changes, for a number")
    return compared(program, point, gradient)


def is_advised(program: Callable[[Any], Any], point: Any) -> bool:
    """Whether the error of a traced program says what to write instead."""
    try:
        te.vjp(program, point)
    except Exception as error:
        return any("tapeengine.value(x)" in note for note in getattr(error, "__notes__", ()))
    return False


def kinds(result: Any) -> list[str]:
    """Which parts of a result are numbers, and which are arrays, which an operator such as ``+=`` changes in place."""
    if isinstance(result, (list, tuple)):
        return [kind for part in result for kind in kinds(part)]
    if isinstance(result, te.Array) and result.shape == () and result.dtype.kind in "fc":
        before = result
        result += 0
        return ["array" if result is before else "number"]
    is_array = isinstance(result, (te.Array, numpy.ndarray)) and result.dtype.kind in "fc"
    return ["array" if is_array else "number"]


def place(error: BaseException) -> str:
    """The module that raised an error."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return str(trace.tb_frame.f_globals.get("__name__", "")) if trace is not None else ""


def compared(program: Callable[..., Any], point: Any, gradient: Any) -> Verdict:
    """The slope along one direction, and that of differences of the plain program."""
    direction = tree(lambda x: numpy.cos(1.3 + numpy.arange(numpy.size(x))).reshape(numpy.shape(x))[()], point)
    slope = sum(float(numpy.sum(g * d).real) for g, d in zip(flat(gradient), flat(direction), strict=True))
    wanted = difference(program, point, direction)
    if wanted is None or abs(slope - wanted) <= 2e-5 * (1.0 + abs(wanted)):
        return Verdict("traced" if slope else "discrete")
    return Verdict("dropped", f"slope {slope} for {wanted}")


def difference(program: Callable[..., Any], point: Any, direction: Any) -> float | None:
    """The central difference of a weighted sum of a plain result; None if it does not converge."""

    def weighed(step: float) -> float:
        moved = tree(lambda x, d: x + step * d, point, direction)
        result = numbers_of(attempted(program, moved)[0])
        return float(sum(numpy.sum(v * w) for v, w in zip(result, weights(result), strict=True)).real)

    slopes = [(weighed(h) - weighed(-h)) / (2 * h) for h in (STEP, 4 * STEP)]
    settled = abs(slopes[0] - slopes[1]) <= 1e-4 * (1.0 + abs(slopes[0]))
    return slopes[0] if settled and numpy.isfinite(slopes[0]) else None


def weights(result: list[Any]) -> list[Any]:
    """A weight for each number of a result, by its position among all."""
    ends = numpy.cumsum([0, *(v.size for v in result)])
    return [numpy.sin(1.0 + numpy.arange(a, b)) for a, b in itertools.pairwise(ends)]


def attempted(program: Callable[..., Any], point: Any) -> tuple[Any, Exception | None]:
    """The plain program's result, or its error."""
    try:
        with quiet():
            return program(tree(numpy.copy, point)), None
    except Exception as error:
        return None, error


@contextlib.contextmanager
def quiet() -> Any:
    """Suppress numpy's warnings and output of functions."""
    with warnings.catch_warnings(), numpy.errstate(all="ignore"), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        yield


def tree(function: Callable[..., Any], first: Any, *others: Any) -> Any:
    """A function of a primal's leaves; floats stay floats."""
    if isinstance(first, list):
        return [tree(function, *items) for items in zip(first, *others, strict=True)]
    result = function(first, *others)
    return float(result) if isinstance(first, float) and not isinstance(first, numpy.floating) else result


def flat(value: Any) -> list[Any]:
    return [leaf for item in value for leaf in flat(item)] if isinstance(value, list) else [value]


def numbers_of(result: Any) -> list[Any]:
    """The real and complex numbers of a result, as flat arrays; other parts are discrete or no numbers."""
    if isinstance(result, (te.Array, te.Dual)):
        return [numpy.reshape(result * 1.0, (-1,))]
    if isinstance(result, ComplexDual):
        return [tapeengine.numpy.array([result])]
    if isinstance(result, (list, tuple)):
        return [part for item in result for part in numbers_of(item)]
    if isinstance(result, dict):
        return numbers_of(list(result.values()))
    if isinstance(result, type):
        return []
    if not isinstance(result, numpy.ndarray) and isinstance(getattr(result, "data", None), te.Array):
        return numbers_of(result.data)  # an xarray, which can hold other arrays
    if isinstance(result, numpy.ma.MaskedArray):
        return numbers_of(numpy.where(numpy.ma.getmaskarray(result), numpy.nan, result.data))
    if isinstance(result, (float, complex, numpy.inexact, numpy.ndarray)) or hasattr(result, "__array__"):
        values = numpy.asarray(result)
        if values.dtype == object:
            return numbers_of(of_objects(values.ravel().tolist()))
        return [values.ravel() * 1.0] if values.dtype.kind in "fc" else []
    return numbers_of(result.toarray()) if hasattr(result, "toarray") else []


def of_objects(items: list[Any]) -> Any:
    """An object array as an array of numbers, if it holds only numbers; an integer 0 counts as one."""
    if all(isinstance(item, (te.Dual, float, int)) for item in items):
        return tapeengine.numpy.array(items, float)
    return items


def equal(found: list[Any], wanted: list[Any]) -> bool:
    """Whether numbers equal those of the plain program, up to the order of a sum."""
    if sum(v.size for v in found) != sum(v.size for v in wanted):
        return False
    a, b = (numpy.concatenate([numpy.zeros(0), *part]) for part in (found, wanted))
    return bool(numpy.allclose(a, b, rtol=1e-10, atol=1e-12, equal_nan=True))
