"""An option that numpy refuses is refused on traced arrays: by an error of the same class, or by one of the engine."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import numpy
import pytest

import tapeengine as te
import tapeengine.numpy as np
from tapeengine.errors import TapeEngineError

ILLEGAL = ("x", -7, 1.5, (9,), object(), b"q", [], numpy.arange(1, 6))
SQUARE = numpy.array([[2.0, 0.3, 0.4], [0.3, 1.5, 0.1], [0.2, 0.1, 1.7]])
VECTOR = numpy.array([0.3, 0.7, 0.2])
CALLS = ((SQUARE,), (VECTOR,), (SQUARE, SQUARE), (SQUARE, VECTOR), (VECTOR, VECTOR), (SQUARE, 1), (VECTOR,) * 3)
#: Functions that write files.
WRITING = {"save", "savez", "savez_compressed", "savetxt"}


def pairs() -> Iterator[tuple[str, Any, Any]]:
    for f in te.Engine().rules.table:
        if not isinstance(f, (tuple, type, numpy.ufunc)) and f.__module__.startswith("numpy"):
            yield f"{f.__module__}.{f.__name__}", f, f
    for name in dir(np):
        f, plain = getattr(np, name), getattr(numpy, name, None)
        if plain is not None and f is not plain and callable(f) and not isinstance(f, type):
            yield f"tapeengine.numpy.{name}", plain, f


def arguments(f: Any) -> tuple[Any, ...] | None:
    for args in CALLS:
        try:
            with numpy.errstate(all="ignore"):
                f(*(numpy.copy(a) for a in args))
        except Exception:
            continue
        return args
    return None


def options() -> Iterator[tuple[str, Any]]:
    for name, plain, f in pairs():
        try:
            parameters = list(inspect.signature(plain).parameters.values())
        except ValueError:
            continue
        args = None if plain.__name__ in WRITING else arguments(plain)
        for parameter in parameters[len(args) :] if args else ():
            by_name = parameter.kind in (parameter.KEYWORD_ONLY, parameter.POSITIONAL_OR_KEYWORD)
            if by_name and parameter.name != "out":
                yield f"{name} {parameter.name}", (plain, f, args, parameter.name)


OPTIONS = dict(options())


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", OPTIONS)
def test_what_numpy_refuses(name: str) -> None:
    plain, f, (first, *rest), option = OPTIONS[name]
    for illegal in ILLEGAL:
        try:
            plain(first.copy(), *rest, **{option: illegal})
        except Exception as error:
            expected = type(error)
        else:
            continue
        with pytest.raises((expected, TapeEngineError)):
            te.vjp(lambda x, illegal=illegal: f(x, *rest, **{option: illegal}), first)


@pytest.mark.filterwarnings("ignore")
def test_what_numpy_refuses_of_values() -> None:
    for call in (
        lambda n, x: n.clip(x, 0.0),
        lambda n, x: n.clip(x, 0.0, min=1.0, max=2.0),
        lambda n, x: n.bincount([0, 1, 1], x, minlength=-1),
        lambda n, x: n.median(x[:0], axis=()),
        lambda n, x: n.polyint(x, 3, [1.0, 2.0]),
    ):
        refused: type[Exception] = TapeEngineError
        try:
            call(numpy, VECTOR)  # the median does not raise from numpy 2.5 on
        except Exception as error:
            refused = type(error)
        with pytest.raises(refused):
            te.vjp(lambda x, call=call: call(np, x), VECTOR)


def test_one_constant_of_two_integrals() -> None:
    assert numpy.array_equal(te.vjp(lambda p: numpy.polyint(p, 2, [5.0]), VECTOR)[0], numpy.polyint(VECTOR, 2, [5.0]))
