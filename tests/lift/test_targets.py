"""What te.lift takes: objects with a call, dispatching functions, long expressions, tuples of functions; its errors."""

from __future__ import annotations

import functools
import importlib
import math
from typing import Any

import pytest

import tapeengine as te
from tapeengine.errors import DroppedDerivativeError

TABLE = (math.sin, (math.exp, 2.0))
NAMED = {"sin": math.sin}


class Power:
    """A callable object."""

    def __init__(self, p: float) -> None:
        self.p = p

    def __call__(self, x: float) -> float:
        return self.other(x)

    def other(self, x: float) -> float:
        return math.pow(x, self.p)


@functools.singledispatch
def root(x: Any) -> Any:
    raise TypeError


@root.register
def _(x: float) -> float:
    return math.sqrt(x)


def through_tuples(x: float) -> float:
    return TABLE[0](x) * TABLE[1][0](x) * TABLE[1][1]


def test_callable_objects_and_dispatching_functions_are_lifted() -> None:
    twin = te.lift(Power(3.0))
    assert twin.p == 3.0 and twin(2.0) == twin.other(2.0) == 8.0
    assert te.grad(twin)(2.0) == 12.0
    assert te.lift(root)(4.0) == 2.0 and te.grad(te.lift(root))(4.0) == 0.25
    there = Power(2.0)
    assert te.grad(te.lift(lambda x: te.lift(there)(x)))(2.0) == 4.0 and type(there) is Power

    @functools.singledispatch
    def inner(x: Any) -> Any:
        return math.exp(x)

    assert te.grad(te.lift(inner))(0.0) == 1.0


#: How a class holds an attribute `p`, and how an instance is made of it.
HOLDERS = {
    "slots": ("class A:\n    __slots__ = ('p', 'unset')\n", "made(A(), p=2.5)"),
    "slots of a base": ("class B:\n    __slots__ = ('p',)\nclass A(B):\n    __slots__ = ()\n", "made(A(), p=2.5)"),
    "slots and attributes": ("class B:\n    __slots__ = ('p',)\nclass A(B):\n    pass\n", "made(A(), p=2.5, q=1.0)"),
    "one slot": ("class A:\n    __slots__ = 'p'\n", "made(A(), p=2.5)"),
    "attributes": ("class A:\n    pass\n", "made(A(), p=2.5)"),
    "a number": ("class A(float):\n    __slots__ = ('p',)\n", "made(A(0.5), p=2.5)"),
    "a text": ("class A(str):\n    __slots__ = ('p',)\n", "made(A('a'), p=2.5)"),
    "a tuple": ("class A(tuple):\n    pass\n", "made(A((1.0, 2.0)), p=2.5)"),
    "an exception": ("class A(ValueError):\n    __slots__ = ('p',)\n", "made(A('no'), p=2.5)"),
}
#: What instances do: a call and a method, which see the attributes and compute with functions of `math`.
ACTIONS = (
    "    def __call__(self, x): return math.sin(x) * self.p\n    def times(self, x): return math.exp(x) * self.p\n"
    "    def name(self): return str(self) if isinstance(self, (str, float)) else ''\n"
)
MADE = "import math\ndef made(it, **items):\n    for name in items: setattr(it, name, items[name])\n    return it\n"


@pytest.mark.parametrize("name", HOLDERS)
def test_instances_keep_what_they_hold(name: str, package: Any) -> None:
    classes, instance = HOLDERS[name]
    package({"holders": f"{MADE}{classes}{ACTIONS}one = {instance}\n"})
    one = importlib.import_module("holders").one
    assert te.grad(te.lift(one.times))(0.3) == pytest.approx(math.exp(0.3) * 2.5, rel=1e-15)
    called = te.lift(one.__call__ if isinstance(one, str) else one)  # a text is a name
    assert te.grad(called)(0.3) == pytest.approx(math.cos(0.3) * 2.5, rel=1e-15)
    assert te.lift(one.name)() == one.name()


def test_functions_in_tuples_are_replaced_and_others_are_named() -> None:
    local = TABLE
    wanted = 2.0 * math.exp(0.7) * (math.cos(0.7) + math.sin(0.7))
    for f in (through_tuples, lambda x: local[0](x) * local[1][0](x) * 2.0):
        assert te.lift(f)(0.7) == f(0.7)
        assert te.grad(te.lift(f))(0.7) == pytest.approx(wanted)
    with pytest.raises(DroppedDerivativeError, match=r'NAMED\["sin"\].*put those of tapeengine.math'):
        te.grad(te.lift(lambda x: NAMED["sin"](x)))(1.0)


@pytest.mark.parametrize("terms", [3, 900])
@pytest.mark.parametrize("more", ["", "    a = [x]\n    a[0] = a[0] + {sum}\n    a[0] += {sum}\n"])
def test_expressions_of_any_length_are_lifted(terms: int, more: str, package: Any) -> None:
    total = " + ".join(f"{k}.0 * math.sin(x)" for k in range(terms))
    name = f"long_{terms}_{len(more)}"
    package({name: f"import math\ndef f(x):\n{more.format(sum=total)}    return {total}\n"})
    module = __import__(name)
    wanted = terms * (terms - 1) / 2 * math.cos(0.5)
    for f in (te.lift(name).f, te.lift(module.f)):
        assert f(0.5) == module.f(0.5) and te.grad(f)(0.5) == pytest.approx(wanted)


def test_objects_of_the_original_class_are_named_in_errors(package: Any) -> None:
    package(
        {
            "models": "import math\nclass Model:\n    def value(self, x): return math.sin(x)\n"
            "def run(model, x): return model.value(x)\ndef sine(x): return math.sin(x)\n"
        }
    )
    import models  # type: ignore[import-not-found]

    model = models.Model()
    for f in (lambda x: te.lift("models").run(model, x), te.lift(lambda x: model.value(x))):
        with pytest.raises(DroppedDerivativeError, match=r'class in tapeengine.lift\("models"\), or lift its method'):
            te.grad(f)(1.0)
    assert te.grad(te.lift("models").Model().value)(0.0) == te.grad(te.lift(model.value))(0.0) == 1.0
    with pytest.raises(DroppedDerivativeError, match=r'tapeengine.lift\(program, also=\["models"\]\)'):
        te.grad(te.lift(lambda x: getattr(models, "sine")(x)))(1.0)  # noqa: B009


def sharing():
    """Functions that share a variable of the function around them."""
    scale = 1.0

    def put(value):
        nonlocal scale
        scale = value

    def scaled(y):
        return math.sin(y) * scale

    return put, scaled


def counting():
    calls = 0

    def count(x):
        nonlocal calls
        calls += 1
        return x * calls

    return count


def test_variables_of_enclosing_functions_are_shared():
    put, scaled = sharing()
    lifted = te.lift(scaled)
    put(2.0)
    assert lifted(1.0) == te.lift(scaled)(1.0) == scaled(1.0) == 2.0 * math.sin(1.0)
    assert te.grad(lifted)(0.0) == 2.0
    te.lift(put)(3.0)
    assert lifted(1.0) == scaled(1.0) == 3.0 * math.sin(1.0)
    count = counting()
    again = te.lift(count)
    assert [count(1.0), again(1.0), count(1.0), again(1.0)] == [1.0, 2.0, 3.0, 4.0]
