"""Classes with constructors of their own, validation after construction, and records that may change."""

import dataclasses
import math
import re
from collections import namedtuple
from typing import Any, ClassVar, NamedTuple

import pytest
from chad.written_functions import refused
from leaves import numbers

import tapeengine as te
from tapeengine.chad.language.errors import ProgramError


@dataclasses.dataclass(frozen=True)
class Positive:
    x: float
    y: float = 1.0

    def __post_init__(self):
        assert te.math.isfinite(self.y), "y"
        if not self.x > 0:
            raise ValueError(f"negative: {self.x}")


@dataclasses.dataclass(frozen=True)
class Tripled:
    x: float

    def __init__(self, a):
        object.__setattr__(self, "x", 3 * a)


@dataclasses.dataclass(frozen=True)
class Doubled:
    x: float

    def __post_init__(self):
        object.__setattr__(self, "x", 2 * self.x)


class Halved(namedtuple("Halved", ["x"])):
    def __new__(cls, x):
        return super().__new__(cls, x / 2)


@dataclasses.dataclass
class Single:
    x: float
    made: ClassVar[list[Any]] = []

    def __new__(cls, *args, **named):
        cls.made = cls.made or [super().__new__(cls)]
        return cls.made[0]


class Sharing(type):
    def __call__(cls, *args):
        cls.made = getattr(cls, "made", None) or super().__call__(*args)
        return cls.made


@dataclasses.dataclass
class Shared(metaclass=Sharing):
    x: float


class Noted(namedtuple("Noted", ["x"])):
    def __init__(self, x):
        assert x > 0.0


@dataclasses.dataclass(frozen=True, kw_only=True)
class Named:
    a: float
    b: float = 2.0


@dataclasses.dataclass(frozen=True)
class Given:
    a: float
    b: float = dataclasses.field(init=False, default=2.0)


@dataclasses.dataclass
class State:
    x: float
    v: float = 1.0

    def energy(self):
        return 0.5 * self.v**2 + self.x**2

    def move(self, dt):
        self.x += dt * self.v


def made(x):
    return Positive(x, y=x * x).y


def in_place_of(p, x):
    return dataclasses.replace(p, x=p.x * x).y * x


def negated(p):
    return -p.x * p.y


def itself(p):
    return p


def by_name(x):
    return Named(a=x).b * Named(a=x, b=x).a


def of_field(x):
    return Given(x).b * x


def stepped(s, dt):
    for _ in range(3):
        s = State(s.x + dt * s.v, s.v - dt * s.x)
    return State(v=s.v, x=s.energy())


CASES = [
    (made, (0.5,)),
    (made, (-0.5,)),
    (made, (math.inf,)),
    (in_place_of, (Positive(1.0, 2.0), 3.0)),
    (in_place_of, (Positive(1.0, 2.0), -3.0)),
    (negated, (Positive(1.0, 2.0),)),
    (itself, (Positive(1.0, 2.0),)),
    (itself, (Tripled(1.0),)),
    (by_name, (1.5,)),
    (of_field, (1.5,)),
    (stepped, (State(1.0), 0.1)),
    (stepped, (State(1.0, 2.0), 0.1)),
]


@pytest.mark.parametrize("backend", [None, "machine"])
@pytest.mark.parametrize(("function", "args"), CASES)
def test_a_record_is_what_its_class_makes(function, args, backend):
    program = te.program(function, backend=backend)
    try:
        wanted = function(*args)
    except Exception as error:
        with pytest.raises(type(error), match=re.escape(str(error))):
            te.vjp(program, *args)
        return
    value, backpropagator = te.vjp(program, *args)
    assert type(value) is type(wanted)
    assert numbers(value) == numbers(wanted)
    if dataclasses.is_dataclass(value):
        cotangent = object.__new__(type(value))
        for f in dataclasses.fields(value):
            object.__setattr__(cotangent, f.name, -0.5)
    else:
        cotangent = -1.0
    expected = te.vjp(program.python, *args)[1](cotangent)
    found = backpropagator(cotangent)
    assert [type(x) for x in found] == [type(x) for x in expected]
    assert numbers(found) == pytest.approx(numbers(expected), rel=1e-13)


def own_init(x):
    return Tripled(x).x


def own_values(x):
    return Doubled(x).x


def own_new(x):
    return Halved(x).x


def single(x):
    a, b = Single(x), Single(2.0 * x)
    return a.x + 0.0 * b.x


def shared(x):
    a, b = Shared(2.0 * x), Shared(x)
    return a.x * b.x


def noted(x):
    return Noted(-x).x


def by_place(x):
    return Named(x).b


def of_another(x):
    return Given(x, x).b


def changed(s):
    s.x *= s.x + s.v
    return s.x


def moved(s):
    s.move(0.1)
    return s.x


@pytest.mark.parametrize(
    ("function", "arg", "advice"),
    [
        (own_init, 1.0, "write a function that gives the record"),
        (own_values, 1.0, "assign or return it"),
        (own_new, 1.0, "write a function that gives the record"),
        (single, 1.0, "write a function that gives the record"),
        (shared, 1.0, "write a function that gives the record"),
        (noted, 1.0, "write a function that gives the record"),
        (by_place, 1.0, "give each of them once"),
        (of_another, 1.0, "give each of them once"),
    ],
)
def test_a_class_that_does_something_else_is_refused(function, arg, advice):
    with pytest.raises(ProgramError, match=advice):
        refused(te.program(function), arg)


@pytest.mark.parametrize("function", [changed, moved])
def test_a_record_that_is_given_is_copied(function):
    state = State(1.5)
    value, back = te.vjp(te.program(function), state)
    expected, dual_back = te.vjp(function, state)
    assert (value, back(1.0)) == (expected, dual_back(1.0))
    assert state == State(1.5)


@dataclasses.dataclass
class Listed:
    x: float
    xs: list
    _: dataclasses.KW_ONLY
    nothing: None = None
    second: float = dataclasses.field(init=False, default=2.0)

    def __post_init__(self):
        if self.x < 0:
            raise ValueError("negative")


class Optional(NamedTuple):
    x: float
    nothing: None = None


@dataclasses.dataclass
class Around:
    x: float
    inner: Any = None


@pytest.mark.parametrize(
    "function",
    [
        lambda x, xs: Listed(x, [x, *xs]),
        lambda x, xs: [Listed(x, xs), Listed(x * x, [-x, x])],
        lambda x, xs: {"a": Listed(x, xs), "b": (Around(x, Around(x)), Optional(x), None)},
        lambda x, xs: Around(x, Listed(x, xs if x > 0 else [x])),
    ],
)
def test_results_and_tangents_are_made_without_constructors(function):
    program, primals, tangents = te.program(function), (2.0, [1.0, 3.0]), (-1.0, [1.0, -1.0])
    value, tangent = te.jvp(program, primals, tangents)
    assert te.vjp(program, *primals)[0] == value == function(*primals)
    assert tangent == te.jvp(program.python, primals, tangents)[1]


@dataclasses.dataclass
class Reset:
    x: float
    second: float = dataclasses.field(init=False, default=2.0)


@dataclasses.dataclass(frozen=True)
class Thrice:
    x: float

    def __init__(self, x):
        object.__setattr__(self, "x", 3 * x)


def of_reset(x, second):
    made = Reset(x)
    made.second = second
    return made


def in_a_loop(r):
    for _ in range(2):
        r = dataclasses.replace(r, x=r.x * r.x)
    return r.x * r.second


def in_a_branch(r):
    if r.x > 0:
        r = dataclasses.replace(r, x=r.x * 2.0)
    return r.x * r.second


def in_a_list(r):
    records = [Reset(r.x), Reset(r.second)]
    for each in records:
        each.second = 3.0
    records[1].x *= r.x
    return records[0].x * records[0].second + records[1].x * records[1].second


@pytest.mark.parametrize(
    ("function", "record"),
    [
        (lambda r: dataclasses.replace(r, x=r.x * 2.0).second * r.x, of_reset(1.5, 5.0)),
        (lambda r: dataclasses.replace(r).second * r.x, of_reset(1.5, 5.0)),
        (lambda r: dataclasses.replace(r, x=r.x * r.x).x, Thrice(1.5)),
        (in_a_loop, of_reset(1.5, 5.0)),
        (in_a_branch, of_reset(1.5, 5.0)),
        (in_a_list, of_reset(1.5, 5.0)),
    ],
)
def test_replace_calls_the_constructor(function, record):
    program = te.program(function)
    value, back = te.vjp(program, record)
    assert value == function(record)
    assert numbers(back(1.0)) == pytest.approx(numbers(te.vjp(program.python, record)[1](1.0)))


def test_replace_takes_no_field_that_the_constructor_sets():
    function = lambda r: dataclasses.replace(r, second=r.x).second  # noqa: E731
    with pytest.raises((ValueError, TypeError), match="init=False") as plain:  # a TypeError since Python 3.13
        function(of_reset(1.5, 5.0))
    with pytest.raises(plain.type, match="init=False"):
        te.vjp(te.program(function), of_reset(1.5, 5.0))


@dataclasses.dataclass
class Leaf:
    v: float


@dataclasses.dataclass
class Node:
    left: "Leaf | Node"
    right: "Leaf | Node"


@pytest.mark.parametrize("transform", [te.jacobian, te.jacfwd, te.jacrev])
def test_jacobians_of_recursive_records_along_one_of_several_arguments(transform):
    def grown(x, r, k, name):
        return Node(Leaf(x * r.second), Node(Leaf(x * k), Leaf(r.x if name == "t" else x)))

    program, primals = te.program(grown), (1.5, of_reset(0.5, 2.0), 3, "t")
    assert transform(program)(*primals) == transform(program.python)(*primals)


class Counted(NamedTuple):
    x: float
    n: int = 1
    more: float | None = None


def test_integers_that_plain_programs_leave_in_a_field_have_no_cotangent():
    program = te.program(lambda c: Counted(c.n, 2, None))
    value, back = te.vjp(program, Counted(1.5))
    assert repr(value) == repr(Counted(1, 2, None))
    assert back(Counted(None, None, None)) == te.vjp(program.python, Counted(1.5))[1](Counted(None, None, None))


@dataclasses.dataclass
class Told:
    x: float
    y: float

    def __new__(cls, *args: float, **named: float) -> "Told":
        if len(args) + len(named) < 2:
            raise ValueError("a record without numbers")
        return super().__new__(cls)


def of_told(r: Told) -> float:
    return r.x * r.y


def told(r: Told) -> tuple[Told, float]:
    return r, r.y


def test_cotangents_and_results_are_made_by_a_class_that_needs_arguments_to_make_objects():
    at, ct = Told(2.0, 3.0), Told(1.0, 10.0)
    assert te.grad(te.program(of_told))(at) == Told(3.0, 2.0)
    value, back = te.vjp(te.program(told), at)
    assert (value, back((ct, 0.5))) == ((at, 3.0), (Told(1.0, 10.5),))
    assert te.jvp(te.program(told), (at,), (ct,))[1] == (ct, 10.0)
