"""Costs of the notes' systems for programs of growing size."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import NamedTuple

from ...chad.terms import Module
from ..programs import conditionals, folded_product, looped, nested_calls, sharing
from .categorical import convert
from .gradient import gradient
from .split_categorical import Split
from .steps import STEPS


class Costs(NamedTuple):
    """Costs of systems as a quantity grows.

    Attributes
    ----------
    sizes : tuple of int
    rows : mapping of str to callable
        For each system and count a function from a size to a number.
    exponential : tuple of str and int
        A row with exponential growth, and the largest size at which it is counted.
    """

    sizes: tuple[int, ...]
    rows: Mapping[str, Callable[[int], int]]
    exponential: tuple[str, int] = ("", 0)

    def numbers(self, row: str) -> list[int | None]:
        """The numbers of a row; None if they are not counted."""
        name, largest = self.exponential
        return [None if row == name and n > largest else self.rows[row](n) for n in self.sizes]


def cells(prune: bool, n: int) -> int:
    """Components of cotangents that the split passes make on a chain with sharing."""
    main, split = sharing(n).definitions["f"], Split()
    c = convert(main.body, ("x0",), prune)
    split.reverse(c, split.forward(c, (1.5,))[1], 1.0)
    return split.cells


def statements(n: int) -> tuple[int, int, int]:
    """Statements of a chain with sharing: of the procedure, of its forward and of its reverse pass."""
    return gradient(sharing(n), 1.5).statements


def count(system: str, column: str, make: Callable[[int], Module], n: int) -> int:
    """One count of one system."""
    return int(getattr(STEPS[system](make(n), 0.5), column))


stored, again = partial(looped, again=False), partial(looped, again=True)
#: The tables of the page, by the quantity that grows.
COSTS: Mapping[str, Costs] = MappingProxyType(
    {
        "nested calls": Costs(
            (2, 4, 8, 16, 32),
            {
                "jacobian: values computed": partial(count, "jacobian", "computed", nested_calls),
                "tupling: values computed": partial(count, "tupling", "computed", nested_calls),
                "tupling: constructors of its program": partial(count, "tupling", "size", nested_calls),
            },
        ),
        "additions of a value to itself": Costs(
            (2, 4, 8, 16, 32),
            {
                "tupling: maps visited": partial(count, "tupling", "work", sharing),
                "categorical: cells of cotangents": partial(cells, False),
                "pruned: cells of cotangents": partial(cells, True),
                "procedure: statements of the program": lambda n: statements(n)[0],
                "procedure: statements of both passes": lambda n: sum(statements(n)[1:]),
                "bags: terms of the reverse pass": partial(count, "bags", "work", sharing),
            },
            ("tupling: maps visited", 8),
        ),
        "conditionals in a row": Costs(
            (1, 2, 4, 8, 16),
            {
                "bags: constructors of both passes": partial(count, "bags", "size", conditionals),
                "continuation: constructors of both passes": partial(count, "continuation", "size", conditionals),
            },
            ("continuation: constructors of both passes", 8),
        ),
        "elements or iterations": Costs(
            (4, 8, 16, 32, 64, 128),
            {
                "lmFold: maps and cells visited": partial(count, "jacobian", "work", folded_product),
                "nTimes: cells kept": partial(count, "bags", "records", stored),
                "nTimes: values computed": partial(count, "bags", "computed", stored),
                "ccl: cells kept": partial(count, "bags", "records", again),
                "ccl: values computed": partial(count, "bags", "computed", again),
            },
        ),
    }
)
