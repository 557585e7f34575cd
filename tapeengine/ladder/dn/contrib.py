r"""Defunctionalised backpropagators (DN section 10.2, Fig. 11).

    D[R] = (R, (Z, Contrib))         Contrib = [(R, (Z, Contrib))]
    [(a1, (i1, cb1)), ...]  stands for  \z. SCall (i1, cb1) (z a1) + ...
    the backpropagator of an input or a constant = []
    that of op(x1, ..., xn) = [(d1 op(x..)(1), d1), ..., (dn op(x..)(1), dn)]
    SResolve: for i from the last id down to 0: let (cb, d) = m[i] in
              for (a, (j, cb')) in cb: modify m at j: (_, a') |-> (cb', a' + a d)

Partials are linear in z, so the forward pass can compute them as numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...chad.language.terms import Term, Tuple, Var, lit
from ...chad.language.types import Named
from ..target import Interface, Partial
from .monadic import Monadic
from .wrapper import Step


class Contributions(Monadic):
    """The transformation."""

    back = Named("Contrib")

    def backpropagator(self, op: str, primals: Sequence[Var], links: Sequence[Var]) -> Term:
        """A list of partials and links."""
        xs = tuple(primals)
        parts = [Tuple((Partial(op, which, xs, lit(1.0)), d)) for which, d in enumerate(links)]
        return Interface(self.back.name, tuple(parts), self.back)


class Contrib(Step):
    """The step."""

    transformation = Contributions

    def interface(self) -> Mapping[str, Callable[..., Any]]:
        """The constructor of lists."""
        return {"Contrib": lambda *parts: parts}

    def resolve(self, calls: list[tuple[Any, float]], last: Any) -> Callable[[int], float]:
        """SResolve: an interpreter of lists."""
        m: list[tuple[Any, float]] = [((), 0.0)] * last
        self.counts.step(last)

        def contribute(link: tuple[int, Any], a: float) -> None:
            self.counts.step()
            self.counts.additions += 1
            m[link[0]] = (link[1], m[link[0]][1] + a)

        for link, z in calls:
            contribute(link, z)
        for i in range(last - 1, -1, -1):
            parts, d = m[i]
            self.counts.calls += 1
            for a, link in parts:
                contribute(link, a * d)
        return lambda place: m[place][1]
