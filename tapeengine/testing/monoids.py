"""The laws of monoids, which sums over them rely on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..sparse.monoids import Edge, Monoid

_PARTIALS = (2.0, -0.5, 0.0)


def check_monoid(monoid: Monoid[Any], elements: Sequence[Any], equal: Callable[[Any, Any], bool] | None = None) -> None:
    """Check the laws of a commutative monoid, and that partials act on it as homomorphisms.

    Parameters
    ----------
    monoid : Monoid
    elements : sequence
        At least three different elements; all pairs and triples of them are tried.
    equal : callable, optional
        ``equal(x, y)``, if ``==`` is too strict, as for sums of floats that round differently.

    Raises
    ------
    AssertionError
        With the violated law, and the elements that violate it.

    Examples
    --------
    >>> from tapeengine.sparse.monoids import Monoid, index_sets
    >>> from tapeengine.testing import check_monoid
    >>> check_monoid(index_sets(), [frozenset([1]), frozenset([1, 2]), frozenset()])
    >>> check_monoid(Monoid(0.0, 1.0, lambda x, y: x - y, lambda edge, x: x), [1.0, 2.0, 4.0])
    Traceback (most recent call last):
        ...
    AssertionError: zero is not neutral: add(zero, 1.0) is -1.0
    """
    same = equal or (lambda x, y: x == y)
    add, through, zero = monoid.add, monoid.through, monoid.zero
    edges = [Edge(name, partial, None) for name in ("mul", "numpy.sum") for partial in _PARTIALS]

    def hold(law: str, found: Any, expected: Any, what: str) -> None:
        if not same(found, expected):  # no assert statement: Python drops these with -O
            raise AssertionError(f"{law}: {what} is {found!r}" + f", not {expected!r}" * (law[:4] != "zero"))

    for x in elements:
        hold("zero is not neutral", add(zero, x), x, f"add(zero, {x!r})")
        hold("zero is not neutral", add(x, zero), x, f"add({x!r}, zero)")
        for y in elements:
            hold("add does not commute", add(x, y), add(y, x), f"add({x!r}, {y!r})")
            for edge in edges:
                both = add(through(edge, x), through(edge, y))
                hold("through does not keep sums", through(edge, add(x, y)), both, f"through {edge} of {x!r} + {y!r}")
            for z in elements:
                grouped = add(x, add(y, z))
                hold("add is not associative", add(add(x, y), z), grouped, f"({x!r} + {y!r}) + {z!r}")
    for edge in edges:
        hold("through does not keep zero", through(edge, zero), zero, f"through {edge} of zero")
