"""Cotangents: the interface of the linear types (EC Fig. 3) and its dense implementation (EC Fig. 4).

    D[R]2 = R    D[Z]2 = 1    D[(s, t)]2 = (D[s]2, D[t]2)    D[s | t]2 = 1 | D[s]2 | D[t]2
    D[s -> t]2 = [(D[s]1, D[t]2)]

    zero : t                    plus : t -> t -> t
    part i : (t1, ..., tn) -> ti        hot i : ti -> (t1, ..., tn)        (lfst, lsnd, <d, 0>, <0, d>)
    cast i : t1 | ... | tn -> ti        inject i : ti -> t1 | ... | tn     (lcastl, lcastr, linl, linr)
    at, element, copies: the cotangents of arrays (EC section 7)

A dense zero of a product is as large as the type, so each use of ``fst x`` costs as much as x has components. The
cotangent of a function is a copower: a list of its calls, each with its arguments and the cotangent of its result
(CHAD 9.2).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tapeengine.chad.types import Array, Float, Function, Named, Product, Sum, Type
from tapeengine.ladder.counts import Counts
from tapeengine.ladder.target import Tagged

__all__ = ["Dense"]


class Dense:
    """The operations; they count cells. The zero of an array of any length is (), that of a sum is None."""

    def __init__(self, types: Mapping[str, Sum], counts: Counts) -> None:
        self.types = types
        self.counts = counts

    def zero(self, of: Type) -> Any:
        """0."""
        self.counts.step()
        match of:
            case Float():
                return 0.0
            case Product(items):
                return tuple(map(self.zero, items))
            case Sum() | Named():
                return None
        return ()

    def plus(self, of: Type, a: Any, b: Any) -> Any:
        """a + b."""
        match of:
            case Float():
                self.counts.additions += 1
                return a + b
            case Product(items):
                self.counts.step()
                return tuple(map(self.plus, items, a, b))
            case Sum() | Named():
                return self.plus_sum(of, a, b)
            case Array(element):
                return self.plus_array(element, a, b)
            case Function():
                self.counts.step(len(a) + 1)
                return a + b
        self.counts.step()
        return ()

    def plus_sum(self, of: Type, a: Any, b: Any) -> Any:
        """Add two cotangents of one value, which have the same option as that value."""
        self.counts.step()
        if a is None or b is None:
            return b if a is None else a
        return Tagged(a.index, self.plus(self.option(of, a.index), a.payload, b.payload))

    def plus_array(self, element: Type, a: Any, b: Any) -> Any:
        """Element by element."""
        self.counts.step()
        return tuple(self.plus(element, x, y) for x, y in zip(a, b, strict=True)) if a and b else a or b

    def option(self, of: Type, index: int) -> Type:
        """The type of one option of a sum."""
        whole = self.types[of.name] if isinstance(of, Named) else of
        assert isinstance(whole, Sum)
        return whole.options[index]

    def part(self, of: Product, index: int, d: Any) -> Any:
        """``lfst d``, ``lsnd d``."""
        self.counts.step()
        return d[index]

    def hot(self, of: Product, index: int, d: Any) -> Any:
        """``<d, 0>``, ``<0, d>``."""
        self.counts.step()
        return tuple(d if k == index else self.zero(item) for k, item in enumerate(of.items))

    def cast(self, of: Type, index: int, d: Any) -> Any:
        """``lcastl d``, ``lcastr d``."""
        self.counts.step()
        return self.zero(self.option(of, index)) if d is None else d.payload

    def inject(self, index: int, d: Any) -> Tagged:
        """``linl d``, ``linr d``."""
        self.counts.step()
        return Tagged(index, d)

    def at(self, element: Type, size: int, index: int, d: Any) -> Any:
        """An array with one element, and zeros elsewhere."""
        self.counts.step()
        place = range(size)[index]
        return tuple(d if k == place else self.zero(element) for k in range(size))

    def copies(self, size: int, d: Any) -> Any:
        """An array of equal elements."""
        self.counts.step(size)
        return (d,) * size

    def collect(self, element: Type, size: int, d: Any) -> Any:
        """All elements of an array."""
        return d or tuple(self.zero(element) for _ in range(size))
