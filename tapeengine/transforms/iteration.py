"""`iterate`: n equal steps, reversed with few stored states."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tapeengine.errors import StructureError, UnsupportedError
from tapeengine.transforms.calls import Derivative, call_with_rule
from tapeengine.transforms.closures import lifted
from tapeengine.transforms.forms import add, flatten, form_of, is_traced
from tapeengine.transforms.treeverse import Chain

if TYPE_CHECKING:
    from tapeengine.engine import Engine

__all__ = ["iterate"]


def iterate(engine: Engine, step: Callable[[Any], Any], n: int, x: Any, checkpoints: int) -> Any:
    """See `Engine.iterate`."""
    if n < 0 or checkpoints < 1:
        raise StructureError(
            f"iterate needs n >= 0 steps and at least 1 checkpoint, not n={n}, checkpoints={checkpoints}"
        )
    captured, around = lifted(engine.structures, step)

    def run(args: tuple[Any, ...]) -> tuple[Any, Derivative]:
        values, start = args
        bare = around(values)
        if any(map(is_traced, flatten(engine.structures, args)[0])):
            return iterate(engine, bare, n, start, checkpoints), Steps(engine, around, n, args, checkpoints, None)
        chain = Chain(bare, n, checkpoints, start)
        _check(engine, start, chain.final)
        return chain.final, Steps(engine, around, n, args, checkpoints, chain)

    traced, result = call_with_rule(engine, (captured, x), run, "iterate")
    if traced:
        return result
    for _ in range(n):
        x = step(x)
    return x


def _check(engine: Engine, start: Any, final: Any) -> None:
    """Refuse steps that change the state's form, or that depend on traced values out of reach."""
    before, after = form_of(engine.structures, start), form_of(engine.structures, final)
    if before != after:
        raise StructureError(f"the step of iterate must keep the state's form {before}; it returned {after}")
    if any(map(is_traced, flatten(engine.structures, final)[0])):
        raise UnsupportedError(
            "the step of iterate uses a traced value that is neither in its state nor in its closure, such as one in a "
            "global or an attribute. Make it a part of the state, or capture it as a local variable"
        )


class Steps:
    """The derivative of a chain of steps with respect to what the step captures and to the first state."""

    __slots__ = ("args", "around", "chain", "checkpoints", "engine", "n")

    def __init__(
        self,
        engine: Engine,
        around: Callable[[list[Any]], Callable[[Any], Any]],
        n: int,
        args: tuple[Any, ...],
        checkpoints: int,
        chain: Chain | None,
    ) -> None:
        self.engine = engine
        self.around = around
        self.n = n
        self.args = args
        self.checkpoints = checkpoints
        self.chain = chain

    def pull(self, cotangent: Any) -> Any:
        """Reverse the steps, each on a tape of its own."""
        values, start = self.args
        chain = self.chain or Chain(self.around(values), self.n, self.checkpoints, start)
        total: Any = None

        def undo(state: Any, position: int) -> None:
            nonlocal cotangent, total
            given, cotangent = self._undo(values, state, cotangent)
            if given is not None:
                total = given if total is None else add(self.engine.structures, total, given)

        chain.reverse(undo)
        return total, cotangent

    def push(self, tangents: tuple[Any, ...]) -> Any:
        """Run the steps with tangents."""
        (values, state), (given, tangent) = self.args, tangents
        for _ in range(self.n):
            state, tangent = self.engine.jvp(self._step, (values, state), (given, tangent))
        return tangent

    def _step(self, values: list[Any], state: Any) -> Any:
        return self.around(values)(state)

    def _undo(self, values: list[Any], state: Any, cotangent: Any) -> tuple[Any, Any]:
        """The cotangents of what the step captures and of the state before it."""
        if not values:
            return None, self.engine.vjp(self.around(values), state)[1](cotangent)[0]
        given, before = self.engine.vjp(self._step, values, state)[1](cotangent)
        return given, before
