"""What is found from texts of functions and classes is remembered until something that a program has read changes."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

CACHES: list[Any] = []


def remembered(find: Callable[..., Any]) -> Any:
    """Remember what a function finds.

    Examples
    --------
    >>> find = remembered(lambda cls: cls())
    >>> first = find(list)
    >>> find(list) is first
    True
    >>> forget()
    >>> find(list) is first
    False
    """
    CACHES.append(lru_cache(maxsize=4096)(find))
    return CACHES[-1]


def forget() -> None:
    """Forget all that was found."""
    for cache in CACHES:
        cache.cache_clear()
