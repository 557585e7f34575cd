"""Records with attributes of their own in the place of their class's, as arguments and constants of programs."""

import gc
from dataclasses import dataclass
from typing import Any, ClassVar

import pytest
from chad.written_functions import run_in

import tapeengine as te
from tapeengine.errors import TapeEngineError


@dataclass
class Body:
    a: float
    K = 2.0
    L: ClassVar[float] = 3.0

    def w(self) -> float:
        return self.a

    def k(self) -> float:
        return self.a * self.K

    @staticmethod
    def s(x: float) -> float:
        return 2.0 * x


class Slot:
    __slots__ = ("a",)


@dataclass
class InSlot(Slot):
    a: float
    K, L, w, k, s = Body.K, Body.L, Body.w, Body.k, staticmethod(Body.s)


#: What the class has in each of these places is written to an instance: another constant or function.
READ = {"b.K": ("K", 9.0), "b.L": ("L", 9.0), "b.w()": ("w", lambda: 99.0), "b.k()": ("K", 9.0)}
READ["b.s(3.0)"] = "s", lambda x: 7.0 * x
TEXT = """
def argument(x, b):
    return x * b.a * READ

def annotated(x: float, b: Body) -> float:
    return x * b.a * READ

def listed(x, bs):
    return x * sum([b.a * READ for b in bs])

def constant(x):
    b = held
    return x * held.a * READ

def in_a_list(x):
    return x * sum([b.a * READ for b in helds])

def in_a_dict(x):
    b = named["b"]
    return x * b.a * READ

def result(x, b):
    return b
"""


@pytest.mark.parametrize("body", [Body, InSlot])
@pytest.mark.parametrize("is_late", [False, True])
@pytest.mark.parametrize("read", READ)
def test_the_attribute_of_the_instance_counts(read: str, is_late: bool, body: type[Any]) -> None:
    b = body(1.5)
    scope: dict[str, Any] = {"__name__": "written", "Body": body, "held": b, "helds": [body(1.0), b], "named": {"b": b}}
    run_in(scope, TEXT.replace("READ", read))
    of = {"argument": (b,), "annotated": (b,), "listed": ([body(1.0), b],)}
    names = ["argument", "annotated", "listed", "constant", "in_a_list", "in_a_dict"]
    programs = {name: te.program(scope[name]) for name in names}
    for name in names if is_late else ():
        assert te.grad(programs[name])(2.0, *of.get(name, ())) == pytest.approx(scope[name](1.0, *of.get(name, ())))
    setattr(b, *READ[read])
    for name in names:
        try:
            value, backpropagator = te.vjp(programs[name], 2.0, *of.get(name, ()))
        except TapeEngineError:
            assert of.get(name) and (is_late or name != "argument")
            continue
        assert value == scope[name](2.0, *of.get(name, ())), name
        assert backpropagator(1.0)[0] == pytest.approx(scope[name](1.0, *of.get(name, ()))), name


@pytest.mark.parametrize("transform", [te.vjp, lambda f, *x: te.value_and_grad(f, argnums=1)(*x)])
@pytest.mark.parametrize("has_annotation", [True, False])
def test_records_get_no_dictionary_of_attributes(has_annotation: bool, transform: Any) -> None:
    of = "x: float, b: Body" if has_annotation else "x, b"
    scope: dict[str, Any] = {"__name__": "written", "Body": Body}
    run_in(scope, f"def f({of}):\n    return x * b.k()")
    b = Body(1.5)
    for _ in range(3):
        transform(te.program(scope["f"]), 2.0, b)
    assert not any(isinstance(held, dict) for held in gc.get_referents(b))
