"""A persistent search tree with integer keys, the ``Map`` of DN section 6, which counts visited nodes.

It is a treap: keys are in search order, priorities (hashes of the keys) in heap order; its expected depth is O(log n).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple


class Map(NamedTuple):
    """A non-empty tree; the empty tree is None."""

    key: int
    value: Any
    left: Map | None
    right: Map | None


Visit = Callable[[int], None]
Combine = Callable[[Any, Any], Any]


def priority(key: int) -> int:
    """A pseudo-random number that is the same in each run."""
    mixed = (key + 0x9E3779B9) * 0x85EBCA6B & 0xFFFFFFFF
    mixed = (mixed ^ mixed >> 13) * 0xC2B2AE35 & 0xFFFFFFFF
    return mixed ^ mixed >> 16


def split(tree: Map | None, key: int, visit: Visit) -> tuple[Map | None, Any, Map | None]:
    """The keys below, the value at the key (None if there is none), and the keys above."""
    if tree is None:
        return None, None, None
    visit(1)
    if key == tree.key:
        return tree.left, tree.value, tree.right
    if key < tree.key:
        low, found, high = split(tree.left, key, visit)
        return low, found, tree._replace(left=high)
    low, found, high = split(tree.right, key, visit)
    return tree._replace(right=low), found, high


def union(one: Map | None, other: Map | None, combine: Combine, visit: Visit) -> Map | None:
    """All keys of both; the values of a key in both are combined."""
    if one is None or other is None:
        return one or other
    visit(1)
    if priority(one.key) < priority(other.key):
        low, found, high = split(one, other.key, visit)
        value = other.value if found is None else combine(found, other.value)
        root, lows, highs = other, (low, other.left), (high, other.right)
    else:
        low, found, high = split(other, one.key, visit)
        value = one.value if found is None else combine(one.value, found)
        root, lows, highs = one, (one.left, low), (one.right, high)
    return Map(root.key, value, union(*lows, combine, visit), union(*highs, combine, visit))


def insert(tree: Map | None, key: int, value: Any, combine: Combine, visit: Visit) -> Map:
    """The tree with one more key; if the key exists, the values are combined."""
    visit(1)
    if tree is None:
        return Map(key, value, None, None)
    if key == tree.key:
        return tree._replace(value=combine(tree.value, value))
    if priority(key) > priority(tree.key):
        low, found, high = split(tree, key, visit)
        return Map(key, value if found is None else combine(found, value), low, high)
    if key < tree.key:
        return tree._replace(left=insert(tree.left, key, value, combine, visit))
    return tree._replace(right=insert(tree.right, key, value, combine, visit))


def pop_highest(tree: Map, visit: Visit) -> tuple[int, Any, Map | None]:
    """The highest key, its value, and the tree without it."""
    visit(1)
    if tree.right is None:
        return tree.key, tree.value, tree.left
    key, value, rest = pop_highest(tree.right, visit)
    return key, value, tree._replace(right=rest)


def items(tree: Map | None) -> list[tuple[int, Any]]:
    """Pairs of keys and values, in ascending order."""
    return [] if tree is None else [*items(tree.left), (tree.key, tree.value), *items(tree.right)]
