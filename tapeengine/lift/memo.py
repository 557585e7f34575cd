"""Memoised functions of lifted code: calls with traced arguments are not cached."""

from __future__ import annotations

import functools
from typing import Any

from .._core.programs.callables import Memoised


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
