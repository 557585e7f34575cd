"""Arithmetic of bools, integers, and numbers of few bits has Python's and numpy's values and kinds, or is refused."""

import itertools
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest
from chad.backends.runs import BACKENDS
from chad.written_functions import defined

import tapeengine as te
from tapeengine.errors import TapeEngineError

UNARY = ("-{0}", "+{0}", "abs({0})", "not {0}", "~{0}", "{0} * x", "-{0} * x", "{0} ** 2")
BINARY = ("+", "-", "*", "/", "//", "%", "**", "<", "==", "&", "|", "^")
KINDS = {
    "bool": (False, True),
    "int": (-2, 0, 3),
    "bools": (np.array([True, False]),),
    "ints": (np.array([-2, 3]),),
    "few bits": (np.uint8(3), np.array([250, 3], np.uint8), np.array([1.0, 3.0], np.float32)),
}


def function_of(expression):
    """The function of a, b and x that gives an expression."""
    return defined(f"def f(a, b, x):\n    return {expression}\n")


def outcome(run):
    """The kind and the value that a run gives, or its error, or None for a refusal."""
    try:
        with np.errstate(all="ignore"):
            value = np.asarray(run())
    except TapeEngineError:
        return None
    except Exception as error:
        return type(error), str(error)
    return value.dtype, repr(value.tolist())


@pytest.mark.filterwarnings("ignore:.*runs without native code")
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("kinds", list(itertools.product(KINDS, KINDS)), ids=" and ".join)
def test_kinds_and_values_are_pythons(backend, kinds):
    expressions = [u.format("a") for u in UNARY] + [f"a {op} b" for op in BINARY]
    for expression in expressions:
        f = function_of(expression)
        program = te.program(f, backend=backend)
        for a, b in itertools.product(*(KINDS[k] for k in kinds)):
            wanted = outcome(lambda f=f, a=a, b=b: f(a, b, 2.0))
            for run in (te.vjp, lambda p, *xs: te.jvp(p, xs, (None, None, 1.0))):
                found = outcome(lambda run=run, a=a, b=b, program=program: run(program, a, b, 2.0)[0])
                is_same = found in (wanted, None)
                if "few bits" in kinds and not is_same:  # on dual numbers, where Python words the error
                    is_same = found[0] is wanted[0] is TypeError
                assert is_same, (expression, a, b, found, wanted)


def test_a_power_that_is_no_integer_inside_a_program():
    @te.program
    def f(a: int, n: int, x: float) -> float:
        return a**n * x

    assert te.vjp(f, 2, -3, 8.0)[0] == 1.0
    assert te.grad(f, argnums=2)(2, -3, 8.0) == 0.125


class Named(NamedTuple):
    x: float
    name: str


@dataclass(frozen=True)
class Layer:
    w: np.ndarray


@dataclass(frozen=True)
class Odd:
    z: complex


@pytest.mark.parametrize("given", [Named(1.0, "a"), [Named(1.0, "a")], Layer(np.ones(2)), (1.0, Layer(np.ones(2)))])
@pytest.mark.parametrize("beside", [None, Odd(1j), [Odd(1j)]], ids=repr)  # whose types are not in the language
def test_fields_have_the_types_of_their_values(given, beside):
    @te.program
    def f(given, beside):
        return 1.0

    assert te.vjp(f, given, beside)[0] == 1.0
