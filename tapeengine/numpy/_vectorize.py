"""numpy.vectorize: calls a function of numbers, or of the last axes, at each position of arrays."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from typing import Any

import numpy

from .._core.arrays.array import Array
from .._core.arrays.creation import fresh
from .._core.arrays.storing import form_of
from ..duals.creation import plain
from ..duals.outputs import laid_out
from ._creation import array, asarray

__all__ = ["vectorize"]


def in_order_of(arrays: list[Any], dtype: Any) -> Any:
    """An array in the memory order of a ufunc's result."""
    kinds = [*[None] * len(arrays), dtype]
    return numpy.nditer([*map(form_of, arrays), None], ["refs_ok"], op_dtypes=kinds).operands[-1]


class vectorize:
    """`numpy.vectorize`: calls a function at each position of its arguments; the results are traced.

    Parameters
    ----------
    pyfunc : callable
    otypes, doc, excluded, cache, signature
        As for `numpy.vectorize`. Within a trace nothing is cached.

    Examples
    --------
    >>> import tapeengine as te, tapeengine.numpy as np
    >>> hinge = np.vectorize(lambda x, k: x if x > k else 0.0)
    >>> te.grad(lambda x: hinge(x, 1.0).sum())(np.array([0.5, 2.0]))
    array([0., 1.])
    """

    def __init__(
        self,
        pyfunc: Any = None,
        otypes: Any = None,
        doc: str | None = None,
        excluded: Iterable[Any] | None = None,
        cache: bool = False,
        signature: str | None = None,
    ) -> None:
        self._options: dict[str, Any] = {
            "otypes": otypes,
            "doc": doc,
            "excluded": excluded,
            "cache": cache,
            "signature": signature,
        }
        self.pyfunc, self.excluded = pyfunc, set(excluded or ())
        self.otypes, self.signature, self.cache = otypes, signature, cache
        if pyfunc is not None:
            functools.update_wrapper(self, pyfunc)
            self._plain = numpy.vectorize(pyfunc, **self._options)
            self.__doc__ = self._plain.__doc__

    def __call__(self, *args: Any, **options: Any) -> Any:
        """Call the function at each position; a decorator with options first gets the function."""
        if self.pyfunc is None:
            return vectorize(args[0], **self._options)
        if type(fresh(numpy.zeros(1))) is not Array:  # outside of traces
            return self._plain(*args, **options)
        return self._mapped(args, options)

    def _mapped(self, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        names = [key for key in (*range(len(args)), *options) if key not in self.excluded]
        given: dict[Any, Any] = {**dict(enumerate(args)), **options}
        arrays = [asarray(given[name]) for name in names]
        inner = self._core_axes(len(names))
        if len(inner) != len(arrays) or any(a.ndim < n for a, n in zip(arrays, inner, strict=True)):
            return self._on_values(args, options)  # raises numpy's error
        loop = numpy.broadcast_shapes(*(a.shape[: a.ndim - n] for a, n in zip(arrays, inner, strict=True)))
        spread = [numpy.broadcast_to(a, loop + a.shape[a.ndim - n :]) for a, n in zip(arrays, inner, strict=True)]
        found = [self._called(given, names, [a[index] for a in spread]) for index in numpy.ndindex(*loop)]
        if not found:
            return self._on_values(args, options)
        outputs = zip(*found, strict=True) if isinstance(found[0], tuple) else [found]
        joined = [self._joined(list(parts), loop, k) for k, parts in enumerate(outputs)]
        if self.signature is None:
            joined = [laid_out(part, in_order_of(arrays, part.dtype)) for part in joined]
        return tuple(joined) if isinstance(found[0], tuple) else joined[0]

    def _on_values(self, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """Call numpy's class."""
        return self._plain(*plain(args), **{name: plain(value) for name, value in options.items()})

    def _core_axes(self, count: int) -> list[int]:
        """The number of axes of each argument that the function takes at once."""
        if self.signature is None:
            return [0] * count
        left = self.signature.partition("->")[0]
        return [len(re.findall(r"\w+", group)) for group in re.findall(r"\(([^()]*)\)", left)]

    def _called(self, given: dict[Any, Any], names: list[Any], values: list[Any]) -> Any:
        now = {**given, **dict(zip(names, values, strict=True))}
        return self.pyfunc(
            *(value for key, value in now.items() if isinstance(key, int)),
            **{key: value for key, value in now.items() if isinstance(key, str)},
        )

    def _joined(self, parts: list[Any], loop: tuple[int, ...], output: int) -> Any:
        """Join the results into one array, with the dtype of the first result."""
        dtype = numpy.asarray(plain(parts[0])).dtype if self.otypes is None else numpy.dtype(list(self.otypes)[output])
        whole = array(parts, dtype)
        return whole.reshape(loop + whole.shape[1:])

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        """Return the object itself: like numpy's class, it does not become a method."""
        return self
