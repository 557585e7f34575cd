"""Run a program for many arguments: in lanes if it is staged, otherwise one by one."""

from __future__ import annotations

import functools
import itertools
import operator
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from types import MethodType
from typing import Any

import numpy as np

from .._core.programs import threads as on_threads
from .._core.programs.replay import Inputs, Lanes, Path, Plan, inputs_of, inputs_of_arguments
from .._core.sweeps.linear import open_tape
from .._core.sweeps.trace import value_unseen
from ..errors import RepeatError
from ..forms import flatten, holds_traced, unflatten
from ..naming import attribute_of, name_as, reduced
from ..structure import Structures
from ..transforms.calls import call_with_rule
from ..transforms.contract import Engine
from ..transforms.programs import check_constants, for_values
from ..transforms.progress import Progress, told
from ..transforms.transformed import check_program, whole
from .axes import Mapped, joined, whole_arguments
from .outputs import DifferentLanes, Outputs

#: The most lanes of a call that record a path.
MOST_ALONE = 256
#: One lane in so many may record a path that replaces another path.
REPLACING = 1024
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

    #: Calls that run again look into the attributes.
    __tapeengine_parts__ = True

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
        self.threads = whole("vmap", "threads", threads)
        self.progress = progress
        name_as(self, program)
        self.__name__ = attribute_of(program, "__name__", type(program).__name__)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else MethodType(self, instance)

    def __tapeengine_made__(self) -> tuple[operator.methodcaller, tuple[Engine]]:
        given, options = (self.in_axes, self.out_axes), {"threads": self.threads, "progress": self.progress}
        return operator.methodcaller("vmap", self.program, *given, **options), (self.engine,)

    def __reduce__(self) -> Any:
        return reduced(self, self.program, self.__tapeengine_made__())

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        """Return the values of all lanes."""
        if not self._is_staged:
            return self._one_by_one(args, keywords)
        try:
            traced, found = self._ruled(args, keywords) if open_tape() is not None else (False, None)
            if traced:
                return found
            return self._run(args, keywords, keep=False).value()
        except NotReplayed as error:
            trial = Trial(self, args, keywords) if error.is_new else None
        found = self._one_by_one(args, keywords, trial)
        if trial is None or not trial.is_recordable:
            return found
        return self(*args, **keywords) if trial.record() else self._one_by_one(args, keywords)

    def __tapeengine_vjp__(self, engine: Engine, *args: Any, **keywords: Any) -> tuple[Any, Any]:
        """Return the values, and the backpropagator of all lanes."""
        trial = None
        if self._is_staged and engine is self.engine and engine.switches is None:
            try:
                run = self._run(args, keywords, keep=True)
                return run.value(), Derivative(self, run.arguments, keywords, run).pull
            except NotReplayed as error:
                trial = Trial(self, args, keywords) if error.is_new else None
        found = engine.vjp(self.apart(trial), *args, **keywords)
        if trial is None or not trial.is_recordable:
            return found
        if trial.record():
            return self.__tapeengine_vjp__(engine, *args, **keywords)
        return engine.vjp(self.apart(), *args, **keywords)

    @property
    def _is_staged(self) -> bool:
        return hasattr(type(self.program), "__tapeengine_plan__")

    def apart(self, trial: Trial | None = None) -> Callable[..., Any]:
        """The same program, which calls one lane after the other."""
        return lambda *args, **keywords: self._one_by_one(args, keywords, trial)

    def tangents(self, args: tuple[Any, ...], tangents: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """Return the tangents of the values of all lanes, by a program in lanes again: also at traced values."""
        axes = self._axes(args)
        return self._of_lanes(self.program.tangent, (*axes, *axes))(*args, *tangents, **keywords)

    def cotangents(self, args: tuple[Any, ...], cotangent: Any, keywords: dict[str, Any]) -> Any:
        """Do the same for the cotangents of the arguments; that of a number that lanes share is their sum."""
        pull = self._of_lanes(self.program.cotangent, (*self._axes(args), 0))
        leaves, steps = flatten(self.engine.structures, pull(*args, cotangent, **keywords))
        mapped = Mapped(self.engine.structures, args, self.in_axes).mapped
        pairs = zip(leaves, mapped, strict=True)
        return unflatten(steps, [leaf if has_lanes or leaf is None else leaf.sum() for leaf, has_lanes in pairs])

    def _axes(self, args: tuple[Any, ...]) -> Sequence[Any]:
        return self.in_axes if isinstance(self.in_axes, (tuple, list)) else (self.in_axes,) * len(args)

    def _of_lanes(self, program: Any, axes: tuple[Any, ...]) -> Batched:
        return Batched(self.engine, program, axes, 0, self.threads, self.progress)

    def _one_by_one(self, args: tuple[Any, ...], keywords: dict[str, Any], trial: Trial | None = None) -> Any:
        """Run the program for each lane; with a trial, stop after the first one if it can be recorded."""
        mapped = self._mapped(args, keywords)
        mapped.keep_apart()
        rows: Iterable[int] = range(mapped.lanes)
        if self.progress is not None:
            rows = self.progress(rows, total=mapped.lanes, desc="vmap: value")
        program = self.program if trial is None else trial
        call = functools.partial(_of_keywords, program) if keywords else for_values(self.engine, program)
        values = []
        try:
            for row in rows:
                values.append(call(*mapped.lane(row)))
                if trial is not None and trial.is_recordable:
                    return None
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
        return Mapped(self.engine.structures, (*args, arrays, shared), (*self._axes(args), 0, None))

    def _arrays(self, keywords: dict[str, Any]) -> dict[str, Any]:
        """The keyword arguments that have an axis of lanes, their first one: those with arrays."""
        return {
            name: value
            for name, value in keywords.items()
            if any(getattr(leaf, "shape", ()) for leaf in flatten(self.engine.structures, value)[0])
        }

    def _ruled(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> tuple[bool, Any]:
        """Whether arguments are traced; if so, also the values, as one record."""
        return call_with_rule(self.engine, args, lambda values: self._rule(values, keywords), self.__name__)

    def _rule(self, values: tuple[Any, ...], keywords: dict[str, Any]) -> tuple[Any, Any]:
        """The value at plain arguments and its derivative, for one record on the enclosing tape."""
        traced, found = self._ruled(values, keywords)
        if traced:
            return found, Derivative(self, lambda: values, keywords, None)
        run = self._run(values, keywords, keep=True)
        return run.value(), Derivative(self, lambda: values, keywords, run)

    def _run(self, args: tuple[Any, ...], keywords: dict[str, Any], keep: bool) -> Run:
        """Run all lanes.

        Raises
        ------
        NotReplayed
        """
        if self.out_axes != 0 or self._arrays(keywords):
            raise NotReplayed
        whole = whole_arguments(self.in_axes, len(args))
        if whole is not None:
            shared = [not mapped for mapped in whole]
            for plan in self.program.__tapeengine_plans__(keywords):
                found = inputs_of_arguments(plan, args, whole, shared)
                if found is not None and found.rows.size:
                    return self._run_of(args, plan, found, keywords, keep)
        mapped = Mapped(self.engine.structures, args, self.in_axes)
        if not mapped.has_numbers_only:
            raise NotReplayed
        plan, is_new = self.program.__tapeengine_plan__(mapped.lane(0), keywords)
        every = [True] * len(args)
        found = None if plan is None else inputs_of_arguments(plan, mapped.arguments(), every, every)
        if plan is None or found is None:
            raise NotReplayed(is_new)
        return self._run_of(args, plan, found, keywords, keep)

    def _run_of(self, args: tuple[Any, ...], plan: Plan, inputs: Inputs, keywords: dict[str, Any], keep: bool) -> Run:
        try:
            return Run(self, args, plan, inputs, keywords, keep)
        except DifferentLanes:
            raise NotReplayed from None


class NotReplayed(Exception):
    """The lanes of a call cannot be replayed, or there is no recording yet."""

    def __init__(self, is_new: bool = False) -> None:
        super().__init__()
        self.is_new = is_new


class Trial:
    """The first lane of a call, run as Python to find out whether another run of it may be recorded.

    A program that draws random numbers, or writes into what it captures, runs once for each lane: as part of the
    enclosing traces, because its derivatives cannot be computed from other runs.

    Attributes
    ----------
    is_recordable : bool
    """

    def __init__(self, batched: Batched, args: tuple[Any, ...], keywords: dict[str, Any]) -> None:
        self.batched, self.args, self.keywords = batched, args, keywords
        self.has_run = self.is_recordable = False

    def __call__(self, *lane: Any, **keywords: Any) -> Any:
        """Run the program for a lane."""
        program = self.batched.program
        if self.has_run:
            return program(*lane, **keywords)
        self.has_run = True
        value, self.is_recordable = program.__tapeengine_trial__(lane, keywords)
        return value

    def record(self) -> bool:
        """Record the first lane; return whether there is a recording now."""
        batched = self.batched
        leaves, steps = flatten(batched.engine.structures, self.args)
        plain = unflatten(steps, list(map(value_unseen, leaves)))
        lane = Mapped(batched.engine.structures, plain, batched.in_axes).lane(0)
        keywords = rebuilt(batched.engine.structures, self.keywords)
        return batched.program.__tapeengine_record__(lane, keywords)  # type: ignore[no-any-return]


class Derivative:
    """The derivative of a call in lanes, used as a record's rule.

    Raises
    ------
    RepeatError
        If lanes must run again, and one of them has shown that another run may differ, or what the program captures has
        changed.
    """

    def __init__(
        self, batched: Batched, args: Callable[[], tuple[Any, ...]], keywords: dict[str, Any], run: Run | None
    ) -> None:
        self.batched, self.args, self.keywords, self.run = batched, args, keywords, run
        self.why, self.captured = batched.program.why, getattr(batched.program, "checks", None)

    def pull(self, cotangent: Any) -> Any:
        """Return the cotangents of the arguments."""
        engine = self.batched.engine
        if self.run is not None and not holds_traced(engine.structures, cotangent):
            return self.run.backward(cotangent)
        self._check()
        found = self.batched.cotangents(self.args(), cotangent, self.keywords)
        if self._is_finite(found):
            return found
        return engine.vjp(self.batched.apart(), *self.args(), **self.keywords)[1](cotangent)

    def push(self, tangents: tuple[Any, ...]) -> Any:
        """Return the tangent of the values."""
        engine = self.batched.engine
        self._check()
        if self.run is not None and not holds_traced(engine.structures, tangents):
            return self.run.forward(tangents)
        found = self.batched.tangents(self.args(), tangents, self.keywords)
        if self._is_finite(found):
            return found
        again = functools.partial(self.batched.apart(), **self.keywords)
        return engine.jvp(again, self.args(), tangents)[1]

    def _is_finite(self, found: Any) -> bool:
        """Whether no lane is at a pole, where an exact zero counts as nothing if it is not traced."""
        leaves = flatten(self.batched.engine.structures, found)[0]
        return all(leaf is None or bool(np.isfinite(value_unseen(leaf)).all()) for leaf in leaves)

    def _check(self) -> None:
        if self.why is not None:
            raise RepeatError(
                f"vmap of {self.batched.__name__} runs the lanes again for this derivative, which a lane does not "
                f"allow, because {self.why}"
            )
        check_constants(self.batched, self.captured)


class Run:
    """The lanes of one call: blocks of lanes along a path, and lanes that ran alone.

    A lane that leaves its path continues along a path that forks there. If none fits, one lane runs as Python, and
    records its path for the others.
    """

    def __init__(
        self,
        batched: Batched,
        args: tuple[Any, ...],
        plan: Plan,
        inputs: Inputs,
        keywords: dict[str, Any],
        keep: bool,
    ) -> None:
        self.engine = batched.engine
        self.staged = batched.program
        self.threads = batched.threads
        self.progress = batched.progress
        self.plan = plan
        self.keywords = keywords
        self.keep = keep
        self.inputs = inputs
        self.lanes = inputs.rows.shape[1]
        self.outputs = Outputs(self.engine, plan, self.lanes)
        self.pieces: list[tuple[Lanes, Any, Any, int]] = []
        self.alone: list[tuple[int, Any]] = []
        self._explore(functools.cache(lambda: Mapped(self.engine.structures, args, batched.in_axes)))

    @contextmanager
    def _workers(self, what: str) -> Iterator[Workers]:
        """The threads of a pass, which tells how many of its lanes have been run."""
        with told(self.progress, self.lanes, f"vmap: {what}") as tell:
            yield Workers(self.threads, tell or (lambda lanes: None))

    # -- forwards ------------------------------------------------------------------------------------------------------
    def _explore(self, mapped: Callable[[], Mapped]) -> None:
        groups = [Group(self.plan.paths[:1], np.arange(self.lanes), 0)]
        with self._workers("value") as workers:
            while groups:
                known = [group for group in groups if group.paths]
                ended = iter(workers.make([call for group in known for call in group.begin(self)]))
                after = [group.ended(self, [next(ended) for _ in group.parts]) for group in known]
                alone = [self._one_alone(mapped(), group.rows, workers) for group in groups if not group.paths]
                groups = [group for group in (*itertools.chain(*after), *alone) if len(group.rows)]

    def _one_alone(self, mapped: Mapped, rows: Any, workers: Workers) -> Group:
        """Run the program for one lane and record its path, or for all lanes if no more paths are to be recorded."""
        room = self._has_room()
        program, now = (self.staged, rows[:1]) if room else (self.staged.program, rows)
        for row in now:
            args = mapped.lane(int(row))
            keywords = rebuilt(self.engine.structures, self.keywords)
            if self.keep:
                value, back = self.engine.vjp(program, *args, **keywords)
                self.alone.append((int(row), back))
            else:
                value = program(*args, **keywords)
                self.alone.append((int(row), None))
            self.outputs.put(int(row), value)
        workers.tell(len(now))
        self.staged.settle()
        return Group(self.plan.paths[:1], rows[len(now) :], 0)

    def _has_room(self) -> bool:
        """Whether lanes may record paths: that takes longer than a run, so few lanes do if they replace other paths."""
        most = MOST_ALONE if len(self.plan.paths) < self.staged.paths else self.lanes // REPLACING
        return self.staged.why is None and len(self.alone) < most

    def value(self) -> Any:
        """The values of all lanes."""
        return self.outputs.value()

    # -- backwards -----------------------------------------------------------------------------------------------------
    def backward(self, cotangent: Any) -> tuple[Any, ...]:
        """Return one cotangent for each argument, from that of the values."""
        leaves = self.outputs.taken(cotangent)
        given = self.outputs.rows(leaves)
        found = np.empty((len(self.inputs.numbers), self.lanes))  # each thread is the first to touch its columns

        def run(part: Lanes, registers: Any, places: Any, count: int, errors: list[Any]) -> int:
            part.backward(registers, places, given, found, errors)  # into the columns of its own rows
            return count

        with self._workers("cotangents") as workers:
            workers.make([functools.partial(run, *piece) for piece in self.pieces])
            for row, back in self.alone:
                found[:, row] = inputs_of(self.plan, back(self.outputs.lane(leaves, row)))
                workers.tell(1)
        return self.inputs.cotangents(found)

    def forward(self, tangents: tuple[Any, ...]) -> Any:
        """Return the tangents of the values, from those of the arguments."""
        structures = self.engine.structures
        given = np.zeros((self.plan.inputs + 1, self.lanes))
        each = zip(self._registers(), flatten(structures, tangents)[0], strict=True)
        for register, leaf in each:
            if register is not None:
                given[int(register)] = leaf
        found = np.zeros_like(self.outputs.array)

        def run(part: Lanes, registers: Any, places: Any, count: int, errors: list[Any]) -> int:
            part.tangents(registers, places, given, found, errors)
            return count

        with self._workers("tangents") as workers:
            workers.make([functools.partial(run, *piece) for piece in self.pieces])
            for row, _ in self.alone:
                self.outputs.put_tangent(found[:, row], self._tangent_alone(row, given))
                workers.tell(1)
        found += 0.0  # arrays are sums that begin with a positive zero
        return self.outputs.tangent(found)

    def _tangent_alone(self, row: int, given: Any) -> Any:
        """The tangent of the value of a lane that took no recorded path."""
        inputs = self.inputs
        args = inputs.arguments(inputs.rows[:, row].tolist(), inputs.numbers, known=True)
        tangents = inputs.arguments(given[inputs.mapped, row].tolist(), given[:, row].copy(), known=False)
        keywords = rebuilt(self.engine.structures, self.keywords)
        return self.engine.jvp(functools.partial(self.staged.program, **keywords), args, tangents)[1]

    def _registers(self) -> list[Any]:
        """The register of each leaf of the arguments; None for discrete ones."""
        numbers = np.arange(self.plan.inputs + 1.0)
        return flatten(
            self.engine.structures, self.inputs.arguments(self.inputs.mapped.tolist(), numbers, known=False)
        )[0]

    def arguments(self) -> tuple[Any, ...]:
        """The arguments of the call, which the caller may change."""
        return self.inputs.arguments(self.inputs.rows, self.inputs.numbers, known=True)


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

    def begin(self, run: Run) -> list[Callable[[list[Any]], int]]:
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

    def run(self, run: Run, part: Lanes, errors: list[Any]) -> int:
        """Run one part; return how many of its lanes came to the path's end."""
        part.forward(self.registers, self.leaves, run.outputs.array, run.keep, errors)
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


def _of_keywords(program: Callable[..., Any], *lane: Any) -> Any:
    return program(*lane[:-2], **lane[-2], **lane[-1])


def rebuilt(structures: Structures, value: Any) -> Any:
    """The same leaves in new containers, so that a lane does not see what another one changes in them."""
    leaves, steps = flatten(structures, value)
    return unflatten(steps, leaves)


def by_number(numbers: Any, rows: Any) -> list[tuple[int, Any]]:
    """Each number that occurs, with the rows that contain it."""
    counts = np.bincount(numbers)
    occurring = np.flatnonzero(counts)
    rank = np.zeros(len(counts), np.min_scalar_type(len(occurring)))
    rank[occurring] = np.arange(len(occurring))
    order = np.argsort(rank[numbers], kind="stable")  # numbers of 16 bits are sorted in linear time
    parts = np.split(rows[order], np.cumsum(counts[occurring])[:-1])
    return [(int(number), part) for number, part in zip(occurring, parts, strict=True)]


@functools.lru_cache(maxsize=4)
def others(threads: int) -> on_threads.Pool:
    """Threads beside the one that calls, kept for later calls: to start one takes as long as a small block of lanes."""
    return on_threads.Pool(threads)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=others.cache_clear)  # a forked process has no other threads


class Calls:
    """Calls that threads share; see `threads.Work`.

    Parameters
    ----------
    calls : sequence of callable
        Each returns how many lanes it has run, and raises the error in its argument, a list, once there is one.
    tell : callable
        Called with these numbers on the thread that runs the program.
    """

    def __init__(self, calls: Sequence[Callable[[list[Any]], int]], tell: Callable[[int], None]) -> None:
        self.count = len(calls)
        self.found = [0] * self.count
        self.errors: list[Any] = []
        self.told = 0
        self._left = deque(enumerate(calls))
        self._tell = tell

    def _results(self) -> Iterator[int]:
        while self._left:
            try:
                k, call = self._left.popleft()
            except IndexError:  # another thread took the last one
                return
            self.found[k] = call(self.errors)
            yield self.found[k]

    def work(self) -> None:
        """Make calls until none is left."""
        for lanes in self._results():
            self._tell(lanes)
            self.told += lanes

    def help(self) -> None:
        """Do so on another thread."""
        try:
            deque(self._results(), 0)
        except BaseException as error:
            self.stop(error)

    def stop(self, error: Any = KeyboardInterrupt) -> None:
        """Let all threads stop soon."""
        self._left.clear()
        self.errors.append(error)


class Workers:
    """Makes calls on threads if there are to be several.

    Parameters
    ----------
    threads : int
    tell : callable
        Called with the number of lanes that have been run.
    """

    def __init__(self, threads: int, tell: Callable[[int], None]) -> None:
        self.threads = threads
        self.tell = tell

    def make(self, calls: Sequence[Callable[[list[Any]], int]]) -> list[int]:
        """Make calls, on this thread as well, and wait for all; each returns the number of lanes that it has run."""
        if len(calls) == 1:
            found = [calls[0]([])]
            self.tell(found[0])
            return found
        work = Calls(calls, self.tell)
        on_threads.run(work, self._ask)
        if work.errors:
            raise work.errors[0]
        self.tell(sum(work.found) - work.told)
        return work.found

    def _ask(self, work: on_threads.Work, helpers: on_threads.Helpers) -> None:
        for _ in range(min(self.threads, work.count) - 1):
            others(self.threads - 1).submit(helpers)
