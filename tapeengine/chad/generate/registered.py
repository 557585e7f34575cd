"""What generated programs call of the registry: a primitive's value and its vjp rules, on floats and numpy arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from tapeengine.primitive import Primitive, Rule

__all__ = ["called", "identifier", "vjp_identifier"]


def identifier(name: str) -> str:
    """Give the name under which a generated program knows a primitive.

    Examples
    --------
    >>> identifier("numpy.linalg.solve")
    'numpy_linalg_solve'
    """
    return name.replace(".", "_")


def vjp_identifier(primitive: Primitive, argument: int) -> str:
    """Give the name under which a generated program knows the vjp rule of an argument."""
    which = primitive.args[0] if primitive.variadic else primitive.args[argument]
    return f"{identifier(primitive.name)}_vjp_{which}"


def called(primitives: Mapping[str, Primitive]) -> dict[str, Callable[..., Any]]:
    """Give the functions of some primitives that a generated program may call, by their names in it."""
    found: dict[str, Callable[..., Any]] = {}
    for primitive in primitives.values():
        found[identifier(primitive.name)] = value(primitive)
        for argument, rule in enumerate(primitive.vjp_rules):
            if rule is not None:
                found[vjp_identifier(primitive, argument)] = vjp(primitive, rule, argument)
    return found


def value(primitive: Primitive) -> Callable[..., Any]:
    """Make the function that computes a primitive."""

    def compute(*args: Any, **static: Any) -> Any:
        return plain(primitive.primal(*args, **{**primitive.static_defaults, **static}))

    return compute


def vjp(primitive: Primitive, rule: Rule, argument: int) -> Callable[..., Any]:
    """Make the function that applies a vjp rule to a cotangent and to what the rule keeps beside static parameters."""

    def transposed(ct: Any, *kept: Any, index: int = argument, **static: Any) -> Any:
        statics = {**primitive.static_defaults, **static}
        return plain(rule.function(ct, *_given(rule, iter(kept), statics, index)))

    return transposed


def _given(rule: Rule, kept: Iterator[Any], static: Mapping[str, Any], index: int) -> Iterator[Any]:
    for kind, key in rule.needs:
        match kind:
            case "static":
                yield static[key]
            case "index":
                yield index
            case "all" | "all_spaces":
                yield tuple(kept)
            case _:
                yield next(kept)


def plain(value: Any) -> Any:
    """Convert what a primitive gives: floats, ints and bools; arrays of them; tuples of these."""
    if type(value) is float or (type(value) is np.ndarray and value.ndim and value.dtype == np.float64):
        return value
    if isinstance(value, tuple | list):
        return tuple(map(plain, value))
    array = np.asarray(value)
    if not array.ndim:
        return array.item()
    return array.astype({"f": np.float64, "i": np.int64, "u": np.int64}.get(array.dtype.kind, array.dtype))
