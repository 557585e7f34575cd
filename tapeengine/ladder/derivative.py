"""The result of each step: a value, its backpropagator and their counts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..chad.language.terms import Definition, Module
from ..chad.language.types import Product
from .structure import fill, leaves


@dataclass
class Counts:
    """Counts of the reverse pass of a derivative, in operations that take constant time.

    Attributes
    ----------
    records : int
        Backpropagators made in the forward pass.
    calls : int
        Backpropagators called in the reverse pass.
    additions : int
        Additions of scalar cotangents.
    steps : int
        Cells of structures made, nodes of maps visited, cells of arrays accessed.
    span : int
        Calls on the longest chain of calls that depend on each other.
    """

    records: int = 0
    calls: int = 0
    additions: int = 0
    steps: int = 0
    span: int = 0

    @property
    def work(self) -> int:
        """The total number of operations in the reverse pass."""
        return self.calls + self.additions + self.steps

    def step(self, cells: int = 1) -> None:
        """Count the cells of structures."""
        self.steps += cells


class Derivative(NamedTuple):
    """A program's value at some primals, with its reverse derivative there (R2 of DN section 4).

    Attributes
    ----------
    value : object
    backpropagator : callable
        Maps a cotangent of the value to the cotangents of the primals, a tuple.
    counts : Counts
        Counted during calls of the backpropagator.
    program : Module
        The transformed program.
    """

    value: Any
    backpropagator: Callable[[Any], tuple[Any, ...]]
    counts: Counts
    program: Module


class Inputs:
    """The primals of a program, and the product of their types."""

    def __init__(self, module: Module, primals: tuple[Any, ...]) -> None:
        self.main: Definition = module.definitions[module.main]
        self.type = Product(tuple(p.of for p in self.main.params))
        self.types = module.types
        self.primals = primals

    def interleave(self, leaf: Callable[[float], Any]) -> tuple[Any, ...]:
        """The primals with other leaves."""
        return tuple(fill(self.type, self.primals, self.types, leaf, lambda n: n))

    def cotangent(self, leaf: Callable[[float], float]) -> tuple[Any, ...]:
        """A cotangent of the primals; that of discrete values is None."""
        return tuple(fill(self.type, self.primals, self.types, leaf, lambda n: None))

    def scope(self, interleaved: tuple[Any, ...]) -> dict[str, Any]:
        """The environment in which the body of the program is evaluated."""
        return dict(zip((p.name for p in self.main.params), interleaved, strict=True))


class Outputs:
    """A result of a transformed program: a structure whose leaves are pairs of a primal and its derivative."""

    def __init__(self, module: Module, dual: Any) -> None:
        self.type = module.definitions[module.main].result
        self.types = module.types
        self.value = fill(self.type, dual, self.types, lambda leaf: leaf[0], lambda n: n)
        self.derivatives = [leaf[1] for leaf in leaves(self.type, dual, self.types)]

    def calls(self, cotangent: Any) -> list[tuple[Any, float]]:
        """Each derivative with the scalar cotangent with which `Deinterleave` calls it."""
        return list(zip(self.derivatives, leaves(self.type, cotangent, self.types), strict=True))
