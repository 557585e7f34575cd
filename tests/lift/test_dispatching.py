"""Functions that dispatch on the class of their argument: a lifted one takes the implementation of the plain value."""

import importlib
import sys
from typing import Any

import numpy as np
import pytest

import tapeengine as te

TEXT = """
import functools
import numbers

import numpy as np


@functools.singledispatch
def dispatched(x):
    return x * 2


@dispatched.register
def _(x: np.ndarray):
    return x * 3


@dispatched.register
def _(x: float):
    return x * 5


@dispatched.register(numbers.Number)
def _(x):
    return x * 7


class Model:
    @functools.singledispatchmethod
    def method(self, x):
        return x * 11

    @method.register
    def _(self, x: np.ndarray):
        return x * 13

    @method.register(float)
    def _(self, x):
        return x * 17


def methods(x):
    return Model().method(x)


def chosen(x):
    return dispatched.dispatch(type(x))(x) if len(dispatched.registry) == 4 else None
"""
VALUES = [np.ones(2), np.ones((), np.float32), 1.5, np.float64(1.5), np.float32(1.5), 1 + 1j, np.complex64(2j)]


@pytest.fixture(scope="module")
def module(tmp_path_factory: Any) -> Any:
    folder = tmp_path_factory.mktemp("dispatching")
    (folder / "of_dispatched.py").write_text(TEXT)
    sys.path.insert(0, str(folder))
    yield importlib.import_module("of_dispatched")
    sys.path.remove(str(folder))


@pytest.mark.parametrize("value", VALUES, ids=lambda value: f"{type(value).__name__} {np.ndim(value)}")
@pytest.mark.parametrize("name", ["dispatched", "methods", "chosen"])
def test_the_class_of_the_plain_value_decides(module: Any, name: str, value: Any) -> None:
    if name != "dispatched" and type(value) in (np.float32, np.complex64):
        pytest.skip("their class is that of arrays, which `type(x)` says")
    plain = getattr(module, name)
    for lifted in (getattr(te.lift("of_dispatched"), name), te.lift(plain)):
        np.testing.assert_array_equal(te.vjp(lifted, value)[0], plain(value))
        np.testing.assert_array_equal(te.jvp(lifted, (value,), (value,))[1], plain(value))
        np.testing.assert_array_equal(lifted(value), plain(value))


ASKED = """
import numpy as np
HANDLED = {np.sum: "handled", np.multiply: "product"}
class Box:
    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        told = [ufunc is np.multiply, ufunc == np.multiply, ufunc in (np.add, np.multiply), np.multiply is ufunc]
        return *told, ufunc is not np.add, HANDLED.get(ufunc)
    def __array_function__(self, function, types, args, options):
        return function is np.sum, HANDLED.get(function, "not handled"), function == np.mean
def told():
    return np.ones(2) * Box(), np.sum(Box()), np.mean(Box()), {np.sin: 1}[np.sin], np.sin is np.cos, np.pi is np.pi
"""


def test_classes_that_ask_which_function_of_numpy_is_called(package: Any) -> None:
    package({"of_asking": ASKED})
    assert te.lift("of_asking").told() == importlib.import_module("of_asking").told()


class Basic:
    """A class whose constructor makes instances of a class that is derived from another one."""

    def __new__(cls, *args):
        return object.__new__(Derived if cls is Middle else cls)

    def described(self):
        return Middle, Derived


class Middle(Basic):
    def __init__(self, x):
        self.x = x


class Derived(Middle):
    pass


@pytest.mark.parametrize("first", ["Basic", "Middle", "Derived"])
def test_classes_that_name_each_other_are_made_once(first):
    program = te.lift(eval(f"lambda x: ({first}, Middle(x).x * x)[1]", globals()))
    assert te.grad(program)(3.0) == 6.0
