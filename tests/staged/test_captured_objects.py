"""The content of captured objects of any class is compared at each call, so a replay never uses an older value."""

from __future__ import annotations

import array
import collections
import configparser
import contextvars
import ctypes
import functools
import io
import threading
import types
import warnings
from typing import Any

import numpy as np
import pytest

import tapeengine as te


class Slots:
    __slots__ = ("k",)


class Inherited(Slots):
    pass


class Reduced:
    def __reduce__(self) -> Any:
        return Reduced, ()


class Deleted:
    def __del__(self) -> None:
        pass


class Mapping(dict[str, float]):
    pass


class Items(list[float]):
    pass


BY_NAME = (Slots, Inherited, Reduced, Deleted, types.SimpleNamespace)
BY_KEY: tuple[Any, ...] = (dict, Mapping, collections.OrderedDict, lambda: collections.defaultdict(float))
BY_INDEX = (list, Items, collections.deque)


def agree(program: Any, change: Any) -> None:
    staged = te.stage(program)
    for value in (2.0, 2.0, 5.0, -1.0, 5.0):
        change(value)
        assert staged(3.0) == 3.0 * value
        assert te.grad(staged)(3.0) == value


@pytest.mark.parametrize("make", BY_NAME)
def test_attributes(make: Any) -> None:
    held = make()
    agree(lambda x: held.k * x, lambda value: setattr(held, "k", value))


@pytest.mark.parametrize("make", BY_KEY)
def test_keys(make: Any) -> None:
    held = make()
    agree(lambda x: held["k"] * x, lambda value: held.__setitem__("k", value))


@pytest.mark.parametrize("make", BY_INDEX)
def test_elements(make: Any) -> None:
    held = make([0.0])
    agree(lambda x: held[0] * x, lambda value: held.__setitem__(0, value))


def test_every_change_of_a_namespace_is_seen() -> None:
    """Also of a name that comes before a built-in one, of one that is taken away, and after changes of other names."""
    space: dict[str, Any] = {"factor": 2.0, "other": 0}
    exec("def f(x):\n    return abs(x) * factor", space)
    staged = te.stage(space["f"])
    changes: list[tuple[str, Any]] = [
        *(("other", 1), ("factor", 3.0), ("abs", lambda x: x * x), ("other", 2), ("factor", 2.0), ("abs", None)),
        *(("unknown", 1), ("factor", 5.0), ("factor", 5.0)),
    ]
    for name, value in changes:
        if value is None:
            del space[name]
        else:
            space[name] = value
        for x in (-1.5, 2.0, -1.5):
            wanted, back = te.vjp(space["f"], x)
            found, found_back = te.vjp(staged, x)
            assert (staged(x), found, found_back(1.0)) == (wanted, wanted, back(1.0))
    assert staged.stats().replays > 2 * len(changes)


def test_attributes_of_functions() -> None:
    def rate(x: Any) -> Any:
        return getattr(rate, "scale", 1.0) * x

    staged = te.stage(lambda x: rate(x))
    bare = te.stage(rate)
    for change in ({}, {"scale": 2.0}, {"scale": 3.0}, {"other": 1.0, "scale": 3.0}, {}):
        rate.__dict__.clear()
        for name, value in change.items():
            setattr(rate, name, value)
        for _ in range(2):
            assert staged(2.0) == bare(2.0) == rate(2.0)
            assert te.grad(staged)(2.0) == te.grad(bare)(2.0) == change.get("scale", 1.0)


@pytest.mark.parametrize("dtype", ["f8", ">f8", "f4", "i2", "?", "c16", "U3", "U0", "M8[s]", "i4,f8", "O"])
@pytest.mark.parametrize("layout", ["rows", "columns", "strided", "reversed", "one", "none"])
def test_arrays_of_every_layout(dtype: str, layout: str) -> None:
    whole = np.zeros((3, 4), dtype)
    arrays = {"columns": whole.T, "strided": whole[:, ::2], "reversed": whole[::-1], "one": whole[0, 0, ...]}
    array = arrays.get(layout, whole[:0] if layout == "none" else whole)

    def program(x: float) -> float:
        return x * len(repr(array))

    staged = te.stage(program)
    expected = 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for change in (False, False, True, False):
            if change and array.size:
                before = array.copy()
                array[(-1,) * array.ndim] = (1, 2.0) if dtype == "i4,f8" else 1
                expected = 1 + (before.tobytes() != array.tobytes())
            assert staged(2.0) == program(2.0)
    assert staged.refused is not None or dtype == "O" or staged.stats().recordings == expected


class Structure(ctypes.Structure):
    _fields_ = (("k", ctypes.c_double),)


def cached(held: list[float]) -> tuple[Any, Any]:
    @functools.cache
    def f(n: int) -> float:
        return held[n]

    def change(value: float) -> None:
        held[0] = value
        f.cache_clear()

    return lambda x: f(0) * x, change


def of_text(held: io.StringIO) -> tuple[Any, Any]:
    def change(value: float) -> None:
        held.seek(0)
        held.write(repr(value))

    return lambda x: float(held.getvalue()) * x, change


def of_keys(held: dict[float, None]) -> tuple[Any, Any]:
    keys = held.keys()

    def change(value: float) -> None:
        held.clear()
        held[value] = None

    return lambda x: max(keys) * x, change


def by_key(held: Any, below: Any, key: Any = "k") -> tuple[Any, Any]:
    """A program that reads an entry of an object, which is written through another one."""
    return lambda x: held[key] * x, lambda value: below.__setitem__(key, value)


def reading(read: Any, change: Any) -> tuple[Any, Any]:
    return lambda x: read() * x, change


NUMBERS, ENTRIES, BYTES = [0.0], {"k": 0.0}, array.array("d", [0.0])
ARRAY, RECORD = np.zeros(1), np.zeros(1, [("k", float)])[0]
LOCAL, NUMBER, STRUCTURE, VARIABLE = (
    threading.local(),
    ctypes.c_double(),
    Structure(),
    contextvars.ContextVar[float]("k"),
)
PARSER = configparser.ConfigParser()
PARSER["a"] = {"k": "0.0"}
STATES: dict[str, tuple[Any, Any]] = {
    "array": by_key(BYTES, BYTES, 0),
    "memoryview": by_key(memoryview(BYTES), BYTES, 0),
    "ctypes number": (lambda x: NUMBER.value * x, lambda value: setattr(NUMBER, "value", value)),
    "ctypes structure": (lambda x: STRUCTURE.k * x, lambda value: setattr(STRUCTURE, "k", value)),
    "ctypes array": (lambda held: by_key(held, held, 0))((ctypes.c_double * 2)()),
    "record": by_key(RECORD, RECORD),
    "thread's data": (lambda x: LOCAL.k * x, lambda value: setattr(LOCAL, "k", value)),
    "context": (lambda x: VARIABLE.get() * x, VARIABLE.set),
    "chain": by_key(collections.ChainMap({}, ENTRIES), ENTRIES),
    "read only": by_key(types.MappingProxyType(ENTRIES), ENTRIES),
    "user's list": (lambda held: by_key(held, held, 0))(collections.UserList([0.0])),
    "user's dict": (lambda held: by_key(held, held))(collections.UserDict(k=0.0)),
    "user's dict of lists": (lambda held: (lambda x: held["k"][0] * x, lambda value: held["k"].__setitem__(0, value)))(
        collections.UserDict(k=[0.0])
    ),
    "counter": (lambda held: by_key(held, held))(collections.Counter[str]()),
    "keys": of_keys({}),
    "values": (lambda held: (lambda x: max(held) * x, lambda value: ENTRIES.__setitem__("k", value)))(ENTRIES.values()),
    "parser": (lambda x: float(PARSER["a"]["k"]) * x, lambda value: PARSER["a"].__setitem__("k", repr(value))),
    "cache": cached([0.0]),
    "text": of_text(io.StringIO()),
    "bound to a list": reading(functools.partial(NUMBERS.__getitem__, 0), lambda value: NUMBERS.__setitem__(0, value)),
    "bound to a dict": reading(functools.partial(ENTRIES.get, "k"), lambda value: ENTRIES.__setitem__("k", value)),
    "bound to an array": reading(ARRAY.item, lambda value: ARRAY.__setitem__(0, value)),
}


@pytest.mark.filterwarnings("ignore::tapeengine.errors.StagingWarning")
@pytest.mark.parametrize("name", STATES)
def test_states_that_objects_keep_to_themselves(name: str) -> None:
    agree(*STATES[name])


def product(x: float, c: float = 2.0, *, k: float = 1.0) -> float:
    return x * c * k


def test_defaults_and_code_of_a_program_may_be_replaced() -> None:
    def program(x: float, c: float = 2.0, *, k: float = 1.0) -> float:
        return x * c * k

    def twice(x: float, c: float = 2.0, *, k: float = 1.0) -> float:
        return 2.0 * x * c * k

    for captured in (False, True):
        staged = te.stage((lambda x: program(x)) if captured else program)
        for defaults, named, code in (
            ((2.0,), {"k": 1.0}, product.__code__),
            ((3.0,), {"k": 1.0}, product.__code__),
            ((3.0,), {"k": 5.0}, product.__code__),
            ((3.0,), {"k": 5.0}, twice.__code__),
        ):
            program.__defaults__, program.__kwdefaults__, program.__code__ = defaults, named, code
            for _ in range(2):
                assert te.grad(staged)(1.0) == te.grad(program)(1.0)


def test_a_variable_that_gets_its_value_later() -> None:
    def made() -> tuple[Any, Any]:
        def program(x: float) -> float:
            try:
                return x * c
            except NameError:
                return x

        def bind(value: float) -> None:
            nonlocal c
            c = value

        if not made:
            c = 0.0
        return program, bind

    program, bind = made()
    staged = te.stage(program)
    assert [te.grad(staged)(2.0) for _ in range(2)] == [1.0, 1.0]
    bind(7.0)
    assert [te.grad(staged)(2.0) for _ in range(2)] == [7.0, 7.0]


def test_names_that_hide_functions_later() -> None:
    names: dict[str, Any] = {"sin": te.math.sin, "cos": te.math.cos}
    exec("def largest(x):\n    return x * max(x, 2.0)\ndef wave(x):\n    return sin(x)", names)
    largest, wave = te.stage(names["largest"]), te.stage(names["wave"])
    assert [te.grad(largest)(1.0), te.grad(largest)(1.0), te.grad(wave)(0.0), te.grad(wave)(0.0)] == [
        2.0,
        2.0,
        1.0,
        1.0,
    ]
    names["max"], names["sin"] = min, names["cos"]
    assert [te.grad(largest)(1.0), te.grad(wave)(0.0)] == [2.0, 0.0]
    del names["max"]
    assert te.grad(largest)(1.0) == 2.0


def test_keywords_of_a_partial_function_change_in_place() -> None:
    partial = functools.partial(lambda x, a=1.0: x * a, a=2.0)
    for captured in (False, True):
        staged = te.stage((lambda x: partial(x)) if captured else partial)
        for value in (2.0, 2.0, 5.0, -1.0):
            partial.keywords["a"] = value
            assert staged(3.0) == 3.0 * value


def test_objects_that_compute_their_attributes_are_not_asked_for_others() -> None:
    class Table:
        def __getattr__(self, name: str) -> float:
            return {"a": 2.0}[name]

    table = Table()
    staged = te.stage(lambda x: x * table.a)
    assert [te.grad(staged)(1.0) for _ in range(3)] == [2.0, 2.0, 2.0]


def test_an_event_is_compared() -> None:
    stop = threading.Event()
    staged = te.stage(lambda x: x * x if stop.is_set() else 3.0 * x)
    for change, slope in ((stop.clear, 3.0), (stop.set, 4.0), (stop.clear, 3.0)):
        change()
        assert [te.grad(staged)(2.0) for _ in range(3)] == [slope] * 3
    assert staged.refused is None and staged.stats().replays > 0


def test_a_program_that_sets_an_event_runs_each_time() -> None:
    done = threading.Event()

    def program(x: float) -> float:
        done.set()
        return x * x

    staged = te.stage(program)
    with pytest.warns(te.errors.StagingWarning, match="writes into what it captures"):
        assert staged(2.0) == 4.0 and staged.refused
    done.clear()
    assert staged(3.0) == 9.0 and done.is_set()
