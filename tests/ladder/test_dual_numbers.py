"""The steps of the dual-numbers paper: equal derivatives, the core's bits, growth of the counts."""

import math as python_math
import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ladder.inputs import PARTICLES, list_of, nested, tree
from ladder.random_terms import Generator, python

import tapeengine as te
from asv_bench import ladder_programs as programs
from tapeengine.chad.language.terms import Definition, If, Module, Op, Tuple, Var, lit
from tapeengine.chad.language.types import BOOL, FLOAT, INT
from tapeengine.ladder.dn import STEPS
from tapeengine.ladder.dn.parallel import in_parallel
from tapeengine.ladder.evaluate import run
from tapeengine.ladder.parse import single

EXAMPLES = 1000 if os.environ.get("TAPEENGINE_NIGHTLY") else 25
BITS = ("arrays", "one array", "contrib", "taping")
numbers = st.lists(st.floats(-2.0, 2.0), min_size=3, max_size=3)


def gradients(module, *primals):
    return {name: derivative(module, *primals).backpropagator(1.0) for name, derivative in STEPS.items()}


def work(step, module, *primals):
    derivative = STEPS[step](module, *primals)
    derivative.backpropagator(1.0)
    return derivative.counts.work


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.integers(0, 2**32 - 1), numbers)
def test_each_step_gives_the_derivative_of_the_engine(seed, xs):
    module = Generator(seed).module()
    value, backpropagator = te.vjp(python(module), *xs)
    expected = backpropagator(1.0)
    scale = max(1.0, *map(abs, expected))
    for name, step in STEPS.items():
        derivative = step(module, *xs)
        assert derivative.value == value == run(module, *xs)
        assert derivative.backpropagator(1.0) == pytest.approx(expected, rel=1e-12, abs=1e-12 * scale), name


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.integers(0, 2**32 - 1), numbers)
def test_the_last_steps_have_the_bits_of_the_core(seed, xs):
    module = Generator(seed, forks=False).module()
    expected = te.vjp(python(module), *xs)[1](1.0)
    for name in BITS:
        found = STEPS[name](module, *xs).backpropagator(1.0)
        assert [x.hex() for x in map(float, found)] == [float(x).hex() for x in expected], name


@pytest.mark.parametrize("name", STEPS)
def test_recursive_types_and_recursion(name):
    gradient = STEPS[name](programs.list_product(), list_of(2.0, 3.0, 4.0)).backpropagator(1.0)
    assert gradient == (list_of(12.0, 8.0, 6.0),)


@pytest.mark.parametrize("name", STEPS)
def test_a_backpropagator_can_be_called_again(name):
    backpropagator = STEPS[name](programs.sharing(5), 1.5).backpropagator
    assert [backpropagator(z) for z in (1.0, 2.0, 1.0)] == [(32.0,), (64.0,), (32.0,)]


@pytest.mark.parametrize("name", STEPS)
def test_outputs_of_any_structure_and_discrete_inputs(name):
    n, x = Var("n", INT), Var("x", FLOAT)
    scaled = Op("mul", (Op("real", (n,), FLOAT), x))
    body = If(Op("lt", (n, lit(0)), BOOL), Tuple((x, Tuple((x, n)))), Tuple((scaled, Tuple((Op("sin", (x,)), n)))))
    module = Module("f", {"f": Definition("f", (n, x), body.type, body)})
    derivative = STEPS[name](module, 3, 0.5)
    assert derivative.value == (1.5, (python_math.sin(0.5), 3))
    none, slope = derivative.backpropagator((1.0, (10.0, None)))
    assert none is None
    assert slope == pytest.approx(3.0 + 10.0 * python_math.cos(0.5), rel=1e-15)


def test_naive_is_exponential_in_sharing():
    calls = [STEPS["naive"](programs.sharing(n), 1.5) for n in range(1, 11)]
    for derivative in calls:
        derivative.backpropagator(1.0)
    assert [d.counts.calls for d in calls] == [2 ** (n + 1) - 1 for n in range(1, 11)]


@pytest.mark.parametrize("name", [name for name in STEPS if name not in ("forward", "naive")])
def test_each_backpropagator_is_called_once(name):
    derivative = STEPS[name](programs.particles(), 5, *PARTICLES)
    derivative.backpropagator(1.0)
    assert derivative.counts.calls == derivative.counts.records


def test_staging_alone_costs_the_input_at_each_call():
    """Section 6.2: 0 and + on c take time in the size of the input."""
    small, large = (work("staged", programs.nested_inputs(n), nested(n)) for n in (12, 36))
    assert large > 7 * small


def test_cayley_costs_the_depth_of_the_input():
    """Section 7.3: logarithmic for a balanced input, linear for a chain of pairs, so quadratic in total."""
    balanced = [work("cayley", programs.balanced_tree(d), tree(d)) / 2**d for d in (3, 6)]
    chain = [work("cayley", programs.nested_inputs(n), nested(n)) / n for n in (8, 32)]
    assert balanced[1] < 2.5 * balanced[0]
    assert chain[1] > 2 * chain[0]


def test_just_the_scalars_leave_a_factor_of_a_logarithm():
    """Section 8."""
    chain = [work("scalars", programs.nested_inputs(n), nested(n)) / n for n in (8, 64)]
    assert 1.2 * chain[0] < chain[1] < 3 * chain[0]


@pytest.mark.parametrize("name", ["arrays", "one array", "contrib", "taping"])
def test_arrays_are_linear(name):
    """Section 9: the work per record does not grow."""
    chain = [work(name, programs.nested_inputs(n), nested(n)) / (2 * n - 1) for n in (8, 32)]
    sharing = [work(name, programs.sharing(n), 1.5) / (n + 1) for n in (16, 64)]
    assert chain[1] < 1.05 * chain[0]
    assert sharing[1] < 1.1 * sharing[0]


def test_forks_in_the_primal_become_joins_in_the_reverse_pass():
    """Four particles in parallel: the longest path is a quarter of the calls, plus a few outside the particles."""
    derivative = STEPS["parallel"](programs.particles(), 40, *PARTICLES)
    derivative.backpropagator(1.0)
    outside = 8 + 3
    assert derivative.counts.span == outside + (derivative.counts.calls - outside) // 4


def test_errors_of_either_task_are_raised():
    for tasks in [(lambda: 1 / 0, lambda: 1), (lambda: 1, lambda: 1 / 0)]:
        with pytest.raises(ZeroDivisionError):
            in_parallel(*tasks)


def test_an_operation_without_base_functions_is_refused():
    x = Var("x", FLOAT)
    with pytest.raises(ValueError, match="base_expit: write the program"):
        run(single((x,), Op("expit", (x,))), 0.5)
