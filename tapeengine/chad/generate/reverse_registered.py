"""Registry primitives in the reverse pass: each argument's vjp rule, on what the rule names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from tapeengine.chad.imperative import Assign, Operand, Ref
from tapeengine.primitive import Rule

if TYPE_CHECKING:
    from tapeengine.chad.generate.reverse import Reverse
    from tapeengine.chad.generate.tangent import Tangent

__all__ = ["RULES", "keeps"]


# D[p(x1, ..., xn)]: the rules of p, applied to the cotangent
def primitive(R: Reverse, s: Assign, ct: Operand) -> None:
    name, static = s.params[0], s.params[1]
    found = R.primitives[str(name)]
    whole = R.full(ct, s.out) if s.out.kind == "float" else ct
    for k, x in enumerate(s.args):
        rule = found.vjp_rules[0 if found.variadic else k]
        if rule is not None and isinstance(x, Ref) and x.name in R.active:
            kept = tuple(keeps(R, rule, s))
            R.one(x, R.b.emit("vjp", (whole, *kept), (name, static, k), axes=x.axes, kind="float"))


def keeps(R: Reverse | Tangent, rule: Rule, s: Assign) -> Iterator[Operand]:
    """Give what a rule keeps of a call, but for what is known when the text is written."""
    for kind, key in rule.needs:
        match kind:
            case "arg":
                yield s.args[key]
            case "out":
                yield s.out
            case "all":
                yield from s.args
            case "space":
                yield space(R, s.args[key])
            case "all_spaces":
                yield from (space(R, x) for x in s.args)
            case "out_space":
                yield space(R, s.out)


def space(R: Reverse | Tangent, x: Operand) -> Ref:
    """Give the space of a value; that of an argument was written down in the forward pass."""
    return R.b.emit("space", (x,), (), axes=(), kind="space")


# D[fst t], D[snd t], ...: the cotangent of a tuple, part by part
def part(R: Reverse, s: Assign, ct: Operand) -> None:
    (whole,) = s.args
    assert isinstance(whole, Ref)
    R.parts.setdefault(whole.name, {})[int(str(s.params[0]))] = R.full(ct, s.out) if s.out.kind == "float" else ct


def together(R: Reverse, whole: Ref) -> Operand | None:
    """Put the cotangent of a tuple together from those of its parts; the others are zero."""
    parts = R.parts.pop(whole.name, None)
    if not parts:
        return None
    places = tuple(sorted(parts))
    return R.b.emit("cotangents", (whole, *(parts[i] for i in places)), places, axes=(), kind="tuple")


RULES: Mapping[str, Callable[..., Any]] = MappingProxyType({"primitive": primitive, "part": part})
