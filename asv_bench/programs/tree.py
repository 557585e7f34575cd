"""Recursive evaluation of an expression tree of dataclasses, with branches on intermediate values."""

from dataclasses import dataclass
from typing import Any

from asv_bench.programs import draws
from asv_bench.programs.program import Program


@dataclass
class Leaf:
    """A number at the end of a branch."""

    value: Any


@dataclass
class Node:
    """A fork of two trees."""

    left: Any
    right: Any
    weight: Any


def evaluate(xp: Any, tree: Any) -> Any:
    """Evaluate a tree: the weighted product of its branches, squashed if it is large."""
    if isinstance(tree, Leaf):
        return tree.value
    left, right = evaluate(xp, tree.left), evaluate(xp, tree.right)
    value = tree.weight * left + right * right
    return xp.tanh(value) if value > 1.0 else value


def grow(numbers: list[float], low: int, high: int) -> Any:
    """Build a balanced tree over ``numbers[low:high]``."""
    if high - low == 1:
        return Leaf(numbers[low])
    middle = (low + high) // 2
    return Node(grow(numbers, low, middle), grow(numbers, middle, high), numbers[low] + 0.5)


def inputs(size: int) -> tuple[Any]:
    """Return a balanced tree of `size` leaves."""
    return (grow(draws.scalars(size, seed=6), 0, size),)


PROGRAM = Program("tree", evaluate, inputs, (100, 10_000), operations=lambda size: 3 * size)
