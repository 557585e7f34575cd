"""A list or dict that contains itself, in the arguments or in the result of any transform, is refused with an error."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tapeengine as te
from tapeengine.errors import StructureError


def in_list(x: Any) -> Any:
    found = [x]
    found.append(found)
    return found


def in_dict(x: Any) -> Any:
    found = {"x": x}
    found["again"] = found
    return found


def in_tuple(x: Any) -> Any:
    inside = [x]
    inside.append((x, inside))
    return x, inside


def in_deque(x: Any) -> Any:
    found: Any = deque([x])
    found.append([found])
    return found


def in_namespace(x: Any) -> Any:
    found = SimpleNamespace(x=x)
    found.again = {"found": found}
    return found


KINDS = [in_list, in_dict, in_tuple, in_deque, in_namespace]
RESULTS: dict[str, Callable[[Any], Any]] = {
    "vjp": lambda f: te.vjp(f, 3.0),
    "jvp": lambda f: te.jvp(f, (3.0,), (1.0,)),
    "linearize": lambda f: te.linearize(f, 3.0),
    "jacobian": lambda f: te.jacobian(f)(3.0),
    "jacfwd": lambda f: te.jacfwd(f)(3.0),
    "hvp": lambda f: te.hvp(f, (3.0,), (1.0,)),
    "vmap": lambda f: te.vmap(f)(np.ones(2)),
    "stage": lambda f: te.stage(f)(3.0),
    "sparse": lambda f: te.sparse_jacobian(f)(np.ones(2)),
    "checkpoint": lambda f: te.vjp(te.checkpoint(f), 3.0),
    "iterate": lambda f: te.vjp(lambda x: te.iterate(lambda y: f(x), 2, x), 3.0),
    "fork": lambda f: te.vjp(lambda x: te.fork(lambda: f(x), lambda: x), 3.0),
    "fork_map": lambda f: te.vjp(lambda x: te.fork_map(f, [x, x]), 3.0),
    "stop_gradient": lambda f: te.vjp(lambda x: te.stop_gradient(f(x)), 3.0),
}
ARGUMENTS: dict[str, Callable[[Any], Any]] = {
    "vjp": lambda p: te.vjp(lambda q: 2.0, p),
    "jvp": lambda p: te.jvp(lambda q: 2.0, (p,), (p,)),
    "jacobian": lambda p: te.jacobian(lambda q: 2.0)(p),
    "vmap": lambda p: te.vmap(lambda q: 2.0)(p),
    "stage": lambda p: te.stage(lambda q: 2.0)(p),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("transform", RESULTS)
def test_a_result_that_contains_itself_is_refused(transform: str, kind: Any) -> None:
    with pytest.raises(StructureError, match="contains itself"):
        RESULTS[transform](lambda x: kind(x * 2.0))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("transform", ARGUMENTS)
def test_an_argument_that_contains_itself_is_refused(transform: str, kind: Any) -> None:
    with pytest.raises(StructureError, match="contains itself"):
        ARGUMENTS[transform](kind(np.ones(2)))


def test_one_container_in_several_places_is_no_cycle() -> None:
    one = [np.ones(2), {"x": np.zeros(2)}]
    assert te.vmap(lambda p: p[1][0])([[one], one, (one, [one])]).tolist() == [1.0, 1.0]
