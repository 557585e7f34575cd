"""Functions and methods that change the lists, arrays and records that they are given, and variables around them."""

import dataclasses
import functools
import math
import os
import random

import numpy as np
import pytest
from chad import changing_functions
from chad.changing_functions import (
    Body,
    add_to,
    advance,
    eliminate,
    quicksort,
    set_first,
    sift,
    smooth,
    sort_of,
    swap,
    take_last,
    visit,
)
from chad.written_functions import function_of, refused

import tapeengine
from tapeengine import chad as te
from tapeengine.chad.backends.tiers import is_installed
from tapeengine.chad.language.errors import ProgramError

ENGINE = tapeengine.Engine()
BACKENDS = (None, *(("native",) if is_installed() else ()))
COUNT = 5000 if os.environ.get("TAPEENGINE_NIGHTLY") == "1" else 120
OUTSIDE = {n: f for n, f in vars(changing_functions).items() if not n.startswith("_")}


def agrees(function, *primals, backend=None):
    """Compare a program with the plain function and with dual numbers, several times."""
    program = te.program(function, backend=backend)
    for _ in range(3):
        value, back = ENGINE.vjp(program, *primals)
        expected, plain = ENGINE.vjp(program.python, *primals)
        assert value == expected == pytest.approx(function(*primals), rel=1e-13)
        for found, wanted in zip(back(1.0), plain(1.0), strict=True):
            np.testing.assert_allclose(np.array(found, float), np.array(wanted, float), rtol=1e-11, atol=1e-13)


def sorted_quickly(xs):
    ys = list(xs)
    quicksort(ys, 0, len(ys) - 1)
    return sum(k * y for k, y in enumerate(ys))


def sorted_by_heap(xs):
    heap = list(xs)
    n = len(heap)
    for i in range(n // 2 - 1, -1, -1):
        sift(heap, n, i)
    for i in range(n - 1, 0, -1):
        swap(heap, 0, i)
        sift(heap, i, 0)
    return sum(k * y for k, y in enumerate(heap))


def sorted_itself(xs):
    ys = [x * x for x in xs]
    zs = sort_of(ys)
    return zs[0] + 2.0 * zs[-1] + ys[1]


def sorted_when_made(xs):
    return sum(k * y for k, y in enumerate(sort_of(list(xs))))


def taken_from_the_end(xs):
    ys = list(xs)
    return take_last(ys) + 2.0 * take_last(ys) + ys[0]


def defaults_and_names(xs):
    ys = list(xs)
    add_to(ys, [1.0, xs[0]])
    add_to(factor=xs[1], ys=[2.0], xs=ys)
    set_first(v=ys[1], xs=ys)
    return sum(y * y for y in ys)


def solved(xs):
    rows = [[4.0 + xs[0], 1.0, 0.5], [1.0, 5.0, xs[1]], [0.5, 1.0, 6.0]]
    rhs = list(xs)
    eliminate(rows, rhs)
    return rhs[2] / rows[2][2]


def smoothed(xs):
    grid = np.outer(np.array(xs), np.array(xs))
    for _ in range(3):
        smooth(grid, 0.1)
    return grid[1, 1] + 2.0 * grid[0, 2] + grid[1, 0]


def in_order(xs):
    graph = [[1, 2], [3], [3], []]
    seen = [False] * 4
    order = []
    visit(graph, 0, seen, order)
    total = 0.0
    for k, node in enumerate(order):
        total += xs[node % 3] * (k + 1)
    return total


def best_subset(xs):
    best = [0.0]
    path = []

    def go(i, total):
        if i == len(xs):
            if total * total > best[0]:
                best[0] = total * total + 0.1 * len(path)
            return
        path.append(i)
        go(i + 1, total + xs[i])
        path.pop()
        go(i + 1, total)

    go(0, 0.0)
    return best[0]


def local_functions(xs):
    ys = [xs[0]]
    count = 0.0

    def put(v):
        nonlocal count
        ys.append(v * xs[1])
        count += v
        return count

    def put_twice(v):
        put(v)
        return put(2.0 * v)

    a = put_twice(xs[2])
    return put(3.0) + a * count + sum(ys)


def simulated(xs):
    body = Body(xs[0], xs[1])
    energy = 0.0
    for k in range(6):
        body.move(0.1)
        if body.x > 0.5:
            body.kick(xs[2], times=2)
        body.kick(-1.0)
        energy += body.energy()
        if k == 3:
            body.exchange()
            continue
        body.move_twice(0.05)
        advance(body, 0.01)
    return energy * body.steps + body.x


def fields(xs):
    body = Body(xs[0], v=xs[1])
    other = dataclasses.replace(body, v=xs[2])
    body.x, body.v = body.v, 3.0 * body.x
    other.x *= 2.0
    while body.x > 0.1:
        body.x *= 0.5
        body.steps += 1
    return body.x * body.v + other.x * other.v + body.steps


RIGHT = [
    sorted_quickly,
    sorted_by_heap,
    sorted_itself,
    sorted_when_made,
    taken_from_the_end,
    defaults_and_names,
    solved,
    smoothed,
    in_order,
    best_subset,
    local_functions,
    simulated,
    fields,
]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("function", RIGHT, ids=lambda f: f.__name__)
def test_functions_that_change_what_they_are_given(function, backend):
    agrees(function, [0.7, 0.3, 0.5], backend=backend)
    agrees(function, [0.2, 1.5, -0.4], backend=backend)


LISTS = """
{x}[{i}] = 0.5 * {y}[{j}]
{x} = {y}
{x} = list({y})
{x}, {y} = {y}, {x}
t = {x}|{x} = {y}|{y} = t
set_first({x}, 0.5 * {y}[{j}])
set_first({x}, 0.5 * {x}[{j}])
swap({x}, {i}, {j})
push({x}, {y}[{j}] * {z}[0])
add_to({x}, {y}, 0.3)
add_to({x}, {x})
s = s + take_last({x})
s = s + {y}[0] * take_last({x})
{x} = sort_of({y})
{x} = sort_of(list({y}))
store(kept, {x})
store(kept, list({x}))
kept.append({x})
bump(0.5 * {x}[{i}])
s = s + bump({x}[{i}])
bump_last()
if {x}[0] > {y}[{i}]:|    swap({x}, 0, {i})
if {x}[0] > {y}[{i}]:|    {x} = {y}
for j in range(2):|    add_to({x}, {y}, 0.1)|    push({y}, {z}[j])
for j in range(2):|    push({x}, {y}[j])|    {x}, {y} = {y}, {x}
s = s + {x}[{i}]
r.move(0.1)
r.x = 0.5 * {x}[{i}]
q = r
q = Body({x}[0], {y}[1])
q.v += r.x
advance(q, 0.1)
advance(r, {x}[0])
s = s + q.energy()
records.append(r)
""".strip().splitlines()
FIRST = """
u = [x, 2.0 * x, 3.0 + x]
v = [y, x * y, 1.0]
w = [0.5, x, y]
kept = [[x, y]]
records = [Body(x, 1.0)]
r = Body(x, y)
q = Body(y, 0.5)
s = 0.0
def bump(a):
    u[0] += a
    w.append(a * v[0])
    return 2.0 * a
def bump_last():
    v[-1] *= 0.9
""".strip().splitlines()
RESULT = (
    "s + sum(i * a for i, a in enumerate(u)) + 2.0 * sum(v) + sum(a * a for a in w) + sum(sum(k) for k in kept)"
    " + r.x * r.v + 2.0 * q.x + q.v + sum(b.x for b in records)"
)


def written(seed):
    """Draw a function of random statements, some of them in a loop."""
    draw = random.Random(seed)

    def some(count, indent=""):
        lines = []
        for _ in range(count):
            x, y, z = draw.sample("uvw", 3)
            i, j = draw.randrange(3), draw.randrange(3)
            text = draw.choice(LISTS).format(x=x, y=y, z=z, i=i, j=j)
            lines += [indent + line for line in text.split("|")]
        return lines

    loop = ["for _ in range(2):", *some(draw.randrange(1, 3), "    ")] if draw.random() < 0.5 else []
    return [*FIRST, *some(draw.randrange(1, 4)), *loop, *some(draw.randrange(2)), f"return {RESULT}"]


def is_right(seed, backend=None):
    """Check a random program against the plain function; return whether the language has it."""
    function = function_of("x: float, y: float", written(seed), **OUTSIDE)
    try:
        agrees(function, 0.7, 1.3, backend=backend)
    except ProgramError as error:
        reasons = ("changed in place", "changes a variable", "changed by this call", "not used", "not a function")
        assert any(reason in str(error) for reason in reasons), error
        return False
    return True


@pytest.mark.parametrize("first", range(0, COUNT, 20))
def test_random_programs(first):
    assert sum(is_right(seed) for seed in range(first, first + 20)) > 2


@pytest.mark.skipif(not is_installed(), reason="needs llvmlite")
def test_random_programs_as_native_code():
    assert sum(is_right(seed, "native") for seed in range(10000, 10020)) > 2


def argument(xs):
    set_first(xs, 1.0)
    return sum(xs)


def alias(xs):
    ys = list(xs)
    zs = ys
    set_first(ys, 1.0)
    return sum(zs)


def given_twice(xs):
    ys = list(xs)
    add_to(ys, ys)
    return sum(ys)


def held(xs):
    ys = list(xs)
    kept = [ys]
    set_first(ys, 1.0)
    return kept[0][0]


def a_row(xs):
    rows = [list(xs), list(xs)]
    set_first(rows[0], 1.0)
    return rows[0][0]


def rows_in_turn(xs):
    rows = [list(xs), list(xs)]
    for row in rows:
        set_first(row, 1.0)
    return rows[0][0]


def a_view(xs):
    grid = np.outer(np.array(xs), np.array(xs))
    row = grid[1]
    smooth(grid, 0.1)
    return row[0]


def a_record_argument(xs, body):
    body.move(0.1)
    return body.x


def a_record_of_two_names(xs):
    body = Body(xs[0], xs[1])
    other = body
    body.move(0.1)
    return other.x


def a_record_in_a_list(xs):
    first = Body(xs[0], xs[1])
    bodies = [first]
    for body in bodies:
        body.move(0.1)
    return first.x


def in_a_comprehension(xs):
    ys = list(xs)
    return sum([take_last(ys) for _ in range(2)])


def after_a_use(xs):
    ys = list(xs)
    return ys[0] + take_last(ys)


@dataclasses.dataclass(frozen=True)
class Frozen:
    x: float


def a_frozen_record(xs):
    frozen = Frozen(xs[0])
    frozen.x = 2.0
    return frozen.x


def a_new_field(xs):
    body = Body(xs[0], 1.0)
    body.mass = 2.0
    return body.x


REFUSED = [
    (alias, "zs is the same array"),
    (given_twice, "changes a variable"),
    (held, "may be the same array"),
    (a_row, "may be the same array"),
    (rows_in_turn, "an element of what a loop runs over"),
    (a_view, "may hold a part of it"),
    (a_record_of_two_names, "other is the same array"),
    (a_record_in_a_list, "an element of what a loop runs over"),
    (in_a_comprehension, "not always called here"),
    (after_a_use, "after a use"),
    (a_frozen_record, "make a new frozen"),
    (a_new_field, "make a new body"),
]


@pytest.mark.parametrize(("function", "reason"), REFUSED, ids=lambda f: getattr(f, "__name__", ""))
def test_changes_that_others_see_are_refused(function, reason):
    with pytest.raises(ProgramError, match=reason):
        refused(te.program(function), [0.5, 0.2, 0.1])


@pytest.mark.parametrize(("function", "given"), [(argument, ()), (a_record_argument, (Body(1.0, 2.0),))])
def test_what_a_derivative_is_given_is_copied(function, given):
    args = [0.5, 0.2, 0.1], *given
    value, back = ENGINE.vjp(te.program(function), *args)
    expected, dual_back = ENGINE.vjp(function, *args)
    assert (value, back(1.0)) == (expected, dual_back(1.0))
    assert args == ([0.5, 0.2, 0.1], *given)


def test_a_recursive_function_that_changes_an_array_copies_none_at_each_call():
    program = te.program(sorted_quickly)
    ENGINE.vjp(program, [0.5, 0.2, 0.1])
    (instance,) = program.instances.values()
    assert instance.module.copies
    assert instance.executable.lowered is None


@pytest.mark.parametrize("function", RIGHT, ids=lambda f: f.__name__)
def test_a_program_that_calls_such_functions_is_read_once(function):
    program = te.program(function)
    ENGINE.vjp(program, [0.7, 0.3, 0.5])
    (instance,) = program.instances.values()
    read = instance.parsed()
    ENGINE.vjp(program, [0.6, 0.3, 0.5])
    assert instance.parsed() is read


USED_AS_VALUES = """
g = add|return g(x) + g(y)
return sum(map(add, [x, y]))
return (lambda g: g(x))(add)
return [add, add][0](x) + y
return {"a": add}["a"](x) + y
return (add if x > 0.0 else math.sin)(x)
def use(g):|    return g(x)|return use(add)
def made():|    return add|return made()(x)
return functools.partial(add, x)()
""".strip().splitlines()


@pytest.mark.parametrize("text", USED_AS_VALUES)
def test_a_function_that_changes_variables_and_is_a_value_is_named(text):
    lines = ["n = 0.0", "def add(d):", "    nonlocal n", "    n += d", "    return n", *text.split("|")]
    f = function_of("x, y", lines, math=math, functools=functools)
    with pytest.raises(ProgramError, match=r"changes variables around it, and is used as a value|nonlocal"):
        refused(te.program(f), 0.3, 0.7)
