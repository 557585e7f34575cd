"""Steps whose sums run side by side give the bits of steps one after the other, whatever their number."""

import math

import numpy as np
import pytest

import tapeengine as te

pytest.importorskip("llvmlite", reason="native code needs llvmlite")

from tapeengine.chad.backends.llvm import calling, control
from tapeengine.chad.backends.llvm.abreast import LANES

Matrix = te.Array[te.Vec]
COUNTS = (0, 1, LANES - 1, LANES, LANES + 1, 3 * LANES + 2)


def scores(a: Matrix, w: te.Vec) -> te.Vec:
    return [math.exp(-abs(sum(row[j] * w[j] for j in range(len(w))))) for row in a]


def two_sums(a: Matrix, w: te.Vec) -> te.Vec:
    return [
        sum(a[i][j] * w[j] for j in range(len(w))) / (1.0 + sum(a[i][j] ** 2 for j in range(len(w))))
        for i in range(len(a))
    ]


def into_one(a: Matrix, w: te.Vec) -> float:
    total = 0.0
    for i in range(len(a)):
        inner = 0.0
        for j in range(len(w)):
            inner += math.sin(a[i][j]) * w[j]
        total += inner * inner
    return total


def by_layers(a: Matrix, w: te.Vec) -> te.Vec:
    h = w
    for _ in range(3):
        h = [sum(x * h[j] for j in range(len(h))) for x in w]
    return h


def chains(a: Matrix, w: te.Vec) -> float:
    total = 0.0
    for row in a:
        v = 0.0
        for j in range(len(w)):
            v = math.sin(v * row[j]) + w[j]
        total = total + v * v
    return total


def same_rows(a: Matrix, w: te.Vec) -> te.Vec:
    """Several steps add to one row of the cotangent."""
    return [sum(a[i // 3][j] * w[j] for j in range(len(w))) for i in range(len(a))]


def windows(a: Matrix, w: te.Vec) -> te.Vec:
    flat = [x for row in a for x in row]
    return [sum(flat[i + j] * w[j] for j in range(len(w))) for i in range(len(flat) - len(w) + 1)]


def triangles(a: Matrix, w: te.Vec) -> te.Vec:
    """The number of steps of the innermost loop varies, but is the same in all rows."""
    found = [0.0] * len(a)
    for p in range(len(a)):
        square = 0.0
        for i in range(len(w)):
            y = 0.0
            for j in range(i + 1):
                y = y + w[j] * a[p][j]
            square = square + y * y
        found[p] = square
    return found


def triangles_of_own(a: Matrix, w: te.Vec) -> te.Vec:
    """Each step fills an array of its own, which its sums read."""
    found = [0.0] * len(a)
    for p in range(len(a)):
        centred = [a[p][j] - w[j] for j in range(len(w))]
        square = 0.0
        for i in range(len(w)):
            square += sum(centred[j] * w[i] for j in range(len(w) - i)) ** 2
        found[p] = math.exp(-square)
    return found


PROGRAMS = (scores, two_sums, into_one, by_layers, chains, same_rows, windows, triangles, triangles_of_own)


@pytest.fixture(autouse=True)
def improved(monkeypatch):
    """Let code be improved after the first call."""
    monkeypatch.setattr(calling, "EACH_STATEMENT", -1)


def run(program, args, ones):
    te.vjp(program, *args)
    value, back = te.vjp(program, *args)
    return [np.asarray(x).tobytes() for x in (value, *back(ones(value)))]


def ones_like(value):
    return 1.0 if isinstance(value, float) else np.linspace(1.0, 2.0, len(value))


@pytest.fixture
def in_turn(monkeypatch):
    """Return a program whose steps run one after the other."""

    def compiled(function, args):
        with monkeypatch.context() as patch:
            patch.setattr(control, "abreast", lambda *_: None)
            program = te.program(function, backend="native")
            te.vjp(program, *(np.ones((3, 5)), np.ones(5)) if np.size(args[0]) == 0 else args)
            assert program.ways is None or program.ways.native.better is not None
        return program

    return compiled


@pytest.mark.parametrize("function", PROGRAMS)
def test_the_bits_are_those_of_steps_one_after_the_other(function, in_turn):
    program, plain, draws = te.program(function, backend="native"), None, np.random.default_rng(3)
    for count in COUNTS:
        args = draws.standard_normal((count, 5)), draws.standard_normal(5)
        plain = plain or in_turn(function, args)
        assert run(program, args, ones_like) == run(plain, args, ones_like)
        value = np.asarray(te.vjp(program, *args)[0])
        assert value.tobytes() == np.asarray(function(*args), float).tobytes()


@pytest.mark.parametrize("function", PROGRAMS)
def test_these_programs_have_such_steps(function):
    assert "wide." in te.program(function).inspect()


@pytest.mark.parametrize("function", [triangles, triangles_of_own])
def test_loops_inside_of_such_loops_are_joined(function):
    forward = te.program(function).inspect().split('"main.reverse"')[0]
    assert forward.count("\nsteps.") == forward.count("\nblock.") == 1
    assert forward.count("fmul <4 x double>") >= LANES


def uneven(a: Matrix, w: te.Vec) -> te.Vec:
    return [sum(a[i][j] * w[j] for j in range(min(i, len(w)))) for i in range(len(a))]


def test_sums_of_different_lengths_run_one_after_the_other():
    program = te.program(uneven, backend="native")
    assert "wide." not in program.inspect()
    args = np.ones((9, 5)), np.ones(5)
    np.testing.assert_array_equal(te.vjp(program, *args)[0], uneven(*args))


def test_an_index_out_of_range_is_an_error_in_each_of_several_steps():
    program = te.program(windows, backend="native")
    te.vjp(program, np.ones((2, 5)), np.ones(3))

    def beyond(signal: te.Vec, w: te.Vec) -> te.Vec:
        return [sum(signal[i + j] * w[j] for j in range(len(w))) for i in range(len(signal))]

    with pytest.raises(IndexError):
        te.vjp(te.program(beyond, backend="native"), np.ones(9), np.ones(3))


def test_a_pole_in_one_of_several_steps_is_an_error():
    def poles(a: Matrix, w: te.Vec) -> te.Vec:
        return [math.log(sum(a[i][j] * w[j] for j in range(len(w)))) for i in range(len(a))]

    program = te.program(poles, backend="native")
    a = np.ones((7, 3))
    assert te.vjp(program, a, np.ones(3))[0] == pytest.approx(np.full(7, math.log(3)))
    a[5] = 0.0
    with pytest.raises(ValueError, match="math domain error"):
        te.vjp(program, a, np.ones(3))
