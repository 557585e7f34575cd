"""Records made of the elements of a list, ``Vec(*xs)``, and changed by their operators in each place: ``b.v += f``."""

from dataclasses import dataclass
from typing import NamedTuple

import pytest
from chad.written_functions import Cases, agrees_with_differences, function_of, refused

import tapeengine as te
from tapeengine.chad.language.errors import ProgramError

CASES = Cases()


@dataclass
class Vec:
    x: float
    y: float

    def __add__(self, o):
        return Vec(self.x + o.x, self.y + o.y)

    def __mul__(self, k):
        return Vec(self.x * k, self.y * k)

    def __radd__(self, k):
        return Vec(self.x + k, self.y + k)


@dataclass
class Adds:
    x: float

    def __add__(self, o):
        return Adds(self.x + o.x)

    def __iadd__(self, o):
        self.x += 2.0 * o.x
        return self


@dataclass
class Quad:
    a: float
    b: float
    c: float = 1.5


class Pair(NamedTuple):
    x: float
    y: float


@dataclass
class Holds:
    v: Vec
    w: Adds


@CASES(2.0, 0.5)
def of_all_elements(x, y):
    v, n = Vec(*[x, y]), Pair(*[y, x * y])
    return v.x * v.y + n.x * n.y * n.y


@CASES(2.0, 0.5)
def of_some(x, y):
    xs = [x, y, x * y]
    q, r = Quad(*xs[:2], c=y), Quad(x, *xs[1:])
    return q.a * q.c + r.b * r.c * r.c


NAMES = {"Vec": Vec, "Adds": Adds, "Holds": Holds}
#: Statements that change a record by an operator, with what is read afterwards.
CHANGES = {
    "a name": (["v = Vec(x, y)"], "v", "v.x * v.y"),
    "a field": (["h = Holds(Vec(x, y), Adds(y))"], "h.v", "h.v.x * h.v.y"),
    "an element": (["vs = [Vec(x, y) for _ in range(3)]", "i = 1"], "vs[i]", "vs[0].x * vs[1].y + vs[1].x"),
    "a value": (["d = {'a': Vec(x, y)}"], "d['a']", "d['a'].x * d['a'].y"),
}
OPERATIONS = ("+= Vec(y, x)", "*= y", "= y + {}")


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("place", CHANGES)
def test_a_record_changes_by_an_operator_of_its_class(place, operation):
    before, target, after = CHANGES[place]
    line = f"{target} {operation.format(target)}"
    function = function_of("x, y", [*before, "for _ in range(2):", f"    {line}", f"return {after}"], **NAMES)
    program = te.program(function)
    refused(program, 2.0, 0.5)
    agrees_with_differences(program, function, 2.0, 0.5)


@pytest.mark.parametrize(
    "lines", [["a = Adds(x)", "a += Adds(y)"], ["h = Holds(Vec(x, y), Adds(x))", "h.w += Adds(y)"]]
)
def test_an_operator_that_may_change_a_record_runs_on_dual_numbers(lines):
    function = function_of("x, y", [*lines, f"return {lines[1].split()[0]}.x * y"], **NAMES)
    program = te.program(function)
    with pytest.raises(ProgramError, match="has a method for this operator"):
        refused(program, 2.0, 0.5)
    agrees_with_differences(program, function, 2.0, 0.5)


@pytest.mark.parametrize(("function", "args"), CASES, ids=lambda f: getattr(f, "__name__", ""))
def test_a_record_is_made_of_elements(function, args):
    program = te.program(function)
    refused(program, *args)
    agrees_with_differences(program, function, *args)
