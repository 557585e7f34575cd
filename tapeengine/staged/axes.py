"""Split arguments along an axis into lanes, and join the values of lanes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import tapeengine.numpy as tnp

from ..errors import StructureError, class_name
from ..forms import flatten, is_continuous, is_plain, is_traced, leaves_like, unflatten
from ..structure import Structures

DOUBLE = np.dtype(np.float64)
#: The classes of the numbers that registers hold as they are.
DOUBLES = (float, np.float64)
#: The size in bytes above which the lanes do not get copies of an array that they share.
LARGE = 1 << 15
#: What errors say of an argument without an axis of lanes.
NO_AXIS = "which has none: give it None, as in te.vmap(f, in_axes=(0, None)), or pass an array of the lanes' values"


class Mapped:
    """The arguments of a call; some leaves have an axis of lanes.

    Parameters
    ----------
    structures : Structures
    args : tuple
    in_axes : int, None, or tuple of them for each argument
        An entry may be a list, tuple or dict of them with the argument's structure.

    Attributes
    ----------
    leaves : list
        The leaves from left to right; the axis of lanes comes first.
    mapped : list of bool
        Which leaves have lanes.
    lanes : int

    Raises
    ------
    StructureError
        If axes do not fit, or their lengths differ.
    """

    def __init__(self, structures: Structures, args: tuple[Any, ...], in_axes: Any) -> None:
        axes = in_axes if isinstance(in_axes, (tuple, list)) else (in_axes,) * len(args)
        if len(axes) != len(args):
            raise StructureError(f"in_axes has {len(axes)} entries, and the call has {len(args)} arguments")
        leaves, self.steps = flatten(structures, args)
        self.leaves: list[Any] = leaves
        self.mapped = [True] * len(leaves)
        self.copied: list[int] = []
        if in_axes == 0 and type(in_axes) is int:
            # Most calls have arrays alone, and few lanes: then each step for each leaf counts.
            if not all([type(leaf) is np.ndarray and leaf.ndim for leaf in leaves]):  # noqa: C419
                self._move(leaves, [0] * len(leaves))
        else:
            self._move(
                leaves,
                [axis for entry, arg in zip(axes, args, strict=True) for axis in _spread(structures, entry, arg)],
            )
        lengths = {len(leaf) for leaf, mapped in zip(self.leaves, self.mapped, strict=True) if mapped}
        if len(lengths) != 1 or 0 in lengths:
            found = ", ".join(map(str, sorted(lengths))) or "none"
            raise StructureError(f"the mapped axes must have one length that is not 0; theirs are: {found}")
        (self.lanes,) = lengths

    def _move(self, leaves: list[Any], spread: Sequence[int | None]) -> None:
        """Put the axis of lanes of each leaf first."""
        self.leaves, self.mapped = [], []
        for leaf, axis in zip(leaves, spread, strict=True):
            has_axis = axis is not None and hasattr(leaf, "shape")
            if axis is not None and not has_axis and isinstance(leaf, (float, complex)):
                raise StructureError(f"in_axes gives an axis to {leaf!r}, {NO_AXIS}")
            self.leaves.append(_with_lanes_first(leaf, axis or 0) if has_axis else leaf)
            self.mapped.append(has_axis)

    def keep_apart(self) -> None:
        """See that no lane can change an array of another lane, or of the caller: a lane is a part of a copy.

        Of large arrays that lanes share, a program can only read: copies for each lane would cost more than a program
        that reads a part.
        """
        pairs = list(zip(self.leaves, self.mapped, strict=True))
        self.leaves = [_apart(leaf, mapped) for leaf, mapped in pairs]
        self.copied = [k for k, (leaf, mapped) in enumerate(pairs) if not mapped and is_small(leaf)]

    def lane(self, k: int) -> tuple[Any, ...]:
        """The arguments of one lane; an element of a float64 array becomes a number of Python's kind."""
        found = [_element(leaf, k) if m else leaf for leaf, m in zip(self.leaves, self.mapped, strict=True)]
        for i in self.copied:
            found[i] = found[i].copy(order="K")
        args: tuple[Any, ...] = unflatten(self.steps, found)
        return args

    @property
    def has_numbers_only(self) -> bool:
        """Whether a lane consists of numbers and of discrete leaves that lanes share: only such lanes are replayed."""
        for leaf, mapped in zip(self.leaves, self.mapped, strict=True):
            if mapped:
                if is_traced(leaf) or leaf.ndim != 1 or leaf.dtype != DOUBLE:
                    return False
            elif type(leaf) not in DOUBLES and is_continuous(leaf):
                return False
        return True

    def arguments(self) -> tuple[Any, ...]:
        """The arguments, with the axis of lanes first."""
        pairs = zip(self.leaves, self.mapped, strict=True)
        args: tuple[Any, ...] = unflatten(self.steps, [np.asarray(leaf) if m else leaf for leaf, m in pairs])
        return args


def whole_arguments(in_axes: Any, count: int) -> list[bool] | None:
    """For each argument, whether its numbers have lanes in the first axis; None if only some have."""
    axes = in_axes if isinstance(in_axes, (tuple, list)) else [in_axes] * count
    if len(axes) != count or not all(axis is None or (type(axis) is int and axis == 0) for axis in axes):
        return None
    return [axis is not None for axis in axes]


def _spread(structures: Structures, axes: Any, arg: Any) -> list[int | None]:
    """The axis of each leaf of an argument."""
    if axes is None or isinstance(axes, int):
        return [axes] * len(flatten(structures, arg)[0])
    given, parts = (structures.named(x) if type(axes) is type(arg) else None for x in (axes, arg))
    if given is None or parts is None or (by_name := dict(given)).keys() != dict(parts).keys():
        raise StructureError(f"in_axes or out_axes has {axes!r} for a value of another structure")
    return [axis for name, item in parts for axis in _spread(structures, by_name[name], item)]


def _with_lanes_first(leaf: Any, axis: int) -> Any:
    if not is_plain(leaf):
        raise StructureError(
            f"in_axes gives an axis to a {class_name(leaf)}, of which lanes would be arrays of another class. Pass "
            "numpy.asarray of it, and its mask or unit as a separate argument"
        )
    if not leaf.shape:
        raise StructureError(f"in_axes gives an axis to an array of shape (), {NO_AXIS}")
    if not -leaf.ndim <= axis < leaf.ndim:
        raise StructureError(f"in_axes gives axis {axis} to an array of shape {leaf.shape}, which lacks it")
    return np.moveaxis(leaf, axis, 0) if axis else leaf


def _element(leaf: Any, k: int) -> Any:
    return leaf.item(k) if leaf.ndim == 1 and leaf.dtype == DOUBLE else leaf[k]


def is_small(leaf: Any) -> bool:
    """Whether a leaf is an array of which each lane gets a copy."""
    return bool(rank(leaf)) and leaf.nbytes <= LARGE


def rank(leaf: Any) -> int:
    """The number of axes of an array; 0 of another leaf."""
    return int(leaf.ndim) if isinstance(leaf, np.ndarray) or is_traced(leaf) else 0


def _apart(leaf: Any, is_mapped: bool) -> Any:
    ndim = rank(leaf)
    if is_mapped:
        return leaf.copy(order="K") if ndim > 1 else leaf
    if not ndim or is_small(leaf):
        return leaf
    shared = leaf[...]
    shared.flags.writeable = False
    return shared


def joined(structures: Structures, values: Sequence[Any], out_axes: Any) -> Any:
    """Join the values of all lanes into one structure, whose leaves have an axis of lanes."""
    first, steps = flatten(structures, values[0])
    axes = _spread(structures, out_axes, values[0])
    rows = [first]
    for value in values[1:]:
        leaves = leaves_like(structures, steps, value)
        if leaves is None:
            raise StructureError("the lanes return values of different structures, which cannot be joined")
        rows.append(leaves)
    return unflatten(steps, [stacked([row[k] for row in rows], axis) for k, axis in enumerate(axes)])


def stacked(leaves: list[Any], axis: int | None) -> Any:
    """Stack one leaf of all lanes; without an axis, return the leaf that they share."""
    first = leaves[0]
    if axis is None or first is None or isinstance(first, str) or (callable(first) and not hasattr(first, "shape")):
        if any(leaf is not first and not np.array_equal(leaf, first) for leaf in leaves):
            raise StructureError(f"the lanes return different values, such as {first!r}, which cannot be joined")
        return first
    shapes = {np.shape(leaf) for leaf in leaves}
    if len(shapes) > 1:
        raise StructureError(f"the lanes return arrays of different shapes, {sorted(shapes)}, which cannot be joined")
    if not -np.ndim(first) - 1 <= axis <= np.ndim(first):
        raise StructureError(f"out_axes={axis} is no axis of values of shape {np.shape(first)} that are stacked")
    if any(map(is_traced, leaves)):
        return tnp.stack(leaves, axis=axis) if hasattr(first, "shape") and first.shape else tnp.array(leaves)
    return np.stack(leaves, axis=axis) if np.ndim(first) else np.array(leaves)
