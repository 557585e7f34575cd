"""Plain classes whose ``__init__`` calls that of a class above, and abstract classes, are records of the language."""

import math
from abc import ABC, abstractmethod
from itertools import product

import pytest
from chad.written_functions import agrees_with_differences, defined, refused

import tapeengine as te

HEADS = ("class Base:", "class Base(ABC):\n    @abstractmethod\n    def name(self): ...")
#: Constructors of the first class.
FIRST = (
    "def __init__(self, a, k=2.0):\n        self.a = a * k\n        t = a + 1.0\n        self.t = t * t",
    "def __init__(self, a, *, k=0.5):\n        super().__init__()\n        self.a, self.t = math.sin(a), k",
)
#: How the next class calls it, and what it does before and after.
CALLS = (
    "super().__init__(b, k=a)\n        self.b = self.a + b",
    "self.b = math.exp(a)\n        Base.__init__(self, self.b)\n        self.a = self.a - b",
    "super().__init__(a)\n        t = self.t\n        self.b = t * b\n        self.t *= 3.0",
    "self.b = b\n        if a > 0.0:\n            super().__init__(a)\n        else:\n            super().__init__(-b)",
)
LAST = (
    "",
    "    def __init__(self, a, b):\n        super().__init__(b, a)\n        self.c = self.b * self.t",
    "    def __init__(self, a, b):\n        Middle.__init__(self, a=a, b=b)\n        self.a = self.b",
)
METHODS = """
    def get(self, y):
        return self.a * y + self.t
"""


def text_of(head, first, call, last):
    text = f"{head}\n    {first}{METHODS}class Middle(Base):\n    def __init__(self, a, b):\n        {call}\n"
    text += (
        "    def name(self):\n        return self.b\n    def get(self, y):\n        return super().get(y) * self.b\n"
    )
    text += f"class Last(Middle):\n{last or '    pass'}\n"
    return text + (
        "def f(x, y):\n    m, o = Middle(x, y), Last(y, x)\n    m.b = m.b * o.a\n"
        "    return sum(z.get(y) + z.name() for z in (m, o)) + (m.t if isinstance(o, Base) else 0.0)\n"
    )


@pytest.mark.parametrize("head, first, call, last", list(product(HEADS, FIRST, CALLS, LAST)))
def test_constructors(head, first, call, last):
    function = defined(text_of(head, first, call, last), math=math, ABC=ABC, abstractmethod=abstractmethod)
    program = te.program(function)
    for x, y in ((0.7, 0.3), (-0.25, 0.5)):
        refused(program, x, y)
        agrees_with_differences(program, function, x, y, rtol=1e-7)


DIAMOND = """
class Base:
    def __init__(self, a):
        self.a = a
class Left(Base):
    def __init__(self, a):
        super().__init__(a)
        self.b = 1.0
class Right(Base):
    def __init__(self, a):
        super().__init__(a * 3.0)
class Both(Left, Right):
    def __init__(self, a):
        super().__init__(a)
        self.c = a
class Other:
    def __init__(self, a):
        self.a = 2.0 * a
class Wrong(Base):
    def __init__(self, a):
        Base.__init__(self, a)
        Other.__init__(self, a)
class Abstract(ABC):
    def __init__(self, a):
        self.a = a
    @abstractmethod
    def get(self): ...
"""


@pytest.mark.parametrize("cls", ["Both", "Wrong", "Abstract"])
def test_what_python_does_with_other_constructors(cls):
    names = {"ABC": ABC, "abstractmethod": abstractmethod}
    function = defined(f"{DIAMOND}\ndef f(x):\n    return {cls}(x).a * x\n", **names)
    program = te.program(function)
    try:
        expected = function(0.7)
    except TypeError as error:
        with pytest.raises(TypeError) as caught:
            te.vjp(program, 0.7)
        assert str(caught.value) == str(error)
    else:
        value, back = te.vjp(program, 0.7)
        assert value == expected
        assert back(1.0)[0] == pytest.approx(2 * expected / 0.7, rel=1e-13)


def test_a_constructor_above_may_be_replaced():
    text = "class Base:\n    def __init__(self, a):\n        self.a = a\nclass Top(Base):\n    def __init__(self, a):\n"
    text += "        super().__init__(a)\n        self.b = 1.0\ndef f(x):\n    t = Top(x)\n    return t.a * x + t.b\n"
    function = defined(text)
    program = te.program(function)
    for k in (1.0, 10.0):
        refused(program, 1.5)
        agrees_with_differences(program, function, 1.5)
        function.__globals__["Base"].__init__ = defined(f"def f(self, a):\n    self.a = a * {k + 2.0}\n")
    agrees_with_differences(program, function, 1.5)
