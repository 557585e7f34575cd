"""The record that describes one benchmark program, whatever tool runs it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

__all__ = ["Program", "no_operations"]

Flavour = Literal["scalars", "arrays"]


def no_operations(size: int) -> int:
    """Say that the operations of a program are not counted by hand."""
    return 0


@dataclass(frozen=True)
class Program:
    """A program written once, with what is needed to run it in any tool.

    Attributes
    ----------
    name
        The program's name in tables, pictures and on the command line.
    run
        ``run(xp, *primals)``. For scalars `xp` has the functions of `math`; for arrays, those of `numpy`.
    inputs
        ``inputs(size)`` gives the primals as nested lists of floats (scalars) or as numpy arrays (arrays).
    sizes
        The sizes that are measured, smallest first.
    flavour
        Whether the program works on scalars or on arrays.
    operations
        ``operations(size)`` is the number of scalar operations of one run, 0 where nobody counted.
    known
        Size to value, where the value is known from elsewhere.
    functional
        The same program without item assignment, for tools that refuse assignment.
    """

    name: str
    run: Callable[..., Any]
    inputs: Callable[[int], tuple[Any, ...]]
    sizes: tuple[int, ...]
    flavour: Flavour = "scalars"
    operations: Callable[[int], int] = no_operations
    known: Mapping[int, float] = field(default_factory=dict)
    functional: Callable[..., Any] | None = None

    def bind(self, xp: Any) -> Callable[..., Any]:
        """Return the program as a callable of its primals alone."""
        return partial(self.run, xp)
