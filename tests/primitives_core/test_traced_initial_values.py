"""Extremes with a traced initial value, which is one more operand; traced periods; angles by position."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapeengine as te
from tapeengine.errors import UnsupportedError

X = np.array([[0.3, 1.7, -0.4], [2.5, 0.1, 0.9]])
CALLS: dict[str, Callable[..., Any]] = {
    "max": lambda a, s: np.max(a, initial=s),
    "min of a method": lambda a, s: a.min(initial=s),
    "by rows": lambda a, s: np.max(a, axis=1, initial=s),
    "kept axes": lambda a, s: np.min(a, 0, None, True, s),
    "where": lambda a, s: np.max(a, initial=s, where=np.array([True, False, True])),
    "reduce": lambda a, s: np.maximum.reduce(a, initial=s),
    "fmin": lambda a, s: np.fmin.reduce(a, axis=1, initial=s),
    "nanmax": lambda a, s: np.nanmax(a, axis=0, initial=s),
    "empty": lambda a, s: np.max(a[:0], axis=0, initial=s),
}


PERIODS: dict[str, Callable[..., Any]] = {
    "unwrap": lambda a, s: np.unwrap(9.0 * a, period=s),
    "unwrap columns": lambda a, s: np.unwrap(9.0 * a, None, 0, period=s),
    "unwrap large steps": lambda a, s: np.unwrap(9.0 * a, discont=3.0, period=s),
}


@pytest.mark.parametrize("period", [0.7, 1.9, 9.0])
@pytest.mark.parametrize("name", PERIODS)
def test_periods(name: str, period: float) -> None:
    check(PERIODS[name], period, 1e-6)


@pytest.mark.parametrize("initial", [-7.0, 0.7, 1.8, 9.0])
@pytest.mark.parametrize("name", CALLS)
def test_value_and_differences(name: str, initial: float) -> None:
    check(CALLS[name], initial, 1e-8)


def check(f: Callable[..., Any], initial: float, atol: float) -> None:
    """Compare with numpy's values and their differences, for each number."""
    value, pullback = te.vjp(f, X, initial)
    np.testing.assert_array_equal(value, f(X, initial))
    cotangent = np.arange(1.0, 1.0 + np.size(value)).reshape(np.shape(value))[()]
    of_x, of_initial = pullback(cotangent)
    h = 1e-6
    assert of_initial == pytest.approx(np.sum(cotangent * (f(X, initial + h) - f(X, initial - h))) / (2 * h), abs=atol)
    for place in np.ndindex(X.shape):
        step = np.zeros(X.shape)
        step[place] = h
        change = np.sum(cotangent * (f(X + step, initial) - f(X - step, initial))) / (2 * h)
        assert of_x[place] == pytest.approx(change, abs=atol)


def test_degrees_by_position() -> None:
    z = np.array([1.0 + 2.0j, -0.5 + 0.1j])
    value, pullback = te.vjp(lambda z: np.angle(z, True), z)
    np.testing.assert_array_equal(value, np.angle(z, True))
    np.testing.assert_array_equal(pullback(np.ones(2))[0], te.vjp(lambda z: np.angle(z, deg=True), z)[1](np.ones(2))[0])


REDUCED = {name: getattr(np, name) for name in ("sum", "prod", "nansum")}
REDUCED |= {name: getattr(np, name).reduce for name in ("add", "multiply", "logaddexp", "hypot", "subtract", "power")}
OPTIONS: list[dict[str, Any]] = [{}, *({"initial": x} for x in (0.0, 1.3, None, 2, np.float32(0.7), -np.inf))]
OPTIONS += [{**one, "where": np.arange(7) % 3 > 0} for one in OPTIONS]


def outcome(function: Any, a: Any, options: Any) -> Any:
    """The dtype and the bits of a value, or the class of an error."""
    try:
        with np.errstate(all="ignore"):
            found = function(a, **options)
    except (TypeError, ValueError, UnsupportedError) as error:
        return type(error)
    return type(found), found.dtype, found.shape, found.tobytes()


@pytest.mark.parametrize("name", REDUCED)
def test_bits_of_reductions(name: str) -> None:
    """The value is numpy's, with each initial value, mask, axis and order in memory; so is the error."""
    function, drawn = REDUCED[name], np.random.default_rng(3).normal(size=(2, 9, 7))
    for kind in (np.float64, np.float32, np.complex128)[: 3 if name in ("sum", "prod", "add") else 2]:
        matrix = (drawn[0] + 1j * drawn[1] if kind is np.complex128 else drawn[0] + 2.0).astype(kind)
        for a, axis in itertools.product(
            [matrix[0, 0], matrix[::-1], np.asfortranarray(matrix), matrix[:0]], [None, 0]
        ):
            for options in OPTIONS:
                found = outcome(
                    lambda a, **options: te.vjp(lambda a: function(a, **options), a)[0], a, {"axis": axis, **options}
                )
                if found is not UnsupportedError:  # no derivative with a mask, or numpy is wrong on this processor
                    assert found == outcome(function, a, {"axis": axis, **options}), (kind, np.shape(a), options)
