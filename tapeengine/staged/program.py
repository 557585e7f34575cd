"""A program that is recorded at its first call and replayed afterwards."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tapeengine._core import trace
from tapeengine._core.replay import MISS, NotReplayable, Plan

if TYPE_CHECKING:
    from tapeengine.engine import Engine

__all__ = ["Staged"]

RECORDING = 3


class Staged:
    """A program that runs as Python where it has not been before, and by replay where it has."""

    def __init__(self, engine: Engine, program: Callable[..., Any]) -> None:
        self.engine = engine
        self.program = program
        self.plans: list[Plan] = []
        self.why: str | None = None
        functools.update_wrapper(self, program)

    def __call__(self, *primals: Any) -> Any:
        for plan in self.plans:
            value = plan.value(primals)
            if value is not MISS:
                return value
        return self.record(primals)[0]

    def vjp(self, primals: tuple[Any, ...]) -> tuple[Any, Any]:
        for plan in self.plans:
            found = plan.vjp(primals)
            if found is not MISS:
                return found
        return self.record(primals)

    def record(self, primals: tuple[Any, ...]) -> tuple[Any, Any]:
        engine = self.engine
        if self.why is not None:
            return engine.vjp(self.program, *primals)
        value, back = trace.vjp(
            self.program, primals, {}, engine.structures, engine.max_tape_bytes, engine.rules, RECORDING
        )
        try:
            for plan in self.plans:
                if plan.fits(primals):
                    plan.add(back, value)
                    break
            else:
                self.plans.append(Plan(back, value, primals, engine.structures))
        except NotReplayable as error:
            self.why = str(error)
        return value, back

    def __tapeengine_vjp__(self, engine: Engine, *primals: Any) -> tuple[Any, Any]:
        return self.vjp(primals)
