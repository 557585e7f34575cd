"""Programs that change parts of arrays of two axes in loops: values, complex steps, native code, no copies of rows."""

import warnings

import numpy as np
import pytest
from chad.backends.runs import BACKENDS
from chad.test_names_of_copies import lower_upper
from chad.whole.agreement import attempt
from chad.written_functions import function_of

import tapeengine as te


def rank_one_updates(a, c):
    c = c.copy()
    for i in range(a.shape[0]):
        c[i, : i + 1] *= 0.7
        for k in range(a.shape[1]):
            c[i, : i + 1] += 0.3 * a[i, k] * a[: i + 1, k]
    return c


def waves(a, c):
    ex, ey, hz = a.copy(), a * 0.5, c.copy()
    for t in range(3):
        ey[0, :] = c[t, 0]
        ey[1:, :] -= 0.5 * (hz[1:, :] - hz[:-1, :])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])
    return hz


def smoothing(a, c):
    u, v = a.copy(), c.copy()
    for _ in range(3):
        v[1:-1, 1:-1] = 0.2 * (u[1:-1, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] + u[2:, 1:-1] + u[:-2, 1:-1])
        u[1:-1, 1:-1] = 0.5 * v[1:-1, 1:-1] + 0.1 * v[:-2, 2:]
    return u


def triangles(a, c):
    return lower_upper(a @ c + 9.0 * np.eye(a.shape[0]))


def steps_of_a_system(a, c):
    ys = np.zeros((7, a.shape[1]))
    ys[0] = a[0]
    for k in range(6):
        y = ys[k].copy()
        ys[k + 1] = y + 0.1 * c[:, 0] * y * y
    return ys


def rows_one_after_the_other(a, c):
    a = np.exp(a)
    for i in range(a.shape[0]):
        a[i, :] /= np.sum(a[i, :])
    a[:, 0] = a[:, 1]
    a[1:3, 2] += 1.0
    a[::2, 1] = 3.0 * a[::2, 2]
    a[-1, 1:] = a[0, :-1] * c[1, 1:]
    a[[0, 2], 1] *= c[0, 0]
    return a


def columns(a, c):
    c = c - np.mean(c, axis=0)
    found = np.zeros((c.shape[1], c.shape[1]))
    for i in range(c.shape[1]):
        found[i:, i] = c[:, i] @ c[:, i:] / (c.shape[0] - 1.0)
        found[i, i:] = found[i:, i]
    return found * a


PROGRAMS = (
    rank_one_updates, waves, smoothing, triangles, steps_of_a_system, rows_one_after_the_other, columns,
)  # fmt: skip


def given():
    drawn = np.random.default_rng(5)
    return drawn.uniform(0.2, 1.0, (5, 5)), drawn.uniform(0.2, 1.0, (5, 5))


def complex_of(function):
    """The function for complex arguments, whose new arrays are complex."""
    return type(function)(function.__code__, {**function.__globals__, "np": Complex()})


class Complex:
    """numpy, with arrays of complex zeros."""

    def zeros(self, shape):
        return np.zeros(shape, complex)

    def __getattr__(self, name):
        return getattr(np, name)


def step(function, args, tangents, h=1e-30):
    """The directional derivative by a complex step."""
    return complex_of(function)(*(x + 1j * h * t for x, t in zip(args, tangents, strict=True))).imag / h


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_values_and_derivatives_without_a_fallback(function, backend):
    args, drawn = given(), np.random.default_rng(6)
    typed = te.program(function, backend=backend)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        value, backpropagator = te.vjp(typed, *args)
    wanted = function(*args)
    np.testing.assert_allclose(value, wanted, rtol=1e-13, atol=1e-14)
    cotangent = drawn.normal(size=wanted.shape)
    tangents = tuple(drawn.normal(size=x.shape) for x in args)
    expected = np.sum(cotangent * step(function, args, tangents))
    found = sum(np.sum(t * d) for t, d in zip(tangents, backpropagator(cotangent), strict=True))
    assert found == pytest.approx(expected, rel=1e-11)
    assert np.sum(te.jvp(typed, args, tangents)[1] * cotangent) == pytest.approx(expected, rel=1e-11)
    assert typed.for_values(args).executable.passes is not None


@pytest.mark.parametrize("function", (rank_one_updates, triangles), ids=lambda f: f.__name__)
def test_a_step_costs_what_its_part_costs(function):
    """The machine's instructions grow as numpy's operations do: with the third power of the side, not the fourth."""
    typed = te.program(function, backend="machine")
    counts = []
    for side in (4, 8):
        args = tuple(np.random.default_rng(k).uniform(0.2, 1.0, (side, side)) for k in (1, 2))
        back = te.vjp(typed, *args)[1]
        counts.append(back.steps + back.passed(np.ones((side, side))))
    assert counts[1] < 9.0 * counts[0]


#: Statements on a copy c of an argument a, both of three rows and three columns.
STATEMENTS = (
    "for i in range(1, 3):\n    c[i] = c[i - 1]\n    c[i - 1] = a[i] * 2.0",
    "c[0, :] = 0.5\nc[1] = [1.0, 2.0, 3.0]\nc[2] += a[1] * 2.0",
    "for i in range(3):\n    for j in range(3):\n        c[i] += c[j]",
    "def g(i):\n    return c[i] * 2.0\nfor i in range(3):\n    c[i] = g(i) + 1.0",
    "x = c[0, 0]\nc[0, :] = 5.0\nc[1] *= x",
    "s = c[1] + 0.0\nc[1] = s * s\nc[1:] = c[:-1]",
    "c[1:, :] = c[:-1, :]",
    "c[1:, 1:] += c[:-1, :-1]",
    "for i in range(3):\n    c[i][0] = c[i][1] * 2.0\n    c[i] = c[i] * c[i]",
    "c[np.array([0, 2])] = a[1:]\nc[-1] -= 1.0",
    "m = c > 0.5\nc[m] = 0.0\nc[0] = c[1] + 1.0",
    "i = 0\nwhile i < 3:\n    c[i] = c[i] * 2.0\n    i += 1",
    "for i in range(3):\n    if a[i, 0] > 0.5:\n        c[i, :] = a[i, ::-1]\n    else:\n        c[:, i] = 0.0",
    "c[5 - 3] = a[0]\nc[-1, -2:] = a[0, :2]\nc[0:0, 1] = 3.0",
    "for i in range(3):\n    c[i, i:] = c[i, i:][::-1]",
    "c[0, :] = 0.0\ny = c[0, :]\nc = c * 1.0 + y",
    "f = lambda i: c[i, :] * 2.0\nu = f(0)\nc[0, :] = u\nc[1, :] += f(2)",
    "d, c = c * 2.0, a * a\nc[0, 1:] = d[1, :-1]\nd[:, 2] = c[:, 0]\nc[2, :] = d[:, 2]",
    "c[:, ::2] *= np.sum(c[1:, ::2])\nc[[0, 1], 1] = c[2, [0, 2]]",
    "c[0, 1] = 2.0\nc[[0, 1], 1] = c[[1, 0], 2] * c[[0, 2], 1]",
    "m = a[0] > 0.3\nc[0, :] *= 2.0\nc[m, 1] += c[m, 1] * c[m, -1]",
    "c[1, np.array([2, 0])] -= c[0, np.array([1, 0])] * c[np.array([0, 2]), -1]",
    "c[3] = a[0]",
    "c[0:0, 7] = 1.0",
    "c[0, :] = a[0, :2]",
    "c[1:, 0] = a[0]",
    "c[-4, 1:] += 1.0",
)


@pytest.mark.filterwarnings("ignore:.*runs without native code")
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("text", STATEMENTS)
def test_statements_do_what_numpy_does(text, backend):
    function, a = (
        function_of("a", ["c = a.copy()", *text.splitlines(), "return c"]),
        np.random.default_rng(3).uniform(size=(3, 3)),
    )
    wanted = attempt(lambda: function(a))
    found = attempt(lambda: te.vjp(te.program(function, backend=backend), a))
    if isinstance(wanted, type):
        assert found is wanted
        return
    value, backpropagator = found
    np.testing.assert_allclose(value, wanted, rtol=1e-13, atol=1e-14)
    cotangent, direction = np.cos(np.arange(9.0)).reshape(3, 3), np.sin(np.arange(9.0)).reshape(3, 3)
    h = 1e-6
    difference = np.sum(cotangent * (function(a + h * direction) - function(a - h * direction))) / (2 * h)
    assert np.sum(backpropagator(cotangent)[0] * direction) == pytest.approx(difference, rel=1e-6, abs=1e-8)
