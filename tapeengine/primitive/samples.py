"""Samples: inputs at which a primitive is checked, with fixed values or values to be drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..errors import PrimitiveError


class Uniform(NamedTuple):
    """Values to be drawn uniformly from ``[low, high)``; a complex dtype draws both parts. Made by `uniform`."""

    shape: tuple[int, ...]
    low: float
    high: float
    dtype: Any

    def draw(self, generator: np.random.Generator) -> Any:
        """Return a fresh array, or a numpy scalar for the shape ``()``."""
        dtype = np.dtype(self.dtype)
        values: Any = generator.uniform(self.low, self.high, self.shape)
        if dtype.kind == "c":
            values = values + 1j * generator.uniform(self.low, self.high, self.shape)
        return np.asarray(values).astype(dtype)[()]


def uniform(
    shape: int | tuple[int, ...] = (), low: float = -2.0, high: float = 2.0, dtype: Any = np.float64
) -> Uniform:
    """Stands in a `Sample` for values to be drawn uniformly from ``[low, high)``.

    Examples
    --------
    >>> import numpy as np
    >>> from tapeengine.primitive import uniform
    >>> uniform(3, 0.5, 1.0).draw(np.random.default_rng(0)).shape
    (3,)
    """
    return Uniform((shape,) if isinstance(shape, int) else tuple(shape), low, high, dtype)


class Sample:
    """Arguments at which a primitive may be checked.

    Parameters
    ----------
    args : sequence
        One entry for each argument (any number for a variadic primitive): a value, a `uniform(...)`, or a tuple or list
        of them.
    static : mapping, optional
        The static parameters.
    order : int, optional
        The order of derivatives up to which the operation is smooth at these arguments: 0 checks only the value, 1 also
        the rules, 2 (the default) also the derivatives of the rules.
    rtol : float, optional
        The relative accuracy of differences of the primal, if the primal itself is approximate (an iterative solver).
    edge : bool, optional
        Whether the arguments are edges of an elementwise operation (a tie, a zero, a pole): derivatives there are
        compared with those nearby instead of differences.
    value : optional
        The known value of the operation at these arguments.

    Examples
    --------
    >>> import numpy as np
    >>> from tapeengine.primitive import Sample, uniform
    >>> Sample((uniform(2), 3.0), {"axis": 0}).draw(np.random.default_rng(1)).args[1]
    3.0
    """

    __slots__ = ("args", "edge", "order", "rtol", "static", "value")

    def __init__(
        self,
        args: Sequence[Any],
        static: Mapping[str, Any] | None = None,
        *,
        order: int = 2,
        rtol: float | None = None,
        edge: bool = False,
        value: Any = None,
    ) -> None:
        if not isinstance(args, (tuple, list)):
            raise PrimitiveError(f"a Sample takes a tuple of arguments, as in Sample((x,)), not {type(args).__name__}")
        self.args = tuple(args)
        self.static = dict(static or {})
        self.order = 0 if edge else order
        self.edge = edge
        self.rtol = rtol
        self.value = value

    def draw(self, generator: np.random.Generator) -> Sample:
        """Return the sample with values drawn for each `uniform(...)`."""
        return Sample(
            tuple(_draw(arg, generator) for arg in self.args),
            self.static,
            order=self.order,
            rtol=self.rtol,
            edge=self.edge,
            value=self.value,
        )

    def __repr__(self) -> str:
        return f"Sample({self.args!r}, {self.static!r})"


def _draw(value: Any, generator: np.random.Generator) -> Any:
    if isinstance(value, Uniform):
        return value.draw(generator)
    if type(value) in (tuple, list):
        return type(value)(_draw(item, generator) for item in value)
    return value
