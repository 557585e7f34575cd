"""Recompute instead of store: `checkpoint` for one call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..._core.programs.callables import own_derivative
from ..._core.tape.tape import live_traces
from ...forms import is_traced
from ...naming import attribute_of, name_as
from ..calls import Again, Derivative, call_with_rule
from ..contract import Engine
from ..programs import call
from ..transformed import named
from .rerun import Outcome, Repeatable, called, without_effects


def checkpoint(engine: Engine, f: Callable[..., Any]) -> Callable[..., Any]:
    """See `Engine.checkpoint`."""
    own: Any = f
    name = attribute_of(f, "__name__") or repr(f)

    def again(*args: Any, **kwargs: Any) -> Any:
        if live_traces() == 0:
            return f(*args, **kwargs)
        whole = own.positional(args, kwargs)[1]
        found = own.for_values(whole)
        if not found.is_read or getattr(found, "changes", None):
            return checkpoint(engine, found.python)(*args, **kwargs)
        return call(engine, found, whole, keep=False)

    def checkpointed(*args: Any, **kwargs: Any) -> Any:
        if live_traces() == 0:
            return f(*args, **kwargs)
        repeatable = Repeatable.of(engine, (f, args, kwargs), name)
        return run_saved(engine, repeatable, repeatable.values) if repeatable.values else f(*args, **kwargs)

    run = checkpointed if own_derivative(f, "__tapeengine_directional__") is None else again
    made = named(run, engine, "checkpoint", f)
    name_as(made, f)
    return made


def run_saved(engine: Engine, call: Repeatable, values: Sequence[Any]) -> Any:
    """Call a program on values and leave one record."""

    def run(args: tuple[list[Any]]) -> tuple[Any, Derivative]:
        # If an enclosing trace follows the values, that trace saves memory as well.
        return run_saved(engine, call, args[0]), Rerun(engine, call, args[0])

    traced, result = call_with_rule(engine, (list(values),), run, call.name)
    if traced:
        return result
    return call.first(values) if call.outcome is None else call.again(values)


class Rerun:
    """The derivative of a call that is run again on demand."""

    __slots__ = ("call", "engine", "values")
    runs_again = True

    def __init__(self, engine: Engine, call: Repeatable, values: list[Any]) -> None:
        self.engine = engine
        self.call = call
        self.values = values

    @property
    def again(self) -> Again | None:
        """What repeats the call in a replay; None if its first run had effects."""
        has_effects = self.call.has_effects or self.call.snapshot.generators
        return None if has_effects or any(map(is_traced, self.values)) else self._repeated

    def _repeated(self, args: tuple[list[Any]]) -> tuple[Any, Rerun] | None:
        structures, call = self.engine.structures, Repeatable(self.engine, self.call.snapshot, self.call.name)
        found = without_effects(structures, call.snapshot, args[0], lambda bound: (called(bound),))
        if found is None:
            return None
        call.outcome = Outcome(structures, found[0])
        return found[0], Rerun(self.engine, call, args[0])

    def pull(self, cotangent: Any) -> Any:
        """Run the call again on its own tape, and resolve that tape."""
        return self.engine.vjp(self.call, self.values)[1](cotangent)

    def push(self, tangents: tuple[Any, ...]) -> Any:
        """Run the call again with tangents."""
        return self.engine.jvp(self.call, (self.values,), tangents)[1]
