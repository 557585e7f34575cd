"""The derivative of a program by the procedure language: translate, split, run both passes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from tapeengine.chad.terms import Module
from tapeengine.ladder.operations import DISCRETE, ROWS, partial, value
from tapeengine.ladder.scope import free
from tapeengine.ladder.target import Tagged
from tapeengine.ladder.wn import vectors
from tapeengine.ladder.wn.procedure import Procedure, execute
from tapeengine.ladder.wn.split import Passes, bar, split
from tapeengine.ladder.wn.to_procedure import Translation

__all__ = ["Gradient", "functions", "gradient", "procedure_of"]


class Gradient(NamedTuple):
    """A program's value and gradient, and the statements that ran.

    Attributes
    ----------
    value : object
    cotangents : tuple
    statements : tuple of int
        Those of the program as it is, of the forward and of the reverse pass.
    """

    value: Any
    cotangents: tuple[Any, ...]
    statements: tuple[int, int, int]


def plain(op: str) -> Callable[[tuple[Any, ...]], Any]:
    """An operation; a truth value is an option of ``() | ()``."""

    def call(args: tuple[Any, ...]) -> Any:
        if op not in DISCRETE:
            return value(op, *args)
        result = DISCRETE[op](*args)
        return Tagged(int(result), ()) if isinstance(result, bool) else result

    return call


def forward(op: str) -> Callable[[tuple[Any, ...]], Any]:
    """``rf$op``: the value, and the partials as the trace."""

    def call(args: tuple[Any, ...]) -> Any:
        trace = () if op in DISCRETE else tuple(partial(op, k, args) for k in range(len(args)))
        return plain(op)(args), trace

    return call


def reverse(given: tuple[Any, tuple[float, ...]]) -> Any:
    """``rr$op``: the cotangent times each partial; an operation without partials passes nothing on."""
    cotangent, trace = given
    return tuple(vectors.scale(slope, cotangent) for slope in trace) or None


def functions() -> Mapping[str, Callable[[Any], Any]]:
    """What procedures can call."""
    called: dict[str, Callable[[Any], Any]] = {"sum": lambda pair: pair and vectors.add(*pair)}
    for op in [*ROWS, *DISCRETE]:
        called |= {op: plain(op), "rf$" + op: forward(op), "rr$" + op: reverse}
    return called


def procedure_of(module: Module) -> tuple[Procedure, tuple[str, ...], str]:
    """A program's procedure, the variables of its parameters and that of its result."""
    main, translation = module.definitions[module.main], Translation()
    names = {x.name: translation.name() for x in main.params}
    (own,) = translation.share(names, [free(main.body)])
    result = translation.term(main.body, own)
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
