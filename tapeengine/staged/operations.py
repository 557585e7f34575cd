"""Recordings as operations by name on plain operands, for files, and runs of these operations.

A replay does not check what it does. A file may hold anything, so its operations are run as a program calls them, by
functions that check their arguments; such a run is recorded, and later calls replay this recording.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from importlib import import_module
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from .._core.arrays.array import Array, add_at, from_values, numbers_of, view
from .._core.programs.replay import (
    KINDS,
    MISS,
    NOTES,
    NotReplayable,
    Plan,
    array_notes,
    as_number,
    computed,
    elements,
    parts_of,
    plan_data,
)
from .._core.scalars import spread
from .._core.scalars.discrete import exponent
from .._core.scalars.math import _fma, isfinite, isinf, isnan  # type: ignore[attr-defined]
from .._core.sweeps.trace import value_unseen
from ..errors import StagingError
from ..forms import flatten, holds_traced, is_continuous
from ..primitive.builders import BROADCAST, PRODUCT, SCALE, UNBROADCAST
from ..transforms.contract import Engine
from ..transforms.repeated.rerun import Outcome
from .bodies import ACCESS, CONSTANT, EXACT, FINITE, FIRST_GUARD, HAS_NUMBER, TRUNC

FLOAT, FLOATS, NUMPY, DISCRETE, ARRAY, LIST, TUPLE, DICT = KINDS
CALL = ACCESS + 2
#: The kinds of array operations: those of ``array.pxd``.
MADE, MOVED, CALLED, COMPUTED, MULTIPLIED, SUMMED, COPIED, WRITTEN, POKED, ADDED, RULED, LOOKED = NOTES
#: The engine's own primitives, and functions of Python's numbers, by their names; numpy's have names without a dot.
FUNCTIONS: Mapping[str, Any] = MappingProxyType(
    {primitive.name: primitive for primitive in (SCALE, PRODUCT, UNBROADCAST, BROADCAST)}
    | {
        f"python.{function.__name__}": function
        for function in (
            *(operator.lt, operator.le, operator.eq, operator.ne, operator.gt, operator.ge, round, exponent, _fma),
            *(math.gamma, math.lgamma, math.log, math.hypot, spread.dist, spread.fsum, spread.sumprod),
        )
    }
)
#: The module whose `operation` makes primitives of opcodes.
TABLE = "tapeengine_primitives.opcodes"


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


class Function(NamedTuple):
    """A function, and the plugin that brings it."""

    name: str
    plugin: str = ""


class MissingError(Exception):
    """There is no recording for these arguments."""


# -- from recordings to data -------------------------------------------------------------------------------------------
class Describer:
    """Describes the recordings of an engine."""

    def __init__(self, engine: Engine) -> None:
        self.registry = registry = engine.registry
        self.names = {found.primal: name for name, found in registry.items()}
        self.names |= {found: name for name, found in (*registry.items(), *FUNCTIONS.items())}

    def plan(self, plan: Plan) -> dict[str, Any]:
        """Describe a plan: its arguments, and its paths."""
        data = plan_data(plan)
        if plan.has_arrays and data["changes"]:
            raise NotReplayable("it changes a list, a dict or an object among its arguments")
        known = iter(data["known"])
        paths = [self.path(path, plan.has_arrays and array_notes(of)) for path, of in zip(data["paths"], plan.paths)]
        arguments = []
        for layout in data["primals"]:
            constant = sum(kind == DISCRETE or (kind in (FLOAT, NUMPY) and id == 0) for kind, _, id in layout[0])
            arguments.append(self.structure(layout, [next(known) for _ in range(constant)]))
        return {"arguments": arguments, "shares": plan.shares, "paths": paths}

    def path(self, data: dict[str, Any], arrays: Any) -> dict[str, Any]:
        """Describe a path: its instructions and the objects that they refer to."""
        value = self.structure(data.pop("outputs"), list(data.pop("known")))
        calls = [(self.function(function), operands) for function, operands in data["calls"]]
        notes = [self.note(what) for what, _ in arrays[0]] if arrays else []
        accesses = [(arrays[5][slot], *access) for slot, *access in arrays[6]] if arrays else []
        return {**data, "calls": calls, "notes": notes, "accesses": accesses, "value": value}

    def structure(self, layout: Any, known: list[Any]) -> Any:
        """Lists, tuples and dicts around the places of leaves; `known` are the constant ones, the last one first."""
        steps, aux = layout[0], list(layout[1])
        parts: list[Any] = []
        for kind, n, id in steps:
            if kind == FLOATS:
                parts += [Register(id + k) for k in range(n)]
            elif kind == ARRAY:
                of = aux.pop(0)
                parts.append(Constant(of) if type(of) is np.ndarray else self._stored(of))
            elif kind < LIST:
                cls = aux.pop(0) if kind == NUMPY else float
                if kind == DISCRETE or id == 0:
                    parts.append(Constant(known.pop()))
                elif cls in (float, np.float64):
                    parts.append(Register(id, cls is not float))
                else:
                    raise NotReplayable(f"it takes or returns a {cls.__name__}")
            elif kind > DICT:
                raise NotReplayable(f"it takes or returns a {aux[0][0].__name__}: write lists, tuples and dicts")
            else:
                own = [parts.pop() for _ in range(n)][::-1]
                parts.append(dict(zip(aux.pop(0), own)) if kind == DICT else own if kind == LIST else tuple(own))
        return parts[0]

    def _stored(self, x: Any) -> Any:
        """Describe a view, or the place of a result, which may be a number."""
        if not hasattr(x, "shape"):
            return None
        storage, offset, shape, strides, _, _, is_number, *_ = parts_of(x)
        return Stored(storage, x.dtype.str, offset, shape, strides, is_number)

    def _operand(self, x: Any) -> Any:
        if type(x).__name__ != "Operand":
            return self._stored(x)
        number, constant = parts_of(x)
        return Register(number) if number else constant

    def note(self, what: tuple[Any, ...]) -> tuple[Any, ...]:
        """An operation on arrays: its kind, and what it works on."""
        kind = what[0]
        if kind in (MADE, MOVED):
            return what
        if kind == LOOKED:
            return kind, self.function(what[1]), list(map(self._operand, what[2])), what[3], what[4]
        if kind in (WRITTEN, ADDED):
            return kind, self._operand(what[1]), what[2], self._operand(what[4 if kind == WRITTEN else 3])
        _, made, divisor, axis = parts_of(what[-1])
        places = list(map(self._stored, made))
        options: Any = {}
        function, operands, discrete = what[1], [x for x in what[2:-1] if x is not None], []
        if kind == CALLED:
            _, function, operands, options, discrete, _ = what
        elif kind == MULTIPLIED:
            function, operands = np.dot, what[1]
        elif kind == SUMMED:
            function, operands, options = np.sum if divisor == 1.0 else np.mean, [what[1]], {"axis": axis}
        elif kind == COPIED:
            return kind, self._operand(what[1]), what[2], places
        elif kind == RULED:
            if not hasattr(function.again, "tasks"):
                raise NotReplayable(f"it calls {function.name}, whose derivative is Python code")
            tasks, options = [self.plan(task.plan) for task in function.again.tasks], list(function.again.fork.places)
            return kind, tasks, list(map(self._operand, what[2])), options, what[4], places
        kind = COMPUTED if kind == COMPUTED else CALLED
        return kind, self.function(function), list(map(self._operand, operands)), options, discrete, places

    def function(self, function: Any) -> Function:
        """The name of a function."""
        name = getattr(function, "__name__", "") or getattr(function, "name", repr(function))
        if getattr(np, name, None) is function:
            return Function(name)
        known = self.names.get(function, "")
        if not known and getattr(getattr(function, "primal", None), "__module__", "") != TABLE:
            raise NotReplayable(f"it calls {name}, which is no primitive of a plugin and no function of numpy")
        return Function(known or name, str(self.registry.origin(known)) if known in self.registry else "")


# -- from data to runs -------------------------------------------------------------------------------------------------
def function_of(engine: Engine, of: Function, path: Any) -> Any:
    """The function of a name, if it is one that recordings call."""
    source, _, name = of.name.rpartition(".")
    found = FUNCTIONS.get(of.name) or engine.registry.get(of.name)
    if found is None and source == "tapeengine":
        return import_module(TABLE).operation(name)
    if found is None and not source:
        found = getattr(np, name)
        found = numbers_of if found is np.asarray else found
        is_called = isinstance(found, np.ufunc) or found is numbers_of or found in engine.registry.numpy_rules
        found = found if is_called else None
    if found is None:
        raise StagingError(
            f"{path} needs the primitive {of.name} of {of.plugin or 'no plugin'}, which is not installed"
        )
    return found


class Line:
    """A path: its instructions, and what they refer to."""

    def __init__(self, engine: Engine, data: dict[str, Any], path: Any) -> None:
        self.op = np.frombuffer(data["op"], np.uint8).tolist()
        self.operands = np.frombuffer(data["operands"], np.uint32).reshape(-1, 2).tolist()
        self.constants = np.frombuffer(data["constants"]).tolist()
        self.first, self.accesses, self.value = data["first"], data["accesses"], data["value"]
        self.example = data["example"]
        self.forks, self.notes = dict(data["forks"]), []
        for kind, what, *more in data["notes"]:
            if kind == RULED:
                what = [Operations(engine, task, path).run for task in what]
            if kind in (CALLED, COMPUTED, LOOKED):
                what = function_of(engine, what, path)
            self.notes.append((kind, what, *more))
        calls = [(function_of(engine, function, path), operands) for function, operands in data["calls"]]
        self.calls = {b: calls[a] for op, (a, b) in zip(self.op, self.operands, strict=True) if op == CALL}


class Operations:
    """The paths of a recording in a file."""

    def __init__(self, engine: Engine, data: dict[str, Any], path: Any) -> None:
        self.engine, self.path, self.arguments, self.shares = engine, path, data["arguments"], data["shares"]
        self.lines = [Line(engine, each, path) for each in data["paths"]]

    def examples(self) -> Iterator[list[Any]]:
        """Arguments that take the paths, one after the other, if they are known."""
        for line in self.lines:
            if line.example is not None:
                run = Run(self.engine)
                run.numbers |= enumerate(np.frombuffer(line.example).tolist(), 1)
                yield list(map(run.filled, self.arguments))

    def run(self, *primals: Any) -> Any:
        """The value at arguments, by the operations on the path that they take; a `MissingError` if there is none."""
        try:
            if not holds_traced(self.engine.structures, primals):
                return self.engine.vjp(self._traced, *primals)[0]
            return self._traced(*primals)
        except (AttributeError, LookupError, MemoryError, TypeError) as error:
            raise StagingError(f"{self.path} holds a recording that cannot be run: {error}") from error

    def _traced(self, *primals: Any) -> Any:
        run, line = Run(self.engine), self.lines[0]
        if len(primals) != len(self.arguments) or not all(map(run.takes, self.arguments, primals)):
            raise MissingError
        i = line.first
        while i < line.first + len(line.op):
            if not run.step(line, i):
                others = map(self.lines.__getitem__, line.forks.get(i, ()))
                line = next((other for other in others if run.step(other, i)), None)  # type: ignore[assignment]
                if line is None:
                    raise MissingError
            i += 1
        return run.filled(line.value)


class Run:
    """The numbers and arrays of one run."""

    def __init__(self, engine: Any) -> None:
        self.engine = engine
        self.numbers: dict[int, Any] = {0: 0.0}
        self.arrays: dict[int, Any] = {}

    def _same(self, x: Any, y: Any) -> bool:
        return type(x) is type(y) and not Outcome(self.engine.structures, x).difference(y)

    def takes(self, place: Any, x: Any) -> bool:
        """Read an argument; return whether it has the form of the recorded one."""
        kind = type(place)
        if kind is Register:
            self.numbers[place.number] = x
            return type(x) is not Array and type(value_unseen(x)) is (np.float64 if place.is_numpy else float)
        if kind is Constant:
            return self._same(x, place.value)
        if kind is Stored:
            self.arrays[place.storage] = found = from_values(x) if type(x) is np.ndarray else x
            fits = type(found) is Array and (found.dtype.str, found.shape) == (place.dtype, place.shape)
            steps = zip(place.shape, place.strides, found.strides, strict=True) if fits else ()
            return fits and all(n < 2 or p == q for n, p, q in steps)
        same: bool = type(x) is kind and len(x) == len(place) and (kind is not dict or list(x) == list(place))
        return same and all(map(self.takes, values(place), values(x)))

    def filled(self, place: Any) -> Any:
        """A structure with the leaves of this run."""
        if type(place) is Register:
            return as_number(self.numbers[place.number], place.is_numpy)
        if type(place) is Constant:
            return place.value.copy("K") if type(place.value) is np.ndarray else place.value
        if type(place) is Stored:
            return self._operand(place)
        parts = map(self.filled, values(place))
        return dict(zip(place, parts, strict=True)) if type(place) is dict else type(place)(parts)

    def _operand(self, x: Any) -> Any:
        if type(x) is Register:
            return self.numbers[x.number]
        if type(x) is not Stored:
            return x
        found = self.arrays[x.storage]
        is_whole = type(found) is not Array or (found.shape == () == x.shape and found.dtype == x.dtype)
        return found if is_whole else view(elements(found), partial(part, x))

    def step(self, line: Line, i: int) -> Any:
        """Do an instruction; return whether the arguments take this path."""
        op, (a, b) = line.op[i - line.first], line.operands[i - line.first]
        numbers = self.numbers
        if op < CONSTANT:
            function, operands = line.calls.get(i, (None, ()))
            given = [numbers[number] if number else constant for number, constant in operands]
            numbers[i] = found = computed(op, numbers[a], numbers[b], function, given)
            return found is not MISS
        if op == CONSTANT:
            numbers[i] = line.constants[a]
        elif op < ACCESS:
            return self.holds(op, numbers[a], line.constants[b] if HAS_NUMBER[op] else numbers[b])
        elif op == ACCESS:
            storage, writes, element, number = line.accesses[a]
            found = self.arrays[storage]
            if writes:
                elements(found)[element] = numbers[number]
            else:
                numbers[i] = elements(found)[element] if type(found) is Array else found
        elif op < CALL:
            return self.note(i, *line.notes[a])
        return True

    def holds(self, op: int, x: Any, y: Any) -> bool:
        """Whether a guard has the recorded outcome."""
        if op < TRUNC:
            k = op - FIRST_GUARD
            return bool((operator.lt, operator.le, operator.eq)[k // 2](x, y)) != bool(k % 2)
        if op >= FINITE:
            return bool((isfinite, isinf, isnan)[op - FINITE](x))
        if op == EXACT:
            return self._same(float(numbers_of(x)), y)
        try:
            return bool(float((math.trunc, math.floor, math.ceil, round)[op - TRUNC](x)) == y)
        except (ValueError, OverflowError):
            return False

    def note(self, i: int, kind: int, what: Any, *more: Any) -> Any:
        """Do an operation on arrays; return whether it has the recorded form and outcome."""
        if kind == MADE:
            self.arrays[what] = from_values(more[0])
        elif kind == WRITTEN:
            self._operand(what)[more[0]] = self._operand(more[1])
        elif kind == ADDED:
            add_at(self._operand(what), more[0], self._operand(more[1]))
        elif kind == COPIED:
            source, (index, places) = self._operand(what), more
            return self.keeps(copied(source, places[0]) if index is None else source[index], places, [], i)
        elif kind != MOVED:
            operands, options = [self._operand(x) for x in more[0]], more[1]
            if kind == RULED:
                own = [[operands[k] for k in places] for places in options]
                found = self.engine.fork(*map(partial, what, own))
            elif kind == COMPUTED and isinstance(what, np.ufunc):  # by the kernel, as an operator does it
                array: Any = next((x for x in operands if type(x) is Array), None)
                found = array.__array_ufunc__(what, "__call__", *operands)
            else:
                found = what(*operands, **options)
            return self._same(found, more[-1]) if kind == LOOKED else self.keeps(found, more[-1], more[-2], i)
        return True

    def keeps(self, result: Any, places: Any, discrete: Any, i: int) -> bool:
        """Keep a result for later operations."""
        found = flatten(self.engine.structures, result)[0]
        for place, leaf in zip(places, found, strict=True):
            if not is_continuous(leaf):
                continue
            if place is None:
                self.numbers[i] = leaf
            else:
                self.arrays[place.storage] = from_values(leaf) if type(leaf) is np.ndarray else leaf
                if np.size(leaf) != math.prod(place.shape) or np.asarray(value_unseen(leaf)).dtype.str != place.dtype:
                    return False  # the eigenvalues of another matrix may be complex
        return self._same([leaf for leaf in found if not is_continuous(leaf)], discrete)


def part(place: Stored, x: Any) -> Any:
    """A view of an array; numpy checks that it lies within."""
    dtype = np.dtype(place.dtype)
    if dtype.kind not in "fc" or any(k % dtype.itemsize for k in (place.offset, *place.strides)):
        raise TypeError(f"an array has no part of dtype {dtype}")
    if type(x) is Array:  # of an enclosing trace
        return view(x, partial(part, place))
    return np.ndarray(place.shape, dtype, x.view("u1"), place.offset, place.strides)


def copied(source: Any, place: Stored) -> Any:
    """A copy whose elements lie in memory as those of the recorded one."""
    if place.is_number:
        return source[()]
    orders = (k for k in ("C", "F") if np.empty(place.shape, place.dtype, k).strides == place.strides)
    return source.copy(next(orders, "K"))


def values(structure: Any) -> Any:
    """The parts of a container."""
    return structure.values() if isinstance(structure, dict) else structure


def kept(name: str, path: Any, recordings: list[Operations]) -> Callable[..., Any]:
    """Stands for the program, which is not in the file."""

    def program(*primals: Any, **keywords: Any) -> Any:
        for recording in recordings if not keywords else ():
            try:
                return recording.run(*primals)
            except MissingError:
                pass
        raise StagingError(
            f"{path} holds no recording of {name} for these arguments, or for the path that they take through its "
            "branches. Record it before saving, or pass the program: te.load_staged(path, program)"
        )

    program.__name__ = name
    return program
