"""What transforms ask of an engine, so that they need not know the class."""

from collections.abc import Callable
from typing import Any, Protocol

from tapeengine.primitive.registry import Registry
from tapeengine.structure import Structures

__all__ = ["Engine"]


class Engine(Protocol):
    """`tapeengine.engine.Engine`, as far as transforms use it."""

    structures: Structures
    registry: Registry
    rules: Any
    max_tape_bytes: int
    switches: Any
    debugs: tuple[Any, ...]
    copies: Any
    of_scalars: Any

    @property
    def vjp(self) -> Callable[..., tuple[Any, Any]]:
        """See `tapeengine.engine.Engine.vjp`, as for all methods here."""

    @property
    def jvp(self) -> Callable[..., tuple[Any, Any]]:
        """Value and tangent."""

    @property
    def grad(self) -> Callable[..., Callable[..., Any]]:
        """The function's gradient."""

    @property
    def trace(self) -> Callable[..., tuple[Any, ...]]:
        """Value and backpropagator, on a tape that can be swept forwards."""

    @property
    def vjp_with_aux(self) -> Callable[..., tuple[Any, Any, Any]]:
        """Value, backpropagator, and what is not differentiated."""
