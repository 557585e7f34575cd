"""The methods of an engine that transforms use, so that they need not import the class."""

from collections.abc import Callable
from typing import Any, Protocol

from ..primitive.registry import Registry
from ..structure import Structures


class Engine(Protocol):
    """The part of `tapeengine.engine.Engine` that transforms use."""

    structures: Structures
    registry: Registry
    rules: Any
    max_tape_bytes: int
    switches: Any
    debugs: tuple[Any, ...]
    copies: Any
    of_scalars: Any
    of_programs: Any

    @property
    def vjp(self) -> Callable[..., tuple[Any, Any]]:
        """See `tapeengine.engine.Engine.vjp`; the same holds for all methods here."""

    @property
    def jvp(self) -> Callable[..., tuple[Any, Any]]:
        """Return the value and the tangent."""

    @property
    def grad(self) -> Callable[..., Callable[..., Any]]:
        """Return the gradient of a function."""

    @property
    def trace(self) -> Callable[..., tuple[Any, ...]]:
        """Return the value and a backpropagator whose tape also supports forward sweeps."""
