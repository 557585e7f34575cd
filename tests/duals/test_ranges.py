"""`arange` and ranges of `r_` with traced numbers: numpy's bits and errors, derivatives of start + k step."""

from __future__ import annotations

import itertools
from typing import Any

import numpy
import pytest
from outcomes import outcome

import tapeengine as te
import tapeengine.numpy as np


def ranges() -> list[tuple[float, float, float]]:
    rng = numpy.random.default_rng(5)
    return [(a, a + sign * d, sign * s) for a, d, s, sign in zip(
        rng.normal(size=60), rng.uniform(-0.5, 5, 60), rng.uniform(0.01, 0.3, 60), rng.choice([-1, 1], 60), strict=True
    )]  # fmt: skip


@pytest.mark.parametrize("make", [np.arange, lambda a, b, s: np.r_[a:b:s]], ids=["arange", "r_"])
def test_values_and_derivatives(make: Any) -> None:
    for start, stop, step in ranges():
        value, back = te.vjp(make, start, stop, step)
        expected = numpy.arange(start, stop, step)
        assert value.tobytes() == expected.tobytes()
        k = numpy.arange(expected.size)
        by_start, by_stop, by_step = back(k + 1.0)
        assert by_start == pytest.approx((k + 1.0).sum())
        assert by_step == pytest.approx((k * (k + 1.0)).sum())
        assert by_stop == 0.0


def test_staged_ranges_depend_on_the_count() -> None:
    staged = te.stage(lambda stop, step: np.sum(np.arange(0.0, stop, step) ** 2))
    for stop in (1.0, 1.02, 2.0, 1.03):
        assert te.vjp(staged, stop, 0.1)[0] == numpy.sum(numpy.arange(0.0, stop, 0.1) ** 2)
    assert staged.stats().replays == 1  # 1.02 and 1.03 have eleven numbers each


@pytest.mark.parametrize("bounds", [(0.0, 1.0, 0.0), (0.0, numpy.inf, 1.0), (0.0, numpy.nan, 1.0)])
def test_errors_are_numpys(bounds: tuple[float, ...]) -> None:
    with pytest.raises((ValueError, ArithmeticError)) as plain:
        numpy.arange(*bounds)
    with pytest.raises(plain.type):
        te.vjp(np.arange, *bounds)


DTYPES = [None, float, int, complex, bool, numpy.float64, numpy.dtype("f4"), *"?bBhHiIlLqQefdFD", object, "no dtype"]
BOUNDS = [(0.5, 4.3, 1.0), (9.0, 4.3, -0.7), (0.0, 0.9, 0.25), (0.25, 0.75, 0.5), (1.0, 1.0, 1.0), (0.0, 900.0, 0.3)]
LIFTED = te.lift(lambda *bounds, dtype: numpy.arange(*bounds, dtype=dtype))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("make", [np.arange, LIFTED], ids=["tapeengine.numpy", "lifted"])
def test_ranges_of_a_dtype(dtype: Any, make: Any) -> None:
    """Values are numpy's bits; whole numbers have the derivative zero, and objects none."""
    for bounds in BOUNDS:
        plain = outcome(lambda bounds=bounds: numpy.arange(*bounds, dtype=dtype))
        traced = outcome(lambda bounds=bounds: te.vjp(lambda *given: make(*given, dtype=dtype), *bounds))
        if dtype is object and plain.size:
            assert isinstance(traced, te.errors.TapeEngineError)
        elif isinstance(plain, Exception):
            assert type(traced) is type(plain)
        elif dtype is not object:
            value, back = traced
            assert (value.dtype, value.tobytes()) == (plain.dtype, plain.tobytes())
            k, is_discrete = numpy.arange(plain.size), plain.dtype.kind not in "fc"
            wanted = (0.0, 0.0, 0.0) if is_discrete else (k[:20].size, 0.0, k[:20].sum())
            assert back(None if is_discrete else (k < 20).astype(plain.dtype)) == pytest.approx(wanted, rel=1e-2)


@pytest.mark.parametrize("kind", [numpy.float32, numpy.float64, numpy.array], ids=lambda x: x.__name__)
@pytest.mark.parametrize("dtype", [None, "e", "f", "d", "D", "i"])
def test_bounds_that_are_numbers_of_numpy(kind: Any, dtype: Any) -> None:
    for bounds in BOUNDS[:-1]:
        plain = outcome(lambda bounds=bounds: numpy.arange(*map(kind, bounds), dtype=dtype))
        traced = outcome(lambda bounds=bounds: te.vjp(lambda *x: np.arange(*x, dtype=dtype), *map(kind, bounds))[0])
        if isinstance(plain, Exception):
            assert type(traced) is type(plain)
        else:
            assert (traced.dtype, traced.tobytes()) == (plain.dtype, plain.tobytes())


@pytest.mark.parametrize("dtype", ["i", "e", float])
def test_staged_ranges_of_a_dtype(dtype: Any) -> None:
    staged = te.stage(lambda start, stop: np.sum(np.arange(start, stop, 0.3 * start, dtype=dtype) * 1.5) + stop)
    for start, stop in ((1.0, 4.0), (1.1, 4.0), (2.7, 9.0), (1.05, 4.01)):
        assert (
            te.vjp(staged, start, stop)[0]
            == numpy.sum(numpy.arange(start, stop, 0.3 * start, dtype=dtype) * 1.5) + stop
        )


NUMBERS = [None, 2.3, 0.0, -1.5, numpy.nan, numpy.inf, 1e-320]
NAMED: list[dict[str, float]] = [{}, {"step": 0.7}, {"stop": 4.1}, {"start": 0.2}, {"start": 0.2, "stop": 3.0}]


@pytest.mark.parametrize("named", NAMED, ids=lambda named: " ".join(named) or "none")
@pytest.mark.parametrize("positions", [0, 1, 2, 3])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_every_way_to_give_a_number(positions: int, named: dict[str, float]) -> None:
    for args in itertools.product(NUMBERS, repeat=positions):
        given: list[float | None] = [*args, *named.values()]
        for k in (k for k, number in enumerate(given) if number is not None):
            compare(given, k, positions, list(named))


def compare(given: list[float | None], k: int, positions: int, names: list[str]) -> None:
    """Compare a call with one traced number with numpy's."""

    def program(xp: Any, x: Any) -> Any:
        leaves = [*given[:k], x, *given[k + 1 :]]
        return xp.arange(*leaves[:positions], **dict(zip(names, leaves[positions:], strict=True)))

    plain = outcome(lambda: program(numpy, given[k]))
    traced = outcome(lambda: te.vjp(lambda x: program(np, x), given[k])[0])
    if isinstance(plain, Exception):
        assert type(traced) is type(plain), (given, k)
        return
    same = (traced.dtype, traced.shape, traced.tobytes()) == (plain.dtype, plain.shape, plain.tobytes())
    assert same, (given, k)
