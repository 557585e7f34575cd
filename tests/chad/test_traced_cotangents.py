"""Derivatives of programs are linear in cotangents and tangents, also in traced ones while the primals are plain."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

import numpy as np
import pytest

import tapeengine as te


@dataclass
class Pair:
    a: float
    b: te.Vec


@dataclass
class Angle:
    of: float

    def sine(self) -> float:
        return te.math.sin(self.of)


@dataclass
class Leaf:
    v: float


@dataclass
class Node:
    left: Tree
    right: Tree


Tree = Node | Leaf


def number(x: float) -> float:
    return x * x * te.math.sin(x)


def vector(x: te.Vec) -> te.Vec:
    return np.sin(x) * x


def listed(x: list[float]) -> list[float]:
    return [v * v * x[0] for v in x]


def record(x: Pair) -> Pair:
    return Pair(x.a * x.b[0], x.b * x.a)


def method(x: Angle) -> float:
    return x.sine() * x.of


def tree(t: Tree) -> float:
    match t:
        case Leaf(v):
            return te.math.sin(v)
        case Node(left, right):
            return tree(left) * tree(right)


def ragged(x: list[list[float]]) -> float:
    s = 0.0
    for r in x:
        for v in r:
            s += v * v * v
    return s


def mapping(p: dict[str, float]) -> float:
    return p["a"] * p["b"]


def layer(m: te.Array[te.Vec]) -> te.Vec:
    return np.tanh(m @ m[0])


def branches(x: list[float]) -> float:
    s = 0.0
    for v in x:
        if v > 0:
            s += v * s + v
    return s


SMALL = np.array([0.3, 0.2])
#: By name: the function, a primal, a tangent and a cotangent.
CASES: dict[str, tuple[Callable[[Any], Any], Any, Any, Any]] = {
    "number": (number, 1.3, 0.7, 2.0),
    "vector": (vector, np.array([1.0, 2.0]), SMALL, np.array([1.0, -1.0])),
    "many": (vector, np.linspace(-1.0, 1.0, 5000), np.linspace(0.0, 0.1, 5000), np.linspace(0.1, 0.0, 5000)),
    "listed": (listed, [1.0, 2.0], [0.3, 0.2], [1.0, -1.0]),
    "record": (record, Pair(1.5, np.array([1.0, 2.0])), Pair(0.3, SMALL), Pair(1.0, np.array([1.0, -1.0]))),
    "method": (method, Angle(1.2), Angle(0.4), 1.5),
    "tree": (tree, Node(Leaf(1.0), Node(Leaf(2.0), Leaf(0.5))), Node(Leaf(1.0), Node(Leaf(0.2), Leaf(0.5))), 1.5),
    "ragged": (ragged, [[1.0, 2.0], [3.0]], [[1.0, 0.2], [-1.0]], 1.5),
    "mapping": (mapping, {"a": 2.0, "b": 3.0}, {"a": 0.2, "b": 0.3}, 1.5),
    "layer": (layer, np.array([[1.0, 0.2], [0.3, 0.4]]), np.ones((2, 2)), np.array([1.0, -1.0])),
    "branches": (branches, [1.0, 2.0, -1.0], [0.3, 0.2, 1.0], 1.5),
}


def paired(a: Any, b: Any) -> Any:
    """The pairing of two structures of numbers."""
    if is_dataclass(b):
        return sum(paired(getattr(a, field.name), getattr(b, field.name)) for field in fields(b))
    if isinstance(b, dict):
        return sum(paired(a[key], b[key]) for key in b)
    if isinstance(b, list):
        return sum(paired(x, y) for x, y in zip(a, b, strict=True))
    return np.sum(a * b)


@pytest.mark.parametrize("backend", [None, "machine", "native"])
@pytest.mark.parametrize("name", CASES)
def test_derivatives_by_traced_cotangents_and_tangents(name: str, backend: Any) -> None:
    f, x, tangent, cotangent = CASES[name]
    program = te.program(f, backend=backend)
    once = te.vjp(program, x)[1]
    once(cotangent)

    def pulled(c: Any) -> Any:
        return paired(te.vjp(program, x)[1](c)[0], tangent)

    def pushed(t: Any) -> Any:
        return paired(te.jvp(program, (x,), (t,))[1], cotangent)

    value = paired(te.jvp(f, (x,), (tangent,))[1], cotangent)
    for linear, at in ((pulled, cotangent), (lambda c: paired(once(c)[0], tangent), cotangent), (pushed, tangent)):
        found, gradient = te.value_and_grad(linear)(at)
        assert found == pytest.approx(value, rel=1e-13)
        assert paired(gradient, at) == pytest.approx(value, rel=1e-13)  # as of every linear map


@pytest.mark.parametrize("name", CASES)
def test_gradients_by_cotangents_are_tangents(name: str) -> None:
    f, x, tangent, cotangent = CASES[name]
    program = te.program(f)
    found = te.grad(lambda c: paired(te.vjp(program, x)[1](c)[0], tangent))(cotangent)
    wanted = te.jvp(f, (x,), (tangent,))[1]
    assert paired(found, found) == pytest.approx(paired(wanted, found), rel=1e-13)
    assert paired(found, wanted) == pytest.approx(paired(wanted, wanted), rel=1e-13)


@dataclass
class FloatAngle:
    of: float

    def sine(self) -> float:
        return math.sin(self.of)


def plain_method(x: FloatAngle) -> float:
    return x.sine() * x.of


@pytest.mark.parametrize("backend", [None, "machine", "native"])
def test_methods_that_use_math_take_traced_cotangents(backend: Any) -> None:
    back = te.vjp(te.program(plain_method, backend=backend), FloatAngle(1.2))[1]
    assert back(1.5)[0].of == pytest.approx(1.5 * (math.cos(1.2) * 1.2 + math.sin(1.2)), rel=1e-14)
    assert te.grad(lambda c: back(c)[0].of)(1.5) == pytest.approx(math.cos(1.2) * 1.2 + math.sin(1.2), rel=1e-14)
