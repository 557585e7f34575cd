"""Recursion: how deep it goes, what it costs, and the errors that it raises."""

import math
import sys

import numpy as np
import pytest
from chad.whole.test_sums import ENGINE, Chain, Leaf, Pair, forest

import tapeengine
import tapeengine.math
from tapeengine import chad as te

# ------------------------------------------------------------ depth


def chain_of(n):
    chain = None
    for i in range(n):
        chain = Chain(math.sin(i), chain)
    return chain


def values_of(chain):
    found = []
    while chain is not None:
        found.append(chain.value)
        chain = chain.rest
    return found


@te.program
def evaluated_chain(chain: Chain | None, x: float) -> float:
    return 0.0 if chain is None else chain.value + x * evaluated_chain(chain.rest, x)


@te.program
def copied(chain: Chain | None, x: float) -> Chain | None:
    if chain is None:
        return None
    return Chain(chain.value * x, copied(chain.rest, x))


def test_a_list_of_a_hundred_thousand_links_needs_no_recursion_limit():
    n = 100_000
    limit = sys.getrecursionlimit()
    chain = chain_of(n)
    value, backpropagator = evaluated_chain.executable.vjp((chain, 0.999))
    d_chain, d_x = backpropagator(2.0)
    values = np.array(values_of(chain))
    powers = 0.999 ** np.arange(n)
    assert value == pytest.approx(values @ powers, rel=1e-12)
    np.testing.assert_allclose(values_of(d_chain), 2.0 * powers, rtol=1e-9)
    assert d_x == pytest.approx(2.0 * (values[1:] @ (np.arange(1, n) * powers[:-1])), rel=1e-9)
    assert sys.getrecursionlimit() == limit


def test_a_deep_list_goes_in_and_out():
    n = 50_000
    chain = chain_of(n)
    value, backpropagator = copied.executable.vjp((chain, 3.0))
    assert values_of(value) == [3.0 * v for v in values_of(chain)]
    d_chain, d_x = backpropagator(chain)
    assert values_of(d_chain) == [3.0 * v for v in values_of(chain)]
    assert d_x == pytest.approx(sum(v * v for v in values_of(chain)), rel=1e-9)


# ------------------------------------------------------------ cost


def counted(program, args, ct):
    """The lines of a gradient's text that run."""
    compiled = program.executable
    compiled.longer_vjp(args)[1](ct)
    count = 0

    def trace(frame, event, _):
        nonlocal count
        if frame.f_code.co_filename != "<program>":
            return None
        count += event == "line"
        return trace

    sys.settrace(trace)
    try:
        compiled.longer_vjp(args)[1](ct)
    finally:
        sys.settrace(None)
    return count


def full_tree(depth):
    """A tree with 2**depth leaves."""
    return Leaf(0.5) if depth == 0 else Pair(full_tree(depth - 1), full_tree(depth - 1), 0.9)


def test_the_lines_run_grow_with_the_leaves_of_a_tree():
    """EC's bound: the gradient costs a constant times the program, here linear in the number of leaves."""
    counts = [counted(forest, (full_tree(depth), 1.1), 1.0) for depth in (4, 5, 6)]
    leaves_of = [2**depth for depth in (4, 5, 6)]
    each = (counts[1] - counts[0]) / (leaves_of[1] - leaves_of[0])
    assert counts[2] - counts[1] == each * (leaves_of[2] - leaves_of[1])
    assert each < 64


# ------------------------------------------------------------ errors


def test_errors_are_those_of_python():
    @te.program
    def walk(xs: te.Vec, i: int) -> float:
        return xs[i] + (walk(xs, i + 1) if i < 5 else 0.0)

    with pytest.raises(IndexError):
        walk.executable.vjp((np.ones(3), 0))

    @te.program
    def pick(x: float, k: int) -> float:
        def times(y: float) -> float:
            return y * x

        def plus(y: float) -> float:
            return y + x

        return [times, plus][k](x)

    assert pick.executable.vjp((2.0, 1))[0] == 4.0
    with pytest.raises(IndexError):
        pick.executable.vjp((2.0, 2))


def test_a_list_that_is_read_once_has_a_cotangent_to_add_to():
    @te.program
    def pick(chain: Chain | None, k: int) -> float:
        def total(c: Chain | None) -> float:
            return 0.0 if c is None else c.value + total(c.rest)

        chains = [chain, Chain(3.0, chain)]
        if k > 0:
            return total(chains[k])
        return total(chain)

    chain = Chain(1.0, Chain(2.0, None))
    value, backpropagator = pick.executable.vjp((chain, 1))
    assert (value, values_of(backpropagator(2.0)[0])) == (6.0, [2.0, 2.0])


def test_a_value_that_is_no_option_is_refused():
    with pytest.raises(tapeengine.errors.StructureError, match="Chain"):
        evaluated_chain.executable.vjp((Leaf(1.0), 0.5))


def test_poles_inside_boxes_raise_what_the_program_raises():

    @te.program
    def inverted(chain: Chain | None) -> Chain | None:
        if chain is None:
            return None
        return Chain(1.0 / chain.value, inverted(chain.rest))

    with pytest.raises(ZeroDivisionError):
        ENGINE.vjp(inverted, Chain(0.0, Chain(2.0, None)))
    value, backpropagator = ENGINE.vjp(inverted, Chain(4.0, Chain(2.0, None)))
    assert values_of(value) == [0.25, 0.5]
    assert values_of(backpropagator(Chain(0.0, Chain(1.0, None)))[0]) == [0.0, -0.25]


def test_a_cotangent_of_zero_gives_zero_where_a_derivative_inside_a_box_is_infinite():
    """The fast reverse pass gives NaN there, which is found inside the box; the exact one gives zero."""

    @te.program
    def roots(chain: Chain | None) -> Chain | None:
        if chain is None:
            return None
        return Chain(tapeengine.math.sqrt(chain.value), roots(chain.rest))

    value, backpropagator = ENGINE.vjp(roots, Chain(0.0, Chain(4.0, None)))
    assert values_of(value) == [0.0, 2.0]
    assert values_of(backpropagator(Chain(0.0, Chain(1.0, None)))[0]) == [0.0, 0.25]
    assert values_of(backpropagator(Chain(1.0, Chain(0.0, None)))[0]) == [math.inf, 0.0]
