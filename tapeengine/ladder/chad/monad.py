r"""The environment vector monad, as a state monad (EC section 4.2).

    EVM G t = EV G -> (t, EV G)                 EV G = Map from places in G to cotangents
    return () = \e. ((), e)                     m; n = \e. let (_, e') = m e in n e'
    one x d = \e. ((), e with d added at x)     do y <- m; n y = \e. let (y, e') = m e in n y e'
    scope m = \e. let (_, e') = m e in take the last place out of e'
    run m = let (_, e) = m empty in (e at x1, ..., e at xn)

No maps are united any more, but finding a place in the map takes logarithmic time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tapeengine.chad.types import Type
from tapeengine.ladder.chad.monadic import Monadic
from tapeengine.ladder.chad.sparse import Sparse
from tapeengine.ladder.chad.wrapper import Step
from tapeengine.ladder.maps import Map, insert, items, pop_highest

__all__ = ["Monad"]

State = Map | None
Action = Callable[[State], tuple[Any, State]]


class Monad(Step):
    """The step."""

    transformation = Monadic
    linear = Sparse

    def one(self, of: Type, place: int, d: Any) -> Action:
        """Add at a place."""

        def combine(a: Any, b: Any) -> Any:
            return self.d.plus(of, a, b)

        return lambda e: ((), insert(e, place, d, combine, self.counts.step))

    def bind(self, m: Action, then: Callable[[Any], Action]) -> Action:
        """``do y <- m; then y``."""

        def action(e: State) -> tuple[Any, State]:
            self.counts.step()
            y, after = m(e)
            return then(y)(after)

        return action

    def scope(self, of: Type, place: int, m: Action) -> Action:
        """Run in a context with one more place."""

        def action(e: State) -> tuple[Any, State]:
            _, after = m(e)
            if after is not None:
                key, d, rest = pop_highest(after, self.counts.step)
                if key == place:
                    return d, rest
            return self.d.zero(of), after

        return action

    def sequence(self, actions: tuple[Action, ...]) -> Action:
        """Run all actions in order."""

        def action(e: State) -> tuple[Any, State]:
            for m in actions:
                _, e = m(e)
            return (), e

        return action

    def run(self, g: tuple[Type, ...], m: Action) -> tuple[Any, ...]:
        """The handler."""
        self.counts.step(len(g))
        found = dict(items(m(None)[1]))
        return tuple(found[k] if k in found else self.d.zero(of) for k, of in enumerate(g))

    def interface(self) -> Mapping[str, Callable[..., Any]]:
        """The operations of Fig. 6."""
        return {
            "return": lambda: lambda e: ((), e),
            ";": lambda m, n: self.bind(m, lambda _: n),
            "do": self.bind,
            "one": self.one,
            "scope": self.scope,
            "sequence": self.sequence,
            "run": self.run,
            "ran": tuple,
        }
