"""Arguments of every structure give on each back end what they give as numpy's arrays, and may change afterwards."""

import copy
from dataclasses import dataclass, fields, is_dataclass
from typing import NamedTuple

import numpy as np
import pytest
from chad.backends.runs import BACKENDS

import tapeengine as te


@dataclass(frozen=True)
class Mixed:
    x: float
    n: int
    y: float
    is_up: bool


class Point(NamedTuple):
    x: float
    y: float


@dataclass(frozen=True)
class Holder:
    w: te.Vec
    m: te.Array[te.Vec]
    b: float


def pairs(ps: list[tuple[float, float]]) -> float:
    return sum(a * b * b for a, b in ps)


def chained(ps: list[Point], x: float) -> float:
    for p in ps:
        x = 0.25 * x * p.x + p.y
    return x


def mixed(rs: list[Mixed]) -> float:
    return sum(r.x * r.n if r.is_up else r.y * r.y - r.n for r in rs)


def nested(ts: list[tuple[float, tuple[float, Point]]]) -> float:
    return sum(t[0] * t[1][0] * t[1][1].x + t[1][1].y for t in ts)


def matrix(m: te.Array[te.Vec]) -> float:
    return sum(sum(v * v for v in row) * (i + 1) for i, row in enumerate(m))


def cube(c: te.Array[te.Array[te.Vec]]) -> float:
    return sum(sum(sum(v * v for v in row) for row in m) for m in c)


def counts(m: te.Array[te.Array[int]], x: float) -> float:
    return x * sum(sum(n for n in row) for row in m)


def masked(m: te.Array[te.Array[bool]], x: te.Vec) -> float:
    return sum(sum(x[j] * x[j] if row[j] else 0.0 for j in range(len(x))) for row in m)


def held(h: Holder, s: float) -> float:
    return s * sum(sum(a * b for a, b in zip(row, h.w)) for row in h.m) + h.b


def both(t: tuple[te.Vec, list[tuple[float, int]]]) -> float:
    return sum(x * x for x in t[0]) * sum(a * n for a, n in t[1])


def numbers(n, seed=0):
    return np.random.default_rng(seed + n).uniform(0.5, 1.5, n).tolist()


def rows(n, m):
    return [numbers(m, k) for k in range(n)]


def point(k):
    return Point(*numbers(2, k))


#: For each program its arguments of a size.
ARGUMENTS = {
    pairs: lambda n: ([tuple(numbers(2, k)) for k in range(n)],),
    chained: lambda n: ([point(k) for k in range(n)], 0.5),
    mixed: lambda n: ([Mixed(*numbers(1, k), k, *numbers(1, k + 9), k % 3 == 0) for k in range(n)],),
    nested: lambda n: ([(0.5 + k, (1.5, point(k))) for k in range(n)],),
    matrix: lambda n: (rows(n, 3),),
    cube: lambda n: ([rows(2, 3) for _ in range(n)],),
    counts: lambda n: ([[k, k + 1] for k in range(n)], 0.5),
    masked: lambda n: ([[k % 2 == 0, k % 3 == 0] for k in range(n)], np.array([0.5, 1.5])),
    held: lambda n: (Holder(np.array(numbers(3)), np.array(rows(n, 3)).reshape(n, 3), 0.5), 1.5),
    both: lambda n: ((numbers(n), [(0.5, k) for k in range(n)]),),
}
#: Other values of the same structure, some of which are not of the program's types.
VARIANTS = {
    "rows as arrays": lambda x: list(map(np.array, x)) if is_rows(x) else x,
    "one row as an array": lambda x: [np.array(x[0]), *x[1:]] if is_rows(x) else x,
    "rows as tuples": lambda x: list(map(tuple, x)) if is_rows(x) else x,
    "all in a tuple": lambda x: tuple(x) if isinstance(x, list) else x,
    "single precision": lambda x: [np.array(r, np.float32) for r in x] if is_rows(x) else x,
    "a shorter row": lambda x: [*x[:-1], x[-1][:-1]] if is_rows(x) or is_tuples(x) else x,
    "an array in reverse": lambda x: np.array(x)[::-1] if is_rows(x) else x,
    "numbers of numpy": lambda x: [list(map(np.float64, r)) for r in x] if is_rows(x) else x,
    "integers": lambda x: [[int(4 * v) for v in r] for r in x] if is_rows(x) else x,
    "None": lambda x: [None, *x[1:]] if isinstance(x, list) else x,
    "lists as parts": lambda x: list(map(list, x)) if is_tuples(x) else x,
}


def is_rows(x):
    return isinstance(x, list) and bool(x) and isinstance(x[0], list) and isinstance(x[0][0], float)


def is_tuples(x):
    return isinstance(x, list) and bool(x) and type(x[0]) is tuple


def plain(x):
    """A structure with the types of its parts, and numbers in it, to be compared."""
    if isinstance(x, np.ndarray):
        return "array", x.shape, x.dtype.str, x.tolist()
    if is_dataclass(x):
        return type(x).__name__, [plain(getattr(x, f.name)) for f in fields(x)]
    return (type(x).__name__, [plain(y) for y in x]) if isinstance(x, list | tuple) else x


def attempt(run):
    try:
        value, back = run()
        return plain(value), plain(back(1.0))
    except Exception as error:
        return type(error)


def by_numpy(program, args):
    """The value, with Python's integers, and the cotangents by whole-array operations or dual numbers."""
    value, back = program.executable.longer_vjp(args)
    return program.with_integers(value, args), back


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("size", [0, 1, 5, 130])
@pytest.mark.parametrize("function", ARGUMENTS, ids=lambda f: f.__name__)
def test_values_and_cotangents(function, size, backend):
    args = ARGUMENTS[function](size)
    value, back = te.vjp(te.program(function, backend=backend), *args)
    other, other_back = by_numpy(te.program(function), args)
    assert value == pytest.approx(function(*args), rel=1e-14) == pytest.approx(other, rel=1e-14)
    found, wanted = plain(back(1.0)), plain(other_back(1.0))
    assert same_structure(found, wanted), (found, wanted)
    _, along = te.jvp(te.program(function, backend=backend), args, back(1.0))
    assert (along is None) == isinstance(value, int)  # the sum of nothing
    assert (0.0 if along is None else along) == pytest.approx(sum(v * v for v in floats(back(1.0))), rel=1e-13)


def floats(x):
    """The floats of a structure."""
    if isinstance(x, np.ndarray):
        return x.ravel().tolist()
    parts = [getattr(x, f.name) for f in fields(x)] if is_dataclass(x) else x if isinstance(x, list | tuple) else ()
    return [x] if isinstance(x, float) else [v for part in parts for v in floats(part)]


def same_structure(a, b):
    """Whether two results of `plain` are equal up to the last digits of floats."""
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) == len(b) and all(map(same_structure, a, b))
    return type(a) is type(b) and (a == pytest.approx(b, rel=1e-13) if isinstance(a, float) else a == b)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("function", ARGUMENTS, ids=lambda f: f.__name__)
def test_other_values_of_the_same_structure(function, variant, backend):
    args = tuple(map(VARIANTS[variant], ARGUMENTS[function](4)))
    found = attempt(lambda: te.vjp(te.program(function, backend=backend), *args))
    wanted = attempt(lambda: by_numpy(te.program(function), args))
    assert same_structure(found, wanted), (found, wanted)


def change(x):
    """Change all lists and arrays of a structure in place."""
    if isinstance(x, np.ndarray):
        x *= 0
    elif is_dataclass(x):
        for f in fields(x):
            change(getattr(x, f.name))
    elif isinstance(x, list | tuple):
        for y in x:
            change(y)
        if isinstance(x, list):
            x[:] = x[:1] * len(x) if x and not isinstance(x[0], float) else [9.0] * len(x)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("size", [1, 5])
@pytest.mark.parametrize("function", ARGUMENTS, ids=lambda f: f.__name__)
def test_arguments_may_change_between_the_passes(function, size, backend):
    args = ARGUMENTS[function](size)
    program = te.program(function, backend=backend)
    wanted = plain(te.vjp(program, *copy.deepcopy(args))[1](1.0))
    _, back = te.vjp(program, *args)
    change(args)
    assert plain(back(1.0)) == wanted
