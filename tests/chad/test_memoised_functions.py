"""Functions with a memo in programs: plain arguments get the results that the program has kept and may have changed."""

import math

import pytest
from chad.written_functions import run_in

import tapeengine as te

TEXT = """
import functools
import math

@functools.cache
def settings():
    return {"scale": 3.0}

@functools.lru_cache
def table(n):
    return [1.0 * k for k in range(n)]

@functools.lru_cache(maxsize=None)
def power(y, n):
    return 1.0 if n == 0 else math.exp(math.log(y)) * power(y, n - 1)

@functools.cache
def noted(k):
    calls.append(k)
    return factor * k

def by_settings(x):
    return math.sin(x) * settings()["scale"]

def by_table(x):
    return x * x * table(3)[1]

def of_numbers(x):
    return power(x, 3) * power(2.0, 2)

def by_notes(x):
    return x * noted(3) + x * noted(3)
"""
DERIVATIVES = {
    "by_settings": lambda x: 5.0 * math.cos(x),
    "by_table": lambda x: 14.0 * x,
    "of_numbers": lambda x: 12.0 * x * x,
    "by_notes": lambda x: 12.0,
}


@pytest.fixture
def scope():
    found = {"__name__": "written_memoised", "calls": [], "factor": 2.0}
    run_in(found, TEXT)
    found["settings"]()["scale"] = 5.0
    found["table"](3)[1] = 7.0
    found["noted"](3)
    found["factor"] = 100.0  # too late: the result has been kept
    return found


@pytest.mark.parametrize("name", DERIVATIVES)
def test_value_and_derivative(name, scope):
    want, program = scope[name](1.25), te.program(scope[name])
    for engine in (te, te.Engine()):
        value, back = engine.vjp(program, 1.25)
        assert value == pytest.approx(want, rel=1e-15)
        assert back(1.0)[0] == pytest.approx(DERIVATIVES[name](1.25), rel=1e-14)
        assert engine.jvp(program, (1.25,), (2.0,))[1] == pytest.approx(2.0 * DERIVATIVES[name](1.25), rel=1e-14)
    assert scope["calls"] == [3]


def test_the_memo_keeps_no_traced_number(scope):
    te.grad(te.program(scope["of_numbers"]))(1.25)
    assert scope["power"].cache_info().currsize == 3  # power(2.0, 2) and what it calls
