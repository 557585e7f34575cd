"""Checks of the results of derivative rules: each must lie in the right space, and errors must name the rule.

The rules of the engine's own packages are tested and not wrapped, so they cost nothing extra. All others are checked:
without a check, broadcasting would hide that a rule returned the wrong shape.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any

import numpy as np

from ..errors import CotangentError, class_name, note
from .spaces import Space, VectorSpace, is_traced, is_whole

#: Packages whose rules are tested in this project.
FIRST_PARTY = frozenset(("tapeengine", "tapeengine_primitives", "tapeengine_scipy"))
_BUILDERS = frozenset(f"tapeengine.primitive.{name}" for name in ("record", "builders", "local", "rule_checks"))


def is_first_party() -> bool:
    """Whether code of the engine's own packages is creating a primitive."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__") in _BUILDERS:
        if frame.f_code.co_filename.startswith("<doctest"):
            return False
        if frame.f_code.co_name == "<module>":
            return True  # the primitive is created during the import of such a module
        frame = frame.f_back
    name = "" if frame is None else str(frame.f_globals.get("__name__"))
    return name.partition(".")[0] in FIRST_PARTY


class CheckedRule:
    """A rule's function whose results the core checks, and whose errors name the rule.

    Parameters
    ----------
    function : callable
    what : str
        The rule in words.
    """

    __slots__ = ("__dict__", "function", "what")

    def __init__(self, function: Callable[..., Any], what: str) -> None:
        self.function = function
        self.what = what
        self.__dict__.update(getattr(function, "__dict__", {}))

    def __call__(self, first: Any, *kept: Any) -> Any:
        """Apply the rule, and refuse None: that of a function without a return is no zero."""
        try:
            found = self.function(first, *kept)
        except Exception as error:
            note(error, f"in {self.what}")
            raise
        if found is None:
            raise CotangentError(f"{self.what} returned None: return zeros for a derivative of zero")
        return found

    def check(self, found: Any, place: Any, path: str = "") -> None:
        """Refuse a result that does not fit a place.

        A place is (shape, dtype), (class or keys, places) of a structure, or None for a discrete value. In a structure
        None stands for zero.
        """
        if found is None or place is None:
            return
        if isinstance(place[1], list):
            for key, inner in zip(self._keys(found, place, path), place[1], strict=True):
                self.check(found[key], inner, f"{path}[{key!r}]")
        elif not _fits(found, *place):
            where = f" at {path}" if path else ""
            raise CotangentError(f"{self.what} returned {form(found)}{where}, not {_short(place[1], place[0])}")

    def _keys(self, found: Any, place: Any, path: str) -> Sequence[Any]:
        """The keys of a structure, after checking that it equals the value's structure."""
        kind, inner = place
        if isinstance(kind, tuple) and isinstance(found, dict) and set(found) == set(kind):
            return kind
        if not isinstance(kind, tuple) and isinstance(found, (tuple, list)) and len(found) == len(inner):
            return range(len(inner))
        wanted = f"a dict with {', '.join(kind)}" if isinstance(kind, tuple) else f"a {kind.__name__} of {len(inner)}"
        where = f" at {path}" if path else ""
        raise CotangentError(f"{self.what} returned {form(found)}{where}, not {wanted}, like the value")


def place_of(space: VectorSpace) -> Any:
    """The place that a space describes, for `CheckedRule.check`."""
    if space.is_discrete:
        return None
    if isinstance(space, Space):
        return space.shape, space.dtype
    kind = tuple(space.zeros()) if issubclass(space.kind, dict) else space.kind
    return (kind, list(map(place_of, space.spaces))) if issubclass(space.kind, (dict, list, tuple)) else None


def _is_foreign(found: Any) -> bool:
    """Whether a result is of another library's class, whose sums and products may differ from numpy's."""
    if isinstance(found, np.ndarray):
        return type(found) not in (np.ndarray, np.memmap)
    cls = type(found)
    is_array = hasattr(cls, "__array__") or hasattr(cls, "__array_ufunc__")
    return is_array and not isinstance(found, np.generic) and not is_traced(found)


def _fits(found: Any, shape: tuple[int, ...], dtype: Any) -> bool:
    if _is_foreign(found):
        return False
    kind = getattr(found, "dtype", None)
    if kind is None:
        if isinstance(getattr(found, "value", found), complex):  # a traced number has a `value`
            return not shape and dtype.kind == "c"
        return not shape and (isinstance(found, float) or is_traced(found) or is_whole(found))
    return bool(found.shape == shape and kind.kind in ("fiubc" if dtype.kind == "c" else "fiub"))


def form(found: Any) -> str:
    """A short description of a rule's result."""
    if _is_foreign(found):
        return f"a {class_name(found)}"
    dtype = getattr(found, "dtype", None)
    if dtype is not None:
        return _short(dtype, found.shape)
    if isinstance(found, int) and not is_whole(found):
        return "a whole number beyond all floats"
    return {float: "f64", complex: "c128"}.get(type(found), f"{found!r} ({type(found).__name__})")


def _short(dtype: Any, shape: tuple[int, ...]) -> str:
    name = f"{dtype.kind}{8 * dtype.itemsize}"
    return f"{name}[{','.join(map(str, shape))}]" if shape else name
