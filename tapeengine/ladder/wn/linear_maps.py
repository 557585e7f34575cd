"""Linear maps (WN Fig. 3 to 5): what they are built from, what they mean, and their transposes.

    (m1 . m2) @ x = m1 @ (m2 @ x)        (m1 + m2) @ x = m1 @ x + m2 @ x      0 @ x = 0    1 @ x = x    S(k) @ x = k * x
    (m1 x m2) @ x = (m1 @ x, m2 @ x)     (m1 >< m2) @ (x1, x2) = m1 @ x1 + m2 @ x2
    V(m) @ x = build(n, i. m[i] @ x)     H(m) @ x = sum_i m[i] @ x[i]

    (m1 . m2)' = m2' . m1'     (m1 + m2)' = m1' + m2'     0' = 0     1' = 1     S(k)' = S(k)
    (m1 x m2)' = m1' >< m2'    (m1 >< m2)' = m1' x m2'    V(v)' = H(map ' v)    H(v)' = V(map ' v)

    r @R m = m' @ r, without making m': a rule for each constructor

`VCat` and `HCat` take any number of maps, so they are also V and H. A map is a data structure: a trace of what the
program did, to be applied many times in either direction.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tapeengine.ladder.wn import vectors

__all__ = [
    "Add",
    "Compose",
    "HCat",
    "LinearMap",
    "One",
    "Scale",
    "VCat",
    "Zero",
    "apply",
    "reverse",
    "transpose",
]


class LinearMap:
    """Base class of the constructors."""


@dataclass(frozen=True)
class Zero(LinearMap):
    """The map to 0."""


@dataclass(frozen=True)
class One(LinearMap):
    """The identity."""


@dataclass(frozen=True)
class Scale(LinearMap):
    """``S(factor)``."""

    factor: float


@dataclass(frozen=True)
class Compose(LinearMap):
    """``after . before``."""

    after: LinearMap
    before: LinearMap


@dataclass(frozen=True)
class Add(LinearMap):
    """``one + other``."""

    one: LinearMap
    other: LinearMap


@dataclass(frozen=True)
class VCat(LinearMap):
    """``m1 x m2 x ...``, one below the other."""

    parts: tuple[LinearMap, ...]


@dataclass(frozen=True)
class HCat(LinearMap):
    """``m1 >< m2 >< ...``, one beside the other."""

    parts: tuple[LinearMap, ...]


def apply(m: LinearMap, x: Any) -> Any:
    """``m @ x``.

    Examples
    --------
    >>> apply(HCat((Scale(2.0), Scale(3.0))), (1.0, 10.0))
    32.0
    """
    match m:
        case One():
            return x
        case Scale(factor):
            return vectors.scale(factor, x)
        case Compose(after, before):
            return apply(after, apply(before, x))
        case Add(one, other):
            return vectors.add(apply(one, x), apply(other, x))
        case VCat(parts):
            return tuple(apply(part, x) for part in parts)
        case HCat(parts):
            return total(tuple(apply(part, vectors.component(x, k)) for k, part in enumerate(parts)))
    return None


def reverse(r: Any, m: LinearMap) -> Any:
    """``r @R m``.

    Examples
    --------
    >>> reverse(1.0, HCat((Scale(2.0), Scale(3.0))))
    (2.0, 3.0)
    """
    match m:
        case One():
            return r
        case Scale(factor):
            return vectors.scale(factor, r)
        case Compose(after, before):
            return reverse(reverse(r, after), before)
        case Add(one, other):
            return vectors.add(reverse(r, one), reverse(r, other))
        case VCat(parts):
            return total(tuple(reverse(vectors.component(r, k), part) for k, part in enumerate(parts)))
        case HCat(parts):
            return tuple(reverse(r, part) for part in parts)
    return None


def transpose(m: LinearMap) -> LinearMap:
    """``m'``."""
    match m:
        case Compose(after, before):
            return Compose(transpose(before), transpose(after))
        case Add(one, other):
            return Add(transpose(one), transpose(other))
        case VCat(parts):
            return HCat(tuple(map(transpose, parts)))
        case HCat(parts):
            return VCat(tuple(map(transpose, parts)))
    return m


def total(parts: tuple[Any, ...]) -> Any:
    """The sum of vectors."""
    result: Any = None
    for part in parts:
        result = vectors.add(result, part)
    return result
