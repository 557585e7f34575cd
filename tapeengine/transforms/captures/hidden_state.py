"""Read the hidden state of objects of a library or of classes written in C, where they give access to it."""

from __future__ import annotations

import contextlib
import contextvars
import ctypes
import functools
import gc
import io
import itertools
import operator
import threading
import types
from collections.abc import Callable, ItemsView, Iterable, Iterator, Mapping, MappingView, Sequence, Set
from typing import Any

import numpy as np

from ..._core.programs.callables import Made
from ..._core.programs.replay import Replays
from ..._core.scalars.complex import ComplexDual
from ...errors import module_of
from ...naming import attribute_of


def reader_of(value: Any) -> Callable[[Any], dict[Any, Any]] | None:
    """How to read all that an object contains, by index or key; None if it shows nothing."""
    return next((read for kinds, read in _READERS if isinstance(value, kinds)), None) or (
        _wrapped if "__wrapped__" in getattr(value, "__dict__", ()) else None
    )


def _entries(value: Any) -> dict[Any, Any]:
    return dict(enumerate(itertools.chain(value.keys(), value.values())))


def _wrapped(value: Any) -> dict[Any, Any]:
    """The function inside a memoised, staged or transformed one, and its own rules."""
    own = vars(value)
    return {name: own[name] for name in ("__wrapped__", "fwd", "bwd", "jvp") if name in own}


def _chosen(value: Any) -> dict[Any, Any]:
    """The names, indices and arguments of an accessor of `operator`."""
    make, args = value.__reduce__()
    return _entries({**dict(enumerate(args)), **getattr(make, "keywords", {})})


#: Iterators that show their remaining items.
SHOWN = (itertools.count, itertools.repeat)
#: Classes whose objects are used up by reading.
SOURCES = (Iterator, io.IOBase)
_LOOKED_INTO: Any = (*SOURCES, tuple, types.CellType, types.BuiltinMethodType)


def position(source: Any) -> list[Any]:
    """The position of an iterator, generator or file, and of its source, where they give access to it."""
    found: list[Any] = []
    pending = [source]
    while pending:
        value = pending.pop()
        if type(value) in (int, float):
            found.append(value)
        elif isinstance(value, _LOOKED_INTO) and id(value) not in found:
            found += [
                id(value),
                operator.length_hint(attribute_of(value, "__self__", value), 0),
                getattr(value, "index", 0),
            ]
            found.append(getattr(getattr(value, "gi_frame", 0), "f_lasti", 0))
            with contextlib.suppress(AttributeError, ValueError, OSError):  # of no file, a closed one, a pipe
                found.append(value.readable() and value.tell() - len(getattr(value, "getvalue", tuple)()))
            pending += gc.get_referents(value)
    return found


_READERS: tuple[tuple[Any, Callable[[Any], dict[Any, Any]]], ...] = (
    (contextvars.ContextVar, lambda value: {0: value.get(None)}),
    (property, lambda value: {0: value.fget}),
    ((staticmethod, classmethod), lambda value: {0: value.__func__}),
    ((functools.partialmethod, functools.cached_property), lambda value: dict(vars(value))),
    ((operator.itemgetter, operator.attrgetter, operator.methodcaller), _chosen),
    (super, lambda value: {0: value.__self__}),
    (BaseException, lambda value: {**dict(enumerate(value.args)), **vars(value)}),
    (types.GenericAlias, lambda value: dict(enumerate(value.__args__))),
    (np.vectorize, lambda value: {0: value.pyfunc}),
    (np.poly1d, lambda value: {0: value.coeffs}),
    (SHOWN, lambda value: {0: repr(value)}),
    (threading.local, lambda value: dict(vars(value))),
    ((memoryview, np.void, ctypes.Structure.__base__), lambda value: {0: memoryview(value).tobytes()}),
    (Mapping, _entries),
    (ItemsView, lambda value: _entries(dict(value))),
    ((Sequence, Set, MappingView), lambda value: dict(enumerate(value))),  # not mere iterables
)

#: A search for a leaf ends after this many objects, so that a call which captures a large model does not take long.
MOST = 4096
_CLOSED: Any = (type, types.ModuleType, types.CodeType, types.FrameType, np.ufunc, *SOURCES)


def reaches(
    value: Any,
    is_wanted: Callable[[Any], bool],
    data: Callable[[Any], Sequence[Any]],
    barren: dict[int, Any],
) -> bool:
    """Whether a leaf is among all that an object refers to; `data` is what a function reads in its namespace.

    `barren` collects, by their ids, the objects that refer to no leaf, so that several searches look at each once.
    """
    seen, pending = {id(value): value}, [value] * (id(value) not in barren)
    while pending and len(seen) < MOST:
        parts = (part for whole in pending for part in _referents(whole, data))
        found = {id(part): part for part in parts if id(part) not in seen and id(part) not in barren}
        if any(map(is_wanted, found.values())):
            return True
        seen |= found
        pending = [part for part in found.values() if _is_open(part)]
    if not pending:
        barren |= seen
    return False


def _referents(value: Any, data: Callable[[Any], Sequence[Any]]) -> Iterable[Any]:
    if type(value) is types.FunctionType:
        return [value.__closure__, value.__defaults__, value.__kwdefaults__, vars(value), *data(value)]
    return value.flat if type(value) is np.ndarray and value.dtype == object else gc.get_referents(value)


def _is_open(value: Any) -> bool:
    kind: Any = type(value)
    is_namespace = kind is dict and ("__spec__" in value or "__builtins__" in value)
    return not (is_namespace or issubclass(kind, _CLOSED) or is_closed(kind))


@functools.lru_cache(maxsize=1024)
def is_closed(kind: Any) -> bool:
    """Whether a class is one of the engine's own that contain no objects of the program, such as that of tapes.

    Objects of others are made anew of their attributes if the class has ``__tapeengine_parts__``.
    """
    is_open = hasattr(kind, "__tapeengine_parts__") or issubclass(kind, (Made, ComplexDual, Replays))
    return module_of(kind).partition(".")[0] == "tapeengine" and not is_open
