"""What the core calls of the modules above it. `tapeengine.duals` fills it in; nothing else of the core looks up."""

from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["ABOVE", "Above"]


class Above:
    """Functions of the numpy frontend, for what is rare: other libraries' classes, methods by name, object arrays."""

    #: ``(function, arguments, options)``, with other libraries' arrays made numpy's.
    as_plain: Callable[..., Any]
    #: What an operator of another library's class is given instead of a traced array; None for others.
    as_object_for_operators: Callable[[Any], Any]
    #: The error for a result that cannot hold derivatives.
    no_place_for_derivatives: Callable[[Any], Exception]
    #: What makes the methods of traced arrays, by name.
    methods: Callable[[], Mapping[str, Callable[..., Any]]]
    #: ``array`` of `tapeengine.numpy`.
    array: Callable[[Any], Any]


ABOVE = Above()
