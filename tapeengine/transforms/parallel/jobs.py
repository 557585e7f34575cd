"""The derivative of one task: rows of cotangents if its value is few numbers, otherwise its tape.

If a task returns few real numbers, such as a loss, its derivative has one row of cotangents for each of them. The
cotangents of the task's values are then the sum of the rows, each scaled by the cotangent of its number. If the rows
are finite, this is used wherever the task ran, so all workers give the same bits. If a row is not finite, the tape is
swept with the actual cotangent, which may be small enough for a finite result.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...forms import Form, flatten, form_around, is_continuous, is_traced
from ...structure import Structures

#: The largest number of results for which rows are computed; each row costs one sweep of the tape.
FEW = 4
#: For each number of the value, the cotangents of the task's values.
Rows = list[list[Any]]
Pull = Callable[[Any], Any]


def few_numbers(structures: Structures, value: Any, given: Sequence[Any]) -> Form | None:
    """The form of a task's value if it is few real numbers, otherwise None.

    Few means one number, or up to `FEW` if the task's values hold more numbers than that.
    """
    found, steps = flatten(structures, value)
    if len(found) == 1 and type(found[0]) is float:
        return form_around(structures, found, steps)
    leaves = [leaf for leaf in found if is_continuous(leaf)]
    if not 0 < len(leaves) <= FEW or not 0 < (count := sum(map(np.size, leaves))) <= FEW:
        return None
    if any(map(is_traced, leaves)) or (count > 1 and count >= sum(map(np.size, given))):
        return None
    form = form_around(structures, found, steps)
    return None if form.is_complex else form


def rows_of(pull: Pull, form: Form) -> Rows | None:
    """The rows of a task's derivative; None if one of them is not finite."""
    rows = [pull(form.basis(k)) for k in range(form.size)]
    return rows if all(_is_finite(leaf) for row in rows for leaf in row) else None


def _is_finite(leaf: Any) -> bool:
    return math.isfinite(leaf) if type(leaf) is float else leaf is None or bool(np.isfinite(leaf).all())


def combined(structures: Structures, rows: Rows, cotangent: Any) -> list[Any] | None:
    """The sum of rows, each scaled by the cotangent of its number; None if all these cotangents are exactly zero.

    A leaf of a row is None if the task's value is discrete, such as a part of a cotangent.
    """
    total: list[Any] | None = None
    for ct, row in zip(_numbers(structures, cotangent), rows, strict=True):
        if is_traced(ct) or ct:
            part = [leaf if leaf is None else ct * leaf for leaf in row]
            total = part if total is None else [a if a is None else a + b for a, b in zip(total, part, strict=True)]
    return total


def _numbers(structures: Structures, cotangent: Any) -> list[Any]:
    """The numbers of a cotangent; plain ones as floats, which do not change the dtype of arrays that they scale."""
    if type(cotangent) is float:
        return [cotangent]
    found: list[Any] = []
    for leaf in flatten(structures, cotangent)[0]:
        if is_traced(leaf):
            found += [leaf.reshape(-1)[k] for k in range(leaf.size)] if np.ndim(leaf) else [leaf]
        elif leaf is not None:
            found += np.ravel(leaf).tolist()
    return found


def is_zero(leaf: Any) -> bool:
    """Whether a cotangent is exactly zero or belongs to a discrete value."""
    if type(leaf) is float:
        return leaf == 0.0
    return leaf is None or (isinstance(leaf, np.ndarray) and not leaf.any())


class Job:
    """A task that was recorded in this process.

    Parameters
    ----------
    structures : Structures
    value : object
        What the task returned.
    given : sequence
        The task's values.
    pull : callable
        Sweeps the task's tape: ``pull(cotangent) -> cotangents of the values``.

    Attributes
    ----------
    rows : list or None
        The rows, if they have been computed and are finite.
    """

    __slots__ = ("_form", "_pull", "_structures", "rows")

    def __init__(self, structures: Structures, value: Any, given: Sequence[Any], pull: Pull) -> None:
        self._structures = structures
        self._form = few_numbers(structures, value, given)
        self._pull = pull
        self.rows: Rows | None = None

    @property
    def is_few(self) -> bool:
        """Whether the value is few numbers; false once a row has been found to be non-finite."""
        return self._form is not None or self.rows is not None

    def compute_rows(self) -> None:
        """Compute the rows if there are few; keep them if they are finite."""
        if (form := self._form) is not None:
            self.rows = rows_of(self._pull, form)
            self._form = None

    def __call__(self, cotangent: Any) -> Any:
        """Return the cotangents of the values; None stands for zeros."""
        self.compute_rows()
        if self.rows is not None:
            return combined(self._structures, self.rows, cotangent)
        return self._pull(cotangent)
