"""Assignments to parts of arrays of any rank: numpy's value, duals' derivatives, views refused; random programs."""

import numpy as np
import pytest
from chad.written_functions import function_of, refused

import tapeengine as te
from tapeengine.chad.backends.tiers import is_installed
from tapeengine.errors import TapeEngineError

SHAPES = {1: (5,), 2: (3, 4), 3: (2, 3, 4)}
#: Indices of an axis of at least two places.
KEYS = ("0", "-1", "n", ":", "1:", ":-1", "::2", "1::2", "-2:", "n:", "[0, 1]", "np.array([1, 0])", "[1, 1]", "m[:{0}]")
OPERATORS = ("=", "=", "+=", "*=", "-=")


def written(lines):
    """The function of lines, of an array x, a vector y, an integer n and a mask m."""
    return function_of("x, y, n, m", lines)


def index(drawn, shape):
    """An index of an array of a shape, with at most one array of places or mask."""
    count = int(drawn.integers(1, len(shape) + 1))
    parts = [str(drawn.choice(KEYS)).format(size) for size in shape[:count]]
    for k in [k for k, part in enumerate(parts) if "[" in part or "m" in part][1:]:
        parts[k] = ":"
    if count < len(shape) and drawn.random() < 0.3:
        parts.append("...")
    return ", ".join(parts)


def program(drawn, rank):
    """A program that changes parts of an array several times."""
    shape = SHAPES[rank]
    a = np.zeros(shape)
    lines = [drawn.choice(["a = x.copy()", f"a = np.zeros({shape})", "a = x * y[0]"])]
    for _ in range(drawn.integers(1, 5)):
        at = index(drawn, shape)
        part = eval(f"a[{at}]", {"a": a, "np": np, "n": 1, "m": MASK})
        values = ["2.5", "y[1]", f"x[{at}] * y[0]", f"a[{at}] * a[{at}] + x[{at}]"]
        if part.ndim:
            values.append(f"y[:{part.shape[-1]}]")
        if part.ndim > 1:
            values.append(f"np.sum(x[{at}], axis=-1, keepdims=True)")
        lines.append(f"a[{at}] {drawn.choice(OPERATORS)} {drawn.choice(values)}")
    if rank == 2 and drawn.random() < 0.3:
        lines.insert(int(drawn.integers(1, len(lines) + 1)), "a[n, 0] = a[0, n] * y[2]")
    if drawn.random() < 0.3:
        lines = [lines[0], "for k in range(2):", *(f"    {line}" for line in lines[1:])]
    return [*lines, "return a"]


MASK = np.array([True, False, True, True, False])


@pytest.mark.filterwarnings("ignore:.*runs without native code")
@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("rank", SHAPES)
def test_a_random_program(rank, seed):
    drawn = np.random.default_rng([seed, rank])
    lines = program(drawn, rank)
    function = written(lines)
    args = drawn.normal(size=SHAPES[rank]), drawn.normal(size=5), 1, MASK
    wanted = function(*args)
    cotangent = drawn.normal(size=wanted.shape)
    expected = te.vjp(te.program(function).python, *args)[1](cotangent)
    for backend in (None, *(("native",) if is_installed() and seed % 4 == 0 else ())):
        typed = te.program(function, backend=backend)
        value, backpropagator = te.vjp(typed, *args)
        np.testing.assert_allclose(value, wanted, rtol=1e-14, err_msg="\n".join(lines))
        for found, other in zip(backpropagator(cotangent)[:2], expected[:2], strict=True):
            np.testing.assert_allclose(found, other, rtol=1e-11, atol=1e-12, err_msg="\n".join(lines))
    tangents = drawn.normal(size=SHAPES[rank]), drawn.normal(size=5), None, None
    tangent = te.jvp(typed, args, tangents)[1]
    back = sum(np.sum(t * d) for t, d in zip(tangents[:2], expected[:2], strict=True))
    assert np.sum(tangent * cotangent) == pytest.approx(back, rel=1e-11, abs=1e-12)


#: Programs in which something holds a view of a part that changes.
VIEWS = [
    ["a = np.zeros((3, 4))", "r = a[0]", "a[0] = x[0]", "return r"],
    ["a = np.zeros((3, 4))", "r = a[:, 1]", "a[:, 1] += x[:, 0]", "return r"],
    ["a = x.copy()", "r = a[0]", "a += 1.0", "return r"],
    ["a = x.copy()", "r = a.T", "a[:, 0] = 2.0", "return r"],
    ["a = x.copy()", "r = (a[1], y)", "a[1:] = 2.0", "return r[0]"],
    ["a = x.copy()", "s = 0.0", "for row in a:", "    a[1:] = 2.0", "    s += row[0]", "return s"],
    ["a = np.zeros((3, 4))", "for k in range(2):", "    a[k] = x[k]", "    r = a[0]", "return r"],
    ["a = np.zeros((3, 4))", "r = a[0]", "a[0, 1] = x[0, 0]", "return r"],
    ["a = x", "a[:, 0] = 1.0", "return a"],
    ["b = x.copy()", "a = b", "a[:, 0] = 1.0", "return b"],
    ["a = x.copy()", "r = [row for row in a]", "a[:, 0] = 1.0", "return r[0]"],
]


@pytest.mark.parametrize("lines", VIEWS)
def test_a_view_of_what_changes_is_refused(lines):
    drawn = np.random.default_rng(3)
    with pytest.raises(TapeEngineError):
        refused(te.program(written(lines)), drawn.normal(size=(3, 4)), drawn.normal(size=5), 1, MASK)


#: The same without a view.
COPIES = [
    ["a = np.zeros((3, 4))", "r = a[0].copy()", "a[0] = x[0]", "return r + a[0]"],
    ["a = x.copy()", "r = a[0] * 2.0", "a[0] = r", "return r + a[1]"],
    ["a = x.copy()", "b = a.copy()", "a[:, 0] = 1.0", "return a + b"],
    ["a = x.copy()", "a[1:] = a[:-1]", "a[:, 0] = a[:, 1]", "return a"],
    ["a = y.copy()", "a[1:] = a[:-1]", "a[1:] += a[:-1]", "return a"],
    ["a = x.copy()", "s = 0.0", "for k in range(3):", "    a[k, :] = y[:4]", "    s += np.sum(a[:, 0])", "return s"],
    ["a = x.copy()", "a[a < 0] = 0.0", "a[x > 1] *= y[0]", "return a"],
    ["a = x.copy()", "i = np.arange(3)", "a[i, i] += y[:3]", "return a"],
]


@pytest.mark.parametrize("lines", COPIES)
def test_a_copy_is_taken(lines):
    drawn = np.random.default_rng(3)
    args = drawn.normal(size=(3, 4)), drawn.normal(size=5), 1, MASK
    function = written(lines)
    value, backpropagator = te.vjp(te.program(function), *args)
    wanted = function(*args)
    np.testing.assert_allclose(value, wanted, rtol=1e-14)
    cotangent = np.cos(wanted) if np.ndim(wanted) else 1.0
    expected = te.vjp(te.program(function).python, *args)[1](cotangent)
    np.testing.assert_allclose(backpropagator(cotangent)[0], expected[0], rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("line", ["a[:, 0] = y", "a[0:2] = y[:3]", "a[[0, 1], 0] = y[:3]", "a[5] = y[:4]"])
def test_a_value_of_another_shape_raises_what_numpy_raises(line):
    args = np.ones((3, 4)), np.ones(5), 1, MASK
    function = written(["a = x.copy()", line, "return a"])
    with pytest.raises(Exception) as plain:
        function(*args)
    with pytest.raises(type(plain.value)):
        te.vjp(te.program(function), *args)


#: Statements that fill an array of numpy's.
FILLING = [
    ["a = np.empty((3, 4))", "np.exp(x, out=a)", "np.multiply(a, x, out=a)", "return a"],
    ["a = np.zeros((3, 4))", "np.add(x[0], 1.0, out=a[1])", "np.sqrt(a[1] ** 2, out=a[0, :])", "return a"],
    ["a = np.empty(4)", "np.sum(x, axis=0, out=a)", "a *= a", "return a"],
    ["a = np.empty(3)", "np.dot(x, y[:4], out=a)", "np.maximum(a, 0.0, out=a)", "return a"],
    ["a = np.empty((3, 4))", "a.fill(y[0])", "a[:, 1] += x[:, 0]", "return a"],
    [
        "a, b = y.copy(), np.empty(5)",
        "for k in range(3):",
        "    np.multiply(a, y, out=b)",
        "    np.add(b, a, out=a)",
        "return a",
    ],
]


@pytest.mark.parametrize("lines", FILLING)
def test_an_output_is_an_assignment(lines):
    test_a_copy_is_taken(lines)


@pytest.mark.parametrize(
    ("lines", "advice"),
    [
        (["a = np.empty(4)", "b = np.sum(x, axis=0, out=a)", "return a + b"], "statement of its own"),
        (["a = np.empty((3, 4))", "np.sum(x, axis=0, out=a)", "return a"], "the shape of the result"),
        (["a = np.zeros(5, dtype=int)", "np.multiply(y, 2.0, out=a)", "return a"], "make the array of floats"),
        (["z = y", "np.exp(z, out=z)", "return y"], "change a copy of it"),
    ],
)
def test_a_refused_output(lines, advice):
    with pytest.raises(TapeEngineError, match=advice):
        refused(te.program(written(lines)), np.ones((3, 4)), np.ones(5), 1, MASK)
