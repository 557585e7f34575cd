"""What is found from the text of a function is kept as long as the function lives."""

from __future__ import annotations

from collections.abc import Callable, MutableMapping
from typing import Any, Generic, TypeVar
from weakref import WeakKeyDictionary

R = TypeVar("R")


class PerFunction(Generic[R]):
    """A search whose results do not keep the functions, and what these capture, in memory."""

    def __init__(self, find: Callable[[Any], R]) -> None:
        self.find = find
        self.found: MutableMapping[Any, R] = WeakKeyDictionary()

    def __call__(self, function: Any) -> R:
        """Return what was found."""
        try:
            return self.found[function]
        except (KeyError, TypeError):  # a TypeError: it cannot be hashed or referred to weakly
            made = self.find(function)
        if type(function).__weakrefoffset__ and type(function).__hash__ is not None:
            self.found[function] = made
        return made

    def cache_clear(self) -> None:
        """Forget all that was found."""
        self.found.clear()
