"""Dense linear types (EC Fig. 4), where a zero is as large as its type; and the size of cotangents."""

from __future__ import annotations

from typing import Any

from ..language.types import EV, LArray, Linear, LProduct, LSum
from .sparse import Sparse


class Dense(Sparse):
    """EC Fig. 4: products are tuples, environment vectors are mappings with every slot in them."""

    def zero_structure(self, of: Linear) -> Any:
        match of:
            case LProduct(items):
                return tuple(map(self.zero, items))
            case EV(slots):
                return {name: self.zero(item) for name, item in slots}
            case _:
                return {}

    def plus_structure(self, of: Linear, a: Any, b: Any) -> Any:
        match of:
            case LProduct(items):
                return tuple(map(self.plus, items, a, b))
            case EV(slots):
                return {name: self.plus(item, a[name], b[name]) for name, item in slots}
            case LArray(element):
                merged = dict(a)
                self.steps += len(a)
                for i, value in b.items():
                    merged[i] = self.plus(element, merged[i], value) if i in merged else value
                return merged
        raise TypeError(f"no sum for {of}")

    def proj(self, of: LProduct, a: Any, index: int) -> Any:
        return a[index]

    def entries(self, a: Any) -> list[tuple[int, Any]]:
        self.steps += len(a)
        return list(a.items()) if isinstance(a, dict) else a

    def from_entries(self, entries: list[tuple[int, Any]]) -> Any:
        if len({i for i, _ in entries}) == len(entries):
            return dict(entries)
        return entries

    def one(self, of: EV, slot: str, a: Any) -> Any:
        return {**self.zero(of), slot: a}

    def split(self, of: EV, slot: str, a: Any) -> tuple[Any, Any]:
        return {name: value for name, value in a.items() if name != slot}, a[slot]


# size (EC 4.3): one for each constructor that is there
def size(of: Linear, a: Any) -> int:
    """Give the size of a sparse cotangent, which is also its potential (EC 4.3)."""
    if a is None or not isinstance(of, LProduct | LSum):
        return 1
    if isinstance(of, LProduct):
        return 1 + sum(map(size, of.items, a))
    return 1 + size(of.options[a.option], a.payload)
