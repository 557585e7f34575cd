"""Changing an element takes constant time in both passes, wherever it stands: statements that run are counted."""

import functools
import os
import random

import numpy as np
import pytest
from chad.lowering.counted import counting
from chad.lowering.leaves import Leaves
from chad.written_functions import defined

import tapeengine as te
from tapeengine.recursion import deep

COUNT = 400 if os.environ.get("TAPEENGINE_NIGHTLY") == "1" else 24
VECTOR = [
    "y[{i}] = y[{j}] * {c}",
    "y[{i}] -= f * y[{j}]",
    "y[{i}], y[{j}] = y[{j}], y[{i}]",
    "f = y[{i}] * y[{j}]",
    "f += y[{i}]",
    "if y[{i}] > 0.1:\n{s}    y[{j}] += {c} * f\n{s}else:\n{s}    f -= y[{j}]",
    "y[{i}] = f",
    "g = y[{j}]\n{s}y[{i}] *= {c}\n{s}f = 0.5 * f + g * y[{i}]",
]
GRID = [
    "m[{i}][1] = m[{j}][0] * {c}",
    "m[{i}][{j}] -= f * m[{j}][2]",
    "m[{i}], m[{j}] = m[{j}], m[{i}]",
    "m[{i}] = [{c} * v for v in m[{j}]]",
    "m[{i}] = [u - f * v for u, v in zip(m[{i}], m[{j}])]",
    "f = m[{i}][1] * m[{j}][0]",
    "f += sum(m[{i}])",
    "if m[{i}][0] > 0.1:\n{s}    m[{j}][2] += {c} * f",
]
#: Statements that only read an array, most of them in loops of their own.
READS = [
    "for o in range(3):\n{s}    f += 0.1 * {o}",
    "for o in range(3):\n{s}    f = 0.3 * {o}\n{s}    if f > 0.2:\n{s}        break",
    "for o in range(2):\n{s}    for e in range(2):\n{s}        f += 0.1 * {o} * {e}",
    "if f > 0.1:\n{s}    for o in range(3):\n{s}        f -= 0.1 * {o}",
    "for e in range(2):\n{s}    if f > 0.2:\n{s}        for o in range(2):\n{s}            f += 0.1 * {o} * {e}",
    "c = 0\n{s}while c < 2:\n{s}    f += 0.1 * {c} * f\n{s}    c += 1",
    "f += sum({o} * {i} for o in range(3))",
    "f = max(0.9 * {o} for o in range(3))",
    "z = [{o} * f for o in range(3)]\n{s}f = z[0] + z[{k}]",
    "z = [0.0, 0.0, 0.0]\n{s}for o in range(3):\n{s}    z[o] = {o} * f\n{s}f += z[{k}]",
    "def g(n):\n{s}    a = 0.0\n{s}    for o in range(n):\n{s}        a += {o} * f\n{s}    return a\n{s}f = 0.3 * g(3)",
    "f += 0.1 * total({y}, 2)",
    "f = total({y}, 2) * total({y}, {k}) + twice({y})",
    "if f > 0.3:\n{s}    f -= 0.2 * twice({y})",
]


@te.program
def total(y: list[float], n: int) -> float:
    f = 0.0
    for o in range(n):
        f += y[o] * y[0]
    return f


@te.program
def twice(y: list[float]) -> float:
    return total(y, 2) + total(y, 1) if y[0] > 0.1 else total(y, 3)


def reading(draw, text, on_rows, space):
    """A statement of `READS` on a vector, or on a grid of rows."""
    at = f"m[{{0}}][{draw.choice('012')}]" if on_rows else "y[{0}]"
    k = draw.choice(["0", "1", "2"])
    each = {x: at.format(x) for x in "oec"}
    return text.format(**each, i=at.format(k), k=k, y="m" if on_rows else "y", s=space)


def drawn(draw, forms, depth, indices, space):
    """Statements, with loops among them."""
    lines = []
    for _ in range(draw.randint(1, 3)):
        i, j = draw.choice(indices), draw.choice(indices)
        lines.append(draw.choice(forms).format(i=i, j=j, c=draw.choice(["0.5", "1.1", "-0.3"]), s=space))
        if depth and draw.random() < 0.7:
            index = "pqr"[depth - 1]
            inner = drawn(draw, forms, depth - 1, [*indices, index, f"2 - {index}"], space + "    ")
            lines.append(f"for {index} in range(3):\n{space}    " + f"\n{space}    ".join(inner))
    return lines


@functools.cache
def program(seed, on_rows):
    """A program that changes an array, or rows of one, of any size a few times."""
    draw = random.Random(seed)
    made = "m = [[v, 2.0 * v, v - 1.0] for v in x]" if on_rows else "y = [0.5 * v for v in x]"
    total = "m[0][0] - m[1][2] + sum(m[2])" if on_rows else "y[0] - y[1] * y[2]"
    body = drawn(draw, GRID if on_rows else VECTOR, 3, ["0", "1", "2"], "    ")
    lines = [made, "f = 0.7", *body, f"return f + {total}"]
    text = "def f(x: list[float]) -> float:\n    " + "\n    ".join(lines) + "\n"
    return te.program(defined(text)), text


@functools.cache
def stepped(seed, on_rows, steps):
    """A program with a loop that changes elements of an array, and reads some in inner loops, in random order."""
    draw = random.Random(seed)
    forms = [x for x in (GRID if on_rows else VECTOR) if not x.startswith(("m[{i}] =", "m[{i}], "))]
    body = []
    for _ in range(draw.randint(1, 3)):
        body += drawn(draw, forms, draw.randint(0, 1), ["0", "1", "2", "t % 3"], "        ")[:2]
        body.append(reading(draw, draw.choice(READS[:-3] if on_rows else READS), on_rows, "        "))
    draw.shuffle(body)
    made = "m = [[v, 2.0 * v, v - 1.0] for v in x]" if on_rows else "y = [0.5 * v for v in x]"
    end = "f + m[0][0] - m[1][2]" if on_rows else "f + y[0] - y[1] * y[2]"
    lines = [made, "f = 0.7", f"for t in range({steps}):", *(f"    {line}" for line in body), f"return {end}"]
    text = "def f(x: list[float]) -> float:\n    " + "\n    ".join(lines) + "\n"
    return te.program(defined(text, total=total, twice=twice)), text


def counted(made, n):
    """How many statements and elements both passes go through for an argument of n numbers."""
    executable, count = made.executable, [0]
    passes = counting(executable.reverse_form.program, count, executable.primitives)
    with deep():
        leaves = Leaves(executable.closed.types, executable.reverse_form.is_dense)
        given = leaves.flat(made.executable.definition.params[0].of, np.linspace(0.2, 0.9, n).tolist())
        *_, kept = passes["forward"](*given)
        passes["reverse"](kept, 1.0)
    return count[0]


def counted_along(made, n):
    """How many statements and elements the tangent goes through for an argument of n numbers."""
    executable, form, count = made.executable, made.executable.tangent_form, [0]
    functions = counting(form.program, count, executable.primitives)
    with deep():
        leaves = Leaves(executable.closed.types, form.is_dense)
        given = leaves.flat(executable.definition.params[0].of, np.linspace(0.2, 0.9, n).tolist())
        functions[form.main](*given, *given)
    return count[0]


#: How many times the passes may go through the array itself: to make it, to sum it, to add its cotangents, to copy
#: these. For rows it leaves room for loops that only read, inside a loop that changes the array: at each step of that
#: loop they add up their cotangents in an array of their own.
PER_ELEMENT = {False: 24, True: 200}


@pytest.mark.parametrize("seed", range(COUNT))
@pytest.mark.parametrize("on_rows", [False, True])
def test_changes_of_elements_do_not_depend_on_the_size_of_the_array(seed, on_rows):
    made, text = program(seed, on_rows)
    small, large = counted(made, 20), counted(made, 420)
    assert large - small <= 400 * PER_ELEMENT[on_rows], f"{small} {large}\n{text}"


@pytest.mark.parametrize("seed", range(COUNT))
@pytest.mark.parametrize("on_rows", [False, True])
def test_the_tangent_of_a_change_does_not_depend_on_the_size_of_the_array(seed, on_rows):
    made, text = program(seed, on_rows)
    small, large = counted_along(made, 20), counted_along(made, 420)
    assert large - small <= 400 * PER_ELEMENT[on_rows], f"{small} {large}\n{text}"


@pytest.mark.parametrize("seed", range(COUNT))
@pytest.mark.parametrize("on_rows", [False, True])
def test_changes_have_the_tangents_of_dual_numbers(seed, on_rows):
    made, text = program(seed, on_rows)
    x, t = np.linspace(0.2, 0.9, 7).tolist(), np.linspace(-0.4, 1.1, 7).tolist()
    for found, expected in zip(te.jvp(made, (x,), (t,)), te.jvp(made.python, (x,), (t,)), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13, err_msg=text)


@pytest.mark.parametrize("seed", range(COUNT))
@pytest.mark.parametrize("on_rows", [False, True])
def test_changes_have_the_values_and_cotangents_of_dual_numbers(seed, on_rows):
    made, text = program(seed, on_rows)
    x = np.linspace(0.2, 0.9, 7).tolist()
    value, backpropagator = te.vjp(made, x)
    expected, by_duals = te.vjp(made.python, x)
    np.testing.assert_allclose(value, expected, rtol=1e-12, err_msg=text)
    np.testing.assert_allclose(backpropagator(1.0)[0], by_duals(1.0)[0], rtol=1e-10, atol=1e-12, err_msg=text)


@pytest.mark.parametrize("seed", range(COUNT))
@pytest.mark.parametrize("on_rows", [False, True])
def test_loops_that_read_an_array_add_to_the_sum_of_the_loop_that_changes_it(seed, on_rows):
    """However many steps the outer loop has, both passes go through the array itself equally often."""
    through = []
    for steps in (1, 6):
        made, text = stepped(seed, on_rows, steps)
        through.append(counted(made, 120) - counted(made, 20))
    assert through[1] <= through[0] + 200, f"{through}\n{text}"


@pytest.mark.parametrize("seed", range(COUNT))
@pytest.mark.parametrize("on_rows", [False, True])
def test_loops_that_read_an_array_have_the_cotangents_of_dual_numbers(seed, on_rows):
    made, text = stepped(seed, on_rows, 6)
    x = np.linspace(0.2, 0.9, 5).tolist()
    value, backpropagator = te.vjp(made, x)
    expected, by_duals = te.vjp(made.python, x)
    np.testing.assert_allclose(value, expected, rtol=1e-12, err_msg=text)
    np.testing.assert_allclose(backpropagator(1.0)[0], by_duals(1.0)[0], rtol=1e-10, atol=1e-12, err_msg=text)
