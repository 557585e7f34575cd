"""The cotangent of a tree: its objects are made without runs of the garbage collector."""

import gc
from dataclasses import dataclass

import pytest

import tapeengine as te
from tapeengine.chad.backends import tiers


@dataclass(frozen=True)
class Leaf:
    value: float


@dataclass(frozen=True)
class Fork:
    left: "Tree"
    right: "Tree"


Tree = Leaf | Fork


@te.program(backend="native")
def product(tree: Tree) -> float:
    match tree:
        case Leaf(value):
            return value
        case Fork(left, right):
            return product(left) * product(right)


def grown(levels: int) -> Tree:
    return Leaf(1.0) if levels == 0 else Fork(grown(levels - 1), grown(levels - 1))


def leaves(tree: Tree) -> list[float]:
    return [tree.value] if isinstance(tree, Leaf) else leaves(tree.left) + leaves(tree.right)


@pytest.mark.skipif(not tiers.is_installed(), reason="native code needs llvmlite")
@pytest.mark.parametrize("collects", [True, False])
def test_the_collector_is_stopped_while_a_tree_is_made(collects: bool) -> None:
    value, back = te.vjp(product, grown(12))
    runs: list[int] = []
    gc.collect()
    gc.callbacks.append(lambda phase, info: runs.append(info["generation"]) if phase == "start" else None)
    try:
        if not collects:
            gc.disable()
        (found,) = back(2.0)
        assert len(runs) <= collects  # one, after all have been made
        assert gc.isenabled() == collects
    finally:
        gc.callbacks.pop()
        gc.enable()
    assert (value, leaves(found)) == (1.0, [2.0] * 4096)
