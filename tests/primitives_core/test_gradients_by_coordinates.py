"""numpy.gradient by its coordinates: numpy has another formula for equal distances, the derivative one for all."""

from __future__ import annotations

import itertools
from functools import partial
from typing import Any

import numpy as np

import tapeengine as te

RNG = np.random.default_rng(0)
FORMS = (((5,), None), ((3,), 0), ((4, 5), 1), ((2, 5, 3), -2))
DISTANCES = (np.full(4, 0.5), np.full(4, -2.0), np.array([0.5, 0.5, 0.25, 1.0]))


def change(f: Any, x: Any, t: Any) -> Any:
    """The derivative of f along t, extrapolated from central differences."""
    near, far = ((f(x + h * t) - f(x - h * t)) / (2 * h) for h in (1e-4, 2e-4))
    return (4 * near - far) / 3


def test_derivatives_by_coordinates() -> None:
    for (shape, axis), distances, order, dtype in itertools.product(FORMS, DISTANCES, (1, 2), (float, complex)):
        f = RNG.normal(size=shape).astype(dtype) + (1j * RNG.normal(size=shape) if dtype is complex else 0)
        n = shape[axis or 0]
        x, t = np.concatenate([[0.0], np.cumsum(distances)])[:n], RNG.normal(size=n) * 0.3

        def slope(x: Any, f: Any = f, axis: Any = axis, order: int = order) -> Any:
            return np.gradient(f, x, axis=axis, edge_order=order)

        value, first = te.jvp(slope, (x,), (t,))
        second = te.jvp(lambda x, t=t, slope=slope: te.jvp(slope, (x,), (t,))[1], (x,), (t,))[1]
        assert value.tobytes() == slope(x).tobytes()
        np.testing.assert_allclose(first, change(slope, x, t), 1e-8, 1e-8)
        np.testing.assert_allclose(second, change(lambda x, t=t, s=slope: te.jvp(s, (x,), (t,))[1], x, t), 1e-8, 1e-7)
        if dtype is float:
            np.testing.assert_allclose(te.jacrev(slope)(x) @ t, first, 1e-12, 1e-12)


def total_of(call: Any, f: Any, x: Any, y: Any, s: float) -> Any:
    return sum(part.sum() for part in call((1 + s) * f, (1 + s) * x, y + s * y**2))


def test_several_axes() -> None:
    f, x, y = RNG.normal(size=(3, 4)), np.arange(3.0), np.array([0.0, 1.0, 3.0, 4.0])
    for call in (lambda f, x, y: np.gradient(f, x, y), lambda f, x, y: np.gradient(f, y, 2.0, axis=(1, 0))):
        value, back = te.vjp(call, f, x, y)
        assert [part.tobytes() for part in value] == [part.tobytes() for part in call(f, x, y)]
        expected = change(partial(total_of, call, f, x, y), 0.0, 1.0)
        by_f, by_x, by_y = back(tuple(np.ones((3, 4)) for _ in value))
        np.testing.assert_allclose((by_f * f).sum() + by_x @ x + by_y @ y**2, expected, 1e-8)


def slopes(f, x):
    return np.gradient(f, x)


def test_typed_programs() -> None:
    """The language's function has the same bits and derivatives."""
    for distances in DISTANCES:
        x, t = np.concatenate([[0.0], np.cumsum(distances)]), RNG.normal(size=5) * 0.3
        f = np.array([0.0, 1.0, 1.0, 3.0, 1.0])
        program = te.program(slopes)
        value, tangent = te.jvp(program, (f, x), (np.zeros(5), t))
        assert np.asarray(value).tobytes() == slopes(f, x).tobytes()
        np.testing.assert_allclose(tangent, change(lambda x, f=f: slopes(f, x), x, t), 1e-8, 1e-8)
        assert "dual numbers" not in program.inspect()
