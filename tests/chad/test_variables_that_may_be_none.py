"""Variables that are None before a loop, passed to functions: values and derivatives, without dual numbers."""

from dataclasses import dataclass

import pytest

import tapeengine as te


@dataclass
class Record:
    x: float


@dataclass
class Tree:
    key: float
    left: "Tree | None" = None
    right: "Tree | None" = None


def insert(t: Tree | None, k: float) -> Tree:
    if t is None:
        return Tree(k)
    if k < t.key:
        return Tree(t.key, insert(t.left, k), t.right)
    return Tree(t.key, t.left, insert(t.right, k))


def walk(t: Tree | None, d: int) -> float:
    return 0.0 if t is None else walk(t.left, d + 1) + t.key * d + walk(t.right, d + 1)


def step(r: Record | None, x: float) -> Record:
    if r is None:
        return Record(x)
    return Record(r.x * x)


def is_missing(r: Record | None) -> bool:
    return r is None


def scaled(r, x):
    if r is None:
        return x
    return 2.0 * r * x


def pick(x, before=None):
    return x if before is None else 3.0 * x


def larger(a, b):
    if a is None or b > a:
        return b
    return a


def tree(xs):
    t = None
    for x in xs:
        t = insert(t, x)
    return walk(t, 1)


def records(xs):
    t = None
    for x in xs:
        t = step(t, x)
    return t.x if t is not None else 0.0


def test_of_records(xs):
    t, s = None, 0.0
    for x in xs:
        if is_missing(t):
            s += 100.0 * x
        t = Record(x)
    return s


def numbers(xs):
    t = None
    for x in xs:
        t = scaled(t, x)
    return t if t is not None else 0.0


def by_name(xs):
    t, s = None, 0.0
    for x in xs:
        s += pick(x, before=t)
        t = x
    return s


def best(xs):
    t = None
    for x in xs:
        t = larger(t, x)
    return 0.0 if t is None else t * t


def local(xs):
    t, s = None, 0.0

    def weight(q):
        return 1.0 if q is None else 2.0

    for x in xs:
        s += weight(t) * x
        t = x
    return s


def while_it_lasts(xs):
    t, s, i = None, 0.0, 0
    while i < len(xs):
        s += pick(xs[i], t)
        if xs[i] > 0.3:
            t = xs[i]
        i += 1
    return s


def of_lists(xs):
    t, s = None, 0.0
    for x in xs:
        s += pick(x, t)
        t = [x]
    return s


def of_tuples(xs):
    t, s = None, 0.0
    for x in xs:
        s += pick(x, t)
        t = (x, 1)
    return s


def by_another_name(xs):
    t, s, f = None, 0.0, pick
    for x in xs:
        s += f(x, t)
        t = x
    return s


def nested_change(xs):
    t, s = None, 0.0
    for x in xs:
        for y in xs:
            s += pick(y, t)
            t = x * y
    return s


def nested(xs):
    t, s = None, 0.0
    for x in xs:
        for y in xs:
            s += pick(y, t)
            t = x
    return s


def in_a_branch(xs):
    t, s = None, 0.0
    for x in xs:
        if x > 0.3:
            t = x
        s += pick(x, t)
    return s


test_of_records.__test__ = False
PROGRAMS = (
    *(tree, records, test_of_records, numbers, by_name, best, local, while_it_lasts, of_lists, of_tuples),
    *(by_another_name, nested, nested_change, in_a_branch),
)
LISTS = ([0.5, 0.2, 0.9], [0.2, 0.4], [0.7], [])


def difference(f, xs, i):
    def at(d):
        return f([x + d if k == i else x for k, x in enumerate(xs)])

    return (at(1e-6) - at(-1e-6)) / 2e-6


@pytest.mark.parametrize("xs", LISTS, ids=map(len, LISTS))
@pytest.mark.parametrize("f", PROGRAMS)
def test_a_program(f, xs):
    program = te.program(f)
    value, back = te.vjp(program, xs)
    assert value == pytest.approx(f(xs), rel=1e-14)
    assert list(back(1.0)[0]) == pytest.approx([difference(f, xs, i) for i in range(len(xs))], rel=1e-6)
    if xs and f is not tree:
        names = {}
        exec(program.for_values((xs,)).derivative("reverse"), names)
        assert names["forward"](xs)[0] == value


def without_a_value(xs):
    for x in xs:
        y = x
    return 1.0 if y is None else y


def test_a_variable_without_a_value_is_not_none():
    program = te.program(without_a_value)
    assert te.vjp(program, [0.5])[0] == 0.5
    with pytest.raises(UnboundLocalError):
        te.vjp(program, [])


def test_a_number_that_is_none_fails():
    def f(xs):
        t, s = None, 0.0
        for x in xs:
            s += t * x
            t = x
        return s

    with pytest.raises(TypeError):
        te.vjp(te.program(f), [0.5])
