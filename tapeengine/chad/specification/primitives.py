"""Registry primitives and their rules on the evaluator's values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy

from ...primitive import Primitive
from ..language.target import Jvp, Vjp
from ..language.terms import Primitive as PrimitiveTerm
from ..language.types import BOOL, FLOAT, Array, LArray, Linear, LProduct, LReal, Product, Type
from .sparse import Sparse


def primal(table: Mapping[str, Primitive], t: PrimitiveTerm, *args: Any) -> Any:
    """Compute the value of a primitive."""
    primitive = table[t.name]
    given = [outward(a.type, x) for a, x in zip(t.args, args, strict=True)]
    return inward(t.of, primitive.primal(*given, **{**primitive.static_defaults, **dict(t.static)}))


def linear_map(table: Mapping[str, Primitive], t: Vjp | Jvp, values: Sparse, d: Any, *args: Any) -> Any:
    """Apply the vjp rule of one argument to a cotangent, or its jvp rule to a tangent, given arguments and result."""
    primitive = table[t.name]
    rules = primitive.vjp_rules if isinstance(t, Vjp) else primitive.jvp_rules
    rule = rules[0 if primitive.variadic else t.argument]
    if rule is None:
        return values.zero(t.of)
    given = [outward(a.type, x) for a, x in zip(t.args, args[:-1], strict=True)]
    output = outward(t.out.type, args[-1])
    static = {**primitive.static_defaults, **dict(t.static)}
    dense = dense_like(values, t.term.type, d, output if isinstance(t, Vjp) else given[t.argument])
    return sparse(values, t.of, rule(dense, rule.keep(given, static, output, t.argument)))


def outward(of: Type, value: Any) -> Any:
    """Convert the evaluator's value to numpy's."""
    if isinstance(of, Product):
        return tuple(map(outward, of.items, value))
    return numpy.array(value) if isinstance(of, Array) else value


def inward(of: Type, value: Any) -> Any:
    """Convert numpy's value to the evaluator's."""
    if isinstance(of, Product):
        return tuple(map(inward, of.items, value))
    if isinstance(of, Array):
        return numpy.asarray(value).tolist()
    return float(value) if of == FLOAT else bool(value) if of == BOOL else int(value)


def dense_like(linear: Sparse, of: Type, ct: Any, primal: Any) -> Any:
    """Convert a linear value to numpy's, in the shape of its primal."""
    match of:
        case LProduct(items):
            return tuple(dense_like(linear, t, linear.proj(of, ct, i), primal[i]) for i, t in enumerate(items))
        case LArray(element):
            parts = linear.collect(of, ct, len(primal))
            each = zip(parts, primal, strict=True)
            return numpy.array([dense_like(linear, element, d, x) for d, x in each], dtype=float).reshape(primal.shape)
        case LReal():
            return float(ct)
    return ct


def sparse(linear: Sparse, of: Linear, value: Any) -> Any:
    """Convert numpy's value to a linear one."""
    match of:
        case LProduct(items):
            return tuple(sparse(linear, t, v) for t, v in zip(items, value, strict=True))
        case LArray(element):
            return linear.from_entries([(i, sparse(linear, element, v)) for i, v in enumerate(value)])
        case LReal():
            return float(value)
    return linear.zero(of)
