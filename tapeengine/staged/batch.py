"""Run a program for many arguments: in lanes if it is staged, otherwise one by one."""

from __future__ import annotations

import functools
import itertools
import operator
import os
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from types import MethodType
from typing import Any

import numpy as np

from tapeengine._core.programs.replay import (
    Lanes,
    Path,
    Plan,
    Register,
    registers_of_arguments,
    registers_of_value,
)
from tapeengine._core.sweeps.inspection import open_tape
from tapeengine.errors import CotangentError, StructureError
from tapeengine.staged.axes import DOUBLE, Mapped, joined
from tapeengine.structure import Structures
from tapeengine.transforms.calls import call_with_rule
from tapeengine.transforms.contract import Engine
from tapeengine.transforms.forms import flatten, is_continuous, is_traced, unflatten
from tapeengine.transforms.progress import Progress, told
from tapeengine.transforms.transformed import check_program

#: After this many lanes on paths of their own, the remaining lanes run one by one as well.
MOST_ALONE = 256
#: The smallest number of instructions, over all lanes, that is shared among threads.
ENOUGH = 1 << 17
#: The number of parts of a pass whose progress is shown.
PARTS = 64


class Batched:
    """A program mapped over axes of its arguments. Made by `Engine.vmap` and `Staged.batch`.

    Parameters
    ----------
    engine : Engine
    program : callable
    in_axes, out_axes : int, None, or structures of them
    threads : int
        The number of threads that share the lanes of a staged program.
    progress : callable, optional
        Shows the number of lanes that have been run, in each pass.
    """

    def __init__(
        self,
        engine: Engine,
        program: Callable[..., Any],
        in_axes: Any = 0,
        out_axes: Any = 0,
        threads: int = 1,
        progress: Progress | None = None,
    ) -> None:
        check_program("vmap", program)
        self.engine = engine
        self.program: Any = program
        self.in_axes = in_axes
        self.out_axes = out_axes
        self.threads = threads
        self.progress = progress
        functools.update_wrapper(self, program, updated=())
        self.__name__ = getattr(program, "__name__", type(program).__name__)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else MethodType(self, instance)

    def __reduce__(self) -> Any:
        given, options = (self.in_axes, self.out_axes), {"threads": self.threads, "progress": self.progress}
        return operator.methodcaller("vmap", self.program, *given, **options), (self.engine,)

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        """Return the values of all lanes."""
        if hasattr(type(self.program), "__tapeengine_plan__"):
            if open_tape() is not None:
                traced, found = call_with_rule(
                    self.engine, args, lambda values: self._rule(values, keywords), self.__name__
                )
                if traced:
                    return found
            run = self._run(args, keywords, keep=False)
            if run is not None:
                return run.value()
        return self._one_by_one(*args, **keywords)

    def __tapeengine_vjp__(self, engine: Engine, *args: Any, **keywords: Any) -> tuple[Any, Any]:
        """Return the values, and the backpropagator of all lanes."""
        staged = (
            engine is self.engine and engine.switches is None and hasattr(type(self.program), "__tapeengine_plan__")
        )
        run = self._run(args, keywords, keep=True) if staged else None
        if run is not None:
            return run.value(), run.backward
        return engine.vjp(self._lambda(), *args, **keywords)

    def __tapeengine_tape__(self, engine: Engine, *args: Any, order: int = 2) -> tuple[Any, Any]:
        """Return the values, and a backpropagator with a tape of an order."""
        value, back = engine.trace(self._lambda(), args, order=order)
        return value, back

    def _lambda(self) -> Callable[..., Any]:
        return lambda *args, **keywords: self._one_by_one(*args, **keywords)

    def _one_by_one(self, *args: Any, **keywords: Any) -> Any:
        mapped = self._mapped(args, keywords)
        mapped.keep_apart()
        rows: Iterable[int] = range(mapped.lanes)
        if self.progress is not None:
            rows = self.progress(rows, total=mapped.lanes, desc="vmap: value")
        call = self._of_keywords if keywords else self.program
        try:
            values = [call(*mapped.lane(row)) for row in rows]
        except ValueError as error:
            if str(error).endswith("is read-only"):
                error.add_note("vmap: all lanes share a large array that has no axis of lanes; let the program copy it")
            raise
        return joined(self.engine.structures, values, self.out_axes)

    def _mapped(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> Mapped:
        """The arguments by position; after them the keyword arguments with an axis of lanes, and the others."""
        if not keywords:
            return Mapped(self.engine.structures, args, self.in_axes)
        arrays = self._arrays(keywords)
        shared = {name: value for name, value in keywords.items() if name not in arrays}
        axes = self.in_axes if isinstance(self.in_axes, (tuple, list)) else (self.in_axes,) * len(args)
        return Mapped(self.engine.structures, (*args, arrays, shared), (*axes, 0, None))

    def _of_keywords(self, *lane: Any) -> Any:
        return self.program(*lane[:-2], **lane[-2], **lane[-1])

    def _arrays(self, keywords: dict[str, Any]) -> dict[str, Any]:
        """The keyword arguments that have an axis of lanes, their first one: those with arrays."""
        return {
            name: value
            for name, value in keywords.items()
            if any(getattr(leaf, "shape", ()) for leaf in flatten(self.engine.structures, value)[0])
        }

    def _rule(self, values: tuple[Any, ...], keywords: dict[str, Any]) -> tuple[Any, Any]:
        """The value at plain arguments and its derivative, for one record on the enclosing tape."""
        if any(map(is_traced, flatten(self.engine.structures, values)[0])):
            return self(*values, **keywords), Derivative(self, values, keywords, None)
        value, back = self.engine.vjp(self, *values, **keywords)
        return value, Derivative(self, values, keywords, back)

    def _run(self, args: tuple[Any, ...], keywords: dict[str, Any], keep: bool) -> Run | None:
        """Run all lanes; None if the program is not replayed, or its arguments are not columns of numbers."""
        if self.out_axes != 0 or self._arrays(keywords):
            return None
        mapped = Mapped(self.engine.structures, args, self.in_axes)
        columns = mapped.columns()
        if columns is None:
            return None
        plan = self.program.__tapeengine_plan__(mapped.lane(0), rebuilt(self.engine.structures, keywords))
        return None if plan is None else Run(self, mapped, columns, plan, keywords, keep)


class Derivative:
    """The derivative of a call in lanes, used as a record's rule."""

    def __init__(self, batched: Batched, args: tuple[Any, ...], keywords: dict[str, Any], back: Any) -> None:
        self.batched, self.args, self.keywords, self.back = batched, args, keywords, back

    def pull(self, cotangent: Any) -> Any:
        """Return the cotangents of the arguments."""
        engine = self.batched.engine
        if self.back is not None and not any(map(is_traced, flatten(engine.structures, cotangent)[0])):
            return self.back(cotangent)
        return engine.vjp(self.batched._lambda(), *self.args, **self.keywords)[1](cotangent)

    def push(self, tangents: tuple[Any, ...]) -> Any:
        """Return the tangent of the values."""
        keywords = self.keywords
        return self.batched.engine.jvp(lambda *args: self.batched._one_by_one(*args, **keywords), self.args, tangents)[
            1
        ]


class Run:
    """The lanes of one call: blocks of lanes along a path, and lanes that ran alone.

    A lane that leaves its path continues along a path that forks there. If none fits, one lane runs as Python, and
    records its path for the others.
    """

    def __init__(
        self, batched: Batched, mapped: Mapped, columns: list[Any], plan: Plan, keywords: dict[str, Any], keep: bool
    ) -> None:
        self.engine = batched.engine
        self.staged = batched.program
        self.threads = batched.threads
        self.progress = batched.progress
        self.mapped = mapped
        self.plan = plan
        self.keywords = keywords
        self.keep = keep
        self.numbers = [
            k for k, column in enumerate(columns) if isinstance(column, np.ndarray) and column.dtype == DOUBLE
        ]
        self.places = self._places()
        self.inputs = np.array([columns[self.numbers[place]] for place in self.places]).reshape(
            len(self.places), mapped.lanes
        )
        self.outputs = Outputs(self.engine, plan, mapped.lanes)
        self.pieces: list[tuple[Lanes, Any, Any, int]] = []
        self.alone: list[tuple[int, Any]] = []
        self._explore()

    def _places(self) -> list[int]:
        """For each input of the plan which of the numbers it is; known after the first call with numbers there."""
        key = len(self.mapped.leaves), tuple(self.numbers)
        known = self.plan.places
        if key not in known:
            marks = list(self.mapped.leaves)
            for k, number in enumerate(self.numbers):
                marks[number] = k + 1.0
            places = registers_of_arguments(self.plan, unflatten(self.mapped.steps, marks))
            if places is None:
                raise StructureError("the lanes have arguments of another form than the first one")
            known[key] = [place - 1 for place in places]
        return known[key]  # type: ignore[no-any-return]

    def _workers(self, what: str) -> Workers:
        if self.progress is None:
            return Workers(self.threads, nullcontext())
        return Workers(self.threads, told(self.progress, self.mapped.lanes, f"vmap: {what}"))

    # -- forwards ------------------------------------------------------------------------------------------------------
    def _explore(self) -> None:
        groups = [Group(self.plan.paths[:1], np.arange(self.mapped.lanes), 0)]
        with self._workers("value") as workers:
            while groups:
                known = [group for group in groups if group.paths]
                ended = iter(workers.make([call for group in known for call in group.begin(self)]))
                after = [group.ended(self, [next(ended) for _ in group.parts]) for group in known]
                alone = [self._one_alone(group.rows, workers) for group in groups if not group.paths]
                groups = [group for group in (*itertools.chain(*after), *alone) if len(group.rows)]

    def _one_alone(self, rows: Any, workers: Workers) -> Group:
        """Run the program for one lane, or for all if each takes its own path; return the remaining lanes."""
        now = rows[:1] if len(self.alone) < MOST_ALONE else rows
        for row in now:
            args = self.mapped.lane(int(row))
            keywords = rebuilt(self.engine.structures, self.keywords)
            if self.keep:
                value, back = self.engine.vjp(self.staged, *args, **keywords)
                self.alone.append((int(row), back))
            else:
                value = self.staged(*args, **keywords)
                self.alone.append((int(row), None))
            self.outputs.put(int(row), value)
        workers.tell(len(now))
        self.staged.settle()
        return Group(self.plan.paths[:1], rows[len(now) :], 0)

    def value(self) -> Any:
        """The values of all lanes."""
        return self.outputs.value()

    # -- backwards -----------------------------------------------------------------------------------------------------
    def backward(self, cotangent: Any) -> tuple[Any, ...]:
        """Return one cotangent for each argument, from that of the values."""
        given = self.outputs.taken(cotangent)
        found = np.zeros(self.inputs.shape)  # of which each thread touches its own columns first

        def run(part: Lanes, registers: Any, leaves: Any, count: int) -> int:
            part.backward(registers, leaves, given, found)  # into the columns of its own rows
            return count

        with self._workers("cotangents") as workers:
            workers.make([functools.partial(run, *piece) for piece in self.pieces])
            for row, back in self.alone:
                parts = flatten(self.engine.structures, back(self.outputs.lane(cotangent, row)))[0]
                for place, k in zip(range(len(self.places)), self.places, strict=True):
                    found[place, row] = parts[self.numbers[k]]
                workers.tell(1)
        return self._by_argument(found)

    def _by_argument(self, found: Any) -> tuple[Any, ...]:
        leaves: list[Any] = [None] * len(self.mapped.leaves)
        for place, k in enumerate(self.places):
            number = self.numbers[k]
            leaves[number] = found[place] if self.mapped.mapped[number] else float(np.sum(found[place]))
        args: tuple[Any, ...] = unflatten(self.mapped.steps, leaves)
        return args


class Group:
    """Lanes that take the same way up to a register, and the paths that may continue it.

    Parameters
    ----------
    paths : sequence of Path
        The paths to try, in their order.
    rows : array of intp
    at : int
        The register.
    """

    def __init__(self, paths: Sequence[Path], rows: Any, at: int) -> None:
        self.paths = [path for path in paths if not path.has_arrays]
        self.rows = rows
        self.at = at

    def begin(self, run: Run) -> list[Callable[[], int]]:
        """Return calls that run the lanes: one for each thread, or more to show progress, each of whole blocks."""
        path = self.paths[0]
        self.registers, self.leaves, self.constants = run.outputs.of(path)
        parts = run.threads if len(self.rows) * len(path) >= ENOUGH else 1
        parts = parts if run.progress is None else max(parts, PARTS)
        size = -(-len(self.rows) // parts)
        size += -size % 8
        starts = range(0, len(self.rows), size)
        rows = [np.ascontiguousarray(self.rows[start : start + size]) for start in starts]
        self.parts = [Lanes(path, run.inputs, part) for part in rows]
        return [functools.partial(self.run, run, part) for part in self.parts]

    def run(self, run: Run, part: Lanes) -> int:
        """Run one part; return how many of its lanes came to the path's end."""
        part.forward(self.registers, self.leaves, run.outputs.array, run.keep)
        return int(np.count_nonzero(part.stops[: len(part.rows)] >= self.paths[0].end))

    def ended(self, run: Run, counts: list[int]) -> list[Group]:
        """Keep the parts for the reverse pass; return the groups of lanes that left the path."""
        path = self.paths[0]
        run.pieces += [
            (part, self.registers, self.leaves, count) for part, count in zip(self.parts, counts, strict=True)
        ]
        if sum(counts) == len(self.rows):
            run.outputs.fill(self.constants, self.rows)
            return []
        stops = np.concatenate([part.stops[: len(part.rows)] for part in self.parts])
        found = []
        for stop, rows in by_number(stops, self.rows):
            if stop == path.end:
                run.outputs.fill(self.constants, rows)
            else:
                further = stop > self.at
                found.append(Group(path.forks.get(stop, ()) if further else self.paths[1:], rows, max(stop, self.at)))
        return found


def rebuilt(structures: Structures, value: Any) -> Any:
    """The same leaves in new containers, so that a lane does not see what another one changes in them."""
    leaves, steps = flatten(structures, value)
    return unflatten(steps, leaves)


def by_number(numbers: Any, rows: Any) -> list[tuple[int, Any]]:
    """For each number that occurs, it and the rows that have it."""
    counts = np.bincount(numbers)
    occurring = np.flatnonzero(counts)
    rank = np.zeros(len(counts), np.min_scalar_type(len(occurring)))
    rank[occurring] = np.arange(len(occurring))
    order = np.argsort(rank[numbers], kind="stable")  # numbers of 16 bits are sorted in linear time
    parts = np.split(rows[order], np.cumsum(counts[occurring])[:-1])
    return [(int(number), part) for number, part in zip(occurring, parts, strict=True)]


class Outputs:
    """The values of all lanes: an array with a row for each number of the program's value."""

    def __init__(self, engine: Engine, plan: Plan, lanes: int) -> None:
        self.structures = engine.structures
        self.lanes = lanes
        self.first, self.known = plan.paths[0], plan.places
        leaves, self.steps = flatten(self.structures, registers_of_value(self.first))
        self.form = _form(self.steps)
        self.is_number = [isinstance(leaf, Register) or is_continuous(leaf) for leaf in leaves]
        self.leaves: list[Any] = [None if number else leaf for leaf, number in zip(leaves, self.is_number, strict=True)]
        self.array = np.empty((len(leaves), lanes))

    def of(self, path: Path) -> tuple[Any, Any, list[tuple[int, Any]]]:
        """The registers of a path's numbers, the indices of their leaves in the value, and its constant leaves."""
        key = self.first, path
        if key not in self.known:
            self.known[key] = self._of(path)
        return self.known[key]  # type: ignore[no-any-return]

    def _of(self, path: Path) -> tuple[Any, Any, list[tuple[int, Any]]]:
        leaves = self._checked(registers_of_value(path))
        places = [k for k, leaf in enumerate(leaves) if isinstance(leaf, Register)]
        constants = [(k, leaf) for k, leaf in enumerate(leaves) if self.is_number[k] and not isinstance(leaf, Register)]
        return np.array([leaves[k].number for k in places], np.uint32), np.array(places, np.uint32), constants

    def fill(self, constants: list[tuple[int, Any]], rows: Any) -> None:
        """Store the constant leaves of some lanes."""
        for k, leaf in constants:
            self.array[k, rows] = leaf

    def put(self, row: int, value: Any) -> None:
        """Store the value of a lane that ran alone."""
        for k, leaf in enumerate(self._checked(value)):
            if self.is_number[k]:
                self.array[k, row] = leaf

    def _checked(self, value: Any) -> list[Any]:
        leaves, steps = flatten(self.structures, value)
        same = _form(steps) == self.form and all(
            number == (isinstance(leaf, Register) or is_continuous(leaf)) and (number or np.array_equal(leaf, known))
            for leaf, number, known in zip(leaves, self.is_number, self.leaves, strict=True)
        )
        if not same:
            raise StructureError(
                "the lanes return values of different structures or different discrete parts, which cannot be "
                "joined: return numbers, or call the program for each argument"
            )
        return leaves

    def value(self) -> Any:
        """The program's value with an axis of lanes."""
        leaves = [
            self.array[k] if number else self._spread(leaf)
            for k, (leaf, number) in enumerate(zip(self.leaves, self.is_number, strict=True))
        ]
        return unflatten(self.steps, leaves)

    def _spread(self, leaf: Any) -> Any:
        return np.stack([leaf] * self.lanes) if isinstance(leaf, (int, np.generic, np.ndarray)) else leaf

    def taken(self, cotangent: Any) -> Any:
        """Return the cotangents of the numbers, a row for each leaf."""
        found = np.zeros_like(self.array)
        for k, leaf in enumerate(self._leaves(cotangent)):
            if self.is_number[k]:
                found[k] = leaf
        return found

    def lane(self, cotangent: Any, row: int) -> Any:
        """The cotangent of one lane's value."""
        leaves = [
            (float(leaf[row]) if np.ndim(leaf) else float(leaf)) if number else None
            for leaf, number in zip(self._leaves(cotangent), self.is_number, strict=True)
        ]
        return unflatten(self.steps, leaves)

    def _leaves(self, cotangent: Any) -> list[Any]:
        leaves, steps = flatten(self.structures, cotangent)
        fits = [np.shape(leaf) in ((), (self.lanes,)) for leaf in leaves]
        if _form(steps) != self.form or not all(fits):
            raise CotangentError(f"the cotangent must have the structure of the value, with {self.lanes} lanes")
        return leaves


def _form(steps: Sequence[Any]) -> list[Any]:
    return [step and (step[0], step[3]) for step in steps]


@functools.lru_cache(maxsize=4)
def others(threads: int) -> ThreadPoolExecutor:
    """Threads beside the one that calls, kept for later calls: to start one takes as long as a small block of lanes."""
    return ThreadPoolExecutor(threads, "tapeengine-lanes")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=others.cache_clear)  # a forked process has no other threads


class Workers:
    """Makes calls on threads if there are to be several.

    Parameters
    ----------
    threads : int
    telling : context manager
        Gives the function that is called with the number of lanes that have been run, or None.
    """

    def __init__(self, threads: int, telling: AbstractContextManager[Callable[[int], None] | None]) -> None:
        self.threads = threads
        self.pool = others(threads - 1) if threads > 1 else None
        self._telling = telling
        self._tell: Callable[[int], None] | None = None

    def __enter__(self) -> Workers:
        self._tell = self._telling.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._telling.__exit__(*error)

    def tell(self, lanes: int) -> None:
        """Say how many more lanes have been run."""
        if self._tell is not None:
            self._tell(lanes)

    def make(self, calls: Sequence[Callable[[], int]]) -> list[int]:
        """Make calls, on this thread as well, and wait for all; each returns the number of lanes that it has run."""
        left = deque(enumerate(calls))
        found = [0] * len(calls)

        def work() -> int:
            lanes = 0
            while left:
                try:
                    k, call = left.popleft()
                except IndexError:  # another thread took the last one
                    break
                found[k] = call()
                lanes += found[k]
            return lanes

        helping = [self.pool.submit(work) for _ in calls[1 : self.threads]] if self.pool is not None else []
        try:
            self.tell(work())
        finally:
            ends = [done.result() for done in helping]
        self.tell(sum(ends))
        return found
