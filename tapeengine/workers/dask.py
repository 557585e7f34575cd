"""dask.distributed: its scheduler places tasks near their data, and repeats the tasks of a dead worker."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import uuid4

from distributed import Client, Future, KilledWorker
from distributed.client import FutureCancelledError

from ..errors import WorkerError
from .executors import Call, Workers
from .messages import Argument, Boxed, packed, perform
from .pools import loader_of
from .references import Foreign, Gone, Home, Loaded, Reference
from .versions import Stamp

#: How often data that was lost with workers is sent again.
_TIMES = 3
#: The number of results fetched at once: each fetch is a round trip, each result takes memory.
_WINDOW = 16


class Dask(Workers):
    """The workers of a client.

    A task is a dask task named after the program's function and pass, with a unique key. The data that it leaves on its
    worker is the result of its future. References are futures: scattered data, the result of a loader function, and the
    program's own. All tasks of a fork are one graph, because dask's own costs are mostly per graph.

    Parameters
    ----------
    client : distributed.Client
    stamp : Stamp
    """

    keeps = stores = True
    references = (Reference, Future)

    def __init__(self, client: Any, stamp: Stamp) -> None:
        self.client = client
        self.stamp = stamp

    @classmethod
    def of(cls, executor: Any, stamp: Stamp) -> Dask:
        """Return the workers of a client, or of the executor returned by ``client.get_executor()``."""
        return cls(executor if isinstance(executor, Client) else executor._client, stamp)

    def submit(self, calls: Sequence[Call], name: str) -> list[Delivery]:
        """See `Workers.submit`."""
        batch = Batch(self, calls, name)
        return [Delivery(batch, k) for k in range(len(calls))]

    def reference(self, value: Any) -> Reference:
        """See `Workers.reference`: a future refers to its result."""
        return Foreign(str(value.key), value, _fetched) if isinstance(value, Future) else super().reference(value)

    def home(self, reference: Reference) -> Any:
        """The future of the data of a reference."""
        if isinstance(reference, Foreign):
            return reference.handle
        if self.client not in reference.homes:
            reference.homes[self.client] = self._sent(reference)
        return reference.homes[self.client]

    def _sent(self, reference: Reference) -> Any:
        if isinstance(reference, Loaded):
            key = f"{getattr(reference.function, '__name__', 'load')}-{reference.key}"
            return self.client.submit(loader_of(reference, True).load, key=key, pure=False)
        return self.client.scatter([Boxed(reference.value)], hash=False)[0]


class Batch:
    """Calls that are sent as one graph, and whose results are fetched in groups."""

    def __init__(self, dask: Dask, calls: Sequence[Call], name: str) -> None:
        self.dask = dask
        self.name = name
        packages = [packed((call[0], call[1:]), by_value=True) for call in calls]
        self._bodies = [body for body, _ in packages]
        self._references = [references for _, references in packages]
        self._results: dict[int, Any] = {}
        self.futures = self._sent(range(len(calls)))

    def _sent(self, numbers: Sequence[int]) -> list[Any]:
        messages, data = [], []
        for k in numbers:
            sources = {key: Argument(position) for position, key in enumerate(self._references[k])}
            messages.append((self.dask.stamp, self._bodies[k], sources, ()))
            data.append([self.dask.home(reference) for reference in self._references[k].values()])
        keys = [f"{self.name}-{uuid4().hex}" for _ in numbers]
        futures: list[Any] = self.dask.client.map(_performed, messages, data, key=keys, pure=False)
        return futures

    def result(self, k: int) -> Any:
        """The result of a call, fetched together with those of the next calls."""
        if k not in self._results:
            window = range(k, min(k + _WINDOW, len(self.futures)))
            try:
                found = self.dask.client.gather([self.futures[j] for j in window])
                self._results.update(zip(window, found, strict=True))
            except Exception:  # of any of these calls: errors are raised in order of the calls
                self._results[k] = self._alone(k)
        found = self._results.pop(k)
        if getattr(found, "is_kept", False):
            found.home = Home(str(self.futures[k].key), self.futures[k], _fetched)
        self.futures[k] = None
        return found

    def _alone(self, k: int) -> Any:
        """The result of one call. Data lost with a worker is sent again; what a task left on the worker is gone."""
        for _ in range(_TIMES):
            try:
                return self.futures[k].result()
            except FutureCancelledError:
                if any(isinstance(reference, Home) for reference in self._references[k].values()):
                    return Gone()
                for reference in self._references[k].values():
                    reference.homes.pop(self.dask.client, None)
                self.futures[k] = self._sent([k])[0]
            except KilledWorker as error:
                raise WorkerError(f"workers of dask ended repeatedly in {self.name}: {error}") from error
        raise WorkerError(f"the data of {self.name} was lost repeatedly with workers of dask")


class Delivery:
    """A call as a task of dask."""

    __slots__ = ("_batch", "_number")

    def __init__(self, batch: Batch, number: int) -> None:
        self._batch = batch
        self._number = number

    def result(self) -> Any:
        """See `Sent.result`."""
        return self._batch.result(self._number)

    def cancel(self) -> bool:
        """See `Sent.cancel`."""
        future = self._batch.futures[self._number]
        if future is not None:
            future.cancel()
        return False


def _performed(message: tuple[Any, ...], data: Sequence[Any]) -> Any:
    return perform(*message, *data)


def _fetched(future: Any) -> Any:
    return future.result()
