"""Ufuncs of bools alone compute with few bits in numpy: a typed program gives what numpy gives, or is refused."""

import numpy as np
import pytest
from chad.written_functions import function_of, refused
from outcomes import unless_refused

import tapeengine as te
import tapeengine.numpy
from tapeengine.errors import TapeEngineError

NAMES = sorted(n for n, f in vars(np).items() if isinstance(f, np.ufunc) and f.nout == 1 and f.signature is None)
BOOLS = ("a[0] > 0.0", "np.any(a > 0.0)", "a[1] > 0.0", "bool(a[0] > 0.0)")


@pytest.mark.parametrize("name", NAMES)
def test_bools_alone(name):
    a, refused = np.array([0.3, -0.1]), 0
    for bool_ in BOOLS:
        args = ", ".join([bool_] * getattr(np, name).nin)
        f = function_of("a", [f"return np.{name}({args}) * a[0]"])
        program = te.program(function_of("a", [f"return np.{name}({args}) * a[0]"], np=tapeengine.numpy))
        found, wanted = unless_refused(lambda p=program: te.vjp(p, a)[0]), unless_refused(lambda f=f: f(a))
        refused += found is None
        assert found is None or found is wanted or np.array_equal(found, wanted, equal_nan=True), bool_
    assert refused in (0, len(BOOLS))


@pytest.mark.parametrize("name", ["sin", "sqrt", "exp"])
def test_a_bool_that_is_made_a_float(name):
    f = function_of("a", [f"return np.{name}(float(a[0] > 0.0)) * a[0]"])
    a = np.array([0.3, -0.1])
    assert te.vjp(te.program(f), a)[0] == f(a)


@pytest.mark.parametrize("kind", [np.float32, np.float16, np.uint8, np.longdouble])
def test_constants_of_other_precisions_are_refused(kind):
    for constant in (kind(2), np.array([2, 3], kind)):
        f = function_of("x", ["return x * c + np.sum(c)"], c=constant)
        with pytest.raises(TapeEngineError, match="a constant of"):
            refused(te.program(f), 1.0)
