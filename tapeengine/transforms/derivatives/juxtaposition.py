"""Vertical and horizontal juxtaposition of linear maps, in containers and in arrays (WN Figures 3 and 4)."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...errors import StructureError
from ...forms import Form, add, flatten, leaves_like, unflatten
from ...primitive.spaces import Space
from ...structure import Structures


class Containers:
    """Joins results in the container that held the maps."""

    def __init__(self, structures: Structures, maps: Any) -> None:
        self.structures = structures
        self.steps = flatten(structures, maps)[1]
        self.count = sum(step is None for step in self.steps)
        if len(self.steps) != self.count + 1:
            raise StructureError("maps are juxtaposed in one tuple, list, dict or array, not in nested ones")

    def refill(self, items: Sequence[Any]) -> Any:
        """Return the same container around other items."""
        return unflatten(self.steps, items)

    join = refill

    def split(self, value: Any) -> list[Any]:
        """Return the parts of a value whose outermost container has this form."""
        kind = type(self.refill([None] * self.count))
        if type(value) is not kind or len(value) != self.count:
            raise StructureError(f"expected a {kind.__name__} of {self.count} parts, not {value!r}")
        keys = self.refill(range(self.count))
        if not isinstance(keys, dict):
            return list(value)
        if value.keys() != keys.keys():
            raise StructureError(f"expected a {kind.__name__} with the keys {list(keys)}, not {list(value)}")
        return [value[key] for key in keys]

    def form(self, forms: Sequence[Form]) -> Form:
        """Return the form of the joined values."""
        steps = [step for form in forms for step in form.steps]
        return Form(self.structures, [s for form in forms for s in form.spaces], [*steps, self.steps[-1]])


class Stacked:
    """Stacks results along new first axes, following the shape of the array of maps."""

    def __init__(self, structures: Structures, maps: np.ndarray[Any, Any]) -> None:
        self.structures = structures
        self.shape = maps.shape

    def refill(self, items: Sequence[Any]) -> Any:
        """Return an array of the same shape around other items."""
        result = np.empty(len(items), object)
        result[:] = items
        return result.reshape(self.shape)

    def join(self, values: Sequence[Any]) -> Any:
        """Stack leaf by leaf."""
        steps = flatten(self.structures, values[0])[1]
        rows = [leaves_like(self.structures, steps, value) or () for value in values]
        return unflatten(steps, [self._stack(column) for column in zip(*rows, strict=True)])

    def split(self, value: Any) -> list[Any]:
        """Split the leaves along the stacked axes."""
        leaves, steps = flatten(self.structures, value)
        depth, count = len(self.shape), int(np.prod(self.shape))
        rows = [[None] * count if leaf is None else leaf.reshape((-1, *leaf.shape[depth:])) for leaf in leaves]
        return [unflatten(steps, [_plain(row[i]) for row in rows]) for i in range(count)]

    def form(self, forms: Sequence[Form]) -> Form:
        """Return the form of the stacked values."""
        first = common(forms, "an array of maps needs one space for all of them")
        spaces = [None if s is None else Space((*self.shape, *s.shape), s.dtype) for s in first.spaces]
        return Form(self.structures, spaces, first.steps)

    def _stack(self, column: Sequence[Any]) -> Any:
        if column[0] is None:
            return None
        import tapeengine.numpy as tnp

        return tnp.reshape(tnp.stack(list(column)), self.shape + np.shape(column[0]))


def _plain(item: Any) -> Any:
    return float(item) if isinstance(item, np.float64) else item


def in_a_row(maps: Any, kind: type) -> tuple[list[Any], Any]:
    """Return the maps as a list, converted to one class, and the object that joins their values."""
    items = list(maps.ravel()) if isinstance(maps, np.ndarray) else flatten(Structures(), maps)[0]
    if not items or not all(isinstance(item, kind) for item in items):
        raise StructureError(f"juxtapose a tuple, list, dict or array of linear maps, at least one, not {maps!r}")
    structures = items[0].domain.structures
    return items, Stacked(structures, maps) if isinstance(maps, np.ndarray) else Containers(structures, maps)


def common(forms: Sequence[Form], what: str) -> Form:
    """Return the form that all share; if they differ, raise an error that begins with `what`."""
    for form in forms[1:]:
        if form != forms[0]:
            raise StructureError(f"{what}; there are {forms[0]} and {form}")
    return forms[0]


def total(structures: Structures, values: Sequence[Any]) -> Any:
    """Add up values of one structure."""
    return functools.reduce(functools.partial(add, structures), values)
