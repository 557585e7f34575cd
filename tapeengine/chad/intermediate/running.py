"""Functions that the text of a program calls when it runs."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np

from ..._core.programs.machine import scalar_function
from ...primitive import Primitive
from .operations import REAL, TRUTH, WHOLE
from .statements import ArrayOf, Group, Registered, Type, Var


def plus(a: Any, b: Any) -> Any:
    """Add two cotangents of boxes or of parts of them."""
    if a is None or b is None:
        return b if a is None else a
    if isinstance(a, tuple):
        return (a[0], *map(plus, a[1:], b[1:]))
    if isinstance(a, list):
        return list(map(plus, a, b))
    return operator.add(a, b)


def add_all(array: Any, value: Any) -> None:
    """Add an array into another one."""
    if value is None:
        return
    for i, x in enumerate(value):
        if isinstance(x, list | np.ndarray):
            add_all(array[i], x)
        else:
            array[i] = plus(array[i], x)


def zeros_like(x: Any) -> Any:
    """Zeros of the shape of an array."""
    if isinstance(x, tuple):
        return None
    if isinstance(x, list):
        return [zeros_like(y) for y in x]
    return np.zeros(x.shape) if isinstance(x, np.ndarray) else 0.0


def registered(
    primitive: Primitive,
    rule: str,
    argument: int,
    groups: Sequence[Any],
    outs: Sequence[str],
    static: Mapping[str, Any],
) -> Callable[..., list[Any]]:
    """Make a function of leaves from a registry primitive or one of its rules, for printed derivatives."""
    made = tuple(Var("", leaf_of(x)) for x in outs)
    s = Registered(made, primitive.name, rule, argument, (), tuple(map(group_of, groups)), tuple(static.items()))
    return lambda *leaves: call_registered({primitive.name: primitive}, s, leaves)


def group_of(items: Any) -> Group:
    """Give the group for a tuple of tuples."""
    return Group(None if items is None else tuple(map(group_of, items)))


def leaf_of(kind: str) -> Type:
    """Give the type for the name of a kind and a number of dimensions."""
    scalar = {"real": REAL, "whole": WHOLE, "truth": TRUTH}[kind.rstrip("0123456789")]
    rank = kind.lstrip("abcdefghijklmnopqrstuvwxyz")
    return ArrayOf(scalar, int(rank)) if rank else scalar


def call_registered(table: Mapping[str, Primitive], s: Registered, leaves: Sequence[Any]) -> list[Any]:
    """Call a registry primitive or one of its rules; return the leaves of the result as plain Python values."""
    found = zip(on_arrays(table, s)(leaves), s.outs, strict=True)
    return [x.tolist() if isinstance(v.type, ArrayOf) and v.type.rank == 1 else x for x, v in found]


def on_arrays(table: Mapping[str, Primitive], s: Registered) -> Callable[[Sequence[Any]], list[Any]]:
    """Give a primitive of the registry, or a rule, as a function of leaves with numpy arrays among its results."""
    run, fit = on_leaves(table, s), fitting(s.outs)
    return lambda leaves: fit(run(leaves))


def on_leaves(table: Mapping[str, Primitive], s: Registered) -> Callable[[Sequence[Any]], Any]:
    """Give a primitive of the registry, or a rule, as a function of leaves."""
    run = on_values(table[s.name], s)
    if all(g.items is None for g in s.groups):
        return lambda leaves: run(*[np.array(x) if isinstance(x, list) else x for x in leaves])

    def grouping(leaves: Sequence[Any]) -> Any:
        given = iter(leaves)
        return run(*[grouped(g, given) for g in s.groups])

    return grouping


def on_values(primitive: Primitive, s: Registered) -> Callable[..., Any]:
    """Give a primitive of the registry, or a rule, as a function of the values of its arguments."""
    if s.name != primitive.name:
        return lambda *values: by_kernel(primitive.kernel, s.rule, s.argument, values)
    static = {**primitive.static_defaults, **dict(s.static)}
    if s.rule == "value":
        return partial(primitive.primal, **static)
    rules = primitive.vjp_rules if s.rule == "vjp" else primitive.jvp_rules
    rule = rules[0 if primitive.variadic else s.argument]
    if rule is None:
        return lambda d, *args: tuple(
            [np.zeros(np.shape(x)) for x in parts(args[s.argument if s.rule == "vjp" else -1])]
        )
    return lambda d, *args: rule(d, rule.keep(args[:-1], static, args[-1], s.argument))


def by_kernel(kernel: Any, rule: str, argument: int, values: Sequence[Any]) -> Any:
    """Call a primitive's kernel, or the partial derivative of one argument times a cotangent or tangent."""
    if rule == "value":
        return of_each(kernel, kernel.value, values)
    d, *args, _ = values
    return d * of_each(kernel, kernel.partials[argument], args)


def of_each(kernel: Any, address: int, args: Sequence[Any]) -> Any:
    """Apply a C function of one or two numbers to numbers, or to all elements of arrays."""
    like: Any = SimpleNamespace(kernel=kernel._replace(value=address))
    one = scalar_function(like)
    found = np.frompyfunc(one, kernel.arity, 1)(*args)
    return found.astype(float) if isinstance(found, np.ndarray) else found


def grouped(group: Group, leaves: Iterator[Any]) -> Any:
    """Build a value from leaves."""
    if group.items is not None:
        return tuple([grouped(g, leaves) for g in group.items])
    leaf = next(leaves)
    return np.array(leaf) if isinstance(leaf, list) else leaf


def parts(value: Any) -> list[Any]:
    """Give the leaves of a value."""
    return [x for v in value for x in parts(v)] if isinstance(value, tuple | list) else [value]


def fitting(outs: Sequence[Var]) -> Callable[[Any], list[Any]]:
    """Give a function that gives the leaves of a value in the types of the intermediate form."""
    kinds = [LEAVES.get(v.type, np.asarray) for v in outs]
    if len(kinds) == 1:
        return lambda value: [kinds[0](value if not isinstance(value, tuple | list) else one(parts(value)))]
    return lambda value: [kind(x) for kind, x in zip(kinds, parts(value), strict=True)]


def one(values: Sequence[Any]) -> Any:
    """Give the only one of some values."""
    (found,) = values
    return found


#: How leaves that are numbers are made of the numbers that primitives give.
LEAVES: Mapping[Type, Callable[[Any], Any]] = {REAL: float, TRUTH: bool, WHOLE: int}
