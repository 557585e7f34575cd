"""Sums over other monoids, compared with real numbers and with sums over paths."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import tapeengine as te
import tapeengine.math as tm
import tapeengine.numpy as tnp
from tapeengine.errors import CotangentError, UnsupportedError
from tapeengine.primitive import Primitive
from tapeengine.sparse import monoids
from tapeengine.sparse.monoids import Monoid, Ways
from tapeengine.testing import check_monoid
from tapeengine.testing.case import Case
from tapeengine_primitives import plugin


def scalars(x: Any, y: Any) -> Any:
    return [tm.sin(x) * y + x * x, y / x]


def arrays(x: Any) -> Any:
    y = tnp.zeros(4)
    y[1:] = x[:3] * x[1]
    y[0] = x[3] * 2.0
    return np.concatenate(
        [np.cumsum(y)[1:], np.reshape(np.reshape(y, (2, 2)) @ x[:2], (2,)), y[np.array([0, 0])] * np.sum(x)]
    )


def accesses(x: Any) -> Any:
    """Elements that are written twice, added to, cleared, and assigned with a leading unit axis."""
    y = x * 2.0
    y[np.array([0, 0, 1])] = x[np.array([1, 2, 3])] * x[0]
    np.add.at(y, np.array([2, 2]), x[:2] * x[3])
    y[3] = 1.0
    z = tnp.zeros(4)
    z[1:3] = np.reshape(x[2:] * 3.0, (1, 2))
    return np.concatenate([y, z, np.reshape(np.mean(np.reshape(y, (2, 2)), axis=0), (2,)), y * np.dot(y, z)])


@pytest.mark.parametrize(
    ("program", "primals"),
    [(scalars, (0.7, 1.3)), (arrays, (np.linspace(0.5, 2.0, 4),)), (accesses, (np.linspace(0.5, 2.0, 4),))],
)
def test_over_the_reals_it_is_the_backpropagator(program: Any, primals: Any) -> None:
    _, back = te.vjp(program, *primals)
    size = np.size(program(*primals))
    weights = np.linspace(1.0, 2.0, size)
    found = te.backpropagate(back, weights.tolist(), monoid=monoids.reals())
    expected = back(weights.tolist() if isinstance(program(*primals), list) else weights)
    for one, two in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-13)


def at_first_sample(primitive: Primitive) -> tuple[Any, tuple[Any, ...]]:
    """A primitive as a program of its differentiable arguments, and these."""
    case = Case(primitive, 0, next(iter(primitive.samples_drawn(0))), 0)
    moved = list(case.differentiated())

    def program(*given: Any) -> Any:
        args = dict(enumerate(case.args)) | dict(zip(moved, given, strict=True))
        return primitive(*args.values(), **case.static)

    return program, tuple(case.args[k] for k in moved)


def test_each_primitive_over_the_reals_or_a_refusal() -> None:
    refused = []
    for primitive in plugin.tapeengine_primitives():
        program, primals = at_first_sample(primitive)
        if not primals:
            continue
        value, back = te.vjp(program, *primals)
        parts = map(np.asarray, value if isinstance(value, tuple) else [value])
        weights = np.linspace(1.0, 2.0, sum(part.size for part in parts if part.dtype.kind == "f"))
        try:
            found = te.backpropagate(back, weights.tolist(), monoid=monoids.reals())
        except UnsupportedError as error:
            refused.append(primitive.name)
            assert "several" in str(error) if isinstance(value, tuple) else "complex" in str(error)
            continue
        for one, two in zip(found, back(weights.reshape(np.shape(value))), strict=True):
            np.testing.assert_allclose(np.ravel(one), np.ravel(two), rtol=1e-6, err_msg=primitive.name)
    assert "numpy.linalg.qr" in refused and "numpy.fft.fft" in refused and len(refused) < 20


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("reals", (6.0, -2.0)),
        ("booleans", (True, True)),
        ("index_sets", ({0}, {0})),
        ("absolute", (6.0, 2.0)),
        ("intervals", ((-6.0, 6.0), (-2.0, 2.0))),
    ],
)
def test_what_a_number_contributes_to_itself(name: str, expected: Any) -> None:
    _, back = te.vjp(lambda x, y: 3.0 * x * x - 2.0 * y, 1.0, 5.0)
    assert te.backpropagate(back, monoid=getattr(monoids, name)()) == expected


def test_index_sets_are_the_dependencies() -> None:
    x = np.linspace(0.5, 2.0, 4)
    _, back = te.vjp(arrays, x)
    sets = [frozenset([k]) for k in range(len(arrays(x)))]
    (found,) = te.backpropagate(back, sets, monoid=monoids.index_sets())
    pattern = te.dependencies(arrays, x).matrix.toarray()
    assert [set(one) for one in found] == [set(np.flatnonzero(column)) for column in pattern.T]


def test_absolute_sums_do_not_cancel() -> None:
    _, back = te.vjp(lambda x: x * 3.0 - x * 2.0 - x, 1.0)
    assert te.backpropagate(back, monoid=monoids.absolute()) == (6.0,)
    assert back(1.0) == (0.0,)


def test_intervals_hold_every_sum() -> None:
    _, back = te.vjp(lambda x, y: x * y - x, 2.0, 0.25)
    assert te.backpropagate(back, monoid=monoids.intervals()) == ((-1.25, 1.25), (-2.0, 2.0))


def test_provenance_counts_ways_by_lines() -> None:
    def program(x: Any) -> Any:
        y = x * x
        return y * y

    engine = te.Engine()
    with engine.debug(records=True):
        _, back = engine.vjp(program, 2.0)
    (ways,) = engine.backpropagate(back, monoid=monoids.provenance())
    assert ways.count == 4
    assert sorted((line.text, count) for line, count in ways.lines.items()) == [("return y * y", 4), ("y = x * x", 4)]


def test_a_zero_partial_counts_for_sets_and_not_for_numbers() -> None:
    _, back = te.vjp(lambda x: 0.0 * x, 2.0)
    assert te.backpropagate(back, monoid=monoids.booleans()) == (True,)
    assert te.backpropagate(back, monoid=monoids.absolute()) == (0.0,)


def test_too_few_elements_are_refused() -> None:
    _, back = te.vjp(scalars, 1.0, 2.0)
    with pytest.raises(CotangentError, match="2 numbers, which need 2 elements, not 1"):
        te.backpropagate(back, [1.0], monoid=monoids.reals())


@te.custom_vjp
def twisted(x: Any, y: Any) -> Any:
    return tnp.stack([x[0] * y, -x[1] * y * y]), y - x[1]


def twisted_cotangents(kept: Any, ct: Any) -> Any:
    x, y = kept
    first, second = ct
    return np.array([first[0] * y, -first[1] * y * y - second]), first[0] * x[0] - 2 * first[1] * x[1] * y + second


twisted.defvjp(lambda x, y: ((np.array([x[0] * y, -x[1] * y * y]), y - x[1]), (x, y)), twisted_cotangents)


@pytest.mark.parametrize("monoid", [monoids.reals(), monoids.absolute()], ids=["reals", "absolute"])
def test_custom_rules_by_unit_cotangents(monoid: Any) -> None:
    """The same sums as through the operations that the rule stands for."""

    def program(function: Any, x: Any, y: Any) -> Any:
        first, second = function(2.0 * x, y)
        return np.sum(first * x) + second * second

    given = np.array([1.0, 2.0]), 3.0
    _, back = te.vjp(lambda x, y: program(twisted, x, y), *given)
    plain = lambda x, y: (tnp.stack([x[0] * y, -x[1] * (y * y)]), y - x[1])  # noqa: E731
    _, known = te.vjp(lambda x, y: program(plain, x, y), *given)
    found, expected = (te.backpropagate(b, monoid=monoid) for b in (back, known))
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-14)
    assert found[1] == pytest.approx(expected[1], rel=1e-14)


def test_arrays_of_complex_numbers_are_refused() -> None:
    _, back = te.vjp(lambda x: ((x + 1j * x[::-1]) ** 2).imag, np.ones(2))
    with pytest.raises(UnsupportedError, match="complex arrays"):
        te.backpropagate(back, monoid=monoids.absolute())


# -- typed programs: the same sums by EC's transformation ------------------------------------------------------------
@te.program
def products(xs: list[float], scale: float) -> float:
    total = 0.0
    for i in range(len(xs) - 1):
        total = total + xs[i] * xs[0] * scale
    return tm.sin(total) - 2.0 * scale


@pytest.mark.parametrize("name", ["reals", "booleans", "absolute", "index_sets"])
def test_typed_programs_add_up_the_same(name: str) -> None:
    monoid = getattr(monoids, name)()
    primals = ([1.0, 2.0, 3.0], 0.5)
    _, back = te.vjp(products.python, *primals)
    found = products.derivative(monoid=monoid)(*primals)
    for one, two in zip(found, te.backpropagate(back, monoid=monoid), strict=True):
        if name in ("reals", "absolute"):
            np.testing.assert_allclose(one, two, rtol=1e-14)
        else:
            assert one == two


def test_typed_programs_count_ways() -> None:
    xs, scale = products.derivative(monoid=monoids.provenance())([1.0, 2.0, 3.0], 0.5)
    assert [ways.count for ways in xs] == [3, 1, 0]
    assert scale.count == 3


@te.program
def solved(a: list[list[float]], b: list[float]) -> list[float]:
    return [x * x for x in np.linalg.solve(a, b)]


@te.program
def chosen(a: te.Vec, k: int) -> te.Vec:
    return np.cumsum(a) * a[k]


@te.program
def whole(a: te.Vec, b: te.Vec) -> float:
    return np.sum(np.exp(a) * b) - np.dot(a, b)


@te.program
def inferred(x, y):  # type: ignore[no-untyped-def]
    return x * y - 2.0 * x


@dataclass(frozen=True)
class Body:
    mass: float
    places: list[float]


@te.program
def moments(body: Body, k: int) -> tuple[float, float]:
    total = 0.0
    for i in range(k):
        total = total + body.places[i] * body.mass
    return total, body.mass


@te.program
def rows(a: list[list[float]]) -> float:
    return sum(x * x for row in a for x in row)


TYPED: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "lists": (products, ([1.0, 2.0, 3.0], 0.5)),
    "a primitive with several results": (solved, ([[2.0, 1.0], [0.5, 3.0]], [1.0, 2.0])),
    "arrays and an integer": (chosen, (np.arange(1.0, 5.0), 2)),
    "whole arrays": (whole, (np.linspace(0.1, 0.4, 4), np.arange(1.0, 5.0))),
    "types of the arguments": (inferred, (3.0, 2.0)),
    "structures": (moments, (Body(2.0, [1.0, 3.0]), 2)),
    "rows of different lengths": (rows, ([[1.0], [2.0, 3.0], []],)),
}


@pytest.mark.parametrize("name", ["reals", "absolute", "intervals"])
@pytest.mark.parametrize("program", TYPED)
def test_derivatives_of_typed_programs_are_those_of_the_tape(program: str, name: str) -> None:
    typed, primals = TYPED[program]
    monoid = getattr(monoids, name)()
    found = typed.derivative(monoid=monoid)(*primals)
    known = te.backpropagate(te.vjp(typed.python, *primals)[1], monoid=monoid)
    for one, two in zip(found, known, strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-13)


def test_errors_of_derivatives_over_monoids() -> None:
    root = te.program(square_root)
    over = root.derivative(monoid=monoids.absolute())
    assert over(4.0) == (0.25,)
    with pytest.raises(UnsupportedError, match="a partial derivative is not finite"):
        over(0.0)
    with pytest.raises(ValueError, match="domain"):
        over(-1.0)
    with pytest.raises(CotangentError, match="1 numbers, which need 1 elements, not 2"):
        over(4.0, cotangent=[1.0, 2.0])
    with pytest.raises(TypeError, match="takes 1 positional argument but 2 were given"):
        over(4.0, 2.0)
    with pytest.raises(UnsupportedError, match="in reverse, not 'forward'"):
        root.derivative("forward", monoid=monoids.absolute())


def square_root(x: float) -> float:
    return tm.sqrt(x)


ELEMENTS: dict[str, Any] = {
    "reals": [1.0, -2.0, 4.0],
    "booleans": [True, False],
    "index_sets": [frozenset([1]), frozenset([1, 2]), frozenset()],
    "absolute": [1.0, 0.0, 2.5],
    "intervals": [(-1.0, 2.0), (0.0, 0.5), (-4.0, -2.0)],
}


@pytest.mark.parametrize("name", ELEMENTS)
def test_the_monoids_keep_the_laws(name: str) -> None:
    check_monoid(getattr(monoids, name)(), ELEMENTS[name])


def test_counts_of_ways_keep_the_laws() -> None:
    from collections import Counter

    check_monoid(
        monoids.provenance(), [Ways(1, Counter()), Ways(2, Counter({"a": 2})), Ways(3, Counter({"a": 1, "b": 3}))]
    )


@pytest.mark.parametrize(
    ("broken", "law"),
    [
        (Monoid(1.0, 1.0, lambda x, y: x + y, lambda e, x: x), "zero is not neutral"),
        (Monoid("", "a", lambda x, y: x + y, lambda e, x: x), "add does not commute"),
        (
            Monoid(0.0, 1.0, lambda x, y: (x + y) / (1 + x * y * 0.01 * (x != y)), lambda e, x: x),
            "add is not associative",
        ),
        (Monoid(0.0, 1.0, lambda x, y: x + y, lambda e, x: x * x), "through does not keep sums"),
        (Monoid(0.0, 1.0, max, lambda e, x: x + 1.0), "through does not keep zero"),
    ],
)
def test_broken_laws_are_found(broken: Any, law: str) -> None:
    elements = ["a", "b"] if broken.zero == "" else [1.0, 2.0, 3.0]
    with pytest.raises(AssertionError, match=law):
        check_monoid(broken, elements)


def test_backpropagators_without_a_tape_are_refused() -> None:
    staged = te.stage(lambda x: x * x)
    staged(2.0)
    for back in (te.vjp(products, [1.0, 2.0], 0.5)[1], te.vjp(staged, 3.0)[1]):
        for options in ({"monoid": monoids.absolute()}, {"progress": print}):
            with pytest.raises(te.errors.UnsupportedError, match="has no tape"):
                te.backpropagate(back, 1.0, **options)
        assert te.backpropagate(back, 1.0) == back(1.0)
