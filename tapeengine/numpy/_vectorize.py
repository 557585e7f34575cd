"""numpy.vectorize: calls a function of numbers, or of the last axes, at each position of arrays."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any

import numpy

from .._core.arrays.array import Array, fresh
from ..duals.creation import objects, plain
from ..duals.outputs import laid_out
from ._creation import array, asarray
from ._twins import rebound

__all__ = ["vectorize"]


def in_array(found: Any, dtype: Any, operand: Any) -> Any:
    """The results of all positions in an array."""
    result = array(found.tolist() if operand.ndim else found, dtype)
    if result.shape != operand.shape:
        raise ValueError("setting an array element with a sequence.")
    return laid_out(result, found)


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

    #: Calls that run again look into the attributes.
    __tapeengine_parts__ = True

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
            self.__doc__ = self._plain.__doc__

    def __call__(self, *args: Any, **options: Any) -> Any:
        """Call the function at each position; a decorator with options first gets the function."""
        if self.pyfunc is None:
            return vectorize(args[0], **self._options)
        if type(fresh(numpy.zeros(1))) is not Array:  # outside of traces
            return self._plain(*args, **options)
        return self._mapped(args, options)

    @property
    def _plain(self) -> Any:
        return numpy.vectorize(self.pyfunc, **self._options)

    def _mapped(self, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        names = [key for key in (*range(len(args)), *options) if key not in self.excluded]
        given: dict[Any, Any] = {**dict(enumerate(args)), **options}
        if not names:
            return self.pyfunc(*args, **options)
        arrays = [asarray(given[name]) for name in names]
        if self.signature is None:
            if self.otypes is None and not all(a.size for a in arrays):
                return self._on_values(args, options)  # raises numpy's error
            return self._by_numbers(given, names, arrays)
        by_signature = rebound(numpy.vectorize._vectorize_call_with_signature)  # type: ignore[attr-defined]
        return by_signature(self._plain, lambda *values: self._called(given, names, values), arrays)

    def _on_values(self, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """Call numpy's class."""
        return self._plain(*plain(args), **{name: plain(value) for name, value in options.items()})

    def _by_numbers(self, given: dict[Any, Any], names: list[Any], arrays: list[Any]) -> Any:
        """Call the function once for the dtypes, as numpy does, and then with the objects of all positions."""
        types: Any = self._plain.otypes
        kept: list[Any] = []
        if types is None:
            first = self._called(given, names, [a.reshape(-1)[0] for a in arrays])
            kept = [first] if self.cache else []
            types = [numpy.asarray(plain(x)).dtype for x in (first if isinstance(first, tuple) else (first,))]

        def called(*values: Any) -> Any:
            return kept.pop() if kept else self._called(given, names, values)

        operands = numpy.broadcast_arrays(*(objects(given[name]) for name in names))
        function = called if kept or names != [*range(len(given))] else self.pyfunc
        found = numpy.frompyfunc(function, len(names), len(types))(*operands)
        joined = tuple(map(in_array, found if len(types) > 1 else (found,), types, [operands[0]] * len(types)))
        return joined if len(types) > 1 else joined[0]

    def _called(self, given: dict[Any, Any], names: list[Any], values: Iterable[Any]) -> Any:
        now = {**given, **dict(zip(names, values, strict=True))}
        return self.pyfunc(
            *(value for key, value in now.items() if isinstance(key, int)),
            **{key: value for key, value in now.items() if isinstance(key, str)},
        )

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        """Return the object itself: like numpy's class, it does not become a method."""
        return self
