"""Ray: tasks run as Ray tasks, with data in its object store."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import WorkerError
from .executors import Call, Workers
from .messages import Argument, packed, perform
from .pools import loader_of
from .references import Foreign, Loaded, Reference
from .versions import Stamp


class Ray(Workers):
    """The workers that Ray provides. Ray repeats a task whose worker died, up to three times.

    Parameters
    ----------
    ray : module
        The module ray; the program initialises it.
    stamp : Stamp
    """

    stores = True

    def __init__(self, ray: Any, stamp: Stamp) -> None:
        self.ray = ray
        self.stamp = stamp
        self.references = Reference, ray.ObjectRef
        self._perform = ray.remote(perform)

    def submit(self, calls: Sequence[Call], name: str) -> list[Delivery]:
        """See `Workers.submit`."""
        return [self._submitted(call, name) for call in calls]

    def _submitted(self, call: Call, name: str) -> Delivery:
        body, references = packed((call[0], call[1:]), by_value=True)
        data: list[Any] = []
        sources: dict[str, Any] = {}
        for key, reference in references.items():
            if isinstance(reference, Loaded):
                sources[key] = loader_of(reference, True)
            else:
                sources[key] = Argument(len(data))
                data.append(self._home(reference))
        task = self._perform.options(name=name)
        return Delivery(self.ray, task.remote(self.stamp, body, sources, (), *data), name)

    def reference(self, value: Any) -> Reference:
        """See `Workers.reference`: an `ObjectRef` refers to its object."""
        if isinstance(value, self.ray.ObjectRef):
            return Foreign(value.hex(), value, self.ray.get)
        return super().reference(value)

    def _home(self, reference: Reference) -> Any:
        if isinstance(reference, Foreign):
            return reference.handle
        if Ray not in reference.homes:
            reference.homes[Ray] = self.ray.put(reference.value)
        return reference.homes[Ray]


class Delivery:
    """A call as a Ray task."""

    __slots__ = ("_name", "_object", "_ray")

    def __init__(self, ray: Any, one: Any, name: str) -> None:
        self._ray = ray
        self._object = one
        self._name = name

    def result(self) -> Any:
        """See `Sent.result`."""
        errors = self._ray.exceptions
        try:
            return self._ray.get(self._object)
        except errors.RayTaskError as error:
            raise error.cause from None
        except (errors.WorkerCrashedError, errors.NodeDiedError, errors.ObjectLostError) as error:
            raise WorkerError(f"workers of Ray ended repeatedly while they ran {self._name}: {error}") from error

    def cancel(self) -> bool:
        """See `Sent.cancel`; a running task is not interrupted."""
        self._ray.cancel(self._object, force=False)
        return False
