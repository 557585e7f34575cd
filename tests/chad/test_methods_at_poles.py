"""A compiled program that meets a pole runs on dual numbers there: its classes do what they do in Python."""

import dataclasses
import math
from typing import NamedTuple

import pytest
from chad.written_functions import agrees_with_differences, defined, refused

import tapeengine as te

#: How a class with the fields ``a`` and ``b`` begins, and one that is derived from it and has no other fields.
FIELDS = "class Base:\n    a: float\n    b: float"
KINDS = {
    "record": (f"@dataclass\n{FIELDS}", "@dataclass\nclass Top(Base):"),
    "frozen": (f"@dataclass(frozen=True)\n{FIELDS}", "@dataclass(frozen=True)\nclass Top(Base):"),
    "slots": (f"@dataclass(slots=True)\n{FIELDS}", "class Top(Base):"),
    "plain": (
        "class Base:\n    def __init__(self, a, b):\n        self.a, self.b = math.exp(a), b",
        "class Top(Base):",
    ),
    "tuple": (FIELDS.replace("Base", "Base(NamedTuple)"), "class Top(Base):"),
}
BODY = """
    def slope(self, y):
        return self.a * math.sin(y) + self.b
    @property
    def size(self):
        return math.hypot(self.a, self.b)
    @staticmethod
    def act(y):
        return math.tanh(y)
    def __call__(self, y):
        return self.a * math.cos(self.b * y)
    def __matmul__(self, other):
        return math.atan2(self.a, other.b)
    def moved(self, y):
        return Base(self.a + y, self.b)
    def plain(self, y):
        return self.a * y - self.b
"""
#: Of the class that is derived: nothing, or methods with ``super()``, one of which needs no function of `math`.
OVERRIDES = (
    "    pass",
    "    def slope(self, y):\n        return super().slope(y * self.a) * 0.5 + math.exp(y)",
    "    def plain(self, y):\n        return super().plain(y) * 2.0 + self.slope(y)",
)
USES = (
    "Top(x, y).slope(y) * Base(y, x).slope(x)",
    "Top(x, y).size + Base(x, x).size",
    "Top.act(x) * Top(y, x).act(y)",
    "Top(x, y)(y) - Base(y, x)(x)",
    "Top(x, y) @ Base(y, x)",
    "Top(x, y).plain(y)",
    "Top(x, y).moved(y).slope(x)",
    "(Top(x, y).slope(x) if isinstance(Top(y, x), Base) else 0.0) + (5.0 if isinstance(Base(x, y), Top) else y)",
)


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("override", OVERRIDES)
@pytest.mark.parametrize("kind", KINDS)
def test_methods(kind, override, use):
    base, top = KINDS[kind]
    text = f"{base}{BODY}{top}\n{override}\ndef f(x, y):\n    try:\n        return x / 0.0\n"
    text += f"    except ZeroDivisionError:\n        return {use}\n"
    function = defined(text, math=math, dataclass=dataclasses.dataclass, NamedTuple=NamedTuple)
    program = te.program(function)
    refused(program, 0.7, 0.3)
    gradient = agrees_with_differences(program, function, 0.7, 0.3)
    _, tangent = te.jvp(program, (0.7, 0.3), (1.0, -0.5))
    assert tangent == pytest.approx(gradient[0] - 0.5 * gradient[1], rel=1e-13)
