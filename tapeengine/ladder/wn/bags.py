"""A gradient by BOG-style AD: converts to the single-use dialect, makes both passes, and runs them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

from ...chad.language.terms import Module
from ..evaluate import Evaluator
from ..operations import DISCRETE, ROWS
from . import primitives, vectors
from .bog import Bog
from .loops import loops
from .single_use import single_use


class Bagged(NamedTuple):
    """A program's value and gradient by BOG-style AD.

    Attributes
    ----------
    value : object
    cotangents : tuple
    program : Module
        The passes of all definitions.
    bag : object
        The output of the forward pass for the reverse pass.
    computed : int
        The number of scalar operations computed in both passes.
    evaluated : int
        The number of terms evaluated in the reverse pass.
    """

    value: Any
    cotangents: tuple[Any, ...]
    program: Module
    bag: Any
    computed: int
    evaluated: int


class Functions:
    """The built-in functions, and further functions for the passes."""

    def __init__(self) -> None:
        self.computed = 0

    def forward(self, name: str, *args: Any) -> tuple[Any, Any]:
        """``rf$name``."""
        self.computed += name in ROWS or name in DISCRETE
        return primitives.forward(name, args)

    def plain(self, name: str, *args: Any) -> Any:
        """The function itself."""
        return self.forward(name, *args)[0]

    def set_at(self, index: int, bog: list[Any], bag: Any) -> list[Any]:
        """The array with one element changed; it has no other use, so it is changed in place."""
        bog[index] = bag
        return bog

    def interface(self) -> Mapping[str, Callable[..., Any]]:
        """All of these functions by name."""
        found: dict[str, Callable[..., Any]] = {
            "0": lambda: None,
            "at": vectors.component,
            "sumbuild": vectors.total,
            "size of": len,
            "uninitialized": lambda n: [None] * n,
            "setAt": self.set_at,
        }
        for name in primitives.NAMES:
            found[name] = partial(self.plain, name)
            found["rf$" + name] = partial(self.forward, name)
            found["rr$" + name] = lambda d, trace, name=name: primitives.reverse(name, trace, d)
        return found


def passes(module: Module, style: type[Bog] = Bog) -> Module:
    """rf$f and rr$f for each definition f and for its loops, and the definitions themselves."""
    source = single_use(module)
    turned = style().module(source)
    return Module(module.main, {**source.definitions, **turned.definitions, **loops(source)}, module.types)


def bog(module: Module, *primals: Any, cotangent: Any = 1.0, style: type[Bog] = Bog) -> Bagged:
    """The value of a program and the cotangents of its primals."""
    program, functions = passes(module, style), Functions()
    evaluator = Evaluator(program.definitions, functions.interface())
    value, bag = evaluator.run("rf$" + module.main, primals)
    before = evaluator.terms
    found = evaluator.run("rr$" + module.main, (cotangent, bag))
    cotangents = tuple(vectors.full(d, x) for d, x in zip(found, primals, strict=True))
    return Bagged(value, cotangents, program, bag, functions.computed, evaluator.terms - before)
