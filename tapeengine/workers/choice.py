"""Chooses the adapter for an executor, by the package of its class, which must have been imported already."""

from __future__ import annotations

from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from typing import Any

from ..errors import StructureError, module_of
from .executors import Threads, Workers
from .pools import Pool
from .versions import Stamp


def workers_of(executor: Any, stamp: Stamp) -> Workers:
    """Return the interface that `fork` needs of an executor.

    Parameters
    ----------
    executor : concurrent.futures.Executor, distributed.Client, or the module ray
        Workers of an unknown executor are assumed to share no memory.
    stamp : Stamp
        The versions that workers must run.

    Raises
    ------
    StructureError
        If it is none of these.
    """
    if isinstance(executor, ThreadPoolExecutor):
        return Threads(executor)
    root = _package(executor)
    if root == "distributed":
        from .dask import Dask

        return Dask.of(executor, stamp)
    if root == "ray":
        from .ray import Ray

        return Ray(executor, stamp)
    if not isinstance(executor, Executor):
        raise StructureError(
            f"tasks run on a concurrent.futures.Executor, a distributed.Client or the module ray, not on {executor!r}"
        )
    if root == "loky" or module_of(type(executor)).startswith("joblib.externals.loky"):
        return Pool(executor, stamp, by_value=True, one_machine=True)
    return Pool(executor, stamp, by_value=False, one_machine=isinstance(executor, ProcessPoolExecutor))


def _package(executor: Any) -> str:
    """The package that an executor comes from; for a module, its own."""
    name = getattr(executor, "__name__", "") if type(executor).__name__ == "module" else type(executor).__module__
    return str(name).partition(".")[0]
