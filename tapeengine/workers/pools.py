"""Any `concurrent.futures.Executor` whose workers share nothing with the program: processes, loky, MPI, others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future
from functools import partial
from typing import Any

from ..errors import WorkerError
from .executors import Call, Workers, shares
from .forgotten import to_forget
from .messages import Inline, Lacking, Loader, dumps_of, packed, performed, pickled
from .references import Loaded, Reference
from .segments import Segment
from .versions import Stamp


class Pool(Workers):
    """Processes behind an executor.

    Parameters
    ----------
    executor : concurrent.futures.Executor
    stamp : Stamp
    by_value : bool
        Whether functions that cannot be imported are pickled by value.
    one_machine : bool
        Whether all workers run on this machine, so that they can share memory.
    """

    def __init__(self, executor: Executor, stamp: Stamp, *, by_value: bool, one_machine: bool) -> None:
        self.executor = executor
        self.stamp = stamp
        self.by_value = by_value
        self.one_machine = self.stores = one_machine

    def together(self, count: int) -> int:
        """See `Workers.together`."""
        return shares(count, self.executor)

    def submit(self, calls: Sequence[Call], name: str) -> list[Delivery]:
        """See `Workers.submit`."""
        return [Delivery(self, name, *packed((call[0], call[1:]), self.by_value)) for call in calls]

    def source(self, reference: Reference) -> Any:
        """The source of a reference's data for a worker; None if the worker has to ask for it."""
        if isinstance(reference, Loaded):
            return loader_of(reference, self.by_value)
        if not self.one_machine:
            return None
        if self.__class__ not in reference.homes:
            reference.homes[self.__class__] = Segment(reference.value, dumps_of(self.by_value))
        return reference.homes[self.__class__].descriptor

    def inline(self, reference: Reference) -> Inline:
        """The data of a reference, for a worker that asked for it."""
        return Inline(pickled(reference.value, self.by_value)[0])


class Delivery:
    """A sent call; it is sent once more with the data of references that the worker did not know."""

    __slots__ = ("_body", "_future", "_name", "_pool", "_references")

    def __init__(self, pool: Pool, name: str, body: bytes, references: Mapping[str, Reference]) -> None:
        self._pool = pool
        self._name = name
        self._body = body
        self._references = references
        self._future = self._sent({key: pool.source(reference) for key, reference in references.items()})

    def _sent(self, sources: Mapping[str, Any]) -> Future[Any]:
        try:
            forget = to_forget(list(sources))
            pool = self._pool
            return pool.executor.submit(partial(performed, pool.by_value), pool.stamp, self._body, sources, forget)
        except BrokenExecutor as error:
            raise self._broken(error) from error

    def result(self) -> Any:
        """See `Sent.result`."""
        found = self._outcome()
        while isinstance(found, Lacking):
            asked = {key: self._pool.inline(self._references[key]) for key in found.keys}
            self._future = self._sent({key: asked.get(key) for key in self._references})
            found = self._outcome()
        return found

    def _outcome(self) -> Any:
        try:
            return self._future.result()
        except BrokenExecutor as error:
            raise self._broken(error) from error

    def cancel(self) -> bool:
        """See `Sent.cancel`."""
        return self._future.cancel()

    def _broken(self, error: BaseException) -> WorkerError:
        return WorkerError(
            f"a worker ended while it ran tasks ({self._name}), and {type(self._pool.executor).__name__} does not "
            "repeat them. The engine remains usable: make another executor and call again"
        )


def loader_of(reference: Loaded, by_value: bool) -> Loader:
    """The call of a loader function, for execution on a worker."""
    return Loader(packed((reference.function, reference.args, reference.kwargs), by_value)[0])
