"""Discrete parts of arguments and results, also containers of them, are None in derivatives of any order."""

import dataclasses
from typing import Any, NamedTuple

import numpy as np

import tapeengine as te


@dataclasses.dataclass
class Sizes:
    rows: int
    columns: int


class Pair(NamedTuple):
    first: int
    second: int


#: Expressions of parts that have no derivative; `n` is 2.
PARTS = {
    "number": "n",
    "truth": "n > 1",
    "nothing": "None",
    "empty": "()",
    "tuple": "(n, 3)",
    "list": "[n, 3]",
    "dict": "{'p': n, 'q': True}",
    "record": "Sizes(n, 3)",
    "named tuple": "Pair(n, 3)",
    "tuples": "((n, 3), n)",
    "list of tuples": "[(n, 3), (4, n)]",
    "tuple of lists": "([n], n)",
    "shape": "np.zeros((n, 3)).shape",
    "array": "np.arange(n)",
    "tuple of an array": "(np.arange(n), n)",
}
#: Results that have such a part as ``{}``.
RESULTS = {
    "behind": "y, {}",
    "before": "{}, y",
    "in a dict": "dict(a=y, b={})",
    "inside": "(y, ({}, y)), y",
    "alone": "{}",
}
#: How the continuous part is computed, and where.
BODIES: dict[str, tuple[list[str], Any]] = {
    "numbers": (["y = x * x * x"], 0.7),
    "loop": (["y = x", "for i in range(n):", "    y = y * x * (i + 1.5)"], 0.7),
    "array": (
        ["y = np.zeros(len(x))", "for i in range(len(x)):", "    y[i] = x[i] * x[i] * x[0]"],
        np.array([0.3, 0.7]),
    ),
    "large": (["y = x * x"], np.linspace(0.1, 0.9, 200)),
}


def same(a: Any, b: Any) -> bool:
    """Whether two values have the same classes, and numbers that differ by rounding at most."""
    if type(a) is not type(b) or isinstance(a, Exception):
        return False
    if isinstance(a, dict):
        return list(a) == list(b) and all(map(same, a.values(), b.values()))
    if dataclasses.is_dataclass(a):
        return same(vars(a), vars(b))
    if isinstance(a, tuple | list):
        return len(a) == len(b) and all(map(same, a, b))
    return a is None if b is None else np.allclose(a, b, 1e-10)


def derivatives(f: Any, x: Any, *others: Any) -> dict[str, Any]:
    """The derivatives of ``f(x, *others)`` in x, to the second order, as functions without arguments."""
    t = np.ones(x.shape) if isinstance(x, np.ndarray) else 1.0

    def along(x):
        return te.jvp(f, (x, *others), (t, *rest))

    def back(x):
        return te.vjp(f, x, *others)[1](ones)

    rest = [None] * len(others)
    ones = te.jvp(lambda x: te.value_of(f(x, *others)) if False else f(x, *others), (x,), (t,))[1]
    return {
        "vjp": lambda: (te.vjp(f, x, *others)[0], back(x)),
        "jvp": lambda: along(x),
        "jacobian": lambda: te.jacobian(f)(x, *others),
        "hessian": lambda: te.hessian(f)(x, *others),
        "jvp of jvp": lambda: te.jvp(along, (x,), (t,)),
        "jvp of vjp": lambda: te.jvp(back, (x,), (t,)),
        "vjp of jvp": lambda: te.vjp(lambda x: along(x)[1], x)[1](ones),
        "vjp of vjp": lambda: te.vjp(back, x)[1]((t, *rest)),
    }
