"""The values of all lanes of a staged program, and their cotangents."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._core.programs.replay import Path, Plan, Register, has_doubles_only, registers_of_value
from ..forms import flatten, is_continuous, leaves_like, outline, unflatten
from ..transforms.contract import Engine
from .axes import DOUBLE, DOUBLES, stacked


class DifferentLanes(Exception):
    """The lanes return values of different forms or classes, or different discrete parts."""


class Outputs:
    """The values of all lanes: an array with a row for each number of the program's value."""

    def __init__(self, engine: Engine, plan: Plan, lanes: int) -> None:
        self.engine = engine
        self.lanes = lanes
        self.first, self.known = plan.paths[0], plan.places
        leaves, self.steps = flatten(engine.structures, registers_of_value(self.first))
        self.is_number = [type(leaf) is Register or type(leaf) in DOUBLES for leaf in leaves]
        self.leaves: list[Any] = [None if number else leaf for leaf, number in zip(leaves, self.is_number, strict=True)]
        self.array = np.empty((len(leaves), lanes))

    def of(self, path: Path) -> tuple[Any, Any, list[tuple[int, Any]]]:
        """The registers of a path's numbers, the indices of their leaves in the value, and its constant leaves."""
        key = self.first, path
        if key not in self.known:
            self.known[key] = self._of(path)
        return self.known[key]  # type: ignore[no-any-return]

    def _of(self, path: Path) -> tuple[Any, Any, list[tuple[int, Any]]]:
        if not has_doubles_only(path):
            raise DifferentLanes
        leaves = self._checked(registers_of_value(path))
        places = [k for k, leaf in enumerate(leaves) if type(leaf) is Register]
        places.sort(key=lambda k: leaves[k].turn)  # in which their cotangents are added
        constants = [(k, leaf) for k, leaf in enumerate(leaves) if type(leaf) in DOUBLES]
        return np.array([leaves[k].number for k in places], np.uint32), np.array(places, np.uint32), constants

    def fill(self, constants: list[tuple[int, Any]], rows: Any) -> None:
        """Store the constant leaves of some lanes."""
        for k, leaf in constants:
            self.array[k, rows] = leaf

    def put(self, row: int, value: Any) -> None:
        """Store the value of a lane that ran alone."""
        for k, leaf in enumerate(self._checked(value)):
            if self.is_number[k]:
                self.array[k, row] = leaf

    def _checked(self, value: Any) -> list[Any]:
        """The leaves of a value, in the order of the first one's."""
        leaves = leaves_like(self.engine.structures, self.steps, value)
        if leaves is None or not all(map(_is_alike, leaves, self.is_number, self.leaves)):
            raise DifferentLanes
        return leaves

    def value(self) -> Any:
        """The program's value with an axis of lanes."""
        leaves = [
            self.array[k] if number else stacked([leaf] * self.lanes, 0)
            for k, (leaf, number) in enumerate(zip(self.leaves, self.is_number, strict=True))
        ]
        return unflatten(self.steps, leaves)

    def put_tangent(self, column: Any, tangent: Any) -> None:
        """Store the tangent of the value of a lane that ran alone."""
        for k, leaf in enumerate(flatten(self.engine.structures, tangent)[0]):
            if self.is_number[k]:
                column[k] = leaf

    def tangent(self, rows: Any) -> Any:
        """The value's tangent with an axis of lanes."""
        each = enumerate(zip(self.is_number, self.leaves, strict=True))
        leaves = [rows[k] if number else _zero(stacked([leaf] * self.lanes, 0)) for k, (number, leaf) in each]
        return unflatten(self.steps, leaves)

    def taken(self, cotangent: Any) -> list[Any]:
        """The leaves of a cotangent of the values, refused as that of any program if it does not fit.

        Raises
        ------
        CotangentError
        """
        leaves, steps = flatten(self.engine.structures, cotangent)
        if outline(steps) == outline(self.steps) and all(map(self._is_plain, leaves, self.is_number)):
            return leaves
        _, back = self.engine.vjp(lambda value: value, self.value())
        return flatten(self.engine.structures, back(cotangent)[0])[0]

    def _is_plain(self, leaf: Any, is_number: bool) -> bool:
        if not is_number:
            return leaf is None
        return type(leaf) is np.ndarray and leaf.dtype == DOUBLE and leaf.shape == (self.lanes,)

    def rows(self, leaves: list[Any]) -> Any:
        """The cotangents of the numbers in one array."""
        found = np.zeros_like(self.array)
        for k, leaf in enumerate(leaves):
            if self.is_number[k]:
                found[k] = leaf
        return found

    def lane(self, leaves: list[Any], row: int) -> Any:
        """The cotangent of one lane's value."""
        each = zip(leaves, self.is_number, self.leaves, strict=True)
        return unflatten(self.steps, [float(leaf[row]) if number else _zero(known) for leaf, number, known in each])


def _is_alike(leaf: Any, is_number: bool, known: Any) -> bool:
    """Whether a lane has a number where the first one has, or the same constant."""
    if is_number:
        return type(leaf) is Register or type(leaf) in DOUBLES
    return type(leaf) is type(known) and bool(np.array_equal(leaf, known))


def _zero(constant: Any) -> Any:
    return np.zeros_like(constant) if is_continuous(constant) else None
