"""functools in lifted code: calls with traced arguments are not stored, and dispatch by the plain value's class."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

from .._core.programs.callables import Memoised, stand_ins, traced_class


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


def dispatching(value: Any, twin: Callable[[Any], Any]) -> Any:
    """A function of functools.singledispatch with the twins of the implementations that it has at a call."""
    made, seen = singledispatch(twin(value.registry[object])), dict[Any, Any]()

    def renewed() -> Any:
        for cls, implementation in value.registry.items():
            if seen.get(cls) is not implementation:
                seen[cls] = implementation
                for each in dict.fromkeys((cls, cls if cls.__module__ == "builtins" else twin(cls))):
                    made.register(each, twin(implementation))
        return made

    @functools.wraps(made)
    def wrapper(*args: Any, **options: Any) -> Any:
        return renewed()(*args, **options)

    vars(wrapper).update(dispatch=lambda cls: renewed().dispatch(cls))
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


def memoised(function: Any, maxsize: int | None, typed: bool) -> Any:
    """`functools.lru_cache` of a function, which calls the function itself for traced arguments."""
    found = Memoised(function, functools.lru_cache(maxsize, typed)(function))
    return functools.update_wrapper(found, function)


def lru_cache(maxsize: Any = 128, typed: bool = False) -> Any:
    """functools.lru_cache."""
    if callable(maxsize) and isinstance(typed, bool):
        return memoised(maxsize, 128, typed)
    return lambda function: memoised(function, maxsize, typed)


def cache(user_function: Any, /) -> Any:
    """functools.cache."""
    return memoised(user_function, None, False)


#: Whether an instance of a twin says that its class is the twin, and not the original.
AS_TWIN = ContextVar("as_twin", default=False)


def replace(obj: Any, /, **changes: Any) -> Any:
    """``dataclasses.replace``, which makes an instance of the twin from one of a twin."""
    before = AS_TWIN.set(True)
    try:
        return dataclasses.replace(obj, **changes)
    finally:
        AS_TWIN.reset(before)
