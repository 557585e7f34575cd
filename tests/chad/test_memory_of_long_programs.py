"""A derivative of a program of many lines takes memory in proportion to them."""

import tracemalloc

import pytest
from chad.written_functions import function_of

import tapeengine as te

BODIES = {
    "line": ["a = a * 0.99 + b * 0.01", "b = math.sin(a) + b * 0.5", "s = s + a * b", "b = b / (1.5 + a * a)"],
    "branch": ["if a > 0.3:", "    a = a * 0.9 - b", "else:", "    b = b + a * 0.2", "s += a * b"],
}


def peak(run, body, n):
    f = function_of("a, b", ["s = 0.0", *body * n, "return s + a + b"], math=te.math)
    tracemalloc.start()
    try:
        run(te.program(f, backend="machine"))
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("way", ["jvp", "hessian"])
def test_memory_is_linear_in_the_lines(way, body):
    run = {
        "jvp": lambda p: te.jvp(p, (0.3, 0.7), (1.0, 1.0)),
        "hessian": lambda p: te.hessian(p)(0.3, 0.7),
    }[way]
    peak(run, BODIES[body], 2)  # what is made once
    few, more = (peak(run, BODIES[body], n) for n in (4, 16))
    assert more < 6.0 * few
