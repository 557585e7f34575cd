"""A short way into programs of scalars: for floats in tuples and dataclasses the conversion is generated as well.

The general way (`boundary`) goes through the types at each call, which takes longer than a small scalar program itself.
What does not fit exactly returns None, and goes the general way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tapeengine.chad.types import Bool, Float, Int, Product, Type, is_discrete

__all__ = ["entry"]


class Entry:
    """Writes the text of an entry."""

    def __init__(self, classes: Mapping[str, type]) -> None:
        self.classes = classes
        self.namespace: dict[str, Any] = {}
        self.lines: list[str] = []
        self.count = 0

    def fresh(self) -> str:
        """Give a new name."""
        self.count += 1
        return f"x{self.count}"

    def cls(self, name: str) -> str:
        """Give the name under which the text knows a class."""
        key = f"class_{list(self.classes).index(name)}"
        self.namespace[key] = self.classes[name]
        return key

    def apart(self, of: Type, name: str, depth: str, at_misfit: str) -> list[str]:
        """Write what takes a value apart; give the names of its leaves."""
        if isinstance(of, Product):
            kind = self.cls(of.name) if of.name else "tuple"
            parts = [self.fresh() for _ in of.items]
            length = "" if of.name else f" or len({name}) != {len(parts)}"
            self.lines.append(f"{depth}if type({name}) is not {kind}{length}: {at_misfit}")
            if of.name:
                self.lines += [f"{depth}{p} = {name}.{f}" for p, f in zip(parts, of.fields, strict=True)]
            elif parts:
                self.lines.append(f"{depth}{', '.join(parts)}, = {name}")
            each = zip(of.items, parts, strict=True)
            return [leaf for t, p in each for leaf in self.apart(t, p, depth, at_misfit)]
        self.lines.append(f"{depth}if type({name}) is not {type(of).__name__.lower()}: {at_misfit}")
        return [name]

    def together(self, of: Type, leaves: Any, discrete: bool) -> str:
        """Write what puts leaves together again; discrete leaves may have to be None."""
        if discrete and is_discrete(of):
            for _ in range(count(of)):
                next(leaves)
            return "None"
        if isinstance(of, Product):
            parts = ", ".join(self.together(t, leaves, discrete) for t in of.items)
            return f"{self.cls(of.name)}({parts})" if of.name else f"({parts},)" if parts else "None"
        return str(next(leaves))


def count(of: Type) -> int:
    """Count the leaves of a type."""
    return sum(map(count, of.items)) if isinstance(of, Product) else 1


def fits(of: Type, is_result: bool = False) -> bool:
    """Tell whether a type has a short way in: products of scalars, with nothing but floats in a result."""
    if isinstance(of, Product):
        return bool(of.items) and all(fits(t, is_result) for t in of.items)
    return isinstance(of, Float) or (not is_result and isinstance(of, Int | Bool))


def entry(
    params: Sequence[Type], result: Type, classes: Mapping[str, type], passes: Mapping[str, Any]
) -> Callable[..., Any] | None:
    """Make the short way into a program; None for a program that has none.

    Parameters
    ----------
    params : sequence of Type
    result : Type
    classes : mapping of str to type
    passes : mapping of str to object
        ``forward``, ``reverse``, and ``general(primals)``, which goes the general way.
    """
    if not all(fits(p) for p in params) or not fits(result, is_result=True):
        return None
    e = Entry(classes)
    names = [e.fresh() for _ in params]
    leaves = [x for of, n in zip(params, names, strict=True) for x in e.apart(of, n, "    ", "return None")]
    results = [e.fresh() for _ in range(count(result))]
    e.lines += [
        "    try:",
        f"        ({', '.join(results)},), residuals = forward({', '.join(leaves)})",
        "    except poles:",
        "        return None",
        f"    if not isfinite({' + '.join(results)}):",
        "        return None",
        "    def backpropagator(ct):",
    ]
    again = f"return general(({', '.join(names)},))[1](ct)"
    given = e.apart(result, "ct", "        ", again)
    found = [e.fresh() for _ in leaves]
    gave = [e.together(p, names_left, True) for p, names_left in _with(params, iter(found))]
    e.lines += [
        "        try:",
        f"            {', '.join(found)}, = reverse(residuals, {', '.join(given)})",
        "        except poles:",
        f"            {again}",
        f"        if not isfinite({' + '.join(found)}):",
        f"            {again}",
        f"        return ({', '.join(gave)},)",
        f"    return {e.together(result, iter(results), False)}, backpropagator",
    ]
    text = "\n".join([f"def enter({', '.join(names)}):", *e.lines, ""])
    namespace = {**e.namespace, **passes}
    exec(compile(text, "<entry>", "exec"), namespace)
    made: Callable[..., Any] = namespace["enter"]
    return made


def _with(params: Sequence[Type], leaves: Any) -> list[tuple[Type, Any]]:
    return [(p, leaves) for p in params]
