r"""Naive dual-numbers reverse AD (DN section 5, Fig. 6 and 7).

    D[R] = (R, R -o c)       a primal and its backpropagator
    D[r] = (r, \z. 0)
    D[op(t1, ..., tn)] = let (x1, d1) = D[t1] in ... in let (xn, dn) = D[tn]
                         in (op(x1, ..., xn), \z. d1 (d1 op(x..)(z)) + ... + dn (dn op(x..)(z)))

    Interleave: the scalar at a place of the input gets \z. (0, ..., z, ..., 0), one-hot at that place.
    Deinterleave: the backpropagators of the output's scalars are called with their cotangents, and added.

c is the type of the input. The backpropagator of a scalar that is used twice is called twice: with repeated sharing,
exponentially often (section 5.4).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

from ...chad.language.terms import Apply, Module, Op, Term, Tuple, Var
from ...chad.language.types import FLOAT, Product
from ..derivative import Counts, Derivative, Inputs, Outputs
from ..evaluate import Evaluator
from ..target import COTANGENT, Interface, LinearLambda, Partial, linear
from .pure import Pure

#: A value of type c: the scalars of the input, from left to right.
Collected = tuple[float, ...]


class Naive(Pure):
    """The transformation."""

    scalar = Product((FLOAT, linear()))

    def constant(self, primal: Term) -> Term:
        """D[r]."""
        return Tuple((primal, LinearLambda((self.fresh("z", FLOAT),), Interface("0", (), COTANGENT))))

    def operation(self, op: str, primals: Sequence[Var], derivatives: Sequence[Var]) -> Term:
        """D[op]."""
        xs, z = tuple(primals), self.fresh("z", FLOAT)
        calls = tuple(Apply(d, (Partial(op, which, xs, z),)) for which, d in enumerate(derivatives))
        return Tuple((Op(op, xs), Interface("new", (LinearLambda((z,), Interface("+", calls, COTANGENT)),), linear())))


class Monoid:
    """The monoid c; it counts its operations, each of which costs the size of c."""

    def __init__(self, size: int, counts: Counts) -> None:
        self.size = size
        self.counts = counts

    def zero(self) -> Collected:
        """All scalars zero."""
        self.counts.step(self.size)
        return (0.0,) * self.size

    def one_hot(self, place: int, z: float) -> Collected:
        """All scalars zero except one."""
        self.counts.calls += 1
        self.counts.step(self.size)
        return (*(0.0,) * place, z, *(0.0,) * (self.size - place - 1))

    def plus(self, *parts: Collected) -> Collected:
        """The sum, scalar by scalar."""
        self.counts.additions += self.size * (len(parts) - 1)
        return reduce(lambda a, b: tuple(x + y for x, y in zip(a, b, strict=True)), parts)


def derivative(module: Module, *primals: Any) -> Derivative:
    """The value and the reverse derivative (`Wrap` of Fig. 7)."""
    turned = Naive().module(module)
    inputs, counts = Inputs(module, primals), Counts()
    places: list[int] = []
    inputs.interleave(lambda x: places.append(len(places)))
    monoid = Monoid(len(places), counts)
    numbers = iter(places)

    def leaf(x: float) -> Any:
        place = next(numbers)
        counts.records += 1
        return (x, lambda z: monoid.one_hot(place, z))

    def new(backpropagator: Any) -> Any:
        """Count a backpropagator when it is made, and its calls."""
        counts.records += 1

        def counted(z: float) -> Collected:
            counts.calls += 1
            return tuple(backpropagator(z))

        return counted

    evaluator = Evaluator(turned.definitions, {"0": monoid.zero, "+": monoid.plus, "new": new})
    outputs = Outputs(
        module, evaluator.term(turned.definitions[module.main].body, inputs.scope(inputs.interleave(leaf)))
    )

    def backpropagator(cotangent: Any) -> tuple[Any, ...]:
        counts.calls = counts.additions = counts.steps = 0
        collected = iter(monoid.plus(monoid.zero(), *[d(z) for d, z in outputs.calls(cotangent)]))
        counts.span = counts.calls
        return inputs.cotangent(lambda x: next(collected))

    return Derivative(outputs.value, backpropagator, counts, turned)
