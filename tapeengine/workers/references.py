"""Data that stays where it is: a task captures a reference to it, and finds the data in its place."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from threading import Lock
from typing import Any
from uuid import uuid4

import numpy as np

from tapeengine.errors import UnsupportedError
from tapeengine.structure import Structures
from tapeengine.transforms.forms import flatten, is_traced
from tapeengine.workers.forgotten import forget_later

__all__ = ["Foreign", "Gone", "Home", "Loaded", "Reference", "Resolved", "Shared"]


class Reference:
    """Stands for data; a task that captures it, or is given it as an argument, finds the data.

    Attributes
    ----------
    key : str
        What workers know the data by.
    homes : weakref.WeakKeyDictionary
        Where the data lies, by the engine that keeps it there.
    """

    __slots__ = ("__weakref__", "homes", "key")

    def __init__(self, key: str) -> None:
        self.key = key
        self.homes: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()

    @property
    def value(self) -> Any:
        """The data, in this process."""
        raise NotImplementedError

    def __reduce__(self) -> Any:
        raise UnsupportedError(
            f"{type(self).__name__} goes to workers with the tasks of fork and fork_map alone; hand it to a task as an "
            "argument"
        )


class Shared(Reference):
    """A constant that tasks use, which goes to each worker once and stays there.

    A task that captures it, or is given it as an argument, finds what it stands for in its place. Keep the object as
    long as the data should stay: once it is dropped, workers forget the data with one of their next tasks.

    Parameters
    ----------
    value : object
        What tasks see; tasks must not change it. Arrays are read-only for them. On threads it is the object itself,
        processes on one machine read it from memory that they share, dask and Ray keep it in their stores, and other
        executors get it by pickle.

    Raises
    ------
    UnsupportedError
        Where it holds a traced value: it is a constant.

    Examples
    --------
    >>> import numpy as np
    >>> import tapeengine as te
    >>> shards = [te.Shared(np.ones(3)), te.Shared(np.arange(3.0))]
    >>> te.grad(lambda w: sum(te.fork_map(lambda shard: w * shard.sum(), shards)))(2.0)
    6.0
    """

    __slots__ = ("_value",)

    def __init__(self, value: Any) -> None:
        super().__init__(uuid4().hex)
        if any(map(is_traced, flatten(Structures(), value)[0])):
            raise UnsupportedError("te.Shared is for constants; capture a traced value or hand it to the task as it is")
        self._value = _read_only(value)
        weakref.finalize(self, forget_later, self.key).atexit = False

    @property
    def value(self) -> Any:
        """The data, in this process."""
        return self._value


class Loaded(Reference):
    """Data that a function reads where the task runs: a file, a part of a zarr or parquet store, a table.

    A task that captures it, or is given it as an argument, finds what the function returned in its place. A worker
    calls the function once and keeps the result as long as this object is kept.

    Parameters
    ----------
    function : callable
        Reads the data. It must give the same data whenever and wherever it is called.
    *args, **kwargs
        Its arguments, such as a path that workers know.

    Examples
    --------
    >>> import numpy as np
    >>> import tapeengine as te
    >>> part = te.Loaded(np.linspace, 0.0, 1.0, 5)
    >>> te.grad(lambda w: sum(te.fork_map(lambda data: w * data.sum(), [part])))(2.0)
    2.5
    """

    __slots__ = ("_lock", "_value", "args", "function", "kwargs")

    def __init__(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> None:
        super().__init__(uuid4().hex)
        self.function = function
        self.args = args
        self.kwargs = kwargs
        self._lock = Lock()
        self._value: Any = self  # until it is loaded
        weakref.finalize(self, forget_later, self.key).atexit = False

    @property
    def value(self) -> Any:
        """The data, read in this process."""
        with self._lock:
            if self._value is self:
                self._value = _read_only(self.function(*self.args, **self.kwargs))
        return self._value


class Foreign(Reference):
    """Data that another engine keeps, by its own handle: a future of dask, an object of Ray.

    Parameters
    ----------
    handle : object
    fetch : callable
        ``fetch(handle)`` brings the data here.
    """

    __slots__ = ("_fetch", "handle")

    def __init__(self, key: str, handle: Any, fetch: Callable[[Any], Any]) -> None:
        super().__init__(key)
        self.handle = handle
        self._fetch = fetch

    @property
    def value(self) -> Any:
        """The data, brought to this process."""
        return _read_only(self._fetch(self.handle))


class Home(Foreign):
    """What a call left on its worker, for later ones."""

    __slots__ = ()


class Gone:
    """The answer of a call that was to find what another one had left, where that is there no longer."""


class Resolved(Reference):
    """A reference on a worker, where the data is."""

    __slots__ = ("_value",)

    def __init__(self, key: str, value: Any) -> None:
        super().__init__(key)
        self._value = _read_only(value)

    @property
    def value(self) -> Any:
        """The data."""
        return self._value


def _read_only(value: Any) -> Any:
    """A view of an array that cannot be written to: what one task wrote, others would read."""
    if isinstance(value, np.ndarray) and value.flags.writeable:
        value = value.view()
        value.flags.writeable = False
    return value
