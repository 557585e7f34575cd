"""Loops count the quotients and remainders of their index instead of dividing in each step."""

import re

import numpy as np
import pytest
from chad.backends.runs import improved, run
from plain_sums import in_order

import tapeengine as te
from tapeengine.chad.backends import tiers

pytestmark = pytest.mark.skipif(not tiers.is_installed(), reason="native code needs llvmlite")


def pairs(x: te.Vec, y: te.Vec) -> float:
    return sum([a * b * b for a in x for b in y])


def triples(x: te.Vec, y: te.Vec) -> float:
    return sum([a * b * c for a in x for b in y for c in x])


def products(x: te.Vec, y: te.Vec) -> float:
    n = len(y)
    rows = [sum(x[k // n] * x[j] * y[k % n] for j in range(len(x))) for k in range(len(x) * n)]
    return sum(r * r for r in rows)


def carried(x: te.Vec, y: te.Vec) -> float:
    n = len(y)
    state = 0.5
    for k in range(len(x) * n):
        state = 0.5 * state * y[k % n] + x[k // n]
    return state


def branching(x: te.Vec, y: te.Vec) -> float:
    n = len(y)
    total = 0.0
    for k in range(len(x)):
        if n > 2:
            total = total + x[k // n] * y[k % n] * x[k]
        else:
            total = total - x[k]
    return total


def by_whole(x: te.Vec, n: int) -> float:
    total = 0.0
    for k in range(len(x)):
        total = total + x[k] * (k // n + 2 * (k % n))
    return total


FUNCTIONS = [pairs, triples, products, carried, branching]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize(("n", "m"), [(0, 3), (3, 0), (1, 1), (5, 1), (1, 5), (5, 3), (9, 4), (13, 7)])
def test_values_are_those_of_python_and_gradients_those_of_differences(function, n, m):
    generator = np.random.default_rng(n + 20 * m)
    x, y = generator.uniform(0.5, 1.0, n), generator.uniform(0.5, 1.0, m)
    program = improved(function, np.ones(4), np.ones(3))
    value, gradient = run(program, x, y)
    assert value == in_order(function, x.tolist(), y.tolist())
    for k, (z, found) in enumerate(zip((x, y), gradient, strict=True)):
        for i in range(len(z)):
            step = np.zeros_like(z)
            step[i] = 1e-6
            up, down = ([*(x, y)[:k], z + s, *(x, y)[k + 1 :]] for s in (step, -step))
            np.testing.assert_allclose(found[i], (function(*up) - function(*down)) / 2e-6, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("function", [pairs, carried], ids=lambda f: f.__name__)
def test_counts_go_on_in_the_next_strip(function):
    generator = np.random.default_rng(3)
    x, y = generator.uniform(0.5, 1.0, 301), generator.uniform(0.5, 1.0, 113)
    value, gradient = run(improved(function, x[:3], y[:2]), x, y)
    assert value == in_order(function, x.tolist(), y.tolist())
    wanted = te.grad(function, argnums=(0, 1))(x, y)
    for found, other in zip(gradient, wanted, strict=True):
        np.testing.assert_allclose(found, other, rtol=1e-9)


@pytest.mark.parametrize("n", [1, 2, 7, 100, -1, -3])
def test_divisors_of_either_sign(n):
    x = np.linspace(0.5, 1.0, 11)
    value, (gradient, _) = run(improved(by_whole, x, 2), x, n)
    assert value == by_whole(x.tolist(), n)
    np.testing.assert_array_equal(gradient, [float(k // n + 2 * (k % n)) for k in range(11)])


def test_a_divisor_of_zero_raises_what_python_raises():
    program = improved(by_whole, np.ones(3), 2)
    assert run(program, np.ones(0), 0)[0] == 0.0
    with pytest.raises(ZeroDivisionError):
        te.vjp(program, np.ones(3), 0)


@pytest.mark.parametrize(
    ("function", "most"), [(pairs, 0), (products, 2), (carried, 0)], ids=["pairs", "products", "carried"]
)
def test_steps_do_not_divide(function, most):
    text = te.program(function, backend="native").inspect()
    assert len(re.findall(r"= [su](?:div|rem) ", text)) <= most  # before a loop whose index decreases


def by_literals(n: int, x: te.Vec) -> te.Vec:
    return [
        x[0] * (n // 1), x[1] * (n % 1), x[2] * (n // 2), x[3] * (n % 2), x[4] * (n // 8), x[5] * (n % 8),
        x[6] * (n // 1024), x[7] * (n % 1024), x[8] * (n // 4611686018427387904), x[9] * (n % 4611686018427387904),
        x[10] * (n // 6), x[11] * (n % 6), x[12] * (n // -2), x[13] * (n % -2),
    ]  # fmt: skip


@pytest.mark.parametrize("n", [0, 1, 2, 7, 8, 9, 1023, 1024, 2**62, 2**63 - 1, -1, -2, -7, -8, -9, -(2**62), -(2**63)])
def test_quotients_by_literals_are_those_of_python(n):
    x, wanted = np.ones(14), by_literals(n, [1.0] * 14)
    for program in (te.program(by_literals, backend="native"), improved(by_literals, n, x)):
        value, back = te.vjp(program, n, x)
        assert list(value) == list(back(np.ones(14))[1]) == wanted
