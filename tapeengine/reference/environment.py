"""The environment vector with mutable accumulation (EC Fig. 6 and section 5): a stack of cells for each name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


class Environment:
    """Cells that open and close like a stack; adding to one takes constant time."""

    def __init__(self) -> None:
        self._cells: dict[str, list[Any]] = {}
        self._order: list[str] = []

    def __len__(self) -> int:
        return len(self._order)

    def _stack(self, name: str) -> list[Any]:
        if not self._cells.get(name):
            raise KeyError(f"no slot {name!r} is open")
        return self._cells[name]

    def open(self, name: str, zero: Any = 0.0) -> None:
        """Open a slot that contains zero."""
        self._cells.setdefault(name, []).append(zero)
        self._order.append(name)

    def close(self, name: str) -> Any:
        """Close the innermost slot and return its value."""
        cells = self._stack(name)
        if self._order[-1] != name:
            raise ValueError(f"slot {name!r} is not the innermost one")
        self._order.pop()
        return cells.pop()

    def one(self, name: str, amount: Any, plus: Callable[[Any, Any], Any] | None = None) -> None:
        """Add to the innermost open slot of a name; ``plus(amount, value)`` adds values that are no reals or arrays."""
        cells = self._stack(name)
        if type(cells[-1]) is float:
            if not isinstance(amount, float | int | np.floating):
                raise TypeError(f"must be real number, not {type(amount).__name__}")
            cells[-1] += float(amount)
        elif isinstance(cells[-1], np.ndarray):
            cells[-1] += amount
        elif plus is None:
            raise TypeError(f"slot {name!r} is neither a real nor an array: give the function that adds to it")
        else:
            cells[-1] = plus(amount, cells[-1])
