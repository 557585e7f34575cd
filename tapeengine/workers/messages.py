"""Messages to workers: pickled calls in which references are keys, and the sources of their data.

The references in a call are the persistent objects of its pickle. The source for a key says where its data is: in an
argument of the message that the engine resolves (dask, Ray), in shared memory, in the result of a function, or in the
message. A worker that knows a key needs no source. If there is no source, the worker answers with the keys it lacks.
"""

from __future__ import annotations

import copyreg
import functools
import io
import pickle
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from threading import RLock
from typing import Any

from ..errors import WorkerError, full_name, note
from .references import Reference, Resolved
from .versions import Stamp, check


# -- sources ----------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Argument:
    """Data in the engine's store, which the engine passes to the call."""

    position: int


@dataclass(frozen=True)
class Boxed:
    """Data wrapped for an engine's store, which would otherwise inspect lists and dicts item by item."""

    value: Any


@dataclass(frozen=True)
class Inline:
    """Data in the message."""

    data: bytes

    def load(self) -> Any:
        """Unpickle the data."""
        return pickle.loads(self.data)


@dataclass(frozen=True)
class Loader:
    """Data returned by a function, which is pickled with its arguments."""

    call: bytes

    def load(self) -> Any:
        """Call the function."""
        function, args, kwargs = pickle.loads(self.call)
        return function(*args, **kwargs)


@dataclass(frozen=True)
class Lacking:
    """The answer of a worker that does not know some references."""

    keys: tuple[str, ...]


class Held:
    """The data that this process keeps for tasks, by key."""

    def __init__(self) -> None:
        self._data: dict[str, Any] = {}
        self._lock = RLock()

    def forget(self, keys: Iterable[str]) -> None:
        """Drop data without references."""
        for key in keys:
            self._data.pop(key, None)

    def missing(self, keys: Mapping[str, Any]) -> tuple[str, ...]:
        """The keys that have no source and are not known here."""
        return tuple(key for key, source in keys.items() if source is None and key not in self._data)

    def of(self, key: str, source: Any) -> Any:
        """The data for a key, fetched from its source by the first call that needs it."""
        with self._lock:
            if key not in self._data:
                self._data[key] = source.load()
            return self._data[key]


HELD = Held()


# -- sending ----------------------------------------------------------------------------------------------------------
def pickled(value: Any, by_value: bool) -> tuple[bytes, dict[str, Reference]]:
    """Pickle an object; also return the references in it, by key.

    Parameters
    ----------
    value : object
    by_value : bool
        Whether functions that cannot be imported are pickled by value, as dask, loky and Ray do.
    """
    references: dict[str, Reference] = {}
    file = io.BytesIO()
    _pickler(by_value)(file, references).dump(value)
    return file.getvalue(), references


@functools.cache
def _pickler(by_value: bool) -> Any:
    """The class of picklers that put keys in place of references, and collect these."""
    base: Any = pickle.Pickler
    if by_value:
        import cloudpickle

        base = cloudpickle.Pickler

    class Pickler(base):  # type: ignore[misc]
        def __init__(self, file: io.BytesIO, references: dict[str, Reference]) -> None:
            super().__init__(file, pickle.HIGHEST_PROTOCOL)
            self.references = references

        def persistent_id(self, one: Any) -> str | None:
            if not isinstance(one, Reference):
                return None
            self.references[one.key] = one
            return one.key

    return Pickler


def packed(call: Any, by_value: bool) -> tuple[bytes, dict[str, Reference]]:
    """Pickle a call like `pickled`; an error says what must be picklable."""
    try:
        return pickled(call, by_value)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        note(
            error,
            "this executor needs tasks that can be pickled: write them as functions of a module, and use "
            "functools.partial for captured values, which must be picklable as well",
        )
        raise


# -- on a worker ------------------------------------------------------------------------------------------------------
class Unpickler(pickle.Unpickler):
    """Replaces references by their data."""

    def __init__(self, body: bytes, sources: Mapping[str, Any], data: tuple[Any, ...]) -> None:
        super().__init__(io.BytesIO(body))
        self._sources = sources
        self._data = data

    def persistent_load(self, key: str) -> Resolved:
        """The data for a key."""
        source = self._sources[key]
        found = self._data[source.position] if isinstance(source, Argument) else HELD.of(key, source)
        return Resolved(key, found.value if type(found) is Boxed else found)


def perform(stamp: Stamp, body: bytes, sources: Mapping[str, Any], forget: tuple[str, ...], *data: Any) -> Any:
    """Run a call that was sent to this worker.

    Parameters
    ----------
    stamp : Stamp
        The versions of the sender.
    body : bytes
        The pickled call.
    sources : mapping of str to source or None
        The source for each reference in the call.
    forget : tuple of str
        Keys of dropped references.
    *data : object
        The data that the engine resolved.

    Returns
    -------
    object
        The result of the call; `Lacking`, without running the call, if a reference without a source is unknown here.
    """
    check(stamp)
    HELD.forget(forget)
    missing = HELD.missing(sources)
    if missing:
        return Lacking(missing)
    function, args = Unpickler(body, sources, data).load()
    return function(*args)


def performed(by_value: bool, *message: Any) -> Any:
    """Do the same as `perform`, and let every error be sent: a pool ends when it gets one that cannot be made anew."""
    try:
        return perform(*message)
    except Exception as error:
        if not _is_sent(error, by_value):
            copyreg.pickle(type(error), _parts_of)
            if not _is_sent(error, by_value):
                name = full_name(type(error))
                raise WorkerError(f"a task raised an error that cannot be pickled: {name}: {error}") from error
        raise


def dumps_of(by_value: bool) -> Any:
    """The function that pickles, by value if an executor does so."""
    if not by_value:
        return pickle.dumps
    import cloudpickle

    return cloudpickle.dumps


def _is_sent(error: Exception, by_value: bool) -> bool:
    """Whether an error can be pickled and made anew."""
    try:
        return type(pickle.loads(dumps_of(by_value)(error))).__name__ == type(error).__name__
    except Exception:
        return False


def _parts_of(error: Exception) -> tuple[Any, ...]:
    """What an error whose ``__init__`` takes other arguments than ``args`` is made of."""
    return _remade, (type(error), error.args, vars(error))


def _remade(cls: type[Exception], args: tuple[Any, ...], state: dict[str, Any]) -> Exception:
    error = cls.__new__(cls, *args)
    vars(error).update(state)
    return error
