"""Dual-numbers forward AD (DN section 2, Fig. 1b).

    D[R] = (R, R)        a primal and its tangent
    D[r] = (r, 0)
    D[op(t1, ..., tn)] = let (x1, d1) = D[t1] in ... in (op(x1, ..., xn), d1 op(x..)(d1) + ... + dn op(x..)(dn))

One run gives one column of the Jacobian, so a gradient needs one run for each scalar of the input.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...chad.language.terms import Module, Op, Term, Tuple, Var, lit
from ...chad.language.types import FLOAT, Product
from ..derivative import Counts, Derivative, Inputs, Outputs
from ..evaluate import Evaluator
from ..structure import paths
from ..target import Interface, Partial
from .pure import Pure


class Forward(Pure):
    """The transformation."""

    scalar = Product((FLOAT, FLOAT))

    def constant(self, primal: Term) -> Term:
        """D[r]."""
        return Tuple((primal, lit(0.0)))

    def operation(self, op: str, primals: Sequence[Var], derivatives: Sequence[Var]) -> Term:
        """D[op]."""
        xs = tuple(primals)
        tangents = tuple(Partial(op, which, xs, d) for which, d in enumerate(derivatives))
        return Tuple((Op(op, xs), Interface("+", tangents, FLOAT)))


def derivative(module: Module, *primals: Any) -> Derivative:
    """The value and the reverse derivative, by one forward run for each scalar of the input."""
    turned = Forward().module(module)
    inputs, counts = Inputs(module, primals), Counts()

    def plus(*tangents: float) -> float:
        counts.calls += 1
        counts.additions += len(tangents) - 1
        return sum(tangents[1:], tangents[0])

    def forward(seed: int) -> Outputs:
        """One run with the tangent 1 for one of the scalars."""
        numbers = iter(range(len(paths(inputs.type, primals, module.types))))
        scope = inputs.scope(inputs.interleave(lambda x: (x, float(next(numbers) == seed))))
        evaluator = Evaluator(turned.definitions, {"+": plus})
        return Outputs(module, evaluator.term(turned.definitions[module.main].body, scope))

    def backpropagator(cotangent: Any) -> tuple[Any, ...]:
        counts.calls = counts.additions = 0
        seeds = iter(range(len(paths(inputs.type, primals, module.types))))
        gradient = inputs.cotangent(lambda x: sum(t * z for t, z in forward(next(seeds)).calls(cotangent)))
        counts.span = counts.calls
        return gradient

    return Derivative(forward(-1).value, backpropagator, counts, turned)
