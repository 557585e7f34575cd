"""numpy.random, for differentiated programs: traced arrays are shuffled as numpy's are, with the same draws."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as _numpy

from tapeengine._core.arrays.array import Array as _Array

__all__ = ["Generator", "default_rng", "permutation", "shuffle"]


def _moved(x: Any, axis: int) -> Any:
    """A view with one axis as the first one."""
    return _numpy.moveaxis(x, axis, 0)


def _shuffled(shuffle: Callable[[Any], None], x: Any) -> Any:
    """A copy of a traced array whose rows numpy has shuffled."""
    order = _numpy.arange(len(x))
    shuffle(order)
    return x[order]


class Generator(_numpy.random.Generator):
    """`numpy.random.Generator`, which shuffles traced arrays as well.

    Examples
    --------
    >>> import tapeengine as te
    >>> import tapeengine.numpy as np
    >>> def second(x):
    ...     np.random.default_rng(0).shuffle(x)
    ...     return x[1, 0]
    >>> te.grad(second)(np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]))
    array([[1., 0.],
           [0., 0.],
           [0., 0.]])
    """

    def shuffle(self, x: Any, axis: int = 0) -> None:
        """Shuffle along an axis, in place; see `numpy.random.Generator.shuffle`."""
        if type(x) is not _Array:
            return super().shuffle(x, axis)
        rows = _moved(x, axis)
        if x.size:  # otherwise numpy draws nothing
            rows[...] = _shuffled(super().shuffle, rows)
        return None

    def permutation(self, x: Any, axis: int = 0) -> Any:
        """Return a shuffled copy; see `numpy.random.Generator.permutation`."""
        if type(x) is not _Array:
            return super().permutation(x, axis)
        return _numpy.moveaxis(_shuffled(super().shuffle, _moved(x, axis)), 0, axis)

    def __reduce__(self) -> Any:
        """Pickle and copy as an instance of this class."""
        return Generator, (self.bit_generator,)


def default_rng(seed: Any = None) -> Any:
    """Return a generator; see `numpy.random.default_rng`."""
    made = _numpy.random.default_rng(seed)
    return made if made is seed else Generator(made.bit_generator)


def shuffle(x: Any) -> None:
    """Shuffle in place by the global generator; see `numpy.random.shuffle`."""
    if type(x) is _Array:
        x[...] = _shuffled(_numpy.random.shuffle, x)
    else:
        _numpy.random.shuffle(x)


def permutation(x: Any) -> Any:
    """Return a shuffled copy by the global generator; see `numpy.random.permutation`."""
    return _shuffled(_numpy.random.shuffle, x) if type(x) is _Array else _numpy.random.permutation(x)


def __getattr__(name: str) -> Any:
    return getattr(_numpy.random, name)


def __dir__() -> list[str]:
    return dir(_numpy.random)
