"""Patterns and Jacobians of ten programs against CasADi's, which finds them on expression graphs."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tapeengine as te
import tapeengine.math as tm

casadi = pytest.importorskip("casadi")

N = 12
HERE = SimpleNamespace(sin=tm.sin, cos=tm.cos, exp=tm.exp, sqrt=tm.sqrt, tanh=tm.tanh)
THERE = SimpleNamespace(sin=casadi.sin, cos=casadi.cos, exp=casadi.exp, sqrt=casadi.sqrt, tanh=casadi.tanh)


def heat(m: Any, x: Any) -> list[Any]:
    return [x[i] + 0.1 * (x[i + 1] - 2 * x[i] + x[i - 1]) ** 2 for i in range(1, N - 1)]


def chain(m: Any, x: Any) -> list[Any]:
    return [m.sin(x[i]) * x[i + 1] for i in range(N - 1)]


def arrow(m: Any, x: Any) -> list[Any]:
    return [x[i] * x[0] for i in range(N)] + [sum(x[i] * x[i] for i in range(N))]


def rosenbrock(m: Any, x: Any) -> list[Any]:
    return [10 * (x[i + 1] - x[i] ** 2) for i in range(N - 1)] + [1 - x[i] for i in range(N - 1)]


def triangle(m: Any, x: Any) -> list[Any]:
    out = [x[0]]
    for i in range(1, N):
        out.append(out[-1] * 0.5 + m.exp(-x[i]))
    return out


def pairs(m: Any, x: Any) -> list[Any]:
    return [x[i] * x[(5 * i + 3) % N] / (2 + x[(3 * i) % N] ** 2) for i in range(N)]


def springs(m: Any, x: Any) -> list[Any]:
    out = []
    for i in range(0, N - 2, 2):
        length = m.sqrt((x[i] - x[i + 2]) ** 2 + (x[i + 1] - x[i + 3]) ** 2 + 1)
        out += [(x[i] - x[i + 2]) / length, (x[i + 1] - x[i + 3]) / length]
    return out


def network(m: Any, x: Any) -> list[Any]:
    h = [m.tanh(x[i] + x[i + 4]) for i in range(4)]
    return [h[0] * h[1], h[2] - h[3], m.cos(h[0]) + x[11]]


def products(m: Any, x: Any) -> list[Any]:
    return [x[3] * x[1] * x[2], x[2] ** 2, x[5] * x[6] - x[6] / x[5]]


def powers(m: Any, x: Any) -> list[Any]:
    return [sum(x[j] ** k for k, j in enumerate(range(i, min(i + 3, N)), 1)) for i in range(N)]


PROGRAMS = [heat, chain, arrow, rosenbrock, triangle, pairs, springs, network, products, powers]


@pytest.mark.parametrize("program", PROGRAMS)
def test_patterns_and_values_agree(program: Callable[[Any, Any], list[Any]]) -> None:
    x = np.linspace(0.3, 1.9, N)
    unknown = casadi.SX.sym("x", N)
    expression = casadi.jacobian(casadi.vertcat(*program(THERE, [unknown[i] for i in range(N)])), unknown)
    values = casadi.Function("jacobian", [unknown], [expression])(x)
    found = te.sparse_jacobian(lambda xs: program(HERE, xs))(x.tolist()).matrix
    pattern = te.dependencies(lambda xs: program(HERE, xs), x.tolist()).matrix.toarray()
    np.testing.assert_array_equal(pattern, np.array(casadi.DM(values.sparsity(), 1)) != 0)
    np.testing.assert_allclose(found.toarray(), values.full(), rtol=1e-14, atol=1e-15)
