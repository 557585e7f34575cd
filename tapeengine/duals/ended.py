"""Constants that a program made in a trace and keeps after it, as in a cache: their functions run on plain values."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any

import numpy

from .._core.arrays.array import constant_of
from .foreign import replaced


class OfEnded:
    """Takes the place of a trace's rules, with the same methods.

    A traced operand stays as it is, so that numpy asks it in turn; it raises an error if its trace has ended.
    """

    def ufunc(self, ufunc: Any, method: str, inputs: tuple[Any, ...], options: Mapping[str, Any]) -> Any:
        """Call a method of a ufunc."""
        return self.function(getattr(ufunc, method), inputs, options)

    by_name = ufunc

    def function(self, function: Any, args: tuple[Any, ...], options: Mapping[str, Any]) -> Any:
        """Call a function of numpy."""
        return function(*replaced(constant_of, args), **replaced(constant_of, dict(options)))

    def operator(self, ufunc: Any, x: Any, y: Any) -> Any:
        """x * y or x ** y, whose last bits are not always those of the ufunc."""
        return self.function(operator.pow if ufunc is numpy.power else operator.mul, (x, y), {})

    def error_in_place(self, error: Exception, ufunc: Any, a: Any, y: Any) -> Exception:
        """The error of ``a op= y``."""
        return error

    def operand_in_place(self, ufunc: Any, a: Any, y: Any) -> Any:
        """The operand of another library in ``a op= y``."""
        return y
