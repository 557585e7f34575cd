"""numpy.pad: every mode with every form of its widths and values, against numpy and differences."""

import itertools
from typing import Any

import numpy
import pytest

import tapeengine as te
import tapeengine.numpy as np

X = numpy.random.default_rng(6).uniform(0.5, 2.0, (3, 4))
WIDTHS: dict[str, Any] = {
    "number": 2,
    "pair": (1, 2),
    "one pair": ((2, 1),),
    "pairs": ((1, 0), (0, 3)),
    "array": numpy.array([[1, 2], [3, 0]]),
    "last axis": {-1: (1, 2)},
    "first axis": {0: 2},
    "both axes": {-2: (2, 0), 1: 1},
    "no axis": {},
}
MODES: dict[str, dict[str, Any]] = {
    "constant": {"mode": "constant"},
    "constants": {"mode": "constant", "constant_values": ((1.0, 2.0), (3.0, 4.0))},
    "ramp": {"mode": "linear_ramp", "end_values": (0.25, -1.0)},
    "ramp to one number": {"mode": "linear_ramp", "end_values": -0.3},
    "ramps": {"mode": "linear_ramp", "end_values": ((0.25, -1.0), (0.7, 2))},
    "edge": {"mode": "edge"},
    "maximum": {"mode": "maximum", "stat_length": 2},
    "mean": {"mode": "mean", "stat_length": ((1, 2), (3, 1))},
    "minimum": {"mode": "minimum"},
    "median": {"mode": "median"},
    "reflect": {"mode": "reflect"},
    "odd": {"mode": "reflect", "reflect_type": "odd"},
    "symmetric": {"mode": "symmetric"},
    "wrap": {"mode": "wrap"},
}


@pytest.mark.parametrize(("widths", "mode"), list(itertools.product(WIDTHS, MODES)))
def test_value_and_gradient(widths: str, mode: str) -> None:
    expected = numpy.pad(X, WIDTHS[widths], **MODES[mode])
    weights = numpy.cos(numpy.arange(expected.size)).reshape(expected.shape)
    value, backpropagator = te.vjp(lambda x: np.pad(x, WIDTHS[widths], **MODES[mode]), X)
    numpy.testing.assert_array_equal(value, expected)
    d, h = numpy.random.default_rng(7).normal(size=X.shape), 1e-6
    up, down = (numpy.pad(X + sign * h * d, WIDTHS[widths], **MODES[mode]) for sign in (1.0, -1.0))
    assert numpy.sum(backpropagator(weights)[0] * d) == pytest.approx(
        numpy.sum(weights * (up - down)) / (2 * h), rel=1e-6
    )


ENDS: tuple[Any, ...] = (0.1, (0.1,), (0.1, 0.7), ((0.1,),), ((0.1, 0.7),), ((0.1,), (0.7,)), ((0.1, 0.7), (0.3, -0.2)))


@pytest.mark.parametrize("kind", [tuple, list, numpy.array])
@pytest.mark.parametrize("ends", ENDS, ids=repr)
@pytest.mark.parametrize("mode", ["linear_ramp", "constant"])
def test_the_last_bits_in_single_precision(mode: str, ends: Any, kind: Any) -> None:
    x, name = X.astype("f4"), "end_values" if mode == "linear_ramp" else "constant_values"
    how = {"mode": mode, name: kind(ends) if isinstance(ends, tuple) else ends}
    value = te.vjp(lambda x: np.pad(x, ((7, 5), (3, 9)), **how), x)[0]
    numpy.testing.assert_array_equal(value, numpy.pad(x, ((7, 5), (3, 9)), **how))


@pytest.mark.parametrize(
    "how",
    [
        {"mode": "constant", "constant_values": {0: 1.0}},
        {"mode": "linear_ramp", "end_values": {0: 1.0}},
        {"mode": "mean", "stat_length": {0: 2}},
    ],
)
def test_dicts_are_widths_alone(how: dict[str, Any]) -> None:
    for pad in (lambda: numpy.pad(X, 1, **how), lambda: te.vjp(lambda x: np.pad(x, 1, **how), X)):
        with pytest.raises(TypeError):
            pad()


@pytest.mark.parametrize("dtype", ["f4", "c8", "c16"])
@pytest.mark.parametrize("mode", MODES)
def test_values_of_other_dtypes(mode: str, dtype: str) -> None:
    if dtype[0] == "c" and mode in ("maximum", "minimum", "median"):
        pytest.skip("numpy orders complex numbers by their real parts")
    x = X.astype(dtype)
    value = te.vjp(lambda x: np.pad(x, ((2, 3), (1, 4)), **MODES[mode]), x)[0]
    expected = numpy.pad(x, ((2, 3), (1, 4)), **MODES[mode])
    assert value.dtype == expected.dtype
    numpy.testing.assert_array_equal(value, expected)


@pytest.mark.parametrize("kind", [numpy.float32, float])
@pytest.mark.parametrize("shape", [(), (1,), (2,), (1, 2), (2, 1), (2, 2)])
@pytest.mark.parametrize(("mode", "name"), [("constant", "constant_values"), ("linear_ramp", "end_values")])
def test_traced_values(mode: str, name: str, shape: tuple[int, ...], kind: Any) -> None:
    """Values as one traced array, or as lists of its numbers."""
    point, array = numpy.random.default_rng(8).normal(size=shape), X[:2].astype(kind)
    for form in (lambda e: e, lambda e: e.tolist()):

        def padded(e: Any, form: Any = form) -> Any:
            return np.pad(array, ((1, 2), (0, 3)), mode=mode, **{name: form(e)})  # type: ignore[call-overload]

        expected = padded(point)
        value, (tangent,) = te.vjp(padded, point)[0], te.jvp(padded, (point,), (numpy.ones(shape),))[1:]
        assert value.dtype == expected.dtype == tangent.dtype
        numpy.testing.assert_array_equal(value, expected)
        steps = (padded(point + sign * 1e-2).astype(float) for sign in (0.5, -0.5))
        numpy.testing.assert_allclose(
            tangent, numpy.subtract(*steps) / 1e-2, atol=1e-3 if kind is numpy.float32 else 1e-9
        )
