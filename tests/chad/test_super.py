"""``super()`` finds what Python finds, in methods, properties, class methods and static methods."""

from dataclasses import dataclass

import pytest
from chad.written_functions import function_of, refused

import tapeengine as te
from tapeengine.chad.language.errors import ProgramError


@dataclass
class Base:
    x: float

    @property
    def area(self) -> float:
        return self.x * self.x

    def scaled(self, k):
        return k * self.x * self.area

    @classmethod
    def made(cls, k):
        return 2.0 * k

    @staticmethod
    def fixed(k):
        return k * k


@dataclass
class Middle(Base):
    @property
    def area(self) -> float:
        return super().area * 3.0

    def scaled(self, k):
        return super().scaled(k) + super().area + super().fixed(k) + super().made(k)

    @classmethod
    def made(cls, k):
        return super().made(k) * super().fixed(k)


@dataclass
class Last(Middle):
    @property
    def area(self) -> float:
        return super().area + self.x

    @property
    def both(self) -> float:
        return super().scaled(self.area) * super().area

    def scaled(self, k):
        return super().scaled(k) * super().made(k)

    @classmethod
    def made(cls, k):
        return super().made(k) + 1.0

    def unknown(self):
        return super().x


USES = ("area", "scaled(y)", "made(y)", "fixed(y)")


@pytest.mark.parametrize("cls", [Base, Middle, Last])
@pytest.mark.parametrize("use", USES)
def test_what_is_inherited(cls, use):
    for made in (f"C(x).{use}", *([f"C.{use}"] if use in USES[2:] else [])):
        f = function_of("x, y", [f"return {made} * x"], C=cls)
        assert te.vjp(te.program(f), 0.7, 1.3)[0] == f(0.7, 1.3)
        assert te.grad(te.program(f), (0, 1))(0.7, 1.3) == pytest.approx(te.grad(f, (0, 1))(0.7, 1.3), rel=1e-12)


def test_a_property_that_only_the_last_class_has():
    f = function_of("x", ["return C(x).both"], C=Last)
    assert te.grad(te.program(f))(0.7) == pytest.approx(te.grad(f)(0.7), rel=1e-12)


def test_what_is_no_property_is_refused():
    f = function_of("x", ["return C(x).unknown()"], C=Last)
    with pytest.raises(ProgramError, match=r"super\(\).x is no property"):
        refused(te.program(f), 0.7)
