"""The engine's methods for parallel programs: the executor, `fork` and `fork_map`.

The modules behind it are imported at the first fork, because threads and executors would take a third of the time of
``import tapeengine``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, cast

from ..contract import Engine


class Parallel:
    """The part of `Engine` that runs tasks.

    Parameters
    ----------
    executor : concurrent.futures.Executor, distributed.Client or the module ray, optional
        Where tasks run; by default on the engine's own threads.
    """

    def __init__(self, executor: Any) -> None:
        self._executor = executor

    @property
    def executor(self) -> Any:
        """Where the tasks of `fork` run. The default threads start at the first fork."""
        if self._executor is None:
            from ...workers import default_executor

            self._executor = default_executor()
        return self._executor

    def fork(self, *tasks: Callable[[], Any], executor: Any = None) -> tuple[Any, ...]:
        """Run tasks concurrently and return their results; their derivatives run concurrently as well.

        Each task records on its own tape. The trace that forks gets one record, whose rule resolves the tapes of
        the tasks concurrently. Tasks may fork further tasks. The results, and derivatives of any order, have the same
        bits for any number of workers.

        Parameters
        ----------
        *tasks : callable
            Functions without arguments. Traced values in their closures are found and differentiated. A task must
            return what it computes; it must not change other objects, because tasks share them.
        executor : concurrent.futures.Executor, distributed.Client or the module ray, optional
            By default the engine's. A `ThreadPoolExecutor` shares memory with the program. Any other gets tasks
            and their values by pickle. A task that returns few numbers returns its derivative with its value. For one
            that returns more, the reverse pass sends a cotangent to the worker that has its tape, or runs it again.

        Returns
        -------
        tuple
            The results of the tasks, in their order.

        Raises
        ------
        StructureError
            If a task is not callable, or returns a value that the engine cannot decompose.
        UnsupportedError
            If a task uses a traced value that is not in its closure.
        DroppedDerivativeError
            If a task writes to a traced array that it captures, or writes traced values into an object.
        WorkerError
            If a worker ended and its engine does not repeat its tasks, or if its versions differ from the program's.

        Notes
        -----
        Records of scalars are resolved without the GIL, and numpy works on large arrays without it; Python code runs in
        one thread at a time. If a task raises, the running tasks finish; the first error, in the order of the tasks, is
        raised. Follows Smeding and Vákár, "Parallel Dual-Numbers Reverse AD", section 12.

        Examples
        --------
        >>> from tapeengine import Engine
        >>> engine = Engine()
        >>> def program(x, y):
        ...     a, b = engine.fork(lambda: x * y, lambda: x + y)
        ...     return a * b
        >>> value, backpropagator = engine.vjp(program, 2.0, 3.0)
        >>> value, backpropagator(1.0)
        (30.0, (21.0, 16.0))
        """
        from . import forking

        return forking.fork(cast("Engine", self), tasks, executor or self.executor)

    def fork_map(
        self,
        f: Callable[..., Any],
        *iterables: Iterable[Any],
        chunksize: int = 1,
        executor: Any = None,
        progress: Callable[..., Iterable[Any]] | None = None,
    ) -> list[Any]:
        """Apply a function to each item in concurrent tasks: `fork` for many tasks of one kind.

        Parameters
        ----------
        f : callable
            A function with as many arguments as there are iterables; it may capture traced values.
        *iterables : iterable
            Iterables of equal length; items may be traced, structures, or references to data (`Shared`, `Loaded`).
        chunksize : int
            The number of items in a task. Cotangents of values that `f` captures are first added up within a task, so
            another size may change the last bits.
        executor : concurrent.futures.Executor, distributed.Client or the module ray, optional
            See `fork`.
        progress : callable, optional
            Displays progress: it is called as ``progress(iterable, total=n, desc=text)``, as tqdm is, and returns the
            iterable to use instead.

        Returns
        -------
        list
            The results in the order of the items.

        Raises
        ------
        ValueError
            If the iterables differ in length.

        Examples
        --------
        >>> from tapeengine import Engine
        >>> engine = Engine()
        >>> engine.grad(lambda w: sum(engine.fork_map(lambda x: (w * x - 1.0) ** 2, [1.0, 2.0, 3.0])))(0.5)
        2.0
        """
        from . import forking

        where = executor or self.executor
        return forking.fork_map(cast("Engine", self), f, iterables, chunksize, where, progress)
