"""The debug switch: source lines of records, and an error at the first non-finite number."""

from __future__ import annotations

from _thread import get_ident
from collections.abc import Callable
from typing import Any, NamedTuple

from ..._core.sweeps import trace
from ..contract import Engine
from .not_finite import Watcher
from .source_lines import Line, LineRecorder


class Switches(NamedTuple):
    """The checks that an engine makes."""

    nans: bool
    records: bool


class Debug:
    """Sets the switches of an engine; as a context manager it restores them at its end.

    Contexts of several threads may overlap. The switches in force are those of the open context that began last.
    """

    def __init__(self, engine: Engine, switches: Switches | None) -> None:
        self.engine = engine
        self.switches = switches
        self.thread = get_ident()
        engine.debugs = (*engine.debugs, self)
        engine.switches = switches

    def __enter__(self) -> Engine:
        """Return the engine."""
        return self.engine

    def __exit__(self, *error: object) -> None:
        """Remove these switches, and those that this thread has set since."""
        position = self.engine.debugs.index(self) if self in self.engine.debugs else len(self.engine.debugs)
        later = self.engine.debugs[position:]
        ended = [debug for debug in later if debug is self or debug.thread == self.thread]
        self.engine.debugs = tuple(debug for debug in self.engine.debugs if debug not in ended)
        self.engine.switches = self.engine.debugs[-1].switches if self.engine.debugs else None


def watched(engine: Engine, program: Callable[..., Any]) -> Callable[..., Any]:
    """A program that runs under the engine's switches; the program itself if they are off."""
    switches = engine.switches
    if switches is None or not switches.nans:
        return program
    return lambda *args: Watcher(engine.structures).recorder.run(program, *args)


def debug_vjp(
    engine: Engine, program: Callable[..., Any], primals: tuple[Any, ...], keywords: dict[str, Any], nans: bool
) -> tuple[Any, DebugBackpropagator]:
    """Run `Engine.vjp` with source lines, and with checks if the switch `nans` is on."""
    recorder = Watcher(engine.structures).recorder if nans else LineRecorder()

    def run(*args: Any, **kwargs: Any) -> Any:
        return recorder.run(program, *args, **kwargs)

    limit, rules = engine.max_tape_bytes, engine.rules
    value, backpropagator = trace.vjp(run, primals, keywords, engine.structures, limit, rules, 2)
    return value, DebugBackpropagator(backpropagator, recorder)


class DebugBackpropagator:
    """A backpropagator that knows the source line of each record."""

    def __init__(self, backpropagator: Any, recorder: LineRecorder) -> None:
        self.backpropagator = backpropagator
        self.recorder = recorder

    @property
    def tape(self) -> Any:
        """The tape of the run."""
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
            If the debug switch asks for checks and a cotangent is not finite.
        """
        return self.backpropagator(cotangent)
