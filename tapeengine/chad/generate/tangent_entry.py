"""A short way into tangent functions of scalars, as `entry` is into the passes of a reverse derivative."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tapeengine.chad.generate.entry import Entry, count, fits
from tapeengine.chad.types import Product, Type, is_discrete

__all__ = ["tangent_entry"]


def tangent_entry(
    params: Sequence[Type], result: Type, classes: Mapping[str, type], known: Mapping[str, Any]
) -> Callable[[Any, Any], Any] | None:
    """Make the short way into a tangent function; None for a program that has none.

    Parameters
    ----------
    params : sequence of Type
    result : Type
    classes : mapping of str to type
    known : mapping of str to object
        ``tangent``, the function; ``isfinite``; ``poles``, the exceptions after which another function is to be run.

    Returns
    -------
    callable or None
        ``enter(primals, tangents)`` gives the value and its tangent, or None for what does not fit exactly.
    """
    if not params or not all(map(fits, params)) or not fits(result, is_result=True):
        return None
    e = Entry(classes)
    names, given = [e.fresh() for _ in params], [e.fresh() for _ in params]
    e.lines += [
        f"    if len(primals) != {len(params)} or len(tangents) != {len(params)}: return None",
        f"    {', '.join(names)}, = primals",
        f"    {', '.join(given)}, = tangents",
    ]
    leaves = [x for of, n in zip(params, names, strict=True) for x in e.apart(of, n, "    ", "return None")]
    leaves += [x for of, n in zip(params, given, strict=True) for x in real(e, of, n)]
    e.lines += run(e, result, leaves)
    text = "\n".join(["def enter(primals, tangents):", *e.lines, ""])
    namespace = {**e.namespace, **known}
    exec(compile(text, "<entry>", "exec"), namespace)
    made: Callable[[Any, Any], Any] = namespace["enter"]
    return made


def real(e: Entry, of: Type, name: str) -> list[str]:
    """Write what takes a tangent apart: its discrete parts, which are None, are not looked at."""
    if is_discrete(of):
        return []
    if not isinstance(of, Product):
        return e.apart(of, name, "    ", "return None")
    kind = e.cls(of.name) if of.name else "tuple"
    parts = [e.fresh() for _ in of.items]
    e.lines.append(
        f"    if type({name}) is not {kind}" + ("" if of.name else f" or len({name}) != {len(parts)}") + ": return None"
    )
    fields = [f"{name}.{f}" for f in of.fields] if of.name else [f"{name}[{i}]" for i in range(len(parts))]
    e.lines += [f"    {p} = {f}" for p, f in zip(parts, fields, strict=True)]
    return [leaf for t, p in zip(of.items, parts, strict=True) for leaf in real(e, t, p)]


def run(e: Entry, result: Type, leaves: Sequence[str]) -> list[str]:
    """Write the call and what puts its results together."""
    values, tangents = ([e.fresh() for _ in range(count(result))] for _ in range(2))
    return [
        "    try:",
        f"        ({', '.join(values)},), ({', '.join(tangents)},) = tangent({', '.join(leaves)})",
        "    except poles:",
        "        return None",
        f"    if not isfinite({' + '.join([*values, *tangents])}):",
        "        return None",
        f"    return {e.together(result, iter(values), False)}, {e.together(result, iter(tangents), False)}",
    ]
