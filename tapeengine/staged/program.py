"""A program that is recorded at its first call and replayed afterwards."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tapeengine._core.programs.paths import NotReplayable, NotThisRun
from tapeengine._core.programs.replay import MISS, Plan
from tapeengine._core.sweeps import trace
from tapeengine._core.sweeps.inspection import open_tape

if TYPE_CHECKING:
    from tapeengine.engine import Engine

__all__ = ["Staged"]

RECORDING = 3


class Staged:
    """A program that runs as Python where it has not been before, and is replayed where it has.

    Parameters
    ----------
    engine : Engine
        What traces the program.
    program : callable
        Any callable of the primals.

    Examples
    --------
    >>> import tapeengine as te
    >>> staged = Staged(te.default_engine(), lambda x: x * x if x > 0 else -x)
    >>> staged(3.0), te.grad(staged)(4.0), te.hessian(staged)(5.0)
    (9.0, 8.0, 2.0)
    """

    def __init__(self, engine: Engine, program: Callable[..., Any]) -> None:
        self.engine = engine
        self.program = program
        self.plans: list[Plan] = []
        self.why: str | None = None
        functools.update_wrapper(self, program)

    def __call__(self, *primals: Any) -> Any:
        """Return the program's value."""
        for plan in self.plans:
            value = plan.value(primals)
            if value is not MISS:
                return value
        return self.recorded(primals)[0] if self.may_record() else self.program(*primals)

    def __tapeengine_vjp__(self, engine: Engine, *primals: Any) -> tuple[Any, Any]:
        for plan in self.plans:
            found = plan.vjp(primals)
            if found is not MISS:
                return found  # type: ignore[no-any-return]
        if self.may_record():
            return self.recorded(primals)
        return self.__tapeengine_tape__(engine, *primals)

    def __tapeengine_tape__(self, engine: Engine, *primals: Any) -> tuple[Any, Any]:
        for plan in self.plans:
            found = plan.trace(primals)
            if found is not MISS:
                return found  # type: ignore[no-any-return]
        return self.recorded(primals) if self.may_record() else engine.trace(self.program, primals, order=2)

    def may_record(self) -> bool:
        """Whether a run now would make a recording: one inside another trace depends on what is around it."""
        return self.why is None and open_tape() is None

    def recorded(self, primals: tuple[Any, ...]) -> tuple[Any, Any]:
        """Run the program, and keep its recording for later calls."""
        engine = self.engine
        value, back = trace.vjp(
            self.program, primals, {}, engine.structures, engine.max_tape_bytes, engine.rules, RECORDING
        )
        try:
            self.keep(primals, value, back)
        except NotThisRun:
            pass
        except NotReplayable as error:
            self.why = str(error)
        return value, back

    def keep(self, primals: tuple[Any, ...], value: Any, back: Any) -> None:
        """Add a recording to the plan for arguments of its form."""
        for plan in self.plans:
            if plan.fits(primals):
                plan.add(back, value)
                return
        self.plans.append(Plan(back, value, primals, self.engine.structures))
