"""The debug switch: source lines of records, and an error at the first number that is not finite."""

from __future__ import annotations

from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tapeengine._core import inspection, trace
from tapeengine._core.trace import value_of
from tapeengine.errors import NotFiniteError
from tapeengine.structure import Structures
from tapeengine.transforms.forms import flatten, is_traced
from tapeengine.transforms.source_lines import Line, LineRecorder

if TYPE_CHECKING:
    from tapeengine.engine import Engine

__all__ = ["Debug", "DebugBackpropagator", "Switches", "debug_vjp", "watched"]


class Switches(NamedTuple):
    """What an engine watches."""

    nans: bool
    records: bool


class Debug:
    """The switches of an engine, set; as a context manager they are set back at its end."""

    def __init__(self, engine: Engine, switches: Switches | None) -> None:
        self.engine = engine
        self.before = engine.switches
        engine.switches = switches

    def __enter__(self) -> Engine:
        """Return the engine."""
        return self.engine

    def __exit__(self, *error: object) -> None:
        """Set the switches back."""
        self.engine.switches = self.before


def watched(engine: Engine, program: Callable[..., Any]) -> Callable[..., Any]:
    """A program that is run under the engine's switches; the program itself where they are off."""
    switches = engine.switches
    if switches is None or not switches.nans:
        return program
    return lambda *args: LineRecorder(NotFinite(engine.structures)).run(program, *args)


def debug_vjp(
    engine: Engine, program: Callable[..., Any], primals: tuple[Any, ...], keywords: dict[str, Any], nans: bool
) -> tuple[Any, DebugBackpropagator]:
    """Do what `Engine.vjp` does, with source lines, and with checks where `nans` asks for them."""
    recorder = LineRecorder(NotFinite(engine.structures) if nans else None)

    def run(*args: Any, **kwargs: Any) -> Any:
        return recorder.run(program, *args, **kwargs)

    limit, rules = engine.max_tape_bytes, engine.rules
    value, backpropagator = trace.vjp(run, primals, keywords, engine.structures, limit, rules, True)
    return value, DebugBackpropagator(backpropagator, recorder, nans)


class DebugBackpropagator:
    """A backpropagator that knows the source line of each record, and checks the cotangents where asked to."""

    def __init__(self, backpropagator: Any, recorder: LineRecorder, nans: bool) -> None:
        self.backpropagator = backpropagator
        self.recorder = recorder
        self.nans = nans

    @property
    def tape(self) -> Any:
        """The tape."""
        return self.backpropagator.tape

    @property
    def is_scalar(self) -> bool:
        """Whether the result is one real number."""
        return bool(self.backpropagator.is_scalar)

    def line(self, id: int) -> Line | None:
        """The source line that left a record."""
        return self.recorder.line_of(id)

    def __call__(self, cotangent: Any) -> Any:
        """Call the backpropagator.

        Raises
        ------
        NotFiniteError
            Where the debug switch asks for it and a cotangent is not finite.
        """
        found = self.backpropagator(cotangent)
        if self.nans and not all(map(_finite, flatten(Structures(), found)[0])):
            self._explain(cotangent)
        return found

    def _explain(self, cotangent: Any) -> None:
        id = inspection.bad_cotangent(self.backpropagator, cotangent)
        if not id:
            raise NotFiniteError("the cotangent that was handed in is not finite")
        line = self.line(id)
        _, name, parents, partials = self.tape.record(id)
        values = _listed(inspection.value_of_id(self.tape, parent) for parent in parents)
        detail = f" of {values} with the partials {_listed(partials)}" if parents else " operation"
        raise NotFiniteError(f"a cotangent that is not finite comes from {name}{detail}, at {_place(line)}")


class NotFinite:
    """The check of what a line has left: scalar records, and arrays among the line's variables."""

    def __init__(self, structures: Structures) -> None:
        self.structures = structures

    def __call__(self, tape: Any, first: int, last: int, line: Line, frame: FrameType) -> None:
        """Raise at the first value or partial that is not finite."""
        found = inspection.first_not_finite(tape, first, last)
        if found is not None:
            raise NotFiniteError(_record_text(tape, *found, line))
        if any(tape.record(i)[1] == "array" for i in range(first, last + 1)):
            for name, value in list(frame.f_locals.items()):
                if is_traced(value) and not _finite(value_of(value)):
                    shown = np.array2string(np.asarray(value_of(value)), threshold=20)
                    raise NotFiniteError(f"a value that is not finite at {_place(line)}: {name} = {shown}")


def _record_text(tape: Any, id: int, what: str, line: Line) -> str:
    _, name, parents, partials = tape.record(id)
    operands = _listed(inspection.value_of_id(tape, parent) for parent in parents)
    value = inspection.value_of_id(tape, id)
    return (
        f"a {what} that is not finite at {_place(line)}: {name} of {operands} "
        f"has the value {value!r} and the partials {_listed(partials)}"
    )


def _listed(numbers: Any) -> str:
    return ", ".join(repr(number) for number in numbers)


def _place(line: Line | None) -> str:
    if line is None:
        return "a line that is not known"
    return f"{line.file}:{line.number} in {line.function}: {line.text}"


def _finite(value: Any) -> bool:
    if isinstance(value, (float, complex, np.ndarray, np.inexact)):
        kind = getattr(value, "dtype", None)
        return (kind is not None and kind.kind not in "fc") or bool(np.isfinite(value).all())
    return True
