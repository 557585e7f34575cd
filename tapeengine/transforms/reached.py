"""Search all that an object contains, whatever its class: the garbage collector knows what each object refers to."""

from __future__ import annotations

import functools
import gc
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from .._core.programs.callables import Made
from .._core.scalars.complex import ComplexDual
from ..errors import module_of
from .hidden_state import SOURCES
from .nodes import ATOMS

#: The search ends after this many objects, so that a call which captures a large model does not take long.
MOST = 4096
_CLOSED: Any = (type, types.ModuleType, types.CodeType, types.FrameType, np.ufunc, *SOURCES)


def reaches(value: Any, is_wanted: Callable[[Any], bool], data: Callable[[types.FunctionType], Iterable[Any]]) -> bool:
    """Whether an object contains a leaf that is wanted, however deep; `data` is what functions read elsewhere.

    Examples
    --------
    >>> import types
    >>> hidden = types.MappingProxyType({"a": [lambda x, k=0.5: x * k]})
    >>> [reaches(hidden, lambda leaf: leaf == k, lambda f: ()) for k in (0.5, 0.25)]
    [True, False]
    """
    seen, pending = {id(value)}, [value]
    while pending and len(seen) < MOST:
        found = {id(part): part for part in _contents(pending, data) if id(part) not in seen}
        if any(is_wanted(part) or type(part) is ComplexDual for part in found.values()):
            return True
        seen |= found.keys()
        pending = [part for part in found.values() if type(part) not in ATOMS and _is_open(part)]
    return False


def _contents(values: Iterable[Any], data: Callable[[types.FunctionType], Iterable[Any]]) -> Iterator[Any]:
    for value in values:
        if type(value) is types.FunctionType:
            yield from (
                value.__closure__,
                value.__defaults__,
                value.__kwdefaults__,
                *vars(value).values(),
                *data(value),
            )
        elif issubclass(type(value), np.ndarray):
            yield from value.flat if value.dtype == object else ()
        else:
            yield from gc.get_referents(value)


def _is_open(value: Any) -> bool:
    is_namespace = type(value) is dict and ("__spec__" in value or "__builtins__" in value)
    return not (is_namespace or issubclass(type(value), _CLOSED) or is_closed(type(value)))


@functools.lru_cache(maxsize=4096)
def is_closed(kind: Any) -> bool:
    """Whether a class is one of the engine's own that contain no objects of the program, such as that of tapes.

    Others are functions that transforms make, and classes with ``__tapeengine_parts__``: it says whether their objects
    are made anew of their attributes; otherwise this is done as for pickles.
    """
    is_own = module_of(kind).partition(".")[0] == "tapeengine" and not issubclass(kind, Made)
    return is_own and not hasattr(kind, "__tapeengine_parts__")
