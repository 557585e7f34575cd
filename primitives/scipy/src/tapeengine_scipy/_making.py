"""SciPy's object for arguments that may be traced, made by an operation.

SciPy checks the arguments where it makes the object. As an operation, a replay of a staged program makes it again and
finds errors; a recording would check all numbers if they were read outside of one.
"""

import threading
from typing import Any

import numpy
import scipy

from tapeengine.primitive import Sample, is_traced
from tapeengine.primitive.builders import decides

_LAST = threading.local()


def made_by_scipy(path: str, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """Return what SciPy's class or function at `path` returns for the values of arguments."""
    arrays: list[Any] = []
    made(*arrays, path=path, layout=_laid_out((args, keywords), arrays))
    return _LAST.__dict__.pop("made")


def _laid_out(value: Any, arrays: list[Any]) -> Any:
    """Describe a structure, whose arrays and traced values go to a list, by tuples."""
    if isinstance(value, numpy.ndarray) and value.dtype == object:
        return _laid_out(value.tolist(), arrays)
    if type(value) is dict:
        return "dict", tuple(value), _laid_out(list(value.values()), arrays)
    if type(value) in (list, tuple):
        return type(value).__name__, *(_laid_out(part, arrays) for part in value)
    if is_traced(value) or isinstance(value, numpy.ndarray):
        arrays.append(value)
        return "array", len(arrays) - 1
    return "other", value


def _filled(layout: Any, arrays: Any) -> Any:
    kind, *parts = layout
    if kind == "dict":
        return dict(zip(parts[0], _filled(parts[1], arrays), strict=True))
    if kind in ("array", "other"):
        return arrays[parts[0]] if kind == "array" else parts[0]
    filled = [_filled(part, arrays) for part in parts]
    return filled if kind == "list" else tuple(filled)


_SAMPLE = {"path": "scipy.interpolate.PPoly", "layout": _laid_out((([[1.0]], numpy.arange(2.0)), {}), [])}


@decides("scipy.made", Sample((numpy.arange(2.0),), _SAMPLE), variadic=True)
def made(*arrays: Any, path: str, layout: Any) -> bool:
    """SciPy's object or result, made for its checks."""
    name = path.removeprefix("scipy.interpolate.")
    if name not in scipy.interpolate.__all__:  # a file of a recording may name anything
        raise ValueError(f"{path} is not of scipy.interpolate")
    args, keywords = _filled(layout, arrays)
    _LAST.made = getattr(scipy.interpolate, name)(*args, **keywords)
    return True
