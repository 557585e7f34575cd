"""Indices that count from the end of arrays of whole numbers that a program computes, on all back ends."""

from __future__ import annotations

import numpy as np
import pytest

import tapeengine as te

BACKENDS = (None, "machine", "native")


def of_range(v: list[float]) -> list[float]:
    w = list(range(5))
    return [w[e] * v[0] for e in [0, -1, 2, -5]]


def of_shifted(v: list[float]) -> list[float]:
    w = [i + 3 for i in range(4)]
    return [w[e] * x for e, x in zip([-1, -4, 3], v)]


def of_steps(v: list[float]) -> list[float]:
    w = list(range(len(v)))
    return [w[i - 1] * v[i] for i in range(len(v))]


def of_sums(v: list[float]) -> list[float]:
    w = [[i + j for j in range(3)] for i in range(2)]
    return [w[a][b] * v[0] for a, b in [(0, -1), (-1, 2), (-2, -3), (1, -1)]]


def of_rows(v: list[float]) -> list[float]:
    w = [[i + j for j in range(3)] for i in range(2)]
    return [sum(w[e]) * v[e] for e in [-1, 0, 1, -2]]


def in_conditions(v: list[float]) -> list[float]:
    g = [list(range(5))[e] for e in [0, -1]]
    return [z for q, z in enumerate(v) if q not in g]


def as_indices(v: list[float]) -> list[float]:
    g = [list(range(5))[e] for e in [1, -2]]
    return [v[k] * v[k] for k in g]


PROGRAMS = (of_range, of_shifted, of_steps, of_sums, of_rows, in_conditions, as_indices)
V, DV = [1.0, 2.5, -3.0, 4.0, 0.5], [0.25, 1.0, 2.0, -1.0, 3.0]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_values_and_derivatives(function, backend):
    """Both derivatives give Python's value, and the derivative along a direction by complex steps."""
    made = te.program(function, backend=backend)
    value, tangent = te.jvp(made, (V,), (DV,))
    step = function([complex(x, 1e-30 * d) for x, d in zip(V, DV, strict=True)])
    assert value == function(V)
    np.testing.assert_allclose(tangent, np.imag(step) / 1e-30, rtol=1e-14)
    value, back = te.vjp(made, V)
    weights = [float(k + 1) for k in range(len(value))]
    assert value == function(V)
    assert np.dot(back(weights)[0], DV) == pytest.approx(np.dot(weights, tangent), rel=1e-14)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("place", [5, -6])
def test_indices_out_of_range(place, backend):
    """An index beyond either end raises what Python raises."""

    def beyond(v: list[float], e: int) -> list[float]:
        w = list(range(5))
        return [w[e + k] * v[0] for k in [0, 0]]

    with pytest.raises(IndexError):
        te.jvp(te.program(beyond, backend=backend), (V, place), (DV, None))
    with pytest.raises(IndexError):
        te.vjp(te.program(beyond, backend=backend), V, place)
