"""Functions with rules of their own, and steps of `iterate`, that change a container that they are given: refused."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapeengine as te
from tapeengine.errors import DroppedDerivativeError


@dataclasses.dataclass
class Pair:
    a: Any
    b: Any


def doubled_item(xs: Any) -> Any:
    xs[0] = xs[0] * 2.0
    return xs


def appended(xs: Any) -> Any:
    xs.append(xs[-1] * 2.0)
    return xs


def removed(xs: Any) -> Any:
    xs.pop()
    return xs


def doubled_value(d: Any) -> Any:
    d["a"] = d["a"] * 2.0
    return d


def added_key(d: Any) -> Any:
    d["c"] = d["a"]
    return d


def doubled_attribute(p: Any) -> Any:
    p.a = p.a * 2.0
    return p


def inner(xs: Any) -> Any:
    xs[0][0] = xs[0][0] * 2.0
    return xs


CHANGES: list[tuple[Callable[[Any], Any], Callable[[Any], Any]]] = [
    *((change, lambda x: [x, x]) for change in (doubled_item, appended, removed)),
    *((change, lambda x: {"a": x, "b": x}) for change in (doubled_value, added_key)),
    (doubled_attribute, lambda x: Pair(x, x)),
    (inner, lambda x: [[x], x]),
]


def leaves(value: Any) -> list[Any]:
    value = dataclasses.astuple(value) if isinstance(value, Pair) else value
    value = list(value.values()) if isinstance(value, dict) else value
    return [leaf for part in value for leaf in leaves(part)] if isinstance(value, (list, tuple)) else [value]


def by_reverse_rule(f: Callable[[Any], Any], value: Any) -> Any:
    called = te.custom_vjp(f)
    called.defvjp(lambda v: (f(v), None), lambda _, ct: (ct,))
    return called(value)


def by_forward_rule(f: Callable[[Any], Any], value: Any) -> Any:
    called = te.custom_jvp(f)
    called.defjvp(lambda primals, tangents: (f(primals[0]), tangents[0]))
    return called(value)


WAYS: dict[str, Callable[[Callable[[Any], Any], Any], Any]] = {
    "custom_vjp": by_reverse_rule,
    "custom_jvp": by_forward_rule,
    "iterate": lambda f, value: te.iterate(f, 1, value),
}


@pytest.mark.parametrize("primal", [1.5, np.array([1.5, 2.0])], ids=("number", "array"))
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("change", "made"), CHANGES, ids=lambda f: f.__name__)
def test_changes_are_refused(change: Callable[[Any], Any], made: Callable[[Any], Any], way: str, primal: Any) -> None:
    def program(x: Any) -> Any:
        value = made(x)
        found = WAYS[way](change, value)
        return sum(np.sum(leaf) for leaf in (*leaves(found), *leaves(value)))

    for run in (te.vjp, lambda f, x: te.jvp(f, (x,), (x,))):
        with pytest.raises(DroppedDerivativeError, match="writes into"):
            run(program, primal)


@pytest.mark.parametrize("way", ["custom_vjp", "custom_jvp", "iterate"])
def test_containers_that_are_left_alone(way: str) -> None:
    for value in ([1.0, np.ones(2), np.ones(0), "text"], {"a": (1.0, 2)}, Pair(1.0, [np.ones((0, 2)), None])):
        te.vjp(lambda v: WAYS[way](lambda w: w if way == "iterate" else [leaves(w)[0]], v), value)
