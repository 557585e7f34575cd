"""Products with Hessians of programs of lists of records: those of dual numbers, also where tangents have no part."""

import sys
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pytest
from leaves import numbers

import tapeengine as te


@dataclass
class Body:
    x: float
    m: float


@dataclass
class Labelled:
    x: float
    kind: int
    v: te.Vec


class Pair(NamedTuple):
    a: float
    b: float


def energy(bodies: list[Body]) -> float:
    total = 0.0
    for b in bodies:
        total += b.m * b.x**3
    return total


def potential(bodies: list[Body]) -> float:
    total = 0.0
    for i in range(len(bodies)):
        for j in range(i):
            total += bodies[i].m * bodies[j].m / (1.0 + (bodies[i].x - bodies[j].x) ** 2)
    return total


def labelled(cells: list[Labelled]) -> float:
    return sum(c.kind * c.x**2 * np.sum(c.v**3) for c in cells)


def pairs(ps: Any) -> float:
    return sum(p.a**2 * p.b for p in ps)


BODIES = [Body(1.0, 2.0), Body(3.0, 0.5), Body(-0.3, 1.5)]
CELLS = [Labelled(0.3, 2, np.array([1.0, 2.0])), Labelled(1.3, 3, np.array([0.5, -2.0]))]
ALONG = [Labelled(0.1, 2, np.array([0.3, 0.2])), Labelled(-0.4, 3, np.array([0.1, 1.0]))]
CASES = {
    "floats": (energy, BODIES, [Body(0.1, 0.2), Body(0.3, -0.4), Body(1.0, 0.7)]),
    "pairs of records": (potential, BODIES, [Body(0.1, 0.2), Body(0.3, -0.4), Body(1.0, 0.7)]),
    "integers and arrays": (labelled, CELLS, ALONG),
    "named tuples": (pairs, [Pair(1.0, 2.0), Pair(0.3, 4.0)], [Pair(0.1, 0.2), Pair(0.3, 0.4)]),
}
#: Tangents with parts that are None, and the zeros that these stand for.
PARTS = {
    "a record": (energy, BODIES, [Body(0.1, 0.2), None, None], [Body(0.1, 0.2), Body(0.0, 0.0), Body(0.0, 0.0)]),
    "fields": (energy, BODIES[:2], [Body(0.1, None), Body(None, 0.3)], [Body(0.1, 0.0), Body(0.0, 0.3)]),
    "all": (energy, BODIES[:1], None, [Body(0.0, 0.0)]),
    "arrays": (
        labelled,
        CELLS,
        [replace(c, v=None, kind=None) for c in ALONG],
        [replace(c, v=np.zeros(2)) for c in ALONG],
    ),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("transform", [te.hvp, te.vhp])
def test_a_product_of_a_list_of_records(transform, name):
    function, primal, tangent = CASES[name]
    program = te.program(function)
    found = transform(program, (primal,), (tangent,))
    np.testing.assert_allclose(numbers(found), numbers(transform(program.python, (primal,), (tangent,))), rtol=1e-12)
    assert [type(each) for each in found] == [type(each) for each in primal]
    assert program.unread is None


@pytest.mark.parametrize("name", PARTS)
def test_a_part_without_a_tangent_has_a_tangent_of_zero(name):
    function, primal, tangent, zeros = PARTS[name]
    found, wanted = (te.program(function).tangents((primal,), (given,)) for given in (tangent, zeros))
    np.testing.assert_array_equal(numbers(found), numbers(wanted))
    assert [type(each) for each in found[0]] == [type(each) for each in primal]


@pytest.mark.parametrize("name", ["floats", "pairs of records"])
def test_the_function_itself_does_not_run(name):
    function, primal, tangent = CASES[name]
    program, calls = te.program(function), []

    def profile(frame, event, _):
        if event == "call" and frame.f_code is function.__code__:
            calls.append(frame)

    sys.setprofile(profile)
    try:
        te.hvp(program, (primal,), (tangent,))
    finally:
        sys.setprofile(None)
    assert not calls


def test_a_whole_tangent_is_not_made_again():
    tangent = CASES["floats"][2]
    ((first, *_),) = te.program(energy).tangents((BODIES,), (tangent,))
    assert first is tangent[0]
