"""Writing a program for numpy takes memory of the order of its text."""

import math
import tracemalloc

from chad.written_functions import function_of

import tapeengine as te


def peak(count):
    """The largest memory while both passes of a straight line of statements are written."""
    lines = ["s = 0.0"]
    for _ in range(count):
        lines += ["a = a * 0.99 + b * 0.01", "b = math.sin(a) + b * 0.5", "s += a * b"]
    executable = te.program(function_of("a: float, b: float", [*lines, "return s"], math=math)).executable
    assert executable.lowered is not None
    tracemalloc.start()
    try:
        assert executable.whole is not None
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_memory_grows_with_the_text():
    assert peak(240) <= 6 * peak(60)
