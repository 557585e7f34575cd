"""The wrapper that all steps share: closure conversion, transformation, evaluation and counting."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from tapeengine.chad.terms import Module
from tapeengine.chad.types import Array, Float, Named, Product, Sum, Type
from tapeengine.ladder.chad.close import close
from tapeengine.ladder.chad.linear import Dense
from tapeengine.ladder.chad.rules import Chad
from tapeengine.ladder.counts import Counts
from tapeengine.ladder.derivative import Derivative
from tapeengine.ladder.evaluate import Evaluator
from tapeengine.ladder.target import Tagged

__all__ = ["Step"]


class Step(ABC):
    """One step: the transformation, and the operations on cotangents and on environment vectors."""

    transformation: ClassVar[type[Chad]]
    linear: ClassVar[type[Dense]]
    #: Whether functions are closure-converted first (EC section 9), because the step has no rules for them.
    closed: ClassVar[bool] = True

    def __init__(self, types: Mapping[str, Sum]) -> None:
        self.counts = Counts()
        self.d = self.linear(types, self.counts)

    @abstractmethod
    def interface(self) -> Mapping[str, Callable[..., Any]]:
        """The operations on environment vectors."""

    def new(self, backpropagator: Callable[[Any], Any]) -> Callable[[Any], Any]:
        """Count a backpropagator when it is made, and its calls."""
        self.counts.records += 1

        def counted(d: Any) -> Any:
            self.counts.calls += 1
            return backpropagator(d)

        return counted

    def operations(self) -> Mapping[str, Callable[..., Any]]:
        """All operations of the target language."""
        names = ("part", "hot", "cast", "inject", "at", "copies", "collect")
        return {name: getattr(self.d, name) for name in names} | {"new": self.new, **self.interface()}

    @classmethod
    def derivative(cls, module: Module, *primals: Any) -> Derivative:
        """The value and the reverse derivative of a program."""
        source = close(module) if cls.closed else module
        turned = cls.transformation(source.types).module(source)
        return cls(source.types).wrap(module, turned, primals)

    def wrap(self, module: Module, turned: Module, primals: tuple[Any, ...]) -> Derivative:
        """Run the transformed program."""
        main, counts = turned.definitions[turned.main], self.counts
        scope = dict(zip((p.name for p in main.params), primals, strict=True))
        value, back = Evaluator(turned.definitions, self.operations()).term(main.body, scope)
        params, records = module.definitions[module.main].params, counts.records

        def backpropagator(cotangent: Any) -> tuple[Any, ...]:
            counts.calls = counts.additions = counts.steps = 0
            cotangents = back(self.given(module.definitions[module.main].result, cotangent))
            counts.steps += counts.records - records
            counts.records, counts.span = records, counts.calls
            return tuple(self.full(p.of, x, d) for p, x, d in zip(params, primals, cotangents, strict=True))

        return Derivative(value, backpropagator, counts, turned)

    def given(self, of: Type, z: Any) -> Any:
        """Convert a given cotangent; that of a discrete value is None."""
        match of:
            case Float():
                return float(z)
            case Product(items):
                return tuple(map(self.given, items, z))
            case Sum() | Named():
                return Tagged(z.index, self.given(self.d.option(of, z.index), z.payload))
        return ()

    def full(self, of: Type, primal: Any, d: Any) -> Any:
        """A cotangent with explicit zeros, in the structure of the primal."""
        match of:
            case Float():
                return 0.0 if d is None else d
            case Product(items):
                return tuple(map(self.full, items, primal, d or (None,) * len(items)))
            case Sum() | Named():
                payload = d and d.payload
                return Tagged(primal.index, self.full(self.d.option(of, primal.index), primal.payload, payload))
            case Array(element):
                ds = d and self.d.collect(element, len(primal), d)
                return tuple(map(self.full, [element] * len(primal), primal, ds or (None,) * len(primal)))
        return None
