"""Sums over other monoids of random programs, on the tape and by EC's transformation, against all paths one by one."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import pytest
from chad.written_functions import defined
from hypothesis import given, settings
from hypothesis import strategies as st

import tapeengine as te
from tapeengine.sparse import monoids
from tapeengine.sparse.monoids import Monoid, Ways

INPUTS = (0.5, -1.5, 2.0)
FORMS = ("{0} * {1}", "{0} + {1}", "{0} - {1}", "-{0}", "{0} / 4.0", "{0} * 0.5", "{0} * 0.0", "3.0 - {0}")


@dataclass
class Number:
    """A value, and for each path to it from an input: the input, the product of the partials, the lines passed."""

    value: float
    paths: list[tuple[int, float, tuple[int, ...]]]


def step(form: str, line: int, a: Number, b: Number) -> Number:
    """The number that a line of a program makes, by the rules of derivatives written out."""
    x, y = a.value, b.value
    value, partials = {
        "{0} * {1}": (x * y, ((a, y), (b, x))),
        "{0} + {1}": (x + y, ((a, 1.0), (b, 1.0))),
        "{0} - {1}": (x - y, ((a, 1.0), (b, -1.0))),
        "-{0}": (-x, ((a, -1.0),)),
        "{0} / 4.0": (x / 4.0, ((a, 0.25),)),
        "{0} * 0.5": (x * 0.5, ((a, 0.5),)),
        "{0} * 0.0": (x * 0.0, ((a, 0.0),)),
        "3.0 - {0}": (3.0 - x, ((a, -1.0),)),
    }[form]
    return Number(
        value, [(k, p * partial, (*lines, line)) for number, partial in partials for k, p, lines in number.paths]
    )


@dataclass
class Drawn:
    """A random program: its source, and its results with all their paths."""

    text: str
    results: list[Number]

    def sums(self, element: Any) -> list[list[Any]]:
        """For each input what ``element(result, product, lines)`` gives for each of its paths."""
        found: list[list[Any]] = [[] for _ in INPUTS]
        for r, number in enumerate(self.results):
            for k, product, lines in number.paths:
                found[k].append(element(r, product, lines))
        return found

    def function(self) -> Any:
        """The program as a Python function whose source is known."""
        return defined(self.text)


@st.composite
def programs(draw: Any) -> Drawn:
    number = st.integers(0, 40)
    steps = draw(st.lists(st.tuples(st.sampled_from(FORMS), number, number), min_size=1, max_size=11))
    outputs = draw(st.lists(number, min_size=1, max_size=4))
    lines = ["def f(xs: list[float]) -> list[float]:\n"]
    known = [Number(x, [(k, 1.0, ())]) for k, x in enumerate(INPUTS)]
    names = [f"xs[{k}]" for k in range(len(INPUTS))]
    for form, a, b in steps:
        i, j, line = a % len(known), b % len(known), len(lines) + 1
        lines.append(f"    v{line} = {form.format(names[i], names[j])}\n")
        known.append(step(form, line, known[i], known[j]))
        names.append(f"v{line}")
    chosen = [k % len(known) for k in outputs]
    lines.append(f"    return [{', '.join(names[k] for k in chosen)}]\n")
    return Drawn("".join(lines), [known[k] for k in chosen])


def both(program: Drawn, monoid: Monoid[Any], elements: Any = None) -> tuple[list[Any], list[Any]]:
    """The sums of the inputs on the tape, and by the transformation."""
    function = program.function()
    (of_tape,) = te.backpropagate(te.vjp(function, list(INPUTS))[1], elements, monoid=monoid)
    (transformed,) = te.program(function).derivative(monoid=monoid)(list(INPUTS), cotangent=elements)
    return of_tape, transformed


@settings(deadline=None, max_examples=60)
@given(programs())
def test_magnitudes(program: Drawn) -> None:
    sizes = [sum(found) for found in program.sums(lambda r, p, lines: abs(p))]
    for found in both(program, monoids.absolute()):
        assert found == pytest.approx(sizes, rel=1e-14, abs=0)
    for found in both(program, monoids.intervals()):
        assert [high for _, high in found] == pytest.approx(sizes, rel=1e-14, abs=0)
        assert [-low for low, _ in found] == pytest.approx(sizes, rel=1e-14, abs=0)


@settings(deadline=None, max_examples=60)
@given(programs())
def test_intervals_of_one_side(program: Drawn) -> None:
    """Cotangents in [0, 1]: negative products give the lower end, positive ones the upper end."""
    ends = [
        (sum(p for p in found if p < 0), sum(p for p in found if p > 0)) for found in program.sums(lambda r, p, _: p)
    ]
    for found in both(program, monoids.intervals(), [(0.0, 1.0)] * len(program.results)):
        for one, two in zip(found, ends, strict=True):
            assert one == pytest.approx(two, rel=1e-13, abs=0)


@settings(deadline=None, max_examples=60)
@given(programs())
def test_sets_and_booleans(program: Drawn) -> None:
    """Products that are zero count."""
    reached = [frozenset(found) for found in program.sums(lambda r, p, lines: r)]
    singles = [frozenset([r]) for r in range(len(program.results))]
    for found in both(program, monoids.index_sets(), singles):
        assert found == reached
    for found in both(program, monoids.booleans()):
        assert found == [bool(found) for found in reached]


@settings(deadline=None, max_examples=60)
@given(programs())
def test_real_numbers(program: Drawn) -> None:
    sums = [(sum(found), sum(map(abs, found))) for found in program.sums(lambda r, p, lines: p)]
    for found in both(program, monoids.reals()):
        for one, (total, size) in zip(found, sums, strict=True):
            assert one == pytest.approx(total, rel=0, abs=1e-13 * size)


@settings(deadline=None, max_examples=60)
@given(programs())
def test_ways_by_parameter_and_line(program: Drawn) -> None:
    """How often each input contributes; on the tape also through which lines."""
    paths = program.sums(lambda r, p, lines: lines)
    engine = te.Engine()
    with engine.debug(records=True):
        _, back = engine.vjp(program.function(), list(INPUTS))
    (found,) = engine.backpropagate(back, monoid=monoids.provenance())
    for ways, passed in zip(found, paths, strict=True):
        assert ways.count == len(passed)
        counted = Counter(line for lines in passed for line in lines)
        assert {line.number: count for line, count in ways.lines.items()} == counted
    (found,) = te.program(program.function()).derivative(monoid=monoids.provenance())(list(INPUTS))
    assert [ways.count for ways in found] == list(map(len, paths))


def test_ways_without_lines_are_ways() -> None:
    assert te.program(lines).derivative(monoid=monoids.provenance())(2.0) == (Ways(4, Counter()),)


def lines(x: float) -> float:
    y = x * x
    return y * y
