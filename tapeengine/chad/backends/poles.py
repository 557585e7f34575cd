"""What numpy does at poles while a pass or a primitive runs: it raises an error, or goes on.

A block of `numpy.errstate` takes as long as three operations on small arrays, and an interrupt at its ends may leave
its state behind. So the state, which numpy holds in the context variable that `numpy.seterr` sets, is set in a copy of
the caller's context, which ends with the call.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import Context, ContextVar, copy_context
from typing import Any

import numpy as np


def state(how: Any) -> tuple[ContextVar[Any], Any]:
    """Give the variable that numpy sets in a fresh context, and its value."""
    context = Context()
    context.run(np.seterr, divide=how, over=how, invalid=how)
    ((variable, value),) = context.items()
    return variable, value


VARIABLE, RAISING = state("raise")
STATES = {"raise": RAISING, "ignore": state("ignore")[1]}


def at_poles(how: Any, function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a function that runs with another state."""
    wanted = STATES[how]

    def run(*args: Any) -> Any:
        context = copy_context()
        if VARIABLE.get(None) is None:
            context.run(VARIABLE.set, wanted)
        elif how == "ignore":  # and the caller has set a state, which has more parts
            context.run(np.seterr, all=how)
        else:
            context.run(np.seterr, divide=how, over=how, invalid=how)
        return context.run(function, *args)

    return run
