"""Find the first non-finite number: in values and partials while recording, in cotangents and tangents during sweeps.

A watched tape reports each array operation and each sweep to its `Watcher`, which first sweeps record by record.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from types import FrameType
from typing import Any

import numpy as np

from ..._core.sweeps import linear
from ..._core.sweeps.trace import value_of
from ...errors import NotFiniteError, RepeatError
from ...forms import holds_traced, is_traced
from ...primitive.spaces import leaves
from ...structure import Structures
from .source_lines import Line, LineRecorder, line_of


def is_watched(backpropagator: Any) -> bool:
    """Whether sweeps over a tape are checked; a checked sweep takes one cotangent or tangent."""
    return linear.watcher_of(backpropagator.tape) is not None


class Watcher:
    """Receives the calls of a watched tape, and of a line recorder at the end of each line."""

    def __init__(self, structures: Structures) -> None:
        self.structures = structures
        self.recorder = LineRecorder(self.line_ended, self)

    # -- recording ----------------------------------------------------------------------------------------------------
    def recorded(self, primitive: Any, values: list[Any], out: Any, inputs: list[Any], kept: list[Any]) -> None:
        """Check the value of a primitive, and the partials of an elementwise one."""
        operands = {name_of(primitive, k): value for k, value in enumerate(values)}
        for part in leaves(out):
            at = first_bad(part)
            if at is not None:
                shown = _operands(operands, at, np.shape(part), _by_elements(primitive))
                raise NotFiniteError(
                    f"a value that is not finite at {self.here()}: {primitive.name} gives {_number(part, at)}{shown}"
                )
        if _by_elements(primitive) and not any(is_traced(part) for rule in kept for part in rule):
            self._check_partials(primitive, operands, out, inputs, kept)

    def _check_partials(
        self, primitive: Any, operands: dict[str, Any], out: Any, inputs: list[Any], kept: list[Any]
    ) -> None:
        ones = np.ones_like(value_of(out))
        for (argument, _), keeps in zip(inputs, kept, strict=True):
            with np.errstate(all="ignore"):
                partial = primitive.vjp_rules[argument].function(ones, *keeps)
            at = first_bad(partial)
            if at is not None:
                shown = _operands(operands, at, np.shape(partial), True)
                raise NotFiniteError(
                    f"a partial that is not finite at {self.here()}: that of {primitive.name} with "
                    f"respect to {primitive.args[argument]} is {_number(partial, at)}{shown}"
                )

    def computed(self, rule: Any, results: Sequence[Any]) -> None:
        """Check the results of a function with its own rule."""
        for result in results:
            at = first_bad(result)
            if at is not None:
                if getattr(getattr(rule, "derivative", None), "runs_again", False):
                    with suppress(RepeatError):  # the later run is watched
                        rule.push([None] * len(rule.arguments.spaces))
                raise NotFiniteError(
                    f"a value that is not finite at {self.here()}: {getattr(rule, 'name', 'a function')} "
                    f"gives {_number(result, at)}"
                )

    def passed_on(self, id: int, outer: Any, count: int) -> None:
        """Note that a record is copied to an outer tape, or swept there, after so many records; 0 at the end."""
        if outer is not None:
            outer.recorder.begin_inner(count, self.recorder.line_of(id) if id else None)

    def here(self) -> str:
        """The source line of the inner record that is being swept, or the one that is running."""
        return place_of(self.recorder.inner or line_of(sys._getframe()))

    def line_ended(self, tape: Any, first: int, last: int, line: Line, frame: FrameType) -> None:
        """Check the scalar records of a line, and its variables if it wrote to arrays."""
        found = linear.first_not_finite(tape, first, last)
        if found is not None:
            raise NotFiniteError(_scalar_text(tape, *found, self.recorder.inner_line(found[0]) or line))
        if any(tape.record(i)[1] == "array" for i in range(first, last + 1)):
            for name, value in list(frame.f_locals.items()):
                at = first_bad(value) if is_traced(value) else None
                if at is not None:
                    raise NotFiniteError(
                        f"a value that is not finite at {place_of(line)}: {name} has {_number(value, at)}"
                    )

    # -- sweeps -------------------------------------------------------------------------------------------------------
    def cotangents(self, backpropagator: Any, cotangent: Any) -> None:
        """Check a reverse sweep; if it depends on another trace, that trace checks it while recording it."""
        self._check(backpropagator, cotangent, linear.cotangent_fault, "the given cotangent")

    def tangents(self, backpropagator: Any, tangents: Any) -> None:
        """Check a forward sweep."""
        self._check(backpropagator, tangents, linear.tangent_fault, "a given tangent")

    def _check(self, backpropagator: Any, given: Any, fault_of: Callable[[Any, Any], Any], what: str) -> None:
        if linear.depends_on_outer(backpropagator) or holds_traced(self.structures, given):
            return
        fault = fault_of(backpropagator, given)
        if fault is not None and not fault.id:
            raise NotFiniteError(f"{what} is not finite")
        if fault is not None:
            raise NotFiniteError(self._sweep_text(backpropagator.tape, fault, what.split()[-1]))

    def _sweep_text(self, tape: Any, fault: Any, what: str) -> str:
        """Describe a fault: the operation, its non-finite result, and its operands."""
        line = place_of(self.recorder.line_of(fault.id))
        name, primitive = linear.operation(tape, fault.id), linear.primitive_of(tape, fault.id)
        at = first_bad(fault.found) or ()
        if primitive is None:
            values, partials = _scalar_parts(tape, fault.id)
            of = f" of {values} with the partials {partials}" if values else ""
            return f"a {what} that is not finite comes from {name}{of}, at {line}: it is {_number(fault.found, at)}"
        whose = "" if fault.argument is None else f", for its argument {name_of(primitive, fault.argument)}"
        given = {f"{what} {k}": part for k, part in enumerate(fault.incoming, 1) if part is not None}
        operands = {name_of(primitive, k): value for k, value in linear.operands_of(tape, fault.id).items()}
        shown = _operands({**given, **operands}, at, np.shape(fault.found), _by_elements(primitive))
        return (
            f"a {what} that is not finite comes from {name}, at {line}{whose}: it is {_number(fault.found, at)}{shown}"
        )


def name_of(primitive: Any, argument: int) -> str:
    """The name of one of a primitive's arguments."""
    return f"{primitive.args[0]}[{argument}]" if primitive.variadic else str(primitive.args[argument])


def _by_elements(primitive: Any) -> bool:
    """Whether a primitive is elementwise, so that a place in the result corresponds to one place in each operand."""
    rule = next((rule for rule in primitive.vjp_rules if rule is not None), None)
    made_by = getattr(getattr(rule, "function", None), "__qualname__", "")
    return primitive.opcode is not None or "rules_of_partial" in made_by


def first_bad(value: Any) -> tuple[int, ...] | None:
    """The place of the first non-finite number in memory order; None if all are finite."""
    value = value_of(value)
    if not isinstance(value, (float, complex, np.ndarray, np.inexact)) or np.asarray(value).dtype.kind not in "fc":
        return None
    bad = ~np.isfinite(value)
    if not np.any(bad):
        return None
    return tuple(int(i) for i in np.unravel_index(int(np.argmax(bad)), np.shape(value)))


def _number(value: Any, at: tuple[int, ...]) -> str:
    """One number of an array, with its place."""
    value = np.asarray(value_of(value))
    return f"{value[at].item()!r}" + (f" at {list(at)} of shape {value.shape}" if value.shape else "")


def _operands(values: dict[str, Any], at: tuple[int, ...], shape: tuple[int, ...], by_elements: bool) -> str:
    shown = list(_shown(values, at, shape, by_elements))
    return f"; {', '.join(shown)}" if shown else ""


def _shown(values: dict[str, Any], at: tuple[int, ...], shape: tuple[int, ...], by_elements: bool) -> Iterator[str]:
    """The operands: each by its number at the place, or by its shape and its first non-finite number."""
    for name, value in values.items():
        value = value_of(value)
        if not isinstance(value, (int, float, complex, np.ndarray, np.generic)):
            continue
        array = np.asarray(value)
        if not array.shape:
            yield f"{name} = {array.item()!r}"
        elif by_elements and _fits(array.shape, shape):
            yield f"{name} = {np.broadcast_to(array, shape)[at].item()!r} there"
        else:
            bad = first_bad(array)
            yield f"{name} of shape {array.shape}" + (
                "" if bad is None else f" with {array[bad].item()!r} at {list(bad)}"
            )


def _fits(shape: tuple[int, ...], onto: tuple[int, ...]) -> bool:
    try:
        return np.broadcast_shapes(shape, onto) == onto
    except ValueError:
        return False


def _scalar_parts(tape: Any, id: int) -> tuple[str, str]:
    """The operands and the partials of a scalar record."""
    _, _, parents, partials = tape.record(id)
    return _listed(linear.value_of_id(tape, parent) for parent in parents), _listed(partials)


def _scalar_text(tape: Any, id: int, what: str, line: Line) -> str:
    operands, partials = _scalar_parts(tape, id)
    name, value = tape.record(id)[1], linear.value_of_id(tape, id)
    if not operands:
        return f"a {what} that is not finite at {place_of(line)}: the {name} of an element has the value {value!r}"
    return (
        f"a {what} that is not finite at {place_of(line)}: {name} of {operands} "
        f"has the value {value!r} and the partials {partials}"
    )


def _listed(numbers: Any) -> str:
    return ", ".join(repr(number) for number in numbers)


def place_of(line: Line | None) -> str:
    """A source line, formatted for an error."""
    if line is None:
        return "an unknown line"
    return f"{line.file}:{line.number} in {line.function}: {line.text}"
