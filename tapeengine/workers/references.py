"""References to data that stays where it is: a task captures a reference, and gets the data in its place."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from threading import Lock
from typing import Any
from uuid import uuid4

import numpy as np

from ..errors import UnsupportedError
from ..forms import holds_traced
from ..structure import Structures
from .forgotten import forget_later


class Reference:
    """Refers to data; a task that captures it, or gets it as an argument, sees the data instead.

    Attributes
    ----------
    key : str
        The key of the data on workers.
    homes : weakref.WeakKeyDictionary
        The places of the data, by the engine that keeps it.
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
            f"{type(self).__name__} is sent to workers only with tasks of fork and fork_map; pass it to a task as an "
            "argument"
        )


class Shared(Reference):
    """A constant for tasks, which is sent to each worker once and stays there.

    A task that captures it, or gets it as an argument, sees the constant instead. Keep this object as long as the data
    is needed: after it is dropped, workers drop the data with one of their next tasks.

    Parameters
    ----------
    value : object
        The constant, which tasks must not change; its arrays are read-only for them. Threads use the object itself,
        processes on one machine read it from shared memory, dask and Ray keep it in their stores, and other executors
        pickle it.

    Raises
    ------
    UnsupportedError
        If it holds a traced value, which is no constant.

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
        if holds_traced(Structures(), value):
            raise UnsupportedError("te.Shared is for constants; capture a traced value or pass it to the task directly")
        self._value = _read_only(value)
        weakref.finalize(self, forget_later, self.key).atexit = False

    @property
    def value(self) -> Any:
        """The data, in this process."""
        return self._value


class Loaded(Reference):
    """Data that a function reads where the task runs: a file, a part of a zarr or parquet store, a table.

    A task that captures it, or gets it as an argument, sees the function's result instead. A worker calls the function
    once, and keeps the result as long as this object exists.

    Parameters
    ----------
    function : callable
        Reads the data. It must return the same data at every call on every worker.
    *args, **kwargs
        Its arguments, such as a path that is valid on workers.

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
        self._value: Any = self  # marks that it is not loaded yet
        weakref.finalize(self, forget_later, self.key).atexit = False

    @property
    def value(self) -> Any:
        """The data, read in this process."""
        with self._lock:
            if self._value is self:
                self._value = _read_only(self.function(*self.args, **self.kwargs))
        return self._value


class Foreign(Reference):
    """Data that another engine keeps, with its handle: a future of dask, an object of Ray.

    Parameters
    ----------
    key : str
    handle : object
    fetch : callable
        ``fetch(handle)`` returns the data in this process.
    """

    __slots__ = ("_fetch", "handle")

    def __init__(self, key: str, handle: Any, fetch: Callable[[Any], Any]) -> None:
        super().__init__(key)
        self.handle = handle
        self._fetch = fetch

    @property
    def value(self) -> Any:
        """The data, fetched into this process."""
        return _read_only(self._fetch(self.handle))


class Home(Foreign):
    """Data that a call left on its worker, for later calls."""

    __slots__ = ()


class Gone:
    """The answer of a call if the data that another call left is no longer there."""


class Resolved(Reference):
    """A reference on a worker that has the data."""

    __slots__ = ("_value",)

    def __init__(self, key: str, value: Any) -> None:
        super().__init__(key)
        self._value = _read_only(value)

    @property
    def value(self) -> Any:
        """The data."""
        return self._value


def _read_only(value: Any) -> Any:
    """A read-only view of an array, so that tasks do not see each other's writes."""
    if isinstance(value, np.ndarray) and value.flags.writeable:
        value = value.view()
        value.flags.writeable = False
    return value
