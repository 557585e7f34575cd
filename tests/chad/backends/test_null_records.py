"""The fields of a null cotangent are read from zero bytes, of which there are enough for the longest record."""

from dataclasses import dataclass

import pytest

import tapeengine as te
from tapeengine.chad.backends.tiers import is_installed

pytestmark = pytest.mark.skipif(not is_installed(), reason="llvmlite is not installed")


@dataclass(frozen=True)
class Leaf:
    value: float


@dataclass(frozen=True)
class Node:
    low: float
    left: "Tree"
    right: "Tree"
    high: float


Tree = Leaf | Node


@te.program(backend="native")
def scaled(tree: Tree, k: float) -> Tree:
    match tree:
        case Leaf(value):
            return Leaf(k * value)
        case Node(low, left, right, high):
            return Node(k * low, scaled(left, k), scaled(right, k), high)


@te.program(backend="native")
def top(tree: Tree, k: float) -> float:
    match scaled(tree, k):
        case Leaf(value):
            return value
        case Node(low, _, _, high):
            return low * high


def test_the_fields_of_null_cotangents_are_zeros() -> None:
    tree = Node(2.0, Leaf(3.0), Node(4.0, Leaf(5.0), Leaf(6.0), 7.0), 8.0)
    value, back = te.vjp(top, tree, 0.5)
    below = Node(0.0, Leaf(0.0), Leaf(0.0), 0.0)
    assert value == 8.0 and back(1.0) == (Node(4.0, Leaf(0.0), below, 1.0), 16.0)
    assert "@zeros = internal constant [40 x i8]" in top.inspect()
