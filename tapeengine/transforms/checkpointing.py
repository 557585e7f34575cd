"""Recompute instead of store: `checkpoint` for one call."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tapeengine.transforms.calls import Derivative, call_with_rule
from tapeengine.transforms.closures import lifted
from tapeengine.transforms.own import own_derivative
from tapeengine.transforms.programs import call

if TYPE_CHECKING:
    from tapeengine.engine import Engine

__all__ = ["checkpoint"]


def checkpoint(engine: Engine, f: Callable[..., Any]) -> Callable[..., Any]:
    """See `Engine.checkpoint`."""

    name = getattr(f, "__name__", repr(f))
    if own_derivative(f, "__tapeengine_directional__") is not None:
        own: Any = f

        @functools.wraps(f)
        def again(*args: Any, **kwargs: Any) -> Any:
            whole = own.positional(args, kwargs)[1]
            return call(engine, own.for_values(whole), whole, keep=False)

        return again

    @functools.wraps(f)
    def checkpointed(*args: Any, **kwargs: Any) -> Any:
        captured, around = lifted(engine.structures, f)

        def program(values: list[Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            return around(values)(*args, **kwargs)

        return run_saved(engine, program, (captured, args, kwargs), name)

    return checkpointed


def run_saved(engine: Engine, program: Callable[..., Any], args: tuple[Any, ...], name: str) -> Any:
    """Call a program that captures nothing traced, and leave one record."""

    def run(values: tuple[Any, ...]) -> tuple[Any, Derivative]:
        # Where the values are traced further out, that trace saves as well.
        return run_saved(engine, program, values, name), Rerun(engine, program, values)

    traced, result = call_with_rule(engine, args, run, name)
    return result if traced else program(*args)


class Rerun:
    """The derivative of a call that is run again when it is needed."""

    __slots__ = ("engine", "primals", "program")

    def __init__(self, engine: Engine, program: Callable[..., Any], primals: tuple[Any, ...]) -> None:
        self.engine = engine
        self.program = program
        self.primals = primals

    def pull(self, cotangent: Any) -> Any:
        """Run the call once more on a tape of its own, and resolve that."""
        return self.engine.vjp(self.program, *self.primals)[1](cotangent)

    def push(self, tangents: tuple[Any, ...]) -> Any:
        """Run the call once more, with tangents."""
        return self.engine.jvp(self.program, self.primals, tangents)[1]
