"""Tangents agree with the evaluated forward form, dual numbers, differences and the reverse pass."""

import math
import tracemalloc

import chad.examples_language
import chad.examples_syntax  # noqa: F401  (registers its programs)
import numpy as np
import pytest
from chad import evaluated as specification
from chad.examples import EXAMPLES
from chad.test_examples import dot, leaves, random_like
from chad.whole.agreement import both, close
from chad.whole.programs import PROGRAMS
from chad.whole.test_programs import filled, flat, moved
from chad.whole.test_random import CALM, programs
from hypothesis import event, given
from hypothesis import strategies as st

import tapeengine
from tapeengine import chad as te
from tapeengine.chad.language.terms import Definition, Module
from tapeengine.chad.run.execute import Executable
from tapeengine.errors import CotangentError, UnsupportedError

ENGINE = tapeengine.Engine()
ALL = {
    f"{name} of {of}": case
    for of, found in {"examples": EXAMPLES, "programs": PROGRAMS}.items()
    for name, case in found.items()
}


@pytest.fixture(params=sorted(ALL))
def case(request):
    """A program, arguments and tangents."""
    program, args = ALL[request.param]
    program.executable.engine = ENGINE
    return program, args, tuple(random_like(a, 20 + i) for i, a in enumerate(args))


def test_agrees_with_the_evaluated_form(case):
    program, args, tangents = case
    value, tangent = program.executable.jvp(args, tangents)
    wanted, expected = specification.jvp(program.executable, args, tangents)
    np.testing.assert_allclose(leaves(value), leaves(wanted), rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(leaves(tangent), leaves(expected), rtol=1e-11, atol=1e-12)
    assert shape(tangent) == shape(expected)


def test_discrete_values_have_no_tangent():
    @te.program
    def f(n: int, x: float, b: bool) -> tuple[int, float]:
        return (n + 1, x * n if b else x)

    assert ENGINE.jvp(f, (3, 2.0, True), (None, 1.0, None)) == ((4, 6.0), (None, 3.0))


def shape(value):
    """The structure of a value: types, shapes, None; lists of numbers are arrays."""
    first = value
    while isinstance(first, list) and first:
        first = first[0]
    if isinstance(first, float | np.ndarray) and isinstance(value, list | np.ndarray):
        return np.shape(value)
    return (type(value), *map(shape, value)) if isinstance(value, tuple | list) else type(value)


def test_value_is_that_of_the_forward_pass(case):
    program, args, tangents = case
    assert leaves(program.executable.jvp(args, tangents)[0]) == pytest.approx(
        leaves(program.executable.vjp(args)[0]), rel=1e-13, abs=0, nan_ok=True
    )


def test_inner_products_tie_it_to_the_reverse_pass(case):
    program, args, tangents = case
    value, tangent = program.executable.jvp(args, tangents)
    _, backpropagator = ENGINE.vjp(program, *args)
    ct = random_like(value, 1)
    pairs = [(d, t) for d, t, a in zip(backpropagator(ct), tangents, args, strict=True) if leaves(a)]
    scale = sum(float(np.abs(leaves(d)) @ np.abs(leaves(t))) for d, t in pairs)
    assert dot(ct, tangent) == pytest.approx(sum(dot(d, t) for d, t in pairs), rel=1e-13, abs=1e-13 * (1 + scale))


def test_agrees_with_dual_numbers(case):
    program, args, tangents = case
    if program not in [p for p, _ in EXAMPLES.values()]:
        pytest.skip("written with math, which takes no dual numbers")
    _, tangent = program.executable.jvp(args, tangents)
    given = [t if leaves(a) else None for t, a in zip(tangents, args, strict=True)]
    _, expected = ENGINE.jvp(program.python, args, given)
    np.testing.assert_allclose(leaves(tangent), leaves(expected), rtol=1e-11, atol=1e-12)


def test_agrees_with_differences(case):
    program, args, _ = case
    if program.__name__ == "roots_of_the_positive":
        args = (np.array([0.5, 4.0, -1.0, 2.0]),)
    try:
        by = filled(args, iter(np.random.default_rng(3).normal(size=2000)))
    except TypeError:
        pytest.skip("a structure that differences are not taken of here")
    _, tangent = program.executable.jvp(args, by)
    step = 1e-6
    ends = [leaves(program.python(*moved(args, by, s))) for s in (step, -step)]
    slope = (np.array(ends[0]) - np.array(ends[1])) / (2 * step)
    np.testing.assert_allclose(leaves(tangent), slope, rtol=1e-6, atol=1e-7 * (1 + np.abs(slope).max(initial=0)))


@CALM
@given(programs(), st.integers(0, 2**32 - 1))
def test_random_programs(program, seed):
    env, args, term = program
    executable = Executable(Module("f", {"f": Definition("f", env, term.type, term)}), {}, {})
    numbers = iter(np.random.default_rng(seed).normal(size=4000))
    tangents = [filled(a, numbers) for a in args]
    found = both(lambda: specification.jvp(executable, args, tangents), lambda: executable.jvp(args, tangents), flat)
    if found is None:
        return
    wanted, got = found
    expected = flat(wanted[1])
    close(flat(got[1]), expected)
    ct = filled(wanted[0], iter(np.random.default_rng(seed + 1).normal(size=4000)))
    try:
        cotangents = executable.vjp(args)[1](ct)
    except UnsupportedError:
        event("the reverse pass is not lowered")
        return
    pairs = zip(cotangents, tangents, strict=True)
    inner = sum(flat(d) @ flat(t) for d, t in pairs if d is not None)
    assert flat(ct) @ flat(got[1]) == pytest.approx(inner, rel=1e-9, abs=1e-9 * (1 + np.abs(expected).max(initial=0)))


# ---------------------------------------------------------------- costs


@pytest.mark.parametrize("name", ["by_annotation", "by_value"])
def test_tangents_of_matrix_products_need_no_more_memory_than_some_matrices(name):
    def by_value(a, b):
        return np.sum((a @ b) ** 2)

    def by_annotation(a: te.Array[te.Vec], b: te.Array[te.Vec]) -> float:
        return float(np.sum((a @ b) ** 2))

    program, draw = te.program({"by_value": by_value, "by_annotation": by_annotation}[name]), np.random.default_rng(3)
    a, b, c, d = draw.normal(size=(4, 120, 120))
    for _ in range(2):
        tracemalloc.start()
        value, tangent = ENGINE.jvp(program, (a, b), (c, d))
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert most < 30 * a.nbytes
    assert value == pytest.approx(np.sum((a @ b) ** 2), rel=1e-13)
    assert tangent == pytest.approx(np.sum(2 * (a @ b) * (c @ b + a @ d)), rel=1e-11)


def test_what_does_not_depend_on_a_parameter_has_no_tangent():
    @te.program
    def f(x: te.Vec, n: int) -> float:
        return sum(x) + sum(math.sin(1.0 * i) for i in range(n))

    text = str(f.executable.along(f.executable.continuous).lowered)
    assert "'sin'" in text
    assert "'cos'" not in text
    assert ENGINE.jvp(f, (np.ones(2), 3), (np.array([1.0, 2.0]), None))[1] == 3.0


# ---------------------------------------------------------------- edges


@pytest.mark.parametrize("x", [0.0, np.zeros(3)])
def test_a_zero_tangent_gives_zero_whatever_the_partial(x):
    @te.program
    def scalar(x: float, y: float) -> float:
        return math.sqrt(x) + y

    @te.program
    def whole(x: te.Vec, y: float) -> float:
        return sum(math.sqrt(v) for v in x) + y

    program = whole if isinstance(x, np.ndarray) else scalar
    assert ENGINE.jvp(program, (x, 2.0), (0.0 * x, 5.0)) == (2.0, 5.0)
    assert ENGINE.jvp(program, (x, 2.0), (None, 5.0)) == (2.0, 5.0)
    assert ENGINE.jvp(program, (x, 2.0), (0.0 * x + 1.0, 5.0)) == (2.0, math.inf)


def test_only_those_elements_are_zero_whose_tangent_is():
    @te.program
    def f(x: te.Vec) -> te.Vec:
        return [math.sqrt(v) for v in x]

    assert ENGINE.jvp(f, (np.zeros(2),), (np.array([0.0, 1.0]),))[1] == [0.0, math.inf]


def test_empty_arrays_and_loops_of_no_steps():
    @te.program
    def f(x: te.Vec, n: int) -> te.Vec:
        v = x
        for _ in range(n):
            v = [2 * a for a in v]
        return v

    assert ENGINE.jvp(f, (np.ones(2), 0), (np.array([3.0, 4.0]), None))[1].tolist() == [3.0, 4.0]
    assert ENGINE.jvp(f, (np.zeros(0), 3), (np.zeros(0), None)) == ([], [])  # the list of a comprehension


def test_tangents_share_no_memory():
    @te.program
    def f(x: te.Vec, y: float) -> te.Vec:
        return x

    given = np.ones(3)
    _, tangent = ENGINE.jvp(f, (np.zeros(3), 1.0), (given, 1.0))
    tangent += 1
    assert given.tolist() == [1.0] * 3


def test_a_tangent_that_does_not_fit_is_refused_with_its_place():
    @te.program
    def f(x: te.Vec, y: float) -> float:
        return sum(x) * y

    with pytest.raises(CotangentError, match="tangent 0"):
        ENGINE.jvp(f, (np.ones(3), 1.0), (np.ones(2), 1.0))
    with pytest.raises(CotangentError, match="2"):  # as for functions on dual numbers
        ENGINE.jvp(f, (np.ones(3), 1.0), (np.ones(3),))


def test_rows_of_different_sizes_are_evaluated():
    @te.program
    def f(xss: te.Array[te.Vec]) -> float:
        return sum(sum(x * x for x in xs) for xs in xss)

    assert ENGINE.jvp(f, ([[1.0, 2.0], [3.0]],), ([[1.0, 0.0], [1.0]],)) == (14.0, 8.0)


def test_a_power_at_zero():
    @te.program
    def f(x: float) -> float:
        return x**3 + x**1.5

    assert ENGINE.jvp(f, (0.0,), (1.0,)) == (0.0, 0.0)
