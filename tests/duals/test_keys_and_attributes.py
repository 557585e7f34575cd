"""Attributes of Python's and numpy's numbers, builtins with a number, and uses as a key: each correct or refused."""

from __future__ import annotations

import builtins
import collections
import copy
import dataclasses
import decimal
import fractions
import functools
import inspect
import itertools
import math
import operator
import statistics
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from verdicts import verdict

import tapeengine as te
from tapeengine._core.arrays.array import Array
from tapeengine._core.scalars.complex import ComplexDual
from tapeengine._core.scalars.scalar import Dual
from tapeengine.errors import DroppedDerivativeError, MissingAttributeError, TapeEngineError

ROWS = np.array([[0.7, 1.9, 2.3], [1.1, 3.7, 0.4]])
FLOATS = [0.7, 1.9, 2.3]

#: Attributes that take arguments, or change their object.
CALLS: dict[str, Any] = {
    "argpartition": lambda a: a.ravel().argpartition(1),
    "astype": lambda a: a.astype(np.float32),
    "choose": lambda a: np.asarray(a > 1.0).astype(int).choose([a, 2.0 * a]),
    "clip": lambda a: a.clip(0.5, 2.0),
    "compress": lambda a: a.ravel().compress([True]),
    "dot": lambda a: a.dot(a.T),
    "dump": lambda a: a.dump("/dev/null"),
    "flat": lambda a: list(a.flat),
    "fill": lambda a: (b := a * 1.0, b.fill(2.0) if b.ndim else None)[0],
    "from_number": lambda a: a.from_number(1.5),
    "fromhex": lambda a: a.fromhex("0x1p1"),
    "getfield": lambda a: a.getfield(np.float32),
    "item": lambda a: a.item(0),
    "partition": lambda a: (b := a.copy(), b.partition(1) if b.ndim else None)[0],
    "put": lambda a: (b := a * 1.0, b.put([0], [2.0]) if b.ndim else None)[0],
    "repeat": lambda a: a.repeat(2),
    "reshape": lambda a: a.reshape(-1),
    "searchsorted": lambda a: a.ravel().searchsorted(1.2),
    "setfield": lambda a: a.setfield(1, np.float32),
    "swapaxes": lambda a: a.swapaxes(0, -1),
    "take": lambda a: a.take([0]),
    "to_device": lambda a: a.to_device("cpu"),
    "tofile": lambda a: a.tofile("/dev/null"),
    "sort": lambda a: (b := a.copy(), b.sort() if b.ndim else None)[0],
}


def attribute(name: str) -> Any:
    """A program that reads an attribute of a number or an array, and calls it if it is a method."""

    def program(x: Any) -> Any:
        found = getattr(x, name)
        return found() if callable(found) else found

    return CALLS.get(name, program)


def public(cls: type) -> list[str]:
    return [name for name in dir(cls) if not name.startswith("_")]


@pytest.mark.parametrize("name", public(np.ndarray))
def test_every_attribute_of_an_array(name: str) -> None:
    for program in (attribute(name), lambda x: attribute(name)(x[:, ::2].T)):
        found = verdict(program, ROWS)
        assert found.right, found


@pytest.mark.parametrize("name", public(np.float64))
def test_every_attribute_of_a_numpy_number(name: str) -> None:
    found = verdict(lambda x: attribute(name)(x[0, 1]), ROWS)
    assert found.right, found


@pytest.mark.parametrize("name", public(np.complex128))
def test_every_attribute_of_a_complex_number_of_numpy(name: str) -> None:
    for factor in (1j, np.complex128(1j)):
        found = verdict(lambda x, factor=factor: attribute(name)(x[0, 1] * factor), ROWS)
        assert found.right, found


@pytest.mark.parametrize("name", sorted({*public(float), "from_number"}))
def test_every_attribute_of_a_float(name: str) -> None:
    found = verdict(attribute(name), 0.7)
    assert found.right, found


@pytest.mark.parametrize("name", sorted({*public(complex), "from_number"}))
def test_every_attribute_of_a_complex_number(name: str) -> None:
    found = verdict(lambda x: attribute(name)(x * 1j + x * x), ROWS[0])
    found = verdict(lambda x: attribute(name)((x * 1j + x * x)[0]), ROWS[0]) if found.word == "raised" else found
    assert found.right, found


@pytest.mark.parametrize("index", [(), ..., None, 0, slice(None)], ids=repr)
@pytest.mark.parametrize("factor", [2.0, 2.0j])
def test_numbers_of_python_have_no_items(factor: Any, index: Any) -> None:
    found = verdict(lambda x: (x * factor)[index], 0.7)
    assert found.word == "raised", found


def test_what_is_refused_says_what_to_do_and_is_no_attribute() -> None:
    seen: list[Any] = []

    def program(x: Any) -> Any:
        with pytest.raises(MissingAttributeError, match=r"tapeengine\.value\(x\)\.tofile"):
            x.tofile("file")
        seen.append([hasattr(x, name) for name in ("tofile", "ctypes", "nonsense", "__array_interface__")])
        return x.sum()

    te.grad(program)(ROWS)
    assert seen == [[False] * 4]


def test_a_ratio_of_integers_is_refused() -> None:
    for program in (statistics.mean, statistics.stdev, statistics.variance, lambda xs: xs[0].as_integer_ratio()):
        with pytest.raises(DroppedDerivativeError, match=r"numpy\.mean, numpy\.var"):
            te.vjp(program, FLOATS)


# -- subscripts of numpy's scalars ------------------------------------------------------------------------------------
@pytest.mark.parametrize("index", [(), ..., None, (None, None), (..., None), (None, ...)], ids=repr)
def test_subscripts_of_a_scalar(index: Any) -> None:
    found = verdict(lambda x: np.sin(x.sum()[index]), ROWS)
    assert found.word == "traced", found


@pytest.mark.parametrize("index", [0, -1, slice(None), (0,), "a", 1.5], ids=repr)
def test_a_scalar_has_no_elements(index: Any) -> None:
    found = verdict(lambda x: x.sum()[index], ROWS)
    assert found.word == "raised", found


class Index:
    """A number by its method."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __index__(self) -> int:
        return self.number


WHOLE = (3, -1, 2**63 - 1, 2**63, 2**64 - 1, 2**64, -(2**63), -(2**63) - 1, 10**30)
FORMS: dict[str, Callable[[int], Any]] = {
    "int": lambda k: k,
    "uint64": lambda k: np.uint64(k % 2**64),
    "int64": lambda k: np.int64((k + 2**63) % 2**64 - 2**63),
    "array": lambda k: np.array(k % 2**64, np.uint64),
    "index": Index,
    "slice": lambda k: slice(k),
    "step": lambda k: slice(None, None, k),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("whole", WHOLE)
def test_a_scalar_has_no_elements_of_any_number(whole: int, form: str) -> None:
    index = FORMS[form](whole)
    for of in (index, (index,), (None, index), (index, ...)):
        for run in (lambda f: f(ROWS), lambda f: te.vjp(f, ROWS)):
            with pytest.raises(IndexError):
                run(lambda x, of=of: x.sum()[of])


@pytest.mark.parametrize("use", [iter, list, len, lambda x: 1.0 in x, lambda x: [*x]], ids=range(5))
def test_a_scalar_is_no_sequence(use: Any) -> None:
    assert verdict(lambda x: use(x.sum()), ROWS).word == "raised"


# -- keys -------------------------------------------------------------------------------------------------------------
@dataclasses.dataclass(frozen=True)
class Point:
    x: Any


def remembered(x: Any) -> Any:
    return functools.lru_cache(lambda v: v * v)(x) + functools.cache(lambda v: v * 3.0)(x)


KEYS: dict[str, Any] = {
    "hash": hash,
    "set": lambda x: {x},
    "frozenset": lambda x: frozenset([x]),
    "set of tuples": lambda x: {(x, 1)},
    "frozen dataclass": lambda x: {Point(x): 1},
    "in a set of numbers": lambda x: x in {0.7, 2.0},
    "in a dict of numbers": lambda x: x in {0.7: 1},
    "dict.get": lambda x: {0.7: 2.0}.get(x),
    "dict display": lambda x: {x: 1},
    "dict comprehension": lambda x: {k: k for k in [x]},
    "dict.fromkeys": lambda x: dict.fromkeys([x]),
    "setdefault": lambda x: {}.setdefault(x, x),
    "defaultdict": lambda x: collections.defaultdict(list)[x],
    "Counter": lambda x: collections.Counter([x, x]),
    "lru_cache": remembered,
    "keyword of lru_cache": lambda x: functools.lru_cache(lambda *, v: v * v)(v=x),
    "update": lambda x: {0.7}.update([x]),
    "union": lambda x: {0.7} | {x},
    "intersection": lambda x: {0.7}.intersection([x]),
    "statistics.mode": lambda x: statistics.mode([x, x, 1.0]),
    "statistics.multimode": lambda x: statistics.multimode([x, 1.0]),
}


@pytest.mark.parametrize("name", KEYS)
def test_no_number_is_found_by_its_value_as_a_key(name: str) -> None:
    for nested in (False, True):
        program = (lambda x: te.grad(lambda y: y * bool(KEYS[name](y) or 1))(x) * x) if nested else KEYS[name]
        with pytest.raises(DroppedDerivativeError, match=r"tapeengine\.value\(x\) as the key"):
            te.vjp(lambda x, program=program: (program(x), x)[1], 0.7)


def test_a_memo_gives_no_derivative_of_another_number() -> None:
    @functools.lru_cache
    def square(x: Any) -> Any:
        return x * x

    assert square(3.0) == 9.0
    with pytest.raises(DroppedDerivativeError):
        te.grad(square)(3.0)
    with pytest.raises(DroppedDerivativeError):
        te.grad(lambda x, y: square(x) + 3 * square(y), (0, 1))(2.0, 2.0)


COMPARED: dict[str, Any] = {
    "in a list": lambda x: x * (x in [0.7, 2.0]),
    "list.index": lambda x: x * [2.0, 0.7].index(x),
    "list.count": lambda x: x * [0.7, 0.7].count(x),
    "list.remove": lambda x: [xs := [2.0, 0.7, x], xs.remove(0.7), xs[1] * 2.0][-1],
    "==": lambda x: x if x == 0.7 else 2.0 * x,
    "groupby": lambda x: next(k * 2.0 for k, _ in itertools.groupby([x, x, 2.0])),
    "the value as a key": lambda x: {0.7: 3.0}[te.value(x)] * x,
    "memo by index": lambda x: functools.lru_cache(lambda i: x**i)(2) * 1.0,
    "sorted": lambda x: sorted([2.0, x, 0.3])[1] * 2.0,
    "copies": lambda x: copy.copy(x) * copy.deepcopy([x])[0],
}


@pytest.mark.parametrize("name", COMPARED)
def test_comparisons_by_value_stay(name: str) -> None:
    value, _ = te.vjp(COMPARED[name], 0.7)
    assert value == COMPARED[name](0.7)


# -- builtins and the modules of numbers ------------------------------------------------------------------------------
#: Builtins for classes, names and source, which accept no number.
NO_NUMBERS = set(
    "aiter anext breakpoint callable classmethod compile copyright credits delattr dir eval exec exit getattr globals "
    "hasattr help input issubclass license locals open property quit setattr staticmethod super vars memoryview "
    "bytes bytearray object print type id repr ascii format str __build_class__ __import__".split()
)
BUILTINS: dict[str, Any] = {
    "divmod": lambda x: divmod(x, 0.3),
    "pow": lambda x: pow(x, 1.5),
    "round": lambda x: [round(x), round(x, 1)],
    "isinstance": lambda x: isinstance(x, (int, str)),
    "max": lambda x: max(x, 0.3),
    "min": lambda x: min(x, 0.3) + min([x, x], default=0.0),
    "sum": lambda x: sum([x, x], x),
    "filter": lambda x: list(filter(None, [x, 0.0])),
    "map": lambda x: list(map(operator.neg, [x])),
    "zip": lambda x: list(zip([x], [x], strict=True)),
    "enumerate": lambda x: list(enumerate([x])),
    "slice": lambda x: [1.0, 2.0][slice(x)],
    **{f.__name__: lambda x, f=f: f([x, x]) for f in (all, any, list, tuple, sorted)},
    "iter": lambda x: list(iter([x, x])),
    "reversed": lambda x: list(reversed([x, x])),
    "next": lambda x: next(iter([x])),
    "dict": lambda x: dict(zip("a", [x], strict=True)),
}


@pytest.mark.parametrize("name", sorted(n for n, f in vars(builtins).items() if callable(f) and n not in NO_NUMBERS))
def test_every_builtin(name: str) -> None:
    function = getattr(builtins, name)
    if inspect.isclass(function) and issubclass(function, BaseException):
        return
    found = verdict(BUILTINS.get(name, function), 0.7)
    assert found.right, found


ARGUMENTS = (
    *(lambda f, x: f(x), lambda f, x: f(x, 0.4), lambda f, x: f(0.4, x), lambda f, x: f([x, 2.3, 1.9])),
    *(lambda f, x: f([x, 2.3, 1.9], [1.0, 4.0, 2.0]), lambda f, x: f(x, 2), lambda f, x: f([x, 1.0], 0)),
    *(lambda f, x: f(x, 0.1, 2.0), lambda f, x: f([x, 1.0], 0, x)),
    lambda f, x: f(x + 1.0),
    lambda f, x: f(np.ones((2, 2)), te.numpy.array([[x, x * x], [1.0, x]])),
)
#: Functions of whole numbers, of text or of classes, and functions that make functions.
OTHERS = set(
    "comb factorial gcd isqrt lcm perm attrgetter itemgetter methodcaller index length_hint indexOf call "
    "NormalDist StatisticsError namedtuple defaultdict Counter Decimal Fraction groupby repeat count itemgetter "
    "mul_ countOf concat iconcat inv invert and_ or_ xor lshift rshift iand ior ixor ilshift irshift".split()
)


@pytest.mark.parametrize("module", [math, operator, statistics, __import__("cmath")], ids=lambda m: m.__name__)
def test_every_function_of_the_modules_of_numbers(module: Any) -> None:
    wrong = {}
    for name, function in vars(module).items():
        if name.startswith("_") or not callable(function) or name in OTHERS or inspect.ismodule(function):
            continue
        if getattr(function, "__module__", module.__name__) not in (module.__name__, f"_{module.__name__}"):
            continue
        calls = [call for call in ARGUMENTS if works(call, function)]
        if not calls:
            wrong[name] = "no arguments that it takes"
        for call in calls:
            found = verdict(lambda x, call=call, function=function: call(function, x), 0.7)
            if not found.right:
                wrong[name] = found
    assert wrong == {}


def works(call: Any, function: Any) -> bool:
    try:
        call(function, 0.7)
    except Exception:
        return False
    return True


def test_a_decimal_is_no_silent_way_out() -> None:
    for program in (
        fractions.Fraction,
        decimal.Decimal,
        lambda x: decimal.Decimal(1) * x,
        float,
    ):
        with pytest.raises((TapeEngineError, TypeError)):
            te.vjp(program, 0.7)


def test_in_place_floor_division_writes_into_the_array() -> None:
    def program(x: Any) -> Any:
        y = x * 2.0
        alias = y
        y //= 0.5
        return alias + x

    assert verdict(program, ROWS).word == "traced"


@pytest.mark.parametrize("ask", ["getattr", "hasattr", "try"])
@pytest.mark.parametrize(
    "name", ["value", "unit", "units", "magnitude", "array", "primal", "tangent", "detach", "numpy", "data_"]
)
def test_attributes_that_plain_values_lack_are_absent(name: str, ask: str) -> None:
    """Programs ask for such names to strip units or to tell classes apart; the plain value takes the other branch."""

    def stripped(x: Any) -> Any:
        if ask == "getattr":
            return getattr(x, name, x)
        if ask == "hasattr":
            return getattr(x, name) if hasattr(x, name) else x
        try:
            return getattr(x, name)
        except AttributeError:
            return x

    for lifted in (lambda f: f, te.lift):
        assert te.grad(lifted(lambda x: stripped(x) * x))(1.5) == 3.0
        np.testing.assert_array_equal(
            te.grad(lifted(lambda x: (stripped(x) * x).sum()))(np.array([1.5, 2.0])), [3.0, 4.0]
        )
        assert te.grad(lifted(lambda x: (stripped(x * 1j) * x).imag))(1.5) == 3.0


def test_public_names_of_traced_values_are_those_of_plain_ones() -> None:
    for traced, plain in ((Dual, float), (Array, np.ndarray), (ComplexDual, complex)):
        assert {n for n in dir(traced) if n[0] != "_"} <= {n for n in dir(plain) if n[0] != "_"}


class Name(str):
    """A text of a class of its own, as the members of an enumeration of texts and numpy's texts are."""


@pytest.mark.parametrize("kind", [Name, np.str_])
@pytest.mark.parametrize("name", ["sum", "T", "real", "conjugate", "shape", "nothing"])
@pytest.mark.parametrize("primal", [1.5, np.float32(1.5), np.complex64(1.5j), ROWS])
def test_names_of_attributes_may_be_of_a_subclass_of_str(primal: Any, name: str, kind: Any) -> None:
    for program in (lambda x: hasattr(x, kind(name)), lambda x: getattr(x, kind(name), None) is None):
        assert te.vjp(program, primal)[0] == program(primal)
