"""Functions of higher modules that the core calls. `tapeengine.duals` sets them, so the core does not import these."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any


class Above:
    """Functions of the numpy frontend for rare cases: other libraries' classes, methods by name, object arrays."""

    #: The same ``(function, arguments, options)`` with arrays of other libraries converted to numpy arrays.
    as_plain: Callable[..., Any]
    #: A value, also in containers, with the traced arrays that objects' methods `__array__` return in their place.
    given: Callable[[Any], Any]
    #: The operand that replaces a traced array in an operator of another library's class; None for other classes.
    as_object_for_operators: Callable[[Any], Any]
    #: Refuses what a function of numpy.polynomial computes with a traced array and several series.
    check_series: Callable[[], None]
    #: Makes the error for a result that cannot hold derivatives.
    no_place_for_derivatives: Callable[[Any], Exception]
    #: The rules for constants of traces that have ended, where no trace is live.
    of_ended: Any
    #: Returns the methods of traced arrays, by name.
    methods: Callable[[], Mapping[str, Callable[..., Any]]]
    #: The module `tapeengine.numpy`, which sets this itself.
    numpy: Any
    #: The cotangent of a value without real numbers; `tapeengine.chad` sets it.
    undifferentiated: Callable[[Any], Any]
    #: Refuses an object that does not give these parts as these attributes; `tapeengine.chad` sets it.
    check_fields: Callable[[Any, Sequence[str], Sequence[Any]], None]


ABOVE = Above()
