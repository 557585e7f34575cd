"""What a program reaches through classes, modules, methods and descriptors is compared at each call, also in nests."""

from __future__ import annotations

import argparse
import collections
import enum
import functools
import ipaddress
import itertools
import operator
import os
import random
import secrets
import sys
import types
import uuid
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapeengine as te
import tapeengine.numpy as tnp
from tapeengine.errors import StructureError
from tapeengine.staged.reports import computes_names

PLACES: dict[str, Callable[[Any], Callable[[], Any]]] = {}


def place(make: Callable[[Any], Callable[[], Any]]) -> Any:
    """Register a way to keep a value: a function that takes the value and returns what reads it."""
    PLACES[make.__name__] = make
    return make


@place
def named_by_a_text(value: Any) -> Any:
    class Kept:
        v = value

    return lambda: getattr(Kept, "v")  # noqa: B009


def without_a_module() -> type:
    space: dict[str, Any] = {}
    exec("Kept = type('Kept', (), {})", {}, space)
    return space["Kept"]  # type: ignore[no-any-return]


@place
def of_an_object_whose_class_has_no_module(value: Any) -> Any:
    kept: Any = without_a_module()()
    kept.v = value
    return lambda: kept.v


@place
def of_a_class_without_a_module(value: Any) -> Any:
    kept: Any = without_a_module()
    kept.v = value
    return lambda: kept.v


@place
def named_by_a_variable(value: Any) -> Any:
    class Kept:
        v = value

    name = "v"
    return lambda: getattr(Kept, name)


@place
def named_by_a_computed_text(value: Any) -> Any:
    class Kept:
        v1 = value

    return lambda: getattr(Kept, f"v{1}")


@place
def among_the_attributes_of_a_class(value: Any) -> Any:
    class Kept:
        v1 = value

    return lambda: next(item for name, item in vars(Kept).items() if name.startswith("v"))


@place
def among_the_variables_of_a_module(value: Any) -> Any:
    kept: Any = types.ModuleType("kept")
    kept.v1 = value
    return lambda: kept.__dict__["V1".lower()]


@place
def global_with_a_computed_name(value: Any) -> Any:
    space = {"v1": value}
    exec("def read():\n    return globals()[f'v{1}']", space)
    return space["read"]


@place
def name_in_an_accessor(value: Any) -> Any:
    class Inner:
        v = value

    class Kept:
        inner = Inner

    get = operator.attrgetter("inner.v")
    return lambda: get(Kept)


@place
def attribute_of_a_librarys_object(value: Any) -> Any:
    kept = argparse.Namespace(v=value)
    return lambda: kept.v


@place
def attribute_of_a_class(value: Any) -> Any:
    class Kept:
        v = value

    return lambda: Kept.v


@place
def attribute_of_a_base(value: Any) -> Any:
    class Base:
        v = value

    class Kept(Base):
        pass

    kept = Kept()
    return lambda: kept.v


@place
def attribute_of_a_metaclass(value: Any) -> Any:
    class Meta(type):
        v = value

    class Kept(metaclass=Meta):
        pass

    return lambda: Kept.v


@place
def method(value: Any) -> Any:
    class Kept:
        def v(self) -> Any:
            return value

    return Kept().v


@place
def static_method(value: Any) -> Any:
    class Kept:
        @staticmethod
        def v() -> Any:
            return value

    return lambda: Kept.v()


@place
def class_method(value: Any) -> Any:
    class Kept:
        kept = value

        @classmethod
        def v(cls) -> Any:
            return cls.kept

    return lambda: Kept.v()


@place
def partial_method(value: Any) -> Any:
    class Kept:
        v = functools.partialmethod(lambda self, kept: kept, value)

    kept = Kept()
    return lambda: kept.v()


@place
def computed(value: Any) -> Any:
    class Kept:
        @property
        def v(self) -> Any:
            return value

    kept = Kept()
    return lambda: kept.v


@place
def computed_once(value: Any) -> Any:
    class Kept:
        @functools.cached_property
        def v(self) -> Any:
            return value

    kept = Kept()
    kept.v  # noqa: B018 - writes the attribute
    return lambda: kept.v


@place
def descriptor(value: Any) -> Any:
    class Read:
        kept = value

        def __get__(self, instance: Any, owner: Any) -> Any:
            return self.kept

    class Kept:
        v = Read()

    kept = Kept()
    return lambda: kept.v


@place
def called(value: Any) -> Any:
    class Kept:
        def __call__(self) -> Any:
            return value

    return Kept()


@place
def indexed(value: Any) -> Any:
    class Kept:
        def __getitem__(self, k: int) -> Any:
            return value

    kept = Kept()
    return lambda: kept[0]


@place
def made(value: Any) -> Any:
    class Kept:
        def __init__(self) -> None:
            self.v = value

    return lambda: Kept().v


@place
def found_by_name(value: Any) -> Any:
    class Kept:
        def __getattr__(self, name: str) -> Any:
            return {"v": value}[name]

    kept = Kept()
    return lambda: kept.v


@place
def found_by_any_name(value: Any) -> Any:
    class Kept:
        def __getattribute__(self, name: str) -> Any:
            return {"v": value}[name]

    kept = Kept()
    return lambda: kept.v


@place
def slot(value: Any) -> Any:
    class Kept:
        __slots__ = ("v",)

    kept = Kept()
    kept.v = value  # type: ignore[attr-defined]
    return lambda: kept.v  # type: ignore[attr-defined]


@place
def member(value: Any) -> Any:
    class Kept(enum.Enum):
        A = 1

    Kept.A.v = value  # type: ignore[attr-defined]
    return lambda: Kept.A.v  # type: ignore[attr-defined]


@place
def value_of_a_member(value: Any) -> Any:
    class Kept(enum.Enum):
        A = (value,)

    return lambda: Kept.A.value[0]


@place
def attribute_of_a_dict(value: Any) -> Any:
    class Kept(dict[str, float]):
        pass

    kept = Kept(a=1.0)
    kept.v = value  # type: ignore[attr-defined]
    return lambda: kept.v  # type: ignore[attr-defined]


@place
def slot_of_a_dict(value: Any) -> Any:
    class Kept(dict[str, float]):
        __slots__ = ("v",)

    kept = Kept(a=1.0)
    kept.v = value  # type: ignore[attr-defined]
    return lambda: kept.v  # type: ignore[attr-defined]


@place
def attribute_of_an_array(value: Any) -> Any:
    class Kept(np.ndarray):  # type: ignore[type-arg]
        v: Any

    kept = np.ones(3).view(Kept)
    kept.v = value
    return lambda: kept.v


@place
def attribute_of_a_tuple(value: Any) -> Any:
    class Kept(tuple[float, ...]):
        v: Any

    kept = Kept((1.0,))
    kept.v = value
    return lambda: kept.v


@place
def item_of_a_tuple_with_attributes(value: Any) -> Any:
    class Kept(tuple[Any, ...]):
        other: Any

    kept = Kept((value,))
    kept.other = 1.0
    return lambda: kept[0]


@place
def attribute_of_a_partial(value: Any) -> Any:
    kept: Any = functools.partial(max, 0)
    kept.v = value
    return lambda: kept.v


@place
def attribute_of_a_module(value: Any) -> Any:
    kept: Any = types.ModuleType("kept")
    kept.v = value
    return lambda: kept.v


@place
def module_that_is_imported(value: Any) -> Any:
    kept: Any = types.ModuleType("a_module_of_the_test")
    kept.v, sys.modules[kept.__name__] = value, kept

    def read() -> Any:
        import a_module_of_the_test  # type: ignore[import-not-found]

        return a_module_of_the_test.v

    return read


@place
def attribute_that_a_module_computes(value: Any) -> Any:
    kept: Any = types.ModuleType("kept")
    kept.__getattr__ = lambda name: {"v": value}[name]
    return lambda: kept.v


@place
def part_of_a_slice(value: Any) -> Any:
    kept = slice(0, 3, (value, 1))
    return lambda: kept.step[0]


@place
def item_of_a_view(value: Any) -> Any:
    kept = {"v": value}.items()
    return lambda: next(iter(kept))[1]


@place
def attribute_of_an_exception(value: Any) -> Any:
    kept: Any = ValueError()
    kept.v = value
    return lambda: kept.v


@place
def argument_of_an_alias(value: Any) -> Any:
    kept = types.GenericAlias(list, (value,))
    return lambda: kept.__args__[0]


@place
def method_of_a_dict_that_is_global(value: Any) -> Any:
    space: dict[str, Any] = {"get": {"v": value}.get}
    exec("def read():\n    return get('v')", space)
    return space["read"]


@place
def method_of_a_dict_in_a_class(value: Any) -> Any:
    class Kept:
        v = {"v": value}.get

    return lambda: Kept.v("v")


@place
def default_of_a_dict(value: Any) -> Any:
    kept = collections.defaultdict(lambda: value)
    return lambda: kept.default_factory()  # type: ignore[misc]


@place
def argument_of_an_accessor(value: Any) -> Any:
    class Kept:
        def v(self, kept: Any) -> Any:
            return kept

    call, kept = operator.methodcaller("v", value), Kept()
    return lambda: call(kept)


@place
def getter(value: Any) -> Any:
    kept = property(lambda self: value)
    return lambda: kept.fget(None)  # type: ignore[misc]


@place
def inherited(value: Any) -> Any:
    class Base:
        def v(self) -> Any:
            return value

    class Kept(Base):
        def v(self) -> Any:
            return super().v()

    return Kept().v


@place
def memoised(value: Any) -> Any:
    return functools.lru_cache(lambda: value)


@place
def argument_of_an_error(value: Any) -> Any:
    kept = ValueError(value)
    return lambda: kept.args[0]


@place
def evaluated_once(value: Any) -> Any:
    return functools.singledispatch(lambda x=None: value).dispatch(object)


def agree(read: Callable[[], Any], kept: list[float]) -> te.staged.Staged:
    """Compare a staged program with itself, over changes of what it reads."""
    staged = te.stage(lambda x: read()[0] * x)
    for value in (2.0, 2.0, 5.0, -1.0, -1.0, 5.0):
        kept[0] = value
        assert staged(3.0) == 3.0 * value
        assert te.grad(staged)(3.0) == value
    assert staged.refused is not None or staged.stats().replays > 5
    return staged


@pytest.mark.parametrize("name", PLACES)
def test_one_place(name: str) -> None:
    kept = [0.0]
    assert agree(PLACES[name](kept), kept).refused is None


@pytest.mark.parametrize("outer", PLACES)
def test_a_place_in_a_place(outer: str) -> None:
    for inner in PLACES.keys() - {outer}:
        kept = [0.0]
        read = PLACES[outer]([PLACES[inner](kept)])
        assert agree(lambda read=read: read()[0](), kept).refused is None, inner


#: Programs that call operators of two objects, which have others than those of every object from some time on.
OPERATORS: dict[str, tuple[Callable[[Any, Any], float], Any]] = {
    "__bool__": (lambda a, b: 2.0 if a else 3.0, lambda self: False),
    "__len__": (lambda a, b: 2.0 if a else 3.0, lambda self: 0),
    "__eq__": (lambda a, b: 2.0 if a == b else 3.0, lambda self, other: True),
    "__ne__": (lambda a, b: 2.0 if a != b else 3.0, lambda self, other: False),
    "__str__": (lambda a, b: float(len(f"{a}")), lambda self: "a"),
    "__repr__": (lambda a, b: float(len(str(a))), lambda self: "ab"),
    "__format__": (lambda a, b: float(len(f"{a}")), lambda self, how: "abc"),
    "__getattr__": (lambda a, b: getattr(a, "k", 2.0), lambda self, name: 5.0),
    "__iter__": (lambda a, b: sum(a, 0.0), lambda self: iter([5.0])),
    "__contains__": (lambda a, b: 2.0 if 1.0 in a else 3.0, lambda self, item: False),
}


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("derived", [False, True])
def test_operators_that_a_class_gets_later(name: str, derived: bool) -> None:
    class Base:
        if name in ("__iter__", "__contains__"):

            def __getitem__(self, k: int) -> float:
                return [1.0, 2.0][k]

    class Kept(Base):
        pass

    use, operator = OPERATORS[name]
    a, b = Kept(), Kept()
    staged = te.stage(lambda x: x * use(a, b))
    before = [staged(x) for x in (1.0, 2.0, 3.0)]
    assert before == [use(a, b), 2.0 * use(a, b), 3.0 * use(a, b)]
    setattr(Kept if derived else Base, name, operator)
    assert [staged(1.0), te.grad(staged)(2.0)] == [use(a, b)] * 2
    assert before[0] != use(a, b)
    assert staged.stats().recordings == 2


def test_objects_of_libraries_that_cache_results() -> None:
    kept = ipaddress.ip_network("10.0.0.0/24")
    staged = te.stage(lambda x: x * kept.num_addresses * (1 + len(list(kept.hosts()))) * int(kept.broadcast_address))
    assert len({staged(3.0) for _ in range(5)}) == 1
    assert staged.refused is None and staged.stats().replays == 3


@pytest.mark.filterwarnings("ignore::tapeengine.errors.StagingWarning")
def test_what_hides_its_contents_is_refused() -> None:
    held, derived = [2.0], []

    class Base:
        pass

    times = np.frompyfunc(lambda x: x * held[0], 1, 1)
    space: dict[str, Any] = {"times": times}
    exec("def f(x):\n    return x * float(times(3.0))", space)
    for program in (
        lambda x: x * float(times(3.0)),
        space["f"],
        lambda x: x * len(Base.__subclasses__()),
    ):
        staged = te.stage(program)
        for _ in range(4):
            held[0] += 1.0
            derived.append(type("Derived", (Base,), {}))
            assert te.value_and_grad(staged)(2.0) == te.value_and_grad(program)(2.0)
        assert staged.refused is not None


@pytest.mark.parametrize(
    ("f", "computes"),
    [
        (lambda x: getattr(x, "a") + getattr(x[0], "b", x + 1), False),  # noqa: B009
        (lambda x: [getattr(y, "a", None) for y in x], False),
        (lambda x: getattr(x + "a", "b", None), False),
        (lambda x, y: getattr(x, y), True),
        (lambda x, y: getattr(x, y, 0.0), True),
        (lambda x, y: getattr(x, "a" + y), True),
        (lambda x: getattr(x, "A".lower()), True),
        (lambda x, y: getattr(x, "a" if y else "b"), True),
        (lambda x, y: [getattr(x, name) for name in y], True),
        (lambda x, y: list(map(getattr, x, y)), True),
        (lambda x, y: hasattr(x, y["a"]), True),
        (lambda x, y: getattr(*x), True),
    ],
)
def test_names_that_code_computes(f: Any, computes: bool) -> None:
    assert computes_names(f.__code__) is computes


def mapped(f: Any) -> Any:
    lanes = te.vmap(f)
    return lambda x: lanes(tnp.stack([x]))[0]


def mapped_by_replays(f: Any) -> Any:
    lanes = te.stage(f).batch
    return lambda x: lanes(tnp.stack([x]))[0]


@pytest.mark.parametrize("transform", [te.stage, te.checkpoint, te.lift, mapped, mapped_by_replays])
def test_programs_inside_transforms(transform: Any) -> None:
    kept = [0.0]
    inner = transform(lambda x: x * kept[0])
    staged = te.stage(lambda x: inner(x))
    for value in (2.0, 2.0, 5.0, -1.0):
        kept[0] = value
        assert float(staged(3.0)) == 3.0 * value


class Overridden:
    k = 2.0

    def rate(self) -> float:
        return self.k


class Derived(Overridden):
    pass


def test_attributes_and_methods_that_are_overridden_later() -> None:
    held, other = Derived(), Derived()
    staged = te.stage(lambda x: held.rate() * x)
    changes: list[Callable[[], Any]] = [
        lambda: setattr(Overridden, "k", 3.0),
        lambda: setattr(Derived, "k", 4.0),
        lambda: setattr(held, "k", 5.0),
        lambda: delattr(held, "k"),
        lambda: setattr(Derived, "rate", lambda self: 6.0),
        lambda: delattr(Derived, "rate"),
        lambda: setattr(other, "k", 9.0),
        lambda: delattr(Derived, "k"),
        lambda: setattr(Overridden, "k", 2.0),
        lambda: setattr(held, "__class__", type("Other", (), {"rate": lambda self: 7.0, "__module__": __name__})),
    ]
    for change in [lambda: None, *changes]:
        change()
        for _ in range(2):
            assert te.grad(staged)(1.0) == held.rate()


def test_what_runs_write_into_classes_and_modules_is_refused() -> None:
    class Counted:
        runs = 0

    module: Any = types.ModuleType("counted")
    module.runs = 0

    def by_class(x: float) -> float:
        Counted.runs += 1
        return x * Counted.runs

    def by_module(x: float) -> float:
        module.runs += 1
        return x * module.runs

    for program in (by_class, by_module):
        staged = te.stage(program)
        with pytest.warns(te.errors.StagingWarning, match="writes into what it captures"):
            assert [staged(1.0) for _ in range(4)] == [1.0, 2.0, 3.0, 4.0]


def test_counters_in_classes_are_compared_and_not_refused() -> None:
    class Numbered:
        numbers = itertools.count()

        def __init__(self) -> None:
            self.number = next(self.numbers)

        def times(self, x: float) -> float:
            return x * self.number

    numbered = [Numbered(), Numbered(), Numbered()][2]
    staged = te.stage(lambda x: numbered.times(x))
    assert [staged(1.5) for _ in range(3)] == [3.0] * 3
    assert staged.refused is None


def test_the_environment_is_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    programs = (lambda x: x * float(os.environ["TE_RATE"]), lambda x: x * float(os.getenv("TE_RATE", "1")))
    monkeypatch.setenv("TE_RATE", "2")
    staged = [te.stage(program) for program in programs]
    for value in ("2", "2", "3"):
        monkeypatch.setenv("TE_RATE", value)
        assert [one(1.0) for one in staged] == [float(value)] * 2


DRAWS: dict[str, Callable[[float], float]] = {
    "urandom": lambda x: x * (1 + int.from_bytes(os.urandom(6), "big")),
    "secrets": lambda x: x * (1 + secrets.randbelow(10**9)),
    "uuid": lambda x: x * (1 + uuid.uuid4().int % 10**9),
    "default_rng": lambda x: x * np.random.default_rng().random(),
    "default_rng(None)": lambda x: x * np.random.default_rng(None).random(),
    "Random": lambda x: x * random.Random().random(),
    "SystemRandom": lambda x: x * random.SystemRandom().random(),
    "RandomState": lambda x: x * np.random.RandomState().rand(),
    "Generator": lambda x: x * np.random.Generator(np.random.PCG64()).random(),
    "in a call": lambda x: x * (lambda: np.random.default_rng().random())(),
}


@pytest.mark.filterwarnings("ignore::tapeengine.errors.StagingWarning")
@pytest.mark.parametrize("name", DRAWS)
def test_random_numbers_of_the_system_are_refused(name: str) -> None:
    staged = te.stage(DRAWS[name])
    assert len({staged(1.0) for _ in range(5)}) == 5
    assert "random numbers" in str(staged.refused)


@pytest.mark.filterwarnings("ignore::tapeengine.errors.StagingWarning")
@pytest.mark.parametrize("make", [lambda: random.Random(3).random, lambda: np.random.default_rng(3).normal])
def test_methods_of_generators_that_are_global_are_refused(make: Any) -> None:
    space: dict[str, Any] = {"draw": make()}
    exec("def f(x):\n    return x * draw()", space)
    staged = te.stage(space["f"])
    assert len({staged(1.0) for _ in range(5)}) == 5
    assert "random numbers" in str(staged.refused)


def test_generators_with_seeds_are_replayed() -> None:
    seed = 7
    for program in (
        lambda x: x * np.random.default_rng(3).random(),
        lambda x: x * np.random.default_rng(seed=seed).random(),
        lambda x: x * np.random.RandomState(seed).rand(),
        lambda x: x * random.Random(seed).random(),
    ):
        staged = te.stage(program)
        assert [staged(2.0) for _ in range(3)] == [program(2.0)] * 3
        assert staged.refused is None


def test_methods_whose_class_has_no_module() -> None:
    """The class of methods of compiled modules says where its objects belong, not where it does."""
    draw = np.random.default_rng(3).integers
    staged = te.stage(lambda x: x * (2.0 if callable(draw) else 1.0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert staged(1.0) == staged(1.0) == 2.0


def test_modules_that_name_each_other_are_looked_into_once() -> None:
    one: Any = types.ModuleType("one")
    other: Any = types.ModuleType("other")
    one.other, other.one, one.k, other.g = other, one, 2.0, lambda x: x + 1.0
    names: dict[str, Any] = {"__name__": "a_program", "one": one, "other": other}
    exec("def program(x): return one.k * other.g(x)", names)
    staged = te.stage(names["program"])
    assert (staged(1.0), staged(2.0), staged.stats().replays, staged.refused) == (4.0, 6.0, 1, None)
    one.k = 3.0
    assert staged(1.0) == 6.0


def test_an_object_whose_class_has_no_module_is_refused_as_an_argument_and_a_result() -> None:
    made = without_a_module()()
    with pytest.raises(StructureError, match=r"primals\[0\] is a Kept"):
        te.vjp(lambda x: x, made)
    with pytest.raises(StructureError, match="value is a Kept"):
        te.vjp(lambda x: made, 1.0)
