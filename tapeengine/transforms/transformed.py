"""Functions made by a transform: they are named after their program, and pickled as the call that made them."""

from __future__ import annotations

import operator
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from .._core.programs.callables import Made
from ..errors import StructureError
from ..naming import attribute_of
from .contract import Engine


def named(function: Callable[..., Any], engine: Engine, transform: str, f: Callable[..., Any], *options: Any) -> Made:
    """Name a function after the transform and the program that it is made from.

    It is pickled as ``engine.transform(f, *options)``, so the program is pickled by name.
    """
    check_program(transform, f)
    made = Made(function, operator.methodcaller(transform, f, *options), (engine,))
    name = attribute_of(f, "__name__", type(f).__name__)
    vars(made).update(
        __name__=f"{transform}_{name}",
        __qualname__=f"{transform}_{name}",
        __doc__=f"The function that {transform} makes of {name}.",
        __module__=attribute_of(f, "__module__") or __name__,
        __wrapped__=f,  # `inspect.signature` reads the parameters there
    )
    return made


def whole(transform: str, option: str, value: Any, least: int = 1) -> int:
    """Return an option that must be a whole number of at least `least`."""
    with suppress(TypeError):
        if (number := operator.index(value)) >= least:
            return number
    raise StructureError(f"{transform}: {option} must be a whole number of at least {least}, not {value!r}")


def check_program(transform: str, f: object, call: str = "({})(x)") -> None:
    """Refuse to transform what cannot be called, such as the value of a program."""
    if not callable(f):
        right, wrong = (transform + call.format(name) for name in ("f", "f(x)"))
        raise StructureError(f"{transform} takes a function, not {f!r}: write {right}, not {wrong.removesuffix('(x)')}")
