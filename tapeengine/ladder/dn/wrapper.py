"""The wrapper that the monadic steps share (`Wrap` of DN Fig. 8 to 10): interleave, run, deinterleave, resolve."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from ...chad.language.terms import Module
from ..derivative import Counts, Derivative, Inputs, Outputs
from ..evaluate import Evaluator
from .monadic import Monadic


class Step(ABC):
    """One step: its definitions of the operations of the interface, and its resolver."""

    transformation: ClassVar[type[Monadic]] = Monadic

    def __init__(self, inputs: Inputs) -> None:
        self.inputs = inputs
        self.counts = Counts()

    def input(self, place: int) -> Any:
        """The backpropagator of the scalar at a place of the input; empty if a step needs none."""
        return ()

    @abstractmethod
    def interface(self) -> Mapping[str, Callable[..., Any]]:
        """0, + and SCall."""

    @abstractmethod
    def resolve(self, calls: list[tuple[Any, float]], last: Any) -> Callable[[int], float]:
        """Call the output's backpropagators and all that they stage; return the cotangent at each place."""

    def dual(self, x: float, place: int, state: Any) -> tuple[Any, Any]:
        """The scalar at a place of the input, with its id and backpropagator."""
        n, after = self.identify(state)
        return (x, (n, self.input(place))), after

    def start(self) -> Any:
        """The initial state for ids."""
        return 0

    def identify(self, state: Any) -> tuple[Any, Any]:
        """GenID."""
        self.counts.records += 1
        return state, state + 1

    def factor(self, one: tuple[Any, float], other: tuple[Any, float]) -> tuple[Any, float]:
        """Linear factoring: ``f a + f a' = f (a + a')``."""
        self.counts.additions += 1
        return one[0], one[1] + other[1]

    def fork(self, left: Callable[..., Any], right: Callable[..., Any], state: Any) -> tuple[Any, Any]:
        """The pair, evaluated one component after the other."""
        x, middle = left(state)
        y, after = right(middle)
        return (x, y), after

    @classmethod
    def derivative(cls, module: Module, *primals: Any) -> Derivative:
        """The value and the reverse derivative of a program."""
        turned = cls.transformation().module(module)
        inputs = Inputs(module, primals)
        return cls(inputs).wrap(module, turned)

    def wrap(self, module: Module, turned: Module) -> Derivative:
        """Return the value and the reverse derivative, computed by the transformed program."""
        state, places = self.start(), 0

        def leaf(x: float) -> Any:
            nonlocal state, places
            dual, state = self.dual(x, places, state)
            places += 1
            return dual

        scope = self.inputs.scope(self.inputs.interleave(leaf))
        main = turned.definitions[module.main]
        scope[main.params[-1].name] = state
        interface: dict[str, Callable[..., Any]] = {"genID": self.identify, "fork": self.fork, **self.interface()}
        dual, last = Evaluator(turned.definitions, interface).term(main.body, scope)
        outputs = Outputs(module, dual)

        def backpropagator(cotangent: Any) -> tuple[Any, ...]:
            self.counts.calls = self.counts.additions = self.counts.steps = self.counts.span = 0
            at = self.resolve(outputs.calls(cotangent), last)
            self.counts.span = self.counts.span or self.counts.calls
            numbers = iter(range(places))
            return self.inputs.cotangent(lambda x: at(next(numbers)))

        return Derivative(outputs.value, backpropagator, self.counts, turned)
