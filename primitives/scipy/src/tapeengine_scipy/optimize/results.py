"""Results of solvers: each number in them depends on the traced values, or is refused when it is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any

import numpy
import scipy

from tapeengine.errors import UnsupportedError

#: Entries that do not belong to the problem.
_OF_THE_RUN = {"execution_time", "message", "success"}


class _Deferred:
    """An entry that is computed when it is read; it is shown with its plain value."""

    def __init__(self, value: Any, make: Callable[[], Any]) -> None:
        self.value, self.make = value, make

    def __repr__(self) -> str:
        return repr(self.value)


class _Reading:
    """Computes deferred entries when they are read."""

    def __getitem__(self, name: str) -> Any:
        found = super().__getitem__(name)  # type: ignore[misc]
        if type(found) is _Deferred:
            found = found.make()
            self[name] = found  # type: ignore[index]
        return found

    def get(self, name: str, default: Any = None) -> Any:
        """The entry of a name, if there is one."""
        try:
            return self[name]
        except KeyError:
            return default


@cache
def _result_class() -> type:
    """Make the class of results at its first use, so that SciPy's solvers are not imported with this module."""

    class Result(_Reading, scipy.optimize.OptimizeResult):
        """The result of a solver."""

    Result.__qualname__ = "Result"
    return Result


def __getattr__(name: str) -> Any:
    if name == "Result":
        return _result_class()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def result(entries: Mapping[str, Any]) -> Any:
    """Return a solver's result."""
    return _result_class()(entries)


class Table(_Reading, dict[str, Any]):
    """The dict in which MINPACK's solvers tell what they did."""


def entries(solver: str, found: Mapping[str, Any], **known: Callable[[], Any]) -> dict[str, Any]:
    """Return the entries of a result: those that are known are computed when they are read, others are refused then.

    Parameters
    ----------
    solver : str
        The solver's name, for errors.
    found : mapping of str to object
        What SciPy found, as plain values.
    **known : callables
        For a name the function that computes the entry from traced values. Names that SciPy did not find are left out.
    """
    make = {name: known.get(name, partial(_refuse, solver, name)) for name in found}
    return {
        name: _Deferred(value, make[name])
        if name in known or not (name in _OF_THE_RUN or _is_discrete(value))
        else value
        for name, value in found.items()
    }


def _is_discrete(value: Any) -> bool:
    """Whether a value holds no number that could have a derivative."""
    if isinstance(value, (list, tuple)):
        return all(map(_is_discrete, value))
    kind = getattr(getattr(value, "dtype", None), "kind", None)
    return kind in ("b", "i", "u") or value is None or isinstance(value, (bool, int, str, numpy.bool_))


def _refuse(solver: str, name: str) -> None:
    raise UnsupportedError(
        f"{solver}: {name} of the result belongs to the solver's steps and has no derivative. Compute what you need at "
        "the solution, for instance by tapeengine.jacobian or tapeengine.hessian of the function"
    )
