"""What objects of classes written in C, or of a library, show of the state that they keep to themselves."""

from __future__ import annotations

import contextvars
import ctypes
import functools
import itertools
import threading
from collections.abc import Callable, Mapping, MappingView, Sequence, Set
from typing import Any

import numpy as np


def reader_of(value: Any) -> Callable[[Any], dict[Any, Any]] | None:
    """How to read all that an object contains, by index or key; None if it shows nothing.

    Examples
    --------
    >>> from collections import UserDict
    >>> reader_of(UserDict(a=1.0))(UserDict(a=2.0))
    {0: 'a', 1: 2.0}
    """
    if isinstance(value, type):
        return None
    return next((read for kinds, read in _READERS if isinstance(value, kinds)), None)


def _bytes(value: Any) -> dict[Any, Any]:
    return {0: memoryview(value).tobytes()}


def _entries(value: Any) -> dict[Any, Any]:
    return dict(enumerate(itertools.chain(value.keys(), value.values())))


_READERS: tuple[tuple[Any, Callable[[Any], dict[Any, Any]]], ...] = (
    (contextvars.ContextVar, lambda value: {0: value.get(None)}),
    (functools._lru_cache_wrapper, lambda value: {0: value.__wrapped__}),
    (threading.local, lambda value: dict(vars(value))),
    ((memoryview, np.void, ctypes.Structure.__base__), _bytes),
    (Mapping, _entries),
    ((Sequence, Set, MappingView), lambda value: dict(enumerate(value))),  # not what can be iterated over only
)
