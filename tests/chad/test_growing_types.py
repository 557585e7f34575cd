"""Programs whose types would grow with every reading, such as lists of functions that a loop makes, are refused."""

import sys

import pytest
from chad.written_functions import defined

import tapeengine as te
from tapeengine.chad.language.errors import ProgramError

FUNCTIONS_OF_A_LOOP = """
def f(x: float):
    fs = []
    for k in range(3):
        fs.append(lambda y: y * k)
    return fs[0](x)
"""
FUNCTIONS_OF_A_WHILE = """
def f(x: float):
    fs, k = [], 0
    while k < 3:
        fs.append(lambda y: y * k)
        k += 1
    return fs[0](x)
"""
COMPOSED_IN_A_LOOP = """
def f(x: float):
    g = lambda y: y
    for k in range(3):
        g = (lambda h: lambda y: h(y) * 2)(g)
    return g(x)
"""
COMPOSED_BY_RECURSION = """
def g(x, n):
    if n == 0:
        return lambda y: y
    k = g(x, n - 1)
    return lambda y: k(y) * x
def f(x: float):
    return g(x, 3)(x)
"""
COMPOSED_BY_REDUCE = """
import functools
def f(x: float):
    return functools.reduce(lambda g, k: lambda y: g(y) * k, [1.0, 2.0], lambda y: y)(x)
"""
COMPOSED_BY_ACCUMULATE = """
import itertools
def f(x: float):
    return list(itertools.accumulate([1.0, 2.0], lambda g, k: lambda y: g(y) * k, initial=lambda y: y))[-1](x)
"""
COMPOSED_BY_SCAN = """
import tapeengine as te
def f(x: float):
    return te.scan(lambda g, k: lambda y: g(y) * k, [1.0, 2.0], lambda y: y)[-1](x)
"""
RETURNED_BY_A_LOOP = """
def f(x: float):
    for k in range(3):
        if x > k:
            return lambda y: x * y
    return lambda y: 2 * x
"""
PARTIAL = """
import functools
def f(x: float):
    g = lambda a, b, c, d: a * b
    for k in range(3):
        g = functools.partial(g, x)
    return g(x)
"""
NESTED_TUPLES = """
def f(x: float):
    t = (x,)
    for k in range(3):
        t = (t, x)
    return t[1]
"""
NESTED_LISTS = """
def f(x: float):
    t = [x]
    for k in range(3):
        t = [t]
    return x
"""
LINKED_TUPLES = """
def f(x: float):
    t = (x, None)
    while x < 5:
        t, x = (x, t), x * 2
    return t[0]
"""
NESTED_BY_RECURSION = """
def g(t, n):
    return 1.0 if n == 0 else g((t, t), n - 1)
def f(x: float):
    return g(x, 3) * x
"""
WRAPPED_BY_RECURSION = """
def g(h, n, x):
    if n == 0:
        return h(x)
    return g(lambda y: h(y) * 2, n - 1, x)
def f(x: float):
    return g(lambda y: y, 3, x)
"""
PROGRAMS = {name.lower(): text for name, text in list(globals().items()) if name.isupper() and isinstance(text, str)}
#: More calls than reading any of them takes.
MOST = 500_000


def read(text: str) -> None:
    """Read a program, and give up when that takes too long."""
    f, found = defined(text), 0

    def profile(_frame, event, _argument):
        nonlocal found
        found += event == "call"
        assert found < MOST, "the types grow"

    sys.setprofile(profile)
    try:
        _ = te.program(f).module
    finally:
        sys.setprofile(None)


@pytest.mark.parametrize("program", PROGRAMS)
def test_reading_ends(program: str) -> None:
    with pytest.raises(ProgramError):
        read(PROGRAMS[program])
