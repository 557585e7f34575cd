"""Items of dicts, and attributes, belong together by their names, in whatever order a program or a rule gives them."""

import collections
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tapeengine as te
from tapeengine.errors import CotangentError, StructureError

#: What holds two values by name, in the order of the keyword arguments.
HOLDERS: dict[str, Callable[..., Any]] = {
    "dict": dict,
    "OrderedDict": collections.OrderedDict,
    "namespace": SimpleNamespace,
    "nested": lambda **parts: {"outer": [dict(parts), dict(reversed(parts.items()))], "c": 0.0 * parts["a"]},
}
GET: dict[str, Callable[[Any, str], Any]] = {
    "dict": lambda d, key: d[key],
    "OrderedDict": lambda d, key: d[key],
    "namespace": getattr,
    "nested": lambda d, key: d["outer"][1][key],
}
X, WEIGHTS = np.array([1.0, -1.0, 2.0]), np.array([1.0, 10.0, 100.0])


@pytest.mark.parametrize("name", HOLDERS)
@pytest.mark.parametrize("wrap", [lambda f: f, te.stage])
def test_lanes(name: str, wrap: Any) -> None:
    make, get = HOLDERS[name], GET[name]
    mapped = te.vmap(wrap(lambda x: make(a=x, b=2 * x) if x > 0 else make(b=2 * x, a=x)))
    for _ in range(2):
        found = mapped(X)
        assert (get(found, "a").tolist(), get(found, "b").tolist()) == (X.tolist(), (2 * X).tolist())
        gradient = te.grad(lambda x: np.sum(WEIGHTS * get(mapped(x), "a")))(X)
        assert gradient.tolist() == WEIGHTS.tolist()


@pytest.mark.parametrize("name", HOLDERS)
@pytest.mark.parametrize("wrap", [lambda f: f, te.stage])
def test_lanes_with_other_keys(name: str, wrap: Any) -> None:
    make = HOLDERS[name]
    mapped = te.vmap(wrap(lambda x: make(a=x, b=2 * x) if x > 0 else make(a=x, c=2 * x)))
    with pytest.raises(StructureError):
        mapped(X)


@pytest.mark.parametrize("name", HOLDERS)
def test_cotangents_and_tangents_of_rules(name: str) -> None:
    make, get = HOLDERS[name], GET[name]

    @te.custom_vjp
    def weighted(d: Any) -> Any:
        return get(d, "a") * 2 + get(d, "b") * 3

    @te.custom_jvp
    def doubled(x: Any) -> Any:
        return make(a=x * 2, b=x * 3)

    weighted.defvjp(lambda d: (weighted(d), None), lambda r, ct: (make(b=ct * 3, a=ct * 2),))
    doubled.defjvp(lambda p, t: (make(b=p[0] * 3, a=p[0] * 2), make(b=t[0] * 3, a=t[0] * 2)))
    found = te.grad(weighted)(make(a=1.0, b=1.0))
    assert (get(found, "a"), get(found, "b")) == (2.0, 3.0)
    found = te.jvp(weighted, (make(a=1.0, b=1.0),), (make(a=1.0, b=10.0),))[1]
    assert found == (32.0 if name != "nested" else pytest.approx(found))
    assert te.jvp(lambda x: get(doubled(x), "a"), (1.0,), (1.0,)) == (2.0, 2.0)
    assert te.grad(lambda x: get(doubled(x), "b"))(1.0) == 3.0

    weighted.defvjp(lambda d: (weighted(d), None), lambda r, ct: (make(a=ct * 3, c=ct * 2),))
    with pytest.raises(CotangentError):
        te.grad(weighted)(make(a=1.0, b=1.0))


def test_parts_of_linear_maps() -> None:
    both = te.LinearMap.hstack({"a": te.linearize(lambda x: 2 * x, 1.0)[1], "b": te.linearize(lambda x: 3 * x, 1.0)[1]})
    assert both({"b": 10.0, "a": 1.0}) == 32.0


def test_keyword_arguments_of_a_staged_program() -> None:
    staged = te.stage(lambda x, **by_name: x * by_name["a"] - by_name["b"])
    for _ in range(2):
        assert staged(1.0, a=1.0, b=2.0) == -1.0
        assert staged(1.0, b=1.0, a=2.0) == 1.0
