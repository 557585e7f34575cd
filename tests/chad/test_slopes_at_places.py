"""Slopes and areas of typed programs at places, which have derivatives as well: numpy's bits, and its differences."""

import numpy as np
import pytest

import tapeengine as te


@te.program
def slopes(y: te.Vec, x: te.Vec) -> te.Vec:
    return np.gradient(y, x)


@te.program
def area(y: te.Vec, x: te.Vec) -> float:
    return np.trapezoid(y, x)


PLACES = {
    "even": 0.5 * np.arange(5.0),
    "even and falling": -0.25 * np.arange(5.0),
    "nearly even": np.arange(5.0) / 3,
    "uneven": np.array([0.0, 0.3, 1.1, 1.2, 3.0]),
    "three": np.array([0.0, 0.5, 1.0]),
    "two": np.array([0.0, 0.3]),
}


@pytest.mark.parametrize("name", PLACES)
@pytest.mark.parametrize("program", [slopes, area], ids=["slopes", "area"])
def test_bits_and_differences(program: te.Program, name: str) -> None:
    x = PLACES[name]
    y, plain = np.cos(np.arange(len(x))), program.python
    value, back = te.vjp(program, y, x)
    np.testing.assert_array_equal(value, plain(y, x))
    weights = np.sin(1.0 + np.arange(np.size(value)))
    found = back(weights if np.ndim(value) else float(weights[0]))
    steps = 1e-6 * np.eye(len(x))
    ends = [
        [[np.dot(weights, np.atleast_1d(plain(y + a * dy, x + a * dx))) for a in (1, -1)] for dy, dx in pairs]
        for pairs in ([(step, 0.0) for step in steps], [(0.0, step) for step in steps])
    ]
    np.testing.assert_allclose(found, -np.diff(ends)[..., 0] / 2e-6, rtol=1e-6, atol=1e-7)
