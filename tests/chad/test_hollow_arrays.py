"""Arrays with axes of no elements: numpy's shapes, and an error wherever numpy has one; and axes of equal elements."""

import itertools

import numpy as np
import pytest
from outcomes import outcome

import tapeengine as te
from tapeengine.errors import TapeEngineError

TEXTS = (
    "return a + b",
    "return np.maximum(a, b) * a",
    "return np.where(a > 0, a, b)",
    "return a - b.T",
    "return np.sum(a * b)",
    "return np.sum(a, axis=0) + np.sum(b, axis=0)",
    "return a[:, None] + b",
    "return a @ b",
    "return np.dot(a, b)",
    "return np.einsum('ij,jk->ik', a, b)",
    "return np.concatenate([a, b])",
    "return np.stack([a, b])",
    "return np.outer(a, b)",
    "c = np.zeros(a.shape)\n    c[:] = b\n    return c",
    "c = a.copy()\n    c[1:] = b\n    return c",
    "c = a * 1.0\n    c += b\n    return c",
)
SHAPES = [s for n in (1, 2, 3) for s in itertools.product((0, 1, 2), repeat=n)]
PAIRS = [(s, t) for s in SHAPES for t in SHAPES if 0 in (*s, *t)]


def of_text(tmp_path, text):
    """Return the function of a file."""
    path = tmp_path / "shapes.py"
    path.write_text(f"def f(a, b):\n    {text}\n")
    scope = {"np": np}
    exec(compile(path.read_text(), path, "exec"), scope)
    return scope["f"]


@pytest.mark.parametrize("text", TEXTS)
def test_shapes_without_elements_are_compared(tmp_path, text):
    f, draw = of_text(tmp_path, text), np.random.default_rng(len(text))
    program = te.program(f)
    for k in draw.choice(len(PAIRS), 14, replace=False):
        a, b = (draw.normal(size=shape) for shape in PAIRS[k])
        wanted = outcome(lambda a=a, b=b: f(a, b))
        found = outcome(lambda a=a, b=b: te.vjp(program, a, b))
        if isinstance(wanted, Exception):
            assert isinstance(found, TapeEngineError | type(wanted)), (PAIRS[k], found)
        elif not isinstance(found, TapeEngineError):  # what the language has not for these ranks
            assert np.shape(found[0]) == wanted.shape
            np.testing.assert_array_equal(found[0], wanted)
            given = found[1](np.ones(wanted.shape) if wanted.shape else 1.0)
            assert [d.shape for d in given] == list(PAIRS[k])


@pytest.mark.parametrize("backend", [None, "machine", "native"])
@pytest.mark.parametrize("shape", [(1, 3, 1), (1, 1, 2), (2, 1, 1), (1, 1, 1), (2, 3, 1)])
def test_elements_that_are_equal_along_an_axis_are_all_assigned(tmp_path, shape, backend):
    f = of_text(tmp_path, TEXTS[13])
    a, b = np.zeros((2, 3, 2)), np.random.default_rng(1).normal(size=shape)
    value, back = te.vjp(te.program(f, backend=backend), a, b)
    np.testing.assert_array_equal(value, np.broadcast_to(b, a.shape))
    weights = np.arange(12.0).reshape(a.shape)
    axes = tuple(k for k, n in enumerate(shape) if n == 1)
    np.testing.assert_allclose(back(weights)[1], weights.sum(axes, keepdims=True), rtol=1e-14)


MADE = (
    "np.zeros((0, 3))",
    "a[3:]",
    "a[:, 3:]",
    "a[a[:, 0] > 99.0]",
    "np.zeros((len(a), 0))",
    "2.0 * a[5:]",
    "np.ones((0, 300))",
)
WITH = ("{} + b", "b * {}", "{} @ b", "np.maximum({}, b[:2])", "abs(b) - {}", "{} / a[3:]")


@pytest.mark.parametrize("form", WITH)
def test_arrays_without_elements_that_a_program_makes(tmp_path, form):
    for made in MADE:
        f = of_text(tmp_path, "return " + form.format(made))
        program = te.program(f)
        for shape in ((3,), (4,), (3, 3), (2, 4)):
            a, b = np.full((3, 3), 0.5), np.full(shape, 0.25)
            wanted = outcome(lambda a=a, b=b, f=f: f(a, b))
            found = outcome(lambda a=a, b=b, program=program: te.vjp(program, a, b))
            if isinstance(wanted, Exception):
                assert isinstance(found, TapeEngineError | type(wanted)), (made, shape, found)
            elif not isinstance(found, TapeEngineError):
                assert np.shape(found[0]) == np.shape(wanted), (made, shape)
                assert [d.shape for d in found[1](np.zeros(wanted.shape))] == [a.shape, b.shape]


#: Operands of a hollow array whose sizes their text shows in various ways, or only a run knows.
OPERANDS = (
    "b[:, None]",
    "b[b > 1.0]",
    "np.concatenate((b, b))",
    "np.array([1.0, b[0]])",
    "b[np.array([0, 1])]",
    "np.cumsum(b)",
    "np.sum(np.ones((3, 2)) * b[:2], axis=0)",
    "np.linspace(0.0, 1.0, 5)",
    "(b if b[0] > 0 else b[:2])",
    "np.tile(b, 2)",
    "np.outer(b, b).T",
    "a[a[:, 0] > 99.0]",
    "(a[5:] if b[0] > 0 else a[4:])",
    "np.concatenate((a[5:], a[6:]))",
    "np.cumsum(a[5:], axis=0)",
)


@pytest.mark.parametrize("operand", OPERANDS)
@pytest.mark.parametrize("made", ["np.zeros((0, 3))", "np.zeros((0, 2, 3))"])
def test_sizes_that_a_text_does_not_show_are_compared(tmp_path, made, operand):
    f = of_text(
        tmp_path, f"c = {operand}\n    return {made} + c if np.ndim(c) < 2 else (c @ np.ones(3), {made} + c)[1]"
    )
    program = te.program(f)
    for size in (2, 3):
        a, b = np.ones((size, size)), np.arange(1.0, size + 1)
        wanted = outcome(lambda a=a, b=b: f(a, b))
        for found in (
            outcome(lambda a=a, b=b: te.vjp(program, a, b)[0]),
            outcome(lambda a=a, b=b: te.jvp(program, (a, b), (a, b))[0]),
        ):
            if isinstance(wanted, Exception):
                assert isinstance(found, type(wanted)), (size, found)
            else:
                assert np.shape(found) == wanted.shape
