"""A derivative at one point, for the checks: one argument of a primitive, or all primals of a program."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..primitive.spaces import VectorSpace, children, leaves, space_of

#: A tolerance that the best step of fourth-order differences reaches easily, in double and in single precision.
_WIDE_RTOL, _NARROW_RTOL = 1e-7, 2e-2


@dataclass(frozen=True)
class Derivative:
    """A function at a point, with its derivative and its transposed derivative.

    Attributes
    ----------
    point : Any
        The point of differentiation, an element of `space`.
    evaluate : callable
        The function, which takes `point`.
    jvp : callable
        Maps a tangent to a tangent.
    vjp : callable
        Maps a cotangent to a cotangent.
    rtol : float
        The relative accuracy of differences of `evaluate`; by default derived from the dtypes.
    """

    argument: str
    point: Any
    space: VectorSpace
    out_space: VectorSpace
    evaluate: Callable[[Any], Any]
    jvp: Callable[[Any], Any]
    vjp: Callable[[Any], Any]
    rtol: float | None = None

    @property
    def epsilon(self) -> float:
        """The largest rounding unit of the dtypes in point and value."""
        sides = [leaf for space in (self.space, self.out_space) for leaf in _leaf_spaces(space)]
        return max((float(np.finfo(leaf.dtype).eps) for leaf in sides if not leaf.is_discrete), default=2.0**-52)

    @property
    def difference_tolerance(self) -> float:
        """The tolerance for the best difference."""
        return self.rtol or (_WIDE_RTOL if self.epsilon < 1e-12 else _NARROW_RTOL)


def _leaf_spaces(space: VectorSpace) -> list[Any]:
    """List the leaf spaces of a space."""
    parts = getattr(space, "spaces", None)
    return [space] if parts is None else [leaf for part in parts for leaf in _leaf_spaces(part)]


def _mapped(value: Any, change: Callable[[np.ndarray], np.ndarray]) -> Any:
    if isinstance(value, np.ndarray):
        return change(value)
    split = children(value)
    return value if split is None else split[2]([_mapped(part, change) for part in split[1]])


def copied(value: Any) -> Any:
    """Return the value with new writable arrays."""
    return _mapped(value, lambda array: array.copy())


def read_only(value: Any) -> Any:
    """Return the value with new read-only arrays."""

    def lock(array: np.ndarray) -> np.ndarray:
        array = array.copy()
        array.flags.writeable = False
        return array

    return _mapped(value, lock)


def has_nan(value: Any) -> bool:
    """Whether a structure contains a NaN."""
    numbers = (leaf for leaf in leaves(value) if not space_of(leaf).is_discrete)
    return any(bool(np.isnan(number).any()) for number in numbers)


def same_bits(a: Any, b: Any) -> bool:
    """Tell whether two values have the same structure and the same bits, including NaNs."""
    first, second = children(a), children(b)
    if first is None or second is None:
        return first is second and _same_leaf(a, b)
    return (
        type(a) is type(b)
        and first[0] == second[0]
        and all(same_bits(x, y) for x, y in zip(first[1], second[1], strict=True))
    )


def _same_leaf(a: Any, b: Any) -> bool:
    if not isinstance(a, (float, complex, np.ndarray, np.generic)):
        return bool(a is b or a == b)
    x, y = np.asarray(a), np.asarray(b)
    return x.shape == y.shape and x.dtype == y.dtype and (x.dtype == object or x.tobytes() == y.tobytes())


def is_exactly_zero(value: Any) -> bool:
    """Tell whether every continuous leaf is exactly zero."""
    return all(leaf is None or bool(np.all(np.equal(leaf, 0))) for leaf in leaves(value))
