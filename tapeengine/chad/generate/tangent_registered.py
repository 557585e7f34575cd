"""Registry primitives in the tangent function: each argument's jvp rule, on what the rule names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from tapeengine.chad.generate.registered import called, identifier, vjp
from tapeengine.chad.generate.reverse_registered import keeps
from tapeengine.chad.imperative import Assign, Operand, Ref
from tapeengine.primitive import Primitive

if TYPE_CHECKING:
    from tapeengine.chad.generate.tangent import Tangent

__all__ = ["RULES", "called_with_jvp", "jvp_identifier"]


def jvp_identifier(primitive: Primitive, argument: int) -> str:
    """Give the name under which a generated program knows the jvp rule of an argument."""
    which = primitive.args[0] if primitive.variadic else primitive.args[argument]
    return f"{identifier(primitive.name)}_jvp_{which}"


def called_with_jvp(primitives: Mapping[str, Primitive]) -> dict[str, Callable[..., Any]]:
    """Give the functions of some primitives that a tangent function may call, by their names in it."""
    found = called(primitives)
    for primitive in primitives.values():
        for argument, rule in enumerate(primitive.jvp_rules):
            if rule is not None:
                found[jvp_identifier(primitive, argument)] = vjp(primitive, rule, argument)
    return found


# D[p(x1, ..., xn)]: the sum of the jvp rules of p, each applied to the tangent of its argument
def primitive(T: Tangent, s: Assign) -> Operand | None:
    name, static = str(s.params[0]), s.params[1]
    found = T.primitives[name]
    parts: list[Ref] = []
    for k, x in enumerate(s.args):
        rule = found.jvp_rules[0 if found.variadic else k]
        if rule is not None and T.of(x) is not None:
            given = (T.whole(x), *keeps(T, rule, s))
            parts.append(T.b.emit("jvp", given, (name, static, k), axes=s.out.axes, kind=s.out.kind))
    if s.out.kind == "tuple":
        T.tuples[s.out.name] = parts
        return None
    return T.total(parts)


# D[fst t], D[snd t], ...: the part of each contribution to the tangent of a tuple
def part(T: Tangent, s: Assign) -> Operand | None:
    (whole,) = s.args
    assert isinstance(whole, Ref)
    parts = [T.b.emit("part", (x,), s.params, axes=s.out.axes, kind=s.out.kind) for x in T.tuples.get(whole.name, ())]
    if s.out.kind == "tuple":
        T.tuples[s.out.name] = parts
        return None
    return T.total(parts)


RULES: Mapping[str, Callable[[Any, Assign], Operand | None]] = MappingProxyType({"primitive": primitive, "part": part})
