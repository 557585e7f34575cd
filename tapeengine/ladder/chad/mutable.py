r"""The environment vector monad, with a mutable array (EC section 5, Table 2).

    EVM G t = Array -> IO t                     the array has a cotangent for each variable of G
    one x d = \a. a[x] := a[x] + d              O(1), and the cost of +
    scope m = \a. push 0 onto a; m a; pop a     O(1), and the cost of m
    run m = let a = (0, ..., 0) in m a; a       O(|G|), and the cost of m

The transformation is the same, without the logarithmic factors. The cost of + is paid for by the cost of making its
arguments (EC 4.3). So the cost of a gradient is at most a constant times that of the program: EC's theorem.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tapeengine.chad.types import Type
from tapeengine.ladder.chad.monadic import Monadic
from tapeengine.ladder.chad.sparse import Sparse
from tapeengine.ladder.chad.wrapper import Step

__all__ = ["Mutable"]

Action = Callable[[list[Any]], Any]


class Mutable(Step):
    """The step."""

    transformation = Monadic
    linear = Sparse

    def one(self, of: Type, place: int, d: Any) -> Action:
        """Add at a place."""

        def action(a: list[Any]) -> None:
            self.counts.step()
            a[place] = self.d.plus(of, a[place], d)

        return action

    def bind(self, m: Action, then: Callable[[Any], Action]) -> Action:
        """``do y <- m; then y``."""

        def action(a: list[Any]) -> Any:
            self.counts.step()
            return then(m(a))(a)

        return action

    def scope(self, of: Type, place: int, m: Action) -> Action:
        """Run with one more cell."""

        def action(a: list[Any]) -> Any:
            a.append(self.d.zero(of))
            m(a)
            return a.pop()

        return action

    def sequence(self, actions: tuple[Action, ...]) -> Action:
        """Run all actions in order."""

        def action(a: list[Any]) -> None:
            for m in actions:
                m(a)

        return action

    def run(self, g: tuple[Type, ...], m: Action) -> tuple[Any, ...]:
        """The handler."""
        array = [self.d.zero(of) for of in g]
        m(array)
        return tuple(array)

    def interface(self) -> Mapping[str, Callable[..., Any]]:
        """The operations of Fig. 6."""
        return {
            "return": lambda: lambda a: None,
            ";": lambda m, n: self.bind(m, lambda _: n),
            "do": self.bind,
            "one": self.one,
            "scope": self.scope,
            "sequence": self.sequence,
            "run": self.run,
            "ran": tuple,
        }
