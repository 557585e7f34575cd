"""What an engine has for parallel programs: where tasks run, `fork` and `fork_map`.

The modules behind it are imported with the first fork: threads and executors would be a third of the time that
``import tapeengine`` takes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from tapeengine.transforms.contract import Engine

__all__ = ["Parallel"]


class Parallel:
    """The part of an `Engine` that runs tasks.

    Parameters
    ----------
    executor : concurrent.futures.Executor, distributed.Client or the module ray, optional
        Where tasks run; by default on threads of its own.
    """

    def __init__(self, executor: Any) -> None:
        self._executor = executor

    @property
    def executor(self) -> Any:
        """Where the tasks of `fork` run. The threads that stand in for none begin with the first fork."""
        if self._executor is None:
            from tapeengine.workers import default_executor

            self._executor = default_executor()
        return self._executor

    def fork(self, *tasks: Callable[[], Any], executor: Any = None) -> tuple[Any, ...]:
        """Run tasks side by side and return what they return; their derivatives run side by side as well.

        Each task records on a tape of its own. The trace that forks gets one record, whose reverse rule resolves the
        tapes of the tasks side by side. Tasks may fork further ones. The results, and all derivatives of any order, are
        the same bits for any number of workers.

        Parameters
        ----------
        *tasks : callable
            Functions without arguments. Traced values in their closures are found and differentiated. What a task
            computes goes out by its return value alone; other objects are shared, so tasks must not change them.
        executor : concurrent.futures.Executor, distributed.Client or the module ray, optional
            By default the engine's. A `ThreadPoolExecutor` shares memory with the program. To any other one tasks
            are sent by pickle, with their values. A task that returns few numbers brings its derivative with its
            value; for one that returns more the reverse pass sends a cotangent to where its tape is, or runs it
            again.

        Returns
        -------
        tuple
            What the tasks returned, in their order.

        Raises
        ------
        StructureError
            Where a task is no callable, or returns what the engine cannot take apart.
        UnsupportedError
            Where a task uses a traced value that is not in its closure.
        DroppedDerivativeError
            Where a task writes into a traced array that it captures, or what depends on traced values into an object.
        WorkerError
            Where a worker ended and its engine does not repeat its tasks, or has other versions than the program.

        Notes
        -----
        Records of scalars are resolved without the GIL, and numpy works on large arrays without it; running Python code
        itself takes turns. A task that raises lets those that run end; the first error, in the order of the tasks, is
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
        from tapeengine.transforms import forking

        return forking.fork(cast("Engine", self), tasks, executor or self.executor)

    def fork_map(
        self,
        f: Callable[..., Any],
        *iterables: Iterable[Any],
        chunksize: int = 1,
        executor: Any = None,
        progress: Callable[..., Iterable[Any]] | None = None,
    ) -> list[Any]:
        """Apply a function to each item, in tasks that run side by side: `fork` for many tasks of one kind.

        Parameters
        ----------
        f : callable
            Of as many arguments as there are iterables; it may capture traced values.
        *iterables : iterable
            Of one length; items may be traced, structures, and references to data (`Shared`, `Loaded`).
        chunksize : int
            How many items make a task. Cotangents of what `f` captures are added up in each task first, so that
            another size may give other last bits.
        executor : concurrent.futures.Executor, distributed.Client or the module ray, optional
            See `fork`.
        progress : callable, optional
            Shows how far each pass is: ``progress(iterable, total=n, desc=text)`` gives the iterable in its place, as
            tqdm does.

        Returns
        -------
        list
            The results in the order of the items.

        Raises
        ------
        ValueError
            Where the iterables differ in length.

        Examples
        --------
        >>> from tapeengine import Engine
        >>> engine = Engine()
        >>> engine.grad(lambda w: sum(engine.fork_map(lambda x: (w * x - 1.0) ** 2, [1.0, 2.0, 3.0])))(0.5)
        2.0
        """
        from tapeengine.transforms import forking

        where = executor or self.executor
        return forking.fork_map(cast("Engine", self), f, iterables, chunksize, where, progress)
