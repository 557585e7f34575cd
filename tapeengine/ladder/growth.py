"""The growth of the steps' work with the size of a program: the numbers of the page and of the pictures."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import count
from types import MappingProxyType
from typing import Any, NamedTuple

from ..chad.terms import Module
from . import chad, dn, programs
from .counts import Counts
from .derivative import Derivative


class Family(NamedTuple):
    """Programs of growing size.

    Attributes
    ----------
    steps : mapping of str to callable
        The steps to compare.
    make : callable
        Maps a size to a program and its primals.
    sizes : tuple of int
    exponential : tuple of str and int
        A step with exponential cost, and the largest size at which it is run.
    """

    steps: Mapping[str, Callable[..., Derivative]]
    make: Callable[[int], tuple[Module, tuple[Any, ...]]]
    sizes: tuple[int, ...]
    exponential: tuple[str, int] = ("", 0)


def tree(depth: int) -> Any:
    """Scalars in a balanced tree of pairs."""
    numbers = count(1)

    def level(d: int) -> Any:
        return 1.0 + 0.1 * next(numbers) if d == 0 else (level(d - 1), level(d - 1))

    return level(depth)


def chain(n: int) -> Any:
    """Scalars in a chain of pairs."""
    return 1.0 if n == 1 else (1.0 + n, chain(n - 1))


def sharing(n: int) -> tuple[Module, tuple[Any, ...]]:
    """A chain of additions."""
    return programs.sharing(n), (1.5,)


def balanced_tree(n: int) -> tuple[Module, tuple[Any, ...]]:
    """A balanced tree of pairs."""
    return programs.balanced_tree(n), (tree(n),)


def nested_inputs(n: int) -> tuple[Module, tuple[Any, ...]]:
    """A chain of pairs."""
    return programs.nested_inputs(n), (chain(n),)


def particles(steps: int) -> tuple[Module, tuple[Any, ...]]:
    """Four particles."""
    return programs.particles(), (steps, (1.0, 0.5), (2.0, 0.3), (-1.0, 0.2), (0.3, 0.1))


def beside(n: int) -> tuple[Module, tuple[Any, ...]]:
    """A scalar beside n others."""
    return programs.beside(n), ((1.5, (0.0,) * n),)


def distinct(levels: int) -> tuple[Module, tuple[Any, ...]]:
    """Variables that are each used once."""
    return programs.distinct(levels), tuple(1.0 + k for k in range(2**levels))


def applications(n: int) -> tuple[Module, tuple[Any, ...]]:
    """Applications of the identity."""
    return programs.nested_applications(n + 1), (1.5,)


#: The families of the page, by the quantity that grows.
FAMILIES: Mapping[str, Family] = MappingProxyType(
    {
        "additions in a chain of sharing": Family(dn.STEPS, sharing, (2, 4, 8, 12, 16, 32), ("naive", 12)),
        "levels of a balanced tree": Family(dn.STEPS, balanced_tree, (1, 2, 3, 4, 5, 6)),
        "inputs in a chain of pairs": Family(dn.STEPS, nested_inputs, (2, 4, 8, 16, 32)),
        "time steps of four particles": Family(dn.STEPS, particles, (1, 2, 4, 8, 16, 32), ("naive", 4)),
        "nested applications": Family(chad.STEPS, applications, (1, 2, 4, 8, 16), ("copower", 8)),
        "additions in a chain of lets": Family(chad.STEPS, sharing, (2, 4, 8, 16, 32, 64)),
        "uses of fst x beside as many scalars": Family(chad.STEPS, beside, (2, 4, 8, 16, 32, 64)),
        "levels of a tree of distinct variables": Family(chad.STEPS, distinct, (1, 2, 3, 4, 5, 6, 7)),
    }
)


def counts(family: Family, step: str, size: int) -> Counts:
    """The counts of one step for one program."""
    module, primals = family.make(size)
    derivative = family.steps[step](module, *primals)
    derivative.backpropagator(1.0)
    return derivative.counts


def table(name: str) -> dict[str, list[Counts | None]]:
    """For each step its counts at the sizes of a family; None if it was not run."""
    family = FAMILIES[name]
    exponential, largest = family.exponential
    return {
        step: [None if step == exponential and n > largest else counts(family, step, n) for n in family.sizes]
        for step in family.steps
    }
