"""Arrays of different sizes side by side: the shortest counts in a zip, everything else raises what Python raises."""

from typing import Any

import numpy as np
import pytest

import tapeengine as te
from tapeengine.chad.backends.whole.passes import WholePasses
from tapeengine.chad.backends.whole.values import NotWhole


@te.program
def product(x: te.Vec, y: te.Vec) -> float:
    return sum(x * y)


@te.program
def inner(x: te.Vec, y: te.Vec) -> float:
    return x @ y


@te.program
def applied(x: te.Vec, y: te.Vec) -> te.Vec:
    return np.array([x, x]) @ y


@te.program
def with_literal(x: te.Vec, y: te.Vec) -> float:
    z = [1.0, 2.0]
    return sum(x * z) + y[0]


@te.program
def in_a_loop(x: te.Vec, y: te.Vec) -> float:
    total = 0.0
    for _ in range(3):
        total = 0.5 * total + sum(x * y)
    return total


@te.program
def zipped(x: te.Vec, y: te.Vec) -> float:
    return sum(a * b for a, b in zip(x, y, strict=False))


@te.program
def zipped_in_a_loop(x: te.Vec, y: te.Vec) -> float:
    total = 0.0
    for _ in range(3):
        total = 0.5 * total + sum(a * b for a, b in zip(x, y, strict=False))
    return total


LONG, SHORT = np.array([1.0, 2.0, 3.0]), np.array([4.0, 5.0])
REFUSED = {"product": product, "inner": inner, "matrix": applied, "literal": with_literal, "loop": in_a_loop}
SHORTEST = {"zip": zipped, "zip in a loop": zipped_in_a_loop}


@pytest.mark.parametrize("program", REFUSED.values(), ids=REFUSED)
def test_sizes_that_do_not_fit_raise_what_python_raises(program: Any) -> None:
    with pytest.raises(ValueError, match=r"mismatch|broadcast"):
        te.vjp(program, LONG, SHORT)
    with pytest.raises((ValueError, TypeError), match=r"mismatch|broadcast|is a list"):
        te.vjp(program, LONG.tolist(), SHORT.tolist())
    with pytest.raises(ValueError, match=r"mismatch|broadcast"):
        te.jvp(program, (LONG, SHORT), (LONG, SHORT))
    fitting = (SHORT, SHORT)
    assert np.all(te.vjp(program, *fitting)[0] == program.python(*fitting))


@pytest.mark.parametrize("program", SHORTEST.values(), ids=SHORTEST)
@pytest.mark.parametrize("primals", [(LONG, SHORT), (SHORT, LONG), (LONG, np.zeros(0))])
def test_the_shortest_counts_in_a_zip(program: Any, primals: Any) -> None:
    value, backpropagator = te.vjp(program, *primals)
    plain, on_duals = te.vjp(lambda x, y: program.python(x, y) + 0.0 * x[0], *primals)
    assert value == pytest.approx(plain, rel=1e-15)
    for found, expected in zip(backpropagator(1.0), on_duals(1.0), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-15)


@te.program
def of_two_sizes(x: te.Vec, k: te.Array[int], h: te.Array[int]) -> float:
    total = 0.0
    for i in range(len(x)):
        row = [x[i] * j for j in range(h[i])]
        total += sum(row[j] for j in range(k[i])) + sum(row)
    return total


def test_a_loop_over_other_numbers_of_steps_does_not_read_whole_rows() -> None:
    e = of_two_sizes.executable
    with pytest.raises(NotWhole, match="an index into a row whose size varies"):
        WholePasses(e.definition, e.lowered, e.boundary, e.primitives)


@te.program
def of_some_columns(x: te.Array[te.Vec], y: te.Vec, k: te.Array[int]) -> float:
    return sum(sum(x[i][j] * y[j] for j in range(k[i])) for i in range(len(x)))


def test_numbers_past_the_last_step_are_masked_in_products() -> None:
    x, y, k = np.arange(6.0).reshape(2, 3), np.array([1.0, np.inf, 3.0]), [1, 0]
    value, back = te.vjp(of_some_columns, x, y, k)
    assert (value, back(1.0)[1].tolist()) == (0.0, [0.0, 0.0, 0.0])
    assert ".dot(" in of_some_columns.executable.whole.text
