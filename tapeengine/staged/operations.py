"""Recordings of arrays and of forks in files: their operations by name, with plain operands, and runs of these.

A replay does not check the operations of a recording. A file may hold anything, so its operations are run as a program
calls them, by the functions that check their arguments; the first run is recorded, and later calls replay this recording.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._core.arrays.array import Array
from .._core.arrays.assignment import add_at
from .._core.arrays.storing import from_values, numbers_of
from .._core.programs import replay
from .._core.programs.replay import KINDS, MISS, NotReplayable, Plan, parts_of
from .._core.scalars import spread
from .._core.scalars.discrete import exponent
from .._core.scalars.math import _fma as fma
from .._core.scalars.math import isfinite, isinf, isnan
from ..errors import StagingError
from ..primitive import Primitive
from ..primitive.builders import BROADCAST, PRODUCT, SCALE, UNBROADCAST
from ..transforms.forms import flatten, is_traced
from .bodies import ACCESS, CONSTANT, EXACT, FINITE, FIRST_GUARD, HAS_NUMBER, TRUNC


if TYPE_CHECKING:
    from ..engine import Engine

FLOAT, FLOATS, NUMPY, DISCRETE, ARRAY, LIST, TUPLE, DICT = KINDS
CALL = ACCESS + 2
#: The module whose `operation` makes primitives of opcodes.
TABLE = "tapeengine_primitives.opcodes"
#: The kinds of array operations: those of ``storing.pxd``.
MADE, MOVED, CALLED, COMPUTED, MULTIPLIED, SUMMED, COPIED, WRITTEN, _, ADDED, FORKED, LOOKED = range(12)
#: The engine's own primitives, and functions of Python's numbers, by their names.
OWN = {primitive.name: primitive for primitive in (SCALE, PRODUCT, UNBROADCAST, BROADCAST)}
FUNCTIONS = {
    function.__name__: function
    for function in (
        *(operator.lt, operator.le, operator.eq, operator.ne, operator.gt, operator.ge),
        *(math.gamma, math.lgamma, math.log, math.hypot, round, fma, spread.dist, spread.fsum, spread.sumprod, exponent),
    )
}


class Register(NamedTuple):
    """A number that an earlier instruction has computed: a float, or a numpy.float64."""

    number: int
    is_numpy: bool = False


class Constant(NamedTuple):
    """A part of an argument or a result that is the same in each run."""

    value: Any


class Stored(NamedTuple):
    """An array: a view of a storage."""

    storage: int
    dtype: str
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    is_number: bool
    is_python: bool


class Function(NamedTuple):
    """A primitive and the plugin that brings it, or a function of numpy's or Python's."""

    source: str
    name: str
    plugin: str = ""


class MissingError(Exception):
    """There is no recording for these arguments."""


# -- from recordings to data -------------------------------------------------------------------------------------------
class Describer:
    """Describes the recordings of an engine."""

    def __init__(self, engine: Engine) -> None:
        self.registry = engine.registry
        self.primals = {primitive.primal: primitive for primitive in engine.registry.values()}

    def plan(self, plan: Plan) -> dict[str, Any]:
        """Describe a plan: its arguments, and its paths."""
        data = replay.plan_data(plan)
        if plan.changes_containers:
            raise NotReplayable("it changes a list, a dict or an object among its arguments")
        known, arguments = list(data["known"]), []
        for layout in data["primals"]:
            count = leaves_without_register(layout)
            arguments.append(self.structure(layout, known[:count]))
            del known[:count]
        return {"arguments": arguments, "paths": list(map(self.path, data["paths"]))}

    def path(self, data: dict[str, Any]) -> dict[str, Any]:
        value = self.structure(data["outputs"], list(data["known"]))
        del data["outputs"], data["known"]
        calls = [(self.function(function), operands) for function, operands in data["calls"]]
        return {**data, "calls": calls, "notes": list(map(self.note, data["notes"])), "value": value}

    def structure(self, layout: Any, known: list[Any]) -> Any:
        """Lists, tuples and dicts around the places of their leaves; `known` are the constant ones, the last one first."""
        steps, aux = layout[0], list(layout[1])
        parts: list[Any] = []
        for kind, n, id in steps:
            if kind == FLOATS:
                parts.extend(Register(id + k) for k in range(n))
            elif kind == ARRAY:
                view = aux.pop(0)
                parts.append(Constant(view) if type(view) is np.ndarray else self.place(view))
            elif kind < LIST:
                cls = aux.pop(0) if kind == NUMPY else float
                is_constant = kind == DISCRETE or id == 0
                parts.append(Constant(known.pop()) if is_constant else Register(id, self.is_numpy(cls)))
            else:
                own = [parts.pop() for _ in range(n)][::-1]
                parts.append(self.container(kind, own, aux))
        return parts[0]

    def is_numpy(self, cls: type) -> bool:
        if cls not in (float, np.float64):
            raise NotReplayable(f"it takes or returns a {cls.__name__}")
        return cls is np.float64

    def container(self, kind: int, parts: list[Any], aux: list[Any]) -> Any:
        if kind > DICT:
            raise NotReplayable(f"it takes or returns a {aux[0][0].__name__}: only lists, tuples and dicts can be saved")
        return dict(zip(aux.pop(0), parts, strict=True)) if kind == DICT else parts if kind == LIST else tuple(parts)

    def place(self, x: Any) -> Any:
        """The place of an operand or a result: a view, a register, True for the instruction's own, None for a constant."""
        if type(x) is tuple:
            return list(map(self.place, x[1]))
        return True if type(x) is int else None if x is None else Stored(*replay.view_data(x))

    def operand(self, x: Any) -> Any:
        if type(x).__name__ != "Operand":
            return self.place(x)
        number, constant = parts_of(x)
        return Register(number) if number else constant

    def note(self, what: tuple[Any, ...]) -> tuple[Any, ...]:
        """An operation on arrays: its kind, and what it works on."""
        kind, result = what[0], what[-1]
        if kind == MADE or kind == MOVED:
            return what
        if kind == LOOKED:
            return kind, self.function(what[1]), list(map(self.operand, what[2])), what[3], what[4]
        if kind == CALLED:
            return self.called(what[1], what[2], what[3], what[4], self.place(replay.result_of(result)))
        if kind == COMPUTED:
            return self.called(what[1], [x for x in what[2:4] if x is not None], {}, [], replay.result_of(result))
        if kind == MULTIPLIED:
            return self.called(np.dot, what[1], {}, [], self.place(replay.result_of(result) or 0))
        if kind == SUMMED:
            place, axis, divisor = replay.result_of(result)
            function, options = np.sum if divisor == 1.0 else np.mean, {} if place is None else {"axis": axis}
            return self.called(function, [what[1]], options, [], self.place(place or 0))
        if kind == COPIED:
            return kind, self.operand(what[1]), what[2], self.place(replay.result_of(result))
        if kind == FORKED:
            return kind, *self.fork(what[1]), list(map(self.operand, what[2])), what[4], self.place(replay.result_of(result))
        return kind, self.operand(what[1]), what[2], self.operand(what[4 if kind == WRITTEN else 3])

    def called(self, function: Any, operands: Any, options: Any, discrete: Any, place: Any) -> tuple[Any, ...]:
        return CALLED, self.function(function), list(map(self.operand, operands)), options, discrete, place

    def fork(self, repeated: Any) -> tuple[Any, Any]:
        """The recordings of tasks, and the numbers of their values."""
        if not hasattr(repeated.again, "tasks"):
            raise NotReplayable(f"it calls {repeated.name}, whose derivative is Python code")
        return [self.plan(task.plan) for task in repeated.again.tasks], list(map(list, repeated.again.fork.places))

    def function(self, function: Any) -> Function:
        """The name of a function."""
        name = getattr(function, "__name__", None) or getattr(function, "name", repr(function))
        for source, found in (("primitive", OWN.get(name)), ("numpy", getattr(np, name, None)), ("", FUNCTIONS.get(name))):
            if found is function:
                return Function(source, name)
        primitive = function if isinstance(function, Primitive) else self.primals.get(function)
        if primitive is not None and getattr(primitive.primal, "__module__", "") == TABLE:
            return Function("table", name.partition(".")[2])
        if primitive is not None and self.registry.get(primitive.name) is primitive:
            return Function("primitive", primitive.name, str(self.registry.origin(primitive.name)))
        raise NotReplayable(f"it calls {name}, which is no primitive of a plugin and no function of numpy")


def leaves_without_register(layout: Any) -> int:
    """The number of leaves that are the same in each run."""
    return sum(kind == DISCRETE or (kind in (FLOAT, NUMPY) and id == 0) for kind, _, id in layout[0])


# -- from data to runs -------------------------------------------------------------------------------------------------
def function_of(engine: Engine, of: Function, path: Any) -> Any:
    """The function of a name, if it is one that recordings call."""
    if of.source == "primitive":
        found = OWN.get(of.name) or engine.registry.get(of.name)
        if found is None:
            raise StagingError(f"{path} needs the primitive {of.name} of {of.plugin}, which is not installed")
        return found
    if of.source == "table":
        return import_module(TABLE).operation(of.name)
    found = getattr(np, of.name) if of.source == "numpy" else FUNCTIONS[of.name]
    is_known = isinstance(found, np.ufunc) or found is np.asarray or found in engine.registry.numpy_rules
    if of.source == "numpy" and not is_known:
        raise StagingError(f"{path} names numpy.{of.name}, which no recording calls")
    return found


class Line:
    """A path: its instructions, and what they refer to."""

    def __init__(self, engine: Engine, data: dict[str, Any], path: Any, load: Callable[[Any], Any]) -> None:
        self.op = np.frombuffer(data["op"], np.uint8).tolist()
        self.operands = np.frombuffer(data["operands"], np.uint32).reshape(-1, 2).tolist()
        self.constants = np.frombuffer(data["constants"]).tolist()
        self.first, self.accesses, self.value = data["end"] - len(self.op), data["accesses"], data["value"]
        self.forks, self.notes = dict(data["forks"]), list(data["notes"])
        calls = [(function_of(engine, function, path), operands) for function, operands in data["calls"]]
        self.calls = {b: calls[a] for op, (a, b) in zip(self.op, self.operands, strict=True) if op == CALL}
        for k, note in enumerate(self.notes):
            if note[0] in (CALLED, LOOKED):
                found = function_of(engine, note[1], path)
                is_primal = note[0] == LOOKED and isinstance(found, Primitive)
                self.notes[k] = note[0], found.primal if is_primal else found, *note[2:]
            elif note[0] == FORKED:
                self.notes[k] = FORKED, list(map(load, note[1])), *note[2:]


class Operations:
    """The paths of a recording in a file."""

    __tapeengine_parts__ = False

    def __init__(self, engine: Engine, data: dict[str, Any], path: Any, load: Callable[[Any], Any]) -> None:
        self.engine, self.arguments = engine, data["arguments"]
        self.lines = [Line(engine, each, path, load) for each in data["paths"]]

    def trace(self, primals: tuple[Any, ...]) -> Any:
        """Return a tuple that begins with the value; MISS if there is no recording for these arguments."""
        traced = any(map(is_traced, flatten(self.engine.structures, primals)[0]))
        try:
            return (self.run(*primals) if traced else self.engine.vjp(self.run, *primals)[0],)
        except MissingError:
            return MISS

    def run(self, *primals: Any) -> Any:
        """Run along the path that the arguments take."""
        run = Run(self.engine)
        if len(primals) != len(self.arguments) or not all(map(run.takes, self.arguments, primals)):
            raise MissingError
        line, i = self.lines[0], self.lines[0].first
        while i < line.first + len(line.op):
            if not run.step(line, i):
                others = (self.lines[k] for k in line.forks.get(i, ()))
                line = next((other for other in others if run.step(other, i)), None)  # type: ignore[assignment]
                if line is None:
                    raise MissingError
            i += 1
        return run.filled(line.value)


class Run:
    """The numbers and arrays of one run."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.numbers: dict[int, Any] = {0: 0.0}
        self.arrays: dict[int, Any] = {}
        self.last: tuple[int, Any] = (0, None)  # the instruction that was called last, and its result

    def takes(self, place: Any, x: Any) -> bool:
        """Read an argument; return whether it has the form of the recorded one."""
        kind = type(place)
        if kind is Register:
            self.numbers[place.number] = x
            return bool(replay.is_number(x, place.is_numpy))
        if kind is Constant:
            return bool(replay.same(x, place.value))
        if kind is Stored:
            self.arrays[place.storage] = found = from_values(x) if type(x) is np.ndarray else x
            return type(found) is Array and bool(replay.has_view(found, place))
        same = type(x) is kind and len(x) == len(place) and (kind is not dict or list(x) == list(place))
        return same and all(map(self.takes, values(place), values(x)))

    def filled(self, place: Any) -> Any:
        """A structure with the leaves of this run."""
        if type(place) is Register:
            return replay.as_number(self.numbers[place.number], place.is_numpy)
        if type(place) is Constant:
            return place.value.copy() if type(place.value) is np.ndarray else place.value
        if type(place) is Stored:
            return self.operand(place)
        parts = map(self.filled, values(place))
        return dict(zip(place, parts, strict=True)) if type(place) is dict else type(place)(parts)

    def operand(self, x: Any) -> Any:
        if type(x) is Register:
            return self.numbers[x.number]
        if type(x) is not Stored:
            return x
        found = self.arrays[x.storage]
        return replay.shown(found, *x) if type(found) is Array else found

    def step(self, line: Line, i: int) -> bool:
        """Do an instruction; return False where the arguments take another path."""
        op, (a, b) = line.op[i - line.first], line.operands[i - line.first]
        numbers = self.numbers
        if op < CONSTANT:
            function, operands = line.calls.get(i, (None, ()))
            given = [numbers[number] if number else constant for number, constant in operands]
            numbers[i] = found = replay.computed(op, numbers[a], numbers[b], function, given)
            return found is not MISS
        if op == CONSTANT:
            numbers[i] = line.constants[a]
            return True
        if op < ACCESS:
            return self.holds(op, numbers[a], line.constants[b] if HAS_NUMBER[op] else numbers[b])
        if op == CALL:
            return True
        if op == ACCESS:
            return self.access(i, *line.accesses[a])
        return bool(self.note(i, *line.notes[a]))

    def holds(self, op: int, x: Any, y: Any) -> bool:
        """Whether a guard has the recorded outcome."""
        if op < TRUNC:
            k = op - FIRST_GUARD
            return bool((operator.lt, operator.le, operator.eq)[k // 2](x, y)) != bool(k % 2)
        if op >= FINITE:
            return bool((isfinite, isinf, isnan)[op - FINITE](x))
        if op == EXACT:
            return bool(replay.same(numbers_of(x), y))
        try:
            return float((math.trunc, math.floor, math.ceil, round)[op - TRUNC](x)) == y
        except (ValueError, OverflowError):
            return False

    def access(self, i: int, storage: int, element: int, number: int, writes: bool) -> bool:
        found = self.arrays[storage]
        if writes:
            replay.elements(found)[element] = self.numbers[number]
        else:
            self.numbers[i] = replay.elements(found)[element] if type(found) is Array else found
        return True

    def note(self, i: int, kind: int, what: Any = None, *more: Any) -> Any:
        """Do an operation on arrays."""
        if kind in (CALLED, LOOKED, FORKED):
            if self.last[0] != i:
                self.last = i, self.called(kind, what, *more[:2])
            return self.keeps(more[-1], self.last[1], iter(more[-2]), i) if kind != LOOKED else replay.same(
                self.last[1], more[-1]
            )
        if kind == MADE:
            self.arrays[what] = from_values(more[0])
        elif kind == COPIED:
            source, (index, place) = self.operand(what), more
            return self.keeps(place, copied(source, place) if index is None else source[index], iter(()), i)
        elif kind == WRITTEN:
            self.operand(what)[more[0]] = self.operand(more[1])
        elif kind == ADDED:
            add_at(self.operand(what), more[0], self.operand(more[1]))
        return True

    def called(self, kind: int, function: Any, given: Any, options: Any) -> Any:
        if kind == FORKED:
            own = [self.operand(x) for x in options]
            tasks = [partial(task, [own[k] for k in places]) for task, places in zip(function, given, strict=True)]
            return flatten(self.engine.structures, list(self.engine.fork(*tasks)))[0]
        operands = [self.operand(x) for x in given]
        return replay.looked(function, operands, options) if kind == LOOKED else function(*operands, **options)

    def keeps(self, place: Any, found: Any, discrete: Iterator[Any], i: int) -> bool:
        """Keep a result for later operations; return whether it has the recorded form."""
        if place is None:
            return bool(replay.same(found, next(discrete)))
        if place is True:
            self.numbers[i] = found
            return True
        if type(place) is list:
            parts = list(values(found))
            return len(parts) == len(place) and all([self.keeps(p, x, discrete, i) for p, x in zip(place, parts)])  # noqa: B905
        storage = place if type(place) is int else place.storage
        self.arrays[storage] = from_values(found) if type(found) is np.ndarray else found
        return type(place) is int or np.shape(found) == place.shape


def copied(source: Any, place: Stored) -> Any:
    """A copy whose elements lie in memory as those of the recorded one."""
    orders = (order for order in "CF" if np.empty(place.shape, place.dtype, order).strides == place.strides)
    return source.copy(next(orders, "K")) if place.shape else from_values(source)


def values(structure: Any) -> Any:
    """The parts of a container."""
    return structure.values() if isinstance(structure, dict) else structure
