"""An operand that an operation does not select gets exactly zero, even from an infinite or NaN cotangent or tangent.

The cases are drawn from the opcode table: every operation with a partial that only says which operand counts. An
infinite cotangent arises inside the program (a root at 0), so that it goes through every kind of sweep.
"""

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapeengine as te
from tapeengine._core.tape.table import OPS
from tapeengine.staged import Staged
from tests.core.conftest import COMPILED, REFERENCE, Core

SELECTING = {op.name: op.arity for op in OPS if any(op.selects) and hasattr(te.math, op.name)}
#: Selecting operations, with arguments at which the selected value minus itself has an infinite slope behind it.
POINTS = [(1.5, -2.0), (-2.0, 1.5), (-0.5, 3.0), (3.0, -0.5), (0.25, 0.25)]


def left_out(name: str, x: float, y: float) -> list[bool]:
    """Whether an operation's value is constant around each argument, found by moving it, without the table."""
    function = getattr(te.math, name)
    args = (x, y)[: SELECTING[name]]
    steps = (-1e-3, 1e-3)
    return [
        all(function(*(a + step * (i == k) for i, a in enumerate(args))) == function(*args) for step in steps)
        for k in range(len(args))
    ]


def steep(m: Any, name: str, x: Any, y: Any, at: tuple[float, float]) -> Any:
    """The square root of 0, computed from the selected operand: its slope is infinite."""
    args = (x, y)[: SELECTING[name]]
    value = getattr(te.math, name)(*at[: SELECTING[name]])
    return m.sqrt(getattr(m, name)(*args) - value)


def cases() -> Any:
    return [(name, *at) for name, at in itertools.product(SELECTING, POINTS)]


def test_the_table_has_selections() -> None:
    assert {"maximum", "minimum", "relu", "copysign"} <= set(SELECTING)


def check(cotangents: Any, name: str, x: float, y: float) -> None:
    for got, out in zip(cotangents, left_out(name, x, y), strict=False):
        assert got == 0.0 if out else not math.isfinite(got), (name, x, y, cotangents)


@pytest.mark.parametrize(("name", "x", "y"), cases())
def test_reverse(core: Core, name: str, x: float, y: float) -> None:
    _, back = core.vjp(lambda a, b: steep(core.math, name, a, b, (x, y)), x, y)
    check(back(1.0), name, x, y)


@pytest.mark.parametrize("constant", [0, 1])
@pytest.mark.parametrize(("name", "x", "y"), cases())
def test_with_a_constant_operand(core: Core, name: str, x: float, y: float, constant: int) -> None:
    at = (x, y)
    if SELECTING[name] <= constant:
        return
    _, back = core.vjp(lambda a: steep(core.math, name, *(at[i] if i == constant else a for i in (0, 1)), at),
                       at[1 - constant])  # fmt: skip
    expected = left_out(name, x, y)
    if 1 - constant < len(expected):
        (got,) = back(1.0)
        assert got == 0.0 if expected[1 - constant] else not math.isfinite(got)


def infinite(cotangents: Callable[..., Any]) -> Callable[..., Any]:
    return lambda name, x, y: check(cotangents(lambda a, b: steep(te.math, name, a, b, (x, y)), x, y), name, x, y)


def columns(f: Any, x: float, y: float) -> Any:
    """By tangents, one for each argument."""
    return [te.jvp(f, (x, y), t)[1] for t in ((1.0, 0.0), (0.0, 1.0))]


def replayed(f: Any, x: float, y: float) -> Any:
    """By a recording of another point, replayed here, and by the recording's own run."""
    g = Staged(te.default_engine(), lambda a, b: f(a, b))
    first, again = (te.vjp(g, x, y)[1](1.0) for _ in range(2))
    assert [*map(repr, first)] == [*map(repr, again)]
    return again


def by_rows(f: Any, x: float, y: float) -> Any:
    """Many rows at once: by blocks of scalars, and on a tape with arrays."""
    rows = te.jacrev(lambda a: np.stack([f(a[0], a[1])] * 9))(np.array([x, y]))
    assert all(repr(row.tolist()) == repr(rows[0].tolist()) for row in rows)
    lists = te.jacrev(lambda a: [f(a[0], a[1])] * 9)([x, y])
    assert all(repr(row) == repr(lists[0]) for row in lists)
    assert repr(list(lists[0])) == repr(rows[0].tolist())
    return lists[0]


def by_columns(f: Any, x: float, y: float) -> Any:
    return te.jacfwd(lambda a: np.stack([f(a[0], a[1])] * 9))(np.array([x, y, 1.0, 2.0]))[0][:2]


def inside_another_trace(f: Any, x: float, y: float) -> Any:
    """The reverse sweep recorded on an outer tape."""
    return te.vjp(lambda a, b: te.vjp(f, a, b)[1](1.0), x, y)[0]


def of_second_order(f: Any, x: float, y: float) -> Any:
    """The gradient that a Hessian-vector product computes as well."""
    return te.vjp(lambda a, b: te.jvp(lambda s: te.vjp(f, a + s, b)[1](1.0), (0.0,), (1.0,))[0], x, y)[0]


@pytest.mark.parametrize("way", [columns, replayed, by_rows, by_columns, inside_another_trace, of_second_order])
@pytest.mark.parametrize(("name", "x", "y"), cases())
def test_other_sweeps(way: Callable[..., Any], name: str, x: float, y: float) -> None:
    infinite(way)(name, x, y)


@pytest.mark.parametrize(("name", "x", "y"), cases())
def test_arrays_as_numbers(name: str, x: float, y: float) -> None:
    if SELECTING[name] == 1 or not hasattr(np, name):
        return
    value = getattr(np, name)(x, y)
    _, back = te.vjp(lambda a, b: np.sqrt(getattr(np, name)(a, b) - value), np.full(3, x), np.full(3, y))
    rows = np.stack(back(np.ones(3)))
    for row in rows.T:
        check(row, name, x, y)


def picks() -> list[Any]:
    """Functions of an array whose values are each one element, or lie between two."""
    ranks = [k / 4 for k in range(5)]
    return [
        *[
            lambda a, q=q, m=m: np.quantile(a, q, method=m)
            for q in ranks
            for m in ("linear", "hazen", "lower", "weibull")
        ],
        lambda a: np.quantile(a, ranks),
        *[np.median, np.max, np.min, np.sort, lambda a: np.partition(a, 2), lambda a: np.percentile(a, 50.0)],
        *[np.maximum.accumulate, np.minimum.accumulate, np.maximum.reduce, np.minimum.reduce, np.nanmax, np.nanmedian],
        *[lambda a: np.clip(a, -1.0, 1.0), lambda a: np.fmax(a, 0.5), lambda a: np.where(a > 0, a, 0.0), np.nan_to_num],
    ]


@pytest.mark.parametrize("k", range(len(picks())))
def test_elements_that_are_not_picked(k: int) -> None:
    """If moving an element does not move a value, an infinite cotangent of this value does not reach the element."""
    pick = picks()[k]
    for a in (np.array([1.5, -2.0, 0.25, 3.0, -0.5]), np.array([[0.5, 2.0, -1.0], [1.0, -3.0, 4.0]])[0]):
        value, back = te.vjp(pick, a)
        steps = np.eye(len(a)) * 1e-3
        moved = np.array([np.abs(pick(a + s) - value) + np.abs(pick(a - s) - value) > 0 for s in steps])
        for where in np.ndindex(np.shape(value)):
            ct = np.zeros(np.shape(value))
            ct[where] = np.inf
            (got,) = back(ct if ct.ndim else np.inf)
            assert np.all(got[~moved[(..., *where)]] == 0.0), (a, where, got)
            assert not np.any(np.isfinite(got[moved[(..., *where)]]))


@pytest.mark.parametrize(
    "a", [[1.0, np.inf], [np.nan, 1.0, 2.0], [np.inf, 1.0], [1.0, -np.inf, 3.0], [2.0, np.nan, 1.0]]
)
def test_running_extremes_of_infinities(a: list[float]) -> None:
    for function in (np.maximum.accumulate, np.minimum.accumulate):
        np.testing.assert_array_equal(te.vjp(function, np.array(a))[0], function(a))


def test_a_recording_passes_on_the_other_operand_later() -> None:
    """Operands that the recorded run did not select are still part of the recording."""

    def program(x: Any, y: Any) -> Any:
        return te.math.maximum(x, y) * 2.0 + te.math.relu(x) + te.math.copysign(x, y)

    f = Staged(te.default_engine(), program)
    for x, y in ((1.0, 2.0), (2.0, 1.0), (-1.0, -2.0), (-2.0, 1.0), (1.0, 1.0)):
        g = te.grad(f, (0, 1))(x, y)
        tie = 0.5 if x == y else float(x > y)
        sign = math.copysign(1.0, x) * math.copysign(1.0, y)
        assert g == (2 * tie + (x > 0) + sign, 2 * (1 - tie))


@pytest.mark.parametrize(("name", "x", "y"), cases())
def test_both_cores_give_the_same(name: str, x: float, y: float) -> None:
    found = [c.vjp(lambda a, b, m=c.math: steep(m, name, a, b, (x, y)), x, y)[1](1.0) for c in (COMPILED, REFERENCE)]
    assert repr(found[0]) == repr(found[1])


@pytest.mark.parametrize("layout", [lambda x: x, lambda x: x[::-1], lambda x: np.repeat(x, 2)[::2]])
@pytest.mark.parametrize("size", [1, 31, 32, 33, 100, 1000])
def test_tanh_has_the_same_bits_in_every_part_of_an_array(size: int, layout: Callable[..., Any]) -> None:
    """Parts of an array near 0 use another loop than those with large elements."""
    x = layout(np.random.default_rng(size).normal(size=size) * np.linspace(0.1, 6.0, size))
    _, back = te.vjp(lambda x: np.tanh(x) + x, x)
    values = np.tanh(x)
    exact = np.where(values * values < 0.9, 1 - values * values, 1 / np.cosh(x) ** 2)
    np.testing.assert_allclose(back(np.ones(size))[0], exact + 1, rtol=1e-15, atol=0.0)
    ones = [te.vjp(lambda x: np.tanh(x) + x, x[k : k + 1])[1](np.ones(1))[0][0] for k in range(size)]
    np.testing.assert_array_equal(back(np.ones(size))[0], ones)
