"""More of Python that the language reads: values and derivatives are those of the plain program."""

from __future__ import annotations

import copy
import itertools
import math
import random
from dataclasses import dataclass, field

import numpy as np
import pytest
from chad.written_functions import Cases, refused

import tapeengine as te
from tapeengine.chad.language import in_language

BACKENDS = ["machine", "native"]
case = Cases()


@case(3.7)
def modf_(x):
    f, i = math.modf(x)
    return f * f + i * x


@case(3.7)
def frexp_(x):
    m, e = math.frexp(x)
    return m * e


@case(3.7, 2)
def ldexp_(x, n):
    return math.ldexp(x, n) * x


@case(3.7, 20)
def isqrt_(x, n):
    return x * math.isqrt(n)


@case([1.0, 2.0, 3.0])
def count_zip(xs):
    s = 0.0
    for i, x in zip(itertools.count(), xs):
        s += i * x * x
    return s


@case([1.0, 2.0, 3.0])
def count_break(xs):
    s = 0.0
    for i in itertools.count(1):
        if i > 2:
            break
        s += i * xs[i]
    return s


@case([1.0, 2.0, 3.0])
def count_step(xs):
    s = 0.0
    for i in itertools.count(10, 2):
        s += i * xs[0]
        if i > 20:
            return s


@case([1.0, 2.0, 3.0])
def perms2(xs):
    s = 0.0
    for a, b in itertools.permutations(xs, 2):
        s += a * b * b
    return s


@case([1.0, 2.0, 3.0])
def perms_idx(xs):
    s = 0.0
    for p in itertools.permutations(range(3)):
        s += xs[p[0]] * xs[p[1]] ** 2
    return s


@case([1.0, 2.0, 3.0, 4.0])
def combs3(xs):
    return sum(a * b * b * c for a, b, c in itertools.combinations(xs, 3))


@case([1.0, 2.0, 3.0, 4.0])
def combsr(xs):
    return sum(a * b * b for a, b in itertools.combinations_with_replacement(xs, 2))


@case([1.0, 2.0, 3.0])
def perms3(xs):
    return sum(a * b**2 * c**3 for a, b, c in itertools.permutations(xs, 3))


@case([1.0, 2.0, 3.0, 5.0])
def comb_list(xs):
    ps = list(itertools.combinations(xs, 3))
    return sum(p[0] * p[1] * p[2] * i for i, p in enumerate(ps)) + len(ps)


@case([1.0, 2.0])
def comb_few(xs):
    return 1.0 * xs[0] + sum(a * b * c for a, b, c in itertools.combinations(xs, 3))


@case([1.0, 2.0, 3.0], 0.5)
def nested_names(xs, i0):
    return sum(a * b * i0 for a, b in itertools.permutations([x * i0 for x in xs], 2))


@case([1.0, 2.0, 3.0, 5.0])
def det(m):
    s = 0.0
    for p in itertools.permutations(range(4)):
        t = 1.0
        for i, j in enumerate(p):
            t *= m[j] + i
        s += t
    return s


@case(-2.7)
def modf3(x):
    a, b = math.modf(x)
    return a * a + b * x


@case(8.5)
def frexp8(x):
    m, e = math.frexp(x)
    return m * m * e


@case(1.5, 99)
def isq(x, n):
    return x * math.isqrt(n * n) + x * math.isqrt(n * n - 1)


@case([1.0, 2.0, 3.0], 2)
def shadow(xs, len):
    return sum(a * b for a, b in itertools.permutations(xs, 2)) * len


@case(2.0)
def only_empty(x):
    return x, []


@case([3.0, 1.0, 2.0, 5.0, 4.0])
def quick_if(xs):
    def sort(v):
        if not v:
            return []
        p = v[0]
        return sort([x for x in v[1:] if x < p]) + [p] + sort([x for x in v[1:] if x >= p])  # noqa: RUF005

    y = sort(xs)
    return sum((i + 1) * v for i, v in enumerate(y))


@case([3.0, 1.0, 2.5, 5.0, 4.0])
def if_empty(xs):
    ys = [] if len(xs) > 10 else [x for x in xs if x > 2]
    return sum(ys)


@case([3.0, 1.0, 2.0, 5.0, 4.0])
def arg_empty(xs):
    def total(a, b):
        return sum(a) + sum(b)

    return total(xs, []) + total([], xs)


@case([3.0, 1.0, 2.5, 5.0, 4.0])
def two(xs):
    a, b = [], []
    for x in xs:
        if x > 2:
            a.append(x)
        else:
            b.append((x, x * x))
    return sum(a) * sum(p[1] for p in b)


@case([1.0, 2.0, 3.0], 2)
def buckets_ro(xs, k):
    out = [[] for _ in range(k)]
    return len(out) * xs[0]


@case([1.0, 2.0, 3.0], 2)
def buckets_set(xs, k):
    out = [[] for _ in range(k)]
    for i, x in enumerate(xs):
        out[i % k] = out[i % k] + [x * x]
    return sum(sum(o) * (j + 1) for j, o in enumerate(out))


@case([1.0, 2.0, 3.0], 2)
def rows_(xs, k):
    out = []
    for j in range(k):
        row = []
        for x in xs:
            row.append(x * j)
        out.append(row)
    return sum(sum(o) * (j + 1) for j, o in enumerate(out))


@case(2.0)
def none_if(x):
    r = None
    if x > 1:
        r = x * x
    return r if r is not None else x


@case(0.5)
@case(2.0)
def none_if_or(x):
    r = None
    if x > 1:
        r = x * x
    if r is None:
        r = 3.0
    return r * x


@case(0.5)
def none_int(x):
    r = None
    if x > 1:
        r = 1
    elif x > 0.2:
        r = x
    return 1.0 if r is None else r * x


@case(2.5)
def none_ok(x):
    r = None
    if x > 1:
        r = x
    return r * x


@case([0.5, 2.0])
def none_arr(xs):
    r = None
    if xs[0] > 1:
        r = [2 * x for x in xs]
    if r is None:
        return xs[0]
    return sum(r)


@case([0.5, 2.0, 3.0])
def find(xs):
    def first(t):
        for x in xs:
            if x > t:
                return x
        return None

    a = first(1.0)
    b = first(10.0)
    return (a if a is not None else 0.0) + (b if b is not None else 7.0) * xs[0]


@case([0.5, 2.0, 3.0])
def find_fall(xs):
    def first(t):
        for x in xs:
            if x > t:
                return x

    a = first(1.0)
    if a is None:
        return xs[0]
    return a * xs[1]


@case([0.5, 2.0, 3.0])
def early3(xs):
    if not xs:
        return None
    return sum(xs)


@case(2.0, 3.0)
def default_none(x, y):
    def g(a, b=None):
        if b is None:
            b = 2.0
        return a * b

    return g(x) + g(x, y)


@case([1.0, 2.0, 3.0])
def star(xs):
    match xs:
        case []:
            return 0.0
        case [x]:
            return x
        case [x, *rest]:
            return x * sum(rest)


@case([1.0, 2.0, 3.0])
def star2(xs):
    match xs:
        case [first, *_, last]:
            return first * last
        case _:
            return 0.0


class Dice:
    SIDES = 6

    def __init__(self, v):
        self.v = v

    def roll(self):
        return self.v * self.SIDES


@dataclass
class Triple:
    x: float
    K = 3.0

    def times(self):
        return self.x * self.K


@case(2.0)
def attributes_of_classes(x):
    return Dice(x).roll() * Dice(x).v * Dice.SIDES + Triple(x).times()


def no_negative(x):
    if x < 0:
        raise ValueError("negative")


@case(2.0)
def call_for_its_error(x):
    no_negative(x)
    return math.sqrt(x)


@case(2.0)
def classes_of_numbers(x):
    if not isinstance(x, (int, float)):
        raise TypeError("no number")
    return x * x if isinstance(x, float) else 0.0


def start():
    return [1.0, 2.0]


@dataclass
class Inner:
    v: float = 3.0


@dataclass
class Defaults:
    x: float
    items: list[float] = field(default_factory=list)
    w: list[float] = field(default_factory=lambda: [1.0, 2.0])
    s: list[float] = field(default_factory=start)
    i: Inner = field(default_factory=Inner)


@case([1.0, 2.0])
def default_factories(xs):
    q = Defaults(xs[0])
    q.items.append(xs[1])
    q.w[0] = xs[0]
    r = Defaults(1.0)
    return q.items[0] * q.w[0] * sum(q.s) * q.i.v + sum(r.w) * q.x + len(r.items)


@dataclass
class Body:
    pos: list[float]
    vel: list[float]
    m: float = 1.0


@dataclass
class Moving:
    pos: list[float]

    @property
    def total(self):
        return sum(self.pos)


@dataclass
class Grid:
    a: np.ndarray


class Twice:
    def __init__(self):
        self.a = [1.0, 2.0]
        self.b = self.a


@case([1.0, 2.0], 2.0)
def held_ro(xs, x):
    b = Body(list(xs), [1.0])
    b.pos[0] = x
    q = b.pos
    return q[0] * x


@case(Grid(np.arange(9.0).reshape(3, 3)), 2.0)
def grid(g, x):
    g.a[0, 1] = x
    g.a[1] *= x
    for i in range(3):
        g.a[i, 2] += x * i
    return (g.a * g.a).sum()


@case([1.0, 2.0], 2.0)
def steps(xs, dt):
    b = Body([0.5 * x for x in xs], [1.0] * len(xs))
    for _ in range(4):
        for k in range(len(b.pos)):
            b.vel[k] -= dt * b.pos[k]
            b.pos[k] += dt * b.vel[k]
        b.m *= 1.1
    return sum(b.pos) * b.m


@case(Body([1.0, 2.0], [3.0]), 2.5)
def apnd(b, x):
    b.pos.append(x)
    b.pos.sort(reverse=True)
    del b.pos[1]
    return sum((i + 1) * v for i, v in enumerate(b.pos))


@case(Body([1.0, 2.0], [3.0, 4.0]), 0.1)
def fields_of_an_argument(b, dt):
    for k in range(2):
        b.pos[k] += dt * b.vel[k]
    return b.pos[0] * b.pos[1]


@case(np.array([1.0, -2.0, 3.0]))
def e6(u):
    return (np.gradient(u, axis=0) ** 2).sum()


@case(np.array([1.25, -2.5, 3.75]))
def e8(u):
    t = np.mod(u, 1.0)
    t[0] = 1.0
    return t.sum()


@case(np.arange(9.0).reshape(3, 3))
def e9(m):
    t = m.mean(axis=0)
    t[0] = 1.0
    return t.sum()


@case(np.array([1.0, -2.0, 3.0]))
def e10(u):
    t = np.select([u > 1.0], [u * 2])
    t[0] = 1.0
    return t.sum()


@case(np.array([1.0, -2.0, 3.0]))
def e12(u):
    t = u[u > 0]
    t[0] = 1.0
    return t.sum()


@case(np.array([1.0, -2.0, 3.0]))
def e13(u):
    t = u[[0, 1]]
    t[0] = 1.0
    return t.sum()


@case(0.5, [1.0, 2.0])
def g6(a, v):
    if a > 0.0:
        for q in v:
            a += q
    else:
        for _ in range(3):
            for q in v:
                a += q  # q is read only where it has a value
            if a > 1.0:
                break
    return a


@case([1.0, 2.0])
def h7(xs):
    def shift(v, d):
        for i in range(len(v)):
            v[i] += d

    xs = list(xs)
    shift(xs, sum(xs))
    return xs[0] * xs[1]


@case(1.5, 4)
def ranges(x, n):
    r = range(1, n)
    return (
        x * len(range(0, n, 3))
        + sum(range(n)) * x
        + x ** len([*range(n)])
        + x * r[1] * (2 in r) * (9 not in r)
        + sum(i * x for i in r)
    )


@case([1.5, 2.0, 4.0, 1.0], 2)
def taken(xs, k):
    return sum(xs[i] ** 2 for i in [*range(k), 3])


@case(1.5)
def none_range(x):
    return sum(range(0)) + x * x * len(range(3, 0))


@case(Moving([1.0, 2.0]), 2.5)
def a_property_of_a_record_whose_list_changes(b, x):
    b.pos[0] = x * x
    return b.total * x


def floats(value):
    if isinstance(value, list | tuple):
        return [x for part in value for x in floats(part)]
    if hasattr(value, "__dict__"):
        return [x for part in vars(value).values() for x in floats(part)]
    if isinstance(value, dict):
        return [x for part in value.values() for x in floats(part)]
    return np.ravel(value).tolist() if isinstance(value, float | np.ndarray) else []


def moved(value, steps):
    """The same structure, with a step added to each float."""
    if isinstance(value, list | tuple):
        return type(value)(moved(part, steps) for part in value)
    if hasattr(value, "__dataclass_fields__"):
        return type(value)(*(moved(part, steps) for part in vars(value).values()))
    if isinstance(value, dict):
        return {k: moved(part, steps) for k, part in value.items()}
    if isinstance(value, np.ndarray):
        return np.array([x + next(steps) for x in value.ravel()]).reshape(value.shape)
    return value + next(steps) if isinstance(value, float) else copy.copy(value)


def total(value):
    return value if isinstance(value, float) else sum(floats(value))


@pytest.mark.filterwarnings("ignore:.*without native code")
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("program", case, ids=lambda p: p[0].__name__)
def test_a_program_is_pythons(program, backend):
    f, args = program
    expected = f(*copy.deepcopy(args))
    value, backpropagator = te.vjp(te.program(f, backend=backend), *args)
    assert type(value) is type(expected) or isinstance(expected, np.generic)
    np.testing.assert_allclose(floats(value), floats(expected), rtol=1e-13)
    found = floats(backpropagator((1.0, []) if isinstance(expected, tuple) else 1.0))
    assert len(found) == len(floats(args))
    for k in range(len(found)):
        each = [[h if k == j else 0.0 for j in range(100)] for h in (1e-6, -1e-6)]
        up, down = (total(f(*moved(args, iter(steps)))) for steps in each)
        assert found[k] == pytest.approx((up - down) / 2e-6, rel=1e-6, abs=1e-6)


def is_refused(f, *args):
    with pytest.raises(te.errors.TapeEngineError, match="cannot be changed in place"):
        refused(te.program(f), *args)


def test_arrays_that_something_else_may_hold_do_not_change():
    def of_two_names(x):
        s = Twice()
        s.a[0] = x
        return s.b[0]

    def of_an_argument(xs, x):
        b = Body(xs, [1.0])
        b.pos[0] = x
        return xs[0]

    def held(xs, x):
        b = Body(list(xs), [1.0])
        q = b.pos
        b.pos[0] = x
        return q[0]

    def rows(m, x):
        g = Grid(list(m))
        g.a[0][0] = x
        return m[0][0]

    def of_a_function(b, x):
        b.pos[0] = x
        return total(b)

    is_refused(of_a_function, Moving([1.0, 2.0]), 2.0)
    is_refused(of_two_names, 2.0)
    is_refused(of_an_argument, [1.0, 2.0], 2.0)
    is_refused(held, [1.0, 2.0], 2.0)
    is_refused(rows, [[1.0, 2.0]], 2.0)


@pytest.mark.parametrize("name", ["modf", "frexp"])
def test_parts_of_numbers_have_the_bits_of_math(name):
    written, f = in_language.FUNCTIONS[f"math.{name}"], getattr(math, name)
    draw = random.Random(3)
    drawn = [draw.choice([1.0, -1.0]) * 2.0 ** draw.uniform(-40, 40) for _ in range(2000)]
    for x in [0.0, -0.0, 2.0, -2.0, 8.0, 0.5, math.nextafter(8.0, 0.0), math.nextafter(0.5, 1.0), *drawn]:
        assert repr(written(x)) == repr(f(x)), x


def test_whole_roots_and_powers_are_those_of_math():
    draw = random.Random(4)
    for n in [*range(200), *(draw.randrange(2**62) for _ in range(500)), *(k * k - 1 for k in range(2, 2**31, 2**25))]:
        assert in_language.isqrt(n) == math.isqrt(n)
        assert in_language.ldexp(n / 7, n % 50 - 25) == math.ldexp(n / 7, n % 50 - 25)


@pytest.mark.parametrize("args", [(-2.0,), (2.0,)])
def test_a_call_for_its_error_raises_it(args):
    program = te.program(call_for_its_error)
    if args[0] > 0:
        assert te.grad(program)(*args) == pytest.approx(0.5 / math.sqrt(args[0]))
        return
    with pytest.raises(ValueError, match="negative"):
        te.vjp(program, *args)
