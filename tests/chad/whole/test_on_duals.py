"""What runs on dual numbers gives what the evaluated derivative gives, on written programs."""

import math as plain_math
from dataclasses import dataclass

import numpy as np
import pytest
from chad import evaluated as specification
from chad.test_examples import leaves, random_like
from chad.whole.programs import PROGRAMS
from chad.whole.programs_arrays import ARRAYS

import tapeengine as te
import tapeengine.math as math
from tapeengine.errors import StructureError

CASES = {**PROGRAMS, **ARRAYS}


@pytest.mark.parametrize("name", CASES)
def test_cotangents(name):
    program, args = CASES[name]
    run = program.executable
    wanted, expected = specification.vjp(run, args)
    value, backpropagator = run.dual_vjp(args)
    np.testing.assert_allclose(leaves(value), leaves(wanted), rtol=1e-12, atol=1e-12)
    cotangent = random_like(wanted, 3)
    np.testing.assert_allclose(leaves(backpropagator(cotangent)), leaves(expected(cotangent)), rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("name", CASES)
def test_tangents(name):
    program, args = CASES[name]
    run = program.executable
    tangents = tuple(random_like(x, 5) for x in args)
    wanted, got = specification.jvp(run, args, tangents), run.dual_jvp(args, tangents)
    for x, y in zip(got, wanted, strict=True):
        np.testing.assert_allclose(leaves(x), leaves(y), rtol=1e-9, atol=1e-10)


@dataclass(frozen=True)
class End:
    x: float


@dataclass(frozen=True)
class Link:
    x: float
    rest: "Chain"


Chain = End | Link


@te.program
def chained(c: Chain, k: int) -> float:
    if isinstance(c, End):
        return math.sin(c.x) * float(k)
    return c.x * chained(c.rest, k)


@te.program
def over_rows(rows: te.Array[te.Vec], scale: float) -> float:
    return sum(float(x) * x / scale for row in rows for x in row)


@pytest.mark.parametrize(
    ("program", "given", "as_floats"),
    [
        (chained, (Link(2, End(3)), 4), (Link(2.0, End(3.0)), 4)),
        (over_rows, ([[1, 2], [3]], 2), ([[1.0, 2.0], [3.0]], 2.0)),
        (over_rows, ([np.array([1, 2]), np.array([3.0])], np.float64(2.0)), ([[1.0, 2.0], [3.0]], 2.0)),
    ],
)
def test_whole_numbers_given_for_floats_have_cotangents(program, given, as_floats):
    run = program.executable
    (value, back), (wanted, expected) = run.dual_vjp(given), specification.vjp(run, as_floats)
    assert value == pytest.approx(wanted, rel=1e-14)
    np.testing.assert_allclose(leaves(back(1.0)), leaves(expected(1.0)), rtol=1e-14)


def test_values_of_other_types_are_refused_where_they_are():
    with pytest.raises(StructureError, match=r"rows\[1\]\[0\] is of type str"):
        over_rows.executable.dual_vjp(([[1.0], ["2"]], 2.0))


def test_a_recursive_program_calls_itself_and_not_the_program():
    """Each call of the program would look for traced numbers in all of its arguments."""
    run = chained.python.__wrapped__
    assert run is not chained.function
    assert run.__globals__["chained"] is run


@dataclass(frozen=True)
class Angle:
    x: float

    @property
    def root(self):
        return plain_math.sqrt(self.x)

    def sine(self, k: float) -> float:
        return plain_math.sin(self.x * k) * Angle(self.x).root


@dataclass(frozen=True)
class Angles:
    first: Angle
    rest: "Some"


Some = Angles | None


@te.program
def with_methods(a: Some, k: float) -> float:
    return k if a is None else a.first.sine(k) + a.first.root * with_methods(a.rest, k)


def test_methods_of_records_run_on_dual_numbers_as_they_are_written():
    at, step = Angles(Angle(1.0), Angles(Angle(2.0), None)), 1e-6
    run = with_methods.executable
    value, back = run.dual_vjp((at, 0.5))
    assert value == with_methods(at, 0.5)
    found, slope = back(1.0)
    assert type(found) is Angles and type(found.first) is Angle
    ends = [with_methods(at, 0.5 + s) for s in (step, -step)]
    assert slope == pytest.approx((ends[0] - ends[1]) / (2 * step), rel=1e-8)
    ends = [with_methods(Angles(Angle(1.0 + s), at.rest), 0.5) for s in (step, -step)]
    assert found.first.x == pytest.approx((ends[0] - ends[1]) / (2 * step), rel=1e-8)
    assert run.dual_jvp((at, 0.5), (None, 1.0)) == (value, pytest.approx(slope, rel=1e-13))
    assert run.dual_jvp((at, 0.5), (Angles(Angle(1.0), None), None))[1] == pytest.approx(found.first.x, rel=1e-13)
