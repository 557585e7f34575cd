"""`functools.singledispatch` in lifted code: traced values have the classes there that the plain ones have."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .._core.programs.callables import stand_ins, traced_class


def singledispatch(func: Callable[..., Any]) -> Any:
    """functools.singledispatch."""
    made = functools.singledispatch(func)

    def dispatch(cls: Any) -> Any:
        return made.dispatch(stand_ins().get(cls, cls))

    @functools.wraps(func)
    def wrapper(*args: Any, **options: Any) -> Any:
        return dispatch(traced_class(args[0]))(*args, **options) if args else made(**options)

    vars(wrapper).update(vars(made), dispatch=dispatch)
    return wrapper


class singledispatchmethod(functools.singledispatchmethod):  # type: ignore[type-arg]
    """functools.singledispatchmethod."""

    def __init__(self, func: Any) -> None:
        super().__init__(func)
        self.dispatcher = singledispatch(func)

    def __get__(self, obj: Any, cls: Any = None) -> Any:
        """Return a method that chooses the implementation."""

        def method(*args: Any, **options: Any) -> Any:
            return self.dispatcher.dispatch(traced_class(args[0])).__get__(obj, cls)(*args, **options)

        vars(method).update(__isabstractmethod__=self.__isabstractmethod__, register=self.register)
        return functools.update_wrapper(method, self.func)
