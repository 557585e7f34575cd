"""Structures as primals and results: every kind of container, at any depth and size, and shared substructures."""

import array
import collections
import contextvars
import csv
import dataclasses
import datetime
import decimal
import enum
import fractions
import functools
import gc
import hashlib
import io
import itertools
import operator
import random
import re
import struct
import sys
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from types import FunctionType, SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest

import tapeengine
from tapeengine._core.structures.interleave import Fields
from tapeengine.errors import CotangentError, StructureError, TapeEngineError
from tapeengine.structure import Container, Structures, check_fields, is_made_by_python, of_object, reads_by_code


class Point(NamedTuple):
    x: Any
    y: Any


@dataclass
class Cell:
    head: Any
    tail: Any


@dataclass(frozen=True)
class Frozen:
    a: Any
    b: Any = 2.0


@dataclass(slots=True)
class Slotted:
    a: Any


@dataclass
class Checked:
    """A class whose constructor has effects that a cotangent must not repeat."""

    a: Any
    b: Any = field(init=False)

    def __post_init__(self) -> None:
        if self.a < 0:
            raise ValueError("negative")
        self.b = self.a * 2


class Colour(enum.Enum):
    RED = 1


STRUCTURES = [
    1.5,
    (1.5, 2.5),
    [1.5, [2.5, (3.5,)], []],
    {"b": 1.5, "a": [2.5], 3: {}},
    Point(1.5, (2.5, 3.5)),
    Cell(1.5, Cell(2.5, None)),
    Frozen(1.5, [2.5]),
    Slotted({"k": 1.5}),
    Checked(1.5),
    collections.OrderedDict(z=1.5, a=2.5),
    collections.deque([1.5, (2.5,)]),
    SimpleNamespace(u=1.5, v=[2.5]),
    (),
    [],
    {},
    [(), [], {}, [[]]],
]


@pytest.mark.parametrize("structure", STRUCTURES, ids=repr)
def test_a_structure_comes_back_as_it_was(core: Any, structure: Any) -> None:
    value, backpropagator = core.vjp(lambda s: s, structure)
    assert value == structure
    assert type(value) is type(structure)
    (cotangent,) = backpropagator(value)
    assert cotangent == structure
    assert type(cotangent) is type(structure)


def test_a_defaultdict_keeps_its_factory(core: Any) -> None:
    given = collections.defaultdict(list, a=1.5)
    value, backpropagator = core.vjp(lambda d: d, given)
    (cotangent,) = backpropagator(value)
    assert value == cotangent == given
    assert cotangent.default_factory is list


@pytest.mark.parametrize("limit", [None, 2, 5])
def test_a_deque_keeps_its_limit(core: Any, limit: int | None) -> None:
    given = collections.deque([1.5, 2.5], limit)
    value, backpropagator = core.vjp(lambda d: d, given)
    (cotangent,) = backpropagator(value)
    assert value == cotangent == given
    assert value.maxlen == cotangent.maxlen == limit


DISCRETE = [3, True, "text", b"bytes", None, 2 + 3, Colour.RED, fractions.Fraction(1, 2), np.int64(3), np.bool_(True)]
DISCRETE += [
    len,
    print,
    functools.partial(max, 1),
    range(3),
    ...,
    slice(1, 2),
    float,
    re.compile("a"),
    datetime.date(2020, 1, 2),
    STRUCTURES,
]


@pytest.mark.parametrize("leaf", DISCRETE[:-1], ids=repr)
def test_a_discrete_leaf_passes_through_untouched(core: Any, leaf: Any) -> None:
    seen: list[Any] = []

    def program(pair: Any) -> Any:
        seen.append(pair[1])
        return pair[0] * 2.0, pair[1]

    value, backpropagator = core.vjp(program, (1.5, leaf))
    assert seen[0] is leaf
    assert value[1] is leaf
    assert backpropagator((1.0, None)) == ((2.0, None),)
    assert backpropagator((1.0, leaf)) == ((2.0, None),)


def test_numpy_scalars_keep_their_class(core: Any) -> None:
    for cls in (np.float64, np.float32):
        _, backpropagator = core.vjp(lambda x: x * 2, cls(1.5))
        (cotangent,) = backpropagator(1.0)
        assert type(cotangent) is cls
        assert cotangent == 2.0


def test_any_order_of_keys_in_the_cotangent(core: Any) -> None:
    _, backpropagator = core.vjp(lambda x, y: {"a": x * 2, "b": y * 3}, 1.0, 1.0)
    assert backpropagator({"b": 1.0, "a": 10.0}) == (20.0, 3.0)


def test_the_cotangents_keys_come_in_the_primals_order(core: Any) -> None:
    cotangent = core.grad(lambda d: d["a"] * d["b"])({"b": 2.0, "a": 3.0})
    assert list(cotangent.items()) == [("b", 3.0), ("a", 2.0)]


def test_lists_and_tuples_are_alike_in_a_cotangent(core: Any) -> None:
    _, backpropagator = core.vjp(lambda x: [x, (x, x)], 1.0)
    assert backpropagator([1.0, (2.0, 3.0)]) == backpropagator((1.0, [2.0, 3.0])) == (6.0,)


def test_shared_substructure_is_counted_once_for_each_place(core: Any) -> None:
    """A list in two places is two lists of primals: each place has its own cotangent."""
    shared = [1.0, 2.0]
    gradient = core.grad(lambda p: p[0][0] * 3 + p[1][0] * 5 + p[1][1])((shared, shared))
    assert gradient == ([3.0, 0.0], [5.0, 1.0])
    assert gradient[0] is not gradient[1]


def test_the_primals_are_not_changed(core: Any) -> None:
    primal = {"a": [1.0, 2.0], "b": Cell(3.0, None)}

    def program(d: Any) -> Any:
        d["a"].append(d["b"].head)
        d["b"].head = 0.0
        return sum(d["a"])

    value, backpropagator = core.vjp(program, primal)
    assert value == 6.0
    assert primal == {"a": [1.0, 2.0], "b": Cell(3.0, None)}
    assert backpropagator(1.0) == ({"a": [1.0, 1.0], "b": Cell(1.0, None)},)


def test_one_dual_in_several_places_of_the_result(core: Any) -> None:
    def program(x: Any) -> Any:
        y = x * 2.0
        return y, [y, {"k": y}], x, x

    _, backpropagator = core.vjp(program, 3.0)
    assert backpropagator((1.0, [10.0, {"k": 100.0}], 0.5, 0.25)) == (222.75,)


def test_results_that_depend_on_nothing(core: Any) -> None:
    value, backpropagator = core.vjp(lambda x: (7.0, "a", [np.float64(2.0)], x), 1.0)
    assert value == (7.0, "a", [2.0], 1.0)
    assert backpropagator((5.0, None, [3.0], 2.0)) == (2.0,)
    assert core.vjp(lambda x: 4.0, 1.0)[1](1.0) == (0.0,)


def test_a_program_without_primals(core: Any) -> None:
    value, backpropagator = core.vjp(lambda: 4.0)
    assert (value, backpropagator(1.0)) == (4.0, ())


def test_a_dataclass_with_a_post_init(core: Any) -> None:
    gradient = core.grad(lambda c: c.a * c.b)(Checked(3.0))
    assert (gradient.a, gradient.b) == (6.0, 3.0)
    assert core.grad(lambda c: -c.a * c.b)(Checked(3.0)).a == -6.0


def test_a_dataclass_with_further_attributes(core: Any) -> None:
    cell = Cell(2.0, None)
    cell.note = "kept"  # type: ignore[attr-defined]
    value, backpropagator = core.vjp(lambda c: c, cell)
    assert value.note == "kept"
    assert backpropagator(value)[0].head == 2.0


def test_a_list_of_a_million(core: Any) -> None:
    n = 1_000_000 if core.name == "compiled" else 20_000
    xs = [float(i) for i in range(n)]
    gradient = core.grad(lambda ys: ys[0] * ys[-1] + ys[n // 2])(xs)
    assert (gradient[0], gradient[-1], gradient[n // 2], gradient[1]) == (n - 1.0, 0.0, 1.0, 0.0)
    assert len(gradient) == n


@pytest.mark.parametrize("kind", ["tuple", "list", "dict", "dataclass"])
def test_a_linked_list_of_a_hundred_thousand(core: Any, kind: str) -> None:
    make, parts = {
        "tuple": (lambda head, tail: (head, tail), lambda cell: cell),
        "list": (lambda head, tail: [head, tail], lambda cell: cell),
        "dict": (lambda head, tail: {"head": head, "tail": tail}, lambda cell: cell.values()),
        "dataclass": (Cell, lambda cell: (cell.head, cell.tail)),
    }[kind]
    n = 100_000 if core.name == "compiled" else 20_000
    chain: Any = None
    for i in range(n):
        chain = make(float(i), chain)

    def program(cell: Any) -> Any:
        total, rebuilt = 0.0, None
        while cell is not None:
            head, cell = parts(cell)
            total = total + head * head
            rebuilt = make(head * 3.0, rebuilt)
        return total, rebuilt

    value, backpropagator = core.vjp(program, chain)
    (cotangent,) = backpropagator((1.0, value[1]))
    seen = []
    while cotangent is not None:
        head, cotangent = parts(cotangent)
        seen.append(head)
    assert value[0] == sum(float(i) ** 2 for i in reversed(range(n)))
    assert seen == [11.0 * i for i in reversed(range(n))]
    unravel(value[1], parts)
    unravel(chain, parts)


def unravel(cell: Any, parts: Any) -> None:
    """Take a deep structure apart from its root, so that freeing it does not recurse."""
    while cell is not None:
        _, rest = parts(cell)
        if isinstance(cell, (list, dict)):
            cell.clear()
        cell = rest


def test_a_deep_tree_of_dataclasses(core: Any) -> None:
    @dataclass
    class Tree:
        left: Any
        weight: Any
        right: Any

    n = 100_000 if core.name == "compiled" else 20_000
    tree: Any = None
    for i in range(n):
        tree = Tree(tree, 1.0 + i % 3, None) if i % 2 else Tree(None, 1.0 + i % 3, tree)

    def program(t: Any) -> Any:
        total = 0.0
        while t is not None:
            total = total * 0.5 + t.weight
            t = t.left if t.left is not None else t.right
        return total

    gradient = core.grad(program)(tree)
    weights = []
    t = gradient
    while t is not None:
        weights.append(t.weight)
        t = t.left if t.left is not None else t.right
    assert len(weights) == n
    assert weights[-1] == 1.0
    assert weights[-2] == 0.5
    assert weights[0] == 0.0 or weights[0] == 0.5 ** (n - 1)


def test_a_cycle_is_refused(core: Any) -> None:
    loop: list[Any] = [1.0]
    loop.append(loop)
    with pytest.raises(StructureError, match="contains itself"):
        core.vjp(lambda x: x[0], loop)
    with pytest.raises(StructureError, match="contains itself"):
        core.vjp(lambda x: loop, 1.0)


class Opaque:
    pass


def test_an_unsupported_leaf_is_named_with_its_place(core: Any) -> None:
    with pytest.raises(StructureError, match=r"primals\[1\]\['k'\]\[0\] is a .*Opaque"):
        core.vjp(lambda x, y: x, 1.0, {"k": [Opaque()]})
    with pytest.raises(StructureError, match=r"value\.tail\[2\] is a .*Opaque"):
        core.vjp(lambda x: Cell(x, (1.0, 2.0, Opaque())), 1.0)
    with pytest.raises(TapeEngineError):
        core.vjp(lambda x: Opaque(), 1.0)


def test_sets_and_iterators_are_refused(core: Any) -> None:
    for wrong in ({1.0}, iter([1.0]), (x for x in [1.0]), bytearray(b"a")):
        with pytest.raises(StructureError, match="cannot take apart"):
            core.vjp(lambda x: x, wrong)


def test_fields_are_all_there(core: Any) -> None:
    gradient = core.grad(lambda f: f.a * f.b)(Frozen(3.0))
    assert dataclasses.asdict(gradient) == {"a": 2.0, "b": 3.0}


class Interval:
    """A class that the engine knows from a plugin."""

    def __init__(self, low: Any, high: Any, note: str = "") -> None:
        self.low, self.high, self.note = low, high, note


INTERVAL = Container(
    lambda interval: ([interval.low, interval.high], interval.note),
    lambda note, ends: Interval(*ends, note),
    lambda note: [".low", ".high"],
)


def never(*_: Any) -> Any:
    raise AssertionError("the core reads and makes the fields itself")


def test_a_dataclass_costs_no_call_of_python() -> None:
    fields = Fields(Cell, ("head", "tail"))

    class Plugin:
        @tapeengine.hookimpl
        def tapeengine_structures(self) -> dict[type, Container]:
            return {Cell: Container(never, never, never, fields)}

    cell = Cell(2.0, Cell(3.0, None))
    value, backpropagator = tapeengine.Engine(plugins=[Plugin()]).vjp(lambda c: Cell(c.head * c.tail.head, None), cell)
    assert value == Cell(6.0, None)
    assert backpropagator(Cell(1.0, None)) == (Cell(3.0, Cell(2.0, None)),)


def test_other_attributes_of_a_dataclass_come_along_each_with_its_object() -> None:
    first, second = Cell(2.0, None), Cell(3.0, None)
    first.note, second.note = "one", "two"  # type: ignore[attr-defined]
    seen = []

    def program(cells: list[Cell]) -> Any:
        seen.extend(vars(c).get("note") for c in cells)
        return cells[0].head * cells[1].head

    _, backpropagator = tapeengine.vjp(program, [first, second, Cell(1.0, None)])
    (found,) = backpropagator(1.0)
    assert seen == [vars(c).get("note") for c in found] == ["one", "two", None]


class Plugin:
    @tapeengine.hookimpl
    def tapeengine_structures(self) -> dict[type, Container]:
        return {Interval: INTERVAL}


def vjp_with_intervals(core: Any) -> Any:
    if core.name == "compiled":
        return tapeengine.Engine(plugins=[Plugin()]).vjp
    return functools.partial(core.vjp, structures=Structures({Interval: INTERVAL}))


def test_a_registered_class_is_a_container(core: Any) -> None:
    vjp = vjp_with_intervals(core)
    value, backpropagator = vjp(lambda i: Interval(i.low * i.high, i.low, i.note + "!"), Interval(2.0, 3.0, "kept"))
    assert (value.low, value.high, value.note) == (6.0, 2.0, "kept!")
    (cotangent,) = backpropagator(Interval(1.0, 10.0, "kept!"))
    assert (type(cotangent), cotangent.low, cotangent.high, cotangent.note) == (Interval, 13.0, 2.0, "kept")
    with pytest.raises(CotangentError, match=r"cotangent\.high must be a number, not str"):
        backpropagator(Interval(1.0, "a"))
    with pytest.raises(StructureError, match=r"primals\[0\]\.low is a"):
        vjp(lambda i: i.high, Interval(object(), 1.0))


def test_a_class_that_nobody_registered_is_refused(core: Any) -> None:
    with pytest.raises(StructureError, match=r"Interval.*register the class"):
        core.vjp(lambda i: i.low, Interval(1.0, 2.0))


@dataclass
class Guarded:
    """A dataclass with code in its attribute setter, which decomposing and rebuilding must not run."""

    a: Any
    b: Any

    def __setattr__(self, name: str, value: Any) -> None:
        if value is None:
            raise ValueError(f"{name} must not be None")
        super().__setattr__(name, value)


@dataclass
class Nothing:
    """A dataclass without fields."""


def test_dataclasses_with_a_setter_of_their_own_or_without_fields():
    value, backpropagator = tapeengine.vjp(lambda g, nothing: (g.a * 3.0, nothing), Guarded(2.0, 1), Nothing())
    assert value == (6.0, Nothing())
    guarded, nothing = backpropagator((1.0, Nothing()))
    assert type(guarded) is Guarded and (guarded.a, guarded.b) == (3.0, None)
    assert nothing == Nothing()


@pytest.mark.parametrize("kind", [list, tuple])
@pytest.mark.parametrize("size", [1, 2, 7, 300])
def test_containers_of_nothing_but_numbers(core: Any, kind: Any, size: int) -> None:
    """Duals and constants together, in results and as primals, at top level and inside another container."""
    primal = kind(float(k) for k in range(size))

    def program(xs: Any) -> Any:
        assert type(xs) is kind
        return kind(2.0 * x if k % 3 else (1.5 if k % 2 else x) for k, x in enumerate(xs))

    value, backpropagator = core.vjp(program, primal)
    assert value == program(primal)
    expected = kind(2.0 if k % 3 else (0.0 if k % 2 else 1.0) for k in range(size))
    assert backpropagator(kind([1.0] * size)) == (expected,)
    value, backpropagator = core.vjp(lambda p: [program(p[0]), {"x": program(p[0])}], (primal, 3.0))
    assert value == [program(primal), {"x": program(primal)}]
    doubled = kind(2.0 * x for x in expected)
    ones = kind([1.0] * size)
    assert backpropagator([ones, {"x": ones}]) == ((doubled, 0.0),)


@pytest.mark.parametrize("kind", [list, tuple])
@pytest.mark.parametrize("wrong", ["x", None, [1.0]], ids=["str", "None", "list"])
def test_what_does_not_fit_among_numbers_is_named_with_its_place(core: Any, kind: Any, wrong: Any) -> None:
    for program, place in ((lambda xs: kind(xs), "cotangent"), (lambda xs: {"a": kind(xs)}, "cotangent['a']")):
        _, backpropagator = core.vjp(program, [1.0, 2.0, 3.0])
        cotangent: Any = kind([1.0, wrong, 1.0])
        with pytest.raises(CotangentError, match=re.escape(f"{place}[1] must be")):
            backpropagator(cotangent if place == "cotangent" else {"a": cotangent})
        with pytest.raises(CotangentError, match=re.escape(f"{place} must be a {kind.__name__} of 3")):
            backpropagator(kind([1.0]) if place == "cotangent" else {"a": kind([1.0])})


def test_numbers_of_two_traces_in_one_container(core: Any) -> None:
    def program(x: Any) -> Any:
        (value, outer, constant), backpropagator = core.vjp(lambda y: (x * y, x, 2.0), 3.0)
        return value + outer * backpropagator((1.0, 1.0, 1.0))[0] + constant

    assert core.grad(program)(5.0) == 3.0 + 10.0


def test_an_error_deep_inside_a_structure_leaves_nothing_half_done(core: Any) -> None:
    deep: Any = object()
    for _ in range(50_000):
        deep = (1.0, deep)
    for _ in range(2):
        with pytest.raises(StructureError, match=r"^primals\[0\](\[1\])+ is a"):
            core.vjp(lambda x: 1.0, deep)
    while type(deep) is tuple:
        deep = deep[1]
    assert core.grad(lambda x: x[0] * x[1])((2.0, 3.0)) == (3.0, 2.0)


class Counted(dict):  # type: ignore[type-arg]
    """A dict that only its own constructor makes correctly."""

    def __init__(self, name: str, **items: Any) -> None:
        super().__init__(**items)
        self.name = name


class Plain(dict):  # type: ignore[type-arg]
    """A dict with dict's constructor."""


def test_a_dict_class_with_a_constructor_of_its_own_is_refused() -> None:
    assert Structures().find(Counted) is None
    with pytest.raises(StructureError, match="Counted"):
        tapeengine.grad(lambda d: d["x"] * 2.0)(Counted("n", x=1.5))
    gradient = tapeengine.grad(lambda d: d["x"] * 2.0)(Plain(x=1.5))
    assert gradient == {"x": 2.0}


class Bare(dict):  # type: ignore[type-arg]
    """A dict whose instances have no attributes."""

    __slots__ = ()


def test_a_dict_class_keeps_its_attributes() -> None:
    given = Plain(x=1.5)
    given.note = "a note"  # type: ignore[attr-defined]
    gradient = tapeengine.grad(lambda d: d["x"] * 2.0)(given)
    assert (type(gradient), gradient, vars(gradient)) == (Plain, {"x": 2.0}, {"note": "a note"})
    gradient = tapeengine.grad(lambda d: d["x"] * 2.0)(Bare(x=1.5))
    assert (type(gradient), gradient) == (Bare, {"x": 2.0})


class Body:
    """A class with a slot, a private slot, and instance attributes."""

    __slots__ = ("__dict__", "__hidden", "mass")

    def __init__(self, mass: float, hidden: float, name: str) -> None:
        self.mass, self.__hidden, self.name = mass, hidden, name

    def hidden(self) -> float:
        return self.__hidden


def test_objects_are_rebuilt_from_their_attributes() -> None:
    """Leaves are exchanged, in slots and in the dict; static parts are kept; no constructor runs."""
    container = of_object(Body, static=("name",))
    children, aux = container.take(Body(1.0, 2.0, "moon"))
    assert (list(children), container.names(aux)) == ([2.0, 1.0], ["._Body__hidden", ".mass"])
    made = container.make(aux, [10 * x for x in children])
    assert (made.mass, made.hidden(), made.name) == (10.0, 20.0, "moon")


@pytest.mark.parametrize("change", [lambda c: c[:-1], lambda c: [*c, 3.0]], ids=["too few", "too many"])
def test_containers_with_keys_are_rebuilt_from_as_many_children(change: Any) -> None:
    items = {"a": 1.0, "b": 2.0}
    values = [items, collections.OrderedDict(items), collections.defaultdict(float, items), SimpleNamespace(**items)]
    known = Structures({Body: of_object(Body)})
    for value in [*values, Body(1.0, 2.0, "moon")]:
        opened = known.opened(value)
        assert opened is not None
        children, container, aux = opened
        with pytest.raises(ValueError, match="zip"):
            container.make(aux, change(list(children)))


def test_a_container_names_each_of_its_children() -> None:
    class Two:
        pass

    for names, fits in ((["a"], False), (["a", "b"], True), (["a", "b", "c"], False)):
        known = Structures({Two: Container(lambda v: ([1.0, 2.0], None), lambda aux, c: Two(), lambda aux, n=names: n)})
        if fits:
            assert known.named(Two()) == [("a", 1.0), ("b", 2.0)]
            continue
        with pytest.raises(ValueError, match="zip"):
            known.named(Two())


def test_classes_of_libraries_are_found_by_the_library_and_their_name() -> None:
    Point = type("Point", (), {"__module__": "library.shapes"})
    container = of_object(Point)
    assert Structures({("library", "Point"): container}).find(Point) is container
    for other in (("library", "Line"), ("shapes", "Point"), ("library.shapes", "Point"), (".", "Point")):
        assert Structures({other: container}).find(Point) is None


def test_containers_are_opened_in_one_way() -> None:
    structures = Structures()
    for value in ([1.0, 2.0], (1.0,), {"a": 1.0}, collections.deque([1.0]), SimpleNamespace(a=1.0)):
        opened = structures.opened(value)
        assert opened is not None
        children, container, aux = opened
        assert container.make(aux, children) == value and type(container.make(aux, children)) is type(value)
        named = structures.named(value)
        assert named is not None and [child for _, child in named] == list(children)
        assert [name for name, _ in named] == list(container.names(aux))
    assert [structures.opened(leaf) for leaf in (1.0, 2, "text", np.ones(2), None)] == [None] * 5


class Noted(Point):
    """A namedtuple whose objects have attributes."""

    def note(self, **named: Any) -> Any:
        vars(self).update(named)
        return self


def test_attributes_of_a_namedtuple_stay() -> None:
    def program(x: float) -> Any:
        return Noted(x, 2.0 * x).note(text="a", slope=3.0 * x, plain=[1.0], level=2)

    value, pull = tapeengine.vjp(program, 1.5)
    assert (value, vars(value)) == ((1.5, 3.0), {"text": "a", "slope": 4.5, "plain": [1.0], "level": 2})
    assert pull(Noted(1.0, 1.0).note(slope=1.0))[0] == 6.0
    with pytest.raises(CotangentError, match="Noted with 3 values"):
        pull(Noted(1.0, 1.0))
    tangent = tapeengine.jvp(program, (1.5,), (1.0,))[1]
    assert (tangent, tangent.slope) == ((1.0, 2.0), 3.0)
    assert tapeengine.grad(lambda p: p.x * p.slope)(value).slope == 1.5
    assert vars(tapeengine.vjp(lambda x: Noted(x, x), 1.5)[0]) == {}


def test_the_name_of_a_child_is_the_python_that_reads_it() -> None:
    """Of every container at any depth: an error that names a place names one that a reader can evaluate."""
    objects = [Noted(1.5, [2.5]).note(text="a", slope=3.5), Noted(1.5, 2.5).note(slope=3.5, rest=2), Noted(1.5, 2.5)]
    structures = Structures({Body: of_object(Body)})
    pending = [*STRUCTURES, *objects, collections.defaultdict(float, {"a": 1.5}), Body(1.5, 2.5, "moon")]
    for value in pending:
        named = structures.named(value) or []
        assert [eval(f"value{name}", {"value": value}) for name, _ in named] == [child for _, child in named]
        opened = structures.opened(value)
        assert len(named) == (len(opened[0]) if opened else 0)
        pending += [child for _, child in named]


def test_only_tuples_with_names_are_namedtuples() -> None:
    class Row(tuple[float, ...]):
        pass

    class Named:
        _fields = ("a",)

    structures = Structures()
    assert structures.find(Row) is None and structures.find(Named) is None


@pytest.mark.parametrize("transform", ["argument", "result", "checkpoint"])
@pytest.mark.parametrize(
    "leaf",
    [
        collections.Counter("ab"),
        frozenset([1.0]),
        bytearray(b"a"),
        memoryview(b"a"),
        {1.0},
        array.array("d", [1.0]),
    ],
    ids=lambda leaf: type(leaf).__name__,
)
def test_the_advice_in_an_error_about_a_class_is_not_refused(leaf: Any, transform: str) -> None:
    calls: dict[str, Callable[[], Any]] = {
        "argument": lambda: tapeengine.vjp(lambda x: 1.0, leaf),
        "result": lambda: tapeengine.vjp(lambda x: leaf, 1.0),
        "checkpoint": lambda: tapeengine.grad(lambda x: tapeengine.checkpoint(lambda y: (y, leaf))(x)[0])(1.0),
    }
    with pytest.raises(StructureError) as error:
        calls[transform]()
    if f"tapeengine.register_container({type(leaf).__name__})" in str(error.value):
        tapeengine.Engine().register_container(type(leaf))
    else:
        assert "convert it to one of these" in str(error.value)


def test_a_class_of_attributes_may_be_registered_as_its_error_says() -> None:
    class Plain:
        pass

    with pytest.raises(StructureError, match=r"register_container\(.*Plain\)"):
        tapeengine.vjp(lambda x: 1.0, Plain())
    tapeengine.Engine().register_container(Plain)


def tangent(f):
    """Return the tangent of a function in the direction of its argument."""
    return lambda x: tapeengine.jvp(f, (x,), (x,))


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="the core knows where CPython 3.11 stores attributes")
@pytest.mark.parametrize("differentiate", [tapeengine.grad, tapeengine.vjp, tangent])
def test_a_derivative_gives_the_objects_that_it_reads_no_dictionaries(differentiate):
    """An object without a dictionary refers to its fields itself; accesses to the fields of one with it take longer."""
    cell = Cell(2.0, Cell(3.0, None))
    before = [gc.get_referents(x) for x in (cell, cell.tail)]
    if differentiate is tapeengine.vjp:
        tapeengine.vjp(lambda x: x.head * x.tail.head, cell)[1](1.0)
    else:
        differentiate(lambda x: x.head * x.tail.head)(cell)
    assert [gc.get_referents(x) for x in (cell, cell.tail)] == before
    cell.more = 1.5
    (found,) = tapeengine.vjp(lambda x: x.head * x.tail.head * x.more, cell)[1](1.0)
    assert vars(found) == {"head": 4.5, "tail": Cell(3.0, None), "more": 1.5}


def test_classes_made_by_python_are_told_from_those_of_c() -> None:
    class Own(dict[str, float]):
        """A class of a program."""

    assert is_made_by_python(Own)
    assert not any(map(is_made_by_python, (int, float, complex, dict, FunctionType, collections.OrderedDict)))


OF_C: tuple[Any, ...] = (
    *(array.array("d", [1.0]), re.compile("a"), functools.partial(len), operator.itemgetter(1), struct.Struct("d")),
    *(hashlib.md5(), zlib.compressobj(), csv.writer(io.StringIO()), contextvars.Context(), io.StringIO("1")),
    *(random.Random(1), collections.deque([1.0]), iter([1.0]), itertools.chain([1.0]), decimal.Decimal(1)),
)


@pytest.mark.parametrize("value", OF_C, ids=lambda value: type(value).__name__)
def test_advice_to_register_a_class_can_be_followed(value: Any) -> None:
    """Objects of classes that C code has made keep contents that no attribute shows."""
    cls = type(value)
    assert not all(map(is_made_by_python, cls.__mro__[:-1]))
    with pytest.raises(StructureError, match="keeps its contents elsewhere"):
        tapeengine.register_container(cls)
    try:
        tapeengine.vjp(lambda x: 1.0, value)
    except StructureError as error:
        assert "tapeengine.register_container" not in str(error)


class Read:
    """A class whose instances have an attribute of each kind."""

    __slots__ = ("__dict__", "slot")
    constant = 1.0

    @functools.cached_property
    def cached(self) -> float:
        return 2.0

    @property
    def computed(self) -> float:
        return 3.0


class Watched(Read):
    def __getattribute__(self, name: str) -> Any:
        return super().__getattribute__(name)


class Renamed(Point):
    x = 1.0  # type: ignore[assignment]


@pytest.mark.parametrize(
    "cls, name, by_code",
    [
        *((Read, "slot", False), (Read, "constant", False), (Read, "cached", False), (Read, "computed", True)),
        *((Watched, "slot", True), (Point, "x", False), (Renamed, "x", True), (Read, "absent", False)),
    ],
)
def test_attributes_that_code_reads_are_told_from_stored_ones(cls: type, name: str, by_code: bool) -> None:
    assert reads_by_code(cls, [name]) is by_code


def test_an_object_must_give_the_fields_that_were_put_into_it() -> None:
    part, value = [1.0], Read()
    value.other = part  # type: ignore[attr-defined]
    check_fields(value, ["other"], [part])
    with pytest.raises(StructureError, match="Read computes its attribute computed"):
        check_fields(value, ["other", "computed"], [part, part])


@dataclass
class Scaled:
    """Gives an equal number in place of the one that is stored."""

    x: Any

    def __getattribute__(self, name: str) -> Any:
        found = super().__getattribute__(name)
        return found * 1.0 if name == "x" else found


def test_fields_of_a_class_with_code_that_reads_them_are_checked() -> None:
    with pytest.raises(StructureError, match="Scaled computes its attribute x"):
        tapeengine.vjp(lambda p: Scaled(p.x * 2.0), Scaled(3.0))
    with pytest.raises(StructureError, match="Scaled computes its attribute x"):
        check_fields(Scaled(3e3), ["x"], [3e3])


def test_a_class_that_keeps_its_contents_elsewhere_is_named_with_its_base() -> None:
    with pytest.raises(StructureError, match="and int keeps its contents elsewhere"):
        tapeengine.Engine().register_container(int)
    with pytest.raises(StructureError, match="and Bare is a dict, which keeps its contents elsewhere"):
        tapeengine.Engine().register_container(Bare)
