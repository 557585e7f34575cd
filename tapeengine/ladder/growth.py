"""How the work of the steps grows with a program: the figures of the page and of the pictures."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import count
from types import MappingProxyType
from typing import Any, NamedTuple

from tapeengine.chad.terms import Module
from tapeengine.ladder import programs
from tapeengine.ladder.dn import STEPS
from tapeengine.ladder.dn.counts import Counts

__all__ = ["FAMILIES", "Family", "chain", "counts", "table", "tree"]


class Family(NamedTuple):
    """Programs of growing size.

    Attributes
    ----------
    make : callable
        Takes a size to a program and its primals.
    sizes : tuple of int
    naive_up_to : int
        The largest size at which the naive step is run.
    """

    make: Callable[[int], tuple[Module, tuple[Any, ...]]]
    sizes: tuple[int, ...]
    naive_up_to: int


def tree(depth: int) -> Any:
    """Scalars in a balanced tree of pairs."""
    numbers = count(1)

    def level(d: int) -> Any:
        return 1.0 + 0.1 * next(numbers) if d == 0 else (level(d - 1), level(d - 1))

    return level(depth)


def chain(n: int) -> Any:
    """Scalars in a chain of pairs."""
    return 1.0 if n == 1 else (1.0 + n, chain(n - 1))


def particles(steps: int) -> tuple[Module, tuple[Any, ...]]:
    """Four particles."""
    return programs.particles(), (steps, (1.0, 0.5), (2.0, 0.3), (-1.0, 0.2), (0.3, 0.1))


#: The families of the page, by what grows.
FAMILIES: Mapping[str, Family] = MappingProxyType(
    {
        "additions in a chain of sharing": Family(lambda n: (programs.sharing(n), (1.5,)), (2, 4, 8, 12, 16, 32), 12),
        "levels of a balanced tree": Family(lambda n: (programs.balanced_tree(n), (tree(n),)), (1, 2, 3, 4, 5, 6), 6),
        "inputs in a chain of pairs": Family(lambda n: (programs.nested_inputs(n), (chain(n),)), (2, 4, 8, 16, 32), 32),
        "time steps of four particles": Family(particles, (1, 2, 4, 8, 16, 32), 4),
    }
)


def counts(family: Family, step: str, size: int) -> Counts:
    """What one step costs on one program."""
    module, primals = family.make(size)
    derivative = STEPS[step](module, *primals)
    derivative.backpropagator(1.0)
    return derivative.counts


def table(name: str) -> dict[str, list[Counts | None]]:
    """For each step its counts at the sizes of a family; None where it was not run.

    Examples
    --------
    >>> [c.work for c in table("additions in a chain of sharing")["taping"]]
    [10, 18, 34, 50, 66, 130]
    """
    family = FAMILIES[name]
    return {
        step: [None if step == "naive" and n > family.naive_up_to else counts(family, step, n) for n in family.sizes]
        for step in STEPS
    }
