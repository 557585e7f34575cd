"""Functions that numba compiles: in lifted code they are the Python functions, elsewhere errors say so.

Where numba is not installed, a package of its name stands for it, whose functions take plain numbers only.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tapeengine as te

NUMBA = """
import functools

class Dispatcher:
    def __init__(self, function):
        self.py_func = function
        functools.update_wrapper(self, function)
    def __call__(self, *args):
        if not all(type(x).__module__ in ("builtins", "numpy") for x in args):
            raise TypeError("bad argument type for built-in operation")
        return self.py_func(*args)

def njit(signature_or_function=None, **options):
    make = Dispatcher
    return make(signature_or_function) if hasattr(signature_or_function, "__code__") else make

jit, prange = njit, range
"""
JITCLASS = """
def jitclass(cls_or_spec=None, spec=None):
    if isinstance(cls_or_spec, type):
        return type(cls_or_spec.__name__, (cls_or_spec,), {"__init__": refuse})
    return jitclass

def refuse(self, *args):
    raise TypeError("cannot make it of these")
"""
USER = """
import math
import numba
from numba import njit as compiled
from numba.experimental import jitclass

@numba.njit
def inner(x, y):
    return math.sin(x) * y

@compiled("f8(f8)", cache=False)
def square(x):
    return x * x

@numba.jit(nopython=True)
def total(v):
    s = 0.0
    for i in numba.prange(v.shape[0]):
        s += v[i] * inner(v[i], 1.0)
    return s

@jitclass([("x", numba.float64)] if hasattr(numba, "float64") else [])
class Point:
    def __init__(self, x):
        self.x = x

def outer(x):
    return inner(x, 2.0) + Point(x).x + square(x)
"""


@pytest.fixture(scope="module")
def user(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    folder = tmp_path_factory.mktemp("compiled")
    known = set(sys.modules)
    if importlib.util.find_spec("numba") is None:
        write(folder / "numba", {"__init__": NUMBA, "experimental": JITCLASS})
    write(folder, {"user_of_numba": USER})
    sys.path.insert(0, str(folder))
    try:
        yield importlib.import_module("user_of_numba")
    finally:
        sys.path.remove(str(folder))
        for name in set(sys.modules) - known:
            del sys.modules[name]


def write(folder: Path, files: dict[str, str]) -> None:
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)


def test_a_lifted_module_has_the_python_functions(user: Any) -> None:
    lifted = te.lift("user_of_numba")
    assert te.value_and_grad(lifted.outer)(1.3) == pytest.approx(
        (np.sin(1.3) * 2.0 + 1.3 + 1.69, np.cos(1.3) * 2.0 + 1.0 + 2.6)
    )
    v = np.array([0.3, -1.2])
    np.testing.assert_allclose(te.grad(lifted.total)(v), np.sin(v) + v * np.cos(v))
    assert te.grad(te.lift(user.inner))(1.3, 2.0) == pytest.approx(2.0 * np.cos(1.3))


def test_a_lifted_function_has_the_python_functions(user: Any) -> None:
    """A local function is no module's, so its twin is a copy."""
    compiled = user.inner
    lifted = te.lift(lambda x: compiled(x, 2.0) * x, also=["user_of_numba"])
    assert te.grad(lifted)(1.3) == pytest.approx(2.0 * (np.sin(1.3) + 1.3 * np.cos(1.3)))


def test_a_compiled_function_says_that_it_takes_plain_numbers_only(user: Any) -> None:
    with pytest.raises(Exception, match=r"bad argument type|pyobject") as caught:
        te.grad(lambda x: user.inner(x, 2.0))(1.3)
    assert any("py_func" in note and "tapeengine.lift" in note for note in caught.value.__notes__)


@pytest.mark.parametrize("name", ["__add__", "__rsub__", "__mul__", "__truediv__", "__pow__", "__lt__", "__eq__"])
def test_methods_of_float_by_their_names(name: str) -> None:
    def program(x: Any) -> Any:
        a, b = getattr(float, name)(x, 2.0), float.__neg__(x) * float.__abs__(x)
        return (a if isinstance(a, float) else 3.0 * x * a) + b

    def swapped(x: Any) -> Any:
        a = getattr(float, name)(2.0, x) if not name.startswith("__r") else x
        return (a if isinstance(a, float) else 3.0 * x * a) + float.conjugate(x)

    for function in (program, swapped):
        for x in (1.3, 2.0, 2.7):
            value, slope = te.value_and_grad(te.lift(function))(x)
            assert value == function(x)
            if x != 2.0:
                assert slope == pytest.approx((function(x + 1e-6) - function(x - 1e-6)) / 2e-6, rel=1e-6)
