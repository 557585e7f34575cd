"""The record of one test program."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Program:
    """A program, its point of differentiation, and its Jacobian.

    Attributes
    ----------
    name : str
    run : callable
        ``run(m, *inputs)``; ``m`` has the functions of `tapeengine.math`. The result is any structure of floats.
    inputs : tuple
        Structures of floats.
    jacobian : callable, optional
        ``jacobian(*inputs)``, by hand: one row for each float of the result, one column for each float of the inputs.
    step : float, optional
        The step of central differences, relative to inputs beyond 1; 0 where the program jumps beside its inputs.
    """

    name: str
    run: Callable[..., Any]
    inputs: tuple[Any, ...]
    jacobian: Callable[..., list[list[float]]] | None = None
    step: float = 2.0**-8

    def __str__(self) -> str:
        return self.name
