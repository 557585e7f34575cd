"""Sparse cotangents (EC section 4.1; section 7 for arrays).

    D[(s, t)]2 = 1 | (D[s]2, D[t]2)    0 = in0 ()    0 + y = y    x + 0 = x    (x1, x2) + (y1, y2) = (x1 + y1, x2 + y2)
    D[Array t]2 = Bag (Z, D[t]2)               Bag t = Empty | One t | Plus (Bag t) (Bag t) | All (Array t)

Here 0 takes constant time for every type. An addition visits the cells that both arguments have, and the result has
them once, so all additions together cost no more than making their arguments (EC 4.3, Fig. 7). A bag defers its
additions; collecting it costs no more than making it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from tapeengine.chad.types import Array, Product, Type
from tapeengine.ladder.chad.linear import Dense

__all__ = ["Sparse"]


class One(NamedTuple):
    """One element."""

    place: int
    d: Any


class Plus(NamedTuple):
    """Both bags."""

    left: Any
    right: Any


class All(NamedTuple):
    """A whole array (EC section 8.1)."""

    elements: tuple[Any, ...]


class Sparse(Dense):
    """The operations; None is the zero of products, and the empty bag."""

    def zero(self, of: Type) -> Any:
        """0."""
        if not isinstance(of, (Product, Array)):
            return super().zero(of)
        self.counts.step()
        return None

    def plus(self, of: Type, a: Any, b: Any) -> Any:
        """a + b."""
        if isinstance(of, Product) and (a is None or b is None):
            self.counts.step()
            return b if a is None else a
        return super().plus(of, a, b)

    def plus_array(self, element: Type, a: Any, b: Any) -> Any:
        """A bag with the content of both."""
        self.counts.step()
        return Plus(a, b)

    def part(self, of: Product, index: int, d: Any) -> Any:
        """``lfst d``, ``lsnd d``."""
        return self.zero(of.items[index]) if d is None else super().part(of, index, d)

    def at(self, element: Type, size: int, index: int, d: Any) -> Any:
        """A bag of one element."""
        self.counts.step()
        return One(range(size)[index], d)

    def copies(self, size: int, d: Any) -> Any:
        """A bag of all elements."""
        return All(super().copies(size, d))

    def collect(self, element: Type, size: int, d: Any) -> Any:
        """The elements that a bag represents."""
        elements, left = [self.zero(element) for _ in range(size)], [d]
        while left:
            self.counts.step()
            match left.pop():
                case One(place, part):
                    elements[place] = self.plus(element, elements[place], part)
                case Plus(one, other):
                    left += [other, one]
                case All(parts):
                    elements = [self.plus(element, *pair) for pair in zip(elements, parts, strict=True)]
        return tuple(elements)
