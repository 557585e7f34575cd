"""Results of solvers: each number in them depends on the traced values, or is refused when it is read."""

from __future__ import annotations

from collections.abc import Callable, KeysView, Mapping
from functools import cache, partial
from typing import Any

import numpy
import scipy

from tapeengine.errors import UnsupportedError
from tapeengine.structure import Container

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
def _result_class(name: str) -> type:
    """Make a class of results at its first use, so that SciPy's solvers are not imported with this module."""
    base = scipy.integrate._bvp.BVPResult if name == "BVPResult" else scipy.optimize.OptimizeResult
    return type(name, (_Reading, base), {"__module__": __name__, "__doc__": "The result of a solver."})


def __getattr__(name: str) -> Any:
    if name in ("Result", "BVPResult"):
        return _result_class(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def result(entries: Mapping[str, Any], name: str = "Result") -> Any:
    """Return a solver's result."""
    return _result_class(name)(entries)


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


def _taken(found: Any) -> tuple[list[Any], Any]:
    """The entries of a result, for a transform that returns it or gets it, its class and their names."""
    held = _entries_of(found)
    return [*map(_returned, dict.values(held))], (type(found), [*dict.keys(held)])


def _entries_of(found: Any) -> dict[str, Any]:
    return found if isinstance(found, dict) else vars(found)


def _returned(value: Any) -> Any:
    """An entry outside of its trace: one without a derivative as a leaf that is not differentiated."""
    if type(value) is _Deferred:
        try:
            return value.make()
        except UnsupportedError:
            return partial(_held, value.value)
    is_object = hasattr(type(value), "of_scipy") or isinstance(value, KeysView)
    return partial(_held, getattr(value, "of_scipy", lambda: value)()) if is_object else value


def _held(value: Any) -> Any:
    return value


def _made(aux: Any, children: Any) -> Any:
    made = aux[0].__new__(aux[0])
    values = (child() if type(child) is partial and child.func is _held else child for child in children)
    dict.update(_entries_of(made), zip(aux[1], values, strict=True))
    return made


#: How results are decomposed, by library and name. What a trace returns has SciPy's plain values in the entries that
#: have no derivative, and solutions between output times are SciPy's.
RESULTS = dict.fromkeys(
    [("scipy", name) for name in ("OdeResult", "OptimizeResult", "RootResults", "_Bunch")]
    + [("tapeengine_scipy", name) for name in ("BVPResult", "Result", "Table")],
    Container(_taken, _made, lambda aux: [f".{name}" for name in aux[1]]),
)
