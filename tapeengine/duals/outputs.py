"""Where a result goes: the argument `out`, and the memory order that a call asks for, as in numpy."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy

from .._core.arrays.array import Array, constant_of, form_of, holds_traced, is_number, numbers_of
from .._core.scalars.complex import ComplexDual
from .._core.scalars.scalar import Dual
from .._core.structures.boundary import overlap
from .._core.sweeps.trace import value_of
from ..dropped import PLAIN_OUTPUT, module_of_frame
from ..errors import UnsupportedError
from .creation import copy, in_order_of, number_of, sample_of, spread
from .foreign import replaced

Plain = Callable[[], Any]


def numpys(function: Callable[..., Any], args: tuple[Any, ...], options: Mapping[str, Any]) -> Any:
    """Return numpy's result for the values, or raise its error; numpy writes only into copies."""
    return function(*replaced(_copied, args), **replaced(_copied, dict(options)))


def of_form(function: Callable[..., Any], args: tuple[Any, ...], options: Mapping[str, Any]) -> Any:
    """Return numpy's result where only its form counts, or raise its error.

    A recording of a staged program does not check the values, as it does where `numpys` reads them. The forms are the
    memory of the traced arrays, so numpy must not write to them.
    """
    if options.get("overwrite_input"):
        options = {**options, "overwrite_input": False}
    return function(*replaced(_with_form, args), **replaced(_with_form, dict(options)))


def _with_form(x: Any) -> Any:
    if is_number(x):
        return type(sample_of(x))(form_of(x)) if type(x) is Dual else number_of(x)
    return form_of(x) if type(x) is Array else value_of(x)


def _copied(x: Any) -> Any:
    if is_number(x):
        return number_of(x)
    return numbers_of(x) if type(x) is Array and not x.flags.writeable else value_of(x)


def stored(result: Any, out: Any, plain: Plain) -> Any:
    """Assign a result to the `out` argument of a call; `plain` calls numpy with the values, and fills plain arrays."""
    if out is None:
        return result
    results, places = (x if isinstance(x, tuple) else (x,) for x in (result, out))
    pairs = [(part, place) for part, place in zip(results, places, strict=True) if place is not None]
    for part, place in pairs:
        check_holds(place, part)
    if len(pairs) < len(places):  # the places given also say the shape and the order of the other results
        wanted = plain()
        results = tuple(map(spread_as, results, wanted))
        check_values(zip(results, places, strict=True), wanted)
    elif not all(isinstance(place, Array) and of_one_form(part, place) for part, place in pairs):
        check_values(zip(results, places, strict=True), plain())
    found = tuple(part if place is None else assigned(place, part) for part, place in zip(results, places, strict=True))
    return found if isinstance(result, tuple) else found[0]


def shares(parts: Any, out: Any) -> bool:
    """Whether an array among the parts of a sequence may lie in the memory of an output."""
    return type(out) is Array and any(
        isinstance(part, (Array, numpy.ndarray)) and numpy.may_share_memory(form_of(part), form_of(out))
        for part in parts
    )


def joined(args: tuple[Any, ...], is_stack: bool, out: Any, axis: Any = 0, **options: Any) -> Any:
    """Write parts into an output that shares memory with them: one after the other, as numpy does."""
    parts, axis = args if len(args) > 1 else (args[0], axis)
    if axis is None:
        raise UnsupportedError("out= shares memory with an array that is joined without an axis. Pass a copy of it")
    place, start = numpy.moveaxis(out, axis, 0), 0
    for part in parts:
        rows = numpy.moveaxis(numpy.expand_dims(part, axis) if is_stack else part, axis, 0)
        place[start : start + len(rows)] = rows
        start += len(rows)
    return out


#: Functions of numpy that divide a sum in its place.
METHODS = ("_mean", "_var")


def check_outputs(name: str, out: Any) -> None:
    """Refuse outputs that are traced numbers, and those in which the order of writing shows.

    Refuse also the sums of plain arrays' methods, which divide an ndarray only.
    """
    outs = out if isinstance(out, tuple) else (out,)
    if any(type(out) in (Dual, ComplexDual) for out in outs):
        raise UnsupportedError(
            f"out= of numpy.{name} is a traced number. Use tapeengine.numpy for functions of lists of traced numbers"
        )
    frame: Any = sys._getframe(1) if name == "add" else None
    while frame is not None and module_of_frame(frame).startswith("tapeengine."):
        frame = frame.f_back
    if frame is not None and frame.f_code.co_name in METHODS and module_of_frame(frame).endswith("core._methods"):
        raise UnsupportedError(
            "out= of a plain array's mean, var or std is a traced array. Call the function: numpy.mean(a, out=b)"
        )
    if any(overlap(a, b) for a, b in itertools.combinations(filter(_is_array, outs), 2)):
        raise UnsupportedError(f"two outputs of numpy.{name} share memory. Pass copies")


def check_spread(name: str, inputs: tuple[Any, ...], result: Any, out: Any) -> None:
    """Refuse an output to which numpy broadcasts the operands, and which it writes to before it has read them all."""
    if out.shape != numpy.shape(form_of(result)) and any(overlap(x, out) for x in filter(_is_array, inputs)):
        raise UnsupportedError(
            f"out= of numpy.{name} has another shape, and shares memory with an operand. Pass a copy"
        )


def _is_array(x: Any) -> bool:
    return isinstance(x, (Array, numpy.ndarray))


def spread_as(result: Any, plain: Any) -> Any:
    """A result in the shape and memory order of numpy's."""
    same = numpy.shape(form_of(result)) == plain.shape
    return laid_out(result if same else copy(spread(result, plain.shape)), plain)


def of_one_form(result: Any, place: Any) -> bool:
    """Whether a result has the shape and dtype of its place, so that numpy stores it unchanged."""
    values = numpy.asarray(form_of(result))
    return bool(values.shape == place.shape and values.dtype == place.dtype)


def check_values(pairs: Iterable[tuple[Any, Any]], wanted: Any) -> None:
    """Refuse results that numpy computes in another precision because the traced outputs have one."""
    for (result, place), values in zip(pairs, wanted if isinstance(wanted, tuple) else (wanted,), strict=True):
        if isinstance(place, Array) and not stores_as(numpy.asarray(form_of(result)), numpy.asarray(values)):
            raise UnsupportedError(
                f"out= of {place.dtype!r} makes numpy compute in another precision than the operands have. Convert the "
                "operands with astype, or omit out="
            )


def stores_as(result: Any, values: Any) -> bool:
    """Whether a result, converted and broadcast to an output, is what numpy stores there."""
    eps = numpy.finfo(values.dtype).eps if values.dtype.kind in "fc" else 0.0
    return bool(numpy.allclose(result, values, rtol=8 * eps, atol=0.0, equal_nan=True))


def assigned(place: Any, result: Any) -> Any:
    """An output after the assignment; numpy has filled a plain array."""
    if isinstance(place, Array):
        place[...] = result
    return place


def check_holds(place: Any, value: Any) -> None:
    """Refuse a value that depends on an input for a place that cannot hold traced values."""
    is_of_objects = type(value) is numpy.ndarray and value.dtype.kind == "O"
    if not isinstance(place, Array) and holds_traced(value.tolist() if is_of_objects else constant_of(value)):
        raise UnsupportedError(PLAIN_OUTPUT)


def laid_out(result: Any, plain: Any) -> Any:
    """A result in the memory order that numpy's has."""
    if isinstance(result, tuple):
        return tuple(map(laid_out, result, plain))
    return in_order_of(result, plain)
