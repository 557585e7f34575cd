"""The functions that a generated text defines, ready to be called."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tapeengine.chad.generate.operations import Operations
from tapeengine.chad.generate.values import NotGenerated
from tapeengine.chad.imperative import Function

__all__ = ["Functions", "OutOfRange"]


class OutOfRange(NotGenerated, IndexError):
    """An index out of range, if the program comes there: the evaluator tells."""


class Functions:
    r"""Compiled text.

    Parameters
    ----------
    text : str
        Definitions of functions, as Python.
    called : mapping of str to callable
        The functions of registry primitives that the text calls.
    first : Function
        What the text computes with arrays from: the function that takes the program's parameters.

    Examples
    --------
    >>> functions = Functions("def double(x):\n    return (x + x,)\n", {}, Function("double", [], [], []))
    >>> functions.run(functions["double"], 1.5)
    (3.0,)
    """

    def __init__(self, text: str, called: Mapping[str, Callable[..., Any]], first: Function) -> None:
        self._namespace: dict[str, Any] = {**called, "ops": Operations(), "__name__": "generated"}
        exec(compile(text, "<derivative>", "exec"), self._namespace)
        takes_arrays = any(p.axes for p in first.params)
        self._has_arrays = takes_arrays or "np." in text or "ops." in text or bool(called)

    def __getitem__(self, name: str) -> Callable[..., Any]:
        """Give a function."""
        found: Callable[..., Any] = self._namespace[name]
        return found

    def run(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call a function; numpy's warnings are silent, since infinities and NaNs are looked for in what it gives.

        Raises
        ------
        OutOfRange
            Where an index is out of range. What does not depend on the index of a build is read once before it, also
            where the build is empty and the program never reads it.
        """
        try:
            if not self._has_arrays:
                return function(*arguments)
            with np.errstate(all="ignore"):
                return function(*arguments)
        except IndexError as error:
            raise OutOfRange(str(error)) from error
