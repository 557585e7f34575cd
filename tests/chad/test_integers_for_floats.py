"""Integers where a program takes floats, and tuples where it takes any number of them: dual numbers' cotangents."""

import dataclasses
import itertools
from collections.abc import Sequence

import numpy as np
import pytest

import tapeengine as te
from tapeengine.errors import StagingWarning


@dataclasses.dataclass
class Pair:
    """Two numbers."""

    a: float
    b: float


def numbers(x: float, y: float) -> float:
    return x * x * y + y * y


def listed(xs: list[float], y: float) -> float:
    return sum(x * x for x in xs) * y


def sequence(xs: Sequence[float], t: tuple[float, ...]) -> float:
    return sum(x * x for x in xs) * sum(y * y for y in t)


def item(t: tuple[float, float], p: Pair) -> float:
    return t[0] * t[1] * p.a * p.b


def pairs(ps: list[Pair], y: float) -> float:
    return sum(p.a * p.b for p in ps) * y


def rows(m: list[list[float]], t: tuple[tuple[float, ...], ...]) -> float:
    return sum(sum(x * x for x in row) for row in m) * sum(x * x for row in t for x in row)


def whole(v: te.Vec, y: float) -> float:
    return np.sum(v * v) * y


PROGRAMS = {
    numbers: lambda n: (n(), n()),
    listed: lambda n: ([n(), n(), n()], n()),
    sequence: lambda n: ((n(), n()), (n(), n(), n())),
    item: lambda n: ((n(), n()), Pair(n(), n())),
    pairs: lambda n: ([Pair(n(), n()), Pair(n(), n())], n()),
    rows: lambda n: ([[n(), n()], [n(), n()]], ((n(), n()), (n(), n()))),
    whole: lambda n: (np.array([n(), n()]), n()),
}


def like(x, number):
    """A tangent of a value, or None for its integers."""
    if isinstance(x, list | tuple):
        return type(x)(like(part, number) for part in x)
    if isinstance(x, Pair):
        return Pair(like(x.a, number), like(x.b, number))
    if isinstance(x, np.ndarray):
        return np.full(x.shape, number) if x.dtype == float else None
    return number if isinstance(x, float) else None


def plain(x):
    """A value with arrays as lists and dataclasses as tuples."""
    if isinstance(x, list | tuple):
        return type(x), *map(plain, x)
    return plain(dataclasses.astuple(x)) if isinstance(x, Pair) else x.tolist() if isinstance(x, np.ndarray) else x


@pytest.mark.parametrize("backend", [None, "machine", "native"])
@pytest.mark.parametrize("function", PROGRAMS)
def test_integers_have_no_cotangent(function, backend):
    program = te.program(function, backend=backend)
    for ints in itertools.product((False, True), repeat=3):
        drawn = (2 if k else 2.5 for k in itertools.cycle((*ints, False)))
        args = PROGRAMS[function](lambda drawn=drawn: next(drawn))
        value, expected = te.vjp(function, *args)
        if isinstance(value, int | np.integer):  # which has no cotangent on dual numbers
            continue
        for _ in range(2):  # the second time without Python
            found, back = te.vjp(program, *args)
            assert found == value
            assert plain(back(2.0)) == plain(expected(2.0))
            assert plain(back(1.0)) == plain(expected(1.0))
        tangents = like(args, 1.0)
        assert te.jvp(program, args, tangents) == te.jvp(function, args, tangents)


@pytest.mark.parametrize("args", [(3, 2.0), (3.0, 2)])
def test_transforms_leave_integers_out(args):
    for transform in (te.grad, te.hessian, te.value_and_grad, te.jacobian):
        assert repr(transform(te.program(numbers))(*args)) == repr(transform(numbers)(*args))
    with pytest.warns(StagingWarning):
        assert te.stage(te.grad(te.program(numbers)))(*args) == te.grad(numbers)(*args)


def test_a_backpropagator_keeps_tuples_and_lists_as_they_were():
    xs = [1.0, 2]
    _, back = te.vjp(te.program(listed), xs, 2.0)
    xs[:] = [5, 5.0]
    assert back(1.0)[0] == [4.0, None]


def scaled(x: float, y: float) -> tuple[float, float, list[float]]:
    return x * y, x / 2, [x, y + 1, 2.5]


def chosen(x: float, y: float) -> float:
    return x if x > y else y


def kept_pair(x: float, y: float) -> Pair:
    return Pair(x * 2, y)


def of_rows(m: list[list[float]], y: float) -> list[float]:
    return [row[0] + row[1] for row in m]


def of_vector(v: te.Vec, y: float) -> te.Vec:
    return v * 2


VALUES = {**PROGRAMS, scaled: PROGRAMS[numbers], chosen: PROGRAMS[numbers], kept_pair: PROGRAMS[numbers]}
VALUES |= {of_rows: lambda n: ([[n(), n()], [n(), n()]], n()), of_vector: lambda n: (np.array([n(), n()]), n())}


def classes(x):
    """A value with the classes of its numbers, where Python's numbers stand for numpy's."""
    if isinstance(x, list | tuple):
        return type(x), *map(classes, x)
    if isinstance(x, Pair):
        return classes((x.a, x.b))
    return (x.dtype, *x.tolist()) if isinstance(x, np.ndarray) else repr(x.item() if isinstance(x, np.generic) else x)


@pytest.mark.parametrize("backend", [None, "machine"])
@pytest.mark.parametrize("function", VALUES)
def test_values_have_the_integers_of_python(function, backend):
    program = te.program(function, backend=backend)
    for numbers in itertools.product((2, 3.0), (3, 2.5), (5, 5.5)):
        drawn = itertools.cycle(numbers)
        args = VALUES[function](lambda drawn=drawn: next(drawn))
        wanted = classes(function(*args))
        for _ in range(2):  # the second time without Python
            assert classes(te.vjp(program, *args)[0]) == wanted
        assert classes(te.jvp(program, args, like(args, 1.0))[0]) == wanted


def test_defaults_are_those_of_the_call():
    def shifted(x: float, y: float, z: float = 0.5) -> float:
        return x * y + z

    value, back = te.vjp(te.program(shifted), 2, 3.0, z=4)
    assert (repr(value), back(1.0)) == ("10.0", (None, 2.0))
    assert repr(te.vjp(te.program(shifted), 2, 3, z=4)[0]) == "10"
