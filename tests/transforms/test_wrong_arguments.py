"""A public function that gets other arguments than it takes, as no function, says what to write instead."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapeengine as te
from tapeengine.errors import CotangentError, TapeEngineError

#: Functions of typed programs, which are plain Python outside of them.
OF_THE_LANGUAGE = {"fold", "scan"}
#: What each of the further parameters may be.
FILLED = {"n": 2, "x": 1.0, "primals": (1.0,), "tangents": (1.0,), "cotangents": (1.0,), "iterables": [1.0]}


def first_parameter(function: Any) -> str:
    try:
        return next(iter(inspect.signature(function).parameters), "")
    except ValueError:
        return ""


NAMES = [
    name
    for name in dir(te)
    if name[0] != "_" and name not in OF_THE_LANGUAGE and inspect.isroutine(getattr(te, name))
    if first_parameter(getattr(te, name)) in ("f", "program", "step", "function")
]


def rest(function: Any) -> list[Any]:
    _, *others = inspect.signature(function).parameters.values()
    return [FILLED.get(p.name, 1.0) for p in others if p.default is p.empty and p.kind is not p.KEYWORD_ONLY]


@pytest.mark.parametrize("wrong", [1, 2.5, None, "x", [], {}, (1.0,), object()], ids=lambda x: type(x).__name__)
@pytest.mark.parametrize("name", NAMES)
def test_what_is_no_function(name: str, wrong: Any) -> None:
    if wrong is None and name in ("primitive", "program"):
        return  # they return a decorator
    function = getattr(te, name)
    with pytest.raises(TapeEngineError) as raised:
        function(wrong, *rest(function))
    assert "function" in str(raised.value)
    assert "write" in str(raised.value)


def test_the_names_are_those_of_the_transforms() -> None:
    assert {"vjp", "jvp", "grad", "hessian", "linearize", "tape", "iterate", "checkpoint", "vmap", "stage"} <= {*NAMES}


def double(x: Any) -> Any:
    return 2.0 * x


CALLS: dict[str, tuple[Callable[[], Any], str]] = {
    "items": (lambda: te.fork_map(double, 1.5), "fork_map takes sequences"),
    "a function as items": (lambda: te.fork_map(double, double), "fork_map takes sequences"),
    "pattern": (lambda: te.sparse_jacobian(double, 0, 3.0), "pattern"),
    "name": (lambda: te.Primitive(double, double, {}, {}), "family.operation"),  # type: ignore[arg-type]
    "an open file": (lambda: te.load_staged(1), "1 holds no staged program"),
    "steps": (lambda: te.iterate(double, 1.5, 1.0), "a whole number"),  # type: ignore[arg-type]
    "bytes": (lambda: te.Engine(max_tape_bytes="x"), "a whole number"),  # type: ignore[arg-type]
    "fewer bytes": (lambda: te.Engine(max_tape_bytes=-1), "a whole number"),
    "a class as argnums": (lambda: te.grad(double, int), "argnums holds"),  # type: ignore[arg-type]
    "entries of a pattern": (lambda: te.sparse_jacobian(double, 0, []), "pattern is a matrix"),
    "no name": (lambda: te.lift(""), "no name of a module"),
    "further modules": (lambda: te.lift(double, also=3), "no name of a module"),  # type: ignore[arg-type]
    "bytes as a name": (lambda: te.lift(double, also=b"a"), "no name of a module"),  # type: ignore[arg-type]
    "static": (lambda: te.primitive(double, static=3), "names of parameters"),  # type: ignore[call-overload]
    "static names": (lambda: te.Primitive("a.b", double, {}, {}, static=[3]), "names"),  # type: ignore[list-item]
    "args": (lambda: te.Primitive("a.b", double, {}, {}, args=[3]), "names"),  # type: ignore[list-item]
}


@pytest.mark.parametrize("name", CALLS)
def test_other_arguments(name: str) -> None:
    call, text = CALLS[name]
    with pytest.raises(TapeEngineError, match=text):
        call()


BY_ARGNUMS = [name for name in NAMES if "argnums" in inspect.signature(getattr(te, name)).parameters]


@pytest.mark.parametrize("name", BY_ARGNUMS)
def test_calls_without_the_chosen_argument(name: str) -> None:
    """Of a plain function and of a typed program, which choose their arguments in different ways."""

    def total(*args: Any) -> Any:
        return sum(args, 1.0)

    def product(x: float = 1.0, y: float = 2.0) -> float:
        return x * y

    for f in (total, product, te.program(product)):
        for argnums, count in ((0, 0), (1, 0), (1, 1), (-2, 1), ((0, 1), 1), ((0, -1), 0)):
            with pytest.raises(TapeEngineError, match=f"but this call has {count} positional"):
                getattr(te, name)(f, argnums=argnums)(*[2.0] * count)
        with pytest.raises(TapeEngineError, match="but this call has 0 positional"):
            getattr(te, name)(f)(x=3.0)


@pytest.mark.parametrize(
    "given", [memoryview(np.ones(3)), np.s_[:3], "one", ["a"] * 3, np.array(["a"] * 3), object()], ids=repr
)
def test_cotangents_and_tangents_that_are_no_arrays(given: Any) -> None:
    with pytest.raises(CotangentError, match="cotangent must be an array of shape"):
        te.vjp(lambda x: 2.0 * x, np.arange(3.0))[1](given)
    with pytest.raises(CotangentError, match=r"tangents\[0\] must be an array of shape"):
        te.jvp(lambda x: 2.0 * x, (np.arange(3.0),), (given,))
