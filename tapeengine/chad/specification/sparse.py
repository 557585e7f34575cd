"""Values of linear types: the interface of EC Fig. 3 on sparse values (EC 4.1 and section 7).

The zero of every type takes constant time, sums visit only the parts that both sides have, and the cotangent of an
array is a bag. Steps are counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...errors import TapeEngineError
from ..language.derivative_types import cotangent
from ..language.types import EV, Copower, LArray, LFunction, Linear, LNamed, LProduct, LReal, LSum, LUnit, Sum
from ..language.values import Tagged


class Sparse:
    """Operations on values of linear types (EC Fig. 3), here on sparse ones (EC 4.1).

    Values: a float for `LReal`, ``()`` for `LUnit`, a list of logged calls for `Copower`, a callable for `LFunction`, a
    `Tagged` or None (zero) for `LSum`. Those of products, arrays and environment vectors are up to subclasses. Here
    None is the zero of every product and array, an environment vector contains used slots only, and an array is a bag
    (EC section 7): ("plus", bag, bag) or ("entries", list of (index, value)).

    Attributes
    ----------
    steps : int
        The steps taken so far, in the cost model of EC appendix C.
    """

    def __init__(self, types: Mapping[str, Sum] | None = None) -> None:
        self.steps = 0
        self.types = types or {}

    def zero(self, of: Linear) -> Any:
        """Give the zero of a type."""
        self.steps += 1
        match of:
            case LReal():
                return 0.0
            case LUnit():
                return ()
            case Copower():
                return []
            case LFunction(_, result):
                return lambda *_: self.zero(result)
            case LSum() | LNamed():
                return None
        return self.zero_structure(of)

    def plus(self, of: Linear, a: Any, b: Any) -> Any:
        """Add two values of a type."""
        self.steps += 1
        match of:
            case LReal() | Copower():
                return a + b
            case LUnit():
                return ()
            case LFunction(_, result):
                return lambda *xs: self.plus(result, a(*xs), b(*xs))
            case LSum() | LNamed():
                return self.plus_sum(of, a, b)
        return self.plus_structure(of, a, b)

    def plus_sum(self, of: LSum | LNamed, a: Any, b: Any) -> Any:
        """Add cotangents of a sum, which must belong to one option unless one of them is zero."""
        if a is None or b is None:
            return a if b is None else b
        if a.option != b.option:
            raise TapeEngineError("two cotangents of one sum belong to different options")
        return Tagged(a.option, self.plus(self.option(of, a.option), a.payload, b.payload))

    def option(self, of: LSum | LNamed, index: int) -> Linear:
        """Give the type of an option of a sum."""
        if isinstance(of, LSum):
            return of.options[index]
        return cotangent(self.types[of.name].options[index])

    def cast(self, index: int, of: Linear, a: Any) -> Any:
        """Give the payload of a cotangent of a sum, which must belong to the option `index`."""
        if a is None:
            return self.zero(of)
        if a.option != index:
            raise TapeEngineError("a cotangent of a sum belongs to another option than its primal")
        return a.payload

    def scale(self, a: float, factor: float) -> float:
        """Multiply; zero gives zero for every factor, because the map is linear."""
        return 0.0 if a == 0 else a * factor

    def total(self, of: LArray, a: Any, index: int | None = None) -> Any:
        """Add the components of an array, or those at one index."""
        result = self.zero(of.element)
        for i, value in self.entries(a):
            if index is None or i == index:
                result = self.plus(of.element, result, value)
        return result

    def collect(self, of: LArray, a: Any, size: int) -> list[Any]:
        """Give all components of an array; negative indices count from its end."""
        result = [self.zero(of.element) for _ in range(size)]
        for i, value in self.entries(a):
            result[i] = self.plus(of.element, result[i], value)
        return result

    def zero_structure(self, of: Linear) -> Any:
        """Give the zero of a product, an array or an environment vector."""
        return {} if isinstance(of, EV) else None

    def plus_structure(self, of: Linear, a: Any, b: Any) -> Any:
        """Add two products, arrays or environment vectors."""
        if isinstance(of, EV):
            return self.union(of, a, b)
        if a is None or b is None:
            return a if b is None else b
        if isinstance(of, LProduct):
            return tuple(map(self.plus, of.items, a, b))
        return ("plus", a, b)

    def union(self, of: EV, a: dict[str, Any], b: dict[str, Any]) -> dict[str, Any]:
        """Merge two environment vectors, at the cost of the smaller one: the union of EC appendix A."""
        small, large = (a, b) if len(a) < len(b) else (b, a)
        merged = dict(large)
        types = dict(of.slots)
        self.steps += len(small)
        for name, value in small.items():
            merged[name] = self.plus(types[name], merged[name], value) if name in merged else value
        return merged

    def proj(self, of: LProduct, a: Any, index: int) -> Any:
        """Give a component of a product."""
        return self.zero(of.items[index]) if a is None else a[index]

    def entries(self, a: Any) -> list[tuple[int, Any]]:
        """Give the indices and components of an array; an index may occur several times."""
        found: list[tuple[int, Any]] = []
        pending = [a]
        while pending:
            bag = pending.pop()
            self.steps += 1
            if bag is None:
                continue
            if bag[0] == "plus":
                pending += [bag[2], bag[1]]
            else:
                found += bag[1]
        self.steps += len(found)
        return found

    def from_entries(self, entries: list[tuple[int, Any]]) -> Any:
        """Make an array from indices and components."""
        return ("entries", entries)

    def one(self, of: EV, slot: str, a: Any) -> Any:
        """Make an environment vector with one cotangent in it."""
        return {slot: a}

    def split(self, of: EV, slot: str, a: Any) -> tuple[Any, Any]:
        """Split an environment vector into the rest and the cotangent in a slot."""
        rest = {name: value for name, value in a.items() if name != slot}
        return rest, a[slot] if slot in a else self.zero(dict(of.slots)[slot])
