"""The debug switch: source lines of records, and an error at the first number that is not finite."""

from __future__ import annotations

from _thread import get_ident
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from tapeengine._core.sweeps import trace
from tapeengine.transforms.not_finite import Watcher
from tapeengine.transforms.source_lines import Line, LineRecorder

if TYPE_CHECKING:
    from tapeengine.transforms.contract import Engine

__all__ = ["Debug", "DebugBackpropagator", "Switches", "debug_vjp", "watched"]


class Switches(NamedTuple):
    """What an engine watches."""

    nans: bool
    records: bool


class Debug:
    """The switches of an engine, set; as a context manager they are set back at its end.

    Contexts of several threads may overlap: an engine has the switches that were set last of those that have not ended.
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
        """Set the switches back: without these, and without what this thread has set since."""
        position = self.engine.debugs.index(self) if self in self.engine.debugs else len(self.engine.debugs)
        later = self.engine.debugs[position:]
        ended = [debug for debug in later if debug is self or debug.thread == self.thread]
        self.engine.debugs = tuple(debug for debug in self.engine.debugs if debug not in ended)
        self.engine.switches = self.engine.debugs[-1].switches if self.engine.debugs else None


def watched(engine: Engine, program: Callable[..., Any]) -> Callable[..., Any]:
    """A program that is run under the engine's switches; the program itself where they are off."""
    switches = engine.switches
    if switches is None or not switches.nans:
        return program
    return lambda *args: Watcher(engine.structures).recorder.run(program, *args)


def debug_vjp(
    engine: Engine, program: Callable[..., Any], primals: tuple[Any, ...], keywords: dict[str, Any], nans: bool
) -> tuple[Any, DebugBackpropagator]:
    """Do what `Engine.vjp` does, with source lines, and with checks where `nans` asks for them."""
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
        return self.backpropagator(cotangent)
