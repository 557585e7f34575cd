"""scatter: to one place, to none, of rows, tuples and dataclasses; the generated, evaluated and plain forms agree."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from chad import evaluated as specification
from leaves import numbers

import tapeengine as te
import tapeengine.numpy as tnp
from tapeengine.chad.language.errors import ProgramError


@dataclass(frozen=True)
class Body:
    mass: float
    at: tuple[float, float]


@te.program
def scattered(x: te.Vec, y: te.Vec) -> te.Vec:
    return te.scatter(x, [0 for _ in range(len(y))], y)


@te.program
def scattered_number(x: te.Vec, y: float) -> te.Vec:
    return te.scatter(x, [1 for _ in range(len(x))], [y for _ in range(len(x))])


@te.program
def scattered_rows(x: te.Array[te.Vec], y: float) -> te.Array[te.Vec]:
    return te.scatter(x, [0 for _ in range(len(x))], [[y, y * y] for _ in range(len(x))])


@te.program
def scattered_into_lists(x: te.Vec) -> te.Array[te.Vec]:
    def halved(s: float) -> float:
        while s > 1.0:
            s = s / 2.0
        return s

    rows = [[halved(x[i]), x[i]] for i in range(len(x))]
    return te.scatter(rows, [0 for _ in range(len(x))], [[1.0, 2.0] for _ in range(len(x))])


@te.program
def scattered_tuples(xs: te.Array[tuple[float, float]], y: float) -> te.Array[tuple[float, float]]:
    return te.scatter(xs, [1, 1], [(y, y * y), (1.0, y)])


@te.program
def scattered_bodies(xs: te.Array[Body], y: float) -> te.Array[Body]:
    return te.scatter(xs, [0, 1, 0], [Body(y, (y, y * y)), xs[0], Body(1.0, (y, 2.0))])


SCATTERS = {
    "values": (scattered, (np.arange(3.0), np.arange(1.0, 6.0))),
    "no values": (scattered, (np.arange(3.0), np.zeros(0))),
    "rows of a loop": (scattered_into_lists, (np.array([3.0, 4.0]),)),
    "no rows of a loop": (scattered_into_lists, (np.zeros(0),)),
    "nothing at all": (scattered, (np.zeros(0), np.zeros(0))),
    "a number": (scattered_number, (np.arange(3.0), 1.5)),
    "rows": (scattered_rows, (np.arange(6.0).reshape(3, 2), 1.5)),
}


@pytest.mark.parametrize(("program", "primals"), SCATTERS.values(), ids=SCATTERS)
def test_scatter_to_one_place(program: Any, primals: tuple[Any, ...]) -> None:
    value, backpropagator = te.vjp(program, *primals)
    wanted, on_duals = te.vjp(lambda *xs: tnp.array(program.python(*xs)), *primals)
    wanted = np.reshape(wanted, np.shape(value))
    np.testing.assert_allclose(value, wanted, rtol=1e-14)
    cotangent = np.linspace(0.5, 2.0, np.size(value)).reshape(np.shape(value))
    for found, expected in zip(
        backpropagator(cotangent), on_duals(cotangent if cotangent.size else np.zeros(0)), strict=True
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-14)
    tangents = tuple(np.cos(p) for p in primals)
    along = te.jvp(program, primals, tangents)[1]
    np.testing.assert_allclose(
        np.vdot(cotangent, along), sum(map(np.vdot, backpropagator(cotangent), tangents)), rtol=1e-13
    )


PRODUCTS = {
    "tuples": (scattered_tuples, [(1.0, 2.0), (3.0, 4.0)], [(0.5, 1.5), (2.5, 3.5)]),
    "dataclasses": (
        scattered_bodies,
        [Body(1.0, (2.0, 3.0)), Body(4.0, (5.0, 6.0))],
        [Body(0.5, (1.5, 2.5)), Body(3.5, (4.5, 5.5))],
    ),
}


@pytest.mark.parametrize(("program", "xs", "cotangent"), PRODUCTS.values(), ids=PRODUCTS)
def test_scatter_of_elements_with_parts(program: Any, xs: Any, cotangent: Any) -> None:
    value, backpropagator = te.vjp(program, xs, 1.5)
    evaluated, evaluated_back = specification.vjp(program.executable, (xs, 1.5))
    plain, on_duals = te.vjp(program.python, xs, 1.5)
    assert value == evaluated == plain
    found = numbers(backpropagator(cotangent))
    np.testing.assert_allclose(found, numbers(evaluated_back(cotangent)), rtol=1e-14)
    np.testing.assert_allclose(found, numbers(on_duals(cotangent)), rtol=1e-14)


def test_what_cannot_be_added_is_refused() -> None:
    def program(xs: te.Array[bool]) -> te.Array[bool]:
        return te.scatter(xs, [0], [True])

    with pytest.raises(ProgramError, match="values of type bool cannot be added") as caught:
        te.program(program)
    assert "scatter numbers, or rows and tuples of them" in str(caught.value)


def zeros(x: te.Vec) -> te.Array[te.Vec]:
    return [[0.0] * 3 for _ in range(4)]


def one_row(x: te.Vec) -> te.Array[te.Vec]:
    return [x] * 4


def its_own_rows(x: te.Vec) -> te.Array[te.Vec]:
    return [[x[0] * i + j for j in range(3)] for i in range(4)]


def constant_columns(x: te.Vec) -> te.Array[te.Vec]:
    return [[x[i % 3] for _ in range(3)] for i in range(4)]


@pytest.mark.parametrize("backend", [None, "machine"])
@pytest.mark.parametrize("made", [zeros, one_row, its_own_rows, constant_columns], ids=lambda f: f.__name__)
def test_rows_are_added_to_copies_of_rows(made, backend):
    base = te.Program(made)

    def f(x: te.Vec, at: te.Array[int]) -> float:
        rows = base(x)
        found = te.scatter(rows, at, [[a * x[0], x[1], a * a] for a in x])
        kept = sum(sum(row) for row in rows)
        return kept + sum((i + 1.0) * found[i][j] ** 2 * (j + 2.0) for i in range(4) for j in range(3))

    program = te.Program(f, backend=backend)
    x, at = np.array([0.3, -1.2, 2.5]), np.array([1, 3, 1])
    value, back = te.vjp(program, x, at)
    expected, on_duals = te.vjp(program.python, x, at)
    assert value == pytest.approx(expected, rel=1e-14)
    np.testing.assert_allclose(back(1.0)[0], on_duals(1.0)[0], rtol=1e-12)
