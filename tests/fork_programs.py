"""Random programs with nested forks, as trees."""

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import strategies as st

import tapeengine.math as tm
import tapeengine.numpy as tnp

Fork = Callable[..., Any]

UNARY: dict[str, Callable[[Any], Any]] = {
    "sin": tm.sin,
    "tanh": tm.tanh,
    "half": lambda a: 0.5 * a,
    "same": lambda a: a,
}
BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda a, b: a + b,
    "mul": lambda a, b: a * b,
    "sub": lambda a, b: a - b,
}

# A program is a tree: each node computes a number, its children see the numbers computed before them.
leaves = st.tuples(st.just("leaf"), st.sampled_from(sorted(UNARY)), st.integers(0, 9))


def extended(children: Any) -> Any:
    let = st.tuples(st.just("let"), children, children)
    binary = st.tuples(st.sampled_from(sorted(BINARY)), st.integers(0, 9), children)
    branch = st.tuples(st.just("branch"), st.integers(0, 9), children, children)
    array = st.tuples(st.just("array"), st.integers(0, 9), children)
    fork = st.tuples(st.just("fork"), st.lists(children, min_size=1, max_size=4))
    return st.one_of(let, binary, branch, array, fork, fork)


trees = st.recursive(leaves, extended, max_leaves=12)


def run(fork: Fork, tree: Any, known: list[Any]) -> Any:
    """Compute a tree from the numbers known so far."""
    kind = tree[0]
    if kind == "leaf":
        return UNARY[tree[1]](known[tree[2] % len(known)])
    if kind == "let":
        return run(fork, tree[2], [*known, run(fork, tree[1], known)])
    if kind == "fork":
        parts = fork(*[lambda part=part: run(fork, part, known) for part in tree[1]])
        return sum((0.7 + 0.1 * k) * part for k, part in enumerate(parts))
    if kind == "branch":
        return run(fork, tree[2 if known[tree[1] % len(known)] > 0.25 else 3], known)
    a, b = known[tree[1] % len(known)], run(fork, tree[2], known)
    if kind == "array":
        return tnp.sum(tnp.sin(tnp.asarray([a, b, a * 0.3])) * np.array([1.0, -0.5, 2.0]))
    return BINARY[kind](a, b)
