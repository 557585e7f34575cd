"""The derivative of a program by the procedure language: single-use terms, their procedure, and its two passes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

from ...chad.language.terms import Module
from ...chad.language.values import Tagged
from . import primitives, vectors
from .procedure import Procedure, execute
from .single_use import single_use
from .split import Passes, bar, split
from .to_procedure import Translation


class Gradient(NamedTuple):
    """A program's value and gradient, and counts of executed statements.

    Attributes
    ----------
    value : object
    cotangents : tuple
    statements : tuple of int
        Of the original program, of the forward and of the reverse pass.
    """

    value: Any
    cotangents: tuple[Any, ...]
    statements: tuple[int, int, int]


def truth(value: Any) -> Any:
    """A truth value as an option of ``() | ()``."""
    return Tagged(int(value), ()) if isinstance(value, bool) else value


def forward(name: str, args: tuple[Any, ...]) -> tuple[Any, Any]:
    """``rf$name``: the value and the trace."""
    value, trace = primitives.forward(name, args)
    return truth(value), trace


def plain(name: str, args: tuple[Any, ...]) -> Any:
    """The value alone."""
    return forward(name, args)[0]


def reverse(name: str, given: tuple[Any, Any]) -> Any:
    """``rr$name``: the cotangents of the arguments."""
    cotangent, trace = given
    return primitives.reverse(name, trace, cotangent)


def functions() -> Mapping[str, Callable[[Any], Any]]:
    """The functions that procedures can call."""
    called: dict[str, Callable[[Any], Any]] = {"sum": lambda pair: pair and vectors.add(*pair)}
    for name in primitives.NAMES:
        called[name] = partial(plain, name)
        called["rf$" + name] = partial(forward, name)
        called["rr$" + name] = partial(reverse, name)
    return called


def procedure_of(module: Module) -> tuple[Procedure, tuple[str, ...], str]:
    """A program's procedure, the variables of its parameters and the variable of its result."""
    main, translation = single_use(module).definitions[module.main], Translation()
    names = {x.name: translation.name() for x in main.params}
    result = translation.term(main.body, names)
    return tuple(translation.statements), tuple(names.values()), result


def gradient(module: Module, *primals: Any, cotangent: Any = 1.0) -> Gradient:
    """The value of a program and the cotangents of its primals."""
    procedure, params, result = procedure_of(module)
    passes: Passes = split(procedure)
    called, start = functions(), dict(zip(params, primals, strict=True))
    once = execute(procedure, dict(start), called)
    store = dict(start)
    there = execute(passes.forward, store, called)
    found = store.pop(result)
    store[bar(result)] = cotangent
    back = execute(passes.reverse, store, called)
    cotangents = tuple(vectors.full(store[bar(x)], primal) for x, primal in zip(params, primals, strict=True))
    return Gradient(found, cotangents, (once, there, back))
