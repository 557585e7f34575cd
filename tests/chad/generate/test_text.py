"""What the generated text looks like, and how it meets the edges: empty arrays, poles, misfits, identifiers."""

import ast
import math

import numpy as np
import pytest
from chad.generate.programs import PROGRAMS

from tapeengine import chad as te
from tapeengine.chad.generate.text import Writer
from tapeengine.chad.imperative import Assign, Const, Function, Ref
from tapeengine.errors import TapeEngineError

WHOLE = ["matrix_product", "distances", "convolution", "windows", "differences", "log_sum_exp", "layer", "triangle"]


def generated(program):
    return program.executable.generated


@pytest.mark.parametrize("name", WHOLE)
def test_builds_become_whole_array_operations(name):
    tree = ast.parse(generated(PROGRAMS[name][0]).text)
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.For | ast.While | ast.ListComp)]


def test_a_matrix_product_is_one_in_all_directions():
    assert generated(PROGRAMS["matrix_product"][0]).text.count(" @ ") == 3


def test_nothing_is_computed_twice():
    @te.program
    def f(x: te.Vec) -> float:
        return sum(math.exp(math.sin(v)) for v in x)

    text = generated(f).text
    assert (text.count("np.exp("), text.count("np.sin("), text.count("np.cos(")) == (1, 1, 1)


def test_scalar_programs_need_no_numpy():
    assert "np." not in generated(PROGRAMS["newton"][0]).text
    assert "ops." not in generated(PROGRAMS["newton"][0]).text


@pytest.mark.parametrize("name", ["log_sum_exp_of_none", "sum_of_none"])
def test_empty_arrays(name):
    @te.program
    def sum_of_none(x: te.Vec) -> float:
        return sum(v * v for v in x)

    @te.program
    def log_sum_exp_of_none(x: te.Vec) -> float:
        return math.log(1 + sum(math.exp(v) for v in x))

    program = {p.__name__: p for p in (sum_of_none, log_sum_exp_of_none)}[name]
    value, backpropagator = generated(program).vjp((np.zeros(0),))
    assert value == 0.0
    assert backpropagator(1.0)[0].shape == (0,)


def test_empty_matrices_keep_their_shape():
    program = PROGRAMS["matrix_product"][0]
    _, backpropagator = generated(program).vjp((np.zeros((2, 0)), np.zeros((0, 3))))
    assert [d.shape for d in backpropagator(np.ones((2, 3)))] == [(2, 0), (0, 3)]


def test_a_loop_of_no_steps_hands_the_cotangent_on():
    @te.program
    def f(x: te.Vec, n: int) -> te.Vec:
        v = x
        for _ in range(n):
            v = [2 * a for a in v]
        return v

    _, backpropagator = generated(f).vjp((np.ones(2), 0))
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

    (ct,) = (whole if isinstance(x, np.ndarray) else scalar).executable.vjp((x,))[1](1.0)
    assert np.array_equal(ct, np.ones(np.shape(x)))


def test_rows_of_different_sizes_take_the_general_form():
    @te.program
    def f(xss: te.Array[te.Vec]) -> float:
        return sum(sum(x * x for x in xs) for xs in xss)

    ragged = ([[1.0, 2.0], [3.0]],)
    value, backpropagator = generated(f).vjp(ragged)
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
        ct = np.ones_like(value) if isinstance(value, np.ndarray) else 1.0 if isinstance(value, float) else None
        first, second = backpropagator(ct), backpropagator(ct)
        assert all(np.array_equal(a, b) for a, b in zip(args, before, strict=True))
        assert all(np.array_equal(a, b) for a, b in zip(first, second, strict=True) if a is not None)


def test_only_identifiers_reach_the_text():
    evil = Ref("x = 1; import os")
    function = Function("forward", [], [Assign(evil, "exp", (Const(1.0),))], [evil, evil])
    with pytest.raises(ValueError, match="identifier"):
        Writer({}, exact=False).function(function, [], takes_residuals=False)


def test_a_recursive_definition_is_a_pair_of_passes_that_call_each_other():
    @te.program
    def power(x: float, n: int) -> float:
        return 1.0 if n == 0 else x * power(x, n - 1)

    value, backpropagator = power.executable.generated.vjp((2.0, 5))
    assert (value, backpropagator(1.0)) == (32.0, (80.0, None))
    assert (
        power.derivative()
        == """\
def forward_power(x_1, n_1):
    t = n_1 == 0
    if t:
        y_2 = 1.0
        kept_2 = ()
    else:
        y_1, kept_1 = forward_power(x_1, n_1 - 1)
        y_2 = x_1 * y_1
        kept_2 = (y_1, kept_1)
    return y_2, (kept_2, x_1, t)


def reverse_power(residuals, ct_1):
    kept_2, x_1, t = residuals
    d_x_1 = 0.0
    if t:
        pass
    else:
        y_1, kept_1 = kept_2
        d_x_1 = ct_1 * y_1
        d_x_1_1 = reverse_power(kept_1, ct_1 * x_1)
        d_x_1 += d_x_1_1
    return d_x_1


def forward(x, n):
    y, kept = forward_power(x, n)
    return (y,), (kept,)


def reverse(residuals, ct):
    kept, = residuals
    d_x = reverse_power(kept, ct)
    return (d_x, 0.0)
"""
    )


def test_a_map_over_arrays_of_different_sizes_is_evaluated():
    """The size counts even where an element does not: what was generated once gave the size of the first array."""

    @te.program
    def f(x: te.Vec, y: te.Vec) -> float:
        return sum(map(lambda a, b: a, x, y))

    for y in (np.ones(2), np.ones(1)):
        value, backpropagator = f.executable.vjp((np.array([2.0, 3.0]), y))
        assert value == sum([2.0, 3.0][: len(y)])
        assert backpropagator(1.0)[0].tolist() == [1.0, 1.0][: len(y)] + [0.0] * (2 - len(y))
