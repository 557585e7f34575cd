"""Vector spaces (WN section 2.2): reals, tuples of vectors, `Vec` of vectors; discrete values have the space ().

    (v1, v2) + (w1, w2) = (v1 + w1, v2 + w2)         r * (v1, v2) = (r * v1, r * v2)
    (v1, v2) . (w1, w2) = v1 . w1 + v2 . w2

A `Vec` is a tuple here. None is also the zero of every space; it takes no memory and no time.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def add(v: Any, w: Any) -> Any:
    """``v + w``."""
    if v is None or w is None:
        return w if v is None else v
    return tuple(map(add, v, w)) if isinstance(v, tuple) else v + w


def scale(r: float, v: Any) -> Any:
    """``r * v``."""
    if v is None:
        return None
    return tuple(scale(r, part) for part in v) if isinstance(v, tuple) else r * v


def dot(v: Any, w: Any) -> float:
    """The dot product."""
    if v is None or w is None:
        return 0.0
    return sum(map(dot, v, w)) if isinstance(v, tuple) else float(v * w)


def component(v: Any, index: int) -> Any:
    """One part of a tuple or a vector."""
    return None if v is None else v[index]


def full(v: Any, primal: Any) -> Any:
    """The vector with explicit zeros, in the structure of ``primal``; discrete primals have None."""
    if isinstance(primal, tuple):
        return tuple(full(component(v, k), part) for k, part in enumerate(primal))
    return None if not isinstance(primal, float) else 0.0 if v is None else v


def total(parts: Iterable[Any]) -> Any:
    """The sum of vectors."""
    result: Any = None
    for part in parts:
        result = add(result, part)
    return result


def pair(v: Any) -> tuple[Any, Any]:
    """Both parts of a pair."""
    return component(v, 0), component(v, 1)
