"""What lifted code reads of functions, classes and methods that have stand-ins: names, texts, classes, binding."""

from __future__ import annotations

import copy
import importlib
from decimal import Decimal
from fractions import Fraction
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
import pytest

import tapeengine as te
from tapeengine._core.programs.callables import original, stand_ins
from tapeengine.errors import TapeEngineError
from tapeengine.lift.compilers import COMPILERS
from tapeengine.lift.modules import SOURCES, plugin_modules, stand_in_module
from tapeengine.lift.worlds import world_of

MODULES = [name for name in (*SOURCES, *plugin_modules()) if name not in COMPILERS]
TOLD = ("__name__", "__qualname__", "__objclass__")


def replaced(module: str) -> list[tuple[str, Any, Any]]:
    """The functions and classes of a module that have stand-ins, and these."""
    there = importlib.import_module(module)
    here = world_of("colorsys").builtins if module == "builtins" else vars(stand_in_module(module))
    return [
        (name, value, here[name])
        for name, value in vars(there).items()
        if callable(value)
        and name != "__getattr__"
        and name in here
        and here[name] is not value
        and not isinstance(value, ModuleType)
    ]


def last(name: Any) -> Any:
    """A name without its class: functions of `numpy.random` are methods of a generator."""
    return name.rpartition(".")[2] if isinstance(name, str) else name


def differing(plain: Any, lifted: Any) -> list[str]:
    """The names that lifted code reads otherwise."""
    names = [name for name in TOLD if hasattr(plain, name)]
    found = [name for name in names if last(getattr(plain, name)) != last(getattr(lifted, name, None))]
    found += [name for name in ("__get__", "__call__") if hasattr(plain, name) > hasattr(lifted, name)]
    return found + ["__doc__"] * (isinstance(plain.__doc__, str) > isinstance(lifted.__doc__, str))


@pytest.mark.parametrize("module", ["builtins", *MODULES])
def test_functions_and_classes_have_the_names_of_the_plain_ones(module: str) -> None:
    if module.startswith("scipy"):
        pytest.importorskip("tapeengine_scipy")
    ignored = {"__get__", "__doc__"} if module.startswith("scipy") else set()
    found = {name: {*differing(plain, lifted)} - ignored for name, plain, lifted in replaced(module)}
    assert {name: x for name, x in found.items() if x} == {}


CLASSES = [cls for cls in [float, complex, *stand_in_module("numpy").__dict__.values()] if isinstance(cls, type)]
STAND_INS = sorted({original(stand_ins()[cls]) for cls in CLASSES if cls in stand_ins()}, key=str)
#: What a subclass has as well, or has otherwise.
OWN = {"__class__", "__base__", "__bases__", "__mro__", "__subclasses__", "__weakref__", "__dict__", "mro"}


@pytest.mark.parametrize("cls", STAND_INS, ids=lambda cls: cls.__qualname__)
def test_members_of_classes_are_named_as_the_plain_ones(cls: type) -> None:
    found, lifted = {}, stand_ins()[cls]
    for name in set(dir(cls)) - OWN:
        plain = getattr(cls, name)
        if callable(plain):
            found[name] = differing(plain, getattr(lifted, name))
            if plain.__doc__ != getattr(lifted, name).__doc__:
                found[name].append("text")
    assert {name: x for name, x in found.items() if x} == {}


def test_classes_with_a_metaclass_have_their_methods() -> None:
    """Abstract base classes are not subclassed."""
    fraction = importlib.import_module("fractions").Fraction
    names = {name for name in dir(fraction) if isinstance(getattr(fraction, name), FunctionType)} - {"__new__"}
    lifted = te.lift(lambda: importlib.import_module("fractions").Fraction)()
    assert {name for name in names if getattr(lifted, name, None) is not getattr(fraction, name)} == set()
    assert lifted.__add__(fraction(1, 2), fraction(1, 3)) == fraction(5, 6)


def test_methods_of_classes_become_methods_of_other_classes() -> None:
    def program(x: float) -> float:
        class Length(float):
            plus, half = float.__add__, float.__truediv__

        return Length(2.0).plus(x) * Length(3.0).half(2.0)

    assert te.value_and_grad(te.lift(program))(1.25) == (program(1.25), 1.5)


def wrapped_operators(x: float) -> float:
    total = 0.0
    for method in (float.__add__, float.__mul__, float.__rsub__, float.__truediv__):
        name = method.__name__ + str(method.__objclass__ is float) + method.__qualname__
        total = total + len(name) * getattr(x, method.__name__)(1.5) * method(2.0, x)
    return total


def test_operators_of_float_by_their_own_names() -> None:
    value, slope = te.value_and_grad(te.lift(wrapped_operators))(1.25)
    assert value == wrapped_operators(1.25)
    assert slope == pytest.approx((wrapped_operators(1.25 + 1e-6) - wrapped_operators(1.25 - 1e-6)) / 2e-6)


VALUES: dict[str, tuple[type, Any]] = {
    "float": (float, 1.25),
    "complex": (complex, 1.25 + 0.5j),
    "float64": (np.float64, np.float64(1.25)),
    "complex128": (np.complex128, np.complex128(1.25 + 0.5j)),
    "float32": (np.float32, np.float32(1.25)),
    "ndarray": (np.ndarray, np.array([1.25, 2.5])),
}
#: Methods that write elsewhere, make classes, or give what has no meaning in another object.
OTHERS = {
    "dump",
    "tofile",
    "setfield",
    "to_device",
    "resize",
    "__init__",
    "__getattribute__",
    "__sizeof__",
    "__setstate__",
}
OTHERS |= {"__getnewargs__", "__reduce__", "__reduce_ex__", "__array_wrap__", "conj", "conjugate"}
METHODS = [(kind, name) for kind, (cls, _) in VALUES.items() for name in sorted(vars(cls)) if name not in OTHERS]
METHODS.remove(("float32", "__pow__"))  # a loop of numpy rounds the power otherwise than the number's own method


@pytest.mark.parametrize(("kind", "name"), METHODS)
@pytest.mark.filterwarnings("ignore")
def test_every_method_of_a_class_takes_traced_values(kind: str, name: str) -> None:
    """It has the plain program's value, or is refused."""
    cls = VALUES[kind][0]
    if not hasattr(getattr(cls, name), "__objclass__") or not callable(getattr(cls, name)):
        return
    for given in ((), (1.5,), ("x",), (0,)):
        for plain_first in (False, True):
            plain = of_plain(cls, name, copy.copy(VALUES[kind][1]), given)
            traced = of_traced(cls, name, copy.copy(VALUES[kind][1]), given, plain_first)
            if plain is not NotImplemented and not isinstance(plain, type) and traced is not TapeEngineError:
                assert traced == plain, (given, plain_first)


def of_plain(cls: Any, name: str, x: Any, given: tuple[Any, ...]) -> Any:
    return outcome(lambda: getattr(cls, name)(x, *(x if z == "x" else z for z in given)))


def of_traced(cls: Any, name: str, x: Any, given: tuple[Any, ...], plain_first: bool) -> Any:
    seen: list[Any] = []

    def program(y: Any) -> float:
        method, others = getattr(stand_ins()[cls], name), [y if z == "x" else z for z in given]
        seen.append(outcome(lambda: method(x if plain_first else y, *others)))
        return 0.0

    refused = outcome(lambda: te.vjp(program, x)) is TapeEngineError  # an error that `outcome` caught inside
    return TapeEngineError if refused else seen[0]


def outcome(call: Any) -> Any:
    try:
        return told(call())
    except Exception as error:
        return TapeEngineError if isinstance(error, TapeEngineError) else type(error)


def told(value: Any) -> Any:
    if isinstance(value, (tuple, list)):
        return [told(x) for x in value]
    value = te.value(value)
    if isinstance(value, (float, complex, np.ndarray, np.generic)):
        return type(value), np.asarray(value).dtype, np.asarray(value).tobytes()
    return value if isinstance(value, (int, str)) or value in (None, NotImplemented) else type(value)


class Length(float):
    """Its operators call those of float by the class."""

    def __new__(cls, x: float) -> Any:
        return float.__new__(cls, x)

    def __add__(self, other: Any) -> Any:
        return float.__add__(self, other)

    def __mul__(self, other: Any) -> Any:
        return float.__mul__(self, other)

    def __truediv__(self, other: Any) -> Any:
        return float.__truediv__(self, other)

    def __pow__(self, other: Any) -> Any:
        return float.__pow__(self, other)

    def __divmod__(self, other: Any) -> Any:
        return float.__divmod__(self, other)

    def __lt__(self, other: Any) -> Any:
        return float.__lt__(self, other)


def of_lengths(x: float) -> float:
    a = Length(3.0)
    return a * x + (a + x) / (a / x) + a**x + (x if a < x else 2.0 * x) + divmod(a, x)[1]


def test_operators_of_a_subclass_that_call_those_of_float() -> None:
    value, slope = te.value_and_grad(te.lift(of_lengths))(1.25)
    assert value == of_lengths(1.25)
    assert slope == pytest.approx((of_lengths(1.25 + 1e-6) - of_lengths(1.25 - 1e-6)) / 2e-6)


def made_by_new(x: float) -> list[Any]:
    numbers = [float.__new__(float, 3), complex.__new__(complex, 1, 2), np.float64.__new__(np.float64, 2)]
    others = [Fraction.__new__(Fraction, 1, 2), Decimal.__new__(Decimal, 3), np.ndarray.__new__(np.ndarray, (2,), int)]
    return [*numbers, *others, float.__new__(float, x) * x]


def test_objects_made_by_new_are_of_the_plain_classes() -> None:
    found, plain = te.lift(made_by_new)(2.0), made_by_new(2.0)
    assert [type(x) for x in found] == [type(x) for x in plain]
    assert [x + 1 for x in found if np.ndim(x) == 0] == [x + 1 for x in plain if np.ndim(x) == 0]
    assert te.grad(te.lift(lambda x: made_by_new(x)[-1]))(3.0) == 6.0
