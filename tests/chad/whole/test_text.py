"""What the text of whole-array programs looks like, and how it meets the edges: empty arrays, poles, misfits."""

import ast
import math

import numpy as np
import pytest
from chad.whole.programs import PROGRAMS

import tapeengine
from tapeengine import chad as te
from tapeengine.errors import TapeEngineError

ENGINE = tapeengine.Engine()

WHOLE = ["matrix_product", "distances", "convolution", "windows", "differences", "log_sum_exp", "layer", "triangle"]


@pytest.mark.parametrize("name", WHOLE)
def test_builds_become_whole_array_operations(name):
    tree = ast.parse(PROGRAMS[name][0].executable.whole.text)
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.For | ast.While | ast.ListComp)]


def test_a_matrix_product_is_one_in_all_directions():
    assert PROGRAMS["matrix_product"][0].executable.whole.text.count(" @ ") == 3


def test_nothing_is_computed_twice():
    @te.program
    def f(x: te.Vec) -> float:
        return sum(math.exp(math.sin(v)) for v in x)

    text = f.executable.whole.text
    assert (text.count("np.exp("), text.count("np.sin("), text.count("np.cos(")) == (1, 1, 1)


def test_scalar_programs_need_no_numpy():
    assert "np." not in PROGRAMS["newton"][0].derivative("reverse")
    assert "ops." not in PROGRAMS["newton"][0].derivative("reverse")


@pytest.mark.parametrize("name", ["log_sum_exp_of_none", "sum_of_none"])
def test_empty_arrays(name):
    @te.program
    def sum_of_none(x: te.Vec) -> float:
        return sum(v * v for v in x)

    @te.program
    def log_sum_exp_of_none(x: te.Vec) -> float:
        return math.log(1 + sum(math.exp(v) for v in x))

    program = {p.__name__: p for p in (sum_of_none, log_sum_exp_of_none)}[name]
    value, backpropagator = ENGINE.vjp(program, np.zeros(0))
    assert value == 0.0
    assert backpropagator(1.0)[0].shape == (0,)


def test_empty_matrices_keep_their_shape():
    @te.program
    def product(a: te.Array[te.Vec], b: te.Array[te.Vec]) -> te.Array[te.Vec]:
        return a @ b

    value, backpropagator = product.executable.vjp((np.zeros((2, 0)), np.zeros((0, 3))))
    assert value.shape == (2, 3)
    assert [d.shape for d in backpropagator(np.ones((2, 3)))] == [(2, 0), (0, 3)]


def test_the_first_row_of_an_empty_matrix_is_not_there():
    """The loops ask for ``len(b[0])``, which raises in Python."""
    program = PROGRAMS["matrix_product"][0]
    with pytest.raises(IndexError):
        program.executable.vjp((np.zeros((2, 0)), np.zeros((0, 3))))


def test_a_loop_of_no_steps_hands_the_cotangent_on():
    @te.program
    def f(x: te.Vec, n: int) -> te.Vec:
        v = x
        for _ in range(n):
            v = [2 * a for a in v]
        return v

    _, backpropagator = f.executable.vjp((np.ones(2), 0))
    assert backpropagator(np.array([3.0, 4.0]))[0].tolist() == [3.0, 4.0]


@pytest.mark.parametrize("size", [3, 4])
def test_an_index_out_of_range_raises_as_in_python(size):
    @te.program
    def f(x: te.Vec, w: te.Vec) -> float:
        return sum(w[j] * x[j] for j in range(len(w)))

    @te.program
    def g(x: te.Vec, i: int) -> float:
        return x[i]

    with pytest.raises(IndexError):
        f.executable.vjp((np.ones(2), np.ones(size)))
    with pytest.raises(IndexError):
        g.executable.vjp((np.ones(2), size))


@pytest.mark.parametrize("x", [0.0, np.zeros(3)])
def test_zero_times_an_infinite_partial_is_zero(x):
    @te.program
    def scalar(x: float) -> float:
        return 0.0 * math.sqrt(x) + x

    @te.program
    def whole(x: te.Vec) -> float:
        return sum(0.0 * math.sqrt(v) + v for v in x)

    (ct,) = ENGINE.vjp((whole if isinstance(x, np.ndarray) else scalar), x)[1](1.0)
    assert np.array_equal(ct, np.ones(np.shape(x)))


def test_products_with_vectors_keep_zero_times_an_infinite_partial_zero():
    @te.program
    def rows(x: te.Vec, w: te.Array[te.Vec]) -> te.Vec:
        return w @ np.sqrt(x)

    @te.program
    def columns(x: te.Vec, w: te.Array[te.Vec]) -> te.Vec:
        return np.sqrt(x) @ w

    x, w = np.array([0.0, 4.0, 9.0]), np.array([[0.0, 1.0, 2.0], [0.0, 3.0, 4.0], [0.0, 5.0, 6.0]])
    for program, matrix in ((rows, w), (columns, w.T)):
        _, reverse = program.executable.whole.vjp((x, matrix), may_be_infinite=True)
        assert np.array_equal(reverse(np.ones(3))[0], [0.0, 9.0 / 4.0, 12.0 / 6.0])


def test_rows_of_different_sizes_take_the_general_form():
    @te.program
    def f(xss: te.Array[te.Vec]) -> float:
        return sum(sum(x * x for x in xs) for xs in xss)

    ragged = ([[1.0, 2.0], [3.0]],)
    value, backpropagator = f.executable.vjp(ragged)
    assert (value, backpropagator(1.0)) == (14.0, ([[2.0, 4.0], [6.0]],))


def test_a_cotangent_of_another_shape_is_refused():
    program, args = PROGRAMS["layer"]
    _, backpropagator = program.executable.vjp(args)
    with pytest.raises(TapeEngineError, match="value"):
        backpropagator(np.ones(7))


def test_cotangents_share_no_memory():
    @te.program
    def f(x: te.Vec, y: te.Vec) -> te.Vec:
        return x + y

    ct = np.ones(3)
    dx, dy = f.executable.vjp((np.ones(3), np.ones(3)))[1](ct)
    dx += 1
    assert (ct.tolist(), dy.tolist()) == ([1.0] * 3, [1.0] * 3)


def test_arguments_are_left_alone_and_backpropagators_can_be_called_again():
    for program, args in PROGRAMS.values():
        before = [np.copy(a) for a in args]
        value, backpropagator = program.executable.vjp(args)
        ct = np.ones_like(value) if isinstance(value, np.ndarray) else 1.0 if isinstance(value, float) else value
        first, second = backpropagator(ct), backpropagator(ct)
        assert all(np.array_equal(a, b) for a, b in zip(args, before, strict=True))
        assert all(np.array_equal(a, b) for a, b in zip(first, second, strict=True) if a is not None)


def test_a_map_over_arrays_of_different_sizes_is_evaluated():
    """The size counts even where an element does not."""

    @te.program
    def f(x: te.Vec, y: te.Vec) -> float:
        return sum(map(lambda a, b: a, x, y))

    for y in (np.ones(2), np.ones(1)):
        value, backpropagator = f.executable.vjp((np.array([2.0, 3.0]), y))
        assert value == sum([2.0, 3.0][: len(y)])
        assert backpropagator(1.0)[0].tolist() == [1.0, 1.0][: len(y)] + [0.0] * (2 - len(y))
