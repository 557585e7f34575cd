"""The record that describes one benchmark program, independent of the tool that runs it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

Flavour = Literal["scalars", "arrays"]


def no_operations(size: int) -> int:
    """Say that the operations of a program are not counted by hand."""
    return 0


@dataclass(frozen=True)
class Program:
    """A program written once, with the data for running it in any tool.

    Attributes
    ----------
    name
        The program's name in tables, pictures and on the command line.
    run
        ``run(xp, *primals)``. For scalars `xp` has the functions of `math`; for arrays, those of `numpy`.
    inputs
        ``inputs(size)`` returns the arguments as nested lists of floats (scalars) or as numpy arrays (arrays).
    active
        The number of arguments that are differentiated; the others are constants and come last.
    sizes
        The sizes that are measured, smallest first.
    flavour
        Whether the program works on scalars or on arrays.
    operations
        ``operations(size)`` is the number of scalar operations of one run, 0 if it is not known.
    known
        Maps sizes to values known from elsewhere.
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
    active: int | None = None

    def problem(self, size: int, xp: Any, functional: bool = False) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        """Return the program of one size as a callable of the differentiated arguments, and these arguments."""
        run = self.functional if functional and self.functional else self.run
        arguments = self.inputs(size)
        primals, constants = arguments[: self.active], arguments[self.active :] if self.active else ()
        if not constants:
            return partial(run, xp), primals

        def program(*active: Any) -> Any:
            return run(xp, *active, *constants)

        return program, primals
