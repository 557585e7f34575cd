"""What goes to a worker: a pickled call, in which references are keys, and how the worker finds what they stand for.

The references in a call are the persistent objects of its pickle. A source says for a key where its data is: in an
argument of the message that the engine resolves (dask, Ray), in shared memory, in what a function returns, or in the
message. A worker that knows a key needs no source. Where there is none, the worker answers which keys it lacks.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from threading import RLock
from typing import Any

from tapeengine.errors import note
from tapeengine.workers.references import Reference, Resolved
from tapeengine.workers.versions import Stamp, check

__all__ = ["Argument", "Boxed", "Inline", "Lacking", "Loader", "packed", "perform", "pickled"]


# -- sources ----------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Argument:
    """Data that the engine hands to the call, which its own store keeps."""

    position: int


@dataclass(frozen=True)
class Boxed:
    """Data for an engine's store, which would look into lists and dicts item by item and takes this as it is."""

    value: Any


@dataclass(frozen=True)
class Inline:
    """Data in the message."""

    data: bytes

    def load(self) -> Any:
        """Make it again."""
        return pickle.loads(self.data)


@dataclass(frozen=True)
class Loader:
    """Data that a function returns, pickled with its arguments."""

    call: bytes

    def load(self) -> Any:
        """Call the function."""
        function, args, kwargs = pickle.loads(self.call)
        return function(*args, **kwargs)


@dataclass(frozen=True)
class Lacking:
    """The answer of a worker that has not heard of some references."""

    keys: tuple[str, ...]


class Held:
    """The data that this process holds for tasks, by key."""

    def __init__(self) -> None:
        self._data: dict[str, Any] = {}
        self._lock = RLock()

    def forget(self, keys: Iterable[str]) -> None:
        """Drop what nobody refers to any more."""
        for key in keys:
            self._data.pop(key, None)

    def missing(self, keys: Mapping[str, Any]) -> tuple[str, ...]:
        """The keys that have no source and are not here."""
        return tuple(key for key, source in keys.items() if source is None and key not in self._data)

    def of(self, key: str, source: Any) -> Any:
        """The data of a key, fetched from its source by the first call that needs it."""
        with self._lock:
            if key not in self._data:
                self._data[key] = source.load()
            return self._data[key]


HELD = Held()


# -- sending ----------------------------------------------------------------------------------------------------------
def pickled(value: Any, by_value: bool) -> tuple[bytes, dict[str, Reference]]:
    """Pickle an object; with it the references in it, by their keys.

    Parameters
    ----------
    value : object
    by_value : bool
        Whether functions that cannot be imported travel by value, as dask, loky and Ray send them.
    """
    references: dict[str, Reference] = {}
    file = io.BytesIO()
    pickler = _pickler(by_value)(file, pickle.HIGHEST_PROTOCOL)

    def persistent_id(one: Any) -> str | None:
        if not isinstance(one, Reference):
            return None
        references[one.key] = one
        return one.key

    pickler.persistent_id = persistent_id
    pickler.dump(value)
    return file.getvalue(), references


def _pickler(by_value: bool) -> Any:
    if not by_value:
        return pickle.Pickler
    import cloudpickle

    return cloudpickle.Pickler


def packed(call: Any, by_value: bool) -> tuple[bytes, dict[str, Reference]]:
    """Do what `pickled` does for a call; an error says what travels."""
    try:
        return pickled(call, by_value)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        note(
            error,
            "tasks go to this executor by pickle: write them as functions of a module, with functools.partial for what "
            "they capture; what they capture must be picklable as well",
        )
        raise


# -- on a worker ------------------------------------------------------------------------------------------------------
class Unpickler(pickle.Unpickler):
    """Puts what references stand for in their places."""

    def __init__(self, body: bytes, sources: Mapping[str, Any], data: tuple[Any, ...]) -> None:
        super().__init__(io.BytesIO(body))
        self._sources = sources
        self._data = data

    def persistent_load(self, key: str) -> Resolved:
        """The data of a key."""
        source = self._sources[key]
        found = self._data[source.position] if isinstance(source, Argument) else HELD.of(key, source)
        return Resolved(key, found.value if type(found) is Boxed else found)


def perform(stamp: Stamp, body: bytes, sources: Mapping[str, Any], forget: tuple[str, ...], *data: Any) -> Any:
    """Run a call that was sent here.

    Parameters
    ----------
    stamp : Stamp
        The versions of whoever sent it.
    body : bytes
        The pickled call.
    sources : mapping of str to source or None
        For each reference in it.
    forget : tuple of str
        Keys that nobody refers to any more.
    *data : object
        What the engine resolved.

    Returns
    -------
    object
        What the call returned; `Lacking` where a reference without a source is unknown here, and nothing was run.
    """
    check(stamp)
    HELD.forget(forget)
    missing = HELD.missing(sources)
    if missing:
        return Lacking(missing)
    function, args = Unpickler(body, sources, data).load()
    return function(*args)
