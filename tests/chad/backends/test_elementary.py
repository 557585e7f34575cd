"""Functions of eight numbers at once have the bits of Python's functions, or are not used."""

import math

import numpy as np
import pytest
from plain_sums import in_order

import tapeengine as te

pytest.importorskip("llvmlite", reason="native code needs llvmlite")

from tapeengine.chad.backends.llvm import calling, elementary, vectors
from tapeengine.chad.backends.llvm.compile import compiled

needs_functions = pytest.mark.skipif(not vectors.variants(), reason="the C library has other algorithms")

SIZES = (0, 1, 3, 4, 5, 7, 8, 9, 4097)
#: A fourth of the numbers, at which the functions take each of their branches.
SPECIAL = [0.0, -0.0, 5e-324, -1e-310, 1e-20, 0.34657359, 1.0397208, -1.0, 21.9, 22.1, -40.0, -708.4, -745.13, -746.0]


def exponentials(x: te.Vec) -> te.Vec:
    return [math.exp(a) for a in x]


def tangents(x: te.Vec) -> te.Vec:
    return [math.tanh(a) for a in x]


def tangents_of_sums(x: te.Vec) -> te.Vec:
    return [math.tanh(sum(a * (0.5 + k) for k in range(3))) for a in x]


def tangents_of_rows(x: te.Vec) -> te.Vec:
    found = [0.0] * len(x)
    for i in range(min(len(x), 9)):
        row = [math.tanh(x[i] * b) for b in x]
        found[i] = row[0] * row[len(x) - 1]
    return found


def lengths(x: te.Vec) -> te.Vec:
    return [np.hypot(x[i] * 1e140, x[len(x) - 1 - i]) for i in range(len(x))]


def inverse_sines(x: te.Vec) -> te.Vec:
    return [np.arcsinh(a) for a in x]


def improve(program):
    """Improve a program's code now, as happens after a long run."""
    program.ways.native.promote()
    return program


def numbers(n: int, seed: int) -> np.ndarray:
    """Return numbers of all sizes and signs, and special ones."""
    draw = np.random.default_rng(seed)
    found = np.concatenate([draw.normal(size=n) * 10.0 ** draw.uniform(-9, 2.4, size=n), SPECIAL])
    return draw.permutation(found)[:n] if n else found[:0]


def both(program, x):
    """Return the bits of a value and of its cotangent."""
    value, back = te.vjp(program, x)
    (found,) = back(np.cos(np.arange(len(x))))
    return [a.hex() for a in (*map(float, value), *map(float, found))]


FUNCTIONS = [exponentials, tangents, tangents_of_sums, tangents_of_rows, lengths, inverse_sines]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_improved_code_has_the_bits_of_python_and_of_the_first_code(function):
    fast, slow = te.program(function, backend="native"), te.program(function, backend="native")
    both(fast, numbers(4, 0))
    improve(fast)
    for seed, n in enumerate(SIZES):
        x = numbers(n, seed)
        assert both(fast, x) == both(slow, x)
        plain = in_order(function, [float(a) for a in x])
        assert [float(a).hex() for a in te.vjp(fast, x)[0]] == [a.hex() for a in plain]


@pytest.mark.parametrize("bad", [709.9, math.inf, math.nan])
def test_what_is_not_a_number_is_as_in_python(bad):
    fast = te.program(exponentials, backend="native")
    x = np.array([0.5, 1.0, 2.0, 3.0, 4.0])
    te.vjp(fast, x)
    improve(fast)
    x[2] = bad
    if bad == 709.9:
        with pytest.raises(OverflowError):
            te.vjp(fast, x)
    else:
        np.testing.assert_array_equal(te.vjp(fast, x)[0], np.exp(x))


@needs_functions
@pytest.mark.parametrize("function", [tangents, tangents_of_rows])
def test_loops_call_the_functions_of_vectors(function, monkeypatch):
    fast = te.program(function, backend="native")
    te.vjp(fast, numbers(5, 1))
    texts = []
    monkeypatch.setattr(calling, "compiled", lambda text, *rest: texts.append(text) or compiled(text, *rest))
    improve(fast)
    assert all(f"call void @loop.{name}(" in texts[-1] for name in ("tanh", "sech2"))


@needs_functions
def test_the_derivative_of_arcsinh_calls_hypot_of_vectors(monkeypatch):
    fast = te.program(inverse_sines, backend="native")
    te.vjp(fast, numbers(5, 1))
    texts = []
    monkeypatch.setattr(calling, "compiled", lambda text, *rest: texts.append(text) or compiled(text, *rest))
    improve(fast)
    assert "call void @loop.np.hypot(" in texts[-1]


def of_arrays(x: te.Vec) -> te.Vec:
    return np.arcsinh(x)


@pytest.mark.parametrize("far", [[], [1e160, -1e200, 1e-200, 1e308]])
def test_numpy_computes_the_derivative_of_arcsinh_at_all_sizes(far):
    x = np.concatenate([numbers(200, 3), far])
    (found,) = te.vjp(te.program(of_arrays), x)[1](np.ones(len(x)))
    np.testing.assert_allclose(found, 1.0 / np.hypot(x, 1.0), rtol=4e-16)


def summed_in_place(x: te.Vec) -> te.Vec:
    found = [0.0, 0.0]
    for a in x:
        found[1] = found[1] + math.exp(a)
    return found


def test_constants_of_vectors_are_written_by_their_bits():
    two = "double 0xC000000000000000"
    assert elementary.Vector([], "%x", "double", 2).like(-2.0) == f"<{two}, {two}>"
    assert elementary.Vector([], "%k", "i64", 1).like(-3) == "<i64 -3>"


def test_sums_in_memory_are_not_reordered():
    fast, x = te.program(summed_in_place, backend="native"), numbers(1000, 5) % 3.0
    te.vjp(fast, x)
    improve(fast)
    assert te.vjp(fast, x)[0][1] == summed_in_place([float(a) for a in x])[1]


def other_library(monkeypatch):
    """Compile the functions once more, and return those whose bits differ from Python's."""
    made = compiled(elementary.text())
    monkeypatch.setattr(vectors, "library", lambda: made)
    return {name for name in elementary.ARITIES if vectors.differing(name)}


@needs_functions
def test_functions_that_are_compiled_otherwise_are_not_used(monkeypatch):
    monkeypatch.setattr(elementary, "fma", lambda a, b, c: a * b + c)
    assert other_library(monkeypatch) == set(elementary.ARITIES) - {"hypot"}  # which rounds each product


@needs_functions
def test_a_length_that_is_not_corrected_is_not_used(monkeypatch):
    monkeypatch.setattr(elementary, "length", lambda x, y, scale: (x * x + y * y).call("sqrt"))
    assert other_library(monkeypatch) == {"hypot"}


@needs_functions
@pytest.mark.parametrize(("constant", "changed"), [("C3", {"exp", "sech2"}), ("Q2", {"tanh"})])
def test_functions_of_another_algorithm_are_not_used(monkeypatch, constant, changed):
    monkeypatch.setattr(elementary, constant, getattr(elementary, constant) * (1 + 1e-6))
    assert other_library(monkeypatch) == changed


def test_where_the_processor_lacks_what_they_need_no_functions_are_used(monkeypatch):
    monkeypatch.setattr(vectors, "NEEDED", "no such feature")
    assert vectors.variants.__wrapped__() == ()
