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
import numpy

class Dispatcher:
    def __init__(self, function):
        self.py_func, self.signatures, self.overloads, self.targetoptions = function, [], {}, {}
        self.compile = self.recompile = self.disable_compile = lambda *args: None
        functools.update_wrapper(self, function)
    def __call__(self, *args):
        if not all(type(x).__module__ in ("builtins", "numpy") for x in args):
            raise TypeError("bad argument type for built-in operation")
        return self.py_func(*args)

def njit(signature_or_function=None, **options):
    make = Dispatcher
    return make(signature_or_function) if hasattr(signature_or_function, "__code__") else make

class DUFunc:
    def __init__(self, function, types):
        self._dispatcher, self.types = Dispatcher(function), types
        functools.update_wrapper(self, function)
    def __call__(self, *args):
        if not all(type(x).__module__ in ("builtins", "numpy") for x in args):
            raise TypeError("bad argument type for built-in operation")
        kind = self.types[0][-1] if self.types else None
        found = numpy.frompyfunc(self._dispatcher.py_func, len(args), 1)(*args)
        return numpy.array(found.tolist() if numpy.ndim(found) else found, kind).reshape(numpy.shape(found))[()]

def vectorize(signatures=(), **options):
    if hasattr(signatures, "__code__"):
        return DUFunc(signatures, [])
    given = [signatures] if isinstance(signatures, str) else signatures
    return lambda function: DUFunc(function, ["dd->d"] * len(given))

class GUFunc:
    def __init__(self, function):
        names = function.__globals__
        if names["np"] is not numpy or not isinstance(names["doubled"], Dispatcher):
            raise TypeError("cannot compile it")
        self.function = function
        functools.update_wrapper(self, function)
    def __call__(self, x):
        out = numpy.zeros(numpy.shape(x))
        self.function(x, out)
        return out

def guvectorize(signatures, layout):
    return GUFunc

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
import numpy
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

@numba.vectorize
def hinge(x, y):
    return x * square(y) if x > y else 0

@numba.vectorize(["float64(float64, float64)"], nopython=True)
def halves(x, y):
    return x // 2 + y

@numba.vectorize("f8(f8, f8)")
def bent(x, y):
    s = numpy.zeros(2)
    s[0] = x
    return s[0] * y if s[0] < 2.6 else math.sin(x)

def through(name, *args):
    return {"hinge": hinge, "halves": halves, "bent": bent}[name](*args)

def slow(x):
    return inner.py_func(x, 2.0) * (1.0 + len([*inner.overloads, *inner.signatures, *inner.targetoptions][9:]))

def outer(x):
    return inner(x, 2.0) + Point(x).x + square(x)
"""


#: Functions that stay compiled: what they read in their module is what numba can compile.
STAY = """
import math
import numba
import numpy as np
from numba import guvectorize

@numba.njit
def doubled(x):
    return 2.0 * x

@numba.guvectorize(["void(f8[:], f8[:])"], "(n)->(n)")
def decorated(x, out):
    made = np.zeros(x.shape[0])
    for i in range(x.shape[0]):
        made[i] = doubled(x[i]) + math.sin(x[i])
    out[:] = made

def _plain(x, out):
    for i in range(x.shape[0]):
        out[i] = doubled(x[i])
called = guvectorize(["void(f8[:], f8[:])"], "(n)->(n)")(_plain)

def f(x):
    return x * decorated(np.array([1.0]))[0] + called(np.ones(1))[0]
"""


@pytest.fixture(scope="module")
def user(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    folder = tmp_path_factory.mktemp("compiled")
    known = set(sys.modules)
    if importlib.util.find_spec("numba") is None:
        write(folder / "numba", {"__init__": NUMBA, "experimental": JITCLASS})
    write(folder, {"user_of_numba": USER, "stays_compiled": STAY})
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


def test_what_code_reads_of_compiled_functions(user: Any) -> None:
    lifted = te.lift("user_of_numba")
    assert te.value_and_grad(lifted.slow)(1.3) == pytest.approx((user.slow(1.3), 2.0 * np.cos(1.3)))
    lifted.inner.recompile()
    lifted.inner.disable_compile()
    compiled = user.inner
    here = te.lift(lambda x: compiled.py_func(x, 2.0) + len(compiled.signatures[9:]), also=["user_of_numba"])
    assert te.grad(here)(1.3) == pytest.approx(2.0 * np.cos(1.3))


def test_functions_for_machine_code_are_those_of_the_original(user: Any) -> None:
    lifted, plain = te.lift("stays_compiled"), importlib.import_module("stays_compiled")
    x = np.array([0.5, 1.5])
    assert lifted.decorated is plain.decorated
    for name in ("decorated", "called"):
        np.testing.assert_array_equal(getattr(lifted, name)(x), getattr(plain, name)(x))
    assert te.value_and_grad(lifted.f)(1.3) == (plain.f(1.3), plain.decorated(np.array([1.0]))[0])


ARGUMENTS: list[tuple[Any, Any]] = [
    (2.5, 1.25),
    (1.25, 2.5),
    (np.float64(2.5), 1),
    (np.array([0.5, 2.5, 3.0]), 1.5),
    (np.array([[0.5], [2.5]]), np.array([1.5, 0.25, 4.0])),
    (np.zeros((0, 2)), 1.0),
    (np.array(2.5), np.float32(0.5)),
]


@pytest.mark.parametrize("name", ["hinge", "halves", "bent"])
@pytest.mark.parametrize("args", ARGUMENTS, ids=str)
def test_functions_of_elements_run_as_python(user: Any, name: str, args: tuple[Any, Any]) -> None:
    """On traced numbers and arrays, with the values and classes of the compiled ones."""
    x, y = args
    direction = np.ones_like(np.asarray(x)) * 1.0

    def plain(step: float) -> Any:
        return np.sum(user.through(name, x + step * direction, y))

    compiled = getattr(user, name)
    module = te.lift("user_of_numba")
    alone = te.lift(lambda x: compiled(x, y), also=["user_of_numba"])
    for program in (lambda x: module.through(name, x, y), alone):
        shapes: list[Any] = []

        def total(x: Any, program: Any = program, shapes: Any = shapes) -> Any:
            found = program(x)
            shapes.append(np.shape(found))
            return np.sum(found) + 0.0 * np.sum(x)

        value, slope = te.value_and_grad(total)(x)
        expected = user.through(name, x, y)
        assert value == pytest.approx(np.sum(expected), rel=1e-14)
        assert shapes == [np.shape(expected)]
        assert np.sum(slope) == pytest.approx((plain(1e-6) - plain(-1e-6)) / 2e-6, rel=1e-6, abs=1e-6)
        found = program(x)
        assert (type(found), found.dtype) == (type(expected), expected.dtype) or name == "hinge"
        np.testing.assert_allclose(found, expected, rtol=1e-14)


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
