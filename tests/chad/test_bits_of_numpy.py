"""Functions of numpy have the bits of the plain program in each pass and back end, on numbers and on arrays.

numpy computes most of them by loops of its own, and so do programs; the C library's functions have other last bits.
"""

import inspect
import math

import numpy as np
import pytest
from chad.written_functions import defined

import tapeengine as te
from tapeengine.chad.intermediate.operations import LOOPS

#: All functions of one or two numbers that give a number.
UFUNCS = [
    name
    for name in sorted(vars(np))
    if isinstance(f := getattr(np, name), np.ufunc)
    and f.signature is None
    and f.nin < 3
    and "d" * f.nin + "->d" in f.types
]
#: Those that math has too, of which it may give other last bits; it computes `hypot` in a way of its own.
OF_MATH = [n for n in UFUNCS if hasattr(math, n) and n not in ("ceil", "floor", "trunc", "hypot", "nextafter")]
POWERS = ["x**3", "x**-1", "x**0.5", "x**1.7", "1.7**x", "x**y", "np.power(x, 1.7)", "np.power(x, y)", "x**x[0]"]
FORMS = [f"np.{n}({'x' if getattr(np, n).nin == 1 else 'x, y'})" for n in UFUNCS] + POWERS
#: Arrays between two numbers.
GRIDS = [
    f"np.{g}" for g in ("linspace(x[0], y[0])", "linspace(x[0], y[0], 1)", "logspace(x[0], y[0], 9, endpoint=False)")
]
#: Lengths about those of vectors and of strips.
LENGTHS = (1, 3, 8, 9, 63, 64, 65, 130)
BACKENDS = (None, "machine", "native")
OF_LARGE = ("np.acosh(x)", "np.arccosh(x)")

pytestmark = pytest.mark.filterwarnings("ignore:.*runs without native code")


def function_of(source):
    """Return the function with this source."""
    return defined(source, np=np, te=te)


def arguments(form, n):
    """Return arguments for which a function is defined."""
    draw = np.random.default_rng(n)
    return draw.uniform(0.05, 0.95, n) + (form in OF_LARGE), draw.uniform(0.05, 0.95, n)


def passes(program, x, y):
    """Return the value of `vjp` and the cotangents, and the value and the tangent of `jvp`."""
    value, back = te.vjp(program, x, y)
    ones = tuple(np.ones_like(z) if isinstance(z, np.ndarray) else 1.0 for z in (x, y))
    return value, back(np.cos(value)), *te.jvp(program, (x, y), ones)


def bits(value):
    """Return the bits of numbers."""
    return [float(x).hex() for each in (value if isinstance(value, tuple) else (value,)) for x in np.ravel(each)]


def runs(function, all_arguments, backends=BACKENDS):
    """Iterate over back ends and arguments, and the bits that `passes` gives, also when code has been improved."""
    for backend in backends:
        program = te.program(backend=backend)(function)
        for is_improved in (False, True):
            if is_improved and program.ways.native is not None:
                program.ways.native.promote()
            for k, (x, y) in enumerate(all_arguments):
                if k == 0:
                    assert bits(program(x, y)) == bits(function(x, y))
                yield (backend, is_improved, k), list(map(bits, passes(program, x, y)))


def check(function, all_arguments, backends=BACKENDS):
    """Check that all values are that of the plain call, and that back ends agree on derivatives."""
    plain = [bits(function(x, y)) for x, y in all_arguments]
    first = {}
    for (backend, is_improved, k), (value, cotangents, other, tangent) in runs(function, all_arguments, backends):
        assert value == other == plain[k], (backend, is_improved, k)
        if backend is not None:  # without one, numpy computes derivatives of large arrays
            assert (cotangents, tangent) == first.setdefault(k, (cotangents, tangent)), (backend, is_improved, k)


@pytest.mark.parametrize("form", FORMS)
def test_arrays(form):
    f = function_of(f"def f(x: te.Vec, y: te.Vec) -> te.Vec:\n    return {form}\n")
    check(f, [arguments(form, n) for n in LENGTHS])


def test_grids():
    f = function_of(f"def f(x: te.Vec, y: te.Vec) -> te.Vec:\n    return np.concatenate([{', '.join(GRIDS)}])\n")
    check(f, [arguments("", n) for n in range(1, 9)], BACKENDS[:1])


@pytest.mark.parametrize("form", [form for form in FORMS if "[0]" not in form])
def test_numbers(form):
    f = function_of(f"def f(x: float, y: float) -> float:\n    return {form}\n")
    check(f, [tuple(float(z[0]) for z in arguments(form, k)) for k in range(1, 12)])


@pytest.mark.parametrize("form", [form for form in FORMS if form.split("(")[0] in LOOPS and "y" not in form])
def test_rows_and_functions_of_functions(form):
    again = form.replace("(x", f"(np.tanh(x * y[0]) * 0.4 + {1.01 if form in OF_LARGE else 0.2}")
    source = f"""
    def f(x: te.Array[te.Vec], y: te.Array[te.Vec]) -> te.Array[te.Vec]:
        z = {again} + np.exp(np.sin(y[1, 0]) * x)
        return np.array([z[0], np.tanh(np.sin({form.replace("(x", "(x[1]")})) - z[1]])
    """
    both = [arguments(form, 2 * n) for n in (1, 3, 70)]
    check(function_of(inspect.cleandoc(source)), [(x.reshape(2, -1), y.reshape(2, -1)) for x, y in both])


def summed(x: te.Array[te.Vec], y: te.Vec) -> te.Vec:
    """Sums of arguments, of what loops make and may keep, along axes, of rows in a loop, and of items."""
    total = 0.0
    for row in x:
        total += np.sum((row - y[: len(row)]) ** 2) * row[0]
    along = [np.sum(np.sum(x, axis=1)), np.sum(np.mean(x * x, axis=0))]
    items = np.sum([total, y[0], 1e-17, total * y[0], 3.0, y[0], y[-1], 1e17, y[0]])
    return np.array([*along, np.mean(np.exp(y)), np.sum(y * np.log(y)) + np.sum(y[1:]), items, total])


def test_sums():
    """The order of numpy's sums changes at 8 numbers, 129 numbers, and at twice as many."""
    draw = np.random.default_rng(5)
    sizes = [(3, 7), (2, 8), (6, 137), (130, 5), (2, 4101)]
    check(
        summed,
        [(draw.lognormal(size=s) * 10.0 ** draw.integers(-3, 4, s), draw.lognormal(size=s[1])) for s in sizes],
        BACKENDS[1:],
    )


def hyperbolic(x: float, v: te.Vec) -> float:
    return x * np.tanh(v)[0]


@pytest.mark.parametrize("seed", range(20))
def test_a_program_repeats_in_iterations_and_forks(seed):
    """Runs of tangents are compared with the first run, of which `vjp` has computed the value."""
    program, draw = te.program(hyperbolic), np.random.default_rng(seed)
    x, v = float(draw.normal()), draw.normal(size=3)

    def iterated(x):
        return te.iterate(lambda a: te.math.sin(program(a, v)), 3, x)

    def forked(x):
        return te.fork(lambda: te.math.sin(program(x, v)))[0]

    value, tangent = te.jvp(iterated, (x,), (1.0,))
    assert value == iterated(x)
    assert te.grad(iterated)(x) == pytest.approx(tangent)
    h = 1e-5
    slope = (te.grad(forked)(x + h) - te.grad(forked)(x - h)) / (2.0 * h)
    assert te.hvp(forked, (x,), (1.0,)) == pytest.approx(slope, rel=1e-5, abs=1e-8)


@pytest.mark.parametrize("name", OF_MATH)
def test_functions_of_math_have_the_bits_of_math(name):
    form = f"{name}({'x' if getattr(np, name).nin == 1 else 'x, y'})"
    function = defined(f"def f(x: float, y: float) -> float:\n    return math.{form}\n", math=math)
    draw = np.random.default_rng(7)
    low, high = {"acosh": (1.0, 9.0), "asin": (-1.0, 1.0), "acos": (-1.0, 1.0), "atanh": (-1.0, 1.0)}.get(
        name, (0.1, 9.0)
    )
    check(function, [tuple(pair) for pair in draw.uniform(low, high, (40, 2)).tolist()])
