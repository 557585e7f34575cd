"""`functools.singledispatch` in lifted code: traced values have the classes there that the plain ones have."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .._core.arrays.array import Array, is_number
from .._core.programs.standins import stand_ins


def singledispatch(func: Callable[..., Any]) -> Any:
    """functools.singledispatch."""
    made = functools.singledispatch(func)

    def dispatch(cls: Any) -> Any:
        return made.dispatch(stand_ins().get(cls, cls))

    @functools.wraps(func)
    def wrapper(*args: Any, **options: Any) -> Any:
        if not args:
            return made(**options)
        x = args[0]
        return dispatch(x.dtype.type if type(x) is Array and is_number(x) else type(x))(*args, **options)

    vars(wrapper).update(vars(made), dispatch=dispatch)
    return wrapper


class singledispatchmethod(functools.singledispatchmethod):  # type: ignore[type-arg]
    """functools.singledispatchmethod."""

    def __init__(self, func: Any) -> None:
        super().__init__(func)
        self.dispatcher = singledispatch(func)
