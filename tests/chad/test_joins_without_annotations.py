"""Branches, loops and lists that give integers and floats, or records of several classes, without annotations.

Each way in which values join is combined with each use of the value. Value and gradient are those of dual numbers on
the same text, and the program is read: it does not run on dual numbers itself.
"""

import linecache
import math
import os
import sys
from typing import Any

import pytest

import tapeengine as te

CLASSES = """\
import dataclasses
from dataclasses import dataclass


@dataclass
class Shape:
    x: float
    k = 2.0

    def area(self):
        return self.x

    @property
    def twice(self):
        return 2 * self.x


@dataclass
class Disc(Shape):
    y: float = 1.5
    k = 3.0

    def area(self):
        return self.x * 2 * self.y

    def scaled(self, by):
        return Disc(self.x * by)

    def __add__(self, other):
        return self.x + other


@dataclass
class Box(Shape):
    def area(self):
        return self.x**3

    def scaled(self, by):
        return Box(self.x * by)

    def __add__(self, other):
        return self.x * other


@dataclass
class Point(Shape):
    z: int = 3

    def scaled(self, by):
        return Point(self.x - by)


def grown(s):
    return s.area() + s.k


"""
#: Statements that give a variable s one of two records, for a condition c and a number x.
RECORDS = {
    "conditional": "s = Disc(x, x) if c else Box(x)",
    "branch": "if c:\n    s = Disc(x)\nelse:\n    s = Box(x)",
    "chain": "if c:\n    s = Disc(x)\nelif x > 1:\n    s = Point(x)\nelse:\n    s = Box(x)",
    "change": "s = Box(x)\nif c:\n    s = Disc(x)",
    "loop": "s = Box(x)\nfor i in range(3):\n    if c:\n        s = Disc(s.x * x)",
    "while": "s = Box(x)\nwhile s.area() < 9:\n    s = Disc(s.area() + 1) if c else Box(s.x + 1)",
    "list": "s = [Disc(x), Box(x)][int(c)]",
    "appended": "ss = []\nfor i in range(2):\n    ss.append(Disc(x) if i else Box(x * x))\ns = ss[int(c)]",
    "tuple": "s, x = (Disc(x), 1) if c else (Box(x), x)",
    "none": "s = None\nif c:\n    s = Disc(x)\nif s is None:\n    s = Box(x)",
    "maximum": "s = max([Disc(x), Box(2 * x if c else x / 2)], key=lambda s: s.x)",
    "class": "of = Disc if c else Box\ns = of(x)",
}
#: Uses of the variable s.
USES = {
    "method": "return s.area()",
    "field": "return s.x * x",
    "attribute of the class": "return s.k * s.x",
    "property": "return s.twice",
    "isinstance": "return s.y if isinstance(s, Disc) else s.x",
    "base class": "return s.x if isinstance(s, Shape) else 0.0",
    "match": "match s:\n    case Disc(x=a, y=b):\n        return a * b\n    case _:\n        return s.x * 3",
    "argument": "return grown(s)",
    "method that gives a record": "return s.scaled(x).area()",
    "another join": "t = s\nif x > 1.5:\n    t = Point(x * x)\nreturn t.area()",
    "list of them": "return sum(t.area() for t in [s, Point(x), Box(x)])",
    "loop": "total = 0\nfor i, t in enumerate([s, Point(x)]):\n    total += t.area() * i\nreturn total",
}
#: Uses that only Python knows: there the program runs on dual numbers.
PLAIN = {
    "field of one class": "return s.y",
    "type": "return s.x if type(s) is Disc else 2 * s.x",
    "operator": "return s + x",
    "replace": "return dataclasses.replace(s, x=2 * s.x).area()",
    "change of a field": "s.x = 2 * s.x\nreturn s.area()",
    "comparison": "return s.x if s == Box(x) else 2 * s.x",
}
#: Helper functions whose paths give integers and floats, or several kinds of tuples and lists.
NUMBERS = {
    "returns": "if c:\n    return 1\nreturn x * x",
    "conditional": "return 0 if c else x",
    "branch": "if c:\n    s = 0\nelse:\n    s = x * 2.0\nreturn s + x",
    "loop": "s = 0\nfor i in range(3):\n    s = s + x * i\nreturn s",
    "maximum": "m = 0\nfor y in [x, 2 * x]:\n    m = max(m, y)\nreturn m * c",
    "argument": "return 2 if x * c > 0 else x",
    "tuple": "a, b = (1, x) if c else (x, 2)\nreturn a + b * x",
    "list": "return sum([1, 2] if c else [x, x * x])",
    "appended": "ys = [x]\nif c:\n    ys.append(1)\nelse:\n    ys.append(x * x)\nreturn sum(ys)",
    "dict": "d = {'a': 0, 'b': x}\nif c:\n    d = {'a': x, 'b': 1}\nreturn d['a'] + d['b'] * x",
    "none": "a = None\nif c:\n    a = 1\nreturn x if a is None else a",
    "lambda": "g = lambda c: 0 if c else x\nreturn g(c) + g(not c) * x",
    "local function": "def g(c):\n    if c:\n        return 1\n    return x * 2\nreturn g(c) + g(not c) * x",
}


def indented(text: str) -> str:
    """Statements of a function."""
    return "".join(f"    {line}\n" for line in text.splitlines())


def both(body: str) -> Any:
    """The function f(x) that calls a helper of this body on both of its paths."""
    text = f"{CLASSES}def helper(c, x):\n{indented(body)}\n\ndef f(x):\n    return helper(True, x) + helper(False, x)\n"
    name = f"joins_{len(linecache.cache)}"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    module = sys.modules[name] = type(sys)(name)
    exec(compile(text, name, "exec"), module.__dict__)
    return module.f  # type: ignore[attr-defined]


def result(run: Any, x: float) -> Any:
    """Value and gradient, or the class of the error."""
    try:
        value, back = te.vjp(run, x)
        return value, *back(1.0)
    except Exception as error:
        return type(error).__name__


def agrees(function: Any, is_read: bool) -> None:
    """Check a program against dual numbers, in the value and, as a program of its own, in the gradient."""
    program = te.program(function)
    for x in (1.25, 2.5):
        assert program.for_values((x,)).is_read == is_read
        plain, found = result(function, x), result(program, x)
        same = plain == found or all(map(math.isclose, plain, found))
        assert same, (plain, found)
        assert program(x) == function(x) if not isinstance(plain, str) else True


def pairs(uses: dict[str, str]) -> list[tuple[str, str]]:
    """Joins and uses: every use of every join at night, and a third of them else, which has each of both."""
    every = [(i + j, join, use) for i, join in enumerate(RECORDS) for j, use in enumerate(uses)]
    return [(join, use) for k, join, use in every if k % 3 == 0 or "TAPEENGINE_NIGHTLY" in os.environ]


@pytest.mark.parametrize(("join", "use"), pairs(USES))
def test_records_of_several_classes_join(join: str, use: str) -> None:
    agrees(both(f"{RECORDS[join]}\n{USES[use]}"), is_read=True)


@pytest.mark.parametrize(("join", "use"), pairs(PLAIN))
def test_other_uses_of_joined_records_run_on_dual_numbers(join: str, use: str) -> None:
    agrees(both(f"{RECORDS[join]}\n{PLAIN[use]}"), is_read=False)


@pytest.mark.parametrize("body", NUMBERS)
def test_integers_and_floats_join_in_helpers(body: str) -> None:
    agrees(both(NUMBERS[body]), is_read=True)


def test_a_result_of_one_of_several_classes_has_a_cotangent_of_its_class() -> None:
    text = "s = Disc(x, x) if c else Box(x)\nreturn s"
    helper = te.program(both(text).__globals__["helper"])
    disc, box = (helper.function.__globals__[name] for name in ("Disc", "Box"))
    for c, cotangent, expected in ((True, disc(2.0, 3.0), 5.0), (False, box(2.0), 2.0)):
        value, back = te.vjp(lambda x, c=c: helper(c, x), 1.5)
        assert value == helper.function(c, 1.5)
        assert back(cotangent) == (expected,)
